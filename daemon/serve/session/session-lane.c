/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lane: the records of capture level `replay`. session-round.c calls this module in each round,
 * session-end.c at the end. The lane's records come in order: each blob comes before the operations
 * that refer to it. If a record breaks this order, the session ends with SESSION_E_BAD_PEER. Lane
 * space is released after the write, as for a shard.
 *
 * If another daemon takes over the process, the capture ends: the process refers to blobs by
 * number, and these blobs are in the previous daemon's file.
 */
#include "daemon/serve/session/session-internal.h"

/* One round drains about one eighth of the lane. */
#define LANE_ROUND_PART 8

int ts_session_lane_begin(struct ts_session *s)
{
	struct session_lane *lane = &s->lane;
	const struct ts_shard *memory;

	lane->closed = true;
	if (!s->memory.lane_bytes)
		return 0;
	memory = ts_memory_lane(&s->memory);
	lane->position = __atomic_load_n(&memory->released, __ATOMIC_RELAXED);
	lane->released = lane->head = lane->position;
	if (s->options.resumed || lane->position) {
		__atomic_store_n(&s->memory.control->lane_closed, 1, __ATOMIC_RELAXED);
		lane->ended = true;
		return 0;
	}
	lane->closed = false;
	return ts_sbt_writer_metadata(s->recording->writer, TS_METADATA_CAPTURE, "replay");
}

uint64_t ts_session_lane_waiting(const struct ts_session *s)
{
	return s->lane.closed ? 0 : s->lane.head - s->lane.position;
}

int ts_session_lane_load(struct ts_session *s)
{
	struct session_lane *lane = &s->lane;
	uint64_t head;

	if (lane->closed)
		return 0;
	/* Pairs with ts_ring_commit(), (A). */
	head = ts_ring_consumer_head(ts_memory_lane(&s->memory));
	if (!ts_ring_consumer_check(head, lane->position, lane->released, s->memory.lane_bytes)) {
		lane->closed = true;
		return ts_session_bad(s, "its capture lane has invalid indices");
	}
	lane->head = head;
	return 0;
}

static int fail_lane(struct ts_session *s, const char *why)
{
	s->lane.closed = true;
	return ts_session_bad(s, why);
}

static int take_blob(struct ts_session *s, const struct ts_record *record)
{
	const struct ts_record_blob *blob = (const void *)record;
	size_t n_words = record->n_words - (size_t)record->n_fixed_words;
	const uint8_t *bytes = (const uint8_t *)record + record->n_fixed_words * (size_t)8;
	uint32_t number;
	int r;

	if (record->n_fixed_words < sizeof(*blob) / 8 || blob->n_bytes > n_words * 8 ||
	    blob->n_bytes > TS_BLOB_MAX_BYTES || blob->blob != s->lane.n_blobs + 1)
		return fail_lane(s, "a blob in its lane is malformed");
	do {
		r = ts_sbt_session_writer_add_blob(s->writer, bytes, blob->n_bytes,
						   blob->blob_flags, blob->hash, &number);
		if (r == TS_SBT_E_FULL) {
			int write = ts_session_write(s);

			if (write)
				return write;
		}
	} while (r == TS_SBT_E_FULL);
	if (r)
		return ts_session_write_failed(s, r);
	s->lane.n_blobs++;
	return 0;
}

static int take_operation(struct ts_session *s, const struct ts_record *record)
{
	const struct ts_record_operation *operation = (const void *)record;
	struct ts_row_operation row;
	int r;

	if (record->n_fixed_words < sizeof(*operation) / 8 ||
	    operation->sequence != s->lane.sequence + 1 || operation->content > s->lane.n_blobs ||
	    ts_rows_operation(&s->rows, operation, &row))
		return fail_lane(s, "an operation in its lane is malformed");
	r = ts_session_add_row(s, TS_ROW_OPERATION, &row);
	if (r)
		return r;
	s->lane.sequence++;
	s->lane.ended |= row.kind == TS_OPERATION_END;
	if (row.kind == TS_OPERATION_UNSUPPORTED)
		__atomic_fetch_add(&s->lane.n_unsupported, 1, __ATOMIC_RELAXED);
	ts_session_count_row(s, TS_ROW_OPERATION);
	return 0;
}

/* Takes a launch as the operation that it abbreviates. */
static int take_launch(struct ts_session *s, const struct ts_record *record)
{
	const struct ts_record_launch *launch = (const void *)record;
	struct ts_record_operation operation = {.record = *record};

	if (record->n_fixed_words < sizeof(*launch) / 8)
		return fail_lane(s, "a launch in its lane is malformed");
	operation.record.n_fixed_words = sizeof(operation) / 8;
	operation.sequence = launch->sequence;
	operation.op_id = launch->op_id;
	operation.object = launch->object;
	operation.stream = launch->stream;
	operation.bytes = launch->bytes;
	operation.kind = TS_OPERATION_LAUNCH;
	operation.operation_flags = launch->operation_flags;
	operation.thread = launch->thread;
	operation.context = launch->context;
	operation.content = launch->content;
	operation.shared_bytes = launch->shared_bytes;
	memcpy(operation.grid, launch->grid, sizeof(operation.grid));
	memcpy(operation.block, launch->block, sizeof(operation.block));
	return take_operation(s, &operation.record);
}

