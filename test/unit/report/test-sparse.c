/* SPDX-License-Identifier: Apache-2.0 */
/* Rows and cells of a lane with few rows need no blocks without any. */
#include "test/unit/report/opened.h"

#include <sys/mman.h>

#include "sbt/writer.h"

#define SPARSE_ROWS UINT64_C(100000)

/* Writes kernels of one stream in many blocks, and copies of another one in a few. */
static int write_sparse(void)
{
	struct ts_row_session row = {.pid = 1, .start_ns = 1};
	int fd = memfd_create("trace", MFD_CLOEXEC), file = dup(fd);
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;

	ts_check(fd >= 0 && file >= 0);
	ts_check_int(ts_sbt_writer_new(file, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (uint64_t i = 0; i < SPARSE_ROWS; i++) {
		const struct ts_row_kernel kernel = {.start_ns = 10 + 10 * i,
						     .end_ns = 15 + 10 * i,
						     .op_id = 2 * i,
						     .context = 1,
						     .stream = 7};
		const struct ts_row_memcpy copy = {.start_ns = 12 + 10 * i,
						   .end_ns = 19 + 10 * i,
						   .op_id = 2 * i + 1,
						   .context = 1,
						   .stream = 19,
						   .copy_kind = 1};

		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &kernel), 0);
		if (i % 1000 == 0)
			ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_MEMCPY, &copy),
				     0);
		if (i % 5000 == 4999)
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
	struct trace trace = {.fd = write_sparse()};
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
