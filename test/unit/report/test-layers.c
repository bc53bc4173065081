/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A long layer, to which rows come in parts, has the cells of a layer with all rows: in its span at
 * each level, elsewhere from the level of its cells on.
 */
#include "test/unit/report/opened.h"

#include "replay/report/tiles/tile-layer.h"

#define MOST 100000u

static const char *const golden[] = {"train", "delays", "pipeline"};

/* Returns the rows of all threads and streams. */
static struct ts_tiles_layer_row *read_rows(struct trace *trace, size_t *ret_n)
{
	struct ts_tiles_layer_row *rows = calloc(MOST, sizeof(*rows));
	size_t n = 0;

	for (size_t i = 0; i < ts_tiles_n_lanes(trace->tiles); i++) {
		struct ts_tile_rows found;
		struct ts_lane lane;

		ts_tiles_lane(trace->tiles, i, &lane);
		if (lane.kind != TS_LANE_STREAM && lane.kind != TS_LANE_THREAD)
			continue;
		ts_check_int(ts_tiles_rows(trace->tiles, trace->reader, lane.id, 0, UINT64_MAX,
					   MOST, NULL, NULL, &found),
			     0);
		ts_check(n + found.n <= MOST);
		for (size_t k = 0; k < found.n; k++)
			rows[n++] = (struct ts_tiles_layer_row){.start_ns = found.at[k].start_ns,
								.end_ns = found.at[k].end_ns,
								.op_id = found.at[k].op_id,
								.key = found.at[k].key,
								.lane = lane.id};
		free(found.at);
	}
	*ret_n = n;
	return rows;
}

/* Adds the rows in n_parts parts of the time; the rows of a part are not in order of time. */
static struct ts_tiles_layer *make(struct trace *trace, const struct ts_tiles_layer_row *rows,
				   size_t n, const struct ts_tiles_layer_plan *plan,
				   unsigned n_parts)
{
	uint64_t duration_ns = ts_tiles_duration_ns(trace->tiles);
	struct ts_tiles_layer *layer;

	ts_check_int(ts_tiles_layer_begin(trace->tiles, plan, &layer), 0);
	for (unsigned part = 0; part < n_parts; part++) {
		uint64_t from_ns = duration_ns * part / n_parts;
		uint64_t to_ns =
			part + 1 == n_parts ? UINT64_MAX : duration_ns * (part + 1) / n_parts;

		for (size_t i = 0; i < n; i++)
			if (rows[i].start_ns >= from_ns && rows[i].start_ns < to_ns)
				ts_check_int(ts_tiles_layer_add(layer, &rows[i]), 0);
		/* The last tenth of a part waits for the next one. */
		ts_check_int(ts_tiles_layer_settle(layer,
						   part + 1 == n_parts
							   ? UINT64_MAX
							   : to_ns - duration_ns / n_parts / 10),
			     0);
	}
	return layer;
}

static void compare(struct trace *trace, const struct ts_tiles_layer *all,
		    const struct ts_tiles_layer *layer, uint32_t least, uint64_t at_ns)
{
	static struct ts_tile_cell want[TS_TILE_CELLS], got[TS_TILE_CELLS];

	for (size_t i = 0; i < ts_tiles_n_lanes(trace->tiles); i++) {
		struct ts_lane lane;
		struct ts_tiles_view view = {.lanes = &lane.id, .n_lanes = 1, .n_tiles = 1};

		ts_tiles_lane(trace->tiles, i, &lane);
		for (view.level = least; view.level < 34; view.level++) {
			view.first = (at_ns >> view.level) / TS_TILE_CELLS;
			ts_check_int(ts_tiles_layer_view(all, &view, want), 0);
			ts_check_int(ts_tiles_layer_view(layer, &view, got), 0);
			ts_check(!memcmp(want, got, sizeof(want)));
		}
	}
}

static uint32_t level_of(const struct ts_tiles_layer *layer)
{
	for (size_t i = 0; i < layer->n_fills; i++)
		if (layer->fills[i])
			return layer->fills[i]->levels[0].level;
	return 0;
}

TS_TEST(cells_of_a_long_layer_are_exact)
{
	for (size_t g = 0; g < TS_ARRAY_LEN(golden); g++) {
		struct trace trace;
		struct ts_tiles_layer_row *rows;
		struct ts_tiles_layer *all;
		uint64_t duration_ns;
		size_t n;

		open_golden(&trace, golden[g]);
		rows = read_rows(&trace, &n);
		duration_ns = ts_tiles_duration_ns(trace.tiles);
		ts_check_int(ts_tiles_layer_new(trace.tiles, rows, n, &all), 0);
		for (unsigned parts = 1; parts < 30; parts += 9) {
			const struct ts_tiles_layer_plan plan = {.most_ns = 2 * duration_ns,
								 .rows_from_ns = UINT64_MAX};
			ts_cleanup(ts_tiles_layer_freep) struct ts_tiles_layer *layer =
				make(&trace, rows, n, &plan, parts);

			for (unsigned k = 0; k < 7; k++)
				compare(&trace, all, layer, level_of(layer), duration_ns * k / 7);
		}
		ts_tiles_layer_free(all);
		free(rows);
		close_trace(&trace);
	}
}

