/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that calls and graphs share. A call checks its arguments. Then it either runs the work or,
 * if the stream is being captured, adds the work to a graph. A graph runs the same work later.
 *
 *     call -> check -> stream_work() --not captured--> *_run() -> device
 *                           |                              ^
 *                           +--captured--> graph node -----+ (graph launch)
 *
 * So each kind of work has a function that reads arguments and one that runs the work
 * (driver-launch.c, driver-copy.c, driver-memset.c). graph/stream-capture.c decides if the work
 * runs or becomes a node.
 */
#pragma once

#include "tools/vgpu/cuda/driver.h"

/* The node that runs the work; NULL: a direct call. */
struct work_place {
	uint32_t graph_id; /* id of the executable graph */
	uint64_t node_id;
	int32_t priority; /* only for kernels */
};

/* driver-launch.c */
struct launch {
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;
	bool cooperative;
	bool has_priority; /* replaces the stream's; set by a graph node or a launch attribute */
	int32_t priority;
};
int launch_check(const struct function *f, const struct launch *l);
/* Copies a call's arguments to a buffer of decl->params_bytes bytes. */
int launch_gather(const struct ts_vgpu_kernel *decl, void **kernel_params, void **extra,
		  uint8_t *buffer);
int launch_run(const struct function *f, const struct launch *l, const uint8_t *params,
	       struct ts_vgpu_stream *vstream, const struct work_place *place);

/*
 * driver-copy.c. The kind of memory that a call states for one side. The device determines the real
 * kind, and the call fails if both differ.
 */
enum said {
	SAID_ANY,
	SAID_HOST,
	SAID_DEVICE,
};
struct said_copy {
	struct ts_vgpu_copy copy;
	enum said src, dst;
};
int copy_read(const struct ts_cu_memcpy_3d *c, struct said_copy *ret_copy);
int copy_run(struct context *context, struct ts_vgpu_stream *vstream, struct said_copy *copy,
	     const struct work_place *place);

/*
 * driver-map.c. Devices that may read and write memory, one bit each. access_read() adds one
 * description.
 */
struct access {
	uint32_t readers, writers;
};
int access_read(const struct ts_cu_mem_access_desc *desc, struct access *access);
int32_t access_of(const struct access *access, int32_t device);

/* driver-memset.c */
int set_run(struct context *context, struct ts_vgpu_stream *vstream, struct ts_vgpu_fill *fill,
	    const struct work_place *place);

/*
 * graph/stream-capture.c. Like stream_get(), for calls that queue work. If the stream is being
 * captured, *ret_capturing is the stream and the work goes into a graph; else it is NULL. Errors:
 * those of stream_get(), TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED and
 * TS_CU_ERROR_STREAM_CAPTURE_IMPLICIT.
 */
int stream_work(void *handle, struct context **ret_context, struct ts_vgpu_stream **ret_stream,
		struct stream **ret_capturing);
/* Like stream_work(), for calls that a captured stream rejects. */
int stream_uncaptured(void *handle, struct context **ret_context,
		      struct ts_vgpu_stream **ret_stream);
int stream_capture_launch(struct stream *stream, const struct function *f, const struct launch *l,
			  const uint8_t *params);
int stream_capture_copy(struct stream *stream, struct context *context,
			const struct said_copy *copy);
int stream_capture_set(struct stream *stream, struct context *context,
		       const struct ts_vgpu_fill *fill);
int stream_capture_host(struct stream *stream, void *fn, void *user_data);
struct graph;
int stream_capture_graph(struct stream *stream, const struct graph *graph);
int stream_capture_record(struct stream *stream, struct event *event, bool external);
/* Makes the stream wait for an event. *ret_captured: the capture has handled the wait. */
int stream_capture_wait(void *handle, struct context *context, struct stream *capturing,
			struct event *event, bool external, bool *ret_captured);

/*
 * stream-captures.c. Handles work that cannot be captured: invalidates the capture and returns
 * TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED.
 */
int stream_capture_refuse(struct stream *stream);
/* Called when the event is recorded outside a capture: removes the event from its capture. */
void stream_capture_forget_event(struct event *event);
/* Checks a query of an event that was recorded in a capture. */
int stream_capture_ask_event(struct event *event);
/* Checks a query of a context, whose streams may be captured. */
int stream_capture_ask_context(const struct context *context);
/*
 * Checks calls that act at once and cannot go into a graph: the thread's capture mode may reject
 * them.
 */
int stream_capture_unsafe(void);
/* Called when the stream is destroyed. */
void stream_capture_forget_stream(struct stream *stream);
