/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts files at every byte or at many places. The cut files open up to their last complete block,
 * verify reports the cut, and repair corrects the end.
 */

#include "test/unit/harness.h"

#include "sbt/format/block.h"
#include "sbt/repair.h"
#include "sbt/verify.h"
#include "test/unit/sbt/sbt-test.h"

/* Returns the number of event rows in the blocks that end before `cut`. */
static uint64_t rows_before(const struct ts_sbt_reader *reader, uint64_t cut)
{
	uint64_t n = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		if (block->off + block->bytes <= cut && ts_row_is_event(block->type))
			n += block->n_rows;
	}
	return n;
}

static void check_cut(const uint8_t *bytes, size_t n, size_t cut, const struct ts_sbt_reader *whole)
{
	int fd = test_file_of(bytes, cut), rw;
	struct ts_sbt_repair_report repaired;
	struct ts_sbt_verify_report report;
	struct ts_sbt_reader *reader;
	struct ts_sbt_error error;
	uint64_t rows = rows_before(whole, cut);

	if (cut < TS_SBT_HEADER_BYTES) {
		ts_check_int(ts_sbt_reader_open(fd, &reader, &error), TS_SBT_E_NOT_SBT);
		ts_check_int(error.code, TS_SBT_E_NOT_SBT);
		ts_check_int(ts_sbt_verify(fd, NULL, &report), TS_SBT_E_NOT_SBT);
		close(fd);
		return;
	}
	ts_check_int(ts_sbt_reader_open(fd, &reader, &error), 0);
	ts_check_int(ts_sbt_reader_state(reader), cut == n ? TS_SBT_FINISHED : TS_SBT_TRUNCATED);
	ts_check_int(test_read_all(reader), rows);
	ts_sbt_reader_free(reader);
	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	ts_check(cut == n ? !report.n_findings : report.n_findings > 0);

	rw = test_reopen(fd, O_RDWR);
	ts_check_int(ts_sbt_repair(rw, &repaired, &error), 0);
	ts_check_int(repaired.was_finished, cut == n);
	ts_check_int(repaired.n_rows, rows);
	ts_check_int(ts_sbt_verify(rw, NULL, &report), 0);
	ts_check_int(report.n_findings, 0);
	ts_check_int(report.state, TS_SBT_FINISHED);
	ts_check_int(ts_sbt_reader_open(rw, &reader, &error), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	ts_check_int(test_read_all(reader), rows);
	ts_sbt_reader_free(reader);
	close(rw);
	close(fd);
}

TS_TEST(cut_at_every_byte)
{
	/* A sanitizer looks at a third of them, at every place in a word. */
	const size_t step = TS_TEST_SANITIZED && !ts_soak() ? 3 : 1;
	int fd = test_small_trace(1, 2, true);
	struct ts_sbt_reader *whole;
	size_t n;
	uint8_t *bytes = test_contents(fd, &n);

	ts_check_int(ts_sbt_reader_open(fd, &whole, NULL), 0);
	for (size_t cut = n % step; cut <= n; cut += step) {
		alarm(TS_TEST_SECONDS); /* each test may hang, together they may take longer */
		check_cut(bytes, n, cut, whole);
	}
	ts_sbt_reader_free(whole);
	free(bytes);
	close(fd);
}

static int compare_descending(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/*
 * Checks that the reader of the cut file counts exactly the rows in the blocks that end before the
 * cut.
 */
static void check_large_cut(int fd, size_t cut, const struct ts_sbt_reader *whole)
{
	struct ts_sbt_summary summary;
	struct ts_sbt_reader *reader;
	uint64_t n = 0;

	ts_check_int(ftruncate(fd, (off_t)cut), 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_TRUNCATED);
	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type))
		n += summary.counts[type];
	ts_check_int(n, rows_before(whole, cut));
	ts_sbt_reader_free(reader);
}

/* All files are opened. For some, every row is read, and they are verified and repaired. */
TS_TEST(large_cut_at_random)
{
	enum {
		N_CUTS = 1000
	};
	int fd = test_small_trace(3, 120, true), cut_fd;
	size_t cuts[N_CUTS], n;
	uint8_t *bytes = test_contents(fd, &n);
	struct ts_sbt_reader *whole;
	uint64_t state = 31;

	ts_check(n > 200000);
	for (size_t i = 0; i < N_CUTS; i++)
		cuts[i] = TS_SBT_HEADER_BYTES + test_random(&state) % (n - TS_SBT_HEADER_BYTES);
	qsort(cuts, N_CUTS, sizeof(*cuts), compare_descending);
	ts_check_int(ts_sbt_reader_open(fd, &whole, NULL), 0);
	cut_fd = test_file_of(bytes, n);
	for (size_t i = 0; i < ts_cases(N_CUTS); i++) {
		alarm(TS_TEST_SECONDS);
		check_large_cut(cut_fd, cuts[i], whole);
		if (i % 100 == 7)
			check_cut(bytes, n, cuts[i], whole);
	}
	ts_sbt_reader_free(whole);
	free(bytes);
	close(cut_fd);
	close(fd);
}

/*
 * A session may add captured contents before its first seal. The session's row comes before them in
 * the file, so that a cut file still has the session.
 */
TS_TEST(a_session_comes_before_its_contents)
{
	enum {
		N_BYTES = 256 * 1024,
		N_BLOBS = 40
	};
	const struct ts_row_session row = {.pid = 7};
	struct ts_sbt_session_writer *session;
	uint8_t *bytes = calloc(1, N_BYTES);
	struct ts_sbt_writer *writer;
	struct ts_sbt_reader *reader;
	uint64_t state = 5, hash[2];
	int fd = test_file();
	uint32_t blob;
	size_t i;

	ts_check(bytes);
	ts_check_int(ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (uint32_t n = 0; n < N_BLOBS; n++) {
		hash[0] = test_random(&state);
		hash[1] = test_random(&state);
		ts_check_int(ts_sbt_session_writer_add_blob(session, bytes, N_BYTES, 0, hash,
							    &blob),
			     0);
	}
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	for (i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
		if (ts_sbt_reader_block(reader, i)->session)
			break;
	ts_check(i < ts_sbt_reader_n_blocks(reader));
	ts_check_int(ts_sbt_reader_block(reader, i)->type, TS_ROW_SESSION);
	ts_sbt_reader_free(reader);
	free(bytes);
	close(fd);
}
