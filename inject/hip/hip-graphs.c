/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows kernel nodes of HIP's graphs. hip-calls.c reports calls and launches, hip-rows.c asks for
 * a kernel's grid. It calls hip-code.c for functions, hip-arguments.c for captured launches.
 *
 * Graphs, executable graphs and running stream captures are lists of nodes. The handles of some
 * nodes are unknown: those of captures, clones, child graphs. If a call changes a node by an
 * unknown handle, all graphs with such nodes become incomplete: their rows have no grid.
 *
 * A launch needs no lock: it keeps a number, {first, n}, of the graph's summary. The summary is a
 * part of a ring that later graphs overwrite; each entry has its number, so a reader notices.
 */
#include "inject/hip/hip-graphs.h"

#include "inject/calls/call-record.h"
#include "inject/calls/call-table.h"
#include "inject/context.h"
#include "inject/hip/hip-arguments.h"
#include "inject/ring/unlocked.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_calls.h"
#include "proto/abi/vendor/hip_params.h"

/* A summary's number: first entry above, number of entries below, and a bit that is always set. */
#define SUMMARY_COUNT_BITS 16
#define SUMMARY_IS_KNOWN   (UINT64_C(1) << 63)

struct ts_hip_node {
	uint64_t handle; /* 0: unknown */
	uint32_t next;	 /* of the graph, or of the free ones */
	uint32_t graph;
	struct ts_hip_node_kernel kernel;
};

struct ts_hip_graph {
	uint64_t handle; /* 0: a capture that is running, or free */
	uint32_t first, next_free;
	bool is_incomplete;
	bool has_unknown; /* nodes of unknown handles */
};

#define KERNEL_WORDS (sizeof(struct ts_hip_node_kernel) / 8)

TS_STATIC_ASSERT(sizeof(struct ts_hip_node_kernel) % 8 == 0, "stored word by word");

/* ts_hip_summary.different */
#define SIZES_DIFFER (1u << 0)
#define CODES_DIFFER (1u << 1)
#define IS_REPEATED  (1u << 2)

struct ts_hip_summary {
	uint64_t number;    /* of this entry, from 1; 0: being written */
	uint64_t different; /* parts in which nodes of this kernel differ */
	uint64_t words[KERNEL_WORDS];
};

static bool map(struct ts_hip_graphs *graphs)
{
	if (graphs->summaries)
		return true;
	if (!graphs->nodes)
		graphs->nodes = ts_unlocked_map((TS_HIP_MAX_NODES + 1) * sizeof(*graphs->nodes));
	if (!graphs->graphs)
		graphs->graphs = ts_unlocked_map((TS_HIP_MAX_GRAPHS + 1) * sizeof(*graphs->graphs));
	if (!graphs->nodes || !graphs->graphs ||
	    !ts_hip_objects_init(&graphs->objects, TS_HIP_GRAPH_SLOTS) ||
	    !ts_hip_objects_init(&graphs->launches, TS_HIP_GRAPH_SLOTS))
		return false;
	graphs->summaries = ts_unlocked_map(TS_HIP_SUMMARY_SLOTS * sizeof(*graphs->summaries));
	return graphs->summaries;
}

/* ---- lists of nodes; the caller holds the lock ---- */

static struct ts_hip_graph *graph_of(struct ts_hip_graphs *graphs, const void *handle)
{
	const uint64_t number = ts_hip_objects_get(&graphs->objects, ts_hip_key(handle));

	/* The address may have been a node's. */
	if (!number || number > graphs->n_graphs ||
	    graphs->graphs[number].handle != ts_hip_key(handle))
		return NULL;
	return &graphs->graphs[number];
}

static struct ts_hip_node *node_of(struct ts_hip_graphs *graphs, const void *handle)
{
	const uint64_t number = ts_hip_objects_get(&graphs->objects, ts_hip_key(handle));

