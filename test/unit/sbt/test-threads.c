/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several sessions write one file at once, each in its own thread, while another thread reads the
 * growing file. Nothing is lost or mixed up, and under TSan nothing races. The same holds for
 * several readers of one descriptor.
 */

#include "test/unit/harness.h"

#include <pthread.h>

#include "sbt/arrays.h"
#include "sbt/columns.h"
#include "sbt/reader-threads.h"
#include "sbt/verify.h"
#include "test/unit/sbt/sbt-test.h"

#define N_SESSIONS 4
#define N_ROUNDS   40
#define N_ROWS	   500

struct job {
	struct ts_sbt_writer *writer;
	uint64_t number;
	uint32_t session;
	int error;
};

static int write_session(struct job *job)
{
	struct ts_row_session row = {.pid = (uint32_t)job->number};
	struct ts_sbt_session_writer *session;
	int r = ts_sbt_session_writer_new(job->writer, &row, &session);

	if (r)
		return r;
	job->session = ts_sbt_session_writer_number(session);
	for (uint64_t round = 0; !r && round < N_ROUNDS; round++) {
		struct ts_row_kernel kernel = {0};
		char name[32];

		/* All threads share half of the names. */
		snprintf(name, sizeof(name), "kernel-%" PRIu64 "-%" PRIu64, round,
			 round % 2 ? job->number : 0);
		r = ts_sbt_writer_string(job->writer, name, strlen(name), &kernel.name);
		for (uint64_t i = 0; !r && i < N_ROWS; i++) {
			kernel.start_ns = round * 1000 + i;
			kernel.end_ns = kernel.start_ns + job->number;
			kernel.op_id = round << 32 | i;
			r = ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &kernel);
		}
		if (!r)
			r = ts_sbt_session_writer_seal(session, &round, sizeof(round));
	}
	ts_sbt_session_writer_free(session);
	return r;
}

static void *write_thread(void *data)
{
	struct job *job = data;

	job->error = write_session(job);
	return NULL;
}

static uint64_t count_rows(struct ts_sbt_reader *reader)
{
	uint64_t counts[N_SESSIONS + 1] = {0}, n = 0;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	char name[32];

	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	while (!ts_sbt_cursor_next(cursor, &row)) {
		uint64_t round = row.kernel->op_id >> 32;
		uint64_t pid = ts_sbt_reader_session(reader, row.session)->pid;

		ts_check_int(row.kernel->end_ns - row.kernel->start_ns, pid);
		snprintf(name, sizeof(name), "kernel-%" PRIu64 "-%" PRIu64, round,
			 round % 2 ? pid : 0);
		ts_check_str(ts_sbt_reader_string(reader, row.kernel->name, NULL), name);
		ts_check(row.session >= 1 && row.session <= N_SESSIONS);
		counts[row.session]++;
		n++;
	}
	ts_sbt_cursor_free(cursor);
	for (int i = 1; i <= N_SESSIONS; i++)
		ts_check_int(counts[i] % N_ROWS, 0); /* no seal is half visible */
	return n;
}

TS_TEST(sessions_in_threads)
{
	int fd = test_file(), reader_fd = test_reopen(fd, O_RDONLY);
	struct ts_sbt_verify_report report;
	pthread_t threads[N_SESSIONS];
	struct job jobs[N_SESSIONS];
	struct ts_sbt_writer *writer;
	struct ts_sbt_reader *reader;
	uint64_t seen = 0;

	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_reader_open(reader_fd, &reader, NULL), 0);
	for (uint64_t i = 0; i < N_SESSIONS; i++) {
		jobs[i] = (struct job){.writer = writer, .number = i + 1};
		ts_check_int(pthread_create(&threads[i], NULL, write_thread, &jobs[i]), 0);
	}
	for (int i = 0; i < 5; i++) {
		uint64_t n;

		ts_check_int(ts_sbt_reader_refresh(reader), 0);
		n = count_rows(reader);
		ts_check(n >= seen);
		seen = n;
		ts_check(ts_sbt_writer_bytes(writer) >= 64);
		usleep(2000);
	}
	for (int i = 0; i < N_SESSIONS; i++) {
		ts_check_int(pthread_join(threads[i], NULL), 0);
		ts_check_int(jobs[i].error, 0);
	}
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_refresh(reader), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	ts_check_int(count_rows(reader), N_SESSIONS * N_ROUNDS * N_ROWS);
	ts_sbt_reader_free(reader);
	ts_check_int(ts_sbt_verify(reader_fd, NULL, &report), 0);
	ts_check_int(report.n_findings, 0);
	close(reader_fd);
}

