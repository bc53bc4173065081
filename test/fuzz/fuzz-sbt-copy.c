/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes cutting and joining of untrusted traces (sbt/copy.h). The trace is cut to a window, joined
 * with itself, and joined with a valid trace of another machine. Each copy must end with a result.
 * If the copy succeeds, the new file must verify as finished, with the reported number of rows.
 */
#include "sbt/copy.h"
#include "sbt/verify.h"
#include "test/fuzz/fuzz-sbt.h"

#define MAX_ROWS 100000u /* limit: a few bytes can decode to many rows */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int sound_trace(void)
{
	ts_cleanup(ts_sbt_writer_freep) struct ts_sbt_writer *writer = NULL;
	ts_cleanup(ts_sbt_session_writer_freep) struct ts_sbt_session_writer *session = NULL;
	struct ts_row_session row = {.uuid = {1}, .pid = 7, .start_ns = 5};
	int fd = memfd_create("sound", MFD_CLOEXEC);

	if (fd < 0 || ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer) ||
	    ts_sbt_writer_metadata(writer, TS_METADATA_HOSTNAME, "elsewhere") ||
	    ts_sbt_session_writer_new(writer, &row, &session))
		abort();
	for (uint64_t i = 0; i < 100; i++) {
		struct ts_row_api api = {.start_ns = 1000 + i * 300,
					 .end_ns = 1100 + i * 300,
					 .op_id = i + 1};

		if (ts_sbt_session_writer_add_row(session, TS_ROW_API, &api))
			abort();
	}
	if (ts_sbt_session_writer_seal(session, NULL, 0))
		abort();
	ts_sbt_session_writer_free(ts_take_ptr(session));
	if (ts_sbt_writer_finish(writer))
		abort();
	return fd;
}

static uint64_t rows_of(const struct ts_sbt_reader *reader)
{
	uint64_t n = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
		if (ts_row_is_event(ts_sbt_reader_block(reader, i)->type))
			n += ts_sbt_reader_block(reader, i)->n_rows;
	return n;
}

static void check_made(int fd, const struct ts_sbt_copy_report *report)
{
	struct ts_sbt_verify_report verified;
	struct ts_sbt_reader *reader;

	if (ts_sbt_verify(fd, NULL, &verified) || verified.n_findings ||
	    ts_sbt_reader_open(fd, &reader, NULL))
		abort();
	if (ts_sbt_reader_state(reader) != TS_SBT_FINISHED || rows_of(reader) != report->n_rows)
		abort();
	ts_sbt_reader_free(reader);
}

static void copy_of(struct ts_sbt_reader *const *readers, size_t n,
		    const struct ts_sbt_copy_options *options)
{
	ts_cleanup(ts_sbt_writer_freep) struct ts_sbt_writer *writer = NULL;
	struct ts_sbt_copy_source sources[3] = {0};
	struct ts_sbt_copy_report report;
	int fd = memfd_create("made", MFD_CLOEXEC);

	if (fd < 0 || ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer))
		abort();
	for (size_t i = 0; i < n; i++)
		sources[i] = (struct ts_sbt_copy_source){.reader = readers[i], .name = "a trace"};
	if (!ts_sbt_copy(sources, n, options, writer, &report) && !ts_sbt_writer_finish(writer))
		check_made(fd, &report);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ts_sbt_copy_options whole = {0};
	struct ts_sbt_copy_options window = {.from_ns = 3000, .to_ns = 9000, .has_window = true};
	struct ts_sbt_copy_options tail = {.from_ns = 5000, .has_window = true};
	int fds[3] = {ts_fuzz_sbt_file(data, size), ts_fuzz_sbt_file(data, size), sound_trace()};
	struct ts_sbt_reader *readers[3] = {NULL};
	bool all = true;

	for (int i = 0; i < 3; i++)
		all = all && fds[i] >= 0 && !ts_sbt_reader_open(fds[i], &readers[i], NULL);
	if (all && rows_of(readers[0]) <= MAX_ROWS) {
		copy_of(readers, 1, &window);
		copy_of(readers, 1, &tail);
		copy_of(readers, 2, &whole);
		copy_of(readers, 3, &whole);
		copy_of(readers + 1, 2, &whole);
	}
	for (int i = 0; i < 3; i++) {
		ts_sbt_reader_free(readers[i]);
		if (fds[i] >= 0)
			close(fds[i]);
	}
	return 0;
}
