/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the graph of replay/state to messages, one element at a time, or to lines of JSON, in
 * threads (replay/report/pieces.h). query.c and tsctl call this file.
 */
#include "replay/report/answers/graphjson.h"
#include "replay/report/answers/doubtsjson.h"

#include "proto/rpc/json.h"
#include "replay/report/answers/statejson.h"
#include "replay/report/stacks/stackjson.h"

char *ts_graphjson_name(struct ts_resolver *resolver, struct ts_pool *pool,
			const struct ts_graph_node *node)
{
	struct ts_state_op op = {.type = node->type, .session = node->session};

	if (node->kind != TS_GRAPH_OP) {
		op.domain = (uint16_t)(node->name >> 16);
		op.cbid = (uint16_t)node->name;
	} else if (node->type == TS_ROW_KERNEL) {
		op.row.kernel.name = node->name;
	} else if (node->type == TS_ROW_MEMCPY) {
		op.row.memcpy_.copy_kind = (uint8_t)node->name;
	}
	return ts_statejson_op_name(resolver, pool, &op);
}

void ts_graphjson_prepare(struct ts_resolver *resolver, const struct ts_graph_node *node)
{
	ts_resolver_prepare_thread(resolver, node->session, node->thread);
	if (node->kind == TS_GRAPH_OP && node->type == TS_ROW_KERNEL)
		ts_resolver_prepare_string(resolver, node->name);
}

const char *ts_graphjson_kind(uint32_t kind)
{
	return kind == TS_GRAPH_OP ? "operation" : kind == TS_GRAPH_CALL ? "call" : "return";
}

Ts__Rpc__GraphNode *ts_graphjson_node(struct ts_resolver *resolver, struct ts_pool *pool,
				      const struct ts_graph *graph, uint32_t i)
{
	const struct ts_graph_node *node = &graph->nodes[i];
	const struct ts_row_schema *schema = ts_row_schema(node->type);
	Ts__Rpc__GraphNode *message = ts_pool_alloc(pool, 1, sizeof(*message));

	ts__rpc__graph_node__init(message);
	message->type = ts_pool_copy(pool, "node");
	TS_RPC_SET(message, node, i);
	message->kind = ts_pool_copy(pool, ts_graphjson_kind(node->kind));
	if (node->kind == TS_GRAPH_OP && schema)
		message->of = ts_pool_copy(pool, schema->name);
	message->name = ts_graphjson_name(resolver, pool, node);
	TS_RPC_SET(message, session, node->session);
	TS_RPC_SET(message, op_id, node->op_id);
	TS_RPC_SET(message, start_ns, node->start_ns);
	TS_RPC_SET(message, end_ns, node->end_ns);
	TS_RPC_SET(message, slack_ns, graph->slack_ns[i]);
	TS_RPC_SET(message, critical, node->is_critical);
	ts_stackjson_thread(resolver, pool, node->session, node->thread, &message->tid,
			    &message->has_tid, &message->thread_name);
	if (node->device != TS_NO_DEVICE)
		TS_RPC_SET(message, device, node->device);
	if (node->context != TS_NO_DEVICE)
		TS_RPC_SET(message, context, node->context);
	if (node->stream != TS_NO_DEVICE)
		TS_RPC_SET(message, stream, node->stream);
	message->n_unsure = ts_statejson_unsure(pool, node->unsure, &message->unsure);
	return message;
}

Ts__Rpc__GraphEdge *ts_graphjson_edge(struct ts_pool *pool, const struct ts_graph *graph,
				      uint32_t to, uint32_t i)
{
	const struct ts_graph_edge *edge = &graph->edges[i];
	Ts__Rpc__GraphEdge *message = ts_pool_alloc(pool, 1, sizeof(*message));

	ts__rpc__graph_edge__init(message);
	message->type = (char *)"edge";
	message->kind = (char *)ts_graph_edge_name(edge->kind);
	TS_RPC_SET(message, from, edge->from);
	TS_RPC_SET(message, to, to);
	TS_RPC_SET(message, release_ns, edge->release_ns);
	if (edge->kind == TS_GRAPH_EVENT)
		TS_RPC_SET(message, event, ts_graph_event(graph, i));
	TS_RPC_SET(message, binding, ts_graph_binding(&graph->nodes[to]) == i);
	TS_RPC_SET(message, inferred, edge->is_inferred);
	return message;
}

