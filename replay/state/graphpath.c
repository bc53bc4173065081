/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes are put in the order of when they could go on: operations and calls when they began, returns when they returned. Whatever
 * leads backwards in it is a lie of some clock or id and is dropped; what is left has no cycle.
 */
#include "replay/state/graphpath.h"

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

static int sort_nodes(struct ts_graph *graph, uint32_t **ret_now_at)
{
	struct place *places = malloc((graph->n_nodes + 1) * sizeof(*places));
	struct ts_graph_node *nodes = malloc((graph->n_nodes + 1) * sizeof(*nodes));
	uint32_t *now_at = malloc((graph->n_nodes + 1) * sizeof(*now_at));

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

/* By the node that they lead to, within it as they were found. */
static int sort_edges(struct ts_graph *graph, const uint32_t *now_at)
{
	struct ts_graph_edge *sorted = malloc((graph->n_edges + 1) * sizeof(*sorted));
	uint32_t *next = calloc(graph->n_nodes + 1, sizeof(*next));
	size_t n = 0;

	if (!sorted || !next) {
		free(sorted);
		free(next);
		return -ENOMEM;
	}
	for (size_t i = 0; i < graph->n_edges; i++) {
		struct ts_graph_edge edge = graph->edges[i];

		edge.from = now_at[edge.from];
		edge.to = now_at[edge.to];
		if (edge.from >= edge.to) {
			/* Of a call that took no time; then its return tells nothing of it. */
			if (graph->nodes[edge.to].kind == TS_GRAPH_RETURN &&
			    edge.kind == TS_GRAPH_HOST)
				graph->nodes[edge.from].has_return = 0;
			continue;
		}
		graph->edges[n++] = edge;
		next[edge.to]++;
	}
	for (uint32_t i = 0, first = 0, n_of; i < graph->n_nodes; i++, first += n_of) {
		n_of = next[i];
		next[i] = first;
	}
	for (size_t i = 0; i < n; i++)
		sorted[next[graph->edges[i].to]++] = graph->edges[i];
	free(next);
	free(graph->edges);
	graph->edges = sorted;
	graph->n_edges = n;
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

static int compare_targets(const void *a, const void *b)
{
	const struct ts_graph_edge *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

/* Puts the edges behind the first n_ordered where they belong. */
static int merge_edges(struct ts_graph *graph, size_t n_ordered)
{
	size_t n_late = 0, from = n_ordered, to;
	struct ts_graph_edge *late = malloc((graph->n_edges - n_ordered + 1) * sizeof(*late));

	if (!late)
		return -ENOMEM;
	for (size_t i = n_ordered; i < graph->n_edges; i++)
		if (graph->edges[i].from < graph->edges[i].to)
			late[n_late++] = graph->edges[i];
	if (n_late)
		qsort(late, n_late, sizeof(*late), compare_targets);
	graph->n_edges = to = n_ordered + n_late;
	while (n_late) {
		bool is_late = !from || graph->edges[from - 1].to <= late[n_late - 1].to;

		graph->edges[--to] = is_late ? late[--n_late] : graph->edges[--from];
	}
	free(late);
	return 0;
}

/*
 * Gives nodes their edges. Binding is the one released last; of several the one that was found first, but a wait rather than
 * the host's own order. Returns the node that was over last: of several the one that began last, for what is shorter is
 * nearer to the cause.
 */
static uint32_t bind(struct ts_graph *graph)
{
	const struct ts_graph_edge *edges = graph->edges;
	uint32_t n_edges = (uint32_t)graph->n_edges, e = 0, latest = NONE;

	for (uint32_t i = 0; i < graph->n_nodes; i++) {
		struct ts_graph_node *node = &graph->nodes[i];

		node->first_edge = e;
		node->binding = NONE;
		for (; e < n_edges && edges[e].to == i; e++)
			if (node->binding == NONE ||
			    edges[e].release_ns > edges[node->binding].release_ns)
				node->binding = e;
		node->n_edges = e - node->first_edge;
		/* When a call that waits is over is its return's to say. */
		node->slack_ns = node->has_return ? UINT64_MAX : graph->to_ns - node->end_ns;
		if (node->end_ns == graph->to_ns)
			latest = i;
	}
	return latest;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Nodes behind a node come after it, so that theirs is known. */
static void find_slack(struct ts_graph *graph)
{
	for (size_t i = graph->n_nodes; i--;) {
		const struct ts_graph_node *node = &graph->nodes[i];

		for (uint32_t e = node->first_edge; e < node->first_edge + node->n_edges; e++) {
			const struct ts_graph_edge *edge = &graph->edges[e];
			struct ts_graph_node *from = &graph->nodes[edge->from];
			uint64_t spare_ns =
				graph->edges[node->binding].release_ns - edge->release_ns;

			if (__builtin_add_overflow(spare_ns, node->slack_ns, &spare_ns))
				continue;
			from->slack_ns = less(from->slack_ns, spare_ns);
		}
	}
}

/* ---- the path ----------------------------------------------------------------------------------- */

struct walk {
	struct ts_graph *graph;
	size_t n_allocated;
	uint64_t time_ns; /* all behind it is told */
};

static int step(struct walk *walk, uint32_t node, enum ts_graph_part part, uint64_t from_ns)
{
	struct ts_graph *graph = walk->graph;
	struct ts_graph_step *grown;

	if (from_ns >= walk->time_ns)
		return 0;
	if (graph->n_path == walk->n_allocated) {
		walk->n_allocated = walk->n_allocated ? 2 * walk->n_allocated : 256;
		grown = reallocarray(graph->path, walk->n_allocated, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		graph->path = grown;
	}
	graph->path[graph->n_path++] = (struct ts_graph_step){node, part, from_ns, walk->time_ns};
	graph->parts_ns[part] += walk->time_ns - from_ns;
	walk->time_ns = from_ns;
	return 0;
}

/* What the time between the release by `edge` and the beginning of `node` was. */
static enum ts_graph_part part_between(const struct ts_graph *graph, uint32_t node,
				       const struct ts_graph_edge *edge)
{
	switch (graph->nodes[node].kind) {
	case TS_GRAPH_OP:
		return edge->kind == TS_GRAPH_LAUNCH ? TS_GRAPH_LATENCY : TS_GRAPH_WAIT;
	case TS_GRAPH_RETURN:
		return TS_GRAPH_IN_CALL;
	default:
		return TS_GRAPH_HOST_GAP;
	}
}

/* From what held `node` up, and when it let go. *ret_is_over: the path goes on at its end, not at its beginning. */
static int step_back(struct walk *walk, uint32_t *node, bool *ret_is_over)
{
	struct ts_graph *graph = walk->graph;
	const struct ts_graph_node *from, *at = &graph->nodes[*node];
	const struct ts_graph_edge *edge = &graph->edges[at->binding];
	uint64_t from_ns;
	int r;

	from = &graph->nodes[edge->from];
	/* What began with a call goes on from where that began: until then nothing was on its way. */
	*ret_is_over = edge->kind != TS_GRAPH_LAUNCH &&
		       !(edge->kind == TS_GRAPH_HOST && at->kind == TS_GRAPH_RETURN);
	from_ns = *ret_is_over ? from->end_ns : from->start_ns;
	r = step(walk,
		 at->kind == TS_GRAPH_OP && edge->kind == TS_GRAPH_LAUNCH ? edge->from : *node,
		 part_between(graph, *node, edge), from_ns);
	*node = edge->from;
	return r;
}

static enum ts_graph_part part_of(const struct ts_graph_node *node)
{
	if (node->kind != TS_GRAPH_OP)
		return TS_GRAPH_IN_CALL;
	return node->type == TS_ROW_MEMCPY ? TS_GRAPH_COPY : TS_GRAPH_COMPUTE;
}

/* `node`: where it ends. */
static int find_path(struct ts_graph *graph, uint32_t node)
{
	struct walk walk = {.graph = graph, .time_ns = graph->to_ns};
	bool is_over = true;
	int r = 0;

	while (!r && node != NONE) {
		struct ts_graph_node *at = &graph->nodes[node];

		at->is_critical = 1;
		if (is_over)
			r = step(&walk, node, part_of(at), at->start_ns);
		if (r || at->binding == NONE)
			break;
		r = step_back(&walk, &node, &is_over);
	}
	if (!r && node != NONE)
		r = step(&walk, node, TS_GRAPH_UNKNOWN, graph->from_ns);
	for (size_t i = 0; i < graph->n_path / 2; i++) {
		struct ts_graph_step spare = graph->path[i];

		graph->path[i] = graph->path[graph->n_path - 1 - i];
		graph->path[graph->n_path - 1 - i] = spare;
	}
	return r;
}

int ts_graph_solve(struct ts_graph *graph, size_t n_ordered)
{
	uint32_t latest;
	int r = n_ordered ? merge_edges(graph, n_ordered) : sort(graph);

	if (r)
		return r;
	graph->from_ns = graph->n_nodes ? graph->nodes[0].start_ns : 0;
	latest = bind(graph);
	find_slack(graph);
	return find_path(graph, latest);
}
