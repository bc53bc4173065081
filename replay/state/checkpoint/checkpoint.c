/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes checkpoints into a trace and resumes from them: see checkpoint.h. `tsctl index` and at.c
 * call this file. This file feeds the builder of state.c and stores bytes through sbt.
 *
 * A checkpoint is taken before a row that begins later than the row before it. It holds the state
 * after all earlier rows: the machine, live memory, events, and work in progress. It leaves out the
 * last calls, because the trace has them and a resume reads them again. It lists the blocks with
 * unread rows, so that a resume skips all other blocks that began before.
 *
 * The head describes the whole trace: a fingerprint of its blocks, and the calls that never get a
 * device row. A resume does not wait for those calls.
 */
#include "replay/state/checkpoint/checkpoint.h"

#include "replay/state/state-builder.h"

#include <errno.h>
#include <stdlib.h>

#include "sbt/crc32c.h"

#define VERSION	  3u
#define MAX_NEVER (1u << 20)
/*
 * Entries of finished work are removed when there are more than twice the entries that the last
 * removal left, plus MIN_TIDY.
 */
#define MIN_TIDY   256u
#define MAX_BLOCKS 65536u /* blocks with unread rows */

/* A block of which rows were read: the number of read rows, and the start of the last one. */
struct seen {
	uint64_t block, last_ns;
	uint32_t n_rows;
};

#define N_HINTS 256u

struct maker {
	struct ts_sbt_append *append;
	struct ts_sbt_reader *reader;
	struct ts_state_builder *builder;
	struct ts_state_open open;
	struct seen *seen;
	size_t n_seen, n_seen_allocated;
	uint32_t hints[N_HINTS]; /* likely index in `seen`, by block number */
	size_t tidy_calls, tidy_syncs, tidy_ops;
	uint64_t last_ns, rows_since, every, next;
	struct ts_pack pack;
	struct ts_pack never; /* calls that never get a device row: session, operation id */
	struct ts_state_checkpoints made;
};

/* ---- which trace ----------------------------------------------------------------------------- */

/*
 * Returns a checksum of the offsets, sizes and times of all blocks from which a state is computed.
 */
static uint32_t fingerprint(const struct ts_sbt_reader *reader)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);
		uint64_t of[] = {sum,
				 i,
				 block->off,
				 block->bytes,
				 block->earliest_ns,
				 block->latest_ns,
				 block->duration_ns,
				 (uint64_t)block->n_rows << 32 | block->session,
				 block->type};

		if (ts_row_is_event(block->type) && TS_STATE_ROWS & TS_ROW_BIT(block->type))
			sum = ts_crc32c(of, sizeof(of));
	}
	return sum;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void tidy_open(struct maker *maker, uint64_t now_ns)
{
	struct ts_state_open *open = &maker->open;
	size_t n = 0;

	for (size_t i = 0; i < open->n_calls; i++)
		if (open->calls[i].row.end_ns > now_ns)
			open->calls[n++] = open->calls[i];
	open->n_calls = n;
	n = 0;
	for (size_t i = 0; i < open->n_syncs; i++)
		if (open->syncs[i].row.end_ns > now_ns)
			open->syncs[n++] = open->syncs[i];
	open->n_syncs = n;
	n = 0;
	for (size_t i = 0; i < open->n_ops; i++)
		if (open->ops[i].end_ns > now_ns)
			open->ops[n++] = open->ops[i];
	open->n_ops = n;
	maker->tidy_calls = 2 * open->n_calls + MIN_TIDY;
	maker->tidy_syncs = 2 * open->n_syncs + MIN_TIDY;
	maker->tidy_ops = 2 * open->n_ops + MIN_TIDY;
}

static int note_block(struct maker *maker, uint64_t block, uint64_t start_ns)
{
	uint32_t *hint = &maker->hints[block % N_HINTS];
	struct seen *seen;

	if (*hint >= maker->n_seen || maker->seen[*hint].block != block)
		for (*hint = 0; *hint < maker->n_seen; ++*hint)
			if (maker->seen[*hint].block == block)
				break;
	if (*hint == maker->n_seen) {
		if (maker->n_seen == MAX_BLOCKS)
			return TS_SBT_E_LIMIT;
		seen = ts_state_append(&maker->seen, &maker->n_seen, &maker->n_seen_allocated,
				       sizeof(*seen));
		if (!seen)
			return -ENOMEM;
		seen->block = block;
	}
	maker->seen[*hint].last_ns = start_ns;
	maker->seen[*hint].n_rows++;
	return 0;
}

