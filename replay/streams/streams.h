/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's rules of order between streams, once. Six modules follow or run streams: state (replay/state/state-order.c), emulate (emulate-program.h),
 * exec (exec-order.c), check (check-operations.c), the virtual GPU (replay/vgpu/worker.c) and its stream captures (tools/vgpu/cuda/graph/stream-captures.c).
 * Each has a model of its own, and asks here.
 *
 *   one stream           Its operations run in the order of their calls. Two names can mean one stream (ts_stream_is_same()).
 *   legacy default       An operation of it waits for all earlier operations of the context's blocking streams, and later ones of
 *   stream               those wait for it. Records and waits of events are points of it like operations. Non-blocking streams take no
 *                        part (ts_streams_are_tied()).
 *   host                 A wait for a stream is a wait for all earlier operations in it, and, of the legacy default stream, of all
 *                        streams that are tied to it (ts_stream_wait_covers()).
 *   events               A wait for an event is a wait for the last record of it before the wait's call. A wait for an event that was
 *                        never recorded waits for nothing.
 *   capture              While a blocking stream is being captured the legacy default stream of its context cannot be used, as it
 *                        would have to wait for work that is not done (ts_stream_is_tied_to_legacy()).
 *   priorities           Among operations that are ready the one of the lower number goes first, then the one that was ready
 *                        first. A running operation is never stopped for another (ts_stream_is_more_urgent()).
 *
 * Source: CUDA C++ Programming Guide, "Streams", and the driver API's "Stream synchronization behavior". Pure functions, for any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/abi/record.h"

/* The part of a stream that its order with others depends on. Zeroed: nothing is known of it; it is taken for a blocking one. */
struct ts_stream_kind {
	bool is_known;
	bool is_legacy; /* the legacy default stream of its context; it is not a non-blocking one */
	bool is_non_blocking;
};

/* How the application names a stream: the first two handles mean another stream in each context, the second one in each thread too. */
struct ts_stream_name {
	uint64_t handle;
	uint32_t context, thread;
};

/* As a call made it: CUstream_flags. */
static inline struct ts_stream_kind ts_stream_created(uint64_t flags)
{
	return (struct ts_stream_kind){.is_known = true,
				       .is_non_blocking =
					       (flags & 1) != 0 /* CU_STREAM_NON_BLOCKING */};
}

/* A stream that nobody creates, by its handle. */
static inline bool ts_stream_is_implicit(uint64_t handle)
{
	return handle <= TS_OPERATION_STREAM_PER_THREAD;
}

/* The kind of a stream whose creation was not seen, by its handle. */
static inline struct ts_stream_kind ts_stream_kind_of(uint64_t handle)
{
	return (struct ts_stream_kind){.is_known = ts_stream_is_implicit(handle),
				       .is_legacy = handle == TS_OPERATION_STREAM_LEGACY};
}

static inline bool ts_stream_is_same(const struct ts_stream_name *one,
				     const struct ts_stream_name *other)
{
	if (one->handle != other->handle)
		return false;
	if (!ts_stream_is_implicit(one->handle))
		return true;
	return one->context == other->context &&
	       (one->handle == TS_OPERATION_STREAM_LEGACY || one->thread == other->thread);
}

/* Whether the legacy default stream of its context orders the stream's operations. */
static inline bool ts_stream_is_tied_to_legacy(const struct ts_stream_kind *kind)
{
	return !kind->is_legacy && !kind->is_non_blocking;
}

/* Whether an operation of one of two streams of a context waits for earlier ones of the other. */
static inline bool ts_streams_are_tied(const struct ts_stream_kind *one,
				       const struct ts_stream_kind *other)
{
	return (one->is_legacy && ts_stream_is_tied_to_legacy(other)) ||
	       (other->is_legacy && ts_stream_is_tied_to_legacy(one));
}

/* Whether a host that waits for a stream waits for what is in another stream of its context, too. */
static inline bool ts_stream_wait_covers(const struct ts_stream_kind *waited,
					 const struct ts_stream_kind *other)
{
	return waited->is_legacy && ts_stream_is_tied_to_legacy(other);
}

/* Whether the first of two ready operations takes the engine that both want. */
static inline bool ts_stream_is_more_urgent(int32_t priority, int32_t other)
{
	return priority < other;
}
