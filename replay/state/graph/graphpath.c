/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Orders the graph and finds slack and critical path: see graphpath.h. state-graph.c calls this
 * file.
 *
 * Nodes are sorted by time: an operation or a call by its start, a return by its end. An edge that
 * leads backwards in this order comes from a wrong time or id and is dropped. The remaining graph
 * has no cycle.
 */
#include "replay/state/graph/graphpath.h"

#include "replay/state/graph/largearray.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE TS_GRAPH_NONE

struct place {
	uint64_t time_ns;
	uint32_t rank;
	uint32_t node;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/*
 * Sorts the nodes and leaves their edges unchanged. *ret_now_at maps a node's old index to its new
 * one.
 */
static int sort_nodes(struct ts_graph *graph, uint32_t **ret_now_at)
{
	struct place *places = ts_largearray_alloc(graph->n_nodes + 1, sizeof(*places));
	struct ts_graph_node *nodes = ts_largearray_alloc(graph->n_nodes + 1, sizeof(*nodes));
	uint32_t *now_at = ts_largearray_alloc(graph->n_nodes + 1, sizeof(*now_at));

	if (!places || !nodes || !now_at) {
		free(places);
		free(nodes);
		free(now_at);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < graph->n_nodes; i++)
		places[i] = (struct place){graph->nodes[i].start_ns,
					   ts_graph_rank(&graph->nodes[i]), i};
	if (graph->n_nodes)
		qsort(places, graph->n_nodes, sizeof(*places), compare_places);
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		nodes[i] = graph->nodes[places[i].node];
		now_at[places[i].node] = i;
	}
	free(places);
	free(graph->nodes);
	graph->nodes = nodes;
	*ret_now_at = now_at;
	return 0;
}

/*
 * Sorts the edges by target node; within a node their order stays. Drops the edges that do not lead
 * forward.
 */
static int sort_edges(struct ts_graph *graph, const uint32_t *now_at)
{
	const struct ts_graph_edge *edges = graph->edges;
	struct ts_graph_edge *sorted = ts_largearray_alloc(graph->n_edges + 1, sizeof(*sorted));
	struct ts_graph_event *events = ts_largearray_alloc(graph->n_events + 1, sizeof(*events));
	size_t n_events = 0;

	if (!sorted || !events) {
		free(sorted);
		free(events);
		return -ENOMEM;
	}
	graph->edges = sorted;
	graph->n_edges = 0;
	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		struct ts_graph_node *node = &graph->nodes[i];
		const struct ts_graph_edge *its = &edges[node->first_edge];
		uint8_t n = node->n_edges;

		node->first_edge = (uint32_t)graph->n_edges;
		node->n_edges = node->binding = 0;
		for (uint8_t e = 0; e < n; e++) {
			uint32_t from = now_at[its[e].from];

			if (from < i) {
				if (its[e].kind == TS_GRAPH_EVENT)
					events[n_events++] = (struct ts_graph_event){
						.edge = (uint32_t)graph->n_edges,
						.event = ts_graph_event(graph, (uint32_t)(its + e -
											  edges))};
				sorted[graph->n_edges] = its[e];
				sorted[graph->n_edges++].from = from;
				ts_graph_bind(graph, node);
			} else if (node->kind == TS_GRAPH_RETURN && its[e].kind == TS_GRAPH_HOST) {
				/*
				 * The call and its return have the same time, so the return node is
				 * not used.
				 */
				graph->nodes[from].has_return = 0;
			}
		}
	}
	free((void *)edges);
	free(graph->events);
	graph->events = events;
	graph->n_events = n_events;
	return 0;
}

static int sort(struct ts_graph *graph)
{
	uint32_t *now_at = NULL;
	int r = sort_nodes(graph, &now_at);

	if (!r)
		r = sort_edges(graph, now_at);
	free(now_at);
	return r;
}

/* ---- the path -------------------------------------------------------------------------------- */

/* The state of a walk from the end of the path back to its start. */
struct walk {
	struct ts_graph *graph;
	struct ts_graph_step *first; /* earliest step so far */
	/*
	 * The next node of the path. NONE before the path's last node is found, and after its first
	 * node.
	 */
	uint32_t node;
	/* True if the walk is at the node's end, false if at its start. */
	bool is_over;
	uint64_t time_ns; /* the walk has added all steps after this time */
};

static void step(struct walk *walk, uint32_t node, enum ts_graph_part part, uint64_t from_ns)
{
	if (from_ns >= walk->time_ns)
		return;
	*--walk->first = (struct ts_graph_step){node, part, from_ns, walk->time_ns};
	walk->graph->n_path++;
	walk->graph->parts_ns[part] += walk->time_ns - from_ns;
	walk->time_ns = from_ns;
}

