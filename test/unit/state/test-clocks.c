/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the clock bounds of three sessions: a device with its own clock, a wide bound, an exact
 * clock.
 */
#include "test/unit/harness.h"

#include <sys/mman.h>

#include "proto/abi/clock.h"
#include "replay/state/state-clocks.h"
#include "sbt/writer.h"

static void add_session(struct ts_sbt_writer *writer, uint64_t error_ns,
			const struct ts_row_clock *rows, size_t n)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = 1000, .clock_error_ns = error_ns};
	struct ts_sbt_session_writer *session;

	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (size_t i = 0; i < n; i++)
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_CLOCK, &rows[i]), 0);
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
}

static struct ts_sbt_reader *make(uint64_t second_error_ns)
{
	const struct ts_row_clock own[] = {{2000, 1, 700, TS_CLOCK_CUPTI, 0},
					   {3000, 2, 900, TS_CLOCK_CUPTI, 0},
					   {3000, 2, 5000, TS_CLOCK_REALTIME, 0}};
	int fd = memfd_create("trace", MFD_CLOEXEC), copy = dup(fd);
	struct ts_sbt_writer *writer;
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	add_session(writer, 30, own, TS_ARRAY_LEN(own));
	add_session(writer, second_error_ns, NULL, 0);
	add_session(writer, 0, NULL, 0);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(copy, &reader, NULL), 0);
	close(copy);
	return reader;
}

TS_TEST(bounds)
{
	struct ts_sbt_reader *reader = make(400);
	struct ts_clocks clocks;

	ts_check_int(ts_clocks_read(reader, 0, &clocks), 0);
	ts_check_int(clocks.n_sessions, 3);
	ts_check_int(clocks.host_ns, 400);
	ts_check_int(clocks.device_ns, 30 + 900);
	ts_check_int(clocks.between_ns, 30 + 900 + 400);
	ts_check_int(ts_clocks_read(reader, 2, &clocks), 0);
	ts_check_int(clocks.n_sessions, 1);
	ts_check_int(clocks.host_ns, 400);
	ts_check_int(clocks.device_ns, 400);
	ts_check_int(clocks.between_ns, 0);
	ts_sbt_reader_free(reader);
}

TS_TEST(a_bound_that_lies_stays_one)
{
	struct ts_sbt_reader *reader = make(UINT64_MAX);
	struct ts_clocks clocks;

	ts_check_int(ts_clocks_read(reader, 0, &clocks), 0);
	ts_check(clocks.host_ns == UINT64_MAX && clocks.between_ns == UINT64_MAX);
	ts_sbt_reader_free(reader);
}