static int compare_seen(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return x->block < y->block ? -1 : x->block > y->block;
}

/* Packs the blocks that have unread rows, or calls that a resume reads again. */
static void pack_blocks(struct maker *maker, uint64_t window_ns)
{
	uint64_t last = 0;
	size_t n = 0;

	for (size_t i = 0; i < maker->n_seen; i++) {
		const struct ts_sbt_block *block =
			ts_sbt_reader_block(maker->reader, maker->seen[i].block);

		if (maker->seen[i].n_rows < block->n_rows ||
		    (block->type == TS_ROW_API && maker->seen[i].last_ns >= window_ns))
			maker->seen[n++] = maker->seen[i];
	}
	maker->n_seen = n;
	if (n)
		qsort(maker->seen, n, sizeof(*maker->seen), compare_seen);
	ts_pack_u(&maker->pack, n);
	for (size_t i = 0; i < n; i++) {
		ts_pack_u(&maker->pack, maker->seen[i].block - last);
		last = maker->seen[i].block;
	}
}

static void pack_op(struct ts_pack *pack, const struct ts_state_op *op)
{
	ts_pack_u(pack, op->type);
	ts_pack_u(pack, op->session);
	ts_pack_u(pack, op->op_id);
	ts_pack_u(pack, op->number);
	ts_pack_u(pack, op->call_number);
	ts_pack_u(pack, op->stream_number);
	ts_pack_ns(pack, op->call_ns);
	ts_pack_ns(pack, op->call_end_ns);
	ts_pack_ns(pack, op->start_ns);
	ts_pack_ns(pack, op->end_ns);
	ts_pack_u(pack, op->thread);
	ts_pack_u(pack, op->stack);
	ts_pack_u(pack, op->unsure);
	ts_pack_u(pack, op->domain);
	ts_pack_u(pack, op->cbid);
	ts_state_order_pack_found(pack, op->n_dependencies, op->dependencies, op->op_id);
	ts_pack_row(pack, ts_row_schema(op->type), &op->row);
}

/* Packs the calls in progress, except those that a resume reads again. */
static void pack_open(struct maker *maker, uint64_t window_ns)
{
	const struct ts_state_open *open = &maker->open;
	struct ts_pack *pack = &maker->pack;
	size_t n = 0;

	for (size_t i = 0; i < open->n_calls; i++)
		n += open->calls[i].row.start_ns < window_ns;
	ts_pack_u(pack, n);
	for (size_t i = 0; i < open->n_calls; i++) {
		if (open->calls[i].row.start_ns >= window_ns)
			continue;
		ts_pack_u(pack, open->calls[i].session);
		ts_pack_row(pack, ts_row_schema(TS_ROW_API), &open->calls[i].row);
	}
	ts_pack_u(pack, open->n_syncs);
	for (size_t i = 0; i < open->n_syncs; i++) {
		ts_pack_u(pack, open->syncs[i].session);
		ts_pack_row(pack, ts_row_schema(TS_ROW_SYNC), &open->syncs[i].row);
	}
	ts_pack_u(pack, open->n_ops);
	for (size_t i = 0; i < open->n_ops; i++)
		pack_op(pack, &open->ops[i]);
}

/* True for an event that may be reached after now_ns. */
static bool may_be_due(struct ts_state_builder *builder, const struct ts_state_event *event,
		       uint64_t now_ns)
{
	struct ts_state_dependency found[TS_STATE_MAX_DEPENDENCIES];
	uint64_t host_op_id, host_over_ns;
	int n = ts_state_machine_event(builder->machine, event->session, event->event, found,
				       &host_op_id, &host_over_ns);

	if (host_op_id && host_over_ns > now_ns)
		return true;
	for (int i = 0; i < n; i++)
		if (found[i].end_ns > now_ns)
			return true;
	return !ts_state_machine_is_settled(builder->machine, event->session, event->event);
}

