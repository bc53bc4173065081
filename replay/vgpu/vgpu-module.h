/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: what a program hands the device to run. PTX text, or a fatbin that holds PTX, is compiled by the PTX engine
 * (ptx/ptx.h), several texts linked into one image: what is wrong with any instruction is said here, before a launch.
 *
 * Images come from the program itself and say their own sizes; every length inside is checked against those.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/vgpu/ptx/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ts_vgpu_module_error {
	TS_VGPU_MODULE_E_IMAGE = 1, /* not an image of any known kind, or a damaged one */
	TS_VGPU_MODULE_E_NO_PTX,    /* machine code only, or PTX for newer devices only */
	TS_VGPU_MODULE_E_PTX,	    /* the text does not compile: see the message */
	TS_VGPU_MODULE_E_PLACE,	    /* a variable's address does not suit it */
	TS_VGPU_MODULE_E_NEWER,	    /* of one fatbin: its PTX is for newer devices only */
};

struct ts_vgpu_param {
	uint32_t offset, bytes, align;
};

/* The name is the image's. This is what ts_vgpu_launch() is given as the kernel for ts_vgpu_executor_new()'s executor. */
struct ts_vgpu_kernel {
	const char *name;
	const struct ts_ptx_kernel *code;
	struct ts_vgpu_param *params;
	size_t n_params;
	uint32_t params_bytes;
	uint32_t static_shared_bytes;
	uint32_t local_bytes;
	uint32_t max_threads; /* .maxntid or .reqntid multiplied out; 0: not given */
	uint32_t regs;	      /* an estimate, such that the largest permitted block fits */
	uint32_t line;	      /* of the declaration */
};

struct ts_vgpu_variable {
	const char *name;
	uint64_t bytes;
	uint32_t align;
	bool constant;
	bool managed;
};

struct ts_vgpu_module {
	struct ts_ptx_image *image;
	struct ts_vgpu_kernel *kernels;
	size_t n_kernels;
	struct ts_vgpu_variable *variables;
	size_t n_variables;
	uint64_t constant_bytes; /* of all variables in constant memory */
	unsigned
		target; /* the compute capability that the PTX was made for, the newest of its texts' */
	char **texts; /* the PTX, NUL-terminated */
	size_t n_texts;
};

/*
 * image: PTX text (NUL-terminated), a fatbin, or the wrapper that nvcc puts in front of one. cc: the device's compute
 * capability, major * 10 + minor; PTX for newer ones is not used. The message is one line.
 */
int ts_vgpu_module_new(const void *image, unsigned cc, struct ts_vgpu_module **ret_module,
		       char *message, size_t message_bytes);
/* The same with names for registers, and the texts, for a debugger (ptx/debug.h): it runs slower. */
int ts_vgpu_module_new_named(const void *image, unsigned cc, struct ts_vgpu_module **ret_module,
			     char *message, size_t message_bytes);
void ts_vgpu_module_free(struct ts_vgpu_module *module);
const struct ts_vgpu_kernel *ts_vgpu_module_kernel(const struct ts_vgpu_module *module,
						   const char *name);
const struct ts_vgpu_variable *ts_vgpu_module_variable(const struct ts_vgpu_module *module,
						       const char *name);
/* Says where variables lie, as many addresses as there are variables. Again when the module moves to another context. */
int ts_vgpu_module_place(struct ts_vgpu_module *module, const uint64_t *addresses);
/* A variable's first value, once all are placed: its bytes long. */
void ts_vgpu_module_initial(const struct ts_vgpu_module *module, size_t i, uint8_t *bytes);

/* The parts, for their tests. The PTX texts of an image, to be freed by ts_vgpu_texts_free(). */
int ts_vgpu_image_texts(const void *image, unsigned cc, char ***ret_texts, size_t *ret_n,
			char *message, size_t message_bytes);
void ts_vgpu_texts_free(char **texts, size_t n);
/* The PTX of a fatbin for the newest architecture up to cc, NUL-terminated, the caller's to free. */
int ts_vgpu_fatbin_ptx(const void *fatbin, unsigned cc, char **ret_text, char *message,
		       size_t message_bytes);

#ifdef __cplusplus
}
#endif
