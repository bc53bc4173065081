/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an x86-64 ELF file for the sampler: the rules to find the caller of a frame, and the
 * exported symbols. "Own" addresses are those in the file, before a process maps and moves it.
 *
 * The bytes are untrusted and stay the caller's. The first byte is at a multiple of 8.
 * ts_code_file_look() writes the struct; all other functions are pure and thread-safe.
 */
#pragma once

#include "proto/abi/cfi.h"

struct ts_code_file {
	const uint8_t *bytes; /* set by the caller, like n_bytes */
	size_t n_bytes;
	/* Set by ts_code_file_look(). */
	uint64_t table; /* .eh_frame_hdr; 0: none */
	/* The segment with the table: own address, bytes, offset in the file. */
	uint64_t segment, segment_bytes, segment_off;
	uint64_t dynamic, dynamic_bytes; /* offset in the file; 0 bytes: none */
};

/*
 * Finds the tables. A mapping of code begins at `off`; *ret_own is the own address of that byte.
 * False: the file has no code at `off`, or is not a 64-bit ELF file for x86-64.
 */
bool ts_code_file_look(struct ts_code_file *file, uint64_t off, uint64_t *ret_own);

/* Returns the rule at an own address; UNKNOWN: none. */
struct ts_cfi_rule ts_code_file_rule(const struct ts_code_file *file, uint64_t own);

/* Finds the own address and the size of an exported symbol. False: no symbol has that name. */
bool ts_code_file_symbol(const struct ts_code_file *file, const char *name, uint64_t *ret_own,
			 uint64_t *ret_bytes);

/* True if these n bytes are at `off`. */
bool ts_code_file_has(const struct ts_code_file *file, uint64_t off, const void *bytes, size_t n);