static void pack_builder(struct maker *maker, uint64_t now_ns)
{
	struct ts_state_builder *builder = maker->builder;
	struct ts_state *state = builder->state;
	struct ts_pack *pack = &maker->pack;
	size_t n = 0;

	ts_pack_u(pack, state->n_bad_frees);
	ts_pack_u(pack, state->n_allocations);
	for (size_t i = 0; i < state->n_allocations; i++) {
		ts_pack_u(pack, state->allocations[i].session);
		ts_pack_row(pack, ts_row_schema(TS_ROW_ALLOC), &state->allocations[i].row);
	}
	for (size_t i = 0; i < state->n_events; i++)
		n += may_be_due(builder, &state->events[i], now_ns);
	ts_pack_u(pack, n);
	for (size_t i = 0; i < state->n_events; i++) {
		const struct ts_state_event *event = &state->events[i];

		if (!may_be_due(builder, event, now_ns))
			continue;
		ts_pack_u(pack, event->session);
		ts_pack_u(pack, event->stream);
		ts_pack_u(pack, event->event);
		ts_pack_ns(pack, event->recorded_ns);
	}
	ts_pack_u(pack, builder->n_launches);
	for (size_t i = 0; i < builder->n_launches; i++) {
		const struct ts_state_launch *launch = &builder->launches[i];

		ts_pack_u(pack, launch->op_id);
		ts_pack_u(pack, launch->done_ns);
		ts_pack_u(pack, launch->session);
		ts_pack_u(pack, launch->context);
		ts_pack_u(pack, launch->stream);
	}
}

static int take(struct maker *maker, uint64_t now_ns)
{
	uint64_t window_ns = ts_state_machine_window_ns(maker->builder->machine);
	struct ts_pack *pack = &maker->pack;
	int r;

	if (window_ns > now_ns)
		window_ns = now_ns;
	tidy_open(maker, now_ns);
	pack->buffer.n = 0;
	pack->base_ns = 0;
	ts_pack_u(pack, now_ns);
	pack->base_ns = now_ns;
	ts_pack_u(pack, maker->builder->state->n_rows);
	ts_pack_u(pack, maker->builder->state->is_cut);
	ts_pack_ns(pack, window_ns);
	pack_blocks(maker, window_ns);
	pack_builder(maker, now_ns);
	pack_open(maker, window_ns);
	ts_state_machine_pack(maker->builder->machine, pack);
	if (pack->failed)
		return -ENOMEM;
	r = ts_sbt_append_item(maker->append, TS_ROW_STATE, now_ns, pack->buffer.bytes,
			       pack->buffer.n);
	maker->made.n++;
	maker->made.bytes += pack->buffer.n;
	maker->rows_since = 0;
	if (maker->every == TS_STATE_CHECKPOINT_ROWS && pack->buffer.n > maker->every)
		maker->next = pack->buffer.n;
	else
		maker->next = maker->every;
	return r == -E2BIG ? TS_SBT_E_LIMIT : r;
}

static int add_never(struct maker *maker, uint32_t session, uint64_t op_id)
{
	if (maker->made.n_unanswered == MAX_NEVER)
		return TS_SBT_E_LIMIT;
	ts_pack_u(&maker->never, session);
	ts_pack_u(&maker->never, op_id);
	maker->made.n_unanswered++;
	return maker->never.failed ? -ENOMEM : 0;
}

static int pass(struct maker *maker, const struct ts_sbt_row *row)
{
	struct ts_state_machine *machine = maker->builder->machine;
	uint64_t n_given_up = ts_state_machine_n_given_up(machine), op_id;
	int r = ts_state_builder_pass(maker->builder, row);
	uint32_t session;

	/* Feeding one row makes the machine give up one call at most. */
	if (r || ts_state_machine_n_given_up(machine) == n_given_up)
		return r;
	ts_state_machine_given_up(machine, &session, &op_id);
	return add_never(maker, session, op_id);
}

