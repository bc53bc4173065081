/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What executors with a device share: handles of the program and what they stand for, how far rows reach, images, and where the
 * program was told that variables lie. Nothing here knows a device.
 */
#pragma once

#include "replay/exec/exec.h"
#include "replay/state/state-map.h"

#define TS_EXEC_MAX_OBJECTS 1000000u /* of each kind: more is no program's */

/* What a handle is of: the maps' `session`. */
enum ts_exec_handle_kind {
	TS_EXEC_HANDLE_CONTEXT, /* by the vendor's number */
	TS_EXEC_HANDLE_CONTEXT_POINTER,
	TS_EXEC_HANDLE_MODULE,
	TS_EXEC_HANDLE_FUNCTION,
	TS_EXEC_HANDLE_STREAM,
	TS_EXEC_HANDLE_THREAD_STREAM, /* thread above 32 bits of context */
	TS_EXEC_HANDLE_EVENT,
};

/* An array of one kind of object. */
struct ts_exec_objects {
	void *at;
	size_t n, capacity;
};

struct ts_exec_function {
	uint32_t module; /* its number in the executor's table */
	uint32_t name;	 /* string */
};

/* Where variables lay, as the program was told first: by module, name and the order in which it asked; once in each context. */
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

/* One line into io->text. Returns TS_EXEC_E_REFUSED. */
int ts_exec_refuse(const struct ts_exec_io *io, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Adds an object; *ret_i is its number. -ENOMEM, -E2BIG. */
int ts_exec_objects_add(struct ts_exec_objects *objects, const void *object, size_t n_bytes,
			uint32_t *ret_i);
/* A module without an image: what its parent, a library, is in a context has another handle. */
int ts_exec_module_again(struct ts_state_map *handles, const struct ts_row_operation *operation,
			 const struct ts_exec_io *io);
/* A function by its module and its name; or without a name another handle of what its parent is. */
int ts_exec_function(struct ts_exec_objects *functions, struct ts_state_map *handles,
		     const struct ts_row_operation *operation, const struct ts_exec_io *io);
/* A string of the trace; NULL: it is not there. */
const char *ts_exec_string(const struct ts_exec_program *program, uint32_t id);

/* How many bytes there are from the first byte to the last of rows of `width` bytes. False: they make no sense. */
bool ts_exec_extent(const struct ts_row_operation *operation, uint64_t width, uint64_t depth,
		    uint64_t pitch, uint64_t slice, uint64_t *ret_extent);
/* Of what a fill writes: the bytes of a row too. */
bool ts_exec_fill_extent(const struct ts_row_operation *operation, uint64_t *ret_width,
			 uint64_t *ret_extent);

/* NULL, or what is wrong with a module's image: whoever reads it believes the lengths that it says itself. */
const char *ts_exec_image_check(const struct ts_exec_content *image);

/* Modules have the numbers that their images have in the program, from 0 on. */
int ts_exec_variables_init(struct ts_exec_variables *variables,
			   const struct ts_exec_program *program);
/* In that context (HANDLE_CONTEXT's value). 0: the program did not ask, or did in more contexts than any program has. */
uint64_t ts_exec_variables_find(const struct ts_exec_variables *variables,
				const struct ts_state_map *handles, uint32_t module,
				uint32_t context, const char *name);