/* The span has all its rows, and finer cells; rows elsewhere are `more`. */
TS_TEST(a_span_has_rows)
{
	struct trace trace;
	struct ts_tiles_layer_row *rows;
	struct ts_tiles_layer *all;
	struct ts_tiles_layer_plan plan = {0};
	uint64_t from_ns, to_ns;
	size_t n, n_compared = 0;

	open_golden(&trace, "train");
	rows = read_rows(&trace, &n);
	ts_check_int(ts_tiles_layer_new(trace.tiles, rows, n, &all), 0);
	plan.most_ns = 2 * ts_tiles_duration_ns(trace.tiles);
	plan.rows_from_ns = ts_tiles_duration_ns(trace.tiles) / 3;
	plan.max_rows = n / 3;
	ts_cleanup(ts_tiles_layer_freep) struct ts_tiles_layer *layer =
		make(&trace, rows, n, &plan, 5);
	ts_tiles_layer_span(layer, &from_ns, &to_ns);
	ts_check(from_ns == plan.rows_from_ns && to_ns > from_ns && to_ns < plan.most_ns / 2);
	ts_check(ts_tiles_layer_bytes(layer) > plan.max_rows * 32);
	for (size_t i = 0; i < ts_tiles_n_lanes(trace.tiles); i++) {
		struct ts_tile_rows want, got;
		struct ts_lane lane;

		ts_tiles_lane(trace.tiles, i, &lane);
		ts_check_int(ts_tiles_layer_rows(layer, lane.id, 0, to_ns, MOST, &got), 0);
		ts_check(got.more && !got.n);
		free(got.at);
		ts_check_int(ts_tiles_layer_rows(all, lane.id, from_ns, to_ns, MOST, &want), 0);
		ts_check_int(ts_tiles_layer_rows(layer, lane.id, from_ns, to_ns, MOST, &got), 0);
		ts_check_int(got.n, want.n);
		ts_check(!got.more && !want.more);
		n_compared += got.n;
		for (size_t k = 0; k < got.n; k++)
			ts_check(got.at[k].start_ns == want.at[k].start_ns &&
				 got.at[k].end_ns == want.at[k].end_ns &&
				 got.at[k].op_id == want.at[k].op_id);
		free(want.at);
		free(got.at);
	}
	ts_check(n_compared >= plan.max_rows);
	ts_tiles_layer_free(all);
	free(rows);
	close_trace(&trace);
}

/* Rows far behind the recorded end: the finest cells are given up, and no row is lost. */
TS_TEST(a_slower_program_has_coarser_cells)
{
	struct trace trace;
	struct ts_tiles_layer_plan plan = {0};
	struct ts_tiles_layer *layer;
	struct ts_lane lane = {0};
	struct ts_tiles_view view = {.lanes = &lane.id, .n_lanes = 1, .n_tiles = 64};
	struct ts_tile_cell *cells = calloc(64 * TS_TILE_CELLS, sizeof(*cells));
	uint64_t duration_ns, n = 0;
	uint32_t before;

	open_golden(&trace, "train");
	duration_ns = ts_tiles_duration_ns(trace.tiles);
	for (size_t i = 0; lane.kind != TS_LANE_STREAM; i++)
		ts_tiles_lane(trace.tiles, i, &lane);
	plan.most_ns = 64 * duration_ns;
	ts_check_int(ts_tiles_layer_begin(trace.tiles, &plan, &layer), 0);
	before = level_of(layer);
	for (uint64_t i = 0; i < 400000; i++) {
		const struct ts_tiles_layer_row row = {.start_ns = i * (60 * duration_ns / 400000),
						       .end_ns =
							       i * (60 * duration_ns / 400000) + 5,
						       .key = ts_tile_key(TS_ROW_KERNEL, 1),
						       .lane = lane.id};

		ts_check_int(ts_tiles_layer_add(layer, &row), 0);
		if (i % 10000 == 0)
			ts_check_int(ts_tiles_layer_settle(layer, row.start_ns), 0);
	}
	ts_check_int(ts_tiles_layer_settle(layer, UINT64_MAX), 0);
	ts_check(level_of(layer) > before);
	ts_check(ts_tiles_layer_bytes(layer) < (size_t)24 << 20);
	while (plan.most_ns >> view.level > 64 * TS_TILE_CELLS)
		view.level++;
	ts_check_int(ts_tiles_layer_view(layer, &view, cells), 0);
	for (size_t i = 0; i < 64 * TS_TILE_CELLS; i++)
		n += cells[i].count;
	ts_check_int(n, 400000);
	free(cells);
	ts_tiles_layer_free(layer);
	close_trace(&trace);
}
