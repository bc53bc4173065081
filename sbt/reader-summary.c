/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals of a trace, from what the headers of its blocks (or the index) say: no rows are decoded but losses',
 * which are few and are counted by reason.
 */

#include "sbt/reader-internal.h"

/* Clock and loss rows say when something was measured or noticed, not when the GPU was at work. */
static bool counts_as_time(unsigned type)
{
	return type > 0 && type < TS_ROW_EVENT_COUNT && type != TS_ROW_CLOCK && type != TS_ROW_LOSS;
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

int ts_sbt_reader_summary(struct ts_sbt_reader *reader, uint32_t session,
			  struct ts_sbt_summary *ret_summary)
{
	struct ts_sbt_summary summary = {.earliest_ns = UINT64_MAX};
	int r;

	for (size_t i = 0; i < reader->n_blocks; i++) {
		const struct ts_sbt_block *block = &reader->blocks[i];
		unsigned type = block->type;

		if (type >= TS_ROW_COUNT || (session && block->session != session))
			continue;
		summary.counts[type] += block->n_rows;
		summary.stored_bytes[type] += block->bytes;
		summary.durations_ns[type] =
			ts_add_saturated(summary.durations_ns[type], block->duration_ns);
		summary.bytes[type] = ts_add_saturated(summary.bytes[type], block->amount_bytes);
		if (type == TS_ROW_LOSS) {
			r = sum_losses(reader, i, &summary);
			if (r)
				return r;
		}
		if (!counts_as_time(type) || !block->n_rows)
			continue;
		if (block->earliest_ns < summary.earliest_ns)
			summary.earliest_ns = block->earliest_ns;
		if (block->latest_ns > summary.latest_ns)
			summary.latest_ns = block->latest_ns;
	}
	if (summary.earliest_ns == UINT64_MAX)
		summary.earliest_ns = 0;
	*ret_summary = summary;
	return 0;
}
