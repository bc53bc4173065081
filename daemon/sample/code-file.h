/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An ELF file with code, x86-64, as the sampler reads it: rules to go from a frame to its caller, and exported symbols. "Own" addresses are those of the
 * file itself, before it is moved to where a process maps it.
 *
 * The bytes are a stranger's, and stay the caller's. They begin at a multiple of 8. Pure but for the first call; thread-safe.
 */
#pragma once

#include "proto/abi/cfi.h"

struct ts_code_file {
	const uint8_t *bytes; /* set by the caller, as n_bytes */
	size_t n_bytes;
	/* By ts_code_file_look(). */
	uint64_t table; /* .eh_frame_hdr; 0: none */
	uint64_t segment, segment_bytes,
		segment_off;		 /* that holds it: own address, bytes, place in the file */
	uint64_t dynamic, dynamic_bytes; /* place in the file; 0 bytes: none */
};

/* Finds the tables. *ret_own: own address of the byte at `off`, where a mapping of code begins. False: it is no such file. */
bool ts_code_file_look(struct ts_code_file *file, uint64_t off, uint64_t *ret_own);

/* The rule at an own address; UNKNOWN: none. */
struct ts_cfi_rule ts_code_file_rule(const struct ts_code_file *file, uint64_t own);

/* An exported symbol's own address and size. False: there is none of that name. */
bool ts_code_file_symbol(const struct ts_code_file *file, const char *name, uint64_t *ret_own,
			 uint64_t *ret_bytes);

/* Whether these n bytes stand at `off`. */
bool ts_code_file_has(const struct ts_code_file *file, uint64_t off, const void *bytes, size_t n);
