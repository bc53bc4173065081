/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUDA's rules of order between streams, in one place. Six modules follow or run streams, each with
 * a model of its own. All call these functions: state (replay/state/state-order.c), emulate
 * (emulate-program.h), exec (exec-order.c), check (check-operations.c), the virtual GPU
 * (replay/vgpu/worker.c) and its stream captures (tools/vgpu/cuda/graph/stream-captures.c).
 *
 *   one stream           Operations run in the order of their calls. Two names can mean one stream
 *                        (ts_stream_is_same()).
 *   legacy default       An operation in it waits for all earlier operations of the context's
 *   stream               blocking streams, and later operations of those wait for it. Records and
 *                        waits of events count like operations. Non-blocking streams take no part
 *                        (ts_streams_are_tied()).
 *   host                 The host's wait for a stream covers its earlier operations. A wait for the
 *                        legacy default stream also covers all streams tied to it
 *                        (ts_stream_wait_covers()).
 *   events               A wait for an event waits for its last record before the wait's call. If
 *                        the event was never recorded, the wait does nothing.
 *   capture              While a blocking stream is being captured, the legacy default stream of
 *                        its context cannot be used: it would wait for work that does not run
 *                        (ts_stream_is_tied_to_legacy()).
 *   priorities           Among ready operations, the lowest number goes first, then the one that
 *                        was ready first. A running operation is never preempted
 *                        (ts_stream_is_more_urgent()).
 *
 * Source: CUDA C++ Programming Guide, "Streams", and the driver API's "Stream synchronization
 * behavior". Pure functions, for any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/abi/record.h"

/*
 * The properties of a stream that determine its order with others. Zeroed: unknown; the stream
 * counts as blocking.
 */
struct ts_stream_kind {
	bool is_known;
	bool is_legacy; /* the context's legacy default stream; then is_non_blocking is false */
	bool is_non_blocking;
};

/*
 * The application's name of a stream. The handle of the legacy default stream means a different
 * stream in each context; the per-thread handle, in each context and thread.
 */
struct ts_stream_name {
	uint64_t handle;
	uint32_t context, thread;
};

/* Returns the kind of a stream from the flags of its creating call (CUstream_flags). */
static inline struct ts_stream_kind ts_stream_created(uint64_t flags)
{
	return (struct ts_stream_kind){.is_known = true,
				       .is_non_blocking =
					       (flags & 1) != 0 /* CU_STREAM_NON_BLOCKING */};
}

/* True for the handle of a stream that exists without a creating call. */
static inline bool ts_stream_is_implicit(uint64_t handle)
{
	return handle <= TS_OPERATION_STREAM_PER_THREAD;
}

/* Returns the kind of a stream whose creating call is not recorded, from its handle. */
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

/*
 * True if the stream's operations wait for the legacy default stream of the same context, and the
 * legacy stream waits for them.
 */
static inline bool ts_stream_is_tied_to_legacy(const struct ts_stream_kind *kind)
{
	return !kind->is_legacy && !kind->is_non_blocking;
}

/*
 * True if the legacy default stream's rule orders two streams of a context: the operations of each
 * wait for earlier operations of the other.
 */
static inline bool ts_streams_are_tied(const struct ts_stream_kind *one,
				       const struct ts_stream_kind *other)
{
	return (one->is_legacy && ts_stream_is_tied_to_legacy(other)) ||
	       (other->is_legacy && ts_stream_is_tied_to_legacy(one));
}

/*
 * True if the host's wait for stream `waited` also waits for the stream `other` of the same
 * context.
 */
static inline bool ts_stream_wait_covers(const struct ts_stream_kind *waited,
					 const struct ts_stream_kind *other)
{
	return waited->is_legacy && ts_stream_is_tied_to_legacy(other);
}

/* True if the first of two ready operations gets the engine. */
static inline bool ts_stream_is_more_urgent(int32_t priority, int32_t other)
{
	return priority < other;
}