Ts__Rpc__GraphStep *ts_graphjson_step(struct ts_resolver *resolver, struct ts_pool *pool,
				      const struct ts_graph *graph,
				      const struct ts_graph_step *step)
{
	const struct ts_graph_node *node = &graph->nodes[step->node];
	Ts__Rpc__GraphStep *message = ts_pool_alloc(pool, 1, sizeof(*message));
	char *thread_name;

	ts__rpc__graph_step__init(message);
	message->type = ts_pool_copy(pool, "step");
	message->part = ts_pool_copy(pool, ts_graph_part_name(step->part));
	TS_RPC_SET(message, start_ns, step->from_ns);
	TS_RPC_SET(message, end_ns, step->to_ns);
	TS_RPC_SET(message, node, step->node);
	message->name = ts_graphjson_name(resolver, pool, node);
	TS_RPC_SET(message, session, node->session);
	TS_RPC_SET(message, op_id, node->op_id);
	ts_stackjson_thread(resolver, pool, node->session, node->thread, &message->tid,
			    &message->has_tid, &thread_name);
	if (node->device != TS_NO_DEVICE)
		TS_RPC_SET(message, device, node->device);
	if (node->stream != TS_NO_DEVICE)
		TS_RPC_SET(message, stream, node->stream);
	return message;
}

static uint64_t n_steps_of(const struct ts_graph *graph, uint32_t part)
{
	uint64_t n = 0;

	for (size_t i = 0; i < graph->n_path; i++)
		n += graph->path[i].part == part;
	return n;
}

Ts__Rpc__GraphSummary *ts_graphjson_summary(struct ts_pool *pool, const struct ts_graph *graph)
{
	Ts__Rpc__GraphPart *parts = ts_pool_alloc(pool, TS_GRAPH_PARTS, sizeof(*parts));
	Ts__Rpc__GraphSummary *message = ts_pool_alloc(pool, 1, sizeof(*message));

	ts__rpc__graph_summary__init(message);
	message->type = (char *)"summary";
	TS_RPC_SET(message, start_ns, graph->from_ns);
	TS_RPC_SET(message, end_ns, graph->to_ns);
	TS_RPC_SET(message, nodes, graph->n_nodes);
	TS_RPC_SET(message, edges, graph->n_edges);
	TS_RPC_SET(message, unsure, graph->n_unsure);
	TS_RPC_SET(message, damaged, graph->is_damaged);
	if (graph->is_modelled)
		TS_RPC_SET(message, model_clock, true);
	message->doubts = ts_doubtsjson_make(pool, &graph->doubts);
	message->parts = ts_pool_alloc(pool, TS_GRAPH_PARTS, sizeof(*message->parts));
	for (uint32_t part = 0; part < TS_GRAPH_PARTS; part++) {
		uint64_t n = n_steps_of(graph, part);

		if (!n)
			continue;
		ts__rpc__graph_part__init(&parts[part]);
		parts[part].part = (char *)ts_graph_part_name(part);
		TS_RPC_SET(&parts[part], ns, graph->parts_ns[part]);
		TS_RPC_SET(&parts[part], steps, n);
		message->parts[message->n_parts++] = &parts[part];
	}
	return message;
}

/* ---- lines ----------------------------------------------------------------------------------- */

enum element {
	NODE,
	EDGES, /* that lead to a node */
	STEP
};

/* A piece is one item. */
struct item {
	enum element element;
	uint32_t first, n; /* of nodes or steps */
	uint32_t reserved;
};

#define ITEM_ELEMENTS 512u

struct writing {
	struct ts_resolver *resolver;
	const struct ts_graph *graph;
	void (*no_memory)(void);
	ts_lines_fn *write;
	void *data;
	struct ts_pieces *pieces;
};

static int namer_init(void *data, void *state)
{
	const struct writing *writing = data;

	return ts_resolver_share(writing->resolver, state);
}

static void namer_deinit(void *state)
{
	ts_resolver_freep(state);
}

