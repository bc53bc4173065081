/* SPDX-License-Identifier: Apache-2.0 */
/* Within graph.h: from nodes and edges as they were found to the graph, in order, with slack and critical path. */
#pragma once

#include "replay/state/graph.h"

/* Sorts nodes, drops edges that do not lead forward, and fills the rest of the graph. -ENOMEM. */
int ts_graph_solve(struct ts_graph *graph);
