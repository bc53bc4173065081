/* SPDX-License-Identifier: Apache-2.0 */
/* Within state-graph.h: from nodes and edges as they were found to the graph, in order, with slack and critical path. */
#pragma once

#include "replay/state/graph/state-graph.h"

/* Of what happens at one instant: a return, the next call, what it launches. */
static inline uint32_t ts_graph_rank(const struct ts_graph_node *node)
{
	return node->kind == TS_GRAPH_RETURN ? 0 : node->kind == TS_GRAPH_CALL ? 1 : 2;
}

static inline bool ts_graph_is_before(const struct ts_graph_node *a, const struct ts_graph_node *b)
{
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns
					  : ts_graph_rank(a) < ts_graph_rank(b);
}

/* The last edge that there is leads to the node, as those before it do from its first one on. Binding is the one released last. */
static inline void ts_graph_bind(const struct ts_graph *graph, struct ts_graph_node *node)
{
	const struct ts_graph_edge *edges = &graph->edges[node->first_edge];
	uint8_t n = node->n_edges++;

	if (edges[n].release_ns > edges[node->binding].release_ns)
		node->binding = n;
}

/*
 * Sorts nodes and edges where nodes are not in order already, drops edges that do not lead forward, and fills the rest of
 * the graph. -ENOMEM.
 */
int ts_graph_solve(struct ts_graph *graph, bool is_ordered);
