/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the nodes and edges of the graph: see state-graph.h. replay/report and `tsctl graph`
 * call this file. This file feeds the state machine, and finally calls graphpath.c. If threads are
 * permitted, the nodes are added in a thread of their own (relay.h).
 *
 * One pass in time order reads calls, joined operations from the state machine, and
 * synchronizations. A waiting call gets a return node when the pass reaches the call's end, because
 * all operations that the call may have waited for have begun before its end. So nodes are added in
 * time order, each together with all its edges.
 */
#include "replay/state/graph/state-graph.h"

#include "proto/abi/heap.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "replay/state/graph/graphpath.h"
#include "replay/state/graph/largearray.h"
#include "replay/state/graph/state-ids.h"
#include "replay/state/relay.h"
#include "replay/state/state-clocks.h"
#include "replay/state/state-stages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE	  TS_GRAPH_NONE
#define NEAR_NS	  UINT64_C(5000)
#define N_ENGINES 8u  /* number of remembered operations for each kind and device */
#define RECENT	  16u /* cache of threads, by lower bits of the id */

/* A stream with its last operations, in the order of their start. */
struct stream {
	uint32_t session, context;
	uint32_t *nodes;
	size_t n, n_allocated;
	/* Kind, device and number of the engine of the stream's last operation. */
	uint32_t kind, device, engine;
};

struct thread {
	uint32_t session, thread;
	uint32_t last; /* node of the thread's last call, or of that call's return */
};

struct wait {
	uint32_t call;
	uint32_t type; /* CUpti_ActivitySynchronizationType */
	uint32_t context, stream;
};

/* The return of a waiting call, whose time the pass has not reached. */
struct coming {
	uint64_t end_ns;
	uint64_t number; /* order of discovery */
	/* The copy that the call waits for. NONE: see `wait`. */
	uint32_t copy;
	struct wait wait;
};

/* The last operations of one kind on one device. */
struct engine {
	struct {
		uint64_t end_ns;
		uint32_t node, stream;
	} last[N_ENGINES];
	uint64_t n;
	uint64_t n_same; /* the last n_same operations ran in `stream` */
	uint32_t stream;
};

struct builder {
	struct ts_graph *graph;
	const struct ts_graph_options *options;
	struct ts_state_machine *machine;
	size_t max_nodes, n_nodes_allocated, n_edges_allocated, n_events_allocated;
	struct ts_graph_node *node; /* added last */
	bool is_unordered;	    /* nodes are not in time order */
	struct ts_state_ids call_by_op;
	struct ts_state_map thread_by_id, stream_by_id, engine_by_id;
	struct thread *threads;
	size_t n_threads, n_threads_allocated;
	uint32_t recent[RECENT]; /* threads */
	struct stream *streams;
	size_t n_streams, n_streams_allocated;
	uint32_t *streams_by_number; /* index + 1 of a stream, by the state machine's number */
	size_t n_numbers_allocated;
	/* By the machine's number - 1. */
	uint32_t *nodes_of_ops, *nodes_of_calls;
	size_t n_ops_allocated, n_calls, n_calls_allocated;
	struct coming *coming; /* a heap, by end and number */
	size_t n_coming, n_coming_allocated;
	uint64_t n_known_of;
	struct engine *engines;
	size_t n_engines, n_engines_allocated;
};

const char *ts_graph_edge_name(uint32_t kind)
{
	static const char *const names[TS_GRAPH_EDGE_KINDS] = {
		[TS_GRAPH_STREAM] = "stream", [TS_GRAPH_EVENT] = "event",
		[TS_GRAPH_LEGACY] = "legacy", [TS_GRAPH_LAUNCH] = "launch",
		[TS_GRAPH_HOST] = "host",     [TS_GRAPH_SYNC] = "sync",
		[TS_GRAPH_ENGINE] = "engine",
	};

	return kind < TS_GRAPH_EDGE_KINDS ? names[kind] : NULL;
}

