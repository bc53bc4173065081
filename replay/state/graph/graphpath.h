/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns collected nodes and edges into an ordered graph with slack and critical path. Private to
 * state-graph.c and graphpath.c.
 */
#pragma once

#include "replay/state/graph/state-graph.h"

/*
 * Returns the rank of a node among nodes of the same instant: a return, then the next call, then
 * the operation that the call launches.
 */
static inline uint32_t ts_graph_rank(const struct ts_graph_node *node)
{
	return node->kind == TS_GRAPH_RETURN ? 0 : node->kind == TS_GRAPH_CALL ? 1 : 2;
}

static inline bool ts_graph_is_before(const struct ts_graph_node *a, const struct ts_graph_node *b)
{
	return a->start_ns != b->start_ns ? a->start_ns < b->start_ns
					  : ts_graph_rank(a) < ts_graph_rank(b);
}

/*
 * Counts the last edge of the graph as an edge into the node. Makes it the node's binding edge if
 * it was released last. All edges of a node must be adjacent.
 */
static inline void ts_graph_bind(const struct ts_graph *graph, struct ts_graph_node *node)
{
	const struct ts_graph_edge *edges = &graph->edges[node->first_edge];
	uint8_t n = node->n_edges++;

	if (edges[n].release_ns > edges[node->binding].release_ns)
		node->binding = n;
}

/*
 * If `is_ordered` is false, sorts nodes and edges, and drops edges that do not lead forward. Then
 * fills in the graph's slack and critical path. Returns 0 or -ENOMEM.
 */
int ts_graph_solve(struct ts_graph *graph, bool is_ordered);
