/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slack on the lanes: see tile-slack.h. tools/studio calls this module. It reads a graph by
 * replay/state/graph, and keeps of each node what a timeline shows.
 */
#include "replay/report/tiles/tile-slack.h"

#include "proto/abi/grow.h"
#include "replay/report/tiles/tile-spread.h"

static uint32_t key_of(const struct ts_graph_node *node)
{
	return ts_tile_key(node->type, node->type == TS_ROW_MEMSET ? 0 : node->name);
}

uint32_t ts_tiles_node_lane(const struct ts_tiles *tiles, const struct ts_graph_node *node)
{
	struct ts_lane place = {.session = node->session};

	if (node->kind == TS_GRAPH_OP) {
		place.kind = TS_LANE_STREAM;
		place.device = node->device;
		place.context = node->context;
		place.stream = node->stream;
	} else {
		place.kind = TS_LANE_THREAD;
		place.thread = node->thread;
	}
	return ts_tiles_find_lane(tiles, &place);
}

static uint64_t since(uint64_t origin_ns, uint64_t ns)
{
	return ns > origin_ns ? ns - origin_ns : 0;
}

static void fill(const struct ts_tiles *tiles, const struct ts_graph *graph,
		 struct ts_tiles_slack *slack)
{
	uint64_t origin_ns = ts_tiles_origin_ns(tiles);

	slack->start_ns = since(origin_ns, graph->from_ns);
	slack->end_ns = since(origin_ns, graph->to_ns);
	slack->is_damaged = graph->is_damaged;
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct ts_graph_node *node = &graph->nodes[i];

		slack->rows[slack->n_rows++] =
			(struct ts_tiles_slack_row){.start_ns = since(origin_ns, node->start_ns),
						    .end_ns = since(origin_ns, node->end_ns),
						    .op_id = node->op_id,
						    .slack_ns = graph->slack_ns[i],
						    .key = key_of(node),
						    .lane = ts_tiles_node_lane(tiles, node),
						    .kind = node->kind,
						    .is_critical = node->is_critical};
	}
}

int ts_tiles_slack_new(const struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		       const struct ts_graph_options *options, struct ts_tiles_slack **ret_slack)
{
	ts_cleanup(ts_graph_freep) struct ts_graph *graph = NULL;
	ts_cleanup(ts_tiles_slack_freep) struct ts_tiles_slack *slack = calloc(1, sizeof(*slack));
	int r = slack ? ts_graph_read(reader, options, &graph) : -ENOMEM;

	if (r)
		return r;
	slack->rows = malloc((graph->n_nodes + 1) * sizeof(*slack->rows));
	if (!slack->rows)
		return -ENOMEM;
	fill(tiles, graph, slack);
	*ret_slack = ts_take_ptr(slack);
	return 0;
}

void ts_tiles_slack_free(struct ts_tiles_slack *slack)
{
	if (!slack)
		return;
	free(slack->rows);
	free(slack);
}

/* Returns true if the row lies in a wanted lane. */
static bool is_in_lanes(const struct ts_tiles *tiles, const struct ts_tiles_slack_wanted *wanted,
			const struct ts_tiles_slack_row *row)
{
	const struct ts_tile_item item = {.start_ns = row->start_ns,
					  .end_ns = row->end_ns,
					  .key = row->key,
					  .lane = row->lane - 1};

	for (size_t i = 0; row->lane && i < wanted->n_lanes; i++)
		if (ts_tile_spread_has(tiles, wanted->lanes[i] - 1, &item))
			return true;
	return false;
}

static bool is_wanted(const struct ts_tiles *tiles, const struct ts_tiles_slack_wanted *wanted,
		      const struct ts_tiles_slack_row *row)
{
	if (wanted->op_id)
		return row->op_id == wanted->op_id;
	return row->start_ns < wanted->to_ns &&
	       (row->end_ns > wanted->from_ns || row->start_ns >= wanted->from_ns) &&
	       is_in_lanes(tiles, wanted, row);
}

int ts_tiles_slack_find(const struct ts_tiles_slack *slack, const struct ts_tiles *tiles,
			const struct ts_tiles_slack_wanted *wanted, uint32_t **ret_rows,
			size_t *ret_n, bool *ret_more)
{
	ts_cleanup(ts_freep) uint32_t *rows = NULL;
	size_t n = 0, capacity = 0;
	bool more = false;

	for (size_t i = 0; !wanted->op_id && i < wanted->n_lanes; i++)
		if (!wanted->lanes[i] || wanted->lanes[i] > tiles->n_lanes)
			return TS_TILES_E_LANE;
	for (size_t i = 0; !more && i < slack->n_rows; i++) {
		if (!is_wanted(tiles, wanted, &slack->rows[i]))
			continue;
		more = n == wanted->limit;
		if (!more && TS_GROW(rows, capacity, n + 1))
			return -ENOMEM;
		if (!more)
			rows[n++] = (uint32_t)i;
	}
	*ret_rows = ts_take_ptr(rows);
	*ret_n = n;
	*ret_more = more;
	return 0;
}
