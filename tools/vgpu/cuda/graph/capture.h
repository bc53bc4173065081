/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files about captures share: captures.c, those under way, capture.c, what goes into one, and
 * capture-call.c, beginning, ending, asking.
 */
#pragma once

#include "tools/vgpu/cuda/graph/graph.h"

struct capture {
	uint64_t id;
	struct graph *graph;
	bool given; /* the graph was there before */
	bool spoiled;
	int32_t mode;
	uint64_t thread;
	struct stream *origin;
	struct stream *streams; /* by capture_next; the origin among them */
	struct capture *next;
};

/* How many there are: read without graph_lock, so that nobody pays for what is not going on. */
extern _Atomic uint32_t n_captures;

static inline bool capture_any(void)
{
	/* Relaxed: a call that races with the beginning of a capture in another thread may go either way. */
	return __builtin_expect(atomic_load_explicit(&n_captures, memory_order_relaxed) != 0, 0);
}

/* captures.c. Under graph_lock, as all captures are. */
void capture_add_locked(struct capture *capture, struct stream *origin);
/* The capture is over; the graph is kept where it is the program's now. */
void capture_free_locked(struct capture *capture, bool keep);
/* Brings the stream into the capture that the event was recorded in. */
int capture_wait_locked(struct stream *stream, const struct event *event);
/* The legacy default stream encompasses the blocking ones, which must not be waited for while they are captured. */
int capture_check_legacy_locked(const struct context *context, bool spoil);
/* Threads in the order in which they first asked: handles of dead ones may come again. */
uint64_t capture_this_thread(void);
/* The calling thread's mode; returns the one before. */
int32_t capture_exchange_mode(int32_t mode);

/* capture.c: the stream object behind a handle; NULL: the legacy default stream. */
int capture_object_of(void *handle, struct context *context, struct stream **ret_stream);
