/* SPDX-License-Identifier: Apache-2.0 */
/* A recording in several files: each file is a trace by itself, and all together are one trace. */
#include "test/unit/harness.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "sbt/repair.h"
#include "sbt/verify.h"
#include "sbt/write/writer-internal.h"
#include "test/unit/sbt/sbt-test.h"

#define N_FILES 5
#define N_ROWS	80 /* enough for a block's summaries */

struct recording {
	int fds[N_FILES]; /* oldest first */
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *session;
	uint64_t now;
};

static void write_some(struct recording *made, unsigned file)
{
	struct ts_row_thread thread = {.tid = 100 + file};
	uint64_t frames[] = {0x1000 + file, 0x2000};
	struct ts_row_mark mark = {0};
	char text[32];

	snprintf(text, sizeof(text), "name %u", file);
	ts_check_int(ts_sbt_writer_string(made->writer, text, strlen(text), &mark.name), 0);
	ts_check_int(ts_sbt_session_writer_add_thread(made->session, &thread, &mark.thread), 0);
	ts_check_int(ts_sbt_session_writer_add_stack(made->session, frames, 2, 0, &mark.stack), 0);
	ts_check_int(mark.thread, file + 1);
	ts_check_int(mark.stack, file + 1);
	for (unsigned i = 0; i < N_ROWS; i++) {
		mark.start_ns = made->now++;
		ts_check_int(ts_sbt_session_writer_add_row(made->session, TS_ROW_MARK, &mark), 0);
	}
	ts_check_int(ts_sbt_session_writer_seal(made->session, "where it was", 12), 0);
}

/*
 * Makes a recording in several files. Rows that are pending in the session go into the next file.
 */
static struct recording make_recording_as(bool is_short, bool finish)
{
	struct ts_row_session row = {.pid = 7, .start_ns = 1};
	struct recording made = {.now = 10};
	int fd;

	made.fds[0] = test_file();
	fd = fcntl(made.fds[0], F_DUPFD_CLOEXEC, 3);
	ts_check_int(is_short ? ts_sbt_writer_new(fd, &made.writer)
			      : ts_sbt_writer_new_plain(fd, &made.writer),
		     0);
	ts_check_int(ts_sbt_writer_metadata(made.writer, TS_METADATA_HOSTNAME, "host"), 0);
	ts_check_int(ts_sbt_session_writer_new(made.writer, &row, &made.session), 0);
	for (unsigned file = 0; file < N_FILES; file++) {
		write_some(&made, file);
		if (file == N_FILES - 1)
			break;
		made.fds[file + 1] = test_file();
		fd = fcntl(made.fds[file + 1], F_DUPFD_CLOEXEC, 3);
		ts_check_int(ts_sbt_writer_continue(made.writer, fd, 10 + file), 0);
	}
	row.ended = TS_SESSION_END_BYE;
	row.end_ns = made.now;
	ts_check_int(ts_sbt_session_writer_update(made.session, &row), 0);
	ts_check_int(ts_sbt_session_writer_seal(made.session, NULL, 0), 0);
	ts_sbt_session_writer_free(made.session);
	if (finish)
		ts_check_int(ts_sbt_writer_finish(made.writer), 0);
	ts_sbt_writer_free(made.writer);
	return made;
}

static struct recording make_recording(bool finish)
{
	return make_recording_as(true, finish);
}

static void close_all(struct recording *made)
{
	for (unsigned i = 0; i < N_FILES; i++)
		close(made->fds[i]);
}

static struct ts_sbt_reader *open_reader(int fd)
{
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	return reader;
}

/*
 * Checks that every mark from file `first` to file `last` is there, in order, with its name, thread
 * and stack.
 */