/* Results of each reader of one file that is open once. */
struct reading {
	int fd;
	uint64_t n_rows, n_totals, n_values;
};

static void *read_thread(void *data)
{
	struct reading *reading = data;
	struct ts_sbt_arrays *arrays;
	struct ts_sbt_reader *reader;
	struct ts_sbt_totals *totals;

	ts_check_int(ts_sbt_reader_open(reading->fd, &reader, NULL), 0);
	reading->n_rows = count_rows(reader);
	ts_check_int(ts_sbt_totals_new(reader, NULL, &totals), 0);
	for (size_t i = 0; i < ts_sbt_totals_count(totals); i++)
		reading->n_totals += ts_sbt_totals_at(totals, i)->count;
	ts_sbt_totals_free(totals);
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		if (ts_sbt_reader_block(reader, i)->type != TS_ROW_KERNEL)
			continue;
		ts_check_int(ts_sbt_arrays_new(reader, i, 0, &arrays), 0);
		reading->n_values += ts_sbt_arrays_rows(arrays);
		ts_sbt_arrays_free(arrays);
	}
	ts_sbt_reader_free(reader);
	return NULL;
}

TS_TEST(readers_in_threads)
{
	struct job job = {.number = 1};
	struct reading readings[4] = {0};
	pthread_t threads[4];
	int fd = test_file();

	ts_check_int(ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &job.writer), 0);
	ts_check_int(write_session(&job), 0);
	ts_check_int(ts_sbt_writer_finish(job.writer), 0);
	ts_sbt_writer_free(job.writer);
	for (size_t i = 0; i < TS_ARRAY_LEN(threads); i++) {
		readings[i].fd = fd;
		ts_check_int(pthread_create(&threads[i], NULL, read_thread, &readings[i]), 0);
	}
	for (size_t i = 0; i < TS_ARRAY_LEN(threads); i++) {
		ts_check_int(pthread_join(threads[i], NULL), 0);
		ts_check_int(readings[i].n_rows, N_ROUNDS * N_ROWS);
		ts_check_int(readings[i].n_totals, N_ROUNDS * N_ROWS);
		ts_check_int(readings[i].n_values, N_ROUNDS * N_ROWS);
	}
	close(fd);
}

#define N_SHARING 8

/* A thread that reads columns which another thread created. It frees its own reference. */
struct sharing {
	struct ts_sbt_columns *columns;
	uint64_t n, sum;
};

static void *share_thread(void *data)
{
	struct sharing *sharing = data;
	const struct ts_row_schema *schema = ts_sbt_columns_schema(sharing->columns);
	const uint64_t *start_ns =
		ts_sbt_columns_values(sharing->columns, ts_row_column(schema, "start_ns"));
	const uint32_t *sessions = ts_sbt_columns_sessions(sharing->columns);
	struct ts_sbt_columns *again = ts_sbt_columns_ref(sharing->columns);

	sharing->n = ts_sbt_columns_rows(again);
	for (uint64_t i = 0; i < sharing->n; i++)
		sharing->sum += start_ns[i] + sessions[i];
	ts_sbt_columns_free(sharing->columns);
	ts_sbt_columns_free(again);
	return NULL;
}

/* The reader is freed while the threads read, and the last thread frees the columns. */
TS_TEST(columns_in_threads)
{
	struct ts_sbt_columns_options options = {.type = TS_ROW_KERNEL};
	struct sharing sharing[N_SHARING] = {0};
	struct job job = {.number = 1};
	struct ts_sbt_columns *columns;
	pthread_t threads[N_SHARING];
	struct ts_sbt_reader *reader;
	uint64_t sum = 0;
	int fd = test_file();

	ts_check_int(ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &job.writer), 0);
	ts_check_int(write_session(&job), 0);
	ts_check_int(ts_sbt_writer_finish(job.writer), 0);
	ts_sbt_writer_free(job.writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_columns_new(reader, &options, &columns), 0);
	for (int i = 0; i < N_SHARING; i++) {
		sharing[i].columns = ts_sbt_columns_ref(columns);
		ts_check_int(pthread_create(&threads[i], NULL, share_thread, &sharing[i]), 0);
	}
	ts_sbt_columns_free(columns);
	ts_sbt_reader_free(reader);
	for (uint64_t round = 0; round < N_ROUNDS; round++)
		for (uint64_t i = 0; i < N_ROWS; i++)
			sum += round * 1000 + i + 1;
	for (int i = 0; i < N_SHARING; i++) {
		ts_check_int(pthread_join(threads[i], NULL), 0);
		ts_check_int(sharing[i].n, N_ROUNDS * N_ROWS);
		ts_check_int(sharing[i].sum, sum);
	}
	close(fd);
}

