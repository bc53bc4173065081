/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cursor that reads ahead in a thread returns the same rows, errors, blocks and progress as a
 * cursor without a thread: of intact and damaged traces, cancelled, freed early, and after a fork.
 * Verify with threads finds the same as without.
 */

#include "test/unit/harness.h"

#include <sys/wait.h>

#include "sbt/read/threads/jobs.h"
#include "sbt/verify.h"
#include "test/unit/sbt/sbt-test.h"
#include "test/unit/threads.h"

#define N_ROUNDS 44
/* Rows of each of two types. All rounds are above the limit from which a thread pays. */
#define ROUND_ROWS   (8192u / TS_SBT_THREADS_SHARE)
#define MAX_SESSIONS 24

/* The file is larger than the limit from which verify uses threads. */
static int make_trace_of(unsigned n_sessions, uint64_t n_rounds, uint64_t round_rows)
{
	int fd = test_file();
	struct ts_row_session session = {.pid = 1};
	struct ts_sbt_session_writer *sessions[MAX_SESSIONS];
	struct ts_row_kernel kernel = {.grid_x = 1};
	struct ts_row_api api = {0};
	struct ts_sbt_writer *writer;
	uint64_t state = 1;

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	for (unsigned s = 0; s < n_sessions; s++)
		ts_check_int(ts_sbt_session_writer_new(writer, &session, &sessions[s]), 0);
	for (uint64_t round = 0; round < n_rounds; round++) {
		char name[16];
		uint32_t id;

		/* A block of strings lies between the blocks of rows. */
		snprintf(name, sizeof(name), "round %u", (unsigned)round);
		ts_check_int(ts_sbt_writer_string(writer, name, strlen(name), &id), 0);
		for (uint64_t i = 0; i < round_rows; i++) {
			struct ts_sbt_session_writer *to =
				sessions[test_random(&state) % n_sessions];

			api.op_id = kernel.op_id = round * round_rows + i;
			api.start_ns = 1000 + api.op_id * 10;
			api.end_ns = api.start_ns + test_random(&state) % 4096;
			kernel.start_ns = api.start_ns + test_random(&state) % 65536;
			kernel.end_ns = kernel.start_ns + test_random(&state) % 65536;
			ts_check_int(ts_sbt_session_writer_add_row(to, TS_ROW_API, &api), 0);
			ts_check_int(ts_sbt_session_writer_add_row(to, TS_ROW_KERNEL, &kernel), 0);
		}
		for (unsigned s = 0; s < n_sessions; s++)
			ts_check_int(ts_sbt_session_writer_seal(sessions[s], NULL, 0), 0);
	}
	for (unsigned s = 0; s < n_sessions; s++)
		ts_sbt_session_writer_free(sessions[s]);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

static int whole_trace;

TS_SETUP
{
	whole_trace = make_trace_of(2, N_ROUNDS, ROUND_ROWS);
}

/* Results of a walk over all rows. */
struct walk {
	uint64_t hash; /* of all rows with their sessions and blocks, and of all errors, in order */
	uint64_t n, n_errors, n_decoded, n_progress;
	unsigned more_threads; /* than before */
};

static void count(uint32_t n_rows, void *data)
{
	((struct walk *)data)->n_progress += n_rows;
}

static void mix(uint64_t *hash, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i += sizeof(uint64_t)) {
		uint64_t word = 0;

		memcpy(&word, (const uint8_t *)bytes + i, n - i < 8 ? n - i : 8);
		*hash = (*hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		*hash ^= *hash >> 29;
	}
}

static struct walk walk_in(int fd, const char *threads, uint64_t max_bytes)
{
	struct ts_sbt_reader *reader;
	struct ts_sbt_cursor *cursor;
	unsigned before = count_first_threads();
	struct walk walk = {0};
	struct ts_sbt_row row;
	int r;

	ts_check_int(setenv("TRACESMITH_THREADS", threads, 1), 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_sbt_reader_watch(reader, count, &walk);
	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	if (max_bytes)
		ts_sbt_cursor_limit(cursor, max_bytes);
	while ((r = ts_sbt_cursor_next(cursor, &row)) != TS_SBT_E_END) {
		uint64_t block = ts_sbt_cursor_block(cursor);

		if (r) {
			const struct ts_sbt_error *error = ts_sbt_reader_error(reader);

			ts_check_int(error->code, r);
			mix(&walk.hash, error->text, strlen(error->text));
			mix(&walk.hash, &error->off, sizeof(error->off));
			walk.n_errors++;
			continue;
		}
		mix(&walk.hash, row.any, row.schema->row_bytes);
		mix(&walk.hash, &row.session, sizeof(row.session));
		mix(&walk.hash, &row.type, sizeof(row.type));
		mix(&walk.hash, &block, sizeof(block));
		if (++walk.n % (65536 / TS_SBT_THREADS_SHARE) == 0 &&
		    n_threads() - before > walk.more_threads)
			walk.more_threads = n_threads() - before;
	}
	ts_check_int(ts_sbt_cursor_next(cursor, &row), TS_SBT_E_END);
	walk.n_decoded = ts_sbt_cursor_decoded(cursor);
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	check_threads(before);
	return walk;
}

static struct walk walk(int fd, const char *threads)
{
	return walk_in(fd, threads, 0);
}

struct verified {
	uint64_t hash; /* of the findings, in order */
	unsigned n_threads;
	struct ts_sbt_verify_report report;
};

static void add_finding(const struct ts_sbt_error *error, void *data)
{
	struct verified *verified = data;

	mix(&verified->hash, error->text, strlen(error->text));
	mix(&verified->hash, &error->off, sizeof(error->off));
	verified->n_threads = n_threads();
}

static struct verified verify(int fd, const char *threads)
{
	struct verified verified = {0};
	struct ts_sbt_verify_options options = {.on_finding = add_finding, .data = &verified};
	unsigned before = count_first_threads();

	ts_check_int(setenv("TRACESMITH_THREADS", threads, 1), 0);
	ts_check_int(ts_sbt_verify(fd, &options, &verified.report), 0);
	check_threads(before);
	return verified;
}

static void check_verify(int fd, uint64_t n_findings)
{
	struct verified one = verify(fd, "1"), many = verify(fd, "16");

	ts_check_int(one.report.n_findings, n_findings);
	ts_check(!n_findings || many.n_threads > one.n_threads);
	ts_check_int(many.hash, one.hash);
	ts_check(!memcmp(&many.report.counts, &one.report.counts, sizeof(one.report.counts)));
	ts_check_int(many.report.n_findings, one.report.n_findings);
	ts_check_int(many.report.n_rows, one.report.n_rows);
	ts_check_int(many.report.n_blocks, one.report.n_blocks);
	ts_check_int(many.report.good_bytes, one.report.good_bytes);
	ts_check_int(many.report.state, one.report.state);
}

static void check_equal(const struct walk *one, const struct walk *many)
{
	ts_check_int(many->hash, one->hash);
	ts_check_int(many->n, one->n);
	ts_check_int(many->n_errors, one->n_errors);
	ts_check_int(many->n_decoded, one->n_decoded);
	ts_check_int(many->n_progress, one->n_progress);
}

static void check_same(int fd, uint64_t n_errors)
{
	struct walk one = walk(fd, "1"), two = walk(fd, "2"), many = walk(fd, "16");

	ts_check_int(one.n_errors, n_errors);
	ts_check_int(one.more_threads, 0);
	ts_check_int(two.more_threads, 1);
	ts_check(many.more_threads > 2);
	check_equal(&one, &two);
	check_equal(&one, &many);
}

static void damage(int fd, struct ts_sbt_reader *reader, size_t i)
{
	const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);
	const uint8_t bytes[4] = {0xde, 0xad, 0xbe, 0xef};

	ts_check(pwrite(fd, bytes, 4, (off_t)(block->off + block->bytes / 2)) == 4);
}

TS_TEST(rows_and_errors_are_the_same)
{
	int fd = test_copy_of(whole_trace);
	struct ts_sbt_reader *reader;
	uint64_t n_damaged = 0;
	size_t n_blocks, last = 0;

	check_same(fd, 0);
	check_verify(fd, 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	n_blocks = ts_sbt_reader_n_blocks(reader);
	for (size_t i = n_blocks / 3; i < n_blocks; i += n_blocks / 7) {
		if (!(TS_ROW_BIT(ts_sbt_reader_block(reader, i)->type) & TS_ROW_EVENTS))
			continue;
		damage(fd, reader, i);
		n_damaged++;
		last = i;
	}
	ts_check(n_damaged > 2);
	check_same(fd, n_damaged);
	check_verify(fd, n_damaged);
	/* The walk itself checks the strings behind an event block that a thread still checks. */
	while (ts_sbt_reader_block(reader, last)->type != TS_ROW_STRING)
		last++;
	damage(fd, reader, last);
	check_verify(fd, n_damaged + 1);
	ts_sbt_reader_free(reader);
	close(fd);
}

/*
 * Under a limit of memory that the rows of all open blocks exceed, blocks are not decoded whole.
 */
TS_TEST(many_open_blocks_stay_within_the_limit)
{
	int fd = make_trace_of(MAX_SESSIONS, TS_TEST_SANITIZED ? 2 : 4, 4096 * MAX_SESSIONS);
	struct walk one = walk_in(fd, "1", UINT64_C(16) << 20);
	struct walk many = walk_in(fd, "16", UINT64_C(16) << 20);

	ts_check_int(many.more_threads, 1);
	ts_check_int(many.hash, one.hash);
	ts_check_int(many.n, one.n);
	close(fd);
}

static void run_nothing(void *state, void *job)
{
}

static void keep_state(void *state)
{
}

TS_TEST(jobs_need_memory_for_a_thread)
{
	const struct ts_jobs_kind kind = {.job_bytes = 8,
					  .state_bytes = (size_t)1 << 60,
					  .run = run_nothing,
					  .state_deinit = keep_state};
	struct ts_jobs *jobs;

	if (TS_TEST_SANITIZED)
		ts_skip("a sanitizer ends a process that allocates so much");
	ts_check_int(ts_jobs_new(4, 8, &kind, &jobs), -ENOMEM);
}

/* Reads until the thread has started. */
static void read_some(struct ts_sbt_cursor *cursor)
{
	unsigned before = n_threads();
	struct ts_sbt_row row;

	for (int i = 0; i < 200000 / (int)TS_SBT_THREADS_SHARE; i++)
		ts_check_int(ts_sbt_cursor_next(cursor, &row), 0);
	ts_check(n_threads() > before);
}

TS_TEST(a_reader_that_stops_leaves_no_thread)
{
	int r = 0, status;
	unsigned before = count_first_threads();
	volatile int cancel = 0;
	struct ts_sbt_reader *reader;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	pid_t child;

	ts_check_int(setenv("TRACESMITH_THREADS", "2", 1), 0);
	ts_check_int(ts_sbt_reader_open(whole_trace, &reader, NULL), 0);
	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	read_some(cursor);
	ts_sbt_cursor_free(cursor);
	check_threads(before);

	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	read_some(cursor);
	ts_sbt_reader_cancel(reader, &cancel);
	cancel = 1;
	while (!r)
		r = ts_sbt_cursor_next(cursor, &row);
	ts_check_int(r, -ECANCELED);
	ts_check_int(ts_sbt_reader_error(reader)->code, -ECANCELED);
	ts_sbt_cursor_free(cursor);
	cancel = 0;

	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	read_some(cursor);
	child = fork();
	if (!child) {
		for (r = 0; !r;)
			r = ts_sbt_cursor_next(cursor, &row);
		ts_sbt_cursor_free(cursor);
		_exit(r == -ECHILD ? 7 : 1);
	}
	ts_check(waitpid(child, &status, 0) == child);
	ts_check_int(status, 7 << 8);
	ts_check_int(ts_sbt_cursor_next(cursor, &row), 0);
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
}