const char *ts_graph_part_name(uint32_t part)
{
	static const char *const names[TS_GRAPH_PARTS] = {
		[TS_GRAPH_UNKNOWN] = "unknown",	  [TS_GRAPH_COMPUTE] = "compute",
		[TS_GRAPH_COPY] = "copy",	  [TS_GRAPH_LATENCY] = "launch_latency",
		[TS_GRAPH_WAIT] = "wait",	  [TS_GRAPH_IN_CALL] = "call",
		[TS_GRAPH_HOST_GAP] = "host_gap",
	};

	return part < TS_GRAPH_PARTS ? names[part] : NULL;
}

static void builder_deinit(struct builder *builder)
{
	for (size_t i = 0; i < builder->n_streams; i++)
		free(builder->streams[i].nodes);
	free(builder->streams);
	free(builder->engines);
	ts_state_ids_deinit(&builder->call_by_op);
	free(builder->threads);
	free(builder->streams_by_number);
	free(builder->nodes_of_ops);
	free(builder->nodes_of_calls);
	free(builder->coming);
	ts_state_map_deinit(&builder->thread_by_id);
	ts_state_map_deinit(&builder->stream_by_id);
	ts_state_map_deinit(&builder->engine_by_id);
	ts_state_machine_free(builder->machine);
}

void ts_graph_free(struct ts_graph *graph)
{
	if (!graph)
		return;
	free(graph->nodes);
	free(graph->slack_ns);
	free(graph->edges);
	free(graph->events);
	free(graph->path_buffer);
	free(graph);
}

/* Makes room for a node. The caller fills it in and calls add_node(). */
static int make_node(struct builder *builder, struct ts_graph_node **ret_node)
{
	struct ts_graph *graph = builder->graph;
	int r = graph->n_nodes < builder->max_nodes
			? ts_largearray_grow(&graph->nodes, graph->n_nodes,
					     &builder->n_nodes_allocated, sizeof(*graph->nodes))
			: TS_E_GRAPH_NODES;

	if (!r)
		*ret_node = &graph->nodes[graph->n_nodes];
	return r;
}

/* Adds the node. The edges that are added next lead to it. */
static uint32_t add_node(struct builder *builder, struct ts_graph_node *node)
{
	struct ts_graph *graph = builder->graph;

	if (graph->n_nodes && ts_graph_is_before(node, node - 1))
		builder->is_unordered = true;
	if (node->end_ns > graph->to_ns)
		graph->to_ns = node->end_ns;
	builder->node = node;
	return (uint32_t)graph->n_nodes++;
}

static int add_edge(struct builder *builder, uint32_t kind, uint32_t from, uint64_t release_ns,
		    bool is_inferred)
{
	struct ts_graph *graph = builder->graph;
	struct ts_graph_edge *edge;
	int r = graph->n_edges < TS_MAX_GRAPH_EDGES
			? ts_largearray_grow(&graph->edges, graph->n_edges,
					     &builder->n_edges_allocated, sizeof(*graph->edges))
			: TS_E_GRAPH_EDGES;

	if (r)
		return r;
	edge = &graph->edges[graph->n_edges++];
	edge->release_ns = release_ns;
	edge->from = from;
	edge->kind = (uint16_t)kind;
	edge->is_inferred = is_inferred;
	ts_graph_bind(graph, builder->node);
	return 0;
}

/* Stores the event's handle for the edge that was added last. */
static int add_event(struct builder *builder, uint64_t event)
{
	struct ts_graph *graph = builder->graph;
	int r = ts_largearray_grow(&graph->events, graph->n_events, &builder->n_events_allocated,
				   sizeof(*graph->events));

	if (!r)
		graph->events[graph->n_events++] =
			(struct ts_graph_event){.event = event,
						.edge = (uint32_t)graph->n_edges - 1};
	return r;
}

/* ---- the host -------------------------------------------------------------------------------- */

/* Returns NULL if memory is short. */
static struct thread *look_for_thread(struct builder *builder, uint32_t session, uint32_t thread)
{
	uint32_t found = ts_state_map_find(&builder->thread_by_id, session, thread);

	if (found == NONE) {
		if (ts_largearray_grow(&builder->threads, builder->n_threads,
				       &builder->n_threads_allocated, sizeof(*builder->threads)) ||
		    ts_state_map_set(&builder->thread_by_id, session, thread,
				     (uint32_t)builder->n_threads))
			return NULL;
		found = (uint32_t)builder->n_threads++;
		builder->threads[found] = (struct thread){session, thread, NONE};
	}
	builder->recent[thread % RECENT] = found;
	return &builder->threads[found];
}