static void check_marks(struct ts_sbt_reader *reader, unsigned first, unsigned last)
{
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_stack stack;
	struct ts_sbt_row row;

	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	for (unsigned i = first * N_ROWS; i < (last + 1) * N_ROWS; i++) {
		char text[32];

		ts_check_int(ts_sbt_cursor_next(cursor, &row), 0);
		ts_check_int(row.type, TS_ROW_MARK);
		ts_check_int(row.session, 1);
		ts_check_int(row.mark->start_ns, 10 + i);
		snprintf(text, sizeof(text), "name %u", i / N_ROWS);
		ts_check_str(ts_sbt_reader_string(reader, row.mark->name, NULL), text);
		ts_check_int(ts_sbt_reader_thread(reader, 1, row.mark->thread)->tid,
			     100 + i / N_ROWS);
		ts_check_int(ts_sbt_reader_stack(reader, 1, row.mark->stack, &stack), 0);
		ts_check_int(stack.frames[0], 0x1000 + i / N_ROWS);
	}
	ts_check_int(ts_sbt_cursor_next(cursor, &row), TS_SBT_E_END);
	ts_sbt_cursor_free(cursor);
}

static void check_each(bool is_short)
{
	struct recording made = make_recording_as(is_short, true);

	for (unsigned i = 0; i < N_FILES; i++) {
		struct ts_sbt_reader *reader = open_reader(made.fds[i]);
		struct ts_sbt_verify_report report;
		struct ts_row_part part;
		int r = ts_sbt_reader_part(reader, &part);

		ts_check_int(r, i ? 0 : TS_SBT_E_NOT_FOUND);
		if (i) {
			ts_check_int(part.part, i + 1);
			ts_check_int(part.before, 10 + i - 1);
			ts_check(part.carried);
		}
		check_marks(reader, i, i);
		ts_check_int(ts_sbt_reader_n_threads(reader), i + 1);
		ts_check_str(ts_sbt_reader_metadata(reader, TS_METADATA_HOSTNAME), "host");
		ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
		ts_sbt_reader_free(reader);
		ts_check_int(ts_sbt_verify(made.fds[i], &(struct ts_sbt_verify_options){0},
					   &report),
			     0);
		ts_check_int(report.n_findings, 0);
		ts_check_int(report.counts[TS_ROW_MARK], N_ROWS);
	}
	close_all(&made);
}

TS_TEST(each_is_a_trace)
{
	check_each(true);
	check_each(false);
}

/*
 * Checks that the summaries of each file still exclude its blocks when the files are read as one
 * trace. A query decodes one block, plus the last one of a file without an end.
 */
static void check_thread(struct ts_sbt_reader *reader, bool is_short, unsigned file, bool finished)
{
	struct ts_sbt_cursor_options options = {.filter = TS_SBT_BY_THREAD, .thread = file + 1};
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	unsigned n = 0;

	ts_check_int(ts_sbt_cursor_new(reader, &options, &cursor), 0);
	for (; !ts_sbt_cursor_next(cursor, &row); n++)
		ts_check_int(row.mark->thread, file + 1);
	ts_check_int(n, N_ROWS);
	/* Small files that may be short have no summaries. */
	if (!is_short)
		ts_check_int(ts_sbt_cursor_decoded(cursor),
			     finished || file == N_FILES - 1 ? 1 : 2);
	ts_sbt_cursor_free(cursor);
}

