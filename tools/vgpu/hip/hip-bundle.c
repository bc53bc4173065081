// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the bundles in which HIP's compilers put device code, plain or compressed: one entry for
 * each target. The virtual GPU runs the entry with PTX. With kernels=timed an entry with AMD's code
 * serves, too. hip-module.c calls this file for modules and for code that a program registers.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "proto/abi/amdcode.h"
#include "replay/vgpu/amd/amd-image.h"
#include "replay/vgpu/amd/amd-metadata.h"
#include "tools/vgpu/hip/hip-face.h"

/* The processor of the shape mi300. */
#define PROCESSOR "gfx942"

#define IDS_MAX	  160

/* Targets of a bundle that the virtual GPU cannot run, for the message. */
struct ids {
	char text[IDS_MAX];
	size_t n;
};

static bool is_ptx(const char *id, size_t n)
{
	const struct ts_amd_entry entry = {.id = id, .n_id = n};

	return ts_amd_is_ptx(&entry);
}

/* How well AMD's code fits the device: 0 is no code of AMD, 2 is code for its processor. */
static unsigned amd_fit(const char *id, size_t n)
{
	if (n < 3 || memcmp(id, "hip", 3) != 0 || !memmem(id, n, TS_AMD_IDS, strlen(TS_AMD_IDS)))
		return 0;
	return memmem(id, n, PROCESSOR, strlen(PROCESSOR)) ? 2 : 1;
}

static void ids_add(struct ids *ids, const char *id, size_t n)
{
	/* The host's entry is always empty. */
	if (n >= 4 && !memcmp(id, "host", 4))
		return;
	if (ids->n + n + 3 > IDS_MAX)
		return;
	if (ids->n) {
		memcpy(ids->text + ids->n, ", ", 2);
		ids->n += 2;
	}
	/* An id comes from a file, and goes to a terminal. */
	for (size_t i = 0; i < n; i++)
		ids->text[ids->n++] = (char)(id[i] > ' ' && id[i] <= '~' ? id[i] : '?');
	ids->text[ids->n] = '\0';
}

/* Prints one line for the first such code of the process. */
static int refuse(const char *what, bool timed)
{
	static atomic_bool said;

	if (!atomic_exchange(&said, true))
		fprintf(stderr,
			"tracesmith: virtual GPU: device code is for %s only: add PTX to the bundle "
			"as " TS_AMD_PTX_ID "%s, or run on a real GPU\n",
			what,
			timed ? ""
			      : ", or have kernels timed and not computed "
				"(--vgpu=mi300,kernels=timed)");
	return TS_HIP_ERROR_NO_BINARY_FOR_GPU;
}

static int copy_text(const char *text, size_t n_bytes, void **ret_image)
{
	char *image = malloc(n_bytes + 1);

	if (!image)
		return TS_HIP_ERROR_OUT_OF_MEMORY;
	memcpy(image, text, n_bytes);
	image[n_bytes] = '\0';
	*ret_image = image;
	return 0;
}

/* Copies an AMD code object, without the bytes behind it. */
static int copy_amd(const char *code, size_t n_bytes, void **ret_image)
{
	static atomic_bool said;
	size_t n;
	int r = ts_amd_image_bytes((const uint8_t *)code, n_bytes, &n);

	if (r && !atomic_exchange(&said, true))
		fprintf(stderr, "tracesmith: virtual GPU: code of AMD: %s\n", ts_amd_code_why(r));
	if (r)
		return TS_HIP_ERROR_INVALID_IMAGE;
	return copy_text(code, n, ret_image);
}

