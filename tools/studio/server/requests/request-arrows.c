/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GET arrows: dependencies between rows, from launches to kernels and from events to waiters.
 * http.c calls this module; it asks replay/report/query.h for the graph of a window.
 */
#include "proto/abi/base.h"
#include "proto/abi/grow.h"
#include "replay/report/query.h"
#include "tools/studio/server/requests/studio-rows.h"
#include "tools/studio/server/studio-call.h"
#include "tools/tsctl/tsctl.h"

#define DEFAULT_ARROWS 1000u
#define MAX_ARROWS     20000u
/* Nodes of a window that are read at most. */
#define MAX_NODES 200000u
/* Time around an operation in which its causes and effects are searched. */
#define AROUND_NS UINT64_C(5000000)

/* An end of arrows. */
struct node {
	uint64_t start_ns, end_ns, op_id;
	uint32_t lane; /* id; 0: none */
	bool is_critical;
};

struct drawing {
	struct ts_studio_call *call;
	struct ts_sbt_reader *reader;
	struct ts_tiles *tiles;
	uint64_t origin_ns;
	uint64_t op_id; /* only its arrows; 0: all */
	size_t limit;
	struct node *nodes;
	size_t n_nodes, capacity;
	size_t n_arrows;
	uint32_t first_lane;
};

static uint64_t since(const struct drawing *drawing, uint64_t ns)
{
	return ns > drawing->origin_ns ? ns - drawing->origin_ns : 0;
}

/* Returns the id of the thread with this tid, which may have been used again later. */
static uint32_t find_thread(const struct drawing *drawing, const Ts__Rpc__GraphNode *node)
{
	uint32_t found = 0;
	uint64_t best_ns = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_threads(drawing->reader); i++) {
		const struct ts_sbt_thread *thread = ts_sbt_reader_thread_at(drawing->reader, i);

		if (thread->session != node->session || thread->row.tid != node->tid ||
		    thread->row.start_ns > node->end_ns ||
		    (found && thread->row.start_ns < best_ns))
			continue;
		found = thread->row.thread;
		best_ns = thread->row.start_ns;
	}
	return found;
}

static uint32_t find_lane(const struct drawing *drawing, const Ts__Rpc__GraphNode *node)
{
	struct ts_lane place = {.session = node->session};

	if (node->has_stream) {
		place.kind = TS_LANE_STREAM;
		place.device = node->has_device ? node->device : TS_NO_DEVICE;
		place.context = node->context;
		place.stream = node->stream;
	} else {
		place.kind = TS_LANE_THREAD;
		place.thread = find_thread(drawing, node);
	}
	return ts_tiles_find_lane(drawing->tiles, &place);
}

static int add_node(struct drawing *drawing, const Ts__Rpc__GraphNode *node)
{
	if (node->node != drawing->n_nodes || drawing->n_nodes == MAX_NODES)
		return -E2BIG;
	if (TS_GROW(drawing->nodes, drawing->capacity, drawing->n_nodes + 1))
		return -ENOMEM;
	drawing->nodes[drawing->n_nodes++] =
		(struct node){.start_ns = since(drawing, node->start_ns),
			      .end_ns = since(drawing, node->end_ns),
			      .op_id = node->op_id,
			      .lane = find_lane(drawing, node),
			      .is_critical = node->critical};
	return 0;
}

static const char *kind_of(const Ts__Rpc__GraphEdge *edge, const struct node *from,
			   const struct node *to)
{
	if (edge->binding && from->is_critical && to->is_critical)
		return "critical";
	if (edge->kind && (!strcmp(edge->kind, "launch") || !strcmp(edge->kind, "event")))
		return edge->kind;
	return "dependency";
}

