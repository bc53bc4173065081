/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the capture files: stream-captures.c has the active captures, stream-capture.c adds
 * work to one, and stream-capture-call.c has the calls that begin, end and query one.
 */
#pragma once

#include "tools/vgpu/cuda/graph/graph.h"

struct stream_capture {
	uint64_t id;
	struct graph *graph;
	bool given; /* the graph existed before the capture */
	bool spoiled;
	int32_t mode;
	uint64_t thread;
	struct stream *origin;
	struct stream *streams; /* linked by stream_capture_next; includes the origin */
	struct stream_capture *next;
};

/*
 * Number of active captures. Read without graph_lock, so that calls without a capture pay nothing.
 */
extern _Atomic uint32_t n_stream_captures;

static inline bool stream_capture_any(void)
{
	/*
	 * Relaxed, without a pair: a call that races with the beginning of a capture in another
	 * thread may go either way.
	 */
	return __builtin_expect(atomic_load_explicit(&n_stream_captures, memory_order_relaxed) != 0,
				0);
}

/* stream-captures.c. The caller holds graph_lock, which guards all captures. */
void stream_capture_add_locked(struct stream_capture *stream_capture, struct stream *origin);
/* Ends the capture. keep: the program gets the graph. */
void stream_capture_free_locked(struct stream_capture *stream_capture, bool keep);
/* Adds the stream to the capture of the event's record. */
int stream_capture_wait_locked(struct stream *stream, const struct event *event);
/*
 * Fails if a blocking stream of the context is being captured, because the legacy default stream
 * would wait for it. If `spoil` is true, also invalidates the capture.
 */
int stream_capture_check_legacy_locked(const struct context *context, bool spoil);
/*
 * Returns a number for the calling thread, in the order of the threads' first calls. The handle of
 * a thread that ended may be reused; its number is not.
 */
uint64_t stream_capture_this_thread(void);
/* Sets the calling thread's mode and returns the previous one. */
int32_t stream_capture_exchange_mode(int32_t mode);

/* stream-capture.c: returns the stream object of a handle; NULL: the legacy default stream. */
int stream_capture_object_of(void *handle, struct context *context, struct stream **ret_stream);