static struct thread *get_thread(struct builder *builder, uint32_t session, uint32_t thread)
{
	uint32_t recent = builder->recent[thread % RECENT];

	if (recent < builder->n_threads && builder->threads[recent].thread == thread &&
	    builder->threads[recent].session == session)
		return &builder->threads[recent];
	return look_for_thread(builder, session, thread);
}

static int follow_thread(struct builder *builder, uint32_t session, uint32_t id, uint32_t at)
{
	struct thread *thread = get_thread(builder, session, id);
	const struct ts_graph_node *last;
	int r = 0;

	if (!thread)
		return -ENOMEM;
	if (thread->last != NONE) {
		last = &builder->graph->nodes[thread->last];
		/*
		 * If the return of the thread's last call is still to come, that call had not
		 * ended, so a clock is wrong. Then add no edge.
		 */
		if (last->kind != TS_GRAPH_CALL || !last->has_return)
			r = add_edge(builder, TS_GRAPH_HOST, thread->last, last->end_ns, false);
	}
	thread->last = at;
	return r;
}

static int feed_call(struct builder *builder, uint32_t session, const struct ts_row_api *row)
{
	struct ts_graph_node *node;
	uint32_t at;
	int r = make_node(builder, &node);

	if (r)
		return r;
	*node = (struct ts_graph_node){
		.op_id = row->op_id,
		.start_ns = row->start_ns,
		.end_ns = row->end_ns < row->start_ns ? row->start_ns : row->end_ns,
		.session = session,
		.name = (uint32_t)row->domain << 16 | row->cbid,
		.thread = row->thread,
		.stack = row->stack,
		.device = TS_NO_DEVICE,
		.context = row->context,
		.stream = TS_NO_DEVICE,
		.first_edge = (uint32_t)builder->graph->n_edges,
		.kind = TS_GRAPH_CALL,
		.type = TS_ROW_API,
	};
	at = add_node(builder, node);
	if (row->thread)
		r = follow_thread(builder, session, row->thread, at);
	if (!r)
		r = ts_largearray_grow(&builder->nodes_of_calls, builder->n_calls,
				       &builder->n_calls_allocated,
				       sizeof(*builder->nodes_of_calls));
	if (!r)
		r = ts_state_ids_set(&builder->call_by_op, session, row->op_id, at);
	if (!r && row->nested_op_id && row->nested_op_id != row->op_id)
		r = ts_state_ids_set(&builder->call_by_op, session, row->nested_op_id, at);
	if (!r)
		builder->nodes_of_calls[builder->n_calls++] = at;
	return r;
}

static inline bool is_sooner(const struct coming *a, const struct coming *b)
{
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->number < b->number;
}

TS_HEAP_DEFINE(coming, struct coming, is_sooner)

/*
 * Queues the call's return, which becomes a node of its own. The thread's next call depends on the
 * return.
 */
static int expect_return(struct builder *builder, const struct wait *wait, uint32_t copy)
{
	const struct coming coming = {.end_ns = builder->graph->nodes[wait->call].end_ns,
				      .number = builder->n_known_of++,
				      .copy = copy,
				      .wait = *wait};
	int r = ts_largearray_grow(&builder->coming, builder->n_coming,
				   &builder->n_coming_allocated, sizeof(*builder->coming));

	if (r)
		return r;
	coming_push(builder->coming, &builder->n_coming, coming);
	builder->graph->nodes[wait->call].has_return = 1;
	return 0;
}

/*
 * Returns the stream's last operation that was issued before the call and that ended before the
 * call returned.
 */
static uint32_t last_before(const struct builder *builder, const struct stream *stream,
			    const struct ts_graph_node *call)
{
	const struct ts_graph_node *nodes = builder->graph->nodes;
	size_t low = 0, high = stream->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (nodes[stream->nodes[middle]].end_ns <= call->end_ns)
			low = middle + 1;
		else
			high = middle;
	}
	/*
	 * Skip operations that were issued after the call and ended before its return: another
	 * thread issued them, or ids are wrong.
	 */
	for (size_t i = 0; low && i < TS_STATE_HISTORY; i++, low--)
		if (nodes[stream->nodes[low - 1]].op_id < call->op_id)
			return stream->nodes[low - 1];
	return NONE;
}