static int make(struct maker *maker, struct ts_sbt_cursor *cursor)
{
	struct ts_sbt_row row;
	int r;

	while (!(r = ts_sbt_cursor_next(cursor, &row))) {
		uint64_t start_ns = ts_row_start_ns(row.any);

		if (maker->rows_since >= maker->next && start_ns > maker->last_ns) {
			r = take(maker, start_ns);
			if (r)
				return r;
		}
		maker->last_ns = start_ns;
		maker->rows_since++;
		r = note_block(maker, ts_sbt_cursor_block(cursor), start_ns);
		r = r ? r : pass(maker, &row);
		if (r)
			return r;
		if (maker->open.n_calls > maker->tidy_calls ||
		    maker->open.n_syncs > maker->tidy_syncs || maker->open.n_ops > maker->tidy_ops)
			tidy_open(maker, start_ns);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static int add_head(struct maker *maker)
{
	struct ts_pack *pack = &maker->pack;
	struct ts_state_op op;
	int r = 0;

	while (!r && ts_state_machine_unanswered(maker->builder->machine, &op))
		r = add_never(maker, op.session, op.op_id);
	if (r)
		return r;
	pack->buffer.n = 0;
	ts_pack_u(pack, VERSION);
	ts_pack_u(pack, fingerprint(maker->reader));
	ts_pack_u(pack, maker->made.n);
	ts_pack_u(pack, maker->made.bytes);
	ts_pack_u(pack, maker->builder->state->n_rows);
	ts_pack_u(pack, maker->made.n_unanswered);
	if (pack->failed ||
	    ts_buffer_append(&pack->buffer, maker->never.buffer.bytes, maker->never.buffer.n))
		return -ENOMEM;
	r = ts_sbt_append_item(maker->append, TS_ROW_STATE_HEAD, maker->last_ns, pack->buffer.bytes,
			       pack->buffer.n);
	maker->made.n_rows = maker->builder->state->n_rows;
	return r == -E2BIG ? TS_SBT_E_LIMIT : r;
}

int ts_state_checkpoints_add(struct ts_sbt_append *append, uint32_t every,
			     struct ts_state_checkpoints *ret)
{
	const struct ts_sbt_cursor_options options = {.types = TS_STATE_ROWS};
	ts_cleanup(ts_state_builder_freep) struct ts_state_builder *builder = NULL;
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct maker maker = {.append = append,
			      .reader = ts_sbt_append_reader(append),
			      .every = every ? every : TS_STATE_CHECKPOINT_ROWS,
			      .tidy_calls = MIN_TIDY,
			      .tidy_syncs = MIN_TIDY,
			      .tidy_ops = MIN_TIDY};
	int r = ts_state_builder_new(UINT64_MAX, &builder);

	if (!r) {
		maker.builder = builder;
		/*
		 * The first checkpoint comes before the first row. It holds no state, but a resume
		 * from it uses the head's list of calls that are never answered.
		 */
		maker.rows_since = maker.next = maker.every;
		builder->open = &maker.open;
		r = ts_state_machine_prepare(builder->machine, maker.reader, 0);
	}
	r = r ? r : ts_sbt_cursor_new(maker.reader, &options, &cursor);
	r = r ? r : make(&maker, cursor);
	r = r ? r : add_head(&maker);
	if (!r)
		*ret = maker.made;
	ts_buffer_deinit(&maker.pack.buffer);
	ts_buffer_deinit(&maker.never.buffer);
	free(maker.open.calls);
	free(maker.open.syncs);
	free(maker.open.ops);
	free(maker.seen);
	return r;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* One stored item (a checkpoint or the head), and the bytes of its block, which the struct owns. */
struct item {
	void *bytes;
	uint32_t *lengths;
	const uint8_t *at;
	size_t n;
};

static void item_deinit(struct item *item)
{
	free(item->bytes);
	free(item->lengths);
}

/*
 * Finds the last item of block i whose time is at most at_ns. If there is none, finds the first
 * item.
 */
static int find_item(struct ts_sbt_reader *reader, size_t i, uint64_t at_ns, struct item *ret_item)
{
	struct item item = {0};
	const uint8_t *at;
	uint32_t n;
	int r = ts_sbt_reader_items(reader, i, &item.bytes, &item.lengths, &n);

	if (r)
		return r;
	at = item.bytes;
	for (uint32_t k = 0; k < n; k++) {
		struct ts_unpack unpack = {.at = at, .end = at + item.lengths[k]};
		uint64_t time_ns = ts_unpack_u(&unpack);

		if (unpack.bad || (item.at && time_ns > at_ns))
			break;
		item.at = at;
		item.n = item.lengths[k];
		at += item.lengths[k];
	}
	*ret_item = item;
	return item.at ? 0 : TS_SBT_E_CORRUPT;
}

/*
 * Reads the head that matches the trace. If `never` is not NULL, adds the calls that never get a
 * device row.
 */
static int read_head(struct ts_sbt_reader *reader, size_t *ret_block,
		     struct ts_state_checkpoints *ret, struct ts_state_map *never)
{
	ts_cleanup(item_deinit) struct item item = {0};
	size_t i = ts_sbt_reader_n_blocks(reader);
	struct ts_unpack unpack;
	int r;

	while (i && ts_sbt_reader_block(reader, i - 1)->type != TS_ROW_STATE_HEAD)
		i--;
	if (!i--)
		return TS_SBT_E_NOT_FOUND;
	r = find_item(reader, i, UINT64_MAX, &item);
	if (r)
		return r;
	unpack = (struct ts_unpack){.at = item.at, .end = item.at + item.n};
	/*
	 * Ignores a head of another version, or one whose fingerprint does not match the trace's
	 * blocks.
	 */
	if (ts_unpack_u(&unpack) != VERSION || ts_unpack_u(&unpack) != fingerprint(reader))
		return unpack.bad ? TS_SBT_E_CORRUPT : TS_SBT_E_NOT_FOUND;
	ret->n = ts_unpack_u(&unpack);
	ret->bytes = ts_unpack_u(&unpack);
	ret->n_rows = ts_unpack_u(&unpack);
	ret->n_unanswered = ts_unpack_count(&unpack);
	for (uint64_t k = 0; never && k < ret->n_unanswered && !unpack.bad; k++) {
		uint32_t session = ts_unpack_u32(&unpack);

		if (ts_state_map_set(never, session, ts_unpack_u(&unpack), 0))
			return -ENOMEM;
	}
	*ret_block = i;
	return unpack.bad ? TS_SBT_E_CORRUPT : 0;
}

int ts_state_checkpoints_find(struct ts_sbt_reader *reader, struct ts_state_checkpoints *ret)
{
	struct ts_state_checkpoints found = {0};
	size_t block;
	int r = read_head(reader, &block, &found, NULL);

	if (!r)
		*ret = found;
	return r;
}

/* ---- going on -------------------------------------------------------------------------------- */

struct resuming {
	struct ts_state_builder *builder;
	struct ts_unpack unpack;
	struct ts_sbt_resume resume;
	uint64_t *begun;
	uint64_t n_window;
};

static void unpack_blocks(struct resuming *resuming)
{
	struct ts_unpack *unpack = &resuming->unpack;
	size_t n = ts_unpack_count(unpack);
	uint64_t block = 0;

	unpack->bad |= n > MAX_BLOCKS;
	resuming->begun = unpack->bad ? NULL : calloc(n ? n : 1, sizeof(*resuming->begun));
	unpack->bad |= !resuming->begun;
	for (size_t i = 0; !unpack->bad && i < n; i++) {
		block += ts_unpack_u(unpack);
		resuming->begun[i] = block;
		resuming->resume.n_begun = i + 1;
	}
	resuming->resume.begun = resuming->begun;
}

static int host_row(struct resuming *resuming, uint32_t type, uint32_t session, const void *row)
{
	struct ts_sbt_row fed = {.type = type,
				 .session = session,
				 .schema = ts_row_schema(type),
				 .any = row};

	return ts_state_builder_host(resuming->builder, &fed);
}

static int unpack_rows(struct resuming *resuming, uint32_t type)
{
	struct ts_unpack *unpack = &resuming->unpack;
	size_t n = ts_unpack_count(unpack);
	int r = 0;

	for (size_t i = 0; !r && !unpack->bad && i < n; i++) {
		_Alignas(8) uint8_t row[TS_ROW_MAX_BYTES];
		uint32_t session = ts_unpack_u32(unpack);

		ts_unpack_row(unpack, ts_row_schema(type), row);
		if (!unpack->bad)
			r = host_row(resuming, type, session, row);
	}
	return r;
}

static int unpack_builder(struct resuming *resuming)
{
	struct ts_state_builder *builder = resuming->builder;
	struct ts_unpack *unpack = &resuming->unpack;
	size_t n;
	int r;

	builder->state->n_bad_frees = ts_unpack_u(unpack);
	r = unpack_rows(resuming, TS_ROW_ALLOC);
	n = ts_unpack_count(unpack);
	for (size_t i = 0; !r && !unpack->bad && i < n; i++) {
		uint32_t session = ts_unpack_u32(unpack);
		struct ts_row_event row = {.stream = ts_unpack_u32(unpack)};

		row.event = ts_unpack_u(unpack);
		row.start_ns = ts_unpack_ns(unpack);
		r = host_row(resuming, TS_ROW_EVENT, session, &row);
	}
	n = ts_unpack_count(unpack);
	for (size_t i = 0; !r && !unpack->bad && i < n; i++) {
		struct ts_state_launch *launch =
			ts_state_append(&builder->launches, &builder->n_launches,
					&builder->n_launches_allocated, sizeof(*launch));

		if (!launch)
			return -ENOMEM;
		launch->op_id = ts_unpack_u(unpack);
		launch->done_ns = ts_unpack_u(unpack);
		launch->session = ts_unpack_u32(unpack);
		launch->context = ts_unpack_u32(unpack);
		launch->stream = ts_unpack_u32(unpack);
	}
	return r;
}

static int unpack_op(struct resuming *resuming)
{
	struct ts_unpack *unpack = &resuming->unpack;
	struct ts_state_op op = {.type = ts_unpack_u32(unpack)};

	op.session = ts_unpack_u32(unpack);
	op.op_id = ts_unpack_u(unpack);
	op.number = ts_unpack_u(unpack);
	op.call_number = ts_unpack_u(unpack);
	op.stream_number = ts_unpack_u32(unpack);
	op.call_ns = ts_unpack_ns(unpack);
	op.call_end_ns = ts_unpack_ns(unpack);
	op.start_ns = ts_unpack_ns(unpack);
	op.end_ns = ts_unpack_ns(unpack);
	op.thread = ts_unpack_u32(unpack);
	op.stack = ts_unpack_u32(unpack);
	op.unsure = ts_unpack_u32(unpack);
	op.domain = (uint16_t)ts_unpack_u(unpack);
	op.cbid = (uint16_t)ts_unpack_u(unpack);
	op.n_dependencies = ts_state_order_unpack_found(unpack, op.dependencies, op.op_id);
	if (op.type != TS_ROW_KERNEL && op.type != TS_ROW_MEMCPY && op.type != TS_ROW_MEMSET)
		unpack->bad = true;
	if (unpack->bad)
		return 0;
	ts_unpack_row(unpack, ts_row_schema(op.type), &op.row);
	ts_state_place(&op);
	return ts_state_builder_keep(resuming->builder, &op);
}

static int unpack_open(struct resuming *resuming, struct ts_unpack *ret_syncs)
{
	struct ts_unpack *unpack = &resuming->unpack;
	struct ts_row_sync sync;
	size_t n;
	int r = unpack_rows(resuming, TS_ROW_API);

	/*
	 * A synchronization refers to its call, which read_window() may still read again. So
	 * synchronizations are unpacked after read_window().
	 */
	*ret_syncs = *unpack;
	n = ts_unpack_count(unpack);
	for (size_t i = 0; !unpack->bad && i < n; i++) {
		ts_unpack_u32(unpack);
		ts_unpack_row(unpack, ts_row_schema(TS_ROW_SYNC), &sync);
	}
	n = ts_unpack_count(unpack);
	for (size_t i = 0; !r && !unpack->bad && i < n; i++)
		r = unpack_op(resuming);
	return r;
}

/*
 * Reads the last calls before the checkpoint again, from the start of their window to the
 * checkpoint. *row receives the first row after the checkpoint. Returns 0, TS_SBT_E_END if there is
 * no such row, or an error.
 */
static int read_window(struct resuming *resuming, struct ts_sbt_cursor *cursor,
		       struct ts_sbt_row *row)
{
	struct ts_state_op op;
	int r;

	while (!(r = ts_sbt_cursor_next(cursor, row))) {
		if (ts_row_start_ns(row->any) >= resuming->resume.start_ns)
			return 0;
		r = ts_state_builder_host(resuming->builder, row);
		r = r ? r : ts_state_machine_feed(resuming->builder->machine, row, &op);
		if (r)
			return r;
		resuming->n_window++;
	}
	return r;
}

static int go_on(struct resuming *resuming, struct ts_sbt_reader *reader,
		 const struct ts_state_map *never)
{
	const struct ts_sbt_cursor_options options = {.types = TS_STATE_ROWS,
						      .resume = &resuming->resume};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_state_builder *builder = resuming->builder;
	struct ts_unpack syncs;
	struct ts_sbt_row row;
	bool has_row;
	int r = unpack_builder(resuming);

	r = r ? r : unpack_open(resuming, &syncs);
	r = r ? r : ts_state_machine_unpack(builder->machine, &resuming->unpack);
	if (resuming->unpack.bad)
		return TS_SBT_E_CORRUPT;
	r = r ? r : ts_sbt_cursor_new(reader, &options, &cursor);
	if (r)
		return r;
	r = read_window(resuming, cursor, &row);
	has_row = !r;
	if (r && r != TS_SBT_E_END)
		return r;
	r = ts_state_machine_resume(builder->machine, resuming->n_window, &resuming->unpack);
	if (r)
		return r;
	syncs.end = resuming->unpack.end;
	resuming->unpack = syncs;
	r = unpack_rows(resuming, TS_ROW_SYNC);
	builder->never = never;
	builder->n_never = ts_state_machine_n_awaited_of(builder->machine, never);
	if (!r && has_row)
		r = ts_state_builder_feed(builder, &row);
	return r ? r : ts_state_builder_read(builder, cursor);
}

static int resume(struct ts_sbt_reader *reader, const struct item *item, uint64_t at_ns,
		  const struct ts_state_map *never, struct ts_state **ret_state)
{
	ts_cleanup(ts_state_builder_freep) struct ts_state_builder *builder = NULL;
	struct resuming resuming = {.unpack = {.at = item->at, .end = item->at + item->n}};
	struct ts_unpack *unpack = &resuming.unpack;
	int r = ts_state_builder_new(at_ns, &builder);

	r = r ? r : ts_state_builder_devices(builder, reader);
	if (r)
		return r;
	resuming.builder = builder;
	resuming.resume.start_ns = unpack->base_ns = ts_unpack_u(unpack);
	builder->state->n_rows = ts_unpack_u(unpack);
	builder->state->is_cut = ts_unpack_u(unpack);
	resuming.resume.early_types = TS_ROW_BIT(TS_ROW_API);
	resuming.resume.early_ns = ts_unpack_ns(unpack);
	unpack_blocks(&resuming);
	if (unpack->bad || resuming.resume.start_ns > at_ns ||
	    resuming.resume.early_ns > resuming.resume.start_ns)
		r = TS_SBT_E_CORRUPT;
	r = r ? r : go_on(&resuming, reader, never);
	free(resuming.begun);
	/*
	 * An undamaged trace reaches its end, or the builder stops early because nothing is
	 * awaited.
	 */
	return r == TS_SBT_E_END ? ts_state_builder_finish(builder, ret_state) : r;
}

int ts_state_from_checkpoint(struct ts_sbt_reader *reader, uint32_t session, uint64_t at_ns,
			     struct ts_state **ret_state)
{
	ts_cleanup(ts_state_map_deinit) struct ts_state_map never = {0};
	ts_cleanup(item_deinit) struct item item = {0};
	struct ts_state_checkpoints head;
	size_t i;
	int r;

	/*
	 * A checkpoint holds the state of all sessions together, so it does not serve a query about
	 * one of several.
	 */
	if (session && ts_sbt_reader_n_sessions(reader) > 1)
		return TS_SBT_E_NOT_FOUND;
	r = read_head(reader, &i, &head, &never);
	if (r)
		return r;
	/* The checkpoints of a head lie directly before it. */
	while (i && ts_sbt_reader_block(reader, i - 1)->type == TS_ROW_STATE &&
	       ts_sbt_reader_block(reader, i - 1)->earliest_ns > at_ns)
		i--;
	if (!i || ts_sbt_reader_block(reader, i - 1)->type != TS_ROW_STATE)
		return TS_SBT_E_NOT_FOUND;
	r = find_item(reader, i - 1, at_ns, &item);
	return r ? r : resume(reader, &item, at_ns, &never, ret_state);
}
