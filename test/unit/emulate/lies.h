/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that cannot be trusted, from a seed. */
#pragma once

#include "test/unit/harness.h"

#include "sbt/schema.h"

static uint64_t lie_seed;

static inline unsigned int lie_below(unsigned int n)
{
	lie_seed = lie_seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(lie_seed >> 33) % n;
}

union lie {
	struct ts_row_api api;
	struct ts_row_kernel kernel;
	struct ts_row_memcpy copy;
	struct ts_row_memset set;
	struct ts_row_sync sync;
	struct ts_row_event event;
	struct ts_row_stream_wait wait;
	struct ts_row_graph_launch launch;
	struct ts_row_stream stream;
	uint64_t words[TS_ROW_MAX_BYTES / 8];
};

static const unsigned int lie_types[] = {
	TS_ROW_API,  TS_ROW_API,   TS_ROW_API,	       TS_ROW_KERNEL, TS_ROW_KERNEL,
	TS_ROW_SYNC, TS_ROW_EVENT, TS_ROW_STREAM_WAIT, TS_ROW_MEMCPY, TS_ROW_MEMSET,
	TS_ROW_SYNC, TS_ROW_EVENT, TS_ROW_STREAM_WAIT, TS_ROW_STREAM, TS_ROW_GRAPH_LAUNCH,
};

static inline uint64_t lie_time(unsigned int how, uint64_t now_ns)
{
	switch (lie_below(how ? 40 : 400)) {
	case 0:
		return UINT64_MAX - lie_below(3);
	case 1:
		return lie_below(3);
	case 2:
		return (uint64_t)lie_below(1u << 30) << 30;
	default:
		return now_ns + lie_below(100);
	}
}

static inline void lie_fill(const struct ts_row_schema *schema, union lie *row, unsigned int how,
			    uint64_t now_ns)
{
	memset(row, 0, sizeof(*row));
	for (unsigned int i = 0; i < schema->n_columns; i++) {
		const struct ts_column *column = &schema->columns[i];
		uint8_t *at = (uint8_t *)row + column->offset;
		uint64_t value = lie_below(3);

		if (column->role == TS_ROLE_TIME_START || column->role == TS_ROLE_TIME_END)
			value = lie_time(how, now_ns);
		else if (column->role == TS_ROLE_OP)
			value = lie_below(60);
		else if (column->role == TS_ROLE_STREAM || column->role == TS_ROLE_DEVICE)
			value = lie_below(20) ? lie_below(3) : TS_NO_DEVICE;
		else if (column->role == TS_ROLE_ENUM || column->role == TS_ROLE_FLAGS)
			value = lie_below(5);
		else if (column->role == TS_ROLE_COUNT || column->role == TS_ROLE_BYTES)
			value = lie_below(4) ? lie_below(2000) : UINT64_MAX;
		memcpy(at, &value, column->width);
	}
	if (schema->type == TS_ROW_API && lie_below(8))
		row->api.flags = TS_API_EXPECTS_DEVICE;
	/* Most rows are no nodes of a graph. */
	if (schema->type == TS_ROW_KERNEL && lie_below(4))
		row->kernel.graph = 0, row->kernel.graph_node = 0;
}
