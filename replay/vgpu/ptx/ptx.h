/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PTX engine: parses PTX text, links modules into an image, and runs the image's kernels on the
 * CPU, warp by warp. The engine does not use CUDA's ABI: the embedder provides memory, output and
 * device-side malloc.
 *
 * Order of use: ts_ptx_module_parse() each text, ts_ptx_link() them, place every variable and write
 * its initial bytes, then ts_ptx_run() kernels on an engine. ts_ptx_link() decodes every
 * instruction. If an instruction is not implemented, ts_ptx_link() fails and names the instruction,
 * function and line.
 *
 * Ownership: an image keeps nothing of its modules. A returned string lives as long as the object
 * that returned it.
 *
 * Threads: a finished image (all variables placed) is read-only and may run in several engines at
 * once. An engine runs one kernel at a time and must not be shared. No function is
 * async-signal-safe. After fork() the child must not call any function.
 *
 * A kernel gets the guarantees of a GPU and no others. Blocks become resident in ascending order.
 * Every resident block makes progress, and so does every diverged thread of a warp.
 *
 * Errors: 0, -ENOMEM, -EINVAL (wrong use of this interface), or one of enum ts_ptx_error_code with
 * a filled error. Instructions follow "PTX ISA" (NVIDIA, versions 7.0 to 9.0); README.md lists the
 * exceptions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ts_ptx_error_code {
	TS_PTX_E_SYNTAX = 1, /* not PTX; line and message report the place */
	/* valid PTX that is not implemented; the message names the instruction or directive */
	TS_PTX_E_UNSUPPORTED,
	TS_PTX_E_LIMIT,	 /* exceeds a limit of the engine, see README.md */
	TS_PTX_E_LINK,	 /* duplicate or conflicting definitions, or an undefined symbol */
	TS_PTX_E_LAUNCH, /* shape or parameters are invalid for the kernel */
	TS_PTX_E_FAULT,	 /* the kernel faulted; see struct ts_ptx_fault */
};

struct ts_ptx_error {
	uint32_t module;   /* index among the linked modules */
	uint32_t line;	   /* line in the PTX text; 0: unknown */
	char message[256]; /* one line of text, with the function's name if there is a function */
};

struct ts_ptx_module;
struct ts_ptx_image;
struct ts_ptx_kernel;
struct ts_ptx_engine;

/*
 * Parses PTX text. The text need not end in NUL; a NUL inside ends it. The module keeps no pointer
 * into the text.
 */
int ts_ptx_module_parse(const char *text, size_t n_bytes, struct ts_ptx_module **ret_module,
			struct ts_ptx_error *error);
void ts_ptx_module_free(struct ts_ptx_module *module);

/*
 * Links modules to an image. The image does not refer to the modules: the caller may free them
 * after this call.
 */
int ts_ptx_link(struct ts_ptx_module *const *modules, size_t n_modules,
		struct ts_ptx_image **ret_image, struct ts_ptx_error *error);
void ts_ptx_image_free(struct ts_ptx_image *image);

/* Variables in global and constant memory. Each must be placed before the first run. */
struct ts_ptx_variable {
	const char *name;
	uint64_t bytes;
	uint32_t align;
	bool constant; /* .const */
	bool managed;  /* .attribute(.managed) */
	bool visible;  /* visible to other modules and the host */
	uint64_t address;
};
size_t ts_ptx_image_n_variables(const struct ts_ptx_image *image);
void ts_ptx_image_variable(const struct ts_ptx_image *image, size_t i,
			   struct ts_ptx_variable *ret_variable);
/* Finds the index of a name. -ENOENT: there is none. */
int ts_ptx_image_find_variable(const struct ts_ptx_image *image, const char *name, size_t *ret_i);
/*
 * Places variable i at a device address of the embedder. -EINVAL: the address is not aligned, or
 * not below 1 << 48.
 */
int ts_ptx_image_place(struct ts_ptx_image *image, size_t i, uint64_t address);
/*
 * Writes the variable's initial bytes, with the addresses of variables and functions. All variables
 * must be placed first.
 */
