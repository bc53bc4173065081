/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: what a program hands the device to run. PTX text, or a fatbin that holds PTX, is read for what it
 * declares: kernels with their parameters, and variables with their first values. Bodies are kept as text for an
 * executor; nothing here interprets them.
 *
 * Images come from the program itself and say their own sizes; every length inside is checked against those.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ts_vgpu_module_error {
	TS_VGPU_MODULE_E_IMAGE = 1, /* not an image of any known kind, or a damaged one */
	TS_VGPU_MODULE_E_NO_PTX,    /* machine code only, or PTX for newer devices only */
	TS_VGPU_MODULE_E_PTX,	    /* the text does not parse: see the message */
};

struct ts_vgpu_param {
	uint32_t offset, bytes, align;
};

struct ts_vgpu_kernel {
	char *name;
	struct ts_vgpu_param *params;
	size_t n_params;
	uint32_t params_bytes;
	uint32_t static_shared_bytes;
	uint32_t local_bytes;
	uint32_t max_threads; /* .maxntid or .reqntid multiplied out; 0: not given */
	uint32_t max_regs;    /* .maxnreg; 0: not given */
	uint32_t line;	      /* of the declaration */
};

struct ts_vgpu_variable {
	char *name;
	uint64_t bytes;
	uint32_t align;
	bool constant;
	bool managed;
	bool external;
	bool initialised;
	bool addresses; /* its first value refers to other symbols: not evaluated */
	uint8_t *value; /* bytes long; NULL: zeros */
};

struct ts_vgpu_module {
	struct ts_vgpu_kernel *kernels;
	size_t n_kernels;
	struct ts_vgpu_variable *variables;
	size_t n_variables;
	char **texts; /* the PTX, NUL-terminated */
	size_t n_texts;
};

/*
 * image: PTX text (NUL-terminated), a fatbin, or the wrapper that nvcc puts in front of one. cc: the device's compute
 * capability, major * 10 + minor; PTX for newer ones is not used. The message is one line.
 */
int ts_vgpu_module_new(const void *image, unsigned cc, struct ts_vgpu_module **ret_module,
		       char *message, size_t message_bytes);
void ts_vgpu_module_free(struct ts_vgpu_module *module);
const struct ts_vgpu_kernel *ts_vgpu_module_kernel(const struct ts_vgpu_module *module,
						   const char *name);
const struct ts_vgpu_variable *ts_vgpu_module_variable(const struct ts_vgpu_module *module,
						       const char *name);

/* The parts, for their tests. Reads declarations of one text into the module. */
int ts_vgpu_ptx_read(struct ts_vgpu_module *module, const char *text, char *message,
		     size_t message_bytes);
/* The PTX of a fatbin for the newest architecture up to cc, NUL-terminated, the caller's to free. */
int ts_vgpu_fatbin_ptx(const void *fatbin, unsigned cc, char **ret_text, char *message,
		       size_t message_bytes);

#ifdef __cplusplus
}
#endif
