/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET rows: the rows of a lane in a window, as columns. http.c calls this module.
 */
#include "proto/abi/base.h"
#include "tools/studio/server/requests/studio-rows.h"

#include <math.h>

#define DEFAULT_ROWS 4096u
#define MAX_ROWS     65536u

static void put_column(struct ts_json *json, const char *name, const struct ts_tile_rows *rows,
		       uint64_t (*get)(const struct ts_tile_row *row))
{
	ts_json_raw(json, name);
	for (size_t i = 0; i < rows->n; i++) {
		if (i)
			ts_json_raw(json, ",");
		ts_json_uint(json, get(&rows->at[i]));
	}
	ts_json_raw(json, "]");
}

static uint64_t get_start(const struct ts_tile_row *row)
{
	return row->start_ns;
}

static uint64_t get_end(const struct ts_tile_row *row)
{
	return row->end_ns;
}

static uint64_t get_key(const struct ts_tile_row *row)
{
	return row->key;
}

static uint64_t get_op(const struct ts_tile_row *row)
{
	return row->op_id;
}

static uint64_t get_number(const struct ts_tile_row *row)
{
	return ts_studio_row_number(row);
}

static uint64_t get_depth(const struct ts_tile_row *row)
{
	return row->depth;
}

/* JSON has no infinite numbers: they are strings. */
static void put_values(struct ts_json *json, const struct ts_tile_rows *rows)
{
	ts_json_raw(json, ",\n\"value\": [");
	for (size_t i = 0; i < rows->n; i++) {
		double value = rows->at[i].value;

		if (i)
			ts_json_raw(json, ",");
		if (isinf(value))
			ts_json_string(json, value > 0 ? "Infinity" : "-Infinity");
		else
			ts_json_double(json, value);
	}
	ts_json_raw(json, "]");
}

int ts_request_rows(struct ts_studio_call *call)
{
	uint64_t lane, from_ns, to_ns, limit, has_numbers;
	struct ts_tile_rows rows;
	struct ts_lane found;
	bool is_second;
	int r;

	if (ts_call_number(call, "lane", 1, UINT32_MAX, &lane) ||
	    ts_call_number(call, "from", 0, INT64_MAX, &from_ns) ||
	    ts_call_number(call, "to", 0, INT64_MAX, &to_ns) ||
	    ts_call_number_or(call, "limit", 1, MAX_ROWS, DEFAULT_ROWS, &limit) ||
	    ts_call_number_or(call, "numbers", 0, 1, 0, &has_numbers))
		return -1;
	is_second = lane > TS_STUDIO_SECOND_LANES;
	lane -= is_second ? TS_STUDIO_SECOND_LANES : 0;
	if (ts_call_layer(call, is_second) || ts_call_reader(call, is_second))
		return -1;
	r = call->layer
		    ? ts_tiles_layer_rows(call->layer->layer, (uint32_t)lane, from_ns, to_ns, limit,
					  &rows)
		    : ts_tiles_rows(call->tiles->tiles, call->reader->source.reader, (uint32_t)lane,
				    from_ns, to_ns, limit, ts_call_is_cancelled, call, &rows);
	if (r)
		return ts_call_fail_with(call, r);
	put_column(&call->out, "{\"start\": [", &rows, get_start);
	put_column(&call->out, ",\n\"end\": [", &rows, get_end);
	put_column(&call->out, ",\n\"key\": [", &rows, get_key);
	put_column(&call->out, ",\n\"op\": [", &rows, get_op);
	put_column(&call->out, ",\n\"depth\": [", &rows, get_depth);
	if (has_numbers && !call->layer)
		put_column(&call->out, ",\n\"row\": [", &rows, get_number);
	ts_tiles_lane(call->tiles->tiles, lane - 1, &found);
	if (found.kind == TS_LANE_COUNTER)
		put_values(&call->out, &rows);
	ts_json_raw(&call->out, rows.more ? ",\n\"more\": true}\n" : ",\n\"more\": false}\n");
	free(rows.at);
	return 0;
}