	if (!number || number > graphs->n_nodes ||
	    graphs->nodes[number].handle != ts_hip_key(handle) ||
	    !graphs->nodes[number].kernel.name)
		return NULL;
	return &graphs->nodes[number];
}

static void clear(struct ts_hip_graphs *graphs, struct ts_hip_graph *graph)
{
	uint32_t next;

	for (uint32_t i = graph->first; i; i = next) {
		next = graphs->nodes[i].next;
		graphs->nodes[i] = (struct ts_hip_node){.next = graphs->free_node};
		graphs->free_node = i;
	}
	graph->first = 0;
	graph->is_incomplete = graph->has_unknown = false;
}

/* Returns an empty graph. NULL: too many. A NULL handle is a running capture. */
static struct ts_hip_graph *add_graph(struct ts_hip_graphs *graphs, const void *handle)
{
	struct ts_hip_graph *graph = handle ? graph_of(graphs, handle) : NULL;
	uint32_t number = graphs->free_graph;

	if (graph) {
		/* Its end was not seen. */
		clear(graphs, graph);
		return graph;
	}
	if (number)
		graphs->free_graph = graphs->graphs[number].next_free;
	else if (graphs->n_graphs < TS_HIP_MAX_GRAPHS)
		number = ++graphs->n_graphs;
	else
		return NULL;
	graph = &graphs->graphs[number];
	*graph = (struct ts_hip_graph){.handle = ts_hip_key(handle)};
	if (handle && !ts_hip_objects_put(&graphs->objects, graph->handle, number))
		graph->is_incomplete = true;
	return graph;
}

static void remove_graph(struct ts_hip_graphs *graphs, struct ts_hip_graph *graph)
{
	const uint32_t number = (uint32_t)(graph - graphs->graphs);

	clear(graphs, graph);
	if (graph->handle)
		(void)ts_hip_objects_put(&graphs->objects, graph->handle, 0);
	*graph = (struct ts_hip_graph){.next_free = graphs->free_graph};
	graphs->free_graph = number;
}

static void add_node(struct ts_hip_graphs *graphs, struct ts_hip_graph *graph, const void *handle,
		     const struct ts_hip_node_kernel *kernel)
{
	uint32_t number = graphs->free_node;

	/* A function whose name is unknown may be any kernel. */
	if (!kernel->name) {
		graph->is_incomplete = true;
		return;
	}
	if (number) {
		graphs->free_node = graphs->nodes[number].next;
	} else if (graphs->n_nodes < TS_HIP_MAX_NODES) {
		number = ++graphs->n_nodes;
	} else {
		graph->is_incomplete = true;
		return;
	}
	graphs->nodes[number] = (struct ts_hip_node){
		.handle = ts_hip_key(handle),
		.next = graph->first,
		.graph = (uint32_t)(graph - graphs->graphs),
		.kernel = *kernel,
	};
	graphs->nodes[number].kernel.id = ++graphs->n_ids;
	graph->first = number;
	if (!handle || !ts_hip_objects_put(&graphs->objects, ts_hip_key(handle), number))
		graph->has_unknown = true;
}

/*
 * Adds copies of all nodes. keep_handles: calls will name the copies by the originals' handles, and
 * the copies have the originals' ids.
 */
static void copy_nodes(struct ts_hip_graphs *graphs, struct ts_hip_graph *to,
		       const struct ts_hip_graph *from, bool keep_handles)
{
	uint32_t next;

	if (!from) {
		to->is_incomplete = true;
		return;
	}
	for (uint32_t i = from->first; i; i = next) {
		const struct ts_hip_node node = graphs->nodes[i];

		next = node.next;
		add_node(graphs, to, NULL, &node.kernel);
		/* The table of handles keeps the original. */
		if (keep_handles && to->first) {
			graphs->nodes[to->first].handle = node.handle;
			graphs->nodes[to->first].kernel.id = node.kernel.id;
		}
	}
	to->is_incomplete |= from->is_incomplete;
	/* Executable graphs do not change with their nodes' graphs. */
	to->has_unknown = !keep_handles && (to->has_unknown || from->has_unknown);
}

