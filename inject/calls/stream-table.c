/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables of atomic words with open addressing. callbacks.c, activity.c and recorder.c call
 * this file.
 *
 * The driver may reuse the handle of a destroyed stream for a stream with another id. So a reader
 * loads the handle again after the ids. The tables of map.h move when they grow, so launches, which
 * take no lock, could not read them.
 */
#include "inject/calls/stream-table.h"

#define PROBES	     64u

#define SLOT_FREE    UINT64_C(0)
#define SLOT_REMOVED (~UINT64_C(0))
#define SLOT_BUSY    (~UINT64_C(1))

bool ts_stream_table_find(struct ts_stream_table *streams, uint32_t context, uint64_t handle,
			  uint32_t *ret_stream)
{
	uint32_t at = ts_stream_table_hash(handle, context), i;

	for (i = 0; i < PROBES; i++) {
		uint64_t *slot = &streams->slots[(at + i) % TS_STREAM_TABLE_SLOTS].handle;
		uint64_t *ids = &streams->slots[(at + i) % TS_STREAM_TABLE_SLOTS].ids;
		/* Acquire pairs with the release in ts_stream_table_add(). */
		uint64_t seen = __atomic_load_n(slot, __ATOMIC_ACQUIRE), value;

		if (seen == SLOT_FREE)
			return false;
		if (seen != handle)
			continue;
		value = __atomic_load_n(ids, __ATOMIC_ACQUIRE);
		if (value >> 32 == context && __atomic_load_n(slot, __ATOMIC_RELAXED) == handle) {
			*ret_stream = (uint32_t)value;
			return true;
		}
	}
	return false;
}

bool ts_stream_table_find_handle(struct ts_stream_table *streams, uint64_t handle,
				 uint32_t *ret_context, uint32_t *ret_stream)
{
	for (uint32_t i = 0; i < TS_STREAM_TABLE_SLOTS; i++) {
		/* Pairs as in ts_stream_table_find(). */
		uint64_t seen = __atomic_load_n(&streams->slots[i].handle, __ATOMIC_ACQUIRE), ids;

		if (seen != handle || handle == SLOT_FREE)
			continue;
		ids = __atomic_load_n(&streams->slots[i].ids, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&streams->slots[i].handle, __ATOMIC_RELAXED) != handle)
			continue;
		*ret_context = (uint32_t)(ids >> 32);
		*ret_stream = (uint32_t)ids;
		return true;
	}
	return false;
}

void ts_stream_table_add(struct ts_stream_table *streams, uint32_t context, uint64_t handle,
			 uint32_t stream)
{
	uint32_t at = ts_stream_table_hash(handle, context), i;

	for (i = 0; i < PROBES; i++) {
		uint64_t *slot = &streams->slots[(at + i) % TS_STREAM_TABLE_SLOTS].handle;
		uint64_t *ids = &streams->slots[(at + i) % TS_STREAM_TABLE_SLOTS].ids;
		uint64_t seen = __atomic_load_n(slot, __ATOMIC_RELAXED);

		if (seen != SLOT_FREE && seen != SLOT_REMOVED)
			continue;
		if (!__atomic_compare_exchange_n(slot, &seen, SLOT_BUSY, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(ids, (uint64_t)context << 32 | stream, __ATOMIC_RELAXED);
		__atomic_store_n(slot, handle, __ATOMIC_RELEASE);
		return;
	}
}

void ts_stream_table_remove(struct ts_stream_table *streams, uint32_t context, uint64_t handle)
{
	uint32_t at = ts_stream_table_hash(handle, context), i;

	for (i = 0; i < PROBES; i++) {
		uint64_t *slot = &streams->slots[(at + i) % TS_STREAM_TABLE_SLOTS].handle;
		uint64_t *ids = &streams->slots[(at + i) % TS_STREAM_TABLE_SLOTS].ids;
		uint64_t seen = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

		if (seen == SLOT_FREE)
			return;
		if (seen == handle && __atomic_load_n(ids, __ATOMIC_RELAXED) >> 32 == context)
			__atomic_compare_exchange_n(slot, &seen, SLOT_REMOVED, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
}

void ts_stream_captures_begin(struct ts_stream_captures *stream_captures, uint64_t stream)
{
	uint32_t capture = __atomic_add_fetch(&stream_captures->n, 1, __ATOMIC_RELAXED);

	ts_stream_table_remove(&stream_captures->keys, 0, stream);
	ts_stream_table_add(&stream_captures->keys, 0, stream, capture);
}

void ts_stream_captures_end(struct ts_stream_captures *stream_captures, uint64_t stream)
{
	uint32_t capture;

	if (!ts_stream_table_find(&stream_captures->keys, 0, stream, &capture))
		return;
	for (uint32_t i = 0; i < TS_STREAM_TABLE_SLOTS; i++) {
		uint64_t *slot = &stream_captures->keys.slots[i].handle;
		uint64_t *ids = &stream_captures->keys.slots[i].ids;
		/* The acquire is the same as in ts_stream_table_remove(). */
		uint64_t seen = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

		if (seen != SLOT_FREE && seen != SLOT_REMOVED && seen != SLOT_BUSY &&
		    __atomic_load_n(ids, __ATOMIC_RELAXED) == capture)
			__atomic_compare_exchange_n(slot, &seen, SLOT_REMOVED, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	}
}

bool ts_stream_captures_record(struct ts_stream_captures *stream_captures, uint64_t stream,
			       uint64_t event)
{
	uint32_t capture = 0, before = 0;
	bool is_captured = ts_stream_table_find(&stream_captures->keys, 0, stream, &capture);
	bool is_known = event && ts_stream_table_find(&stream_captures->keys, 0, event, &before);

	if (is_known && (!is_captured || before != capture))
		ts_stream_table_remove(&stream_captures->keys, 0, event);
	if (event && is_captured && (!is_known || before != capture))
		ts_stream_table_add(&stream_captures->keys, 0, event, capture);
	return is_captured;
}

bool ts_stream_captures_wait(struct ts_stream_captures *stream_captures, uint64_t stream,
			     uint64_t event)
{
	uint32_t capture, joined;

	if (ts_stream_table_find(&stream_captures->keys, 0, stream, &joined))
		return true;
	if (!event || !ts_stream_table_find(&stream_captures->keys, 0, event, &capture))
		return false;
	ts_stream_table_add(&stream_captures->keys, 0, stream, capture);
	return true;
}

bool ts_id_set_add(struct ts_id_set *set, uint64_t id)
{
	uint32_t at = ts_stream_table_hash(id, 0), i;

	for (i = 0; i < PROBES; i++) {
		uint64_t *slot = &set->slots[(at + i) % TS_ID_SET_SLOTS];
		uint64_t seen = __atomic_load_n(slot, __ATOMIC_RELAXED);

		if (seen == id)
			return false;
		if (seen == SLOT_FREE &&
		    __atomic_compare_exchange_n(slot, &seen, id, false, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED))
			return true;
		if (seen == id)
			return false;
	}
	return false;
}