static void check_all(bool is_short)
{
	for (unsigned first = 0; first < N_FILES - 1; first++) {
		struct recording made = make_recording_as(is_short, first % 2);
		struct ts_sbt_reader *reader = open_reader(made.fds[N_FILES - 1]);
		struct ts_sbt_reader *before[N_FILES];
		struct ts_sbt_summary summary;
		uint64_t bytes = ts_sbt_reader_file_bytes(reader);
		size_t n = 0, n_sessions = 0, checkpoint_bytes;
		void *checkpoint;

		for (unsigned i = N_FILES - 1; i-- > first;) {
			before[n++] = open_reader(made.fds[i]);
			bytes += ts_sbt_reader_file_bytes(before[n - 1]);
		}
		ts_check_int(ts_sbt_reader_join(reader, before, n), 0);
		check_marks(reader, first, N_FILES - 1);
		for (unsigned i = first; i < N_FILES; i++)
			check_thread(reader, is_short, i, first % 2);
		/* The oldest files may be missing: later files repeat their definitions. */
		ts_check_int(ts_sbt_reader_n_threads(reader), N_FILES);
		ts_check_int(ts_sbt_reader_n_metadata(reader), 1);
		ts_check_int(ts_sbt_reader_session_at(reader, 0)->ended, TS_SESSION_END_BYE);
		ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
		ts_check_int(summary.counts[TS_ROW_MARK], (N_FILES - first) * N_ROWS);
		for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
			n_sessions += ts_sbt_reader_block(reader, i)->type == TS_ROW_SESSION;
		ts_check_int(n_sessions, 2);
		ts_check_int(ts_sbt_reader_checkpoint(reader, 1, &checkpoint, &checkpoint_bytes),
			     0);
		free(checkpoint);
		ts_check_int(ts_sbt_reader_file_bytes(reader), bytes);
		ts_check_int(ts_sbt_reader_tail_bytes(reader), 0);
		ts_check_int(ts_sbt_reader_state(reader),
			     first % 2 ? TS_SBT_FINISHED : TS_SBT_TRUNCATED);
		ts_check_int(ts_sbt_reader_refresh(reader), 0);
		ts_sbt_reader_free(reader);
		close_all(&made);
	}
}

TS_TEST(all_are_one)
{
	check_all(true);
	check_all(false);
}

/*
 * The number of the type `sample` lies among the numbers of definitions, but the next file does not
 * begin with the samples of the last one.
 */
TS_TEST(samples_are_not_carried)
{
	struct ts_row_session session = {.pid = 7};
	struct ts_row_sample sample = {.start_ns = 10, .period_ns = 5};
	int fds[2] = {test_file(), test_file()};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_writer *writer;

	ts_check_int(ts_sbt_writer_new(fcntl(fds[0], F_DUPFD_CLOEXEC, 3), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_SAMPLE, &sample), 0);
	ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	ts_check_int(ts_sbt_writer_continue(writer, fcntl(fds[1], F_DUPFD_CLOEXEC, 3), 1), 0);
	ts_sbt_session_writer_free(sw);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	for (unsigned i = 0; i < 2; i++) {
		struct ts_sbt_reader *reader = open_reader(fds[i]);
		struct ts_sbt_summary summary;

		ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
		ts_check_int(summary.counts[TS_ROW_SESSION] > 0, 1);
		ts_check_int(summary.counts[TS_ROW_SAMPLE], !i);
		ts_sbt_reader_free(reader);
		close(fds[i]);
	}
}

/*
 * A gap between files, the wrong order, another recording: the join is rejected, and the reader
 * does not change.
 */
TS_TEST(strangers)
{
	struct recording made = make_recording(true), other = make_recording(true);
	struct ts_sbt_reader *reader = open_reader(made.fds[3]), *before[2];

	before[0] = open_reader(made.fds[1]);
	ts_check_int(ts_sbt_reader_join(reader, before, 1), TS_SBT_E_NOT_FOUND);
	before[0] = open_reader(other.fds[2]);
	ts_check_int(ts_sbt_reader_join(reader, before, 1), TS_SBT_E_NOT_FOUND);
	before[0] = open_reader(made.fds[2]);
	before[1] = open_reader(other.fds[1]);
	ts_check_int(ts_sbt_reader_join(reader, before, 2), TS_SBT_E_NOT_FOUND);
	check_marks(reader, 3, 3);
	before[0] = open_reader(made.fds[2]);
	before[1] = open_reader(made.fds[1]);
	ts_check_int(ts_sbt_reader_join(reader, before, 2), 0);
	check_marks(reader, 1, 3);
	ts_sbt_reader_free(reader);
	close_all(&made);
	close_all(&other);
}

