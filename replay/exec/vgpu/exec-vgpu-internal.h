/* SPDX-License-Identifier: Apache-2.0 */
/* Shared declarations of the virtual GPU's executor. */
#pragma once

#include <pthread.h>

#include "replay/exec/compiled.h"
#include "replay/exec/exec-layout.h"
#include "replay/exec/exec-objects.h"
#include "replay/exec/exec.h"
#include "replay/vgpu/executor.h"
#include "replay/vgpu/vgpu-module.h"

struct context {
	struct ts_vgpu_context *vgpu; /* NULL: destroyed */
	const struct ts_vgpu_shape *shape;
	uint32_t peers;
	uint64_t stack_bytes, heap_bytes;
};

/* A module in a context, created at its first use in this context. */
struct instance {
	uint32_t context;
	uint32_t content; /* content number of its image */
	struct ts_vgpu_module *code;
	uint64_t *addresses; /* of its variables */
	struct instance *next;
};

struct module {
	uint8_t *image; /* NULL: unloaded */
	uint32_t content;
	struct instance *instances;
};

struct stream {
	struct ts_vgpu_stream *vgpu; /* NULL: destroyed */
	uint32_t context;
};

/* State of the watch thread, which ends kernels over a limit. */
struct watch {
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	bool over;
	_Atomic bool is_late; /* the time limit passed */
	/* operations run one at a time: the engine itself stops a kernel that only waits */
	bool is_alone;
	/* number of consecutive checks at which all running kernels only waited */
	unsigned n_waiting;
	const volatile int *cancel;
	uint64_t until_ns;
};

struct vgpu_state {
	const struct ts_exec_program *program;
	struct ts_vgpu *vgpu;
	struct ts_vgpu_ptx_executor *executor;
	uint32_t n_first_devices; /* of the vendor that came first, in a process of two */
	struct ts_exec_layout layout;
	struct ts_exec_allocations allocations;
	struct ts_state_map handles;
	struct ts_exec_objects contexts, modules, functions, streams, events;
	struct ts_exec_variables variables;
	uint8_t *staging; /* outside the program's addresses */
	size_t staging_bytes;
	struct ts_check *check; /* NULL: no checks */
	bool is_debugged;
	/* cache of compiled modules; NULL: this replay compiles its own */
	struct ts_exec_compiled *compiled;
	struct watch watch;
	char fault[TS_EXEC_TEXT_BYTES]; /* the first fault line of a kernel */
};

static inline struct context *context_at(const struct vgpu_state *state, uint32_t i)
{
	return &((struct context *)state->contexts.at)[i];
}

static inline struct module *module_at(const struct vgpu_state *state, uint32_t i)
{
	return &((struct module *)state->modules.at)[i];
}

static inline struct ts_exec_function *function_at(const struct vgpu_state *state, uint32_t i)
{
	return &((struct ts_exec_function *)state->functions.at)[i];
}

static inline struct stream *stream_at(const struct vgpu_state *state, uint32_t i)
{
	return &((struct stream *)state->streams.at)[i];
}

static inline struct ts_vgpu_event **event_at(const struct vgpu_state *state, uint32_t i)
{
	return &((struct ts_vgpu_event **)state->events.at)[i];
}

/* exec-vgpu-stream.c */
/* Converts the device's result: 0, -errno, or TS_EXEC_E_REFUSED with the reason. */
int ts_exec_vgpu_result(struct vgpu_state *state, const struct ts_exec_io *io, int r);
/* Finds the operation's context. */
int ts_exec_vgpu_context(struct vgpu_state *state, const struct ts_row_operation *operation,
			 const struct ts_exec_io *io, uint32_t *ret_context);
/* Finds the operation's stream. */
int ts_exec_vgpu_stream(struct vgpu_state *state, const struct ts_row_operation *operation,
			const struct ts_exec_io *io, struct stream *ret_stream);

/* exec-vgpu-module.c */
void ts_exec_vgpu_module_unload(struct vgpu_state *state, uint32_t module);
void ts_exec_vgpu_modules_leave(struct vgpu_state *state, uint32_t context);
/* Entries of the executor's table; parameters and errors are those in replay/exec/exec.h. */
int ts_exec_vgpu_module_load(void *state, const struct ts_row_operation *operation,
			     const struct ts_exec_io *io);
int ts_exec_vgpu_module_free(void *state, const struct ts_row_operation *operation,
			     const struct ts_exec_io *io);
int ts_exec_vgpu_function(void *state, const struct ts_row_operation *operation,
			  const struct ts_exec_io *io);
int ts_exec_vgpu_variable(void *state, const struct ts_row_operation *operation,
			  const struct ts_exec_io *io);
void ts_exec_vgpu_prepare_launch(void *state, const struct ts_row_operation *operation,
				 const struct ts_exec_io *io);
int ts_exec_vgpu_launch(void *state, const struct ts_row_operation *operation,
			const struct ts_exec_io *io);

/* exec-vgpu-memory.c */
int ts_exec_vgpu_place(struct vgpu_state *state, uint32_t context, uint64_t address, uint64_t bytes,
		       const struct ts_exec_io *io);
/*
 * Waits for all queued work in every context. A copy's addresses are resolved when the copy is
 * queued, and other contexts and devices may access a device's memory. So the queues must be empty
 * when memory is freed.
 */
void ts_exec_vgpu_wait(struct vgpu_state *state);
int ts_exec_vgpu_unplace(struct vgpu_state *state, uint64_t address);
/* Entries of the executor's table; parameters and errors are those in replay/exec/exec.h. */
int ts_exec_vgpu_alloc(void *state, const struct ts_row_operation *operation,
		       const struct ts_exec_io *io);
int ts_exec_vgpu_free(void *state, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io);
int ts_exec_vgpu_copy(void *state, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io);
int ts_exec_vgpu_fill(void *state, const struct ts_row_operation *operation,
		      const struct ts_exec_io *io);
int ts_exec_vgpu_host_write(void *state, const struct ts_row_operation *operation,
			    const struct ts_exec_io *io);
int ts_exec_vgpu_memory(void *state,
			int (*each)(void *userdata, uint64_t address, const uint8_t *bytes,
				    uint64_t n_bytes),
			void *userdata);
/* Reports an allocation to the checks, if any. `operation` is NULL for a variable. */
int ts_exec_vgpu_check_alloc(struct vgpu_state *state, uint64_t address, uint64_t bytes,
			     const struct ts_row_operation *operation);
const uint8_t *ts_exec_vgpu_bytes(void *state, uint64_t address, uint64_t n_bytes);

/*
 * exec-vgpu-watch.c: starts a thread that ends running kernels when `cancel` is set or the time is
 * up. The thread also ends kernels that wait for a value in memory that no operation writes. _end()
 * ends the thread.
 */
int ts_exec_vgpu_watch(struct vgpu_state *state, const struct ts_exec_options *options,
		       const volatile int *cancel);
void ts_exec_vgpu_watch_end(struct vgpu_state *state);
