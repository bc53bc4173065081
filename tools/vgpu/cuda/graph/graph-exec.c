/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executable graphs. An executable graph owns a copy of its graph and a plan. The plan contains the
 * nodes of the graph and of its child graphs in an order where each follows its dependencies,
 * placed on lanes:
 *
 *     lane 0 (launching stream)  begin --> A --> B ------> D --> end
 *                                     \              ^        ^
 *     lane 1 (own stream)              '--> C -------'        |
 *     lane 2 (own stream)              '--> E ----------------'
 *
 * Lane 0 is the launching stream. Nodes that can run beside it use a stream of the graph. Each such
 * stream waits for the launch's beginning, and the launching stream waits for the end of each such
 * stream. If a predecessor is the last node on its lane, a node uses that lane, so that a chain
 * needs no events.
 *
 * Programs call this file through the functions of generated-cuda-graph-exec.h; this file calls
 * graph-node.c to run work.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"
#include "tools/vgpu/cuda/graph/graph.h"

/* Beyond this number, nodes that could run in parallel run in sequence. */
#define MAX_LANES 16u
#define NO_STEP	  UINT32_MAX

struct step {
	struct graph_node *node; /* NULL: beginning or end of a child graph */
	uint32_t lane;
	uint32_t *waits; /* steps on other lanes */
	size_t n_waits;
	struct ts_vgpu_event *event; /* NULL: no step on another lane waits for this one */
	uint32_t *deps;
	size_t n_deps;
};

struct lane {
	struct context *context;
	struct ts_vgpu_stream *vstream; /* NULL: the launching stream */
	struct ts_vgpu_event *end;
	uint32_t last;
	bool begun; /* in the current launch */
};

struct plan {
	struct context *context; /* context of the launching stream */
	struct step *steps;
	size_t n_steps, capacity;
	struct lane lanes[MAX_LANES];
	size_t n_lanes;
	struct ts_vgpu_event *begin;
};

static struct graph_exec *execs; /* under graph_lock */

int exec_get(void *handle, struct graph_exec **ret_exec)
{
	int r = check_ready();

	if (r)
		return r;
	if (!handle_is(handle, HANDLE_GRAPH_EXEC))
		return TS_CU_ERROR_INVALID_VALUE;
	*ret_exec = handle;
	return 0;
}

static void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->n_steps; i++) {
		ts_vgpu_event_free(plan->steps[i].event);
		free(plan->steps[i].deps);
		free(plan->steps[i].waits);
	}
	for (size_t i = 0; i < plan->n_lanes; i++) {
		ts_vgpu_event_free(plan->lanes[i].end);
		ts_vgpu_stream_free(plan->lanes[i].vstream);
	}
	ts_vgpu_event_free(plan->begin);
	free(plan->steps);
	free(plan);
}

static int step_add(struct plan *plan, struct graph_node *node, size_t max_deps, uint32_t *ret_step)
{
	struct step *step;

	if (TS_GROW(plan->steps, plan->capacity, plan->n_steps + 1))
		return TS_CU_ERROR_OUT_OF_MEMORY;
	step = &plan->steps[plan->n_steps];
	*step = (struct step){.node = node};
	step->deps = calloc(max_deps + 1, sizeof(*step->deps));
	step->waits = calloc(max_deps + 1, sizeof(*step->waits));
	*ret_step = (uint32_t)plan->n_steps++;
	return step->deps && step->waits ? 0 : TS_CU_ERROR_OUT_OF_MEMORY;
}

static void step_dep(struct plan *plan, uint32_t step, uint32_t dep)
{
	if (dep != NO_STEP)
		plan->steps[step].deps[plan->steps[step].n_deps++] = dep;
}

static int lay_out_locked(struct plan *plan, struct graph *graph, uint32_t entry);

/*
 * Adds a child graph to the plan: the child's nodes after the step `entry`, and an end step that
 * depends on all of them.
 */
static int lay_out_child_locked(struct plan *plan, struct graph *child, uint32_t entry,
				uint32_t *ret_last)
{
	uint32_t last;
	int r = lay_out_locked(plan, child, entry);

	if (!r)
		r = step_add(plan, NULL, child->n_nodes + 1, &last);
	if (r)
		return r;
	step_dep(plan, last, entry);
	for (struct graph_node *node = child->nodes; node; node = node->next)
		if (!node->dependents.n)
			step_dep(plan, last, node->visit);
	*ret_last = last;
	return 0;
}