/*
 * Finds the operation for which `call` waited. Adds an edge from this operation to the call's
 * return, which is the node that was added last.
 */
static int resolve_wait(struct builder *builder, const struct wait *wait,
			const struct ts_graph_node *call)
{
	bool is_event = wait->type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
	uint64_t key = (uint64_t)wait->context << 32 | wait->stream;
	uint32_t only = wait->stream != TS_NO_DEVICE && !is_event
				? ts_state_map_find(&builder->stream_by_id, call->session, key)
				: NONE;
	uint64_t over_ns = 0;
	uint32_t last = NONE;

	if (wait->type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE && only == NONE)
		return 0;
	for (size_t i = 0; i < builder->n_streams; i++) {
		const struct stream *stream = &builder->streams[i];
		uint32_t op;

		if (only != NONE
			    ? i != only
			    : stream->session != call->session || stream->context != wait->context)
			continue;
		op = last_before(builder, stream, call);
		if (op == NONE || builder->graph->nodes[op].end_ns <= over_ns)
			continue;
		last = op;
		over_ns = builder->graph->nodes[op].end_ns;
	}
	/* An operation that ended before the call began did not make it wait. */
	if (last == NONE || over_ns < call->start_ns)
		return 0;
	return add_edge(builder, TS_GRAPH_SYNC, last, over_ns, is_event);
}

static int add_return(struct builder *builder, const struct coming *coming)
{
	const struct ts_graph_node call = builder->graph->nodes[coming->wait.call];
	struct ts_graph_node *node;
	struct thread *thread;
	uint32_t at;
	int r = make_node(builder, &node);

	if (r)
		return r;
	*node = call;
	node->kind = TS_GRAPH_RETURN;
	node->start_ns = call.end_ns;
	node->first_edge = (uint32_t)builder->graph->n_edges;
	node->has_return = node->n_edges = node->binding = 0;
	at = add_node(builder, node);
	if (call.thread) {
		thread = get_thread(builder, call.session, call.thread);
		if (!thread)
			return -ENOMEM;
		if (thread->last == coming->wait.call)
			thread->last = at;
	}
	r = add_edge(builder, TS_GRAPH_HOST, coming->wait.call, call.start_ns, false);
	if (r || coming->copy == NONE)
		return r ? r : resolve_wait(builder, &coming->wait, &call);
	return add_edge(builder, TS_GRAPH_SYNC, coming->copy,
			builder->graph->nodes[coming->copy].end_ns, false);
}

/* Adds the nodes of all returns up to until_ns. */
static int add_returns(struct builder *builder, uint64_t until_ns)
{
	int r = 0;

	while (!r && builder->n_coming && builder->coming[0].end_ns <= until_ns) {
		const struct coming coming = coming_pop(builder->coming, &builder->n_coming);

		r = add_return(builder, &coming);
	}
	return r;
}

static int feed_sync(struct builder *builder, uint32_t session, const struct ts_row_sync *row)
{
	const struct wait wait = {.call = ts_state_ids_find(&builder->call_by_op, session,
							    row->op_id),
				  .type = row->sync_type,
				  .context = row->context,
				  .stream = row->stream};

	/*
	 * A wait of a stream does not make a call return. Its edge leads to the operation after the
	 * wait.
	 */
	if (wait.call == NONE ||
	    row->sync_type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT)
		return 0;
	return expect_return(builder, &wait, NONE);
}

/* ---- devices --------------------------------------------------------------------------------- */

static int new_stream(struct builder *builder, const struct ts_state_op *op)
{
	uint64_t key = (uint64_t)op->context << 32 | op->stream;
	int r = builder->n_streams < TS_MAX_STREAMS
			? ts_largearray_grow(&builder->streams, builder->n_streams,
					     &builder->n_streams_allocated,
					     sizeof(*builder->streams))
			: TS_E_STREAMS;

	if (!r)
		r = ts_state_map_set(&builder->stream_by_id, op->session, key,
				     (uint32_t)builder->n_streams);
	if (r)
		return r;
	builder->streams[builder->n_streams++] =
		(struct stream){.session = op->session, .context = op->context, .kind = NONE};
	builder->streams_by_number[op->stream_number] = (uint32_t)builder->n_streams;
	return 0;
}

