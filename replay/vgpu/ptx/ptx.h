/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PTX engine: parses PTX text, links modules into an image, and runs the image's kernels on the CPU, warp by
 * warp. It knows nothing of CUDA's ABI: memory, output and device-side malloc come from the embedder.
 *
 * Order of use: ts_ptx_module_parse() each text, ts_ptx_link() them (every instruction is decoded here, so
 * one that is not implemented is refused here, by name, function and line), place every variable and write its initial
 * bytes, then ts_ptx_run() kernels on an engine.
 *
 * Ownership: an image keeps nothing of its modules. Strings returned live as long as the object they were asked of.
 * Threads: a finished image (all variables placed) is read-only and may run in several engines at once; an engine runs one
 * kernel at a time and must not be shared. Nothing here is async-signal-safe. After fork() use nothing in the child.
 *
 * What a kernel is promised is what a GPU promises: blocks become resident in ascending order; every resident
 * block, and within a warp every diverged thread, makes progress. Nothing more.
 *
 * Errors: 0, -ENOMEM, -EINVAL (a misuse of this interface), or one of enum ts_ptx_error_code with the error filled in.
 * Instructions mean what "PTX ISA" (NVIDIA, versions 7.0 to 9.0) says they mean; README.md lists the exceptions.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ts_ptx_error_code {
	TS_PTX_E_SYNTAX = 1, /* not PTX: error.line and message say where and what */
	TS_PTX_E_UNSUPPORTED, /* PTX, but not implemented: the message names the instruction or directive */
	TS_PTX_E_LIMIT,	 /* exceeds one of the engine's limits, see README.md */
	TS_PTX_E_LINK,	 /* duplicate or conflicting definitions, a symbol that nobody defines */
	TS_PTX_E_LAUNCH, /* the launch's shape or parameters do not suit the kernel */
	TS_PTX_E_FAULT,	 /* the kernel faulted: see struct ts_ptx_fault */
};

struct ts_ptx_error {
	uint32_t module;   /* index among the linked ones */
	uint32_t line;	   /* of the PTX text; 0: not about a line */
	char message[256]; /* one line, names the function where there is one */
};

struct ts_ptx_module;
struct ts_ptx_image;
struct ts_ptx_kernel;
struct ts_ptx_engine;

/* The text need not end in NUL; a NUL in it ends it. Nothing of it is kept. */
int ts_ptx_module_parse(const char *text, size_t n_bytes, struct ts_ptx_module **ret_module,
			struct ts_ptx_error *error);
void ts_ptx_module_free(struct ts_ptx_module *module);

/* The modules stay the caller's and may be freed afterwards. */
int ts_ptx_link(struct ts_ptx_module *const *modules, size_t n_modules,
		struct ts_ptx_image **ret_image, struct ts_ptx_error *error);
void ts_ptx_image_free(struct ts_ptx_image *image);

/* Variables in global and constant memory. All must be placed before the first run. */
struct ts_ptx_variable {
	const char *name;
	uint64_t bytes;
	uint32_t align;
	bool constant; /* .const */
	bool managed;  /* .attribute(.managed) */
	bool visible;  /* other modules and the host may name it */
	uint64_t address;
};
size_t ts_ptx_image_n_variables(const struct ts_ptx_image *image);
void ts_ptx_image_variable(const struct ts_ptx_image *image, size_t i,
			   struct ts_ptx_variable *ret_variable);
/* Index by name; -ENOENT */
int ts_ptx_image_find_variable(const struct ts_ptx_image *image, const char *name, size_t *ret_i);
/* address is in the embedder's device address space, aligned, and below 1 << 48. -EINVAL otherwise. */
int ts_ptx_image_place(struct ts_ptx_image *image, size_t i, uint64_t address);
/* The variable's initial bytes with the addresses of variables and functions filled in: once all are placed. */
void ts_ptx_image_initial(const struct ts_ptx_image *image, size_t i, uint8_t *bytes);

