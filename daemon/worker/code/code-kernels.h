/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the kernels of AMD's device code for an answer. */
#pragma once

#include "daemon/worker/code/amd-code.h"
#include "sbt/buffer.h"

/* Bytes of names in an answer; code with more is refused. */
#define TS_CODE_KERNELS_MAX_TEXT (8u << 20)

/* Arrays of uint32_t, one for each kernel. */
struct ts_code_kernels {
	struct ts_buffer text, lengths, registers, shared_bytes, local_bytes;
};

void ts_code_kernels_deinit(struct ts_code_kernels *kernels);

/*
 * Reads the kernels of the part of a file that begins at `offset`, and closes the file. Returns 0,
 * a TS_AMD_CODE_E_*, or a negative errno.
 */
int ts_code_kernels_read_file(struct ts_code_kernels *kernels, int fd, uint64_t offset,
			      const char *target);
/* Reads the kernels of code, or of its metadata. Errors as above. */
int ts_code_kernels_read(struct ts_code_kernels *kernels, const uint8_t *code, size_t n_bytes,
			 const char *target);
int ts_code_kernels_read_metadata(struct ts_code_kernels *kernels, const uint8_t *metadata,
				  size_t n_bytes);