void ts_ptx_image_initial(const struct ts_ptx_image *image, size_t i, uint8_t *bytes);

struct ts_ptx_param {
	uint32_t offset, bytes, align;
};
struct ts_ptx_kernel_info {
	const char *name;
	uint32_t n_params, params_bytes;
	const struct ts_ptx_param *params;
	uint32_t static_shared_bytes;
	uint32_t local_bytes;	    /* per thread, with the frames of the deepest call chain */
	uint32_t n_registers;	    /* estimate of 32-bit registers per thread */
	uint32_t max_threads;	    /* .maxntid or .reqntid; 0: none */
	uint32_t required_block[3]; /* .reqntid; 0: none */
	uint32_t min_blocks_per_sm; /* .minnctapersm; 0: none */
	uint32_t required_cluster[3];
	bool uses_dynamic_shared;
	bool recursive; /* local_bytes does not include the recursion; launch.stack_bytes does */
	uint32_t line;
};
size_t ts_ptx_image_n_kernels(const struct ts_ptx_image *image);
const struct ts_ptx_kernel *ts_ptx_image_kernel(const struct ts_ptx_image *image, size_t i);
const struct ts_ptx_kernel *ts_ptx_image_find_kernel(const struct ts_ptx_image *image,
						     const char *name);
const struct ts_ptx_kernel_info *ts_ptx_kernel_info(const struct ts_ptx_kernel *kernel);
/* Returns the address of a kernel or function in device code; 0: there is no such function. */
uint64_t ts_ptx_image_function_address(const struct ts_ptx_image *image, const char *name);

/*
 * Callbacks of the embedder for running kernels. The engine's threads call them, several at once.
 */
#define TS_PTX_READ_ONLY 1u
struct ts_ptx_host {
	void *userdata;
	/*
	 * Finds the range of device memory that contains an address: its start, size and host
	 * address. The range must stay valid until the run ends. Returns non-zero if there is no
	 * such memory. Never called for addresses of 1 << 48 and above.
	 */
	int (*resolve)(void *userdata, uint64_t address, uint64_t *ret_base, uint64_t *ret_bytes,
		       uint8_t **ret_host, uint32_t *ret_flags);
	/*
	 * Receives device printf output, in whole printf calls; one call at a time. NULL: output is
	 * dropped.
	 */
	void (*print)(void *userdata, const char *text, size_t n_bytes);
	/*
	 * Device-side malloc and free. If malloc is NULL, device-side malloc returns NULL as with a
	 * full heap.
	 */
	uint64_t (*malloc)(void *userdata, uint64_t n_bytes);
	int (*free)(void *userdata, uint64_t address);
};

/* Limits: threads per block, resident blocks, and bytes of shared, parameter and local memory. */
#define TS_PTX_MAX_THREADS	1024
#define TS_PTX_MAX_RESIDENT	65536
#define TS_PTX_MAX_SHARED_BYTES (1u << 20)
#define TS_PTX_MAX_PARAM_BYTES	32764
#define TS_PTX_MAX_LOCAL_BYTES	(512u << 10)

/* C++ has another name for atomics, with the same layout. */
#ifdef __cplusplus
#define TS_PTX_ATOMIC
#else
#define TS_PTX_ATOMIC _Atomic
#endif

/*
 * Shared by launches that run at the same time. Records if at least one thread of these launches
 * does more than poll memory. The launches write all of it except `ends`.
 */
struct ts_ptx_watch {
	TS_PTX_ATOMIC uint32_t n_active; /* workers whose PTX threads do more than poll memory */
	TS_PTX_ATOMIC bool ends; /* set by another thread: launches that only poll memory fault */
};