/* Adds the nodes of a graph to the plan. Stores the last step of each node in its field `visit`. */
static int lay_out_locked(struct plan *plan, struct graph *graph, uint32_t entry)
{
	struct graph_node **order;
	size_t n = graph->n_nodes;
	int r = graph_order_locked(graph, &order);

	if (r)
		return r;
	for (size_t i = 0; !r && i < n; i++) {
		struct graph_node *node = order[i];
		bool nested = node->work.type == TS_CU_GRAPH_NODE_TYPE_GRAPH && !node->disabled;
		uint32_t step;

		r = step_add(plan, nested ? NULL : node, node->deps.n + 1, &step);
		if (r)
			break;
		for (size_t k = 0; k < node->deps.n; k++)
			step_dep(plan, step, node->deps.at[k]->visit);
		if (!node->deps.n)
			step_dep(plan, step, entry);
		if (nested)
			r = lay_out_child_locked(plan, node->work.child, step, &step);
		node->visit = step;
	}
	free(order);
	return r;
}

static int lane_new(struct plan *plan, struct context *context, uint32_t *ret_lane)
{
	struct lane *lane = &plan->lanes[plan->n_lanes];
	int r;

	*lane = (struct lane){.context = context, .last = NO_STEP};
	r = ts_vgpu_event_new(driver.vgpu, &lane->end);
	if (!r)
		r = ts_vgpu_stream_new(context->vctx, TS_VGPU_STREAM_NON_BLOCKING, 0,
				       &lane->vstream);
	*ret_lane = (uint32_t)plan->n_lanes++;
	return result_of(r);
}

static int choose_lane(struct plan *plan, const struct step *step, struct context *context,
		       uint32_t *ret_lane)
{
	uint32_t oldest = NO_STEP, follow = NO_STEP;

	for (size_t i = 0; i < step->n_deps; i++) {
		uint32_t lane = plan->steps[step->deps[i]].lane;

		if (plan->lanes[lane].last == step->deps[i] &&
		    (!context || plan->lanes[lane].context == context) && lane < follow)
			follow = lane;
	}
	if (follow != NO_STEP) {
		*ret_lane = follow;
		return 0;
	}
	if (!context)
		context = plan->context;
	for (uint32_t i = 0; i < plan->n_lanes; i++) {
		if (plan->lanes[i].context != context)
			continue;
		if (plan->lanes[i].last == NO_STEP) {
			*ret_lane = i;
			return 0;
		}
		if (oldest == NO_STEP || plan->lanes[i].last < plan->lanes[oldest].last)
			oldest = i;
	}
	/* Half of the lanes are reserved for contexts without a lane. */
	if (plan->n_lanes < MAX_LANES && (oldest == NO_STEP || plan->n_lanes < MAX_LANES / 2))
		return lane_new(plan, context, ret_lane);
	*ret_lane = oldest;
	return oldest == NO_STEP ? NOT_SERVED("graphs with nodes of so many contexts",
					      "split the graph by contexts")
				 : 0;
}

static int place_step(struct plan *plan, uint32_t at)
{
	struct step *step = &plan->steps[at];
	struct context *context = step->node ? work_context(&step->node->work) : NULL;
	int r = choose_lane(plan, step, context, &step->lane);

	for (size_t i = 0; !r && i < step->n_deps; i++) {
		struct step *dep = &plan->steps[step->deps[i]];

		if (dep->lane == step->lane)
			continue;
		step->waits[step->n_waits++] = step->deps[i];
		if (!dep->event)
			r = result_of(ts_vgpu_event_new(driver.vgpu, &dep->event));
	}
	plan->lanes[step->lane].last = at;
	return r;
}

static int plan_new(struct graph_exec *exec, struct context *context, struct plan **ret_plan)
{
	struct plan *plan = calloc(1, sizeof(*plan));
	int r;

	if (!plan)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	plan->context = context;
	plan->lanes[0] = (struct lane){.context = context, .last = NO_STEP};
	plan->n_lanes = 1;
	pthread_mutex_lock(&graph_lock);
	r = lay_out_locked(plan, exec->graph, NO_STEP);
	pthread_mutex_unlock(&graph_lock);
	if (!r)
		r = result_of(ts_vgpu_event_new(driver.vgpu, &plan->begin));
	for (uint32_t i = 0; !r && i < plan->n_steps; i++)
		r = place_step(plan, i);
	if (r) {
		plan_free(plan);
		return r;
	}
	*ret_plan = plan;
	return 0;
}

static int plan_for(struct graph_exec *exec, struct context *context)
{
	struct plan *plan;
	int r;

	if (exec->plan && exec->plan->context == context)
		return 0;
	r = plan_new(exec, context, &plan);
	if (r)
		return r;
	plan_free(exec->plan);
	exec->plan = plan;
	return 0;
}

