/* SPDX-License-Identifier: Apache-2.0 */
/* Shared declarations of the executor on real devices. */
#pragma once

#include "replay/exec/cuda/exec-cuda-driver.h"
#include "replay/exec/exec-layout.h"
#include "replay/exec/exec-objects.h"
#include "replay/exec/exec.h"

#define TS_EXEC_CUDA_MAX_DEVICES 32u
#define TS_EXEC_CUDA_GRANULE	 (UINT64_C(2) << 20)
#define TS_EXEC_CUDA_NOBODY	 UINT32_MAX /* no context is current */

struct cuda_context {
	void *handle; /* NULL: destroyed */
	uint32_t device;
	void *own; /* the executor's own stream, non-blocking */
	/* Pinned buffer that holds host data of copies until the copies complete. */
	uint8_t *staging;
	size_t n_staged;
	uint32_t n_queued; /* upper bound of the operations queued since the last wait */
};

struct cuda_stream {
	void *handle; /* NULL: destroyed */
	uint32_t context;
};

struct cuda_event {
	void *handle; /* NULL: the event was destroyed, or its context was */
	uint32_t context;
};

/* A module in a context, loaded at its first use in this context. */
struct cuda_instance {
	uint32_t context;
	void *module;
	struct cuda_instance *next;
};

struct cuda_module {
	uint8_t *image; /* NULL: unloaded */
	struct cuda_instance *instances;
};

/* A function in a context. */
struct cuda_kernel {
	void *handle;
	uint32_t n_parameters; /* 0 also if the driver cannot report it */
	uint32_t n_parameters_allocated;
	uint32_t params_bytes;
	uint32_t dynamic_shared_bytes; /* the currently allowed size */
	struct cuda_parameter {
		uint32_t offset, bytes;
	} * parameters;
};

/* A range of captured addresses of the program's memory, in whole granules, and its state. */
struct cuda_range {
	uint64_t start, end;
	const char *why; /* NULL: reserved */
	/* an empty mapping of this process holds the range; the driver has not reserved it yet */
	bool is_held;
};

/* Device memory that is mapped in one of the ranges. */
struct cuda_block {
	uint64_t start, bytes;
	uint64_t handle;
	uint32_t n_users; /* number of allocations */
	uint32_t devices; /* bit mask of devices with access */
};

struct cuda_state {
	const struct ts_exec_program *program;
	struct ts_exec_cuda_driver driver;
	uint32_t n_devices;
	uint32_t n_first_devices; /* ts_exec_first_devices() */
	uint64_t memory_bytes[TS_EXEC_CUDA_MAX_DEVICES];
	struct cuda_range *ranges; /* ascending, disjoint */
	size_t n_ranges;
	struct cuda_block *blocks; /* ascending */
	size_t n_blocks, block_capacity;
	struct ts_exec_allocations allocations; /* by captured address */
	struct ts_state_map handles, kernels_at;
	struct ts_exec_objects contexts, modules, functions, kernels, streams, events;
	uint32_t current; /* index of the current context */
	size_t n_moved;	  /* allocations that lie at another address */
	/* The captured addresses of all moved allocations lie in [moved_start, moved_end]. */
	uint64_t moved_start, moved_end;
	uint64_t n_pointers_moved, n_words_left;
	uint8_t *read; /* buffer of the device memory that was read last */
	size_t read_bytes;
	struct ts_exec_notes notes;
	const volatile int *cancel;
	uint64_t until_ns; /* 0: no limit */
	bool is_stuck;	   /* a kernel still runs, and the executor has stopped waiting for it */
	int out;	   /* duplicate of the original stdout; -1: none */
};

static inline struct cuda_context *cuda_context_at(const struct cuda_state *state, uint32_t i)
{
	return &((struct cuda_context *)state->contexts.at)[i];
}

static inline struct cuda_module *cuda_module_at(const struct cuda_state *state, uint32_t i)
{
	return &((struct cuda_module *)state->modules.at)[i];
}

static inline struct ts_exec_function *cuda_function_at(const struct cuda_state *state, uint32_t i)
{
	return &((struct ts_exec_function *)state->functions.at)[i];
}

static inline struct cuda_kernel *cuda_kernel_at(const struct cuda_state *state, uint32_t i)
{
	return &((struct cuda_kernel *)state->kernels.at)[i];
}

static inline struct cuda_stream *cuda_stream_at(const struct cuda_state *state, uint32_t i)
{
	return &((struct cuda_stream *)state->streams.at)[i];
}

static inline struct cuda_event *cuda_event_at(const struct cuda_state *state, uint32_t i)
{
	return &((struct cuda_event *)state->events.at)[i];
}

/* exec-cuda-stream.c */
const char *ts_exec_cuda_error_text(const struct ts_exec_cuda_driver *driver, int error);
/* Converts the driver's result: 0, or TS_EXEC_E_REFUSED with the reason. */
int ts_exec_cuda_result(const struct cuda_state *state, const struct ts_exec_io *io, int r);
/* Makes a context current. */
int ts_exec_cuda_enter(struct cuda_state *state, uint32_t context, const struct ts_exec_io *io);
/* Finds the operation's context and makes it current. */
int ts_exec_cuda_context(struct cuda_state *state, const struct ts_row_operation *operation,
			 const struct ts_exec_io *io, uint32_t *ret_context);