static int find_stream(struct builder *builder, const struct ts_state_op *op,
		       struct stream **ret_stream)
{
	int r = 0;

	while (!r && op->stream_number >= builder->n_numbers_allocated) {
		size_t n = builder->n_numbers_allocated;

		r = ts_largearray_grow(&builder->streams_by_number, n,
				       &builder->n_numbers_allocated,
				       sizeof(*builder->streams_by_number));
		for (; n < builder->n_numbers_allocated; n++)
			builder->streams_by_number[n] = 0;
	}
	if (!r && !builder->streams_by_number[op->stream_number])
		r = new_stream(builder, op);
	if (!r)
		*ret_stream = &builder->streams[builder->streams_by_number[op->stream_number] - 1];
	return r;
}

static int add_dependencies(struct builder *builder, const struct ts_state_op *op)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < op->n_dependencies; i++) {
		const struct ts_state_dependency *dependency = &op->dependencies[i];
		uint64_t over_ns = dependency->end_ns;

		/* An operation that had not ended did not delay this one. */
		if (over_ns > op->start_ns)
			over_ns = op->start_ns;
		r = add_edge(builder, dependency->kind,
			     builder->nodes_of_ops[dependency->number - 1], over_ns, false);
		if (!r && dependency->kind == TS_STATE_BY_EVENT)
			r = add_event(builder, dependency->event);
	}
	return r;
}

static int add_launch(struct builder *builder, const struct ts_state_op *op)
{
	if (op->unsure & TS_STATE_UNSURE_CALL)
		return 0;
	return add_edge(builder, TS_GRAPH_LAUNCH, builder->nodes_of_calls[op->call_number - 1],
			op->start_ns >= op->call_end_ns ? op->call_end_ns : op->call_ns, false);
}

/*
 * Finds the engine of an operation. If another operation occupied the engine, and this operation's
 * other dependencies ended earlier, this one probably waited for the engine. Copies in one
 * direction share an engine. Kernels may run concurrently; the trace does not show whether a kernel
 * waited for a full device.
 */
static int find_engine(struct builder *builder, const struct ts_state_op *op, struct stream *stream,
		       struct engine **ret_engine)
{
	uint32_t kind = op->type == TS_ROW_MEMCPY ? 1u + op->row.memcpy_.copy_kind : 0;
	uint64_t key = (uint64_t)kind << 32 | op->device;
	uint32_t found = stream->engine;
	int r;

	if (stream->kind != kind || stream->device != op->device)
		found = ts_state_map_find(&builder->engine_by_id, op->session, key);
	if (found == NONE) {
		r = ts_largearray_grow(&builder->engines, builder->n_engines,
				       &builder->n_engines_allocated, sizeof(*builder->engines));
		if (!r)
			r = ts_state_map_set(&builder->engine_by_id, op->session, key,
					     (uint32_t)builder->n_engines);
		if (r)
			return r;
		found = (uint32_t)builder->n_engines++;
		builder->engines[found] = (struct engine){.stream = op->stream};
	}
	stream->kind = kind;
	stream->device = op->device;
	stream->engine = found;
	*ret_engine = &builder->engines[found];
	return 0;
}

/* Returns the recent operation of another stream that may have occupied the engine, or NONE. */
static uint32_t find_holder(const struct engine *engine, const struct ts_state_op *op,
			    uint64_t *ret_over_ns)
{
	uint64_t n = engine->n < N_ENGINES ? engine->n : N_ENGINES, from_ns = op->call_end_ns;
	uint32_t found = NONE;

	if (engine->stream == op->stream && engine->n_same >= n)
		return NONE;
	for (uint32_t i = 0; i < op->n_dependencies; i++)
		if (op->dependencies[i].end_ns > from_ns)
			from_ns = op->dependencies[i].end_ns;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t end_ns = engine->last[i].end_ns;

		if (end_ns <= from_ns || end_ns > op->start_ns || op->start_ns - end_ns > NEAR_NS ||
		    engine->last[i].stream == op->stream)
			continue;
		found = engine->last[i].node;
		*ret_over_ns = from_ns = end_ns;
	}
	return found;
}

