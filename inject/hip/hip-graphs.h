/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel nodes of graphs: their grids, and the code of their functions. HIP's record of a kernel in
 * a graph's launch has the kernel's name alone. So a row gets the grid if all nodes of that kernel
 * in the graph have one grid, and the node if it is the only one of that kernel.
 *
 * Graphs are followed from their creation to their executable form: nodes by call, stream
 * captures, child graphs, clones, updates. If a call adds kernels that its arguments do not show,
 * or changes a node that is not known, the graph's rows have no grid.
 *
 * Thread-safe. Building graphs takes a lock. A launch takes it only after a change of the graph.
 */
#pragma once

#include <pthread.h>

#include "inject/hip/hip-objects.h"

/* Limits of a session. Graphs beyond them have no grids. */
#define TS_HIP_MAX_NODES     (256u * 1024)
#define TS_HIP_MAX_GRAPHS    (16u * 1024)
#define TS_HIP_GRAPH_SLOTS   (256u * 1024)
#define TS_HIP_MAX_CAPTURED  128u
#define TS_HIP_SUMMARY_SLOTS (64u * 1024)
#define TS_HIP_SUMMARY_MAX   512u /* kernels of a graph */

struct ts_shim;

struct ts_hip_node_kernel {
	uint64_t name; /* hash, by ts_hip_code_name(); 0: the node is free */
	/* From 1, by creation. An executable graph's node has the id of its original. */
	uint64_t id;
	uint32_t grid[3], block[3];
	uint32_t dynamic_shared_bytes;
	uint32_t code; /* hip-code.h */
};

struct ts_hip_node;
struct ts_hip_graph;
struct ts_hip_summary;

/* A stream or an event that belongs to a stream capture. */
struct ts_hip_captured {
	uint64_t key;
	uint32_t graph; /* of the capture; 0: free */
};

/* Zeroed: empty. */
struct ts_hip_graphs {
	pthread_mutex_t lock;
	struct ts_hip_node *nodes; /* by number; number 0 is none */
	struct ts_hip_graph *graphs;
	struct ts_hip_summary *summaries; /* a ring by number: kernels of launched graphs */
	uint32_t n_nodes, free_node, n_graphs, free_graph;
	uint64_t n_summaries, n_ids;
	struct ts_hip_objects objects;	/* handle of a node, a graph -> number */
	struct ts_hip_objects launches; /* executable graph -> its summary */
	struct ts_hip_captured captured[TS_HIP_MAX_CAPTURED];
};

/*
 * Follows a successful call of the classes GRAPH, EVENT, LAUNCH and GRAPH_LAUNCH, also while
 * recording is stopped.
 */
void ts_hip_graph_follow(struct ts_shim *shim, uint32_t call, const void *params);

/* A stream capture ended with an error. `stream`: its ts_call_stream_key(). */
void ts_hip_graph_abandon(struct ts_shim *shim, uint64_t stream);

/*
 * Returns a number for the kernels of an executable graph, as they are now; 0: nothing is known.
 * Call it at the launch.
 */
uint64_t ts_hip_graph_launched(struct ts_hip_graphs *graphs, const void *exec);

/*
 * Finds a kernel by its name. Returns false if the graph is incomplete, or has no such kernel.
 * Grid, block and dynamic shared bytes are 0 if the nodes of the kernel differ in them; so is
 * `code`. `id` is 0 if the graph has several nodes of the kernel.
 */
bool ts_hip_graph_kernel(const struct ts_hip_graphs *graphs, uint64_t launched, uint64_t name,
			 struct ts_hip_node_kernel *ret);
