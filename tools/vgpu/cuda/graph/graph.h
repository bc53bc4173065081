/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: nodes that hold work, edges between them. A graph is made by hand or by capturing streams, and runs as an executable
 * graph, which is a copy of it with a plan (graph-exec.c). As with NVIDIA's driver, whoever uses one graph from several
 * threads sees to it that they take turns; capturing does so by itself. graph_lock guards what threads that take turns do not
 * know that they share. It is never held while a profiler is told something.
 *
 *	graph-store.c graphs, nodes, edges, work: making, copying, freeing
 *	graph.c       the public functions for graphs and edges; telling a profiler
 *	graph-ask.c   what can be asked about them
 *	graph-node.c  what a node does: reading it from a call, giving it back, running it
 *	graph-api.c   the public functions for nodes, by kind
 *	graph-exec.c  executable graphs: planning, launching
 *	graph-update.c  changing them
 *	graph-refuse.c  nodes that are not served
 *	stream-captures.c, stream-capture.c, stream-capture-call.c  streams being captured
 */
#pragma once

#include "tools/vgpu/cuda/work.h"

/* Graphs in nodes of graphs, that deep at most: walks of them recurse. */
#define GRAPH_MAX_DEPTH 32

/* What a node does; type is an enum ts_cu_graph_node_type. */
struct node_work {
	int32_t type;
	union {
		struct {
			struct function *function;
			struct launch launch;
			int32_t priority; /* where the graph was instantiated to use it */
			uint8_t *params;  /* owned, as pointers is */
			void **pointers;  /* to each parameter */
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

/* cuGraphAddNode: what a node does, by kind. */
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
	struct graph_node *next, **prev; /* the graph's, in order of creation */
	struct node_list deps, dependents;
	uint64_t id;
	uint64_t original_id; /* of the node it was copied from, else 0 */
	struct node_work work;
	bool disabled;	/* in an executable graph: does nothing */
	uint32_t visit; /* a walk's own */
};

struct graph {
	struct handle handle;
	uint32_t id, original_id;
	struct graph_node *nodes, **end;
	size_t n_nodes;
	uint32_t last_node;	    /* numbers the nodes' ids */
	uint32_t depth;		    /* of graphs in its nodes */
	struct graph_node *owner;   /* the node that it is the work of */
	bool executable;	    /* an executable graph's own */
	uint32_t n_stream_captures; /* that go into it: nothing may be taken out of it meanwhile */
};

struct plan;
struct graph_exec {
	struct handle handle;
	uint32_t id;
	uint64_t flags;
	struct graph *graph;
	pthread_mutex_t lock; /* one launch or change at a time */
	struct plan *plan;    /* made for the first launch, and for one from another context */
	struct ts_vgpu_event *done;
	struct graph_exec *next, **prev; /* all, under graph_lock */
};

extern pthread_mutex_t graph_lock;

/* graph-store.c. Those that end in _locked are called with graph_lock held; errors are the driver's. */
int list_add(struct node_list *list, struct graph_node *node);
bool list_has(const struct node_list *list, const struct graph_node *node);
bool list_remove(struct node_list *list, const struct graph_node *node);
int list_copy(const struct node_list *from, struct node_list *to);
void list_deinit(struct node_list *list);
uint32_t graph_next_id(void);
struct graph *graph_new(void);
void graph_free_locked(struct graph *graph);
void node_free_locked(struct graph_node *node);
/* Takes the work, also where it fails. */
int graph_add_locked(struct graph *graph, const struct node_list *deps, struct node_work *work,
		     struct graph_node **ret_node);
int edge_add_locked(struct graph_node *from, struct graph_node *to);
/* The same nodes and edges in an empty graph. */
int graph_copy_locked(const struct graph *from, struct graph *to);
/* The nodes so that each comes after what it depends on; free() it. TS_CU_ERROR_INVALID_VALUE: there is a cycle. */
int graph_order_locked(struct graph *graph, struct graph_node ***ret_order);
/* Room for arguments, and pointers to each of them. */
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
/* Tells a profiler of a new node and its edges. */
void graph_report_node(const struct graph_node *node);
void graph_report_copies(const struct graph *graph, const struct graph *original);
void graph_report_set(const struct graph_node *node);
/* No edge may carry data but zeros: they mean full dependencies. */
int edges_check(const void *edge_data, size_t n);

/* graph-node.c */
int work_kernel(const struct ts_cu_kernel_node_params *params, struct node_work *ret_work);
int work_copy(const struct ts_cu_memcpy_3d *copy, void *context, struct node_work *ret_work);
int work_set(const struct ts_cu_memset_node_params *set, void *context, struct node_work *ret_work);
int work_host(const struct ts_cu_host_node_params *host, struct node_work *ret_work);
int work_event(int32_t type, void *event, struct node_work *ret_work);
int work_any(const struct node_params *params, struct node_work *ret_work);
void kernel_params_of(const struct node_work *work, struct ts_cu_kernel_node_params *ret_params);
/* The context that work is bound to; NULL: the launching stream's. */
struct context *work_context(const struct node_work *work);
int work_run(const struct node_work *work, struct context *context, struct ts_vgpu_stream *vstream,
	     const struct work_place *place);

/* graph-exec.c */
int exec_get(void *handle, struct graph_exec **ret_exec);
/* graph-update.c */
/* The executable graph's copy of a node. */
int exec_node(struct graph_exec *exec, void *node, struct graph_node **ret_node);
/* Replaces the work of an executable graph's node; takes the work, also where it fails. */
int exec_set(struct graph_exec *exec, struct graph_node *node, struct node_work *work);
void graphs_forget_context(const struct context *context); /* graph-exec.c */
