/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and cells of a lane with few rows need no blocks without any, and no long look at others. */
#include "test/unit/report/opened.h"

#include <sys/mman.h>
#include <time.h>

#include "sbt/writer.h"

#define SPARSE_ROWS  UINT64_C(100000)
#define MANY_ROWS    UINT64_C(40000)
#define MANY_STREAMS UINT64_C(3000)

struct pattern {
	uint64_t n_rows, n_streams;
	uint64_t copy_every, seal_every; /* kernels */
};

/* Kernels of one stream in many blocks, and copies of another one in a few. */
static const struct pattern sparse = {SPARSE_ROWS, 1, 1000, 5000};
/* Kernels and copies by turns, in blocks that overlap and have rows of all streams. */
static const struct pattern many = {MANY_ROWS, MANY_STREAMS, 1, 10000};

static int write_rows(const struct pattern *pattern)
{
	struct ts_row_session row = {.pid = 1, .start_ns = 1};
	int fd = memfd_create("trace", MFD_CLOEXEC), file = dup(fd);
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;

	ts_check(fd >= 0 && file >= 0);
	ts_check_int(ts_sbt_writer_new(file, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (uint64_t i = 0; i < pattern->n_rows; i++) {
		const uint32_t stream = 7 + (uint32_t)(i * 7919 % pattern->n_streams);
		const struct ts_row_kernel kernel = {.start_ns = 10 + 10 * i,
						     .end_ns = 15 + 10 * i,
						     .op_id = 2 * i,
						     .context = 1,
						     .stream = stream};
		const struct ts_row_memcpy copy = {.start_ns = 12 + 10 * i,
						   .end_ns = 19 + 10 * i,
						   .op_id = 2 * i + 1,
						   .context = 1,
						   .stream = pattern->n_streams > 1 ? stream : 19,
						   .copy_kind = 1};

		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &kernel), 0);
		if (i % pattern->copy_every == 0)
			ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_MEMCPY, &copy),
				     0);
		if ((i + 1) % pattern->seal_every == 0)
			ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	}
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

static void count_read(uint32_t n_rows, void *data)
{
	*(uint64_t *)data += n_rows;
}

/* A copy among a thousand kernels: their blocks are not decoded for it. */
TS_TEST(rows_of_a_sparse_lane_need_its_blocks_alone)
{
	struct trace trace = {.fd = write_rows(&sparse)};
	uint64_t n_read = 0;

	open_trace(&trace);
	ts_sbt_reader_watch(trace.reader, count_read, &n_read);
	for (size_t i = 0; i < ts_tiles_n_lanes(trace.tiles); i++) {
		struct ts_tile_cell cells[TS_TILE_CELLS];
		struct ts_tile_rows rows;
		struct ts_lane lane;
		uint32_t flags;

		ts_tiles_lane(trace.tiles, i, &lane);
		if (lane.kind != TS_LANE_COPY &&
		    !(lane.kind == TS_LANE_STREAM && lane.stream == 19))
			continue;
		ts_check_int(ts_tiles_rows(trace.tiles, trace.reader, lane.id, 0, UINT64_MAX >> 1,
					   4000, NULL, NULL, &rows),
			     0);
		ts_check_int(rows.n, SPARSE_ROWS / 1000);
		free(rows.at);
		ts_check_int(ts_tiles_view(trace.tiles, trace.reader,
					   &(struct ts_tiles_view){.n_tiles = 1,
								   .first = 4,
								   .lanes = &lane.id,
								   .n_lanes = 1},
					   cells, &flags),
			     0);
	}
	/* Twice those with columns of their own: times, and operations. */
	ts_check(n_read > 0 && n_read <= 16 * SPARSE_ROWS / 1000);
	close_trace(&trace);
}

/* Returns the processor time of a view of the whole trace that has one lane. */
static uint64_t view_ns(struct trace *trace, uint32_t lane)
{
	const struct ts_tiles_view view = {.n_tiles = 1, .level = 12, .lanes = &lane, .n_lanes = 1};
	struct ts_tile_cell cells[TS_TILE_CELLS];
	struct timespec begin, end;
	uint32_t flags;

	ts_check(ts_tiles_duration_ns(trace->tiles) <= (uint64_t)TS_TILE_CELLS << view.level);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
	ts_check_int(ts_tiles_view(trace->tiles, trace->reader, &view, cells, &flags), 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
	return (uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000u + (uint64_t)end.tv_nsec -
	       (uint64_t)begin.tv_nsec;
}

/*
 * Rows of one stream among thousands lie in the same blocks as those of the device, and cost no
 * more: the streams of a block are searched once, and not for each run of rows.
 */
TS_TEST(the_lanes_of_a_block_are_searched_once)
{
	struct trace trace = {.fd = write_rows(&many)};
	uint64_t device_ns = 0, stream_ns = 0;
	uint32_t device = 0, stream = 0;

	open_trace(&trace);
	for (size_t i = 0; i < ts_tiles_n_lanes(trace.tiles); i++) {
		struct ts_lane lane;

		ts_tiles_lane(trace.tiles, i, &lane);
		if (lane.kind == TS_LANE_DEVICE)
			device = lane.id;
		else if (lane.kind == TS_LANE_STREAM)
			stream = lane.id;
	}
	ts_check(device && stream);
	/* The first view decodes the blocks. */
	(void)view_ns(&trace, device);
	for (unsigned i = 0; i < 3; i++) {
		device_ns += view_ns(&trace, device);
		stream_ns += view_ns(&trace, stream);
	}
	ts_check(stream_ns < 20 * device_ns);
	close_trace(&trace);
}
