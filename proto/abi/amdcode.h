/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heads of AMD's device code: the metadata note of an ELF file, and the head of a compressed bundle
 * (CCOB). The shim takes the note from code in memory; the daemon's worker and the virtual GPU read
 * whole code. Input is untrusted, except for the shim, which reads code that the runtime accepted.
 * Thread-safe; allocates nothing.
 */
#pragma once

#include <elf.h>

#include "proto/abi/base.h"
#include "proto/abi/vendor/hip.h"

/* Reasons for which code is refused. */
#define TS_AMD_CODE_E_FORMAT	  1 /* none of ELF, bundle, compressed bundle */
#define TS_AMD_CODE_E_CUT	  2 /* a size or an offset lies beyond the end */
#define TS_AMD_CODE_E_TARGET	  3 /* no code for the device */
#define TS_AMD_CODE_E_MACHINE	  4 /* an ELF file for another machine */
#define TS_AMD_CODE_E_NOTE	  5 /* no metadata of version 3 or later */
#define TS_AMD_CODE_E_METADATA	  6 /* malformed MessagePack, or without kernels' names */
#define TS_AMD_CODE_E_COMPRESSION 7 /* unknown version or method, or corrupt */
#define TS_AMD_CODE_E_LARGE	  8 /* beyond the limits */
#define TS_AMD_CODE_E_COUNT	  9

/* Limit of a bundle's bytes after decompression, and numbers of the methods. */
#define TS_AMD_MAX_BUNDLE_BYTES (UINT64_C(512) << 20)
#define TS_AMD_ZLIB		0u
#define TS_AMD_ZSTD		1u

/* Bounds of what a bundle that the runtime loaded may state. */
#define TS_AMD_LOADED_ENTRIES	  64u
#define TS_AMD_LOADED_ID_BYTES	  4096u
#define TS_AMD_LOADED_ENTRY_BYTES (UINT64_C(1) << 40)

/*
 * Ids of entries with PTX text. The form is clang's: kind, triple, processor. The first is
 * TraceSmith's; entries of the second form come from clang-offload-bundler, which knows no ptx64.
 */
#define TS_AMD_PTX_ID	 "hip-ptx64-tracesmith--ptx"
#define TS_AMD_NVPTX_IDS "hip-nvptx64-"
/* Part of the ids of AMD's entries. */
#define TS_AMD_IDS "-amdgcn-amd-amdhsa-"

#ifndef EM_AMDGPU
#define EM_AMDGPU 224
#endif

#define TS_AMD_NOTE_NAME "AMDGPU"
#define TS_AMD_NOTE_TYPE 32u /* NT_AMDGPU_METADATA */

/* True if [off, off + n) lies within a file of n_file bytes. */
static inline bool ts_amd_fits(uint64_t off, uint64_t n, size_t n_file)
{
	return off <= n_file && n <= n_file - off;
}

/* Searches one note segment. Notes are aligned to 4 bytes. */
static inline bool ts_amd_search_notes(const uint8_t *notes, size_t n_bytes,
				       const uint8_t **ret_metadata, size_t *ret_n_bytes)
{
	size_t at = 0;

	while (n_bytes - at >= sizeof(Elf64_Nhdr)) {
		Elf64_Nhdr note;
		uint64_t name, content, next;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		content = name + ((uint64_t)note.n_namesz + 3) / 4 * 4;
		next = content + ((uint64_t)note.n_descsz + 3) / 4 * 4;
		if (!ts_amd_fits(content, note.n_descsz, n_bytes))
			return false;
		if (note.n_type == TS_AMD_NOTE_TYPE && note.n_namesz == sizeof(TS_AMD_NOTE_NAME) &&
		    !memcmp(notes + name, TS_AMD_NOTE_NAME, sizeof(TS_AMD_NOTE_NAME))) {
			*ret_metadata = notes + content;
			*ret_n_bytes = note.n_descsz;
			return true;
		}
		/* The last note may lack its padding. */
		if (next > n_bytes)
			return false;
		at = next;
	}
	return false;
}

/*
 * Finds the metadata of an ELF file. Returns 0 or a TS_AMD_CODE_E_*. *ret_metadata points into the
 * input.
 */
static inline int ts_amd_elf_metadata(const uint8_t *elf, size_t n_bytes,
				      const uint8_t **ret_metadata, size_t *ret_n_bytes)
{
	Elf64_Ehdr head;

	if (n_bytes < SELFMAG || memcmp(elf, ELFMAG, SELFMAG))
		return TS_AMD_CODE_E_FORMAT;
	if (n_bytes < sizeof(head))
		return TS_AMD_CODE_E_CUT;
	memcpy(&head, elf, sizeof(head));
	if (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB ||
	    head.e_machine != EM_AMDGPU)
		return TS_AMD_CODE_E_MACHINE;
	if (head.e_phnum &&
	    (head.e_phentsize != sizeof(Elf64_Phdr) ||
	     !ts_amd_fits(head.e_phoff, head.e_phnum * sizeof(Elf64_Phdr), n_bytes)))
		return TS_AMD_CODE_E_CUT;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		Elf64_Phdr segment;

		memcpy(&segment, elf + head.e_phoff + i * sizeof(segment), sizeof(segment));
		if (segment.p_type != PT_NOTE)
			continue;
		if (!ts_amd_fits(segment.p_offset, segment.p_filesz, n_bytes))
			return TS_AMD_CODE_E_CUT;
		if (ts_amd_search_notes(elf + segment.p_offset, segment.p_filesz, ret_metadata,
					ret_n_bytes))
			return 0;
	}
	return TS_AMD_CODE_E_NOTE;
}