struct ts_ptx_param {
	uint32_t offset, bytes, align;
};
struct ts_ptx_kernel_info {
	const char *name;
	uint32_t n_params, params_bytes;
	const struct ts_ptx_param *params;
	uint32_t static_shared_bytes;
	uint32_t local_bytes;	    /* per thread, frames of the deepest call chain included */
	uint32_t n_registers;	    /* an estimate in 32-bit registers per thread */
	uint32_t max_threads;	    /* .maxntid or .reqntid; 0: not stated */
	uint32_t required_block[3]; /* .reqntid; 0: not stated */
	uint32_t min_blocks_per_sm; /* .minnctapersm; 0: not stated */
	uint32_t required_cluster[3];
	bool uses_dynamic_shared;
	bool recursive; /* local_bytes does not cover the recursion: launch.stack_bytes does */
	uint32_t line;
};
size_t ts_ptx_image_n_kernels(const struct ts_ptx_image *image);
const struct ts_ptx_kernel *ts_ptx_image_kernel(const struct ts_ptx_image *image, size_t i);
const struct ts_ptx_kernel *ts_ptx_image_find_kernel(const struct ts_ptx_image *image,
						     const char *name);
const struct ts_ptx_kernel_info *ts_ptx_kernel_info(const struct ts_ptx_kernel *kernel);
/* The address that the kernel's or function's name stands for in device code; 0: no such function. */
uint64_t ts_ptx_image_function_address(const struct ts_ptx_image *image, const char *name);

/* What the embedder provides to running kernels. Called from the engine's threads, several at once. */
#define TS_PTX_READ_ONLY 1u
struct ts_ptx_host {
	void *userdata;
	/*
	 * The range of device memory that holds address: where it starts, how long it is, where the host has its bytes.
	 * Must stay valid until the run ends. Non-zero: no such memory. Addresses of 1 << 48 and above never get here.
	 */
	int (*resolve)(void *userdata, uint64_t address, uint64_t *ret_base, uint64_t *ret_bytes,
		       uint8_t **ret_host, uint32_t *ret_flags);
	/* What device printf produced, in whole calls; one call at a time. NULL: thrown away. */
	void (*print)(void *userdata, const char *text, size_t n_bytes);
	/* Device-side malloc and free. NULL: malloc answers NULL, as when the heap is spent. */
	uint64_t (*malloc)(void *userdata, uint64_t n_bytes);
	int (*free)(void *userdata, uint64_t address);
};

/* The largest number of threads in a block, blocks resident at once, and shared and parameter bytes. */
#define TS_PTX_MAX_THREADS	1024
#define TS_PTX_MAX_RESIDENT	65536
#define TS_PTX_MAX_SHARED_BYTES (1u << 20)
#define TS_PTX_MAX_PARAM_BYTES	32764
#define TS_PTX_MAX_LOCAL_BYTES	(512u << 10)

/* C++ has other words for it, of the same layout. */
#ifdef __cplusplus
#define TS_PTX_ATOMIC
#else
#define TS_PTX_ATOMIC _Atomic
#endif

/* Tells launches that run at once whether any of them does anything but watch memory. All of it is the launches' but for `ends`. */
struct ts_ptx_watch {
	TS_PTX_ATOMIC uint32_t
		n_active; /* threads of engines with blocks that have not only watched for max_watching_insns */
	TS_PTX_ATOMIC bool ends; /* set by another thread: those that only watch fault */
};

