/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fatbins: the container in which nvcc embeds device code for several architectures. NVIDIA does
 * not document its layout; the structs here follow the output of nvcc 12 and 13. Payloads are
 * plain, LZ4 or zstd compressed. vgpu-module.c calls ts_vgpu_image_texts() to get the PTX of an
 * image.
 */
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <lz4.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "proto/abi/grow.h"
#include "replay/vgpu/vgpu-module.h"

#define WRAPPER_MAGIC	 0x466243b1u
#define FATBIN_MAGIC	 0xba55ed50u
#define ELF_MAGIC	 0x464c457fu
#define LEAST_SM	 50u

#define ENTRY_PTX	 1
#define ENTRY_FLAG_LZ4	 0x2000u
#define ENTRY_FLAG_ZSTD	 0x8000u
#define ENTRY_HEADER_MIN 64u
/*
 * Larger than any compiler's text for one module, and small enough to allocate for an untrusted
 * size.
 */
#define TEXT_MAX (1ull << 30)

struct wrapper {
	uint32_t magic, version;
	const void *data;
	const void *const *list; /* version 2: relocatable parts, NULL-terminated */
};

struct fatbin_header {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes; /* without this header */
};

struct entry {
	uint16_t kind, version;
	uint32_t header_bytes;
	uint64_t payload_bytes; /* padded */
	uint32_t compressed_bytes;
	uint32_t unused_20;
	uint16_t minor, major;
	uint32_t arch;
	uint32_t name_off, name_bytes;
	uint64_t flags;
	uint64_t unused_48;
	uint64_t text_bytes; /* uncompressed */
};

_Static_assert(sizeof(struct fatbin_header) == 16, "as nvcc writes it");
_Static_assert(sizeof(struct entry) == 64, "as nvcc writes it");
_Static_assert(offsetof(struct entry, arch) == 28, "as nvcc writes it");
_Static_assert(offsetof(struct entry, flags) == 40, "as nvcc writes it");
_Static_assert(offsetof(struct entry, text_bytes) == 56, "as nvcc writes it");

static int entry_text(const struct entry *entry, const uint8_t *payload, char **ret_text)
{
	bool packed = entry->flags & (ENTRY_FLAG_LZ4 | ENTRY_FLAG_ZSTD);
	uint64_t bytes = packed ? entry->text_bytes : entry->payload_bytes;
	uint64_t from = packed ? entry->compressed_bytes : entry->payload_bytes;
	int64_t got;
	char *text;

	if (from > entry->payload_bytes || bytes > TEXT_MAX)
		return TS_VGPU_MODULE_E_IMAGE;
	text = malloc(bytes + 1);
	if (!text)
		return -ENOMEM;
	if (entry->flags & ENTRY_FLAG_ZSTD) {
		size_t n = ZSTD_decompress(text, bytes, payload, from);

		got = ZSTD_isError(n) ? -EBADMSG : (int64_t)n;
	} else if (entry->flags & ENTRY_FLAG_LZ4) {
		/* bytes is limited above; the compressed size may exceed an int. */
		got = from > INT_MAX ? -EBADMSG
				     : LZ4_decompress_safe((const char *)payload, text, (int)from,
							   (int)bytes);
	} else {
		memcpy(text, payload, bytes);
		got = (int64_t)bytes;
	}
	if (got < 0) {
		free(text);
		return TS_VGPU_MODULE_E_IMAGE;
	}
	text[got] = 0;
	*ret_text = text;
	return 0;
}

int ts_vgpu_fatbin_ptx(const void *fatbin, unsigned cc, char **ret_text, char *message,
		       size_t message_bytes)
{
	struct fatbin_header header;
	const uint8_t *at, *end, *best_payload = NULL;
	struct entry best = {0};
	unsigned n_machine = 0, newest = 0;
	int r;

	memcpy(&header, fatbin, sizeof(header));
	if (header.magic != FATBIN_MAGIC || header.header_bytes < sizeof(header)) {
		snprintf(message, message_bytes, "not a fatbin");
		return TS_VGPU_MODULE_E_IMAGE;
	}
	at = (const uint8_t *)fatbin + header.header_bytes;
	end = at + header.bytes;
	while (at < end) {
		struct entry entry;

		if ((size_t)(end - at) < sizeof(entry))
			goto damaged;
		memcpy(&entry, at, sizeof(entry));
		if (entry.header_bytes < ENTRY_HEADER_MIN ||
		    entry.header_bytes > (size_t)(end - at) ||
		    entry.payload_bytes > (size_t)(end - at) - entry.header_bytes)
			goto damaged;
		if (entry.kind != ENTRY_PTX) {
			n_machine++;
		} else if (entry.arch > cc) {
			newest = entry.arch > newest ? entry.arch : newest;
		} else if (!best_payload || entry.arch > best.arch) {
			best = entry;
			best_payload = at + entry.header_bytes;
		}
		at += entry.header_bytes + entry.payload_bytes;
	}
	if (!best_payload) {
		if (newest)
			snprintf(message, message_bytes,
				 "the image has PTX for compute capability %u.%u, the device has "
				 "%u.%u",
				 newest / 10, newest % 10, cc / 10, cc % 10);
		else
			snprintf(message, message_bytes,
				 n_machine ? "the image holds machine code (SASS) only; compile it "
					     "with PTX, like -arch=compute_75 or -gencode "
					     "arch=compute_75,code=compute_75"
					   : "the image holds no code");
		if (newest)
			return TS_VGPU_MODULE_E_NEWER;
		return n_machine ? TS_VGPU_MODULE_E_NO_PTX : -ENODATA;
	}
	r = entry_text(&best, best_payload, ret_text);
	if (r == TS_VGPU_MODULE_E_IMAGE)
		goto damaged;
	return r;

damaged:
	snprintf(message, message_bytes, "a damaged fatbin");
	return TS_VGPU_MODULE_E_IMAGE;
}

