/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the metadata of AMD's code objects: MessagePack in an ELF note (LLVM's "User Guide for
 * AMDGPU Backend", Code Object V3 to V6 Metadata). Input is untrusted. Thread-safe; allocates
 * nothing.
 */
#pragma once

#include "proto/abi/amdcode.h"

/* More arguments are counted, and not stored. */
#define TS_AMD_MAX_ARGUMENTS 128u

struct ts_amd_argument {
	uint32_t offset; /* in the segment of arguments */
	uint32_t bytes;
	bool is_hidden; /* the compiler's own, not the program's */
};

struct ts_amd_kernel {
	const char *name; /* mangled, not terminated; lies in the input */
	uint32_t n_name_bytes;
	uint32_t n_vgprs;	/* of a lane, AGPRs included from gfx90a on */
	uint32_t n_agprs;	/* part of n_vgprs */
	uint32_t n_sgprs;	/* of a wavefront */
	uint32_t lds_bytes;	/* static, of a workgroup */
	uint32_t private_bytes; /* of a work-item */
	uint32_t wavefront_size;
	uint32_t max_workgroup_size;
	uint32_t argument_bytes;
	uint32_t n_arguments; /* in the metadata */
	struct ts_amd_argument arguments[TS_AMD_MAX_ARGUMENTS];
};

/* Receives one kernel; valid during the call. A result other than 0 ends the reading. */
typedef int ts_amd_kernel_fn(void *userdata, const struct ts_amd_kernel *kernel);

/*
 * Reads the kernels of metadata, in order. Returns 0, a TS_AMD_CODE_E_*, or the result of
 * `receive`.
 */
int ts_amd_metadata_read(const uint8_t *metadata, size_t n_bytes, ts_amd_kernel_fn *receive,
			 void *userdata);

/* Returns a TS_AMD_CODE_E_* in a few words. */
const char *ts_amd_code_why(int error);
