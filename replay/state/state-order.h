/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has to wait for whom: streams, events by their versions, and the legacy default stream. The half of the machine that
 * knows nothing of rows. Points of a stream are told by the id of the operation, the record or the wait that stands there.
 */
#pragma once

#include "replay/state/checkpoint/pack.h"
#include "replay/state/state-machine.h"
#include "replay/state/state-map.h"
#include "replay/streams/stream-kind.h"

/* What was issued under one id: an operation, or all that one launch of a graph makes. */
struct ts_state_order_group {
	uint64_t op_id;
	uint64_t number; /* of the operation that is over last */
	uint64_t end_ns; /* when it is */
};

/* A point of a stream that somebody may wait for: one version of an event. */
struct ts_state_order_marker {
	uint64_t op_id;
	uint64_t event;
	uint32_t stream; /* index; TS_STATE_MAP_NONE: not known */
	uint32_t n_refs;
	uint32_t unsure;
	uint32_t n_found; /* dependencies; valid once `is_settled` */
	bool is_settled;
	uint64_t host_op_id, host_over_ns; /* as a struct ts_state_op's; valid then, too */
	struct ts_state_dependency found[TS_STATE_MAX_DEPENDENCIES];
};

struct ts_state_order_wait {
	uint64_t op_id;
	uint64_t
		over_ns; /* for the host: something behind it began then; UINT64_MAX: nothing did */
	uint32_t
		marker; /* TS_STATE_MAP_NONE: its event was not recorded; TS_STATE_ORDER_HOST: for the host */
};

/* One for the host that an operation stands behind. */
struct ts_state_order_passed {
	uint64_t op_id, over_ns;
};

#define TS_STATE_ORDER_PASSED 8u

/* A stream waits for what the host does: a function that it was given, a word in memory. When that was over is in no trace. */
#define TS_STATE_ORDER_HOST (TS_STATE_MAP_NONE - 1)

struct ts_state_order_stream {
	uint32_t session, context, stream;
	uint32_t of; /* index of its context */
	struct ts_stream_kind kind;
	bool has_dropped_wait; /* there were too many */
	uint64_t n_groups;     /* ever; the last TS_STATE_HISTORY of them are kept */
	struct ts_state_order_group history[TS_STATE_HISTORY];
	uint64_t n_points; /* records and waits, ever; the last TS_STATE_HISTORY are kept */
	uint64_t points[TS_STATE_HISTORY];
	struct ts_state_order_wait *waits; /* that no operation stands behind yet */
	size_t n_waits, n_waits_allocated;
	uint64_t n_passed; /* ever; the last TS_STATE_ORDER_PASSED are kept */
	struct ts_state_order_passed passed[TS_STATE_ORDER_PASSED];
	uint32_t *markers; /* not settled: nothing came behind them yet */
	size_t n_markers, n_markers_allocated;
};

/* One launch of a graph: its nodes run in streams of their own, and stand as one group in the stream that it was launched in. */
struct ts_state_order_launch {
	uint64_t op_id;
	uint64_t number; /* of the node that is over last, of those that began */
	uint64_t end_ns; /* when it is; 0: none began */
	uint32_t session;
	uint32_t stream;  /* index; TS_STATE_MAP_NONE: not known yet */
	bool is_homeless; /* nor will it be: nodes stand where they ran */
	bool has_found;	  /* what all of it waited for: */
	uint32_t n_found, unsure;
	uint64_t host_op_id, host_over_ns; /* as a struct ts_state_op's */
	struct ts_state_dependency found[TS_STATE_MAX_DEPENDENCIES];
};

/* Launches that are remembered: more than run at a time. */
#define TS_STATE_ORDER_LAUNCHES 256u

struct ts_state_order_context {
	uint32_t legacy; /* index of its stream; TS_STATE_MAP_NONE: not known */
	bool unsure;	 /* somebody waited in a stream that could not be told */
	uint32_t *streams;
	size_t n_streams, n_streams_allocated;
};

/* Streams are looked for among these first. */
struct ts_state_order_recent {
	uint64_t key;
	uint32_t session;
	uint32_t next; /* the index behind the stream's; 0: none */
};
#define TS_STATE_ORDER_RECENT 64u

