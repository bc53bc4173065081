/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's stream ids by handle, the streams and events of stream captures, and the set of recorded
 * contexts and streams. The tables have a fixed size and no locks. If a stream table is full, the
 * caller asks CUPTI for the id again. If the id set is full, an object counts as already recorded.
 * Thread-safe.
 */
#pragma once

#include "proto/abi/base.h"
#include "proto/abi/tablehash.h"

#define TS_STREAM_TABLE_SLOTS 4096u
#define TS_ID_SET_SLOTS	      16384u

struct ts_stream_table {
	struct {
		uint64_t handle;
		uint64_t ids; /* context << 32 | stream */
	} slots[TS_STREAM_TABLE_SLOTS];
};

/*
 * Find, add or remove a stream by context and handle. Find returns false if the stream is not in
 * the table. Add does nothing if the table is full.
 */
bool ts_stream_table_find(struct ts_stream_table *streams, uint32_t context, uint64_t handle,
			  uint32_t *ret_stream);

static inline uint32_t ts_stream_table_hash(uint64_t a, uint64_t b)
{
	return (uint32_t)(ts_hash_add(a, b << 32) >> 32);
}

/*
 * Like ts_stream_table_find(), but looks only where most streams are, and calls nothing. False:
 * call that function.
 */
static inline bool ts_stream_table_find_near(const struct ts_stream_table *streams,
					     uint32_t context, uint64_t handle,
					     uint32_t *ret_stream)
{
	const uint32_t at = ts_stream_table_hash(handle, context);

	for (uint32_t i = 0; i < 4; i++) {
		const uint64_t *slot = &streams->slots[(at + i) % TS_STREAM_TABLE_SLOTS].handle;
		/* Acquire pairs with the release in ts_stream_table_add(). */
		const uint64_t seen = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		uint64_t ids;

		if (ts_unlikely(seen != handle))
			continue;
		ids = __atomic_load_n(slot + 1, __ATOMIC_ACQUIRE);
		if (ts_likely(ids >> 32 == context &&
			      __atomic_load_n(slot, __ATOMIC_RELAXED) == handle)) {
			*ret_stream = (uint32_t)ids;
			return true;
		}
	}
	return false;
}

/* Finds a handle in any context. Scans the whole table: not for the hot path. */
bool ts_stream_table_find_handle(struct ts_stream_table *streams, uint64_t handle,
				 uint32_t *ret_context, uint32_t *ret_stream);
void ts_stream_table_add(struct ts_stream_table *streams, uint32_t context, uint64_t handle,
			 uint32_t stream);
void ts_stream_table_remove(struct ts_stream_table *streams, uint32_t context, uint64_t handle);

/*
 * Active stream captures: their streams, and the events recorded in these streams. Work in such a
 * stream goes into a graph, not to the device. `stream` is a key that is unique in the process, not
 * 0. If the table is full, a captured operation counts as executed.
 */
struct ts_stream_captures {
	struct ts_stream_table keys; /* context 0; the stream id is the capture's number */
	uint32_t n;		     /* captures begun so far */
};
void ts_stream_captures_begin(struct ts_stream_captures *stream_captures, uint64_t stream);
/* Ends the capture of the stream, and of all streams and events that the capture contains. */
void ts_stream_captures_end(struct ts_stream_captures *stream_captures, uint64_t stream);
/*
 * Return true if the operation in the stream is captured. `event` 0: the operation is no event
 * record. A captured record adds the event to the capture. A wait for a captured event adds the
 * stream to the capture.
 */
bool ts_stream_captures_record(struct ts_stream_captures *stream_captures, uint64_t stream,
			       uint64_t event);
bool ts_stream_captures_wait(struct ts_stream_captures *stream_captures, uint64_t stream,
			     uint64_t event);

/* A set of ids that only grows. */
struct ts_id_set {
	uint64_t slots[TS_ID_SET_SLOTS];
};

/* Adds an id, not 0. Returns true if the id is new. A full set returns false. */
bool ts_id_set_add(struct ts_id_set *set, uint64_t id);