static void remove_node(struct ts_hip_graphs *graphs, struct ts_hip_node *node)
{
	const uint32_t number = (uint32_t)(node - graphs->nodes);
	uint32_t *link = &graphs->graphs[node->graph].first;

	while (*link && *link != number)
		link = &graphs->nodes[*link].next;
	if (*link)
		*link = node->next;
	(void)ts_hip_objects_put(&graphs->objects, node->handle, 0);
	*node = (struct ts_hip_node){.next = graphs->free_node};
	graphs->free_node = number;
}

/* A node of an unknown handle was changed. */
static void change_unknown(struct ts_hip_graphs *graphs)
{
	for (uint32_t i = 1; i <= graphs->n_graphs; i++)
		graphs->graphs[i].is_incomplete |= graphs->graphs[i].has_unknown;
}

/* ---- summaries ---- */

/* An executable graph was changed: its next launch makes a summary. */
static void forget_summary(struct ts_hip_graphs *graphs, const void *exec)
{
	(void)ts_hip_objects_put(&graphs->launches, ts_hip_key(exec), 0);
}

/* Compares two nodes of a kernel. */
static uint64_t difference(const struct ts_hip_node_kernel *a, const struct ts_hip_node_kernel *b)
{
	const bool same_sizes = !memcmp(a->grid, b->grid, sizeof(a->grid)) &&
				!memcmp(a->block, b->block, sizeof(a->block)) &&
				a->dynamic_shared_bytes == b->dynamic_shared_bytes;

	return IS_REPEATED | (same_sizes ? 0 : SIZES_DIFFER) |
	       (a->code == b->code ? 0 : CODES_DIFFER);
}

static struct ts_hip_summary *entry_at(const struct ts_hip_graphs *graphs, uint64_t number)
{
	return &graphs->summaries[number % TS_HIP_SUMMARY_SLOTS];
}

static void write_entry(struct ts_hip_graphs *graphs, uint64_t number,
			const struct ts_hip_node_kernel *kernel)
{
	struct ts_hip_summary *entry = entry_at(graphs, number);
	uint64_t words[KERNEL_WORDS];

	memcpy(words, kernel, sizeof(words));
	__atomic_store_n(&entry->number, 0, __ATOMIC_RELAXED);
	/* Release, paired with the acquire of a reader: it then sees that number. */
	for (size_t i = 0; i < KERNEL_WORDS; i++)
		__atomic_store_n(&entry->words[i], words[i], __ATOMIC_RELEASE);
	__atomic_store_n(&entry->different, 0, __ATOMIC_RELEASE);
	/* Pairs with the acquire in read_entry(). */
	__atomic_store_n(&entry->number, number, __ATOMIC_RELEASE);
}

/* Copies an entry. Returns false if a later summary has taken its place. */
static bool read_entry(const struct ts_hip_graphs *graphs, uint64_t number,
		       struct ts_hip_node_kernel *ret, uint64_t *ret_different)
{
	const struct ts_hip_summary *entry = entry_at(graphs, number);
	uint64_t words[KERNEL_WORDS];

	if (__atomic_load_n(&entry->number, __ATOMIC_ACQUIRE) != number)
		return false;
	/* Acquire, paired with the release of a writer. */
	for (size_t i = 0; i < KERNEL_WORDS; i++)
		words[i] = __atomic_load_n(&entry->words[i], __ATOMIC_ACQUIRE);
	*ret_different = __atomic_load_n(&entry->different, __ATOMIC_ACQUIRE);
	memcpy(ret, words, sizeof(*ret));
	return __atomic_load_n(&entry->number, __ATOMIC_RELAXED) == number;
}