/* ---- definitions in another thread ----------------------------------------------------------- */

#define N_STRINGS 200000u /* many blocks */

struct naming {
	struct ts_sbt_reader *shared;
	uint32_t requested; /* the last string that the owner of the reader has requested */
	uint32_t n_found;
};

static void string_text(uint32_t id, char text[32])
{
	snprintf(text, 32, "string-%u", id);
}

static void *read_strings(void *data)
{
	struct naming *naming = data;
	uint32_t id = 0;

	while (id < N_STRINGS) {
		uint32_t requested = __atomic_load_n(&naming->requested, __ATOMIC_ACQUIRE);
		char text[32];

		for (; id < requested; id++) {
			const char *found = ts_sbt_reader_string(naming->shared, id + 1, NULL);

			string_text(id + 1, text);
			naming->n_found += found && !strcmp(found, text);
		}
		ts_check(!ts_sbt_reader_string(naming->shared, N_STRINGS + 1, NULL));
	}
	return NULL;
}

TS_TEST(strings_of_a_shared_reader)
{
	int fd = test_file();
	struct ts_row_session session = {.pid = 7};
	struct ts_sbt_session_writer *sw;
	struct naming naming = {0};
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	pthread_t thread;
	char text[32];
	uint32_t id;

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	for (uint32_t i = 1; i <= N_STRINGS; i++) {
		string_text(i, text);
		ts_check_int(ts_sbt_writer_string(writer, text, strlen(text), &id), 0);
		ts_check_int(id, i);
	}
	ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	ts_sbt_session_writer_free(sw);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_twin(reader, &naming.shared), 0);
	/* A shared reader decodes nothing. */
	ts_check(!ts_sbt_reader_string(naming.shared, 1, NULL));
	ts_check_int(ts_sbt_reader_session(naming.shared, 1)->pid, 7);
	ts_check_int(pthread_create(&thread, NULL, read_strings, &naming), 0);
	for (uint32_t i = 1; i <= N_STRINGS; i++) {
		ts_check(ts_sbt_reader_string(reader, i, NULL));
		__atomic_store_n(&naming.requested, i, __ATOMIC_RELEASE);
	}
	ts_check_int(pthread_join(thread, NULL), 0);
	ts_check_int(naming.n_found, N_STRINGS);
	ts_check(!ts_sbt_reader_lost_definitions(reader));
	ts_sbt_reader_twin_free(naming.shared);
	ts_sbt_reader_twin_free(NULL);
	ts_sbt_reader_free(reader);
	close(fd);
}

static void count_rest(void *data)
{
	__atomic_fetch_add((unsigned *)data, 1, __ATOMIC_RELAXED);
}

/* A rest comes before each block, in a twin too. */
TS_TEST(a_reader_rests_before_each_block)
{
	int fd = test_file();
	struct job job = {.number = 1};
	struct ts_sbt_reader *reader, *twin;
	unsigned n_rests = 0;
	void *rows;
	uint32_t n_rows;

	ts_check_int(ts_sbt_writer_new(dup(fd), &job.writer), 0);
	ts_check_int(write_session(&job), 0);
	ts_check_int(ts_sbt_writer_finish(job.writer), 0);
	ts_sbt_writer_free(job.writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		if (ts_sbt_reader_block(reader, i)->type != TS_ROW_KERNEL)
			continue;
		ts_sbt_reader_rest(reader, count_rest, &n_rests);
		ts_check_int(ts_sbt_reader_twin(reader, &twin), 0);
		ts_check_int(ts_sbt_reader_decode(reader, i, &rows, &n_rows), 0);
		free(rows);
		ts_check_int(n_rests, 1);
		ts_check_int(ts_sbt_reader_decode(twin, i, &rows, &n_rows), 0);
		free(rows);
		ts_check_int(n_rests, 2);
		ts_sbt_reader_rest(reader, NULL, NULL);
		ts_check_int(ts_sbt_reader_decode(reader, i, &rows, &n_rows), 0);
		free(rows);
		ts_check_int(n_rests, 2);
		ts_sbt_reader_twin_free(twin);
		break;
	}
	ts_check_int(n_rests, 2);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(a_file_without_blocks_has_twins)
{
	int fd = test_file();
	struct ts_sbt_reader *reader, *twin;
	struct ts_sbt_writer *writer;

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ftruncate(fd, 64), 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_n_blocks(reader), 0);
	ts_check_int(ts_sbt_reader_twin(reader, &twin), 0);
	ts_sbt_reader_twin_free(twin);
	ts_sbt_reader_free(reader);
	close(fd);
}