struct ts_amd_compressed {
	const uint8_t *content;
	size_t n_content;
	uint64_t n_bundle; /* bytes after decompression */
	uint32_t method;
};

/*
 * Reads the head: magic, version, method, the whole size (from version 2 on), the decompressed
 * size, a hash. Sizes have 4 bytes, in version 3 they have 8.
 */
static inline int ts_amd_compressed_head(const uint8_t *code, size_t n_bytes,
					 struct ts_amd_compressed *ret)
{
	uint16_t version, method;
	uint64_t n_file = n_bytes, n_bundle = 0;
	size_t n_size, n_head;

	if (n_bytes < 8)
		return TS_AMD_CODE_E_CUT;
	memcpy(&version, code + 4, sizeof(version));
	memcpy(&method, code + 6, sizeof(method));
	if (!version || version > 3)
		return TS_AMD_CODE_E_COMPRESSION;
	n_size = version == 3 ? 8 : 4;
	n_head = 8 + (version == 1 ? n_size : 2 * n_size) + 8;
	if (n_bytes < n_head)
		return TS_AMD_CODE_E_CUT;
	if (version > 1) {
		n_file = 0;
		memcpy(&n_file, code + 8, n_size);
		if (n_file < n_head || n_file > n_bytes)
			return TS_AMD_CODE_E_CUT;
	}
	memcpy(&n_bundle, code + n_head - 8 - n_size, n_size);
	if (n_bundle > TS_AMD_MAX_BUNDLE_BYTES)
		return TS_AMD_CODE_E_LARGE;
	*ret = (struct ts_amd_compressed){code + n_head, n_file - n_head, n_bundle, method};
	return 0;
}

struct ts_amd_entry {
	const char *id;
	uint64_t n_id;
	uint64_t offset, n_bytes; /* in the bundle; not compared with its size */
};

/*
 * Reads the next entry of a bundle that begins with the magic and is n_bytes long. *at and *i begin
 * with 0. Returns false behind the last entry, and if an entry's head or id lies beyond the end;
 * then *i is below the number of entries.
 */
static inline bool ts_amd_bundle_next(const uint8_t *bundle, size_t n_bytes, size_t *at,
				      uint64_t *i, struct ts_amd_entry *ret)
{
	struct ts_hip_bundle_entry entry;
	struct ts_hip_bundle head;

	if (n_bytes < sizeof(head))
		return false;
	memcpy(&head, bundle, sizeof(head));
	if (!*i)
		*at = sizeof(head);
	if (*i >= head.n_entries || n_bytes - *at < sizeof(entry))
		return false;
	memcpy(&entry, bundle + *at, sizeof(entry));
	if (entry.id_bytes > n_bytes - *at - sizeof(entry))
		return false;
	*ret = (struct ts_amd_entry){
		.id = (const char *)bundle + *at + sizeof(entry),
		.n_id = entry.id_bytes,
		.offset = entry.offset,
		.n_bytes = entry.size,
	};
	*at += sizeof(entry) + entry.id_bytes;
	++*i;
	return true;
}

static inline bool ts_amd_is_bundle(const uint8_t *code, size_t n_bytes)
{
	return n_bytes >= sizeof(struct ts_hip_bundle) &&
	       !memcmp(code, TS_HIP_BUNDLE_MAGIC, strlen(TS_HIP_BUNDLE_MAGIC));
}

/* True if the entry holds PTX, which the virtual GPU runs. */
static inline bool ts_amd_is_ptx(const struct ts_amd_entry *entry)
{
	return (entry->n_id == strlen(TS_AMD_PTX_ID) &&
		!memcmp(entry->id, TS_AMD_PTX_ID, entry->n_id)) ||
	       (entry->n_id > strlen(TS_AMD_NVPTX_IDS) &&
		!memcmp(entry->id, TS_AMD_NVPTX_IDS, strlen(TS_AMD_NVPTX_IDS)));
}

/*
 * Returns the bytes of a bundle in memory that the runtime accepted; 0: too many entries, or an
 * impossible one.
 */
static inline uint64_t ts_amd_bundle_bytes(const uint8_t *bundle)
{
	const uint8_t *at = bundle + sizeof(struct ts_hip_bundle);
	struct ts_hip_bundle head;
	uint64_t n = 0;

	memcpy(&head, bundle, sizeof(head));
	if (head.n_entries > TS_AMD_LOADED_ENTRIES)
		return 0;
	for (uint64_t i = 0; i < head.n_entries; i++) {
		struct ts_hip_bundle_entry entry;

		memcpy(&entry, at, sizeof(entry));
		if (entry.id_bytes > TS_AMD_LOADED_ID_BYTES ||
		    entry.offset > TS_AMD_LOADED_ENTRY_BYTES ||
		    entry.size > TS_AMD_LOADED_ENTRY_BYTES)
			return 0;
		at += sizeof(entry) + entry.id_bytes;
		if (entry.offset + entry.size > n)
			n = entry.offset + entry.size;
	}
	return n > (uint64_t)(at - bundle) ? n : (uint64_t)(at - bundle);
}
