/* SPDX-License-Identifier: Apache-2.0 */
/* Slack on the lanes equals that of the graph, for golden traces and windows of them. */
#include "test/unit/report/opened.h"

#include "replay/report/tiles/tile-slack.h"

#define MOST 100000u

static const char *const golden[] = {"pipeline", "train", "delays", "failing"};

static void compare_row(struct trace *trace, const struct ts_tiles_slack_row *row,
			const struct ts_graph *graph, size_t i)
{
	const struct ts_graph_node *node = &graph->nodes[i];
	uint64_t origin_ns = ts_tiles_origin_ns(trace->tiles);
	struct ts_lane lane;

	ts_check_int(row->start_ns + origin_ns, node->start_ns);
	ts_check_int(row->end_ns + origin_ns, node->end_ns);
	ts_check_int(row->op_id, node->op_id);
	ts_check_int(row->slack_ns, graph->slack_ns[i]);
	ts_check_int(row->kind, node->kind);
	ts_check_int(row->is_critical, node->is_critical);
	ts_check(row->lane);
	ts_tiles_lane(trace->tiles, row->lane - 1, &lane);
	ts_check_int(lane.session, node->session);
	if (node->kind == TS_GRAPH_OP)
		ts_check_int(lane.stream, node->stream);
	else
		ts_check_int(lane.thread, node->thread);
}

TS_TEST(slack_is_that_of_the_graph)
{
	for (size_t g = 0; g < TS_ARRAY_LEN(golden); g++) {
		struct trace trace;

		open_golden(&trace, golden[g]);
		for (unsigned part = 0; part < 3; part++) {
			uint64_t origin_ns = ts_tiles_origin_ns(trace.tiles);
			uint64_t length_ns = ts_tiles_duration_ns(trace.tiles);
			const struct ts_graph_options options = {
				.from_ns = part ? origin_ns + part * length_ns / 4 : 0,
				.to_ns = part ? origin_ns + (part + 1) * length_ns / 4 : 0};
			ts_cleanup(ts_tiles_slack_freep) struct ts_tiles_slack *slack = NULL;
			ts_cleanup(ts_graph_freep) struct ts_graph *graph = NULL;

			ts_check_int(ts_graph_read(trace.reader, &options, &graph), 0);
			ts_check_int(ts_tiles_slack_new(trace.tiles, trace.reader, &options,
							&slack),
				     0);
			ts_check_int(slack->n_rows, graph->n_nodes);
			for (size_t i = 0; i < slack->n_rows; i++)
				compare_row(&trace, &slack->rows[i], graph, i);
		}
		close_trace(&trace);
	}
}

static size_t count(const struct trace *trace, const struct ts_tiles_slack *slack,
		    const struct ts_tiles_slack_wanted *wanted, bool *ret_more)
{
	uint32_t *rows;
	size_t n;

	ts_check_int(ts_tiles_slack_find(slack, trace->tiles, wanted, &rows, &n, ret_more), 0);
	for (size_t i = 0; i < n; i++)
		ts_check(rows[i] < slack->n_rows && (!i || rows[i - 1] < rows[i]));
	free(rows);
	return n;
}

/* Each row is in the window of its own start, and in no window before or after it. */
TS_TEST(rows_of_windows_and_lanes)
{
	struct ts_tiles_slack *slack;
	struct trace trace;
	bool more;

	open_golden(&trace, "pipeline");
	ts_check_int(ts_tiles_slack_new(trace.tiles, trace.reader, &(struct ts_graph_options){0},
					&slack),
		     0);
	ts_check(slack->n_rows > 10);
	for (size_t i = 0; i < slack->n_rows; i++) {
		const struct ts_tiles_slack_row *row = &slack->rows[i];
		struct ts_tiles_slack_wanted wanted = {.lanes = &row->lane,
						       .n_lanes = 1,
						       .from_ns = row->start_ns,
						       .to_ns = row->start_ns + 1,
						       .limit = MOST};
		size_t expected = 0;

		for (size_t k = 0; k < slack->n_rows; k++)
			expected += slack->rows[k].lane == row->lane &&
				    slack->rows[k].start_ns <= row->start_ns &&
				    (slack->rows[k].end_ns > row->start_ns ||
				     slack->rows[k].start_ns == row->start_ns);
		ts_check_int(count(&trace, slack, &wanted, &more), expected);
		ts_check(!more);
		wanted.limit = 0;
		ts_check_int(count(&trace, slack, &wanted, &more), 0);
		ts_check(more);
		wanted = (struct ts_tiles_slack_wanted){.op_id = row->op_id, .limit = MOST};
		ts_check(count(&trace, slack, &wanted, &more) >= 1);
	}
	ts_tiles_slack_free(slack);
	close_trace(&trace);
}

TS_TEST(limits_and_unknown_lanes)
{
	const struct ts_tiles_slack_wanted wanted = {.lanes = (const uint32_t[]){4000},
						     .n_lanes = 1,
						     .to_ns = 1,
						     .limit = 1};
	struct ts_tiles_slack *slack = NULL;
	struct trace trace;
	uint32_t *rows;
	size_t n;
	bool more;

	open_golden(&trace, "train");
	ts_check_int(ts_tiles_slack_new(trace.tiles, trace.reader,
					&(struct ts_graph_options){.max_nodes = 5}, &slack),
		     TS_E_GRAPH_NODES);
	ts_check(!slack);
	ts_check_int(ts_tiles_slack_new(trace.tiles, trace.reader, &(struct ts_graph_options){0},
					&slack),
		     0);
	ts_check_int(ts_tiles_slack_find(slack, trace.tiles, &wanted, &rows, &n, &more),
		     TS_TILES_E_LANE);
	ts_tiles_slack_free(slack);
	ts_tiles_slack_free(NULL);
	close_trace(&trace);
}