struct ts_ptx_launch {
	const struct ts_ptx_kernel *kernel;
	uint32_t grid[3], block[3];
	uint32_t dynamic_shared_bytes;
	const void *params; /* laid out as kernel_info.params says; read during the run */
	size_t params_bytes;
	uint64_t grid_id;
	uint64_t
		grid_workspace; /* what %envreg1 (high) and %envreg2 (low) answer: cooperative groups' grid workspace */
	uint32_t
		max_resident; /* blocks resident at once; 0: as many as there are, up to TS_PTX_MAX_RESIDENT */
	uint32_t n_sm; /* what %nsmid answers; 0: 1 */
	uint32_t
		stack_bytes; /* per thread, beyond local_bytes, for recursion and calls by address; 0: 4096 */
	uint64_t max_warp_insns; /* budget of executed warp instructions; 0: none */
	uint64_t deadline_ns;	 /* CLOCK_MONOTONIC; 0: none */
	/*
	 * So many warp instructions during which an engine's thread watched memory, wrote none and ended no block: it only watches. Without
	 * `watch` nothing else writes memory (the engine has one thread), and that is TS_PTX_FAULT_WAITS; with it when `ends` is set.
	 * 0: nobody counts.
	 */
	uint64_t max_watching_insns;
	struct ts_ptx_watch *watch; /* or NULL */
	/* Set by another thread to end the run; or NULL. */
	const TS_PTX_ATOMIC bool *cancel;
	bool cooperative; /* every block must become resident: max_resident must cover the grid */
};

struct ts_ptx_stats {
	uint64_t blocks;
	uint64_t warp_insns;
	uint64_t thread_insns;
	uint64_t divergent_branches;
	uint64_t barriers; /* block-wide barriers completed */
	uint64_t global_bytes_read, global_bytes_written;
	uint64_t shared_bytes_read, shared_bytes_written;
	uint64_t local_bytes_read, local_bytes_written;
	uint64_t atomics; /* per thread */
	uint64_t tensor_flops;
};

enum ts_ptx_fault_kind {
	TS_PTX_FAULT_NONE,
	TS_PTX_FAULT_OUT_OF_BOUNDS, /* address and bytes are those of the access */
	TS_PTX_FAULT_MISALIGNED,
	TS_PTX_FAULT_READ_ONLY, /* a write to constant, parameter or read-only memory */
	TS_PTX_FAULT_TRAP,
	TS_PTX_FAULT_ASSERT,  /* the message is the assertion's */
	TS_PTX_FAULT_ILLEGAL, /* what the decoder cannot see: shfl across diverged calls, ... */
	TS_PTX_FAULT_PC,      /* a call to no function, a branch by an index outside of its table */
	TS_PTX_FAULT_STACK,
	TS_PTX_FAULT_DEADLOCK, /* every thread of a block waits for another one */
	TS_PTX_FAULT_BUDGET,   /* max_warp_insns or deadline_ns is spent */
	TS_PTX_FAULT_CANCELLED,
	TS_PTX_FAULT_NO_MEMORY, /* the host's */
	TS_PTX_FAULT_WAITS,	/* max_watching_insns is spent */
};

struct ts_ptx_fault {
	enum ts_ptx_fault_kind kind;
	char kernel[128];
	char function[128];
	uint32_t block[3], thread[3];
	uint32_t line;	      /* of the PTX text */
	uint32_t source_line; /* by .loc; 0: not known */
	char source_file[256];
	uint64_t address;
	uint32_t bytes;
	bool is_write, is_shared; /* what kind of access it was */
	char message[512];	  /* the whole of it in one line, for a person */
};
const char *ts_ptx_fault_name(enum ts_ptx_fault_kind kind);

/*
 * n_threads run blocks, the caller of ts_ptx_run() being one; 0: one per CPU. With one, a run is deterministic
 * but for clocks. Helpers start when first needed and sleep in between.
 */
int ts_ptx_engine_new(const struct ts_ptx_host *host, uint32_t n_threads,
		      struct ts_ptx_engine **ret_engine);
void ts_ptx_engine_free(struct ts_ptx_engine *engine);
/* Returns when all blocks are done or one has faulted (then the others stop where they are). */
int ts_ptx_run(struct ts_ptx_engine *engine, const struct ts_ptx_launch *launch,
	       struct ts_ptx_stats *ret_stats, struct ts_ptx_fault *ret_fault,
	       struct ts_ptx_error *error);

#ifdef __cplusplus
}
#endif
