/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET arrows: dependencies between rows, from launches to kernels and from events to waiters.
 * http.c calls this module; it reads the graph of a window by replay/state/graph.
 */
#include "proto/abi/base.h"
#include "tools/studio/server/requests/studio-rows.h"
#include "tools/studio/server/studio-call.h"

#include <malloc.h>

#define DEFAULT_ARROWS 1000u
#define MAX_ARROWS     20000u
/* Nodes of a window that are read at most. */
#define MAX_NODES 200000u
/* Time around an operation in which its causes and effects are searched. */
#define AROUND_NS UINT64_C(5000000)
/* The window grows by this factor until it shows why the operation began when it did. */
#define WIDER 10u
/* An operation that began so soon after its last cause was not delayed by another one. */
#define EXPLAINED_NS UINT64_C(1000000)

struct drawing {
	struct ts_studio_call *call;
	const struct ts_graph *graph;
	uint64_t origin_ns;
	uint64_t op_id; /* only its arrows; 0: all */
	size_t limit;
	size_t n_arrows;
	uint32_t first_lane;
};

static uint64_t since(uint64_t origin_ns, uint64_t ns)
{
	return ns > origin_ns ? ns - origin_ns : 0;
}

static const char *kind_of(const struct ts_graph_edge *edge, bool is_binding,
			   const struct ts_graph_node *from, const struct ts_graph_node *to)
{
	if (is_binding && from->is_critical && to->is_critical)
		return "critical";
	if (edge->kind == TS_GRAPH_LAUNCH || edge->kind == TS_GRAPH_EVENT)
		return ts_graph_edge_name(edge->kind);
	return "dependency";
}

/* An end of an arrow. */
struct end {
	const struct ts_graph_node *node;
	uint32_t lane;
};

static void put_arrow(struct drawing *drawing, const struct ts_graph_edge *edge, bool is_binding,
		      const struct end *from, const struct end *to)
{
	const struct ts_graph_node *cause = from->node, *effect = to->node;
	struct ts_json *json = &drawing->call->out;
	uint64_t origin_ns = drawing->origin_ns;
	bool is_launch = edge->kind == TS_GRAPH_LAUNCH;

	ts_json_raw(json, drawing->n_arrows++ ? ",\n{\"kind\": " : "{\"kind\": ");
	ts_json_string(json, kind_of(edge, is_binding, cause, effect));
	ts_json_raw(json, ", \"edge\": ");
	ts_json_string(json, ts_graph_edge_name(edge->kind));
	ts_json_raw(json, ", \"from_lane\": ");
	ts_json_uint(json, drawing->first_lane + from->lane);
	ts_json_raw(json, ", \"from_ns\": ");
	ts_json_uint(json, since(origin_ns, is_launch ? cause->start_ns : cause->end_ns));
	ts_json_raw(json, ", \"from_op\": ");
	ts_json_uint(json, cause->op_id);
	ts_json_raw(json, ", \"to_lane\": ");
	ts_json_uint(json, drawing->first_lane + to->lane);
	ts_json_raw(json, ", \"to_ns\": ");
	/* A wait of the host ends with its cause. */
	ts_json_uint(json, since(origin_ns, cause->end_ns > effect->start_ns && !is_launch
						    ? effect->end_ns
						    : effect->start_ns));
	ts_json_raw(json, ", \"op\": ");
	ts_json_uint(json, effect->op_id);
	ts_json_raw(json, "}");
}

/* Draws the edges that lead to a node, but not those within a lane: that order is plain. */
static void draw_node(struct drawing *drawing, size_t i)
{
	const struct ts_graph *graph = drawing->graph;
	const struct ts_tiles *tiles = drawing->call->tiles->tiles;
	struct end to = {.node = &graph->nodes[i]};

	to.lane = ts_tiles_node_lane(tiles, to.node);
	for (uint32_t e = 0; to.lane && e < to.node->n_edges; e++) {
		uint32_t at = to.node->first_edge + e;
		const struct ts_graph_edge *edge = &graph->edges[at];
		struct end from = {.node = &graph->nodes[edge->from]};

		if (drawing->n_arrows >= drawing->limit ||
		    (drawing->op_id && from.node->op_id != drawing->op_id &&
		     to.node->op_id != drawing->op_id))
			continue;
		from.lane = ts_tiles_node_lane(tiles, from.node);
		if (from.lane && from.lane != to.lane)
			put_arrow(drawing, edge, ts_graph_binding(to.node) == at, &from, &to);
	}
}

static int read_graph(const struct drawing *drawing, uint64_t from_ns, uint64_t to_ns,
		      struct ts_graph **ret_graph)
{
	struct ts_studio_reader *reader = drawing->call->reader;
	const struct ts_graph_options options = {.session = drawing->call->session,
						 .from_ns =
							 ts_call_absolute(drawing->call, from_ns),
						 .to_ns =
							 ts_call_absolute_end(drawing->call, to_ns),
						 .max_nodes = MAX_NODES};
	int r;