static int take_record(struct ts_session *s, const struct ts_record *record)
{
	if (s->lane.ended)
		return 0;
	switch (record->type) {
	case TS_RECORD_BLOB:
		return take_blob(s, record);
	case TS_RECORD_OPERATION:
		return take_operation(s, record);
	case TS_RECORD_LAUNCH:
		return take_launch(s, record);
	default:
		return ts_session_lose(s, TS_LOSS_UNKNOWN_RECORD, 1, s->loss_ns);
	}
}

int ts_session_lane_drain(struct ts_session *s)
{
	struct session_lane *lane = &s->lane;
	const struct ts_drain_ring ring = {s->memory.fd,
					   s->memory.lane_off + sizeof(struct ts_shard),
					   s->memory.lane_bytes};
	uint64_t round_begin = lane->position;
	int r;

	while (!lane->closed && lane->position != lane->head &&
	       lane->position - round_begin < ring.n_bytes / LANE_ROUND_PART) {
		uint64_t begin = lane->position;
		const struct ts_record *record;
		size_t n_bytes, off;

		r = ts_drain_copy(&s->drain, &ring, begin, lane->head, &n_bytes, &off);
		if (r == -ENOMEM)
			return r;
		if (r < 0)
			return fail_lane(s, "a record in its lane is malformed");
		ts_session_dirty(s);
		for (;;) {
			/*
			 * Update the position before each record: if the record does not fit,
			 * ts_session_write() releases the ring space up to this position.
			 */
			lane->position = begin + off;
			if (ts_record_next(s->drain.buffer, n_bytes, &off, &record))
				break;
			r = take_record(s, record);
			if (r)
				return r;
		}
		lane->position = begin + off;
		s->drained_bytes += off;
		r = ts_session_account(s);
		if (r)
			return r;
		if (lane->position - lane->released > ring.n_bytes / 4 ||
		    ts_sbt_session_writer_pending_bytes(s->writer) >= SESSION_PENDING_BYTES) {
			r = ts_session_write(s);
			if (r)
				return r;
		}
	}
	return 0;
}

const char *ts_session_lane_why(const struct ts_session *s)
{
	static const char *const why[] = {
		[TS_LANE_FULL] = "the daemon was too slow for the captured data",
		[TS_LANE_NO_MEMORY] = "out of memory in the process",
		[TS_LANE_YIELDED] = "the application's own profiler took CUPTI",
		[TS_LANE_STOPPED] = "recording was stopped",
		[TS_LANE_LIMIT] = "the capture for replay reached its limit (see --capture)",
		[TS_LANE_TOO_LARGE] = "the capture for replay cannot hold an operation with more "
				      "than 8 GiB of data",
		[TS_LANE_TOO_MANY] = "the capture for replay reached its limit of operations",
		[TS_LANE_HIP_WINDOW] = "the process uses HIP, which --capture window does not "
				       "support: use --capture replay",
		[TS_LANE_TWO_VENDORS] = "the process uses HIP and another vendor's library, whose "
					"calls are not captured",
		[TS_LANE_NO_LIBRARY] = "the process cannot load libtsinject-capture.so of the same "
				       "version from the folder of libtsinject.so",
	};
	/* Pairs with the producer's release. */
	uint32_t ended = __atomic_load_n(&s->memory.control->lane_ended, __ATOMIC_ACQUIRE);

	return ended < TS_ARRAY_LEN(why) ? why[ended] : NULL;
}

int ts_session_lane_end(struct ts_session *s)
{
	struct ts_row_operation row = {.start_ns = ts_clock_monotonic_ns(),
				       .sequence = s->lane.sequence + 1,
				       .kind = TS_OPERATION_END};
	const char *text;
	int r;

	if (!s->memory.lane_bytes || s->lane.ended || s->full)
		return 0;
	text = ts_session_lane_why(s);
	if (s->lane.closed || s->lane.position != s->lane.head)
		text = "a part of the captured data was not written";
	if (!text)
		return 0;
	r = ts_sbt_writer_string(s->recording->writer, text, strlen(text), &row.name);
	if (r)
		return ts_session_write_failed(s, r);
	r = ts_session_add_row(s, TS_ROW_OPERATION, &row);
	if (!r)
		ts_session_count_row(s, TS_ROW_OPERATION);
	s->lane.ended = true;
	return r;
}
