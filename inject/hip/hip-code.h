/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's device code and the kernels in it. HIP's device rows lack registers and static
 * shared memory, which the daemon reads from the code (TS_DEF_CODE, TS_DEF_FUNCTION).
 *
 * A code is registered by the program's constructors, before a session exists, or loaded as a
 * module. A number stands for it: the low half of the object table's values. The session defines a
 * registered code when the row of its first kernel comes, and a module's code when it is loaded.
 *
 * Functions are thread-safe. No function parses code: it takes a part of a file, or the metadata
 * that an ELF file in memory has in a note.
 */
#pragma once

#include <limits.h>

#include "inject/hip/hip-objects.h"
#include "inject/ring/definitions.h"

struct ts_shim;

/* The state of ts_hip_codes in which the tables can be read. */
#define TS_HIP_CODES_MAPPED 2u
/* Bit of a module's number; the rest is the id of its definition. */
#define TS_HIP_CODE_IS_MODULE 0x80000000u

#define TS_HIP_MAX_CODES      (64u * 1024)
#define TS_HIP_OBJECT_SLOTS   (256u * 1024)
#define TS_HIP_VARIABLE_SLOTS (64u * 1024)
#define TS_HIP_KERNEL_SLOTS   (64u * 1024)
#define TS_HIP_MAX_TARGETS    16u
#define TS_HIP_TARGET_BYTES   64u
/* Bytes of code in the session's definitions. Later code in memory is not read. */
#define TS_HIP_MAX_CODE_BYTES (UINT64_C(16) << 20)

/*
 * State of the process, not of a session: registered code, and codes by handle and function.
 * Zeroed: empty.
 */
struct ts_hip_codes {
	const void **images;	       /* by number - 1; NULL: unregistered */
	struct ts_hip_objects objects; /* handle or function -> number of its code */
	struct ts_hip_objects names;   /* function -> hash of the kernel's name */
	struct ts_hip_objects texts;   /* registered function -> the program's text of that name */
	struct ts_hip_objects variables; /* registered variable -> 1 */
	uint32_t n_images;
	uint32_t state; /* 0: no memory yet, 1: being mapped, 2: mapped, 3: no memory */
};

/* State of a session: ids of definitions. Zeroed: empty. */
struct ts_hip_code_ids {
	uint32_t *ids;		       /* TS_DEF_CODE of registered codes, by number - 1 */
	struct ts_hip_objects kernels; /* code and name -> TS_DEF_FUNCTION */
	uint64_t n_code_bytes;
	char targets[TS_HIP_MAX_TARGETS][TS_HIP_TARGET_BYTES]; /* by device; empty: unknown */
};

/* Maps the session's part. Without memory, kernels have no numbers. */
void ts_hip_code_init(struct ts_hip_code_ids *ids);

/* ---- the process's part; the runtime's own functions were called before ---- */

/* __hipRegisterFatBinary(): `wrapper` and the result. */
void ts_hip_code_register(struct ts_hip_codes *codes, const void *wrapper, const void *handle);
void ts_hip_code_unregister(struct ts_hip_codes *codes, const void *handle);
/*
 * `object`, a function, belongs to the code of `owner`, a handle or another function. `name` is the
 * kernel's; NULL: the name of `owner`.
 */
void ts_hip_code_add_function(struct ts_hip_codes *codes, const void *object, const void *owner,
			      const char *name);

/* The same for a variable that the program registers. */
void ts_hip_code_add_variable(struct ts_hip_codes *codes, const void *variable, const void *owner,
			      const char *name);
/*
 * Returns the first registered variable from *place on, and moves *place behind it; NULL: there is
 * none. *place: 0 at first. Its code may be gone.
 */
const void *ts_hip_code_next_variable(const struct ts_hip_codes *codes, uint32_t *place);

/* Returns the hash of a kernel's name, and that of a function; 0: unknown. */
uint64_t ts_hip_code_name(const char *name);
uint64_t ts_hip_code_name_of(const struct ts_hip_codes *codes, const void *object);