/* Lists the different kernels of an executable graph. */
static uint64_t summarize(struct ts_hip_graphs *graphs, const struct ts_hip_graph *graph)
{
	const uint64_t first = graphs->n_summaries + 1;
	struct ts_hip_node_kernel other;
	uint64_t n = 0, at, different;

	if (!graph || graph->is_incomplete)
		return SUMMARY_IS_KNOWN;
	for (uint32_t i = graph->first; i; i = graphs->nodes[i].next) {
		const struct ts_hip_node_kernel *kernel = &graphs->nodes[i].kernel;

		for (at = 0; at < n; at++)
			if (read_entry(graphs, first + at, &other, &different) &&
			    other.name == kernel->name)
				break;
		if (at == TS_HIP_SUMMARY_MAX)
			return SUMMARY_IS_KNOWN;
		if (at == n)
			write_entry(graphs, first + n++, kernel);
		else
			__atomic_fetch_or(&entry_at(graphs, first + at)->different,
					  difference(&other, kernel), __ATOMIC_RELAXED);
	}
	graphs->n_summaries += n;
	return SUMMARY_IS_KNOWN | first << SUMMARY_COUNT_BITS | n;
}

/* True if a summary is known, and later summaries have not taken its place. */
static bool is_whole(const struct ts_hip_graphs *graphs, uint64_t summary)
{
	const uint64_t first = (summary & ~SUMMARY_IS_KNOWN) >> SUMMARY_COUNT_BITS;

	if (!summary || !(summary & ((1u << SUMMARY_COUNT_BITS) - 1)))
		return summary;
	return __atomic_load_n(&entry_at(graphs, first)->number, __ATOMIC_RELAXED) == first;
}

uint64_t ts_hip_graph_launched(struct ts_hip_graphs *graphs, const void *exec)
{
	uint64_t summary = ts_hip_objects_get(&graphs->launches, ts_hip_key(exec));

	if (is_whole(graphs, summary))
		return summary;
	pthread_mutex_lock(&graphs->lock);
	if (map(graphs)) {
		summary = summarize(graphs, graph_of(graphs, exec));
		(void)ts_hip_objects_put(&graphs->launches, ts_hip_key(exec), summary);
	}
	pthread_mutex_unlock(&graphs->lock);
	return summary;
}

bool ts_hip_graph_kernel(const struct ts_hip_graphs *graphs, uint64_t launched, uint64_t name,
			 struct ts_hip_node_kernel *ret)
{
	const uint64_t first = (launched & ~SUMMARY_IS_KNOWN) >> SUMMARY_COUNT_BITS;
	const uint64_t n = launched & ((1u << SUMMARY_COUNT_BITS) - 1);
	struct ts_hip_node_kernel kernel;
	uint64_t different;

	for (uint64_t number = first; number < first + n; number++) {
		if (!read_entry(graphs, number, &kernel, &different))
			return false;
		if (kernel.name != name)
			continue;
		if (different & CODES_DIFFER)
			kernel.code = 0;
		if (different & IS_REPEATED)
			kernel.id = 0;
		if (different & SIZES_DIFFER)
			kernel = (struct ts_hip_node_kernel){.name = name, .code = kernel.code};
		*ret = kernel;
		return true;
	}
	return false;
}

/* ---- stream captures; the caller holds the lock ---- */

static uint32_t captured_by(const struct ts_hip_graphs *graphs, uint64_t key)
{
	for (size_t i = 0; key && i < TS_HIP_MAX_CAPTURED; i++)
		if (graphs->captured[i].graph && graphs->captured[i].key == key)
			return graphs->captured[i].graph;
	return 0;
}