	ts_sbt_reader_cancel(reader->source.reader, &drawing->call->is_cancelled);
	r = ts_graph_read(reader->source.reader, &options, ret_graph);
	ts_sbt_reader_cancel(reader->source.reader, NULL);
	return r;
}

/* False if an operation began long after the end of its known causes. */
static bool is_explained(const struct ts_graph *graph, uint64_t op_id)
{
	for (size_t i = 0; i < graph->n_nodes; i++) {
		const struct ts_graph_node *node = &graph->nodes[i];
		uint64_t last_ns = 0;

		if (node->op_id != op_id || node->kind != TS_GRAPH_OP)
			continue;
		for (uint32_t e = 0; e < node->n_edges; e++)
			if (graph->edges[node->first_edge + e].release_ns > last_ns)
				last_ns = graph->edges[node->first_edge + e].release_ns;
		if (node->start_ns > last_ns && node->start_ns - last_ns > EXPLAINED_NS)
			return false;
	}
	return true;
}

/*
 * Reads the graph around an operation. A wait for an event may have been queued long before the
 * operation's call: then the window begins earlier, as far as MAX_NODES permits.
 */
static int read_around(const struct drawing *drawing, uint64_t from_ns, uint64_t to_ns,
		       struct ts_graph **ret_graph)
{
	uint64_t around_ns = AROUND_NS;
	int r = read_graph(drawing, from_ns, to_ns, ret_graph);

	while (!r && from_ns && !is_explained(*ret_graph, drawing->op_id)) {
		struct ts_graph *wider = NULL;

		around_ns = around_ns > UINT64_MAX / WIDER ? UINT64_MAX : around_ns * WIDER;
		from_ns = from_ns > around_ns ? from_ns - around_ns : 0;
		r = read_graph(drawing, from_ns, to_ns, &wider);
		if (r == TS_E_GRAPH_NODES)
			return 0;
		if (r)
			return r;
		ts_graph_free(*ret_graph);
		*ret_graph = wider;
	}
	return r;
}

static int draw(struct drawing *drawing, uint64_t from_ns, uint64_t to_ns)
{
	ts_cleanup(ts_graph_freep) struct ts_graph *graph = NULL;
	int r = drawing->op_id ? read_around(drawing, from_ns, to_ns, &graph)
			       : read_graph(drawing, from_ns, to_ns, &graph);

	drawing->graph = graph;
	for (size_t i = 0; !r && i < graph->n_nodes && drawing->n_arrows < drawing->limit; i++)
		draw_node(drawing, i);
	ts_graph_free(ts_take_ptr(graph));
	/* The system shall have the graph's memory back. */
	malloc_trim(0);
	return r;
}

/* Returns the window around the rows of an operation. */
static int find_window(struct ts_studio_call *call, uint64_t op_id, uint64_t *ret_from_ns,
		       uint64_t *ret_to_ns)
{
	uint64_t origin_ns = ts_sbt_reader_origin_ns(call->reader->source.reader);
	uint64_t first_ns, last_ns;
	int r = ts_studio_rows_span(call, op_id, &first_ns, &last_ns);

	if (r)
		return r;
	*ret_from_ns = since(AROUND_NS, since(origin_ns, first_ns));
	if (__builtin_add_overflow(since(origin_ns, last_ns), AROUND_NS, ret_to_ns))
		*ret_to_ns = UINT64_MAX;
	return 0;
}

int ts_request_arrows(struct ts_studio_call *call)
{
	struct drawing drawing = {.call = call};
	uint64_t from_ns = 0, to_ns = 0, limit, trace;
	bool has_op = ts_call_parameter(call, "op");
	int r;

	if ((has_op && ts_call_number(call, "op", 1, UINT64_MAX, &drawing.op_id)) ||
	    (!has_op && (ts_call_number(call, "from", 0, INT64_MAX, &from_ns) ||
			 ts_call_number(call, "to", 0, INT64_MAX, &to_ns))) ||
	    ts_call_number_or(call, "limit", 1, MAX_ARROWS, DEFAULT_ARROWS, &limit) ||
	    ts_call_number_or(call, "trace", 0, TS_STUDIO_MAX_TRACES - 1, 0, &trace) ||
	    ts_call_reader(call, trace) || ts_call_session(call) ||
	    (has_op && find_window(call, drawing.op_id, &from_ns, &to_ns)))
		return -1;
	if (to_ns < from_ns)
		return ts_call_fail(call, 400, "the window ends before it begins");
	drawing.origin_ns = ts_sbt_reader_origin_ns(call->reader->source.reader);
	drawing.limit = limit;
	drawing.first_lane = trace ? TS_STUDIO_SECOND_LANES : 0;
	ts_json_raw(&call->out, "{\"arrows\": [");
	r = draw(&drawing, from_ns, to_ns);
	if (r == TS_E_GRAPH_NODES)
		return ts_call_fail(call, 400, "the window has too many operations for arrows");
	if (r)
		return ts_call_fail_with(call, r);
	ts_json_raw(&call->out, "]}\n");
	return 0;
}