struct ts_ptx_launch {
	const struct ts_ptx_kernel *kernel;
	uint32_t grid[3], block[3];
	uint32_t dynamic_shared_bytes;
	const void *params; /* layout of kernel_info.params; read during the run */
	size_t params_bytes;
	uint64_t grid_id;
	/* %envreg1 (high) and %envreg2 (low): grid workspace of cooperative groups */
	uint64_t grid_workspace;
	uint32_t max_resident; /* maximum of resident blocks; 0: up to TS_PTX_MAX_RESIDENT */
	uint32_t n_sm;	       /* value of %nsmid; 0: 1 */
	/* per thread, beyond local_bytes, for recursion and indirect calls; 0: 4096 */
	uint32_t stack_bytes;
	uint64_t max_warp_insns; /* limit of executed warp instructions; 0: none */
	uint64_t deadline_ns;	 /* CLOCK_MONOTONIC; 0: none */
	/*
	 * If an engine's thread polls memory for this many warp instructions, writes none and ends
	 * no block, the thread only polls. Without `watch`, no other thread writes memory (the
	 * engine has one thread), so the run ends with TS_PTX_FAULT_WAITS. With `watch`, the run
	 * ends with this fault when `ends` is set. 0: not counted.
	 */
	uint64_t max_watching_insns;
	struct ts_ptx_watch *watch; /* NULL: none */
	/* Another thread sets it to end the run. NULL: none. */
	const TS_PTX_ATOMIC bool *cancel;
	bool cooperative; /* all blocks must be resident: max_resident must cover the grid */
};

struct ts_ptx_stats {
	uint64_t blocks;
	uint64_t warp_insns;
	uint64_t thread_insns;
	uint64_t divergent_branches;
	uint64_t barriers; /* completed block-wide barriers */
	uint64_t global_bytes_read, global_bytes_written;
	uint64_t shared_bytes_read, shared_bytes_written;
	uint64_t local_bytes_read, local_bytes_written;
	uint64_t atomics; /* per thread */
	uint64_t tensor_flops;
};

enum ts_ptx_fault_kind {
	TS_PTX_FAULT_NONE,
	TS_PTX_FAULT_OUT_OF_BOUNDS, /* address and bytes describe the access */
	TS_PTX_FAULT_MISALIGNED,
	TS_PTX_FAULT_READ_ONLY, /* write to constant, parameter or read-only memory */
	TS_PTX_FAULT_TRAP,
	TS_PTX_FAULT_ASSERT, /* the message contains the assertion */
	/* errors that the decoder cannot detect, such as shfl across diverged calls */
	TS_PTX_FAULT_ILLEGAL,
	TS_PTX_FAULT_PC, /* call to no function, or branch index outside its table */
	TS_PTX_FAULT_STACK,
	TS_PTX_FAULT_DEADLOCK, /* every thread of a block waits for another one */
	TS_PTX_FAULT_BUDGET,   /* max_warp_insns or deadline_ns is exceeded */
	TS_PTX_FAULT_CANCELLED,
	TS_PTX_FAULT_NO_MEMORY, /* host memory */
	TS_PTX_FAULT_WAITS,	/* max_watching_insns is exceeded */
};

struct ts_ptx_fault {
	enum ts_ptx_fault_kind kind;
	char kernel[128];
	char function[128];
	uint32_t block[3], thread[3];
	uint32_t line;	      /* of the PTX text */
	uint32_t source_line; /* from .loc; 0: unknown */
	char source_file[256];
	uint64_t address;
	uint32_t bytes;
	bool is_write, is_shared; /* kind of the access */
	char message[512];	  /* the complete fault in one line, for a person */
};
const char *ts_ptx_fault_name(enum ts_ptx_fault_kind kind);

/*
 * Creates an engine. n_threads threads run blocks, including the caller of ts_ptx_run(); 0: one per
 * CPU. With one thread a run is deterministic except for clock values. Helper threads start when
 * first needed and sleep between runs.
 */
int ts_ptx_engine_new(const struct ts_ptx_host *host, uint32_t n_threads,
		      struct ts_ptx_engine **ret_engine);
void ts_ptx_engine_free(struct ts_ptx_engine *engine);
/* Returns when all blocks are done, or when one has faulted and the others have stopped. */
int ts_ptx_run(struct ts_ptx_engine *engine, const struct ts_ptx_launch *launch,
	       struct ts_ptx_stats *ret_stats, struct ts_ptx_fault *ret_fault,
	       struct ts_ptx_error *error);

#ifdef __cplusplus
}
#endif