static int read_entries(const char *bundle, size_t n_bytes, bool timed, void **ret_image)
{
	const struct ts_hip_bundle *head = (const void *)bundle;
	struct ts_hip_bundle_entry amd = {0};
	size_t at = sizeof(*head);
	uint64_t n_entries;
	struct ids ids = {0};
	unsigned fit = 0;

	memcpy(&n_entries, &head->n_entries, sizeof(n_entries));
	for (uint64_t i = 0; i < n_entries; i++) {
		struct ts_hip_bundle_entry entry;

		if (n_bytes - at < sizeof(entry))
			return TS_HIP_ERROR_INVALID_IMAGE;
		memcpy(&entry, bundle + at, sizeof(entry));
		at += sizeof(entry);
		if (entry.id_bytes > n_bytes - at)
			return TS_HIP_ERROR_INVALID_IMAGE;
		if (is_ptx(bundle + at, entry.id_bytes)) {
			if (entry.offset > n_bytes || entry.size > n_bytes - entry.offset)
				return TS_HIP_ERROR_INVALID_IMAGE;
			return copy_text(bundle + entry.offset, entry.size, ret_image);
		}
		if (timed && amd_fit(bundle + at, entry.id_bytes) > fit) {
			fit = amd_fit(bundle + at, entry.id_bytes);
			amd = entry;
		}
		ids_add(&ids, bundle + at, entry.id_bytes);
		at += entry.id_bytes;
	}
	if (!fit)
		return refuse(ids.n ? ids.text : "no device", timed);
	if (amd.offset > n_bytes || amd.size > n_bytes - amd.offset)
		return TS_HIP_ERROR_INVALID_IMAGE;
	return copy_amd(bundle + amd.offset, amd.size, ret_image);
}

static bool unpack(const struct ts_amd_compressed *from, uint8_t *to)
{
	uLongf n_zlib = from->n_bundle;
	uLong n_from = from->n_content;
	size_t n;

	if (from->method == TS_AMD_ZLIB)
		return uncompress2(to, &n_zlib, from->content, &n_from) == Z_OK &&
		       n_zlib == from->n_bundle;
	/* Other bytes may follow the frame. */
	n = ZSTD_findFrameCompressedSize(from->content, from->n_content);
	if (from->method != TS_AMD_ZSTD || ZSTD_isError(n))
		return false;
	n = ZSTD_decompress(to, from->n_bundle, from->content, n);
	return !ZSTD_isError(n) && n == from->n_bundle;
}

static int read_compressed(const void *code, size_t n_bytes, bool timed, void **ret_image)
{
	struct ts_amd_compressed head;
	uint8_t *bundle;
	int r = TS_HIP_ERROR_INVALID_IMAGE;

	if (ts_amd_compressed_head(code, n_bytes, &head) ||
	    head.n_bundle < sizeof(struct ts_hip_bundle))
		return r;
	bundle = malloc(head.n_bundle);
	if (!bundle)
		return TS_HIP_ERROR_OUT_OF_MEMORY;
	if (unpack(&head, bundle) &&
	    !memcmp(bundle, TS_HIP_BUNDLE_MAGIC, strlen(TS_HIP_BUNDLE_MAGIC)))
		r = read_entries((const char *)bundle, head.n_bundle, timed, ret_image);
	free(bundle);
	return r;
}

int bundle_image(const void *bundle, size_t n_bytes, bool timed, void **ret_image)
{
	if (n_bytes < sizeof(struct ts_hip_bundle))
		return TS_HIP_ERROR_INVALID_IMAGE;
	if (!memcmp(bundle, "\177ELF", 4))
		return timed ? copy_amd(bundle, n_bytes, ret_image)
			     : refuse("an AMD GPU (an ELF file)", timed);
	if (!memcmp(bundle, TS_HIP_BUNDLE_COMPRESSED_MAGIC, 4))
		return read_compressed(bundle, n_bytes, timed, ret_image);
	if (!memcmp(bundle, TS_HIP_BUNDLE_MAGIC, strlen(TS_HIP_BUNDLE_MAGIC)))
		return read_entries(bundle, n_bytes, timed, ret_image);
	*ret_image = NULL;
	return 0;
}