/* Embed it, zeroed. */
struct ts_state_order {
	struct ts_state_order_recent recent[TS_STATE_ORDER_RECENT]; /* by the id's lower bits */
	struct ts_state_order_stream *streams;
	size_t n_streams, n_streams_allocated;
	struct ts_state_order_context *contexts;
	size_t n_contexts, n_contexts_allocated;
	struct ts_state_order_marker *markers;
	size_t n_markers, n_markers_allocated;
	uint32_t *free_markers;
	size_t n_free_markers, n_free_markers_allocated;
	struct ts_state_order_launch *launches; /* a ring; NULL until there is one */
	uint64_t n_launches;
	struct ts_state_map stream_by_id, context_by_id, marker_by_event, launch_by_op;
};

struct ts_state_order_found {
	uint32_t n;
	uint32_t unsure; /* TS_STATE_UNSURE_* */
	/* The call that made it wait for the host, of several the last of those that may have been over last; 0: none. */
	uint64_t host_op_id, host_over_ns;
	struct ts_state_dependency *at; /* TS_STATE_MAX_DEPENDENCIES of them */
};

void ts_state_order_deinit(struct ts_state_order *order);
/* What is told of a stream: `flags` of enum ts_cupti_activity_stream_flag. */
int ts_state_order_stream(struct ts_state_order *order, uint32_t session, uint32_t context,
			  uint32_t stream, uint32_t flags);
int ts_state_order_record(struct ts_state_order *order, uint32_t session,
			  const struct ts_row_event *row);
int ts_state_order_wait(struct ts_state_order *order, uint32_t session,
			const struct ts_row_stream_wait *row);
int ts_state_order_launch(struct ts_state_order *order, uint32_t session,
			  const struct ts_row_graph_launch *row);
/* An operation ran: finds what it waited for, then stands in its stream itself. */
int ts_state_order_op(struct ts_state_order *order, struct ts_state_op *op);
/* What an event stands for at this point of the trace, and the host's part in it; -1: not recorded. */
int ts_state_order_event(struct ts_state_order *order, uint32_t session, uint64_t event,
			 struct ts_state_order_found *found);

/* The stream that an operation stands in, and others wait for it in: of a graph's node, that of its launch. TS_NO_DEVICE: not known. */
uint32_t ts_state_order_home(const struct ts_state_order *order, const struct ts_state_op *op);

/* For checkpoints: all of it as bytes, and back into a zeroed one. TS_SBT_E_CORRUPT: it cannot be so. */
void ts_state_order_pack(const struct ts_state_order *order, struct ts_pack *pack);
int ts_state_order_unpack(struct ts_state_order *order, struct ts_unpack *unpack);
void ts_state_order_pack_found(struct ts_pack *pack, uint32_t n,
			       const struct ts_state_dependency *found, uint64_t op_id);
uint32_t ts_state_order_unpack_found(struct ts_unpack *unpack,
				     struct ts_state_dependency found[TS_STATE_MAX_DEPENDENCIES],
				     uint64_t op_id);
void ts_pack_map(struct ts_pack *pack, const struct ts_state_map *map, const uint32_t *numbers);

/* The same of a machine (state-machine.c): all but the calls that linger, which are to be fed again, from window_ns on. */
void ts_state_machine_pack(struct ts_state_machine *machine, struct ts_pack *pack);
/* UINT64_MAX: none. */
uint64_t ts_state_machine_window_ns(const struct ts_state_machine *machine);
/* The last call that was given up; n_given_up says whether there is one. */
void ts_state_machine_given_up(const struct ts_state_machine *machine, uint32_t *ret_session,
			       uint64_t *ret_op_id);
/* Into a new machine; then those calls are fed, n_fed of them, then it goes on. -ENOMEM, TS_SBT_E_CORRUPT. */
int ts_state_machine_unpack(struct ts_state_machine *machine, struct ts_unpack *unpack);
int ts_state_machine_resume(struct ts_state_machine *machine, uint64_t n_fed,
			    struct ts_unpack *unpack);
/* Awaited calls among these. */
uint64_t ts_state_machine_n_awaited_of(const struct ts_state_machine *machine,
				       const struct ts_state_map *ids);
bool ts_state_machine_is_settled(const struct ts_state_machine *machine, uint32_t session,
				 uint64_t event);
/* Whether a row answers a call that is awaited. */
bool ts_state_machine_awaits(const struct ts_state_machine *machine, const struct ts_sbt_row *row);
/* As ts_state_order_home(). */
uint32_t ts_state_machine_home(const struct ts_state_machine *machine,
			       const struct ts_state_op *op);
/* Where an operation ran, by its row. */
void ts_state_place(struct ts_state_op *op);
