/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files about captures share: stream-captures.c, those under way, stream-capture.c, what goes into one, and
 * stream-capture-call.c, beginning, ending, asking.
 */
#pragma once

#include "tools/vgpu/cuda/graph/graph.h"

struct stream_capture {
	uint64_t id;
	struct graph *graph;
	bool given; /* the graph was there before */
	bool spoiled;
	int32_t mode;
	uint64_t thread;
	struct stream *origin;
	struct stream *streams; /* by stream_capture_next; the origin among them */
	struct stream_capture *next;
};

/* How many there are: read without graph_lock, so that nobody pays for what is not going on. */
extern _Atomic uint32_t n_stream_captures;

static inline bool stream_capture_any(void)
{
	/* Relaxed: a call that races with the beginning of a capture in another thread may go either way. */
	return __builtin_expect(atomic_load_explicit(&n_stream_captures, memory_order_relaxed) != 0,
				0);
}

/* stream-captures.c. Under graph_lock, as all captures are. */
void stream_capture_add_locked(struct stream_capture *stream_capture, struct stream *origin);
/* The capture is over; the graph is kept where it is the program's now. */
void stream_capture_free_locked(struct stream_capture *stream_capture, bool keep);
/* Brings the stream into the capture that the event was recorded in. */
int stream_capture_wait_locked(struct stream *stream, const struct event *event);
/* The legacy default stream encompasses the blocking ones, which must not be waited for while they are captured. */
int stream_capture_check_legacy_locked(const struct context *context, bool spoil);
/* Threads in the order in which they first asked: handles of dead ones may come again. */
uint64_t stream_capture_this_thread(void);
/* The calling thread's mode; returns the one before. */
int32_t stream_capture_exchange_mode(int32_t mode);

/* stream-capture.c: the stream object behind a handle; NULL: the legacy default stream. */
int stream_capture_object_of(void *handle, struct context *context, struct stream **ret_stream);
