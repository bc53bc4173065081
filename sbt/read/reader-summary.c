/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals of a trace from the index or the block headers. Only loss rows are decoded; they are few,
 * and counted by reason. `tsctl info`, exports, replay and the daemon's worker call this module.
 */

#include "sbt/read/reader-internal.h"

/*
 * True if rows of the type count for the trace's time range. Clock and loss rows do not, because
 * they have the time of a measurement and not of GPU work.
 */
static bool counts_as_time(unsigned type)
{
	return ts_row_is_event(type) && type != TS_ROW_CLOCK && type != TS_ROW_LOSS;
}

uint64_t ts_sbt_reader_origin_ns(const struct ts_sbt_reader *reader)
{
	uint64_t origin_ns = UINT64_MAX;

	for (size_t i = 0; i < reader->n_blocks; i++)
		if (counts_as_time(reader->blocks[i].type) && reader->blocks[i].n_rows &&
		    reader->blocks[i].earliest_ns < origin_ns)
			origin_ns = reader->blocks[i].earliest_ns;
	for (size_t i = 0; i < ts_sbt_reader_n_sessions(reader); i++) {
		uint64_t start_ns = ts_sbt_reader_session_at(reader, i)->start_ns;

		if (start_ns && start_ns < origin_ns)
			origin_ns = start_ns;
	}
	return origin_ns == UINT64_MAX ? 0 : origin_ns;
}

static int sum_losses(struct ts_sbt_reader *reader, size_t i, struct ts_sbt_summary *summary)
{
	ts_cleanup(ts_freep) void *rows = NULL;
	const struct ts_row_loss *loss;
	uint32_t n_rows;
	int r = ts_sbt_reader_decode(reader, i, &rows, &n_rows);

	if (r)
		return r;
	loss = rows;
	for (uint32_t row = 0; row < n_rows; row++) {
		uint32_t reason = loss[row].reason < TS_LOSS_COUNT ? loss[row].reason : 0;

		summary->lost[reason] = ts_add_saturated(summary->lost[reason], loss[row].count);
	}
	return 0;
}

/*
 * Orders block numbers by session. `data` of qsort_r() is the reader, whose list has the sessions.
 */
static int compare_session(const void *a, const void *b, void *data)
{
	const struct ts_sbt_reader *reader = data;
	uint64_t i = *(const uint64_t *)a, j = *(const uint64_t *)b;
	uint32_t x = reader->blocks[i].session, y = reader->blocks[j].session;

	if (x != y)
		return x < y ? -1 : 1;
	return i < j ? -1 : i > j;
}

/*
 * Sorts once for all sessions. A scan of all blocks per session would take blocks * sessions steps,
 * and an untrusted file chooses both.
 */
static int order_by_session(struct ts_sbt_reader *reader)
{
	uint64_t *order;

	if (reader->by_session && reader->n_by_session == reader->n_blocks)
		return 0;
	order = reallocarray(reader->by_session, reader->n_blocks + 1, sizeof(*order));
	if (!order)
		return ts_sbt_reader_fail(reader, -ENOMEM, 0, "no memory for totals");
	for (size_t i = 0; i < reader->n_blocks; i++)
		order[i] = i;
	qsort_r(order, reader->n_blocks, sizeof(*order), compare_session, reader);
	reader->by_session = order;
	reader->n_by_session = reader->n_blocks;
	return 0;
}

/* Returns the position in by_session of the first block of this session or a later one. */
static size_t first_of_session(const struct ts_sbt_reader *reader, uint64_t session)
{
	size_t low = 0, high = reader->n_by_session;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (reader->blocks[reader->by_session[middle]].session < session)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int add_block(struct ts_sbt_reader *reader, size_t i, struct ts_sbt_summary *summary)
{
	const struct ts_sbt_block *block = &reader->blocks[i];
	unsigned type = block->type;

	if (type >= TS_ROW_COUNT)
		return 0;
	summary->counts[type] += block->n_rows;
	summary->stored_bytes[type] += block->bytes;
	summary->durations_ns[type] =
		ts_add_saturated(summary->durations_ns[type], block->duration_ns);
	summary->bytes[type] = ts_add_saturated(summary->bytes[type], block->amount_bytes);
	if (counts_as_time(type) && block->n_rows) {
		if (block->earliest_ns < summary->earliest_ns)
			summary->earliest_ns = block->earliest_ns;
		if (block->latest_ns > summary->latest_ns)
			summary->latest_ns = block->latest_ns;
	}
	return type == TS_ROW_LOSS ? sum_losses(reader, i, summary) : 0;
}

int ts_sbt_reader_summary(struct ts_sbt_reader *reader, uint32_t session,
			  struct ts_sbt_summary *ret_summary)
{
	struct ts_sbt_summary summary = {.earliest_ns = UINT64_MAX};
	size_t from = 0, to = reader->n_blocks;
	int r;

	if (session) {
		r = order_by_session(reader);
		if (r)
			return r;
		from = first_of_session(reader, session);
		to = first_of_session(reader, session + UINT64_C(1));
	}
	for (size_t i = from; i < to; i++) {
		r = add_block(reader, session ? reader->by_session[i] : i, &summary);
		if (r)
			return r;
	}
	if (summary.earliest_ns == UINT64_MAX)
		summary.earliest_ns = 0;
	*ret_summary = summary;
	return 0;
}