static int add_engine(struct builder *builder, const struct ts_state_op *op, struct stream *stream,
		      uint32_t node)
{
	struct engine *engine;
	uint64_t over_ns = 0;
	uint32_t holder;
	size_t at;
	int r = find_engine(builder, op, stream, &engine);

	if (r)
		return r;
	holder = find_holder(engine, op, &over_ns);
	if (engine->stream != op->stream) {
		engine->stream = op->stream;
		engine->n_same = 0;
	}
	engine->n_same++;
	at = engine->n++ % N_ENGINES;
	engine->last[at].end_ns = op->end_ns;
	engine->last[at].node = node;
	engine->last[at].stream = op->stream;
	if (holder == NONE || op->unsure & TS_STATE_UNSURE_CALL)
		return 0;
	return add_edge(builder, TS_GRAPH_ENGINE, holder, over_ns, true);
}

/* Handles a synchronous copy: its call returns when the copy is over. */
static int add_blocking_copy(struct builder *builder, const struct ts_state_op *op, uint32_t node)
{
	struct wait wait = {0};

	if (op->type != TS_ROW_MEMCPY || op->row.memcpy_.async || op->end_ns > op->call_end_ns ||
	    op->unsure & TS_STATE_UNSURE_CALL)
		return 0;
	wait.call = builder->nodes_of_calls[op->call_number - 1];
	return expect_return(builder, &wait, node);
}

static int take_op(struct builder *builder, const struct ts_state_op *op)
{
	struct ts_graph_node *node;
	struct stream *stream;
	uint32_t at;
	int r = make_node(builder, &node);

	if (r)
		return r;
	*node = (struct ts_graph_node){
		.op_id = op->op_id,
		.start_ns = op->start_ns,
		.end_ns = op->end_ns,
		.session = op->session,
		.name = op->type == TS_ROW_KERNEL   ? op->row.kernel.name
			: op->type == TS_ROW_MEMCPY ? op->row.memcpy_.copy_kind
						    : 0,
		.thread = op->thread,
		.stack = op->stack,
		.device = op->device,
		.context = op->context,
		.stream = op->stream,
		.first_edge = (uint32_t)builder->graph->n_edges,
		.unsure = (uint16_t)op->unsure,
		.kind = TS_GRAPH_OP,
		.type = (uint8_t)op->type,
	};
	at = add_node(builder, node);
	r = find_stream(builder, op, &stream);
	if (!r)
		r = ts_largearray_grow(&stream->nodes, stream->n, &stream->n_allocated,
				       sizeof(*stream->nodes));
	if (!r)
		r = ts_largearray_grow(&builder->nodes_of_ops, op->number - 1,
				       &builder->n_ops_allocated, sizeof(*builder->nodes_of_ops));
	if (r)
		return r;
	builder->nodes_of_ops[op->number - 1] = at;
	stream->nodes[stream->n++] = at;
	builder->graph->n_unsure += op->unsure != 0;
	ts_doubts_add(&builder->graph->doubts, op);
	r = add_dependencies(builder, op);
	if (!r)
		r = add_launch(builder, op);
	if (!r)
		r = add_engine(builder, op, stream, at);
	return r ? r : add_blocking_copy(builder, op, at);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int take_item(void *data, void *at)
{
	const struct ts_state_item *item = at;
	struct builder *builder = data;
	int r = add_returns(builder, item->start_ns);

	if (r)
		return r;
	if (item->type == TS_ROW_API)
		return feed_call(builder, item->session, &item->api);
	if (item->type == TS_ROW_SYNC)
		return feed_sync(builder, item->session, &item->sync);
	return item->has_op ? take_op(builder, &item->op) : 0;
}

static bool is_wanted(const struct ts_graph_options *options, const struct ts_sbt_block *block)
{
	return (!options->session || block->session == options->session) &&
	       block->latest_ns >= options->from_ns &&
	       (!options->to_ns || block->earliest_ns <= options->to_ns);
}

/*
 * Allocates room for the number of rows that the blocks announce, because moving a growing array
 * costs time. A failure does not matter.
 */
static void reserve(struct builder *builder, struct ts_sbt_reader *reader)
{
	struct ts_graph *graph = builder->graph;
	size_t n_rows[TS_ROW_COUNT] = {0}, n_ops, n_returns, n_nodes;

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		if (block->type < TS_ROW_COUNT && is_wanted(builder->options, block))
			n_rows[block->type] += block->n_rows;
	}
	n_ops = n_rows[TS_ROW_KERNEL] + n_rows[TS_ROW_MEMCPY] + n_rows[TS_ROW_MEMSET];
	n_returns = n_rows[TS_ROW_SYNC] + n_rows[TS_ROW_MEMCPY];
	n_nodes = n_rows[TS_ROW_API] + n_ops + n_returns;
	if (!n_nodes || n_nodes > builder->max_nodes)
		return;
	(void)ts_largearray_resize(&graph->nodes, n_nodes, &builder->n_nodes_allocated,
				   sizeof(*graph->nodes));
	/*
	 * Edges: one per call for the order of its thread; per operation its launch, its
	 * predecessor, and one engine or event.
	 */
	(void)ts_largearray_resize(&graph->edges, n_nodes + 2 * n_ops + n_returns,
				   &builder->n_edges_allocated, sizeof(*graph->edges));
	(void)ts_largearray_resize(&builder->nodes_of_ops, n_ops, &builder->n_ops_allocated,
				   sizeof(*builder->nodes_of_ops));
	(void)ts_largearray_resize(&builder->nodes_of_calls, n_rows[TS_ROW_API],
				   &builder->n_calls_allocated, sizeof(*builder->nodes_of_calls));
}

