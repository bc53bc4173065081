/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches among rows that start together: each match is reached once, in a fixed order. For
 * searches by time see test-tiles.c.
 */
#include "test/unit/report/opened.h"

#include <sys/mman.h>

#include "sbt/writer.h"

#define ROWS	 900u
#define INSTANTS 40u

/* Writes kernels of three streams and marks of a thread, in blocks whose times overlap. */
static int write_trace(void)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = 1000};
	struct ts_row_thread thread = {.tid = 1};
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	uint32_t id, seed = 1;

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	ts_check_int(ts_sbt_writer_string(writer, "name", 4, &id), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	ts_check_int(ts_sbt_session_writer_add_thread(session, &thread, &id), 0);
	for (uint32_t i = 0; i < ROWS; i++) {
		uint64_t start_ns = 1000 + (seed >> 8) % INSTANTS;
		const struct ts_row_mark mark = {.start_ns = start_ns, .name = 1, .thread = id};
		const struct ts_row_kernel kernel = {.start_ns = start_ns,
						     .end_ns = start_ns + i % 3,
						     .op_id = i + 1,
						     .stream = seed % 3,
						     .name = 1};

		if (i % 4)
			ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &kernel),
				     0);
		else
			ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_MARK, &mark), 0);
		if (i % 200 == 199)
			ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
		seed = seed * 1664525u + 1013904223u;
	}
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

static bool is_any(void *data, uint32_t key)
{
	return !data && key;
}

static struct ts_tile_place place_of(const struct ts_tile_match *match)
{
	return (struct ts_tile_place){match->row.start_ns, match->row.block, match->lane,
				      match->row.index};
}

static bool is_before(const struct ts_tile_place *a, const struct ts_tile_place *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->lane != b->lane)
		return a->lane < b->lane;
	return a->block != b->block ? a->block < b->block : a->index < b->index;
}

TS_TEST(each_row_is_reached)
{
	struct trace trace = {.fd = write_trace()};
	struct ts_tiles_search search = {.is_wanted = is_any};
	struct ts_tile_place places[ROWS];
	struct ts_tile_match match;
	size_t n = 0;

	open_trace(&trace);
	while (!ts_tiles_search(trace.tiles, trace.reader, &search, &match)) {
		ts_check(n < ROWS);
		places[n] = place_of(&match);
		ts_check(is_before(&search.from, &places[n]));
		search.from = places[n++];
	}
	ts_check_int(n, ROWS);
	search.is_backward = true;
	search.from = (struct ts_tile_place){.start_ns = UINT64_MAX};
	while (n--) {
		ts_check_int(ts_tiles_search(trace.tiles, trace.reader, &search, &match), 0);
		search.from = place_of(&match);
		ts_check(!is_before(&search.from, &places[n]) &&
			 !is_before(&places[n], &search.from));
	}
	ts_check_int(ts_tiles_search(trace.tiles, trace.reader, &search, &match),
		     TS_SBT_E_NOT_FOUND);
	close_trace(&trace);
}
