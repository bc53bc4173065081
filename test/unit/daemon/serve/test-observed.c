/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests sessions of processes that are observed from outside: the events of probes become rows in
 * the order in which calls return.
 */
#include "test/unit/harness.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>

#include "daemon/serve/limits.h"
#include "daemon/serve/system/observed.h"
#include "sbt/reader.h"

static const struct ts_limits limits = {.max_definition_bytes = 1 << 20};

/* Makes the event of a call from start_ns to end_ns. */
static struct ts_call_event call_at(uint32_t tid, uint64_t start_ns, uint64_t end_ns)
{
	return (struct ts_call_event){.type = TS_CALL_EVENT_CALL,
				      .pid = (uint32_t)getpid(),
				      .tid = tid,
				      .uid = getuid(),
				      .start_ns = start_ns,
				      .end_ns = end_ns,
				      .name = "worker"};
}

TS_TEST(a_session_starts_with_its_earliest_call)
{
	/* The second thread's call began first and returned last. */
	const struct ts_call_event calls[] = {call_at(11, 5000300, 5000400),
					      call_at(12, 5000000, 5000500),
					      call_at(11, 5000600, 5000700)};
	struct ts_recording recording = {.limits = &limits};
	struct ts_observed observed = {.pid = (uint32_t)getpid()};
	const struct ts_row_session *session;
	struct ts_sbt_error error = {0};
	struct ts_sbt_reader *reader;
	uint64_t realtime_ns;
	char path[64];
	int fd;

	fd = memfd_create("trace", MFD_CLOEXEC);
	ts_check(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ts_check_int(ts_sbt_writer_new(fd, &recording.writer), 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ts_check(fd >= 0);
	ts_check_int(ts_observed_begin(&observed, &recording, &calls[0], ""), 0);
	realtime_ns = observed.row.start_realtime_ns;
	for (unsigned i = 0; i < TS_ARRAY_LEN(calls); i++)
		ts_check_int(ts_observed_call(&observed, &recording, &calls[i]), 0);
	/* A row can be read while the observation still runs. */
	ts_check_int(ts_observed_seal(&observed), 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, &error), 0);
	session = ts_sbt_reader_session_at(reader, 0);
	ts_check_int(session->start_ns, 5000000);
	ts_check_int(session->start_realtime_ns, realtime_ns - 300);
	ts_check_int(ts_sbt_reader_origin_ns(reader), 5000000);
	ts_sbt_reader_free(reader);
	ts_check_int(ts_observed_end(&observed, TS_SESSION_END_BYE), 0);
	ts_check_int(observed.row.start_ns, 5000000);
	ts_sbt_session_writer_free(observed.writer);
	observed.writer = NULL;
	ts_map_deinit(&observed.threads);
	ts_sbt_writer_free(recording.writer);
	close(fd);
}