/*
 * Returns the priority of the launching stream, or of the node if the graph was instantiated for
 * it.
 */
static int32_t step_priority(const struct graph_exec *exec, const struct graph_node *node,
			     const struct ts_vgpu_stream *launching)
{
	if (exec->flags & TS_CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY &&
	    node->work.type == TS_CU_GRAPH_NODE_TYPE_KERNEL)
		return node->work.kernel.priority;
	return ts_vgpu_stream_priority(launching);
}

static int run_step(struct graph_exec *exec, struct step *step, struct ts_vgpu_stream *launching)
{
	struct plan *plan = exec->plan;
	struct lane *lane = &plan->lanes[step->lane];
	struct ts_vgpu_stream *vstream = lane->vstream ? lane->vstream : launching;
	int r = 0;

	if (lane->vstream && !lane->begun)
		r = ts_vgpu_stream_wait(vstream, plan->begin, 0);
	lane->begun = true;
	for (size_t i = 0; !r && i < step->n_waits; i++)
		r = ts_vgpu_stream_wait(vstream, plan->steps[step->waits[i]].event, 0);
	r = result_of(r);
	if (!r && step->node && !step->node->disabled) {
		const struct work_place place = {exec->id, step->node->id,
						 step_priority(exec, step->node, launching)};

		r = work_run(&step->node->work, lane->context, vstream, &place);
	}
	if (!r && step->event)
		r = result_of(ts_vgpu_event_record(step->event, vstream, 0));
	return r;
}

static int launch_locked(struct graph_exec *exec, struct context *context,
			 struct ts_vgpu_stream *vstream)
{
	struct plan *plan;
	int r = plan_for(exec, context), joined = 0;

	if (r)
		return r;
	plan = exec->plan;
	/* Launches of one executable graph run in sequence. */
	r = ts_vgpu_stream_wait(vstream, exec->done, 0);
	if (!r && plan->n_lanes > 1)
		r = ts_vgpu_event_record(plan->begin, vstream, 0);
	r = result_of(r);
	for (size_t i = 0; i < plan->n_lanes; i++)
		plan->lanes[i].begun = false;
	for (size_t i = 0; !r && i < plan->n_steps; i++)
		r = run_step(exec, &plan->steps[i], vstream);
	/*
	 * Join the lanes after an error, too: later work of the launching stream must follow all
	 * work that was queued.
	 */
	for (size_t i = 1; !joined && i < plan->n_lanes; i++) {
		if (!plan->lanes[i].begun)
			continue;
		joined = ts_vgpu_event_record(plan->lanes[i].end, plan->lanes[i].vstream, 0);
		if (!joined)
			joined = ts_vgpu_stream_wait(vstream, plan->lanes[i].end, 0);
	}
	if (!joined)
		joined = ts_vgpu_event_record(exec->done, vstream, 0);
	return r ? r : result_of(joined);
}

static int graph_launch(void *graph_exec, void *stream)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *capturing;
	struct graph_exec *exec;
	int r = exec_get(graph_exec, &exec);

	if (!r)
		r = stream_work(stream, &context, &vstream, &capturing);
	if (r)
		return r;
	if (capturing)
		return stream_capture_graph(capturing, exec->graph);
	pthread_mutex_lock(&exec->lock);
	r = launch_locked(exec, context, vstream);
	pthread_mutex_unlock(&exec->lock);
	return r;
}

static int graph_upload(void *graph_exec, void *stream)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct graph_exec *exec;
	int r = exec_get(graph_exec, &exec);

	if (!r)
		r = stream_uncaptured(stream, &context, &vstream);
	if (r)
		return r;
	pthread_mutex_lock(&exec->lock);
	r = plan_for(exec, context);
	pthread_mutex_unlock(&exec->lock);
	return r;
}

static void exec_free(struct graph_exec *exec)
{
	plan_free(exec->plan);
	ts_vgpu_event_free(exec->done);
	pthread_mutex_lock(&graph_lock);
	graph_free_locked(exec->graph);
	if (exec->prev) {
		*exec->prev = exec->next;
		if (exec->next)
			exec->next->prev = exec->prev;
	}
	pthread_mutex_unlock(&graph_lock);
	pthread_mutex_destroy(&exec->lock);
	handle_free(exec, sizeof(*exec));
}