/*
 * Finds the stream for a new operation and makes the stream's context current. Waits first if much
 * work is already queued.
 */
int ts_exec_cuda_stream(struct cuda_state *state, const struct ts_row_operation *operation,
			const struct ts_exec_io *io, struct cuda_stream *ret_stream);
int ts_exec_cuda_add_stream(struct cuda_state *state, const struct ts_exec_io *io, uint32_t context,
			    uint32_t flags, int32_t priority, enum ts_exec_handle_kind kind,
			    uint64_t key);
/*
 * Wait for the handle that `query` tests, a stream, a context, or all contexts. Return
 * TS_EXEC_E_REFUSED if the work failed, the replay is cancelled, or its time is up.
 */
int ts_exec_cuda_wait_for(struct cuda_state *state, const struct ts_exec_io *io,
			  int (*query)(void *), void *what);
int ts_exec_cuda_wait_stream(struct cuda_state *state, const struct ts_exec_io *io,
			     const struct cuda_stream *stream);
int ts_exec_cuda_wait_context(struct cuda_state *state, const struct ts_exec_io *io,
			      uint32_t context);
int ts_exec_cuda_wait(struct cuda_state *state, const struct ts_exec_io *io);
void ts_exec_cuda_note(struct cuda_state *state, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* exec-cuda-place.c */
/*
 * Called before the driver starts: keeps the driver and all other code from the program's
 * addresses.
 */
int ts_exec_cuda_hold(struct cuda_state *state);
/* Releases the held addresses if no reservation will follow. */
void ts_exec_cuda_let_go(struct cuda_state *state);
/* Called after the driver starts: reserves the held addresses. */
void ts_exec_cuda_reserve(struct cuda_state *state);
void ts_exec_cuda_unreserve(struct cuda_state *state);
/*
 * Allocates memory at the captured address, and sets *ret_why to NULL. If this is impossible,
 * allocates nothing, returns 0, and *ret_why has the reason.
 */
int ts_exec_cuda_place(struct cuda_state *state, const struct ts_exec_io *io, uint32_t device,
		       uint64_t address, uint64_t bytes, const char **ret_why);
/* Frees the memory of ts_exec_cuda_place(). Unmaps granules without other allocations. */
void ts_exec_cuda_displace(struct cuda_state *state, uint64_t address, uint64_t bytes);

/* exec-cuda-memory.c */
/* Finds the real address of a captured address. All `bytes` must lie in one allocation. */
int ts_exec_cuda_reach(const struct cuda_state *state, const struct ts_exec_io *io,
		       uint64_t address, uint64_t bytes, uint64_t *ret_at);
/* Records an allocation whose real address differs from its captured address. */
void ts_exec_cuda_moved(struct cuda_state *state, const struct ts_exec_allocation *one);
/* Replaces captured addresses in a kernel's arguments by real ones. */
void ts_exec_cuda_translate(struct cuda_state *state, uint8_t *words, size_t n_bytes);
/* Drops the allocations of a module (`owner` is its number plus 1) or of a context (`owner` 0). */
void ts_exec_cuda_forget(struct cuda_state *state, uint32_t context, uint32_t owner);
/* Entries of the executor's table; parameters and errors are those in replay/exec/exec.h. */
int ts_exec_cuda_alloc(void *state, const struct ts_row_operation *operation,
		       const struct ts_exec_io *io);
int ts_exec_cuda_free(void *state, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io);
int ts_exec_cuda_copy(void *state, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io);
int ts_exec_cuda_fill(void *state, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io);
int ts_exec_cuda_host_write(void *state, const struct ts_row_operation *operation,
			    const struct ts_exec_io *io);
int ts_exec_cuda_memory(void *state,
			int (*each)(void *userdata, uint64_t address, const uint8_t *bytes,
				    uint64_t n_bytes),
			void *userdata);
const uint8_t *ts_exec_cuda_bytes(void *state, uint64_t address, uint64_t n_bytes);

/* exec-cuda-module.c */
void ts_exec_cuda_modules_leave(struct cuda_state *state, uint32_t context);
void ts_exec_cuda_modules_free(struct cuda_state *state);
/* Entries of the executor's table; parameters and errors are those in replay/exec/exec.h. */
int ts_exec_cuda_module_load(void *state, const struct ts_row_operation *operation,
			     const struct ts_exec_io *io);
int ts_exec_cuda_module_free(void *state, const struct ts_row_operation *operation,
			     const struct ts_exec_io *io);
int ts_exec_cuda_function(void *state, const struct ts_row_operation *operation,
			  const struct ts_exec_io *io);
int ts_exec_cuda_variable(void *state, const struct ts_row_operation *operation,
			  const struct ts_exec_io *io);
int ts_exec_cuda_launch(void *state, const struct ts_row_operation *operation,
			const struct ts_exec_io *io);