static void put_line(struct ts_json *text, const ProtobufCMessage *message)
{
	const size_t before = text->n_bytes;

	/* An error is kept in the text. Only whole lines are written. */
	(void)ts_json_message(text, message);
	ts_json_bytes(text, "\n", 1);
	if (text->error)
		text->n_bytes = before;
}

static void put_element(const struct writing *writing, struct ts_resolver *resolver,
			enum element element, uint32_t at, struct ts_json *text)
{
	ts_cleanup(ts_pool_deinit) struct ts_pool pool = {.no_memory = writing->no_memory};
	const struct ts_graph *graph = writing->graph;
	const struct ts_graph_node *node;

	switch (element) {
	case NODE:
		put_line(text, &ts_graphjson_node(resolver, &pool, graph, at)->base);
		break;
	case EDGES:
		node = &graph->nodes[at];
		for (uint32_t i = node->first_edge; i < node->first_edge + node->n_edges; i++) {
			put_line(text, &ts_graphjson_edge(&pool, graph, at, i)->base);
			ts_pool_deinit(&pool);
		}
		break;
	case STEP:
		put_line(text, &ts_graphjson_step(resolver, &pool, graph, &graph->path[at])->base);
		break;
	}
}

static int write_text(void *data, const char *text, size_t n_bytes)
{
	const struct writing *writing = data;

	return writing->write(writing->data, text, n_bytes);
}

static int put_elements(void *data, void *state, bool in_order, const uint8_t *items,
			size_t n_bytes, struct ts_json *text)
{
	struct ts_resolver *const *resolver = state;
	const struct item *item = (const void *)items;
	int r = 0;

	for (uint32_t i = 0; !r && i < item->n; i++) {
		put_element(data, *resolver, item->element, item->first + i, text);
		r = text->error ? text->error : ts_pieces_bound(in_order, write_text, data, text);
	}
	return r;
}

static int format(void *data, void *state, const uint8_t *items, size_t n_bytes,
		  struct ts_json *text)
{
	return put_elements(data, state, false, items, n_bytes, text);
}

static int format_in_order(void *data, void *state, const uint8_t *items, size_t n_bytes,
			   struct ts_json *text)
{
	return put_elements(data, state, true, items, n_bytes, text);
}

/* Adds elements of one kind. The nodes that they name are prepared here, if they are not yet. */
static int add(struct writing *writing, enum element element, size_t n, bool is_prepared)
{
	const struct ts_graph *graph = writing->graph;
	void *item;
	int r = 0;

	for (uint32_t first = 0, end; !r && first < n; first = end) {
		end = n - first > ITEM_ELEMENTS ? first + ITEM_ELEMENTS : (uint32_t)n;
		for (uint32_t i = is_prepared ? end : first; i < end; i++)
			ts_graphjson_prepare(
				writing->resolver,
				&graph->nodes[element == STEP ? graph->path[i].node : i]);
		r = ts_pieces_add(writing->pieces, sizeof(struct item), &item);
		if (!r)
			*(struct item *)item = (struct item){element, first, end - first, 0};
	}
	return r;
}

static int add_all(struct writing *writing, bool only_path)
{
	const struct ts_graph *graph = writing->graph;
	int r = only_path ? 0 : add(writing, NODE, graph->n_nodes, false);

	r = r || only_path ? r : add(writing, EDGES, graph->n_nodes, true);
	r = r ? r : add(writing, STEP, graph->n_path, !only_path);
	return r ? r : ts_pieces_end(writing->pieces);
}

int ts_graphjson_write(struct ts_resolver *resolver, const struct ts_graph *graph, bool only_path,
		       void (*no_memory)(void), ts_lines_fn *write, void *data)
{
	struct writing writing = {.resolver = resolver,
				  .graph = graph,
				  .no_memory = no_memory,
				  .write = write,
				  .data = data};
	const struct ts_pieces_kind kind = {.format = format,
					    .format_in_order = format_in_order,
					    .write = write_text,
					    .writes_anywhere = true,
					    .data = &writing,
					    .piece_bytes = sizeof(struct item),
					    .state_bytes = sizeof(struct ts_resolver *),
					    .state_init = namer_init,
					    .state_deinit = namer_deinit};
	int r = ts_pieces_new(&kind, &writing.pieces);

	r = r ? r : add_all(&writing, only_path);
	ts_pieces_free(writing.pieces);
	return r;
}