/* Copies the graph and checks that it has no cycle, also in its child graphs. */
static int exec_fill_locked(struct graph_exec *exec, const struct graph *graph)
{
	struct plan probe = {.n_lanes = 0};
	int r;

	exec->graph = graph_new();
	if (!exec->graph)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	exec->graph->executable = true;
	exec->id = exec->graph->id;
	r = graph_copy_locked(graph, exec->graph);
	if (!r)
		r = lay_out_locked(&probe, exec->graph, NO_STEP);
	for (size_t i = 0; i < probe.n_steps; i++) {
		free(probe.steps[i].deps);
		free(probe.steps[i].waits);
	}
	free(probe.steps);
	if (r)
		return r;
	exec->next = execs;
	exec->prev = &execs;
	if (exec->next)
		exec->next->prev = &exec->next;
	execs = exec;
	return 0;
}

static int instantiate(void **graph_exec, void *graph, uint64_t flags)
{
	struct ts_cupti_graph_data graph_data = {.graph = graph};
	struct graph_exec *exec;
	struct graph *g;
	int r = graph_get(graph, &g);

	if (r)
		return r;
	if (!graph_exec || g->executable ||
	    flags & ~(uint64_t)(TS_CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
				TS_CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
				TS_CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
				TS_CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY))
		return TS_CU_ERROR_INVALID_VALUE;
	if (flags & TS_CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
		return NOT_SERVED("graphs that kernels launch", "launch the graph from the host");
	exec = handle_new(HANDLE_GRAPH_EXEC, sizeof(*exec));
	if (!exec)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING, &graph_data);
	exec->flags = flags;
	pthread_mutex_init(&exec->lock, NULL);
	r = result_of(ts_vgpu_event_new(driver.vgpu, &exec->done));
	if (!r) {
		pthread_mutex_lock(&graph_lock);
		r = exec_fill_locked(exec, g);
		pthread_mutex_unlock(&graph_lock);
	}
	if (r) {
		exec_free(exec);
		return r;
	}
	graph_report_copies(exec->graph, g);
	graph_data.graph_exec = exec;
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, &graph_data);
	*graph_exec = exec;
	return 0;
}

static int instantiate_with_flags(void **graph_exec, void *graph, uint64_t flags)
{
	if (flags & TS_CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
		return TS_CU_ERROR_INVALID_VALUE;
	return instantiate(graph_exec, graph, flags);
}

/* The function of CUDA 10 and 11, with a log buffer. */
static int instantiate_with_log(void **graph_exec, void *graph, void **error_node, char *log_buffer,
				size_t buffer_size)
{
	if (error_node)
		*error_node = NULL;
	if (log_buffer && buffer_size)
		log_buffer[0] = 0;
	return instantiate(graph_exec, graph, 0);
}

/* Input and output of cuGraphInstantiateWithParams. */
struct instantiate_params {
	uint64_t flags;
	void *upload_stream;
	void *error_node;
	/*
	 * 0: success; 1: failure, see the result code; 2: a cycle; 3: a node that cannot be
	 * launched in this way
	 */
	int32_t result;
};

static int instantiate_with_params(void **graph_exec, void *graph, void *instantiate_params,
				   bool own)
{
	struct instantiate_params *p = instantiate_params;
	int r;

	if (!p)
		return TS_CU_ERROR_INVALID_VALUE;
	r = instantiate(graph_exec, graph, p->flags);
	if (!r && p->flags & TS_CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
		r = graph_upload(*graph_exec,
				 own ? per_thread(p->upload_stream) : p->upload_stream);
	p->error_node = NULL;
	p->result = r == 0 ? 0 : r == TS_CU_ERROR_INVALID_VALUE ? 2 : 1;
	return r;
}

static int exec_destroy(void *graph_exec)
{
	struct ts_cupti_graph_data graph_data = {.graph_exec = graph_exec};
	struct graph_exec *exec;
	int r = exec_get(graph_exec, &exec);

	if (r)
		return r;
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, &graph_data);
	/* Queued launches own everything that they need. */
	exec_free(exec);
	return 0;
}

static int exec_get_flags(void *graph_exec, uint64_t *flags)
{
	struct graph_exec *exec;
	int r = exec_get(graph_exec, &exec);

	if (r)
		return r;
	if (!flags)
		return TS_CU_ERROR_INVALID_VALUE;
	/* NVIDIA's driver does not return this flag. */
	*flags = exec->flags & ~(uint64_t)TS_CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
	return 0;
}

void graphs_forget_context(const struct context *context)
{
	pthread_mutex_lock(&graph_lock);
	for (struct graph_exec *exec = execs; exec; exec = exec->next) {
		bool uses = false;

		for (size_t i = 0; exec->plan && i < exec->plan->n_lanes; i++)
			uses |= exec->plan->lanes[i].context == context;
		if (!uses)
			continue;
		plan_free(exec->plan);
		exec->plan = NULL;
	}
	pthread_mutex_unlock(&graph_lock);
}

#include "tools/vgpu/generated-cuda-graph-exec.h"
