/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that start together: their order and their depths are the same in each window. */
#include "test/unit/report/opened.h"

#include <sys/mman.h>

#include "sbt/writer.h"

#define N_SPANS	   400u
#define N_BLOCK	   60u
#define START_NS   1000u
#define N_STARTS   40u
#define MAX_LENGTH 8u

struct span {
	uint64_t start_ns, end_ns;
};

static int compare_spans(const void *left, const void *right)
{
	const struct span *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns < b->end_ns) - (a->end_ns > b->end_ns);
}

/* Writes ranges of one thread in any order, as those are that end in another order. */
static void write_ranges(struct trace *trace, struct span *spans)
{
	struct ts_row_session row = {.pid = 1, .start_ns = START_NS};
	struct ts_row_thread thread = {.tid = 5};
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	uint64_t seed = 24;
	uint32_t id;

	trace->fd = memfd_create("trace", MFD_CLOEXEC);
	ts_check_int(ts_sbt_writer_new(dup(trace->fd), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	ts_check_int(ts_sbt_session_writer_add_thread(session, &thread, &id), 0);
	for (size_t i = 0; i < N_SPANS; i++) {
		struct ts_row_range range = {.thread = id};

		/* The first one begins at the origin. */
		seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
		spans[i].start_ns = i ? (seed >> 33) % N_STARTS : 0;
		spans[i].end_ns = spans[i].start_ns + (seed >> 48) % MAX_LENGTH;
		range.start_ns = START_NS + spans[i].start_ns;
		range.end_ns = START_NS + spans[i].end_ns;
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_RANGE, &range), 0);
		if (i % N_BLOCK == N_BLOCK - 1)
			ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	}
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	qsort(spans, N_SPANS, sizeof(*spans), compare_spans);
}

static uint32_t find_ranges(const struct trace *trace)
{
	struct ts_lane lane = {0};

	for (size_t i = 0; lane.kind != TS_LANE_RANGES; i++)
		ts_tiles_lane(trace->tiles, i, &lane);
	return lane.id;
}

/* Returns the number of earlier spans that reach behind the start of span i. */
static uint32_t depth_of(const struct span *spans, size_t i)
{
	uint32_t n = 0;

	for (size_t k = 0; k < i; k++)
		n += spans[k].end_ns > spans[i].start_ns;
	return n < 63 ? n : 63;
}

static void check_window(const struct trace *trace, uint32_t lane, const struct ts_tile_rows *all,
			 uint64_t from_ns, uint64_t to_ns, size_t limit)
{
	struct ts_tile_rows rows;
	size_t n = 0;

	ts_check_int(ts_tiles_rows(trace->tiles, trace->reader, lane, from_ns, to_ns, limit, NULL,
				   NULL, &rows),
		     0);
	for (size_t i = 0; i < all->n; i++) {
		const struct ts_tile_row *row = &all->at[i];

		if (row->start_ns >= to_ns || (row->start_ns < from_ns && row->end_ns <= from_ns))
			continue;
		if (n < rows.n) {
			ts_check_int(rows.at[n].block, row->block);
			ts_check_int(rows.at[n].index, row->index);
			/* Rows that end before the window may reach behind other starts. */
			ts_check(row->start_ns < from_ns || rows.at[n].depth == row->depth);
		}
		n++;
	}
	ts_check_int(rows.n, n < limit ? n : limit);
	ts_check_int(rows.more, n > limit);
	free(rows.at);
}

TS_TEST(rows_that_start_together_have_one_order)
{
	struct span spans[N_SPANS];
	struct trace trace;
	struct ts_tile_rows all;
	struct ts_lane lane;
	uint32_t id, most = 0;

	write_ranges(&trace, spans);
	open_trace(&trace);
	id = find_ranges(&trace);
	ts_check_int(ts_tiles_rows(trace.tiles, trace.reader, id, 0, 1000, N_SPANS, NULL, NULL,
				   &all),
		     0);
	ts_check_int(all.n, N_SPANS);
	ts_check(!all.more);
	for (size_t i = 0; i < N_SPANS; i++) {
		uint32_t depth = depth_of(spans, i);

		ts_check_int(all.at[i].start_ns, spans[i].start_ns);
		ts_check_int(all.at[i].end_ns, spans[i].end_ns);
		ts_check_int(all.at[i].depth, depth);
		most = depth > most ? depth : most;
	}
	for (uint64_t from_ns = 0; from_ns < N_STARTS + MAX_LENGTH; from_ns++)
		for (uint64_t n = 1; n < 20; n++)
			check_window(&trace, id, &all, from_ns, from_ns + n, n * n);
	ts_check_int(ts_tiles_build(trace.tiles, trace.reader, NULL, NULL), 0);
	ts_tiles_lane(trace.tiles, id - 1, &lane);
	ts_check_int(lane.depth, most + 1);
	free(all.at);
	close_trace(&trace);
}