static inline bool ts_hip_codes_are_mapped(const struct ts_hip_codes *codes)
{
	/* Acquire: pairs with the release in map_codes(). */
	return __atomic_load_n(&codes->state, __ATOMIC_ACQUIRE) == TS_HIP_CODES_MAPPED;
}

/* Returns the table's value of a function or a handle; 0: none. */
static inline uint64_t ts_hip_code_value(const struct ts_hip_codes *codes, const void *object)
{
	return ts_hip_codes_are_mapped(codes)
		       ? ts_hip_objects_get(&codes->objects, ts_hip_key(object))
		       : 0;
}

/* ts_hip_code_of(), for a session of this process. */
static inline uint32_t ts_hip_code_in(const struct ts_hip_codes *codes, pid_t process,
				      const void *object)
{
	const uint64_t value = ts_hip_code_value(codes, object);

	/* A module's id belongs to one session, which a forked child leaves. */
	if (value & TS_HIP_CODE_IS_MODULE && value >> 32 != (uint64_t)process)
		return 0;
	return (uint32_t)value;
}

/* Returns the number of the code of a function or a handle; 0: unknown. No lock, no system call. */
uint32_t ts_hip_code_of(const struct ts_hip_codes *codes, const void *object);

/* The code of a handle has managed variables. */
void ts_hip_code_set_managed(struct ts_hip_codes *codes, const void *handle);
bool ts_hip_code_is_managed(const struct ts_hip_codes *codes, const void *image);
/*
 * Returns the registered image that a host function or variable belongs to, its name there and the
 * number of its code; NULL: it is not registered.
 */
const void *ts_hip_code_registered(const struct ts_hip_codes *codes, const void *object,
				   const char **ret_name, uint32_t *ret_number);

/*
 * Returns true if the memory can be read; n is above 0. A bundle may state more than there is, in
 * an entry that the runtime does not use.
 */
bool ts_hip_code_can_read(const uint8_t *bytes, uint64_t n);

/* ---- the session's part ---- */

/* Defines the code of a loaded module, and records it. Either `path` or `image` is NULL. */
void ts_hip_code_load(struct ts_shim *shim, const void *module, const char *path, const void *image,
		      uint32_t device);
void ts_hip_code_unload(struct ts_shim *shim, const void *module, uint32_t device);
/* Records that a registered code goes, if the session has a kernel's row of it. */
void ts_hip_code_unload_registered(struct ts_shim *shim, const void *handle, uint32_t device);

static inline uint64_t ts_hip_kernel_key(uint32_t code, uint32_t name)
{
	return (uint64_t)code << 32 | name;
}

/*
 * Returns the TS_DEF_FUNCTION of a kernel, whose name has the id `name`; 0: none. Defines it, and
 * its code, at the first call.
 */
uint32_t ts_hip_code_kernel(struct ts_shim *shim, uint32_t code, const char *kernel, uint32_t name,
			    uint32_t device);

/* The same for a kernel that is defined already; 0: call ts_hip_code_kernel(). */
static inline uint32_t ts_hip_code_known_kernel(const struct ts_hip_code_ids *ids, uint32_t code,
						uint32_t name)
{
	return (uint32_t)ts_hip_objects_get(&ids->kernels, ts_hip_kernel_key(code, name));
}

/* ---- hip-modules.c ---- */

/*
 * Code that the program registers by the runtime's exported functions. Nothing happens if the
 * runtime called them by its table. Called after the runtime's function; the last one before.
 */
void ts_hip_registered(const void *wrapper, void **modules);
void ts_hip_registered_function(void **modules, const void *host_function, const char *name);
void ts_hip_registered_variable(void **modules, const void *variable, const char *name);
void ts_hip_registered_managed(void *module);
void ts_hip_unregistering(void **modules);

/* Wraps the functions of the compiler's table, n_bytes long, that register code. */
void ts_hip_wrap_compiler(void **table, size_t n_bytes);
/* Follows a successful call that loads or unloads a module, or finds a function. */
void ts_hip_follow_module(struct ts_shim *shim, uint32_t call, const void *params, uint32_t device);
