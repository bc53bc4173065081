/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a query on a fuzzer's trace, as the daemon's worker does (replay/report/query.h). The query
 * must end with an answer for any trace, and every part of the answer must pack and unpack. An
 * answer that has a picture must be drawn.
 * fuzz-query.c and fuzz-replay.c call it.
 */
#pragma once

#include <stdlib.h>

#include "proto/rpc/json.h"
#include "replay/report/pictures/picture.h"
#include "replay/report/query.h"

#define TS_FUZZ_DEVICE_BYTES  (UINT64_C(64) << 20)
#define TS_FUZZ_MAX_REPLAY_NS UINT64_C(500000000)

static inline void ts_fuzz_draw(unsigned number, const ProtobufCMessage *body)
{
	const struct ts_picture_options options = {.title = "a trace", .origin_ns = 1000};
	size_t n_bytes;
	char *svg;
	int r;

	if (number == TS__RPC__ANSWER__BODY_TIMELINE)
		r = ts_picture_timeline((const Ts__Rpc__TimelineReport *)(const void *)body,
					&options, &svg, &n_bytes);
	else if (number == TS__RPC__ANSWER__BODY_MEMORY)
		r = ts_picture_memory((const Ts__Rpc__MemoryReport *)(const void *)body, &options,
				      &svg, &n_bytes);
	else
		return;
	if (r)
		abort();
	free(svg);
}

static inline int ts_fuzz_give(void *data, unsigned number, const ProtobufCMessage *body)
{
	size_t n_bytes = protobuf_c_message_get_packed_size(body);
	uint8_t *packed = malloc(n_bytes + 1);
	ProtobufCMessage *again;

	if (!packed || protobuf_c_message_pack(body, packed) != n_bytes)
		abort();
	again = protobuf_c_message_unpack(body->descriptor, NULL, n_bytes, packed);
	if (!again)
		abort();
	ts_fuzz_draw(number, again);
	protobuf_c_message_free_unpacked(again, NULL);
	free(packed);
	return 0;
}

static inline void ts_fuzz_ask(struct ts_sbt_reader *reader, const Ts__Rpc__Query *query)
{
	struct ts_query_options options = {.give = ts_fuzz_give,
					   .no_memory = abort,
					   .device_bytes = TS_FUZZ_DEVICE_BYTES};
	struct ts_query_end end;
	char why[TS_QUERY_WHY_BYTES];
	int r = ts_query_run(reader, 0, query, &options, &end);

	if (r)
		ts_query_why("a trace", r, ts_sbt_reader_error(reader), why);
}
