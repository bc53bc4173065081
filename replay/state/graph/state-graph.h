/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dependency graph of a window of a trace, and its critical path: what the last thing that happened had to wait for, and
 * that in turn, back to the beginning.
 *
 * Nodes are operations of devices, calls of the host, and the returns of calls that waited for a device. An edge says that its
 * `to` could not go on before its `from` was so far, at `release_ns`:
 *   STREAM, EVENT, LEGACY   an operation before that of the same kind's number in state-machine.h: at its end
 *   LAUNCH                  a call before what it launched: when the call returned; or began, if that had started by then
 *   HOST                    a call before the next one of its thread, at its end; a call before its own return, at its start
 *   SYNC                    an operation before the return of a call that waited for it: at its end
 *   ENGINE                  an operation of the same kind on the same device in another stream, that was over just before
 *                           (within 5 us) what had nothing else to wait for. Inferred
 * Of the edges into a node the one released last is binding: what held it up. From the end that was latest the path follows the
 * binding edges; its steps leave no time out. What is not recorded ends it (UNKNOWN), and is not guessed. A call that waits for an
 * event names no operation that could be told (state/README.md): the one that was over last before it returned is taken, and
 * its edge is marked as inferred, as ENGINE's are.
 *
 * Slack is by how much later a node could have been over without anything on the way to the latest end being later, all else
 * taking as long as it took. On the critical path it is 0.
 *
 * Memory: about 120 bytes a node. One thread; nothing is printed; ids and times that lie make no cycle.
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

/* What a step of the critical path is. */
enum ts_graph_part {
	TS_GRAPH_UNKNOWN = 0,  /* before what is known began */
	TS_GRAPH_COMPUTE = 1,  /* a kernel or set ran */
	TS_GRAPH_COPY = 2,     /* a copy ran */
	TS_GRAPH_LATENCY = 3,  /* from a call to the start of what it launched */
	TS_GRAPH_WAIT = 4,     /* from the end of what an operation waited for to its start */
	TS_GRAPH_IN_CALL = 5,  /* the host was in a call, not waiting */
	TS_GRAPH_HOST_GAP = 6, /* the host did something else between two calls */
	TS_GRAPH_PARTS
};

/* "stream", "compute"; NULL for other numbers. */
const char *ts_graph_edge_name(uint32_t kind);
const char *ts_graph_part_name(uint32_t part);

#define TS_GRAPH_NONE UINT32_MAX

struct ts_graph_node {
	uint64_t op_id;
	uint64_t start_ns, end_ns; /* RETURN: both when the call returned */
	uint32_t session;
	uint32_t name;	 /* kernel: string; copy: its kind; a call: domain << 16 | cbid */
	uint32_t thread; /* 0: not known, as the next */
	uint32_t stack;
	uint32_t device, context, stream; /* of operations; TS_NO_DEVICE */
	uint32_t first_edge;		  /* of those into it */
	uint16_t unsure;		  /* TS_STATE_UNSURE_* */
	uint8_t kind;			  /* enum ts_graph_node_kind */
	uint8_t type;			  /* TS_ROW_KERNEL, ...; TS_ROW_API */
	uint8_t n_edges;
	uint8_t binding; /* which of its edges, where it has any */
	uint8_t is_critical;
	uint8_t has_return; /* CALL: its return is a node of its own */
};

struct ts_graph_edge {
	uint64_t release_ns;
	uint32_t from; /* a node before the one that it leads to */
	uint16_t kind; /* enum ts_graph_edge_kind */
	uint16_t is_inferred;
};

/* Of an edge of kind EVENT: the handle. */
struct ts_graph_event {
	uint64_t event;
	uint32_t edge;
	uint32_t reserved;
};

struct ts_graph_step {
	uint32_t node; /* whose time it is, or that waited */
	uint32_t part; /* enum ts_graph_part */
	uint64_t from_ns, to_ns;
};

struct ts_graph {
	struct ts_graph_node *nodes; /* each behind all that it waited for */
	size_t n_nodes;
	uint64_t *slack_ns;	     /* of each node */
	struct ts_graph_edge *edges; /* by the node that they lead to */
	size_t n_edges;
	struct ts_graph_event *events; /* by edge */
	size_t n_events;
	struct ts_graph_step *path_buffer; /* within */
	struct ts_graph_step *path; /* in the order of time, each from where the last one ended */
	size_t n_path;
	uint64_t parts_ns[TS_GRAPH_PARTS]; /* of the path */
	uint64_t from_ns, to_ns;	   /* earliest start, latest end */
	uint64_t n_unsure;		   /* operations whose dependencies are not all known */
	bool is_damaged;  /* blocks were left out: what they held is missing here */
	bool is_modelled; /* of ts_clocks_are_modelled() */
	struct ts_doubts
		doubts; /* of its operations; of a window, but for calls, which may lie before it */
};

struct ts_graph_options {
	uint32_t session; /* 0: all */
	uint32_t reserved;
	uint64_t from_ns, to_ns; /* absolute; rows that touch it. 0: no limit */
	size_t max_nodes;	 /* 0: TS_GRAPH_MAX_NODES */
};

#define TS_GRAPH_MAX_NODES ((size_t)TS_MAX_GRAPH_NODES)

/* What held the node up; TS_GRAPH_NONE: nothing that is known. */
static inline uint32_t ts_graph_binding(const struct ts_graph_node *node)
{
	return node->n_edges ? node->first_edge + node->binding : TS_GRAPH_NONE;
}

/* The handle of the event that an edge is of; 0: of none. */
uint64_t ts_graph_event(const struct ts_graph *graph, uint32_t edge);

/* Errors: -ENOMEM, those of sbt/reader.h, TS_E_GRAPH_NODES (more than max_nodes), TS_E_GRAPH_EDGES, TS_E_STREAMS. */
int ts_graph_read(struct ts_sbt_reader *reader, const struct ts_graph_options *options,
		  struct ts_graph **ret_graph);
void ts_graph_free(struct ts_graph *graph); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_graph *, ts_graph_freep, ts_graph_free)

#ifdef __cplusplus
}
#endif