static void join_capture(struct ts_hip_graphs *graphs, uint32_t graph, uint64_t key)
{
	size_t place = TS_HIP_MAX_CAPTURED;

	for (size_t i = 0; i < TS_HIP_MAX_CAPTURED; i++) {
		if (graphs->captured[i].graph && graphs->captured[i].key == key)
			place = i;
		else if (!graphs->captured[i].graph && place == TS_HIP_MAX_CAPTURED)
			place = i;
	}
	if (place == TS_HIP_MAX_CAPTURED)
		graphs->graphs[graph].is_incomplete = true;
	else
		graphs->captured[place] = (struct ts_hip_captured){key, graph};
}

static void begin_capture(struct ts_hip_graphs *graphs, uint64_t stream, bool into_graph)
{
	struct ts_hip_graph *graph = add_graph(graphs, NULL);

	if (!graph)
		return;
	graph->is_incomplete = into_graph;
	join_capture(graphs, (uint32_t)(graph - graphs->graphs), stream);
}

static void end_capture(struct ts_hip_graphs *graphs, uint64_t stream, const void *handle)
{
	const uint32_t number = captured_by(graphs, stream);
	struct ts_hip_graph *graph = handle ? add_graph(graphs, handle) : NULL;

	if (graph)
		copy_nodes(graphs, graph, number ? &graphs->graphs[number] : NULL, false);
	if (!number)
		return;
	remove_graph(graphs, &graphs->graphs[number]);
	for (size_t i = 0; i < TS_HIP_MAX_CAPTURED; i++)
		if (graphs->captured[i].graph == number)
			graphs->captured[i].graph = 0;
}

/* Follows an operation in a stream that may be captured. */
static void follow_stream_op(struct ts_hip_graphs *graphs, uint32_t call, const void *params)
{
	const struct ts_stream_op op = ts_call_table_stream_op(TS_API_HIP, call, params);
	const uint64_t stream = ts_call_stream_key(op.stream, op.per_thread);
	const uint32_t by_stream = captured_by(graphs, stream);
	/* Events and streams have different addresses. */
	const uint32_t by_event = captured_by(graphs, ts_hip_key(op.object));

	if (op.kind == TS_STREAM_OP_EVENT && by_stream)
		join_capture(graphs, by_stream, ts_hip_key(op.object));
	else if (op.kind == TS_STREAM_OP_WAIT && by_event && !by_stream)
		join_capture(graphs, by_event, stream);
	else if (op.kind == TS_STREAM_OP_GRAPH && by_stream)
		copy_nodes(graphs, &graphs->graphs[by_stream], graph_of(graphs, op.object), false);
}

static void kernel_of(const void *function, struct ts_hip_node_kernel *ret)
{
	ret->name = ts_hip_code_name_of(&ts_loaded.hip.codes, function);
	ret->code = ts_hip_code_of(&ts_loaded.hip.codes, function);
}

static void follow_launch(struct ts_hip_graphs *graphs, uint32_t call, const void *params)
{
	const struct ts_hip_stream stream = ts_hip_stream_of(call, params);
	const uint32_t graph =
		captured_by(graphs, ts_call_stream_key(stream.handle, stream.per_thread));
	struct ts_hip_node_kernel kernel = {0};
	struct ts_hip_work work = {0};

	if (!graph)
		return;
	ts_hip_launch_of(call, params, &work);
	memcpy(kernel.grid, work.grid, sizeof(kernel.grid));
	memcpy(kernel.block, work.block, sizeof(kernel.block));
	kernel.dynamic_shared_bytes = work.dynamic_shared_bytes;
	kernel_of(ts_hip_function_of(call, params), &kernel);
	add_node(graphs, &graphs->graphs[graph], NULL, &kernel);
}

/* ---- calls that build graphs; the caller holds the lock ---- */

static void read_params(const struct ts_hip_kernel_node_params *params,
			struct ts_hip_node_kernel *ret)
{
	*ret = (struct ts_hip_node_kernel){
		.grid = {params->grid_dim.x, params->grid_dim.y, params->grid_dim.z},
		.block = {params->block_dim.x, params->block_dim.y, params->block_dim.z},
		.dynamic_shared_bytes = params->shared_mem_bytes,
	};
	kernel_of(params->func, ret);
}

