/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream order: streams, events with their versions, and the legacy default stream. This half of
 * the state machine knows no device rows. The id of an operation, record or wait names its point in
 * a stream.
 */
#pragma once

#include "replay/state/checkpoint/pack.h"
#include "replay/state/state-machine.h"
#include "replay/state/state-map.h"
#include "replay/streams/stream-kind.h"

/* The operations issued under one id: a single operation, or all nodes of one graph launch. */
struct ts_state_order_group {
	uint64_t op_id;
	uint64_t number; /* number of the group's operation that ends last */
	uint64_t end_ns; /* the end of that operation */
};

/*
 * With `is_cut`: facts from before the first row that the dependencies of a point may lack. These
 * operations ended before all operations of the segment began.
 */
struct ts_state_order_lack {
	uint32_t n_old; /* at most so many dependencies */
	bool is_wrong;	/* anything else */
};

/* A point of a stream that a wait may refer to: one version of an event. */
struct ts_state_order_marker {
	uint64_t op_id;
	uint64_t event;
	uint32_t stream; /* index; TS_STATE_MAP_NONE: unknown */
	uint32_t n_refs;
	uint32_t unsure;
	uint32_t n_found; /* number of dependencies; valid once `is_settled` */
	bool is_settled;
	struct ts_state_order_lack lack;   /* valid once settled */
	uint64_t host_op_id, host_over_ns; /* as in struct ts_state_op; valid once settled */
	struct ts_state_dependency found[TS_STATE_MAX_DEPENDENCIES];
};

struct ts_state_order_wait {
	uint64_t op_id;
	/*
	 * For host waits: start of an operation that waited for this wait. UINT64_MAX: no such
	 * operation has begun.
	 */
	uint64_t over_ns;
	/*
	 * TS_STATE_MAP_NONE: its event was not recorded. TS_STATE_ORDER_HOST: a wait for the host.
	 */
	uint32_t marker;
};

/* A wait for the host, after which an operation has begun in the same stream. */
struct ts_state_order_passed {
	uint64_t op_id, over_ns;
};

#define TS_STATE_ORDER_PASSED 8u

/*
 * Marks a wait for the host: a host function, or a value in memory. A trace does not record its
 * end.
 */
#define TS_STATE_ORDER_HOST (TS_STATE_MAP_NONE - 1)

struct ts_state_order_stream {
	uint32_t session, context, stream;
	uint32_t of; /* index of its context */
	struct ts_stream_kind kind;
	bool has_dropped_wait; /* waits beyond MAX_WAITS were dropped */
	/*
	 * With `is_cut`: an answer depends on the stream's waits and points before the cut; or a
	 * dependency by the rule of the legacy default stream may be missing.
	 */
	bool is_asked, is_missed;
	uint64_t n_groups; /* in total; the last TS_STATE_HISTORY are kept */
	struct ts_state_order_group history[TS_STATE_HISTORY];
	uint64_t n_points; /* records and waits, in total; the last TS_STATE_HISTORY are kept */
	uint64_t points[TS_STATE_HISTORY];
	struct ts_state_order_wait *waits; /* waits after which the stream has no operation yet */
	size_t n_waits, n_waits_allocated;
	uint64_t n_passed; /* in total; the last TS_STATE_ORDER_PASSED are kept */
	struct ts_state_order_passed passed[TS_STATE_ORDER_PASSED];
	uint32_t *markers; /* unsettled markers: no operation issued after the record has begun */
	size_t n_markers, n_markers_allocated;
};

/*
 * One graph launch. Its nodes run in streams of their own and form one group in the launch's
 * stream.
 */
struct ts_state_order_launch {
	uint64_t op_id;
	uint64_t number; /* number of the node that ends last, among the nodes that have begun */
	uint64_t end_ns; /* end of that node; 0: no node has begun */
	uint32_t session;
	uint32_t stream; /* index; TS_STATE_MAP_NONE: not known yet */
	/* the launch's stream will never be known: the nodes count in their own streams */
	bool is_homeless;
	bool has_found; /* the fields below are valid */
	struct ts_state_order_lack lack;
	uint32_t n_found, unsure;
	uint64_t host_op_id, host_over_ns; /* as in struct ts_state_op */
	struct ts_state_dependency found[TS_STATE_MAX_DEPENDENCIES];
};

/* Number of launches that are kept: more than run at a time. */
#define TS_STATE_ORDER_LAUNCHES 256u

struct ts_state_order_context {
	uint32_t legacy; /* index of the legacy stream; TS_STATE_MAP_NONE: unknown */
	bool unsure;	 /* a wait happened in an unknown stream */
	uint32_t *streams;
	size_t n_streams, n_streams_allocated;
};

/* A cache of recent streams, searched first. */
struct ts_state_order_recent {
	uint64_t key;
	uint32_t session;
	uint32_t next; /* the stream's index + 1; 0: none */
};
#define TS_STATE_ORDER_RECENT 64u

/* Embed it, zeroed. */
struct ts_state_order {
	struct ts_state_order_recent recent[TS_STATE_ORDER_RECENT]; /* by stream id */
	struct ts_state_order_stream *streams;
	size_t n_streams, n_streams_allocated;
	struct ts_state_order_context *contexts;
	size_t n_contexts, n_contexts_allocated;
	struct ts_state_order_marker *markers;
	size_t n_markers, n_markers_allocated;
	uint32_t *free_markers;
	size_t n_free_markers, n_free_markers_allocated;
	struct ts_state_order_launch *launches; /* a ring; NULL until the first launch */
	uint64_t n_launches;
	struct ts_state_map stream_by_id, context_by_id, marker_by_event, launch_by_op;

