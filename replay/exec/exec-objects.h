/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Helpers shared by executors with a device: the program's handles and their objects, extents of
 * copies and fills, module images, and captured addresses of variables. They are independent of the
 * device. Not thread-safe.
 */
#pragma once

#include "proto/abi/record.h"
#include "replay/exec/exec.h"
#include "replay/state/state-map.h"

#define TS_EXEC_MAX_OBJECTS 1000000u /* limit for each kind; no real program reaches it */

/* Kind of a handle, used as the maps' `session`. */
enum ts_exec_handle_kind {
	TS_EXEC_HANDLE_CONTEXT, /* key: the vendor's context number */
	TS_EXEC_HANDLE_CONTEXT_POINTER,
	TS_EXEC_HANDLE_MODULE,
	TS_EXEC_HANDLE_FUNCTION,
	TS_EXEC_HANDLE_STREAM,
	TS_EXEC_HANDLE_THREAD_STREAM, /* key: thread << 32 | context */
	TS_EXEC_HANDLE_EVENT,
};

/* An array of one kind of object. */
struct ts_exec_objects {
	void *at;
	size_t n, capacity;
};

struct ts_exec_function {
	uint32_t module; /* index into the executor's table */
	uint32_t name;	 /* string id */
};

/*
 * The captured address of a variable in a context: the first one that the driver returned to the
 * program. Sorted by module, name and order of the requests.
 */
struct ts_exec_variable {
	uint32_t module;
	uint32_t context; /* the vendor's number */
	const char *name;
	size_t order;
	uint64_t address;
};

struct ts_exec_variables {
	struct ts_exec_variable *all;
	size_t n;
};

/* Prints one line to io->text. Returns TS_EXEC_E_REFUSED. */
int ts_exec_refuse(const struct ts_exec_io *io, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Returns the number of devices, of the vendor that came first, on which a program has contexts:
 * its last one's number plus 1. 0: its devices are all of the second vendor.
 */
uint32_t ts_exec_first_devices(const struct ts_exec_program *program);
/*
 * Returns the place of a device among the executor's, n_first of which are the first vendor's.
 */
static inline uint32_t ts_exec_device_place(uint32_t device, uint32_t n_first)
{
	return device < TS_BESIDE_DEVICE ? device : device - TS_BESIDE_DEVICE + n_first;
}
/* Adds an object; *ret_i is its number. Returns 0, -ENOMEM, or -E2BIG at TS_EXEC_MAX_OBJECTS. */
int ts_exec_objects_add(struct ts_exec_objects *objects, const void *object, size_t n_bytes,
			uint32_t *ret_i);
/*
 * Handles a module load without an image: the operation adds a handle for the module of its parent
 * handle. An example is the module of a library in one context. Returns 0, -ENOMEM, or
 * TS_EXEC_E_REFUSED.
 */
int ts_exec_module_again(struct ts_state_map *handles, const struct ts_row_operation *operation,
			 const struct ts_exec_io *io);
/*
 * Registers a function by its module and name. If the operation has no name, it adds a handle for
 * the function of its parent handle. Returns 0, -ENOMEM, -E2BIG, or TS_EXEC_E_REFUSED.
 */
int ts_exec_function(struct ts_exec_objects *functions, struct ts_state_map *handles,
		     const struct ts_row_operation *operation, const struct ts_exec_io *io);
/* Returns a string of the trace; NULL if the trace lacks it. */
const char *ts_exec_string(const struct ts_exec_program *program, uint32_t id);

/*
 * Computes the number of bytes from the first byte of the first row to the last byte of the last
 * row; a row has `width` bytes. Returns false if the sizes are invalid or overflow.
 */
bool ts_exec_extent(const struct ts_row_operation *operation, uint64_t width, uint64_t depth,
		    uint64_t pitch, uint64_t slice, uint64_t *ret_extent);
/* Like ts_exec_extent(), for a fill; *ret_width is the bytes of a row. */
bool ts_exec_fill_extent(const struct ts_row_operation *operation, uint64_t *ret_width,
			 uint64_t *ret_extent);

/*
 * Returns NULL, or the reason why a module's image is invalid. Drivers and parsers trust the
 * lengths inside an image.
 */
const char *ts_exec_image_check(const struct ts_exec_content *image);

/*
 * Gets the part of an image that a device which runs PTX loads: the PTX in a bundle of HIP's, else
 * the whole image. The image has passed ts_exec_image_check(). Returns NULL, or the reason why
 * there is none. *ret_ptx points into the image; no NUL follows it.
 */
const char *ts_exec_image_ptx(const struct ts_exec_content *image, struct ts_exec_content *ret_ptx);

/*
 * Collects the captured addresses of the program's variables. A module's number is the index of its
 * image in the program, from 0. Returns 0 or -ENOMEM.
 */
int ts_exec_variables_init(struct ts_exec_variables *variables,
			   const struct ts_exec_program *program);
/*
 * Returns the variable's captured address in a context (a value of TS_EXEC_HANDLE_CONTEXT). Returns
 * 0 if the program did not ask for the address, or asked in this context only after MAX_CONTEXTS
 * other contexts.
 */
uint64_t ts_exec_variables_find(const struct ts_exec_variables *variables,
				const struct ts_state_map *handles, uint32_t module,
				uint32_t context, const char *name);
