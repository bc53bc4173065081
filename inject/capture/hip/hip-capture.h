/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture level `replay` for HIP. hip/hip-calls.c reports the calls of the application; each
 * becomes the operations that the like call of CUDA's driver would become, so that a replay needs
 * no word of HIP. hip.calls names that driver call for most calls.
 *
 * Functions may be called by any thread. Those that take a model need the lane's lock.
 */
#pragma once

#include "inject/capture/capture.h"

struct ts_shim;

/* Starts the capture of HIP's calls. capture-link.c calls this, once in a session. */
void ts_hip_capture_start(struct ts_shim *shim);

/* A recorded call begins; it returned. device: HIP's ordinal of the current device. */
void ts_hip_capture_enter(struct ts_shim *shim, uint32_t id, const void *params, uint32_t device);
void ts_hip_capture_leave(struct ts_shim *shim, uint32_t id, const void *params, uint32_t device,
			  int32_t result);

/* ---- hip-capture-calls.c ---- */

/* How a call is captured, and which work it is. */
enum ts_capture_mode ts_hip_capture_mode(uint32_t id);
enum ts_capture_work ts_hip_capture_work(uint32_t id);
/* Returns the path of the file that a call loads; NULL: it loads none. */
const char *ts_hip_capture_path(uint32_t id, const void *params);
/* Puts the operations of a call. */
void ts_hip_capture_put(struct ts_capture *capture, uint32_t id, const void *params,
			const struct ts_record_operation *model);
/* Puts what a launch that begins needs: its code, and the host memory that it gets. */
void ts_hip_capture_before_launch(struct ts_capture *capture, uint32_t id, const void *params,
				  const struct ts_record_operation *model);
/* Puts the objects that work outside of a window uses: its device, its code, its variable. */
void ts_hip_capture_put_objects(struct ts_capture *capture, uint32_t id, const void *params,
				const struct ts_record_operation *model);

/* ---- hip-capture-code.c ---- */

/* Keeps the part of a loaded module's image that describes its kernels. */
void ts_hip_capture_code(struct ts_capture *capture, const void *module, const void *image,
			 size_t n_bytes);
void ts_hip_capture_code_drop(struct ts_capture *capture, const void *module);
/* `function`, of a module, was given to the program. */
void ts_hip_capture_function(struct ts_capture *capture, const void *function, const void *module,
			     const char *name);
/* `function` was given to the program for another one, and has its arguments. */
void ts_hip_capture_alias(struct ts_capture *capture, const void *function, const void *of);
/*
 * Puts the operations that load registered code and find a function in it, if `function` is a host
 * function of such code, and they are not there yet.
 */
void ts_hip_capture_registered(struct ts_capture *capture, const struct ts_record_operation *model,
			       const void *function);
/*
 * Puts the operation with the address of a registered variable, and loads its code first. Nothing
 * happens if the address is known. A variable that no call registered is named as unsupported.
 */
void ts_hip_capture_variable(struct ts_capture *capture, const struct ts_record_operation *model,
			     const void *symbol, uint64_t address, size_t n_bytes);
/*
 * Returns true if an operation loaded the code that a registered variable belongs to. Such code is
 * in use.
 */
bool ts_hip_capture_has_code_of(struct ts_capture *capture, const void *symbol);
/*
 * Gets the place of an argument of a function, as cuFuncGetParamInfo() does. Returns 0, 1 (no such
 * argument), or another number if the arguments are not known.
 */
int ts_hip_capture_argument(void *function, size_t index, size_t *offset, size_t *bytes);

/* ---- hip-arguments-ptx.c ---- */

#define TS_HIP_MAX_ARGUMENTS 1024u

/*
 * Reads the arguments of an entry in PTX text. Returns the number of arguments, or -1 if there is
 * no such entry, or it cannot be read. `ret` has room for TS_HIP_MAX_ARGUMENTS.
 */
int ts_hip_ptx_arguments(const char *text, size_t n_bytes, const char *name,
			 struct ts_capture_argument *ret);

/* ---- hip-capture-graphs.c ---- */

/* Fills in the functions that ask the runtime for the nodes of graphs. */
void ts_hip_capture_graph_driver(struct ts_capture_graph_driver *driver);
/* Captures a call that changes a node of an executable graph. Returns false for other calls. */
bool ts_hip_capture_graph_call(struct ts_capture *capture, uint32_t id, const void *params,
			       const struct ts_record_operation *model);
/* Converts a copy of a box to CUDA's words. */
struct ts_hip_memcpy3d_parms;
void ts_hip_capture_3d(const struct ts_hip_memcpy3d_parms *from, struct ts_cu_memcpy_3d *ret);
/* Converts the arguments that a program packed itself, to CUDA's words. `words` has room for 5. */
void **ts_hip_capture_extra(void **extra, void **words);

/* ---- hip-capture-window.c ---- */

/* Fills in the functions that a window needs. A function that the runtime lacks stays NULL. */
void ts_hip_capture_window_driver(struct ts_window_driver *driver);
/* Get the address and the size of a variable, as cuModuleGetGlobal() and cuLibraryGetGlobal(). */
int ts_hip_capture_module_variable(uint64_t *ret_address, size_t *ret_bytes, void *module,
				   const char *name);
int ts_hip_capture_library_variable(uint64_t *ret_address, size_t *ret_bytes, void *library,
				    const char *name);
