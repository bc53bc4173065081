/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: nodes with work, and edges between them. A program creates a graph by calls or by
 * capturing streams. An executable graph is a copy of it with a plan (graph-exec.c), and runs it.
 * As with NVIDIA's driver, threads that use one graph must serialize their calls; a capture
 * serializes itself. graph_lock protects state that independent threads share without knowing. No
 * thread holds it while it reports to a profiler.
 *
 *     graph-store.c   graphs, nodes, edges, work: creation, copies, freeing
 *     graph.c         public functions for graphs and edges; reports to a profiler
 *     graph-ask.c     public functions for queries
 *     graph-node.c    work of a node: reading it from a call, returning it, running it
 *     graph-api.c     public functions for nodes, by kind
 *     graph-exec.c    executable graphs: planning, launching
 *     graph-update.c  changes of executable graphs
 *     graph-refuse.c  unsupported nodes
 *     stream-captures.c, stream-capture.c, stream-capture-call.c  stream captures
 */
#pragma once

#include "tools/vgpu/cuda/work.h"

/* Maximum depth of graphs in nodes: walks of graphs recurse. */
#define GRAPH_MAX_DEPTH 32

/* Work of a node; type is an enum ts_cu_graph_node_type. */
struct node_work {
	int32_t type;
	union {
		struct {
			struct function *function;
			struct launch launch;
			int32_t priority; /* used if the graph was instantiated for it */
			uint8_t *params;  /* owned, and so is pointers */
			void **pointers;  /* one per parameter */
		} kernel;
		struct {
			struct context *context;
			struct ts_cu_memcpy_3d copy;
		} copy;
		struct {
			struct context *context;
			struct ts_cu_memset_node_params set;
		} set;
		struct ts_cu_host_node_params host;
		struct event *event;
		struct graph *child; /* owned */
	};
};

/* Parameters of cuGraphAddNode, by kind of node. */
struct node_params {
	int32_t type;
	int32_t reserved0[3];
	union {
		int64_t reserved1[29];
		struct ts_cu_kernel_node_params kernel;
		struct {
			int32_t flags, reserved;
			void *context;
			struct ts_cu_memcpy_3d copy;
		} copy;
		struct {
			struct ts_cu_memset_node_params set;
			void *context;
		} set;
		struct ts_cu_host_node_params host;
		struct {
			void *graph;
			int32_t ownership;
		} child;
		void *event;
	};
	int64_t reserved2;
};

struct graph_node {
	struct handle handle;
	struct graph *graph;
	struct graph_node *next, **prev; /* list of the graph, in order of creation */
	struct node_list deps, dependents;
	uint64_t id;
	uint64_t original_id; /* id of the node it was copied from, else 0 */
	struct node_work work;
	bool disabled;	/* in an executable graph: skipped */
	uint32_t visit; /* scratch value of a walk */
};

struct graph {
	struct handle handle;
	uint32_t id, original_id;
	struct graph_node *nodes, **end;
	size_t n_nodes;
	uint32_t last_node;	    /* last number of a node's id */
	uint32_t depth;		    /* depth of graphs in its nodes */
	struct graph_node *owner;   /* the node whose work it is */
	bool executable;	    /* belongs to an executable graph */
	uint32_t n_stream_captures; /* captures into it; while not 0, nothing is removed from it */
};

struct plan;
struct graph_exec {
	struct handle handle;
	uint32_t id;
	uint64_t flags;
	struct graph *graph;
	pthread_mutex_t lock; /* held for one launch or change */
	/* created at the first launch, and at a launch from another context */
	struct plan *plan;
	struct ts_vgpu_event *done;
	struct graph_exec *next, **prev; /* list of all, under graph_lock */
};

extern pthread_mutex_t graph_lock;

/*
 * graph-store.c. The caller of a function that ends in _locked holds graph_lock. Errors are the
 * driver's.
 */
int list_add(struct node_list *list, struct graph_node *node);
bool list_has(const struct node_list *list, const struct graph_node *node);
bool list_remove(struct node_list *list, const struct graph_node *node);
int list_copy(const struct node_list *from, struct node_list *to);
void list_deinit(struct node_list *list);
uint32_t graph_next_id(void);
struct graph *graph_new(void);
void graph_free_locked(struct graph *graph);
void node_free_locked(struct graph_node *node);
/* Consumes the work, also on failure. */
int graph_add_locked(struct graph *graph, const struct node_list *deps, struct node_work *work,
		     struct graph_node **ret_node);
int edge_add_locked(struct graph_node *from, struct graph_node *to);
/* Copies all nodes and edges to an empty graph. */
int graph_copy_locked(const struct graph *from, struct graph *to);
/*
 * Returns the nodes in an order where each follows its dependencies. The caller frees it with
 * free(). TS_CU_ERROR_INVALID_VALUE: the graph has a cycle.
 */
int graph_order_locked(struct graph *graph, struct graph_node ***ret_order);
/* Allocates room for the arguments and a pointer to each of them. */
int work_params_new(struct node_work *work, const struct ts_vgpu_kernel *decl);
int work_launch(const struct function *f, const struct launch *l, const uint8_t *params,
		struct node_work *ret_work);
int work_child_locked(const struct graph *child, struct node_work *ret_work);
int work_dup_locked(const struct node_work *from, struct node_work *ret_work);
void work_deinit_locked(struct node_work *work);

/* graph.c */
int graph_get(void *handle, struct graph **ret_graph);
int node_get(void *handle, struct graph_node **ret_node);
int graph_add(struct graph *graph, const void **dependencies, size_t n_dependencies,
	      struct node_work *work, struct graph_node **ret_node);
/* Reports a new node and its edges to a profiler. */
void graph_report_node(const struct graph_node *node);
void graph_report_copies(const struct graph *graph, const struct graph *original);
void graph_report_set(const struct graph_node *node);
/* Checks edge data: each entry must be zero, which means a full dependency. */
int edges_check(const void *edge_data, size_t n);

/* graph-node.c */
int work_kernel(const struct ts_cu_kernel_node_params *params, struct node_work *ret_work);
int work_copy(const struct ts_cu_memcpy_3d *copy, void *context, struct node_work *ret_work);
int work_set(const struct ts_cu_memset_node_params *set, void *context, struct node_work *ret_work);
int work_host(const struct ts_cu_host_node_params *host, struct node_work *ret_work);
int work_event(int32_t type, void *event, struct node_work *ret_work);
int work_any(const struct node_params *params, struct node_work *ret_work);
void kernel_params_of(const struct node_work *work, struct ts_cu_kernel_node_params *ret_params);
/* Returns the context of the work; NULL: that of the launching stream. */
struct context *work_context(const struct node_work *work);
int work_run(const struct node_work *work, struct context *context, struct ts_vgpu_stream *vstream,
	     const struct work_place *place);

/* graph-exec.c */
int exec_get(void *handle, struct graph_exec **ret_exec);
/* graph-update.c */
/* Returns the executable graph's copy of a node. */
int exec_node(struct graph_exec *exec, void *node, struct graph_node **ret_node);
/* Replaces the work of a node of an executable graph. Consumes the work, also on failure. */
int exec_set(struct graph_exec *exec, struct graph_node *node, struct node_work *work);
void graphs_forget_context(const struct context *context); /* graph-exec.c */