/* If the newest file is cut, its reader reports a cut file. The other files are complete. */
TS_TEST(cut)
{
	struct recording made = make_recording(true);
	struct ts_sbt_reader *reader, *before[N_FILES];
	struct ts_sbt_repair_report report;
	struct ts_sbt_error error;
	struct stat st;

	ts_check_int(fstat(made.fds[N_FILES - 1], &st), 0);
	ts_check_int(ftruncate(made.fds[N_FILES - 1], st.st_size - 60), 0);
	reader = open_reader(made.fds[N_FILES - 1]);
	before[0] = open_reader(made.fds[N_FILES - 2]);
	ts_check_int(ts_sbt_reader_join(reader, before, 1), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_TRUNCATED);
	check_marks(reader, N_FILES - 2, N_FILES - 1);
	ts_sbt_reader_free(reader);
	ts_check_int(ts_sbt_repair(made.fds[N_FILES - 1], &report, &error), 0);
	reader = open_reader(made.fds[N_FILES - 1]);
	before[0] = open_reader(made.fds[N_FILES - 2]);
	ts_check_int(ts_sbt_reader_join(reader, before, 1), 0);
	check_marks(reader, N_FILES - 2, N_FILES - 1);
	ts_sbt_reader_free(reader);
	close_all(&made);
}

/* If a writer cannot begin a new file, it continues in the present one. */
TS_TEST(cannot_continue)
{
	struct recording made = {.now = 10};
	struct ts_row_session row = {.pid = 7};
	int pipe_fds[2], full = test_file();
	struct ts_sbt_reader *reader;

	made.fds[0] = test_file();
	ts_check_int(ts_sbt_writer_new(fcntl(made.fds[0], F_DUPFD_CLOEXEC, 3), &made.writer), 0);
	ts_check_int(ts_sbt_session_writer_new(made.writer, &row, &made.session), 0);
	write_some(&made, 0);
	ts_check_int(pipe2(pipe_fds, O_CLOEXEC), 0);
	ts_check_int(ts_sbt_writer_continue(made.writer, pipe_fds[1], 1), -EINVAL);
	ts_check(write(full, "x", 1) == 1);
	ts_check_int(ts_sbt_writer_continue(made.writer, full, 1), -EINVAL);
	ts_check_int(ts_sbt_writer_continue(made.writer, -1, 1), -EBADF);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	close(full);
	write_some(&made, 1);
	ts_sbt_session_writer_free(made.session);
	ts_check_int(ts_sbt_writer_finish(made.writer), 0);
	ts_sbt_writer_free(made.writer);
	reader = open_reader(made.fds[0]);
	check_marks(reader, 0, 1);
	ts_sbt_reader_free(reader);
	close(made.fds[0]);
}

/* The high bits of a block's offset select the file, so offsets must not use them. */
TS_TEST(enormous)
{
	struct recording made = make_recording(true);
	struct ts_sbt_reader *reader;
	struct ts_sbt_error error;

	if (ftruncate(made.fds[0], (off_t)1 << 48)) {
		close_all(&made);
		exit(TS_TEST_SKIPPED);
	}
	ts_check_int(ts_sbt_reader_open(made.fds[0], &reader, &error), TS_SBT_E_LIMIT);
	ts_check_int(error.code, TS_SBT_E_LIMIT);
	close_all(&made);
}

TS_TEST(names)
{
	static const struct {
		const char *path;
		const char *part;
	} cases[] = {
		{"run.sbt", "run.7.sbt"},
		{"/a.1/run.sbt", "/a.1/run.7.sbt"},
		{"run", "run.7"},
		{"run.3.sbt", NULL},
		{"dir/run.12.sbt", NULL},
		{"run-3.sbt", "run-3.7.sbt"},
		{"/tmp/3.sbt", "/tmp/3.7.sbt"},
		{"3.sbt", "3.7.sbt"},
	};

	for (unsigned i = 0; i < TS_ARRAY_LEN(cases); i++) {
		char *part = ts_sbt_part_path(cases[i].path, 7);

		ts_check_str(part ? part : "none", cases[i].part ? cases[i].part : "none");
		free(part);
	}
}

/* ---- space ---- */

struct account {
	uint64_t has, most, peak;
	uint64_t unsettled;
};

