/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work as calls and graphs share it. A call checks its arguments, and then either runs what it was asked for or, in a
 * stream that is being captured, puts it into a graph; a graph runs the same work later. So each kind of
 * work has a part that reads arguments and one that runs (driver-launch.c, driver-copy.c, driver-memset.c), and graph/stream-capture.c says which it is.
 */
#pragma once

#include "tools/vgpu/cuda/driver.h"

/* The node that work is run for; NULL: a call's own. */
struct work_place {
	uint32_t graph_id; /* the executable graph's */
	uint64_t node_id;
	int32_t priority; /* of kernels */
};

/* driver-launch.c */
struct launch {
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;
	bool cooperative;
	bool has_priority; /* else the stream's; in graphs the node or the launch says it */
	int32_t priority;
};
int launch_check(const struct function *f, const struct launch *l);
/* Copies a call's arguments into a buffer of the declaration's params_bytes. */
int launch_gather(const struct ts_vgpu_kernel *decl, void **kernel_params, void **extra,
		  uint8_t *buffer);
int launch_run(const struct function *f, const struct launch *l, const uint8_t *params,
	       struct ts_vgpu_stream *vstream, const struct work_place *place);

/* driver-copy.c. What a call says about one side: the device finds out what memory it is, and it is held to that. */
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

/* driver-map.c. The devices that may read and write memory, a bit each; one description's part put into it. */
struct access {
	uint32_t readers, writers;
};
int access_read(const struct ts_cu_mem_access_desc *desc, struct access *access);
int32_t access_of(const struct access *access, int32_t device);

/* driver-memset.c */
int set_run(struct context *context, struct ts_vgpu_stream *vstream, struct ts_vgpu_fill *fill,
	    const struct work_place *place);

/*
 * graph/stream-capture.c. As stream_get(), for work: *ret_capturing is the stream where it is being captured, so that the work goes into
 * a graph, else NULL. TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED, TS_CU_ERROR_STREAM_CAPTURE_IMPLICIT.
 */
int stream_work(void *handle, struct context **ret_context, struct ts_vgpu_stream **ret_stream,
		struct stream **ret_capturing);
/* As stream_work(), for calls that are refused in a stream that is being captured. */
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
/* The stream waits for an event; *ret_captured: it was seen to here. */
int stream_capture_wait(void *handle, struct context *context, struct stream *capturing,
			struct event *event, bool external, bool *ret_captured);

/* stream-captures.c. What cannot be captured: spoils the capture and answers TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED. */
int stream_capture_refuse(struct stream *stream);
/* The event was recorded outside of any capture. */
void stream_capture_forget_event(struct event *event);
/* Asking for the state of an event that was recorded in a capture. */
int stream_capture_ask_event(struct event *event);
/* Asking for the state of a whole context, some of whose streams may be captured. */
int stream_capture_ask_context(const struct context *context);
/* Calls that act at once where a capture would have them in the graph: refused by the thread's capture mode. */
int stream_capture_unsafe(void);
/* The stream goes. */
void stream_capture_forget_stream(struct stream *stream);