static const void *stored(void *const *place)
{
	return place ? *place : NULL;
}

static void follow_add(struct ts_hip_graphs *graphs, const struct hipGraphAddKernelNode_params *p)
{
	struct ts_hip_graph *graph = graph_of(graphs, p->graph);
	struct ts_hip_node_kernel kernel;

	if (!graph || !p->node_params)
		return;
	read_params(p->node_params, &kernel);
	add_node(graphs, graph, stored(p->graph_node), &kernel);
}

/* The node stays the same. */
static void change_kernel(struct ts_hip_node *node, const struct ts_hip_node_kernel *kernel)
{
	const uint64_t id = node->kernel.id;

	node->kernel = *kernel;
	node->kernel.id = id;
}

static void follow_set(struct ts_hip_graphs *graphs,
		       const struct hipGraphKernelNodeSetParams_params *p)
{
	struct ts_hip_node *node = node_of(graphs, p->node);
	struct ts_hip_node_kernel kernel;

	if (!p->node_params)
		return;
	read_params(p->node_params, &kernel);
	if (node && kernel.name)
		change_kernel(node, &kernel);
	else if (node)
		graphs->graphs[node->graph].is_incomplete = true;
	else
		change_unknown(graphs);
}

static void follow_exec_set(struct ts_hip_graphs *graphs,
			    const struct hipGraphExecKernelNodeSetParams_params *p)
{
	struct ts_hip_graph *exec = graph_of(graphs, p->graph_exec);
	struct ts_hip_node_kernel kernel;
	uint32_t i;

	if (!exec || !p->node_params)
		return;
	forget_summary(graphs, p->graph_exec);
	read_params(p->node_params, &kernel);
	for (i = exec->first; i; i = graphs->nodes[i].next)
		if (graphs->nodes[i].handle == ts_hip_key(p->node))
			break;
	if (i && kernel.name)
		change_kernel(&graphs->nodes[i], &kernel);
	else
		exec->is_incomplete = true;
}

static void instantiate(struct ts_hip_graphs *graphs, const void *exec, const void *from)
{
	struct ts_hip_graph *to = exec ? add_graph(graphs, exec) : NULL;

	if (!to)
		return;
	forget_summary(graphs, exec);
	copy_nodes(graphs, to, graph_of(graphs, from), true);
}

static void destroy(struct ts_hip_graphs *graphs, const void *handle)
{
	struct ts_hip_graph *graph = graph_of(graphs, handle);

	forget_summary(graphs, handle);
	if (graph)
		remove_graph(graphs, graph);
}

static void add_from(struct ts_hip_graphs *graphs, const void *to, const void *from)
{
	struct ts_hip_graph *graph = graph_of(graphs, to);

	if (graph)
		copy_nodes(graphs, graph, graph_of(graphs, from), false);
}

static void make_incomplete(struct ts_hip_graphs *graphs, const void *handle)
{
	struct ts_hip_graph *graph = graph_of(graphs, handle);

	forget_summary(graphs, handle);
	if (graph)
		graph->is_incomplete = true;
}

static void follow_capture(struct ts_hip_graphs *graphs, uint32_t call, const void *params)
{
	const int change = ts_call_table_stream_capture(TS_API_HIP, call);
	bool per_thread;
	void *stream;
	uint64_t key;

	if (!change)
		return;
	stream = ts_call_table_captured_stream(TS_API_HIP, call, params, &per_thread);
	key = ts_call_stream_key(stream, per_thread);
	if (change > 0)
		begin_capture(graphs, key, call == TS_HIP_CALL_hipStreamBeginCaptureToGraph);
	else
		end_capture(graphs, key,
			    stored(((const struct hipStreamEndCapture_params *)params)->graph));
}

