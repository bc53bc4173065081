/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slack on the lanes: by how much the calls and operations of a window could end later without a
 * later end of the window. The numbers are those of replay/state/graph, which `tsctl graph --json`
 * prints. tools/studio draws them.
 *
 * About 120 bytes per node while the object is made, and 48 bytes later. The object is constant
 * after it was made, and all threads may read it.
 */
#pragma once

#include "replay/report/tiles/tiles.h"
#include "replay/state/graph/state-graph.h"

/* Returns the id of the stream or the thread of a node, or 0. */
uint32_t ts_tiles_node_lane(const struct ts_tiles *tiles, const struct ts_graph_node *node);

struct ts_tiles_slack_row {
	uint64_t start_ns; /* times from the origin; RETURN: both are the call's return */
	uint64_t end_ns;
	uint64_t op_id;
	uint64_t slack_ns;
	uint32_t key;
	uint32_t lane; /* id of the stream or the thread; 0: none */
	uint8_t kind;  /* enum ts_graph_node_kind */
	uint8_t is_critical;
	uint16_t reserved;
	uint32_t reserved2;
};

struct ts_tiles_slack {
	uint64_t start_ns, end_ns;	 /* of the graph, from the origin */
	struct ts_tiles_slack_row *rows; /* in order of start */
	size_t n_rows;
	bool is_damaged; /* damaged blocks were left out */
};

/*
 * Reads the graph of a window. The caller frees *ret_slack. Returns 0, -ENOMEM, and what
 * ts_graph_read() returns: TS_E_GRAPH_NODES if the window has more nodes than the options permit.
 */
int ts_tiles_slack_new(const struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		       const struct ts_graph_options *options, struct ts_tiles_slack **ret_slack);
void ts_tiles_slack_free(struct ts_tiles_slack *slack); /* accepts NULL */
TS_DEFINE_CLEANUP(struct ts_tiles_slack *, ts_tiles_slack_freep, ts_tiles_slack_free)

struct ts_tiles_slack_wanted {
	const uint32_t *lanes; /* ids of `tiles` */
	size_t n_lanes;
	uint64_t from_ns, to_ns; /* rows that touch [from_ns, to_ns) */
	/* Not 0: all rows of the operation; the fields above are not used. */
	uint64_t op_id;
	size_t limit;
};

/*
 * Lists the numbers of wanted rows, ascending. `tiles` are those of the slack, or later ones of the
 * same trace. *ret_more: the limit left out further rows. The caller frees *ret_rows. Returns 0,
 * -ENOMEM, or TS_TILES_E_LANE.
 */
int ts_tiles_slack_find(const struct ts_tiles_slack *slack, const struct ts_tiles *tiles,
			const struct ts_tiles_slack_wanted *wanted, uint32_t **ret_rows,
			size_t *ret_n, bool *ret_more);
