/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's ids of streams by their handles, and which contexts and streams were told of already. Tables of fixed
 * size without locks: where one is full an id is asked of CUPTI again, or an object is not told of twice.
 * Thread-safe.
 */
#pragma once

#include "proto/abi/base.h"

#define TS_STREAM_TABLE_SLOTS 4096u
#define TS_ID_SET_SLOTS	      16384u

struct ts_stream_table {
	struct {
		uint64_t handle;
		uint64_t ids; /* context << 32 | stream */
	} slots[TS_STREAM_TABLE_SLOTS];
};

bool ts_stream_table_find(struct ts_stream_table *streams, uint32_t context, uint64_t handle,
			  uint32_t *ret_stream);
/* Of whatever context. For who names one, not for every call. */
bool ts_stream_table_find_handle(struct ts_stream_table *streams, uint64_t handle,
				 uint32_t *ret_context, uint32_t *ret_stream);
void ts_stream_table_add(struct ts_stream_table *streams, uint32_t context, uint64_t handle,
			 uint32_t stream);
void ts_stream_table_remove(struct ts_stream_table *streams, uint32_t context, uint64_t handle);

/*
 * What is being captured into graphs: streams, and events that were recorded in them. What is put into such a stream is no work
 * of the device's. `stream` is whatever names it in the process, not 0. A full table takes what is captured for done.
 */
struct ts_stream_captures {
	struct ts_stream_table keys; /* of context 0, by the number of the capture */
	uint32_t n;		     /* captures so far */
};
void ts_stream_captures_begin(struct ts_stream_captures *stream_captures, uint64_t stream);
/* And of all streams and events that it brought in. */
void ts_stream_captures_end(struct ts_stream_captures *stream_captures, uint64_t stream);
/* Whether that is captured. `event` 0: something that has none. */
bool ts_stream_captures_record(struct ts_stream_captures *stream_captures, uint64_t stream,
			       uint64_t event);
bool ts_stream_captures_wait(struct ts_stream_captures *stream_captures, uint64_t stream,
			     uint64_t event);

/* Ids that only ever come. */
struct ts_id_set {
	uint64_t slots[TS_ID_SET_SLOTS];
};

/* Returns whether it was not there; a full set says that it was. id: not 0. */
bool ts_id_set_add(struct ts_id_set *set, uint64_t id);
