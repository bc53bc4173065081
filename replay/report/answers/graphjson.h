/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes, edges and the critical path of a graph as messages of proto/rpc/tracesmith.proto, each
 * from the pool.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/pieces.h"
#include "replay/report/report-pool.h"
#include "replay/state/graph/state-graph.h"

Ts__Rpc__GraphNode *ts_graphjson_node(struct ts_resolver *resolver, struct ts_pool *pool,
				      const struct ts_graph *graph, uint32_t i);
/* Makes the message of the graph's i-th edge, which leads to the node `to`. */
Ts__Rpc__GraphEdge *ts_graphjson_edge(struct ts_pool *pool, const struct ts_graph *graph,
				      uint32_t to, uint32_t i);
Ts__Rpc__GraphStep *ts_graphjson_step(struct ts_resolver *resolver, struct ts_pool *pool,
				      const struct ts_graph *graph,
				      const struct ts_graph_step *step);
Ts__Rpc__GraphSummary *ts_graphjson_summary(struct ts_pool *pool, const struct ts_graph *graph);

/*
 * Writes the messages as lines of JSON, in threads: nodes, then edges, then steps. `only_path`:
 * steps alone. no_memory() is that of the pools, and any thread may call it. Returns 0, -ENOMEM, or
 * the value of `write`.
 */
int ts_graphjson_write(struct ts_resolver *resolver, const struct ts_graph *graph, bool only_path,
		       void (*no_memory)(void), ts_lines_fn *write, void *data);

/* Returns the node's name, allocated from the pool; NULL if the node has no name. */
char *ts_graphjson_name(struct ts_resolver *resolver, struct ts_pool *pool,
			const struct ts_graph_node *node);
/* Reads the strings of the node's names, for resolvers that share this one's. */
void ts_graphjson_prepare(struct ts_resolver *resolver, const struct ts_graph_node *node);
const char *ts_graphjson_kind(uint32_t kind); /* "operation", "call", "return" */
