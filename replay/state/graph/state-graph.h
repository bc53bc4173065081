/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dependency graph of a window of a trace, and its critical path. The path leads from the node
 * that ends last back to the earliest start of a node. Each step goes to the node that delayed the
 * current one.
 *
 * Nodes are device operations, calls of the host, and returns of calls that waited for a device. An
 * edge states that node `to` could not go on before `release_ns`, a time of node `from`:
 *   STREAM, EVENT, LEGACY   the dependency of that kind in state-machine.h; released at its end
 *   LAUNCH                  a call and its operation; released when the call returned, or when the
 *                           call began if the operation had started by then
 *   HOST                    a call and the next call of its thread; released at its end.
 *                           A call and its own return; released at its start
 *   SYNC                    an operation and the return of a call that waited for it; at its end
 *   ENGINE                  an operation of the same kind on the same device in another stream. It
 *                           ended at most 5 us before the start of a node that had nothing else to
 *                           wait for. Inferred
 * The binding edge of a node is the edge with the latest release_ns: it determined when the node
 * could start. The critical path starts at the latest end and follows binding edges back. Its steps
 * cover the time from the earliest start of a node to the latest end. If a cause is not recorded,
 * the path ends there (UNKNOWN). For a call that waits for an event, a trace does not record which
 * operation the call waited for (state/README.md). The graph uses the operation that ended last
 * before the call returned, and marks the edge as inferred, as for ENGINE.
 *
 * Slack is the longest delay of a node that would not move the latest end, if all other durations
 * stay the same. It is 0 on the critical path.
 *
 * Memory: about 120 bytes per node. Not thread-safe; prints nothing. Wrong ids and times make no
 * cycle.
 */
#pragma once

#include "replay/state/doubts.h"
#include "replay/state/limit.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ts_graph_node_kind {
	TS_GRAPH_OP = 1,
	TS_GRAPH_CALL = 2,
	TS_GRAPH_RETURN = 3,
};

enum ts_graph_edge_kind {
	TS_GRAPH_STREAM = TS_STATE_BY_STREAM,
	TS_GRAPH_EVENT = TS_STATE_BY_EVENT,
	TS_GRAPH_LEGACY = TS_STATE_BY_LEGACY,
	TS_GRAPH_LAUNCH = 4,
	TS_GRAPH_HOST = 5,
	TS_GRAPH_SYNC = 6,
	TS_GRAPH_ENGINE = 7,
	TS_GRAPH_EDGE_KINDS
};

/* Kinds of steps of the critical path. */
enum ts_graph_part {
	TS_GRAPH_UNKNOWN = 0,  /* before the first known cause */
	TS_GRAPH_COMPUTE = 1,  /* a kernel or set ran */
	TS_GRAPH_COPY = 2,     /* a copy ran */
	TS_GRAPH_LATENCY = 3,  /* from a call to the start of its operation */
	TS_GRAPH_WAIT = 4,     /* from the end of a dependency to the start */
	TS_GRAPH_IN_CALL = 5,  /* the host was in a call and did not wait */
	TS_GRAPH_HOST_GAP = 6, /* the host was between two calls */
	TS_GRAPH_PARTS
};

/* Returns the name of a kind of edge, such as "stream" or "compute"; NULL for other numbers. */
const char *ts_graph_edge_name(uint32_t kind);
const char *ts_graph_part_name(uint32_t part);

#define TS_GRAPH_NONE UINT32_MAX

struct ts_graph_node {
	uint64_t op_id;
	uint64_t start_ns, end_ns; /* RETURN: both are the call's return */
	uint32_t session;
	/* Kernel: string. Copy: its kind. Call: domain << 16 | cbid. */
	uint32_t name;
	uint32_t thread; /* `thread` and `stack`: 0 if unknown */
	uint32_t stack;
	uint32_t device, context, stream; /* operations; else TS_NO_DEVICE */
	uint32_t first_edge;		  /* first edge into it */
	uint16_t unsure;		  /* TS_STATE_UNSURE_* */
	uint8_t kind;			  /* enum ts_graph_node_kind */
	uint8_t type;			  /* TS_ROW_KERNEL, ...; TS_ROW_API */
	uint8_t n_edges;
	uint8_t binding; /* number of the binding edge among the node's edges */
	uint8_t is_critical;
	uint8_t has_return; /* CALL: its return is a separate node */
};

struct ts_graph_edge {
	uint64_t release_ns;
	uint32_t from; /* index of the source node, less than the target's */
	uint16_t kind; /* enum ts_graph_edge_kind */
	uint16_t is_inferred;
};

/* The event handle of an edge of kind EVENT. */
struct ts_graph_event {
	uint64_t event;
	uint32_t edge;
	uint32_t reserved;
};

struct ts_graph_step {
	uint32_t node; /* the node that ran or waited */
	uint32_t part; /* enum ts_graph_part */
	uint64_t from_ns, to_ns;
};

struct ts_graph {
	struct ts_graph_node *nodes; /* each node comes after the nodes that it depends on */
	size_t n_nodes;
	uint64_t *slack_ns;	     /* one per node */
	struct ts_graph_edge *edges; /* by target node */
	size_t n_edges;
	struct ts_graph_event *events; /* by edge */
	size_t n_events;
	struct ts_graph_step *path_buffer; /* owns `path` */
	struct ts_graph_step *path;	   /* in time order, without gaps */
	size_t n_path;
	uint64_t parts_ns[TS_GRAPH_PARTS]; /* sums over the path */
	uint64_t from_ns, to_ns;	   /* earliest start, latest end */
	uint64_t n_unsure;		   /* operations with incomplete dependencies */
	bool is_damaged;		   /* damaged blocks were left out */
	bool is_modelled;		   /* as in ts_clocks_are_modelled() */
	/*
	 * Doubts about the window's operations. If the window does not begin with the trace, doubts
	 * about missing calls are left out, because those calls may lie before it.
	 */
	struct ts_doubts doubts;
};

struct ts_graph_options {
	uint32_t session; /* 0: all */
	uint32_t reserved;
	/* Absolute times; rows that touch the window are read. 0: no limit. */
	uint64_t from_ns, to_ns;
	size_t max_nodes; /* 0: TS_GRAPH_MAX_NODES */
};

#define TS_GRAPH_MAX_NODES ((size_t)TS_MAX_GRAPH_NODES)

/* Returns the node's binding edge, or TS_GRAPH_NONE. */
static inline uint32_t ts_graph_binding(const struct ts_graph_node *node)
{
	return node->n_edges ? node->first_edge + node->binding : TS_GRAPH_NONE;
}

/* Returns the event handle of an edge, or 0. */
uint64_t ts_graph_event(const struct ts_graph *graph, uint32_t edge);

/*
 * Reads the graph of a window. Returns 0, -ENOMEM, TS_E_GRAPH_NODES (more than max_nodes),
 * TS_E_GRAPH_EDGES, TS_E_STREAMS, or the errors of sbt/reader.h. The caller frees *ret_graph.
 */
int ts_graph_read(struct ts_sbt_reader *reader, const struct ts_graph_options *options,
		  struct ts_graph **ret_graph);
void ts_graph_free(struct ts_graph *graph); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_graph *, ts_graph_freep, ts_graph_free)

#ifdef __cplusplus
}
#endif