static int account_take(void *data, uint64_t n_bytes)
{
	struct account *account = data;

	if (account->has + n_bytes > account->most)
		return -EDQUOT;
	account->has += n_bytes;
	account->unsettled += n_bytes;
	account->peak = account->has > account->peak ? account->has : account->peak;
	return 0;
}

static void account_settle(void *data, uint64_t n_bytes)
{
	struct account *account = data;

	ts_check(n_bytes <= account->unsettled);
	account->unsettled -= n_bytes;
}

static void account_give(void *data, uint64_t n_bytes)
{
	struct account *account = data;

	ts_check(n_bytes <= account->has);
	account->has -= n_bytes;
}

static uint64_t file_bytes(int fd)
{
	struct stat status;

	ts_check_int(fstat(fd, &status), 0);
	return (uint64_t)status.st_size;
}

/*
 * Two files share one account until it is empty: the second file gets its end, and each file counts
 * its bytes. Space that the file system could not reserve is settled when it is written.
 */
static void share_an_account(bool can_reserve)
{
	struct account account = {.most = 1 << 20};
	const struct ts_sbt_space space = {&account, account_take, account_settle, account_give};
	uint64_t state = 1, counts[TS_ROW_EVENT_END];
	struct ts_row_session session = {0};
	struct ts_row_mark mark = {0};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_writer *writer;
	int fds[2] = {test_file(), test_file()}, r = 0;

	ts_check_int(ts_sbt_writer_new(fcntl(fds[0], F_DUPFD_CLOEXEC, 3), &writer), 0);
	ts_check_int(ts_sbt_writer_space(writer, &space), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	for (int i = 0; !r; i++) {
		ts_check(i < 10000);
		for (int j = 0; j < 100; j++) {
			mark.payload = test_random(&state);
			ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_MARK, &mark), 0);
		}
		r = ts_sbt_session_writer_seal(sw, "checkpoint", 10);
		ts_check(!r || i > 100);
		ts_check(account.has >= ts_sbt_writer_bytes(writer));
		if (can_reserve)
			ts_check_int(account.unsettled, 0);
		else if (i < 50)
			ts_check_int(account.unsettled,
				     account.has -
					     (ts_sbt_writer_bytes(writer) + 4095) / 4096 * 4096);
		if (i == 50) {
			ts_check_int(ts_sbt_writer_continue(writer,
							    fcntl(fds[1], F_DUPFD_CLOEXEC, 3), 1),
				     0);
			ts_check_int(account.has, file_bytes(fds[0]) + file_bytes(fds[1]));
		}
	}
	ts_check_int(r, -EDQUOT);
	ts_check_int(ts_sbt_writer_full(writer), -EDQUOT);
	ts_check_int(ts_sbt_writer_error(writer), 0);
	ts_sbt_session_writer_drop(sw, counts);
	ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	ts_sbt_session_writer_free(sw);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_check_int(account.has, file_bytes(fds[0]) + file_bytes(fds[1]));
	ts_check(account.peak <= account.most && account.has > account.most / 2);
	ts_check_int(account.unsettled, 0);
	ts_sbt_writer_free(writer);
	for (int i = 0; i < 2; i++) {
		struct ts_sbt_reader *reader = open_reader(fds[i]);

		ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
		ts_sbt_reader_free(reader);
		close(fds[i]);
	}
}

TS_TEST(space_is_accounted_for)
{
	share_an_account(true);
}

TS_TEST(space_that_cannot_be_reserved)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {TS_ARRAY_LEN(filter), filter};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		ts_skip("no seccomp");
	share_an_account(false);
}

/* A file without space for its beginning is not counted, and can still be finished. */
TS_TEST(no_space_to_begin_with)
{
	struct account account = {.most = 64};
	const struct ts_sbt_space space = {&account, account_take, account_settle, account_give};
	struct ts_sbt_writer *writer;
	int fd = test_file();

	ts_check_int(ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer), 0);
	ts_check_int(ts_sbt_writer_space(writer, &space), -EDQUOT);
	ts_check_int(account.has, 0);
	ts_check_int(account.unsettled, 0);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_check_int(account.has, 0);
	ts_sbt_writer_free(writer);
	close(fd);
}