/* Texts of an image, in its order. */
struct texts {
	char **at;
	size_t n, n_allocated;
};

static int add_text(struct texts *texts, char *text)
{
	if (TS_GROW(texts->at, texts->n_allocated, texts->n + 1)) {
		free(text);
		return -ENOMEM;
	}
	texts->at[texts->n++] = text;
	return 0;
}

static int add_fatbin(struct texts *texts, const void *fatbin, unsigned cc, char *message,
		      size_t message_bytes)
{
	char *text;
	int r = ts_vgpu_fatbin_ptx(fatbin, cc, &text, message, message_bytes);

	return r ? r : add_text(texts, text);
}

static int add_wrapper(struct texts *texts, const struct wrapper *wrapper, unsigned cc,
		       char *message, size_t message_bytes)
{
	bool newer = false;
	int r = 0;

	if (wrapper->version == 2 && wrapper->list) {
		/* Relocatable code: the parts contain the PTX, and the main fatbin is empty. */
		for (size_t i = 0; !r && wrapper->list[i]; i++) {
			r = add_fatbin(texts, wrapper->list[i], cc, message, message_bytes);
			/* nvcc's device runtime is a part with PTX for its newest device only. */
			newer |= r == TS_VGPU_MODULE_E_NEWER;
			if (r == -ENODATA || r == TS_VGPU_MODULE_E_NEWER)
				r = 0;
		}
		return !r && newer && !texts->n ? TS_VGPU_MODULE_E_NO_PTX : r;
	}
	r = add_fatbin(texts, wrapper->data, cc, message, message_bytes);
	/* A translation unit without kernels has an empty fatbin. */
	return r == -ENODATA ? 0 : r;
}

/*
 * Returns the architecture of a cubin, from e_flags of the ELF header: the lowest byte, and from
 * CUDA 13 on the next byte.
 */
static unsigned target_of_cubin(const void *image)
{
	uint32_t flags;
	unsigned sm;

	memcpy(&flags, (const uint8_t *)image + offsetof(Elf64_Ehdr, e_flags), sizeof(flags));
	sm = flags & 0xff;
	return sm >= LEAST_SM ? sm : flags >> 8 & 0xff;
}

static void describe_cubin(const void *image, unsigned cc, char *message, size_t message_bytes)
{
	unsigned sm = target_of_cubin(image), target = sm >= LEAST_SM && sm < cc ? sm : cc;

	snprintf(message, message_bytes,
		 "machine code (a cubin): the virtual GPU runs PTX only; compile for compute_%u "
		 "(nvcc -gencode arch=compute_%u,code=compute_%u, NVRTC -arch=compute_%u)",
		 target, target, target, target);
}

int ts_vgpu_image_texts(const void *image, unsigned cc, char ***ret_texts, size_t *ret_n,
			char *message, size_t message_bytes)
{
	struct texts texts = {0};
	uint32_t magic;
	int r;

	/* The shortest PTX has a .version line, which is longer than the magic. */
	memcpy(&magic, image, sizeof(magic));
	if (magic == WRAPPER_MAGIC) {
		r = add_wrapper(&texts, image, cc, message, message_bytes);
	} else if (magic == FATBIN_MAGIC) {
		r = add_fatbin(&texts, image, cc, message, message_bytes);
		if (r == -ENODATA)
			r = TS_VGPU_MODULE_E_IMAGE;
	} else if (magic == ELF_MAGIC) {
		describe_cubin(image, cc, message, message_bytes);
		r = TS_VGPU_MODULE_E_NO_PTX;
	} else {
		char *text = strdup(image);

		r = text ? add_text(&texts, text) : -ENOMEM;
	}
	if (r) {
		ts_vgpu_texts_free(texts.at, texts.n);
		return r == TS_VGPU_MODULE_E_NEWER ? TS_VGPU_MODULE_E_NO_PTX : r;
	}
	*ret_texts = texts.at;
	*ret_n = texts.n;
	return 0;
}

void ts_vgpu_texts_free(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}
