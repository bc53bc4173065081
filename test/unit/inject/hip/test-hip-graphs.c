/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grids of kernel nodes in graphs: by call, by stream capture over several streams, in child
 * graphs, clones, updates; changes of nodes; and everything after which a grid is unknown.
 */
#include "inject/calls/call-record.h"
#include "inject/context.h"
#include "inject/hip/hip-graphs.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_calls.h"
#include "proto/abi/vendor/hip_params.h"
#include "test/unit/harness.h"

/* Addresses stand for handles of the runtime. */
static char handles[64];
#define GRAPH	 ((void *)&handles[1])
#define EXEC	 ((void *)&handles[2])
#define OTHER	 ((void *)&handles[3])
#define STREAM	 ((void *)&handles[10])
#define STREAM2	 ((void *)&handles[11])
#define EVENT	 ((void *)&handles[12])
#define NODE	 ((void *)&handles[20])
#define NODE2	 ((void *)&handles[21])
#define ADD	 ((void *)&handles[30])
#define MUL	 ((void *)&handles[31])
#define NAMELESS ((void *)&handles[32])

static struct ts_shim *const shim = &ts_shim;

#define CALL(name, ...)                                                  \
	do {                                                             \
		const struct name##_params params_ = {__VA_ARGS__};      \
		ts_hip_graph_follow(shim, TS_HIP_CALL_##name, &params_); \
	} while (0)

/* Functions are known as the program registered them. */
static void begin(void)
{
	struct ts_hip_codes *codes = &ts_loaded.hip.codes;

	ts_hip_code_register(codes, "code", &handles[40]);
	ts_hip_code_add_function(codes, ADD, &handles[40], "add");
	ts_hip_code_add_function(codes, MUL, &handles[40], "mul");
}

static void create(void *graph)
{
	CALL(hipGraphCreate, .graph = &graph);
}

static struct ts_hip_kernel_node_params node_params(void *function, uint32_t blocks)
{
	return (struct ts_hip_kernel_node_params){
		.func = function,
		.grid_dim = {blocks, 2, 1},
		.block_dim = {64, 1, 1},
		.shared_mem_bytes = 16,
	};
}

static void add(void *graph, void *node, void *function, uint32_t blocks)
{
	const struct ts_hip_kernel_node_params params = node_params(function, blocks);

	CALL(hipGraphAddKernelNode, .graph_node = &node, .graph = graph, .node_params = &params);
}

static void instantiate(void *exec, void *graph)
{
	CALL(hipGraphInstantiate, .graph_exec = &exec, .graph = graph);
}

/* Returns the number of blocks of a kernel in the graph's next launch; 0: the kernel is unknown. */
#define DIFFERENT UINT32_MAX
static uint32_t blocks_of(void *exec, const char *name)
{
	struct ts_hip_node_kernel kernel = {0};
	const uint64_t launched = ts_hip_graph_launched(&shim->hip.graphs, exec);

	if (!ts_hip_graph_kernel(&shim->hip.graphs, launched, ts_hip_code_name(name), &kernel))
		return 0;
	ts_check_int(kernel.code, 1);
	if (!kernel.grid[0])
		return DIFFERENT;
	ts_check_int(kernel.grid[1], 2);
	ts_check_int(kernel.block[0], 64);
	ts_check_int(kernel.dynamic_shared_bytes, 16);
	return kernel.grid[0];
}

/* Returns the id of the only node of a kernel in the graph's next launch; 0: none, or several. */
static uint64_t id_of(void *exec, const char *name)
{
	struct ts_hip_node_kernel kernel = {0};
	const uint64_t launched = ts_hip_graph_launched(&shim->hip.graphs, exec);

	(void)ts_hip_graph_kernel(&shim->hip.graphs, launched, ts_hip_code_name(name), &kernel);
	return kernel.id;
}

TS_TEST(ids)
{
	struct ts_hip_kernel_node_params params = node_params(ADD, 7);
	uint64_t id;

	begin();
	create(GRAPH);
	add(GRAPH, NODE, ADD, 3);
	add(GRAPH, NODE2, MUL, 5);
	instantiate(EXEC, GRAPH);
	id = id_of(EXEC, "add");
	ts_check(id);
	ts_check(id_of(EXEC, "mul"));
	ts_check(id_of(EXEC, "mul") != id);
	ts_check_int(id_of(EXEC, "other"), 0);
	/* The second executable graph has the same nodes. */
	instantiate(OTHER, GRAPH);
	ts_check_int(id_of(OTHER, "add"), id);
	/* A change of a node keeps the node. */
	CALL(hipGraphKernelNodeSetParams, .node = NODE, .node_params = &params);
	CALL(hipGraphExecKernelNodeSetParams, .graph_exec = OTHER, .node = NODE,
	     .node_params = &params);
	CALL(hipGraphExecUpdate, .graph_exec = EXEC, .graph = GRAPH);
	ts_check_int(id_of(OTHER, "add"), id);
	ts_check_int(id_of(EXEC, "add"), id);
	ts_check_int(blocks_of(EXEC, "add"), 7);
	/* The runtime's record does not show which of two nodes ran. */
	add(GRAPH, &handles[22], ADD, 7);
	CALL(hipGraphExecUpdate, .graph_exec = EXEC, .graph = GRAPH);
	ts_check_int(id_of(EXEC, "add"), 0);
	ts_check_int(blocks_of(EXEC, "add"), 7);
	ts_check(id_of(EXEC, "mul"));
	/* A child graph is a copy with nodes of its own. */
	CALL(hipGraphDestroyNode, .node = &handles[22]);
	create(&handles[4]);
	CALL(hipGraphAddChildGraphNode, .graph = &handles[4], .child_graph = GRAPH);
	instantiate(EXEC, &handles[4]);
	ts_check(id_of(EXEC, "add"));
	ts_check(id_of(EXEC, "add") != id);
}

TS_TEST(nodes_by_call)
{
	begin();
	create(GRAPH);
	add(GRAPH, NODE, ADD, 3);
	add(GRAPH, NODE2, MUL, 5);
	instantiate(EXEC, GRAPH);
	ts_check_int(blocks_of(EXEC, "add"), 3);
	ts_check_int(blocks_of(EXEC, "mul"), 5);
	ts_check_int(blocks_of(EXEC, "other"), 0);
	/* A launch that is not over keeps its numbers when the graph goes. */
	CALL(hipGraphDestroy, .graph = GRAPH);
	ts_check_int(blocks_of(EXEC, "mul"), 5);
	CALL(hipGraphExecDestroy, .graph_exec = EXEC);
	ts_check_int(blocks_of(EXEC, "mul"), 0);
	ts_check_int(blocks_of(OTHER, "mul"), 0);
}

TS_TEST(changes)
{
	struct ts_hip_kernel_node_params params = node_params(ADD, 7);

	begin();
	create(GRAPH);
	add(GRAPH, NODE, ADD, 3);
	instantiate(EXEC, GRAPH);
	CALL(hipGraphKernelNodeSetParams, .node = NODE, .node_params = &params);
	/* The executable graph has its own nodes. */
	ts_check_int(blocks_of(EXEC, "add"), 3);
	CALL(hipGraphExecUpdate, .graph_exec = EXEC, .graph = GRAPH);
	ts_check_int(blocks_of(EXEC, "add"), 7);
	params = node_params(MUL, 9);
	CALL(hipGraphExecKernelNodeSetParams, .graph_exec = EXEC, .node = NODE,
	     .node_params = &params);
	ts_check_int(blocks_of(EXEC, "mul"), 9);
	ts_check_int(blocks_of(EXEC, "add"), 0);
	CALL(hipGraphDestroyNode, .node = NODE);
	instantiate(OTHER, GRAPH);
	ts_check_int(blocks_of(OTHER, "add"), 0);
	ts_check_int(blocks_of(EXEC, "mul"), 9);
}

TS_TEST(nodes_that_differ)
{
	begin();
	create(GRAPH);
	add(GRAPH, NODE, ADD, 3);
	add(GRAPH, NODE2, ADD, 3);
	instantiate(EXEC, GRAPH);
	ts_check_int(blocks_of(EXEC, "add"), 3);
	add(GRAPH, &handles[22], ADD, 4);
	add(GRAPH, &handles[23], MUL, 6);
	instantiate(OTHER, GRAPH);
	ts_check_int(blocks_of(OTHER, "add"), DIFFERENT);
	ts_check_int(blocks_of(OTHER, "mul"), 6);
	/* A function of an unknown name may be any kernel. */
	add(GRAPH, &handles[24], NAMELESS, 1);
	CALL(hipGraphExecUpdate, .graph_exec = OTHER, .graph = GRAPH);
	ts_check_int(blocks_of(OTHER, "mul"), 0);
}

static void launch(void *function, uint32_t blocks, void *stream)
{
	CALL(hipLaunchKernel, .func = function, .num_blocks = {blocks, 2, 1},
	     .dim_blocks = {64, 1, 1}, .shared_mem_bytes = 16, .stream = stream);
}

static void capture(void)
{
	/* hip-calls.c counts captures before it reports the call. */
	shim->n_stream_captures++;
	CALL(hipStreamBeginCapture, .stream = STREAM);
}

static void end_capture(void *graph)
{
	shim->n_stream_captures--;
	CALL(hipStreamEndCapture, .stream = STREAM, .graph = &graph);
}

TS_TEST(stream_captures)
{
	begin();
	launch(ADD, 1, STREAM);
	capture();
	launch(ADD, 2, STREAM);
	launch(MUL, 100, STREAM2);
	CALL(hipEventRecord, .event = EVENT, .stream = STREAM);
	CALL(hipStreamWaitEvent, .stream = STREAM2, .event = EVENT);
	launch(MUL, 8, STREAM2);
	end_capture(GRAPH);
	/* The streams are free again. */
	launch(ADD, 50, STREAM);
	launch(ADD, 50, STREAM2);
	instantiate(EXEC, GRAPH);
	ts_check_int(blocks_of(EXEC, "add"), 2);
	ts_check_int(blocks_of(EXEC, "mul"), 8);
	/* A capture that fails leaves nothing behind. */
	capture();
	launch(MUL, 4, STREAM);
	shim->n_stream_captures--;
	ts_hip_graph_abandon(shim, ts_call_stream_key(STREAM, false));
	capture();
	launch(ADD, 6, STREAM);
	end_capture(GRAPH);
	instantiate(EXEC, GRAPH);
	ts_check_int(blocks_of(EXEC, "add"), 6);
	ts_check_int(blocks_of(EXEC, "mul"), 0);
}

TS_TEST(child_graphs_and_clones)
{
	void *clone = &handles[5], *node = NODE2;
	struct ts_hip_kernel_node_params params = node_params(ADD, 1);

	begin();
	create(GRAPH);
	create(OTHER);
	add(GRAPH, NODE, ADD, 3);
	add(OTHER, NODE2, MUL, 4);
	CALL(hipGraphAddChildGraphNode, .graph_node = &node, .graph = GRAPH, .child_graph = OTHER);
	CALL(hipGraphClone, .graph_clone = &clone, .original_graph = GRAPH);
	instantiate(EXEC, clone);
	ts_check_int(blocks_of(EXEC, "add"), 3);
	ts_check_int(blocks_of(EXEC, "mul"), 4);
	/* A node of the clone was changed; nobody knows which. */
	CALL(hipGraphKernelNodeSetParams, .node = &handles[50], .node_params = &params);
	CALL(hipGraphExecUpdate, .graph_exec = EXEC, .graph = clone);
	ts_check_int(blocks_of(EXEC, "add"), 0);
	instantiate(EXEC, OTHER);
	ts_check_int(blocks_of(EXEC, "mul"), 4);
	CALL(hipGraphAddNode, .graph = OTHER);
	CALL(hipGraphExecUpdate, .graph_exec = EXEC, .graph = OTHER);
	ts_check_int(blocks_of(EXEC, "mul"), 0);
}

/* Graphs come and go for ever; the numbers of a graph outlive others' until the ring is full. */
TS_TEST(many)
{
	begin();
	create(OTHER);
	add(OTHER, NODE2, MUL, 77);
	instantiate(&handles[6], OTHER);
	ts_check_int(blocks_of(&handles[6], "mul"), 77);
	for (uint32_t i = 1; i <= 2 * TS_HIP_SUMMARY_SLOTS; i++) {
		create(GRAPH);
		add(GRAPH, NODE, ADD, i);
		instantiate(EXEC, GRAPH);
		ts_check_int(blocks_of(EXEC, "add"), i);
		CALL(hipGraphExecDestroy, .graph_exec = EXEC);
		CALL(hipGraphDestroy, .graph = GRAPH);
	}
	/* Its summary was overwritten, and is made again. */
	ts_check_int(blocks_of(&handles[6], "mul"), 77);
	ts_check(shim->hip.graphs.n_graphs < 10);
	ts_check(shim->hip.graphs.n_nodes < 10);
}

/* More nodes than are kept: the graph is incomplete, others go on. */
TS_TEST(too_many_nodes)
{
	begin();
	create(GRAPH);
	create(OTHER);
	add(OTHER, NODE2, MUL, 4);
	for (uint32_t i = 0; i < TS_HIP_MAX_NODES; i++)
		add(GRAPH, NODE, ADD, 3);
	CALL(hipGraphDestroy, .graph = GRAPH);
	instantiate(EXEC, OTHER);
	ts_check_int(blocks_of(EXEC, "mul"), 4);
	create(GRAPH);
	add(GRAPH, NODE, ADD, 5);
	instantiate(EXEC, GRAPH);
	ts_check_int(blocks_of(EXEC, "add"), 5);
}