	/*
	 * For a segment of a trace (segments/): the first row is not the trace's first row
	 * (is_cut). All operation ids of the rows before it are at most floor_id; later ids may be.
	 * If is_exact is set, each operation is checked: `is_doubtful` is set if its dependencies
	 * may be wrong, apart from operations that ended before the segment, and from the streams
	 * with is_asked.
	 */
	uint64_t floor_id;
	bool is_cut, is_exact, is_doubtful;
	bool has_lost_node; /* of a launch before the cut: the node is in no group */
	bool has_asked_all; /* a point of a legacy stream asked all streams of its context */
};

struct ts_state_order_found {
	uint32_t n;
	uint32_t unsure; /* TS_STATE_UNSURE_* */
	/*
	 * The call that made the operation wait for the host. If there are several, the call whose
	 * wait has the latest bound. 0: none.
	 */
	uint64_t host_op_id, host_over_ns;
	struct ts_state_dependency *at; /* TS_STATE_MAX_DEPENDENCIES entries */
	struct ts_state_order_lack lack;
};

void ts_state_order_deinit(struct ts_state_order *order);
/* Sets the kind of a stream: `flags` of enum ts_cupti_activity_stream_flag. */
int ts_state_order_stream(struct ts_state_order *order, uint32_t session, uint32_t context,
			  uint32_t stream, uint32_t flags);
int ts_state_order_record(struct ts_state_order *order, uint32_t session,
			  const struct ts_row_event *row);
int ts_state_order_wait(struct ts_state_order *order, uint32_t session,
			const struct ts_row_stream_wait *row);
int ts_state_order_launch(struct ts_state_order *order, uint32_t session,
			  const struct ts_row_graph_launch *row);
/* Feeds an operation that ran: finds its dependencies, then appends it to its stream. */
int ts_state_order_op(struct ts_state_order *order, struct ts_state_op *op);
/*
 * With `is_cut`: true if the stream's waits and points before the cut may still count: no operation
 * after them is known to have begun.
 */
bool ts_state_order_is_fresh(const struct ts_state_order *order,
			     const struct ts_state_order_stream *stream);
/* True if the stream's last record or wait has no operation after it. */
bool ts_state_order_has_point(const struct ts_state_order_stream *stream);
/*
 * Finds the operations and the host wait that precede the event's last record. Returns -1 if no
 * record is known.
 */
int ts_state_order_event(struct ts_state_order *order, uint32_t session, uint64_t event,
			 struct ts_state_order_found *found);

/*
 * Returns the stream that orders the operation: its own stream, or for a graph node the stream of
 * its launch. TS_NO_DEVICE: unknown.
 */
uint32_t ts_state_order_home(const struct ts_state_order *order, const struct ts_state_op *op);

/*
 * For checkpoints: packs all state, and unpacks it into a zeroed struct. Returns 0, -ENOMEM, or
 * TS_SBT_E_CORRUPT if the bytes are invalid.
 */
void ts_state_order_pack(const struct ts_state_order *order, struct ts_pack *pack);
int ts_state_order_unpack(struct ts_state_order *order, struct ts_unpack *unpack);
void ts_state_order_pack_found(struct ts_pack *pack, uint32_t n,
			       const struct ts_state_dependency *found, uint64_t op_id);
uint32_t ts_state_order_unpack_found(struct ts_unpack *unpack,
				     struct ts_state_dependency found[TS_STATE_MAX_DEPENDENCIES],
				     uint64_t op_id);
void ts_pack_map(struct ts_pack *pack, const struct ts_state_map *map, const uint32_t *numbers);

/* The second stage of a machine, for segments/. */
struct ts_state_order *ts_state_machine_order_of(struct ts_state_machine *machine);

/*
 * Packs a machine (state-machine.c) without the lingering calls. The restore feeds the calls from
 * window_ns on again.
 */
void ts_state_machine_pack(struct ts_state_machine *machine, struct ts_pack *pack);
/* UINT64_MAX: no call to feed again. */
uint64_t ts_state_machine_window_ns(const struct ts_state_machine *machine);
/* Returns the last call that was given up; valid if n_given_up is not 0. */
void ts_state_machine_given_up(const struct ts_state_machine *machine, uint32_t *ret_session,
			       uint64_t *ret_op_id);
/*
 * Unpack into a new machine, feed the n_fed calls from window_ns on, then resume. Return 0, -ENOMEM
 * or TS_SBT_E_CORRUPT.
 */
int ts_state_machine_unpack(struct ts_state_machine *machine, struct ts_unpack *unpack);
int ts_state_machine_resume(struct ts_state_machine *machine, uint64_t n_fed,
			    struct ts_unpack *unpack);
/* Returns the number of awaited calls whose ids are in `ids`. */
uint64_t ts_state_machine_n_awaited_of(const struct ts_state_machine *machine,
				       const struct ts_state_map *ids);
bool ts_state_machine_is_settled(const struct ts_state_machine *machine, uint32_t session,
				 uint64_t event);
/* True if the row answers an awaited call. */
bool ts_state_machine_awaits(const struct ts_state_machine *machine, const struct ts_sbt_row *row);
/* As ts_state_order_home(). */
uint32_t ts_state_machine_home(const struct ts_state_machine *machine,
			       const struct ts_state_op *op);
/* Sets device, context and stream of an operation from its row. */
void ts_state_place(struct ts_state_op *op);