/* Returns the part for the time between the release by `edge` and the start of `node`. */
static enum ts_graph_part part_between(const struct ts_graph_node *node,
				       const struct ts_graph_edge *edge)
{
	switch (node->kind) {
	case TS_GRAPH_OP:
		return edge->kind == TS_GRAPH_LAUNCH ? TS_GRAPH_LATENCY : TS_GRAPH_WAIT;
	case TS_GRAPH_RETURN:
		return TS_GRAPH_IN_CALL;
	default:
		return TS_GRAPH_HOST_GAP;
	}
}

static enum ts_graph_part part_of(const struct ts_graph_node *node)
{
	if (node->kind != TS_GRAPH_OP)
		return TS_GRAPH_IN_CALL;
	return node->type == TS_ROW_MEMCPY ? TS_GRAPH_COPY : TS_GRAPH_COMPUTE;
}

/*
 * Adds the steps of the current node, and moves along the binding edge to the node that released it
 * last.
 */
static void pass_node(struct walk *walk)
{
	struct ts_graph *graph = walk->graph;
	struct ts_graph_node *at = &graph->nodes[walk->node];
	const struct ts_graph_edge *edge = &graph->edges[at->first_edge + at->binding];
	const struct ts_graph_node *from;
	uint32_t node = walk->node;

	at->is_critical = 1;
	if (walk->is_over)
		step(walk, node, part_of(at), at->start_ns);
	if (!at->n_edges) {
		step(walk, node, TS_GRAPH_UNKNOWN, graph->from_ns);
		walk->node = NONE;
		return;
	}
	from = &graph->nodes[edge->from];
	/*
	 * From a launched operation, or from a return, the walk goes to the start of the call.
	 * Before that, the call's work did not exist.
	 */
	walk->is_over = edge->kind != TS_GRAPH_LAUNCH &&
			!(edge->kind == TS_GRAPH_HOST && at->kind == TS_GRAPH_RETURN);
	step(walk, at->kind == TS_GRAPH_OP && edge->kind == TS_GRAPH_LAUNCH ? edge->from : node,
	     part_between(at, edge), walk->is_over ? from->end_ns : from->start_ns);
	walk->node = edge->from;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Lowers the slack of the nodes that node i depends on. The slack of node i is known. */
static void pass_slack(struct ts_graph *graph, size_t i)
{
	const struct ts_graph_node *node = &graph->nodes[i];
	const struct ts_graph_edge *edges = &graph->edges[node->first_edge];
	uint64_t *slack_ns = graph->slack_ns;

	for (uint32_t e = 0; e < node->n_edges; e++) {
		uint64_t spare_ns = edges[node->binding].release_ns - edges[e].release_ns;
		uint64_t *of_from = &slack_ns[edges[e].from];

		if (!__builtin_add_overflow(spare_ns, slack_ns[i], &spare_ns))
			*of_from = less(*of_from, spare_ns);
	}
}

/*
 * Visits nodes backwards, so the slack of all later nodes is known and the path meets its nodes in
 * turn. The path ends at the node with the latest end. If several nodes have that end, the latest
 * start is chosen, because a shorter node is closer to the cause.
 */
static void go_back(struct ts_graph *graph, struct walk *walk)
{
	bool is_ended = false;

	for (size_t i = graph->n_nodes; i--;) {
		const struct ts_graph_node *node = &graph->nodes[i];

		/* If a call has a return node, that node carries the slack of the call's end. */
		if (!node->has_return)
			graph->slack_ns[i] = less(graph->slack_ns[i], graph->to_ns - node->end_ns);
		pass_slack(graph, i);
		if (!is_ended && node->end_ns == graph->to_ns) {
			walk->node = (uint32_t)i;
			is_ended = true;
		}
		if (walk->node == i)
			pass_node(walk);
	}
}

uint64_t ts_graph_event(const struct ts_graph *graph, uint32_t edge)
{
	size_t low = 0, high = graph->n_events;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (graph->events[middle].edge < edge)
			low = middle + 1;
		else
			high = middle;
	}
	return low < graph->n_events && graph->events[low].edge == edge ? graph->events[low].event
									: 0;
}

int ts_graph_solve(struct ts_graph *graph, bool is_ordered)
{
	/* A node adds two steps at most. Unused pages of the buffer take no memory. */
	size_t max_steps = 2 * graph->n_nodes + 1;
	struct walk walk = {.graph = graph, .node = NONE, .is_over = true, .time_ns = graph->to_ns};
	int r = is_ordered ? 0 : sort(graph);

	if (r)
		return r;
	graph->slack_ns = ts_largearray_alloc(graph->n_nodes + 1, sizeof(*graph->slack_ns));
	graph->path_buffer = ts_largearray_alloc(max_steps, sizeof(*graph->path));
	if (!graph->slack_ns || !graph->path_buffer)
		return -ENOMEM;
	memset(graph->slack_ns, 0xff, graph->n_nodes * sizeof(*graph->slack_ns));
	graph->from_ns = graph->n_nodes ? graph->nodes[0].start_ns : 0;
	walk.first = graph->path_buffer + max_steps;
	go_back(graph, &walk);
	graph->path = walk.first;
	return 0;
}
