/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests a file of very many blocks: its writer's memory stays small, the index lists every block,
 * and a recording continues from it in another file.
 */
#include "test/unit/harness.h"

#include <malloc.h>

#include "sbt/verify.h"
#include "test/unit/sbt/sbt-test.h"

#define N_SEALS 60000u
/* Each seal writes a mark and a checkpoint. */
#define N_BLOCKS (2 * N_SEALS)
/*
 * Bytes of an index entry in memory; all entries together would be eight times the memory limit of
 * this test.
 */
#define ENTRY_BYTES 72u

static void write_blocks(struct ts_sbt_session_writer *session, struct ts_sbt_writer *writer)
{
	uint64_t state = 1;

	for (uint32_t i = 0; i < N_SEALS; i++) {
		struct ts_row_mark mark = {.start_ns = 1000 + i * UINT64_C(1000) +
						       test_random(&state) % 1000};
		char text[32];

		/* The next file begins with these definitions. */
		if (i % 1000 == 0) {
			snprintf(text, sizeof(text), "name %u", i);
			ts_check_int(ts_sbt_writer_string(writer, text, strlen(text), &mark.name),
				     0);
		}
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_MARK, &mark), 0);
		ts_check_int(ts_sbt_session_writer_seal(session, &i, sizeof(i)), 0);
	}
}

static void check_file(int fd, uint64_t n_marks, uint64_t n_mark_blocks)
{
	struct ts_sbt_verify_report report;
	struct ts_sbt_reader *reader;
	struct ts_sbt_error error;
	uint64_t n = 0;

	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	ts_check_int(report.n_findings, 0);
	ts_check_int(report.counts[TS_ROW_MARK], n_marks);
	ts_check_int(ts_sbt_reader_open(fd, &reader, &error), 0);
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
		n += ts_sbt_reader_block(reader, i)->type == TS_ROW_MARK;
	ts_check_int(n, n_mark_blocks);
	ts_sbt_reader_free(reader);
}

static size_t heap_bytes(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

TS_TEST(many_blocks)
{
	int fd = test_file(), next = test_file();
	struct ts_row_session row = {.pid = 7, .start_ns = 1};
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	size_t before, after;

	ts_check_int(ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	before = heap_bytes();
	write_blocks(session, writer);
	after = heap_bytes();
	printf("index: %u blocks, %zu KiB of memory\n", N_BLOCKS, (after - before) / 1024);
#if !defined(__SANITIZE_ADDRESS__)
	ts_check(after - before < N_BLOCKS * ENTRY_BYTES / 2);
#endif
	ts_check_int(ts_sbt_writer_continue(writer, fcntl(next, F_DUPFD_CLOEXEC, 3), 1), 0);
	check_file(fd, N_SEALS, N_SEALS);
	write_blocks(session, writer);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	check_file(next, N_SEALS, N_SEALS);
	close(fd);
	close(next);
}

/* A writer without rows releases memory, and then works as before. */
TS_TEST(trim)
{
	struct ts_row_session row = {.pid = 7, .start_ns = 1};
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	int fd = test_file();

	ts_check_int(ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (unsigned round = 0; round < 3; round++) {
		for (uint32_t i = 0; i < 70000; i++) {
			struct ts_row_mark mark = {.start_ns = 1 + i};

			ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_MARK, &mark), 0);
		}
		/* Rows that are not sealed stay. */
		ts_sbt_session_writer_trim(session);
		ts_check_int(ts_sbt_session_writer_pending_rows(session), 70000);
		ts_check(ts_sbt_session_writer_memory(session) > 256 * 1024);
		ts_check_int(ts_sbt_session_writer_seal(session, &round, sizeof(round)), 0);
		ts_sbt_session_writer_trim(session);
		ts_sbt_writer_trim(writer);
		ts_check(ts_sbt_session_writer_memory(session) < 32 * 1024);
		ts_check(ts_sbt_writer_memory(writer) < 256 * 1024);
	}
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	check_file(fd, 3 * 70000, 3 * 2);
	close(fd);
}
