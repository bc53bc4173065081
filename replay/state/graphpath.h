/* SPDX-License-Identifier: Apache-2.0 */
/* Within graph.h: from nodes and edges as they were found to the graph, in order, with slack and critical path. */
#pragma once

#include "replay/state/graph.h"

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

/*
 * Sorts nodes and edges, drops edges that do not lead forward, and fills the rest of the graph. `n_ordered`: 0, or nodes are
 * in order already, and so are that many edges; those behind them lead to different nodes. -ENOMEM.
 */
int ts_graph_solve(struct ts_graph *graph, size_t n_ordered);
