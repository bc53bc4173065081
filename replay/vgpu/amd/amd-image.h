/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads an AMD code object (an ELF file for amdgcn) for a virtual GPU that times kernels and does
 * not compute them: kernels with their arguments and resources, variables with their initial
 * values. Input is untrusted. Thread-safe.
 */
#pragma once

#include "proto/abi/amdcode.h"

/* Limit of a kernel's arguments. */
#define TS_AMD_MAX_ARGUMENT_BYTES (1u << 20)

struct ts_amd_parameter {
	uint32_t offset, bytes;
};

struct ts_amd_image_kernel {
	const char *name; /* mangled; belongs to the image */
	struct ts_amd_parameter *parameters;
	size_t n_parameters;	  /* the program's own, without the compiler's */
	uint32_t parameter_bytes; /* end of the last one */
	uint32_t n_vgprs;
	uint32_t lds_bytes;
	uint32_t private_bytes;
	uint32_t max_workgroup_size; /* 0: not given */
};

struct ts_amd_image_variable {
	const char *name;
	uint64_t bytes;
	const uint8_t *content; /* `bytes` initial bytes; NULL: zeros. Belongs to the image. */
	bool is_managed;
};

/* Kernels and variables are in the order of their names. */
struct ts_amd_image {
	struct ts_amd_image_kernel *kernels;
	size_t n_kernels;
	struct ts_amd_image_variable *variables;
	size_t n_variables;
	char *names;
	uint8_t *contents;
};

/* True if an image begins like an AMD code object. It may be a text of any length. */
bool ts_amd_is_image(const void *image);

/*
 * Returns the bytes of an ELF file, as its own heads give them. n_bytes: SIZE_MAX if unknown.
 * Returns 0 or a TS_AMD_CODE_E_*.
 */
int ts_amd_image_bytes(const uint8_t *elf, size_t n_bytes, size_t *ret_n_bytes);

/* Returns 0, a TS_AMD_CODE_E_*, or -ENOMEM. The image keeps no pointer into the ELF file. */
int ts_amd_image_new(const uint8_t *elf, size_t n_bytes, struct ts_amd_image **ret_image);
void ts_amd_image_free(struct ts_amd_image *image);