static int read_rows(struct builder *builder, struct ts_sbt_reader *reader)
{
	const struct ts_sbt_cursor_options options = {
		.types = TS_STATE_MACHINE_ROWS | TS_ROW_BIT(TS_ROW_SYNC),
		.session = builder->options->session,
		.from_ns = builder->options->from_ns,
		.to_ns = builder->options->to_ns,
	};
	const struct ts_relay_pass passes[] = {{ts_state_machine_order, builder->machine, true},
					       {take_item, builder, false}};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	ts_cleanup(ts_relay_freep) struct ts_relay *relay = NULL;
	bool is_damaged = false;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader, &options, &cursor), error;

	r = r ? r : ts_relay_new(sizeof(struct ts_state_item), passes, 2, &relay);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			is_damaged = true;
			r = 0;
			continue;
		}
		if (!r)
			r = ts_state_machine_join(builder->machine, &row, ts_relay_item(relay));
		if (!r || r == 1)
			r = ts_relay_put(relay);
	}
	error = relay ? ts_relay_end(relay) : 0;
	builder->graph->is_damaged = is_damaged;
	return error ? error : r == TS_SBT_E_END ? 0 : r;
}

int ts_graph_read(struct ts_sbt_reader *reader, const struct ts_graph_options *options,
		  struct ts_graph **ret_graph)
{
	ts_cleanup(ts_graph_freep) struct ts_graph *graph = calloc(1, sizeof(*graph));
	ts_cleanup(builder_deinit) struct builder builder = {
		.graph = graph,
		.options = options,
		.max_nodes = options->max_nodes ? options->max_nodes : TS_GRAPH_MAX_NODES};
	int r = graph ? ts_state_machine_new(&builder.machine) : -ENOMEM;

	if (!r)
		r = ts_state_machine_prepare(builder.machine, reader, options->session);
	if (!r) {
		reserve(&builder, reader);
		r = read_rows(&builder, reader);
	}
	if (!r)
		r = add_returns(&builder, UINT64_MAX);
	if (!r)
		r = ts_graph_solve(graph, !builder.is_unordered);
	if (r)
		return r;
	graph->is_modelled = ts_clocks_are_modelled(reader, options->session);
	ts_doubts_finish(&graph->doubts, builder.machine);
	if (options->from_ns || options->to_ns)
		ts_doubts_cut(&graph->doubts);
	*ret_graph = graph;
	graph = NULL;
	return 0;
}
