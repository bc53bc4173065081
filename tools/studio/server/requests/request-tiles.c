/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET tiles: cells of lanes as little-endian bytes; API.md has the layout. http.c calls this
 * module.
 */
#include "proto/abi/base.h"
#include "tools/studio/server/parameters.h"
#include "tools/studio/server/studio-call.h"

#include <endian.h>

#define MAX_TILES 64u
#define MAX_LANES 1024u
/* Bytes of an answer. */
#define MAX_BYTES ((size_t)32 << 20)

struct header {
	char magic[4];
	uint32_t level;
	uint64_t first;
	uint32_t n_tiles;
	uint32_t n_lanes;
	uint32_t n_cells;
	uint32_t flags;
};
TS_ASSERT_SIZE(struct header, 32);

struct lane_header {
	uint32_t lane;
	uint32_t reserved;
};

/* Writes the cells behind each lane's header. */
static void put_answer(struct ts_studio_call *call, const struct ts_tiles_view *view,
		       const uint32_t *asked, const struct ts_tile_cell *cells, uint32_t flags)
{
	size_t n_cells = (size_t)view->n_tiles * TS_TILE_CELLS;
	struct header header = {.magic = {'T', 'S', 'T', '1'},
				.level = htole32(view->level),
				.first = htole64(view->first),
				.n_tiles = htole32(view->n_tiles),
				.n_lanes = htole32((uint32_t)view->n_lanes),
				.n_cells = htole32(TS_TILE_CELLS),
				.flags = htole32(flags)};

	ts_json_bytes(&call->out, &header, sizeof(header));
	for (size_t i = 0; i < view->n_lanes; i++) {
		struct lane_header lane = {.lane = htole32(asked[i])};

		ts_json_bytes(&call->out, &lane, sizeof(lane));
		/* The ABI supports little-endian machines only. */
		ts_json_bytes(&call->out, &cells[i * n_cells], n_cells * sizeof(*cells));
	}
}

/* Turns the page's ids to ids of one trace. Returns 0, or -1 after an error. */
static int read_lanes(struct ts_studio_call *call, uint32_t *asked, uint32_t *lanes,
		      size_t *ret_n_lanes, uint64_t *ret_trace)
{
	const char *text = ts_call_parameter(call, "lanes");
	int n = text ? ts_query_numbers(text, asked, MAX_LANES) : -EINVAL;

	if (n < 0)
		return ts_call_fail(call, 400, "lanes: expected at most %u ids with commas between",
				    MAX_LANES);
	*ret_trace = asked[0] > TS_STUDIO_SECOND_LANES;
	for (int i = 0; i < n; i++) {
		if ((asked[i] > TS_STUDIO_SECOND_LANES) != *ret_trace)
			return ts_call_fail(call, 400, "lanes: all must be of one trace");
		lanes[i] = asked[i] - (*ret_trace ? TS_STUDIO_SECOND_LANES : 0);
	}
	*ret_n_lanes = (size_t)n;
	return 0;
}

int ts_request_tiles(struct ts_studio_call *call)
{
	ts_cleanup(ts_freep) struct ts_tile_cell *cells = NULL;
	uint32_t asked[MAX_LANES], lanes[MAX_LANES], flags = 0;
	struct ts_tiles_view view = {.lanes = lanes,
				     .is_cancelled = ts_call_is_cancelled,
				     .data = call};
	uint64_t level, n_tiles, trace = 0;
	size_t n_bytes;
	int r;

	if (ts_call_number(call, "level", 0, TS_TILE_MAX_LEVEL, &level) ||
	    ts_call_number(call, "first", 0, UINT64_MAX, &view.first) ||
	    ts_call_number_or(call, "n", 1, MAX_TILES, 1, &n_tiles) ||
	    read_lanes(call, asked, lanes, &view.n_lanes, &trace))
		return -1;
	view.level = (uint32_t)level;
	view.n_tiles = (uint32_t)n_tiles;
	n_bytes = view.n_lanes * n_tiles * TS_TILE_CELLS * sizeof(*cells);
	if (n_bytes > MAX_BYTES)
		return ts_call_fail(call, 400, "too many tiles at once: ask for fewer lanes");
	if (ts_call_layer(call, trace) || ts_call_reader(call, trace))
		return -1;
	cells = malloc(n_bytes);
	if (!cells)
		r = -ENOMEM;
	else if (call->layer)
		r = ts_tiles_layer_view(call->layer->layer, &view, cells);
	else
		r = ts_tiles_view(call->tiles->tiles, call->reader->source.reader, &view, cells,
				  &flags);
	if (r)
		return ts_call_fail_with(call, r);
	call->content_type = "application/octet-stream";
	put_answer(call, &view, asked, cells, flags);
	return 0;
}
