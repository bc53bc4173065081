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
