/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: device code that a program loads. The PTX engine (ptx/ptx.h) compiles PTX text, or the
 * PTX of a fatbin. Several texts are linked into one image. Compilation reports errors in any
 * instruction before a launch.
 *
 * Images come from the program and contain their own sizes. Every length inside an image is checked
 * against those sizes.
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
	TS_VGPU_MODULE_E_IMAGE = 1, /* not an image of a known kind, or a damaged one */
	TS_VGPU_MODULE_E_NO_PTX,    /* machine code only, or PTX for newer devices only */
	TS_VGPU_MODULE_E_PTX,	    /* the text does not compile; the message has the error */
	/* ts_vgpu_module_place(): the address for a variable is not aligned, or too high */
	TS_VGPU_MODULE_E_PLACE,
	TS_VGPU_MODULE_E_NEWER, /* the image is a fatbin whose PTX is only for newer devices */
	TS_VGPU_MODULE_E_AMD,	/* malformed code of AMD; the message has the reason */
};

struct ts_vgpu_param {
	uint32_t offset, bytes, align;
};

/*
 * The name belongs to the image. If the executor is from ts_vgpu_executor_new(), ts_vgpu_launch()
 * requires this struct as the kernel.
 */
struct ts_vgpu_kernel {
	const char *name;
	const struct ts_ptx_kernel *code; /* NULL: AMD's code, which is timed and not computed */
	struct ts_vgpu_param *params;
	size_t n_params;
	uint32_t params_bytes;
	uint32_t static_shared_bytes;
	uint32_t local_bytes;
	uint32_t max_threads; /* .maxntid or .reqntid multiplied out; 0: not given */
	uint32_t regs;	      /* estimate; the largest permitted block fits */
	uint32_t line;	      /* line of its declaration */
};

struct ts_vgpu_variable {
	const char *name;
	uint64_t bytes;
	uint32_t align;
	bool constant;
	bool managed;
};

struct ts_vgpu_module {
	struct ts_ptx_image *image; /* NULL: AMD's code */
	struct ts_amd_image *amd;   /* NULL: PTX */
	struct ts_vgpu_kernel *kernels;
	size_t n_kernels;
	struct ts_vgpu_variable *variables;
	size_t n_variables;
	uint64_t constant_bytes; /* total of all constant variables */
	unsigned target;	 /* newest .target of the texts, such as 75 or 90 */
	char **texts;		 /* the PTX, NUL-terminated */
	size_t n_texts;
};

/*
 * Compiles the PTX of an image. `image` is PTX text (NUL-terminated), a fatbin, or nvcc's wrapper
 * of a fatbin. `cc` is the device's compute capability, major * 10 + minor; PTX for newer devices
 * is ignored. The message is one line.
 */
int ts_vgpu_module_new(const void *image, unsigned cc, struct ts_vgpu_module **ret_module,
		       char *message, size_t message_bytes);
/*
 * Like ts_vgpu_module_new(), but keeps register names and texts for a debugger (ptx/debug.h). The
 * code runs slower.
 */
int ts_vgpu_module_new_named(const void *image, unsigned cc, struct ts_vgpu_module **ret_module,
			     char *message, size_t message_bytes);
/*
 * Like ts_vgpu_module_new(), but also accepts an AMD code object (amd/amd-image.h), for a machine
 * without an executor: its kernels can be timed only. The heads of the code object give its size.
 */
int ts_vgpu_module_new_timed(const void *image, unsigned cc, struct ts_vgpu_module **ret_module,
			     char *message, size_t message_bytes);
void ts_vgpu_module_free(struct ts_vgpu_module *module);
const struct ts_vgpu_kernel *ts_vgpu_module_kernel(const struct ts_vgpu_module *module,
						   const char *name);
const struct ts_vgpu_variable *ts_vgpu_module_variable(const struct ts_vgpu_module *module,
						       const char *name);
/*
 * Sets the addresses of all variables, one address per variable. Must be called again when the
 * module moves to another context.
 */
int ts_vgpu_module_place(struct ts_vgpu_module *module, const uint64_t *addresses);
/*
 * Writes a variable's initial value to `bytes`, which has the variable's size. All variables must
 * be placed first.
 */
void ts_vgpu_module_initial(const struct ts_vgpu_module *module, size_t i, uint8_t *bytes);

/*
 * The functions below are parts of the module loader, public only for tests. ts_vgpu_image_texts()
 * returns the PTX texts of an image; ts_vgpu_texts_free() frees them.
 */
int ts_vgpu_image_texts(const void *image, unsigned cc, char ***ret_texts, size_t *ret_n,
			char *message, size_t message_bytes);
void ts_vgpu_texts_free(char **texts, size_t n);
/*
 * Returns the PTX of a fatbin for the newest architecture up to cc, NUL-terminated. The caller
 * frees it.
 */
int ts_vgpu_fatbin_ptx(const void *fatbin, unsigned cc, char **ret_text, char *message,
		       size_t message_bytes);

#ifdef __cplusplus
}
#endif