static void put_arrow(struct drawing *drawing, const Ts__Rpc__GraphEdge *edge,
		      const struct node *from, const struct node *to)
{
	struct ts_json *json = &drawing->call->out;
	bool is_launch = edge->kind && !strcmp(edge->kind, "launch");

	ts_json_raw(json, drawing->n_arrows++ ? ",\n{\"kind\": " : "{\"kind\": ");
	ts_json_string(json, kind_of(edge, from, to));
	ts_json_raw(json, ", \"edge\": ");
	ts_json_string(json, edge->kind ? edge->kind : "");
	ts_json_raw(json, ", \"from_lane\": ");
	ts_json_uint(json, drawing->first_lane + from->lane);
	ts_json_raw(json, ", \"from_ns\": ");
	ts_json_uint(json, is_launch ? from->start_ns : from->end_ns);
	ts_json_raw(json, ", \"from_op\": ");
	ts_json_uint(json, from->op_id);
	ts_json_raw(json, ", \"to_lane\": ");
	ts_json_uint(json, drawing->first_lane + to->lane);
	ts_json_raw(json, ", \"to_ns\": ");
	/* A wait of the host ends with its cause. */
	ts_json_uint(json, from->end_ns > to->start_ns && !is_launch ? to->end_ns : to->start_ns);
	ts_json_raw(json, ", \"op\": ");
	ts_json_uint(json, to->op_id);
	ts_json_raw(json, "}");
}

static void add_edge(struct drawing *drawing, const Ts__Rpc__GraphEdge *edge)
{
	const struct node *from, *to;

	if (edge->from >= drawing->n_nodes || edge->to >= drawing->n_nodes ||
	    drawing->n_arrows >= drawing->limit)
		return;
	from = &drawing->nodes[edge->from];
	to = &drawing->nodes[edge->to];
	/* The order within a lane is plain. */
	if (!from->lane || !to->lane || from->lane == to->lane)
		return;
	if (!drawing->op_id || from->op_id == drawing->op_id || to->op_id == drawing->op_id)
		put_arrow(drawing, edge, from, to);
}

static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const Ts__Rpc__GraphList *list = (const Ts__Rpc__GraphList *)body;
	struct drawing *drawing = data;
	int r = drawing->call->out.error;

	if (number != TS__RPC__ANSWER__BODY_GRAPH)
		return 0;
	for (size_t i = 0; !r && i < list->n_nodes; i++)
		r = add_node(drawing, list->nodes[i]);
	for (size_t i = 0; !r && i < list->n_edges; i++)
		add_edge(drawing, list->edges[i]);
	return r;
}

static int draw(struct drawing *drawing, uint64_t from_ns, uint64_t to_ns)
{
	struct ts_query_options options = {.give = give,
					   .data = drawing,
					   .no_memory = ts_no_memory,
					   .cancel = &drawing->call->is_cancelled};
	Ts__Rpc__Moment from = TS__RPC__MOMENT__INIT, to = TS__RPC__MOMENT__INIT;
	Ts__Rpc__Query__Graph graph = TS__RPC__QUERY__GRAPH__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	struct ts_query_end end;

	TS_RPC_SET(&from, ns, from_ns);
	TS_RPC_SET(&from, from_start, true);
	TS_RPC_SET(&to, ns, to_ns);
	TS_RPC_SET(&to, from_start, true);
	graph.from = &from;
	graph.to = &to;
	query.body_case = TS__RPC__QUERY__BODY_GRAPH;
	query.graph = &graph;
	return ts_query_run(drawing->reader, drawing->call->reader->source.session, &query,
			    &options, &end);
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
	*ret_from_ns = first_ns > origin_ns + AROUND_NS ? first_ns - origin_ns - AROUND_NS : 0;
	*ret_to_ns = (last_ns > origin_ns ? last_ns - origin_ns : 0) + AROUND_NS;
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
	    ts_call_reader(call, trace) ||
	    (has_op && find_window(call, drawing.op_id, &from_ns, &to_ns)))
		return -1;
	drawing.reader = call->reader->source.reader;
	drawing.tiles = call->tiles->tiles;
	drawing.origin_ns = ts_sbt_reader_origin_ns(drawing.reader);
	drawing.limit = limit;
	drawing.first_lane = trace ? TS_STUDIO_SECOND_LANES : 0;
	ts_json_raw(&call->out, "{\"arrows\": [");
	r = draw(&drawing, from_ns, to_ns);
	free(drawing.nodes);
	if (r == -E2BIG)
		return ts_call_fail(call, 400, "the window has too many operations for arrows");
	if (r == TS_QUERY_E_WINDOW)
		return ts_call_fail(call, 400, "the window ends before it begins");
	if (r)
		return ts_call_fail_with(call, r);
	ts_json_raw(&call->out, "]}\n");
	return 0;
}