static void follow_graph(struct ts_hip_graphs *graphs, uint32_t call, const void *params)
{
	const struct hipGraphInstantiate_params *instantiation = params;
	const struct hipGraphAddChildGraphNode_params *child = params;
	const struct hipGraphClone_params *clone = params;
	const struct hipGraphExecUpdate_params *update = params;

	switch (call) {
	case TS_HIP_CALL_hipGraphCreate:
		(void)add_graph(graphs,
				stored(((const struct hipGraphCreate_params *)params)->graph));
		break;
	case TS_HIP_CALL_hipGraphAddKernelNode:
		follow_add(graphs, params);
		break;
	case TS_HIP_CALL_hipGraphKernelNodeSetParams:
		follow_set(graphs, params);
		break;
	case TS_HIP_CALL_hipGraphExecKernelNodeSetParams:
		follow_exec_set(graphs, params);
		break;
	/* The first two arguments of these calls are alike. */
	case TS_HIP_CALL_hipGraphInstantiate:
	case TS_HIP_CALL_hipGraphInstantiateWithFlags:
	case TS_HIP_CALL_hipGraphInstantiateWithParams:
		instantiate(graphs, stored(instantiation->graph_exec), instantiation->graph);
		break;
	case TS_HIP_CALL_hipGraphExecUpdate:
		instantiate(graphs, update->graph_exec, update->graph);
		break;
	case TS_HIP_CALL_hipGraphAddChildGraphNode:
		add_from(graphs, child->graph, child->child_graph);
		break;
	case TS_HIP_CALL_hipGraphClone:
		if (add_graph(graphs, stored(clone->graph_clone)))
			add_from(graphs, stored(clone->graph_clone), clone->original_graph);
		break;
	case TS_HIP_CALL_hipGraphAddNode:
		make_incomplete(graphs, ((const struct hipGraphAddNode_params *)params)->graph);
		break;
	case TS_HIP_CALL_hipGraphExecChildGraphNodeSetParams:
		make_incomplete(graphs, update->graph_exec);
		break;
	case TS_HIP_CALL_hipGraphDestroyNode: {
		const struct hipGraphDestroyNode_params *p = params;
		struct ts_hip_node *node = node_of(graphs, p->node);

		if (node)
			remove_node(graphs, node);
		else
			change_unknown(graphs);
		break;
	}
	case TS_HIP_CALL_hipGraphDestroy:
		destroy(graphs, ((const struct hipGraphDestroy_params *)params)->graph);
		break;
	case TS_HIP_CALL_hipGraphExecDestroy:
		destroy(graphs, ((const struct hipGraphExecDestroy_params *)params)->graph_exec);
		break;
	default:
		follow_capture(graphs, call, params);
		break;
	}
}

void ts_hip_graph_follow(struct ts_shim *shim, uint32_t call, const void *params)
{
	struct ts_hip_graphs *graphs = &shim->hip.graphs;
	const unsigned kind = ts_call_table_class(TS_API_HIP, call);

	/* Work outside of stream captures takes no lock. */
	if (kind != TS_CUPTI_CLASS_GRAPH &&
	    !__atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED))
		return;
	pthread_mutex_lock(&graphs->lock);
	if (map(graphs)) {
		if (kind == TS_CUPTI_CLASS_GRAPH)
			follow_graph(graphs, call, params);
		else if (kind == TS_CUPTI_CLASS_LAUNCH)
			follow_launch(graphs, call, params);
		else
			follow_stream_op(graphs, call, params);
	}
	pthread_mutex_unlock(&graphs->lock);
}

void ts_hip_graph_abandon(struct ts_shim *shim, uint64_t stream)
{
	struct ts_hip_graphs *graphs = &shim->hip.graphs;

	pthread_mutex_lock(&graphs->lock);
	if (map(graphs))
		end_capture(graphs, stream, NULL);
	pthread_mutex_unlock(&graphs->lock);
}
