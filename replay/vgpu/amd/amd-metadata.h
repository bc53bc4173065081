/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of AMD's metadata as functions (proto/abi/amdmetadata.h). Input is untrusted.
 * Thread-safe; allocates nothing.
 */
#pragma once

#include "proto/abi/amdmetadata.h"

/*
 * Reads the kernels of metadata, in order. Returns 0, a TS_AMD_CODE_E_*, or the result of
 * `receive`.
 */
int ts_amd_metadata_read(const uint8_t *metadata, size_t n_bytes, ts_amd_kernel_fn *receive,
			 void *userdata);

/* Returns a TS_AMD_CODE_E_* in a few words. */
const char *ts_amd_code_why(int error);
