/* SPDX-License-Identifier: Apache-2.0 */
/* What the two files about captures share: capture.c, what goes into one, and capture-call.c, beginning, ending, asking. */
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

/* Under graph_lock, as all captures are. */
void capture_add_locked(struct capture *capture, struct stream *origin);
/* The capture is over; the graph is kept where it is the program's now. */
void capture_free_locked(struct capture *capture, bool keep);
/* The stream object behind a handle; NULL: the legacy default stream. */
int capture_object_of(void *handle, struct context *context, struct stream **ret_stream);
/* The legacy default stream encompasses the blocking ones, which must not be waited for while they are captured. */
int capture_check_legacy_locked(const struct context *context, bool spoil);
/* Threads in the order in which they first asked: handles of dead ones may come again. */
uint64_t capture_this_thread(void);
/* The calling thread's mode; returns the one before. */
int32_t capture_exchange_mode(int32_t mode);
