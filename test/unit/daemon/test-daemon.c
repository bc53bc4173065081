/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the whole daemon; the test itself is the producer. The file contains exactly the committed
 * records, however the producer ends.
 */
#include "test/unit/harness.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "daemon/util/identity.h"
#include "proto/rpc/frame.h"
#include "sbt/verify.h"
#include "test/unit/daemon/daemon.h"

#define N_LAUNCHES 50000u

/*
 * Checks that each op id occurs once in API rows and once in kernel rows, and that the trace has
 * all names, stacks and threads to which rows refer.
 */
static void check_launches(const char *path, uint32_t n, enum ts_session_end how)
{
	struct ts_sbt_summary summary;
	struct ts_sbt_reader *reader;
	struct ts_sbt_cursor *cursor;
	const struct ts_row_session *session;
	struct ts_sbt_stack stack;
	struct ts_sbt_row row;
	uint8_t *seen = calloc(n + 1, 1);
	int fd;

	reader_open(path, &fd, &reader);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	ts_check_int(ts_sbt_reader_n_sessions(reader), 1);
	session = ts_sbt_reader_session_at(reader, 0);
	ts_check_int(session->ended, how);
	ts_check_int(session->pid, getpid());
	ts_check_int(session->uid, getuid());
	ts_check_int(session->vendor_version, 130000);
	ts_check_str(ts_sbt_reader_string(reader, session->program, NULL), "producer");
	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	ts_check_int(summary.counts[TS_ROW_API], n);
	ts_check_int(summary.counts[TS_ROW_KERNEL], n);
	for (unsigned i = 0; i < TS_LOSS_COUNT; i++)
		ts_check_int(summary.lost[i], 0);
	ts_check(summary.counts[TS_ROW_CLOCK] >= 2);
	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	while (!ts_sbt_cursor_next(cursor, &row)) {
		if (row.type == TS_ROW_API) {
			const struct ts_row_thread *thread =
				ts_sbt_reader_thread(reader, row.session, row.api->thread);

			ts_check(row.api->op_id >= 1 && row.api->op_id <= n);
			ts_check(!(seen[row.api->op_id] & 1));
			seen[row.api->op_id] |= 1;
			ts_check(row.api->start_ns >= session->start_ns);
			ts_check(row.api->end_ns >= row.api->start_ns);
			ts_check(row.api->end_ns <= session->end_ns);
			ts_check(thread && thread->tid == 1001);
			ts_check_str(ts_sbt_reader_string(reader, thread->name, NULL), "main");
			ts_check_int(ts_sbt_reader_stack(reader, row.session, row.api->stack,
							 &stack),
				     0);
			ts_check_int(stack.n_frames, 2);
			ts_check_int(stack.frames[1], 0x2000);
		} else if (row.type == TS_ROW_KERNEL) {
			ts_check(!(seen[row.kernel->op_id] & 2));
			seen[row.kernel->op_id] |= 2;
			ts_check_int(row.kernel->end_ns - row.kernel->start_ns, 1000);
			ts_check_int(row.kernel->grid_z, 3);
			ts_check_int(row.kernel->stream, 7);
			ts_check_str(ts_sbt_reader_string(reader, row.kernel->name, NULL),
				     "_Z5saxpyifPfS_");
		}
	}
	for (uint32_t i = 1; i <= n; i++)
		ts_check_int(seen[i], 3);
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	close(fd);
	free(seen);
}

TS_TEST(private_session)
{
	struct producer p;
	char directory[128], path[160];
	int fd;
	pid_t pid;

	directory_make(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/x.sbt", directory);
	pid = daemon_private(path, &fd);
	producer_init(&p, 4, true);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	ts_check(__atomic_load_n(&p.control->command, __ATOMIC_RELAXED) & TS_COMMAND_RECORD);
	produce(&p, N_LAUNCHES);
	p.control->state = TS_SESSION_ENDED;
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	/* When a producer receives DONE, the file is complete. */
	check_launches(path, N_LAUNCHES, TS_SESSION_END_BYE);
	ts_check_int(producer_shard(&p, 0)->released, producer_shard(&p, 0)->head);
	ts_check_int(daemon_wait(pid), 0);
	close(fd);
	producer_deinit(&p);
	directory_remove(directory);
}

/* ---- the lane ---- */

/* A private daemon's session with a lane. */
struct captured {
	char directory[128], path[160];
	struct producer p;
	struct ts_ring_producer lane;
	int fd;
	pid_t pid;
};

static void captured_begin(struct captured *c)
{
	struct producer *p = &c->p;

	directory_make(c->directory, sizeof(c->directory));
	snprintf(c->path, sizeof(c->path), "%s/x.sbt", c->directory);
	c->pid = daemon_private(c->path, &c->fd);
	producer_init(p, 1, false);
	ts_check_int(ts_control_add_lane(p->control, TS_LANE_MIN_BYTES), 0);
	ts_check_int(ftruncate(p->memfd, (off_t)p->control->total_bytes), 0);
	p->base = mremap(p->base, p->n_bytes, p->control->total_bytes, MREMAP_MAYMOVE);
	ts_check(p->base != MAP_FAILED);
	p->control = (struct ts_control *)p->base;
	p->n_bytes = p->control->total_bytes;
	ts_check_int(fcntl(p->memfd, F_ADD_SEALS, PRODUCER_SEALS), 0);
	ts_ring_producer_init(&c->lane, (struct ts_shard *)(p->base + p->control->lane_off),
			      TS_LANE_MIN_BYTES);
	producer_hello(c->fd, p->memfd);
	ts_check_int(producer_hear(c->fd, NULL), TS_HANDSHAKE_WELCOME);
}

static void captured_put(struct captured *c, const void *record, uint32_t n_bytes)
{
	void *to = ts_ring_reserve(&c->lane, n_bytes);

	ts_check(to != NULL);
	memcpy(to, record, n_bytes);
	ts_ring_commit(&c->lane, n_bytes);
}

static void captured_end(struct captured *c)
{
	ts_check_int(daemon_wait(c->pid), 0);
	close(c->fd);
	producer_deinit(&c->p);
	directory_remove(c->directory);
}

static struct ts_record_launch make_launch(uint64_t sequence)
{
	return (struct ts_record_launch){.record = {.n_words = sizeof(struct ts_record_launch) / 8,
						    .n_fixed_words =
							    sizeof(struct ts_record_launch) / 8,
						    .clock = TS_CLOCK_MONOTONIC,
						    .type = TS_RECORD_LAUNCH,
						    .time = ts_clock_monotonic_ns()},
					 .sequence = sequence,
					 .op_id = 71,
					 .object = UINT64_C(0x7200000000),
					 .stream = UINT64_C(0x7300000000),
					 .bytes = 74,
					 .operation_flags = TS_OPERATION_UNORDERED,
					 .context = 76,
					 .shared_bytes = 77,
					 .grid = {81, 82, 83},
					 .block = {84, 85, 86}};
}

static struct ts_record_operation operation_of(const struct ts_record_launch *launch)
{
	struct ts_record_operation operation = {.record = launch->record,
						.sequence = launch->sequence,
						.op_id = launch->op_id,
						.object = launch->object,
						.stream = launch->stream,
						.bytes = launch->bytes,
						.kind = TS_OPERATION_LAUNCH,
						.operation_flags = launch->operation_flags,
						.thread = launch->thread,
						.context = launch->context,
						.content = launch->content,
						.shared_bytes = launch->shared_bytes,
						.grid = {81, 82, 83},
						.block = {84, 85, 86}};

	operation.record.type = TS_RECORD_OPERATION;
	operation.record.n_words = operation.record.n_fixed_words = sizeof(operation) / 8;
	return operation;
}

/* A launch in its short form and as an operation are the same row. */
TS_TEST(captured_launches)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_OPERATION)};
	struct ts_record_launch launch = make_launch(1);
	struct ts_record_operation operation;
	struct ts_row_operation first = {0}, second = {0};
	struct ts_sbt_reader *reader;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	struct captured c;
	int fd;

	captured_begin(&c);
	launch.thread = 0;
	captured_put(&c, &launch, sizeof(launch));
	operation = operation_of(&launch);
	operation.sequence = 2;
	captured_put(&c, &operation, sizeof(operation));
	producer_say(c.fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(c.fd, NULL), TS_HANDSHAKE_DONE);
	reader_open(c.path, &fd, &reader);
	ts_check_int(ts_sbt_cursor_new(reader, &options, &cursor), 0);
	ts_check_int(ts_sbt_cursor_next(cursor, &row), 0);
	first = *row.operation;
	ts_check_int(ts_sbt_cursor_next(cursor, &row), 0);
	second = *row.operation;
	ts_check_int(ts_sbt_cursor_next(cursor, &row), TS_SBT_E_END);
	ts_check_int(first.sequence, 1);
	ts_check_int(second.sequence, 2);
	ts_check_int(first.grid_z, 83);
	ts_check_int(first.bytes, 74);
	second.sequence = 1;
	ts_check(!memcmp(&first, &second, sizeof(first)));
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	close(fd);
	captured_end(&c);
}

/* The session ends, although the daemon never takes the rest of the lane. */
TS_TEST(captured_launches_that_are_malformed)
{
	for (unsigned i = 0; i < 3; i++) {
		struct ts_record_launch launch = make_launch(1);
		struct captured c;
		struct ts_sbt_reader *reader;
		int fd;

		captured_begin(&c);
		launch.record.n_fixed_words -= i == 0;
		launch.content += i == 1;
		launch.sequence += i == 2;
		captured_put(&c, &launch, sizeof(launch));
		producer_say(c.fd, TS_HANDSHAKE_BYE);
		while (producer_hear(c.fd, NULL))
			;
		reader_open(c.path, &fd, &reader);
		ts_check_int(ts_sbt_reader_session_at(reader, 0)->ended, TS_SESSION_END_BAD_DATA);
		ts_sbt_reader_free(reader);
		close(fd);
		captured_end(&c);
	}
}

TS_TEST(private_does_not_overwrite)
{
	char directory[128], path[160], second[160];
	int fd, file;
	pid_t pid;
	struct producer p;

	directory_make(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/x.sbt", directory);
	snprintf(second, sizeof(second), "%s/x-1.sbt", directory);
	file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	ts_check_int(write(file, "mine", 4), 4);
	close(file);
	pid = daemon_private(path, &fd);
	producer_init(&p, 4, true);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	produce(&p, 10);
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	ts_check_int(daemon_wait(pid), 0);
	check_launches(second, 10, TS_SESSION_END_BYE);
	close(fd);
	producer_deinit(&p);
	directory_remove(directory);
}

/* The producer is killed: the file contains everything that it had committed. */
TS_TEST(killed_producer)
{
	struct producer p;
	char directory[128], path[160];
	int fd, pipe_fds[2];
	pid_t daemon, producer;
	char byte;

	directory_make(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/x.sbt", directory);
	daemon = daemon_private(path, &fd);
	producer_init(&p, 4, true);
	ts_check_int(pipe2(pipe_fds, O_CLOEXEC), 0);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	producer = fork();
	if (!producer) {
		produce(&p, 20000);
		ts_check_int(write(pipe_fds[1], "", 1), 1);
		pause();
	}
	ts_check_int(read(pipe_fds[0], &byte, 1), 1);
	kill(producer, SIGKILL);
	waitpid(producer, NULL, 0);
	close(fd);
	ts_check_int(daemon_wait(daemon), 0);
	check_launches(path, 20000, TS_SESSION_END_DIED);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	producer_deinit(&p);
	directory_remove(directory);
}

/* Starts a private daemon whose files may have up to n_bytes. */
static pid_t daemon_within(uint64_t n_bytes, const char *path, int *ret_fd)
{
	struct rlimit small = {n_bytes, RLIM_INFINITY}, old;
	pid_t pid;

	ts_check_int(getrlimit(RLIMIT_FSIZE, &old), 0);
	ts_check_int(setrlimit(RLIMIT_FSIZE, &small), 0);
	pid = daemon_private(path, ret_fd);
	ts_check_int(setrlimit(RLIMIT_FSIZE, &old), 0);
	return pid;
}

/*
 * The disk is full (here: the file may not grow). Recording stops, and the file gets its end and
 * counts missing rows, which the ring still holds.
 */
TS_TEST(full_disk)
{
	struct ts_sbt_summary summary;
	struct ts_sbt_reader *reader;
	char directory[128], path[160];
	struct producer p;
	struct stat status;
	int fd, file;
	pid_t pid;

	directory_make(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/x.sbt", directory);
	producer_init(&p, 4, true);
	pid = daemon_within(16384, path, &fd);
	produce(&p, 5000);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_STOP);
	ts_check(!(p.control->command & TS_COMMAND_RECORD));
	ts_check_int(daemon_wait(pid), 0);
	reader_open(path, &file, &reader);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	ts_check_int(summary.counts[TS_ROW_API] + summary.counts[TS_ROW_KERNEL] +
			     summary.lost[TS_LOSS_DISK],
		     2 * 5000 + 1);
	/* The daemon released no ring space whose rows are not in the file. */
	if (!summary.counts[TS_ROW_API])
		ts_check_int(producer_shard(&p, 0)->released, 0);
	ts_check_int(fstat(file, &status), 0);
	ts_check(status.st_size <= 16384);
	ts_sbt_reader_free(reader);
	close(file);
	close(fd);
	producer_deinit(&p);
	directory_remove(directory);
}

/* If the disk has no room for the file's header, the session is refused with a reason. */
TS_TEST(no_disk_at_all)
{
	struct ts_handshake_reason packet;
	char directory[128], path[160];
	struct producer p;
	int fd;
	pid_t pid;

	directory_make(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/x.sbt", directory);
	producer_init(&p, 4, true);
	pid = daemon_within(1000, path, &fd);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, &packet), TS_HANDSHAKE_REFUSED);
	ts_check_str(packet.text, strerror(EFBIG));
	ts_check_int(daemon_wait(pid), 0);
	ts_check(access(path, F_OK) < 0);
	close(fd);
	producer_deinit(&p);
	directory_remove(directory);
}

TS_TEST(note_says_why)
{
	struct ts_handshake_reason note = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_NOTE, sizeof(note)},
		.reason = TS_EMPTY_INJECTION_HELD,
		.program = "app",
		.text = "CUDA_INJECTION64_PATH is /opt/other.so",
	};
	const struct ts_row_session *session;
	char directory[128], path[160];
	struct ts_sbt_reader *reader;
	int fd, file;
	pid_t pid;

	directory_make(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/x.sbt", directory);
	pid = daemon_private(path, &fd);
	producer_send(fd, &note, sizeof(note), -1);
	ts_check_int(daemon_wait(pid), 0);
	reader_open(path, &file, &reader);
	session = ts_sbt_reader_session_at(reader, 0);
	ts_check_int(session->ended, TS_SESSION_END_EMPTY);
	ts_check_int(session->empty_reason, TS_EMPTY_INJECTION_HELD);
	ts_check_str(ts_sbt_reader_string(reader, session->empty_text, NULL),
		     "CUDA_INJECTION64_PATH is /opt/other.so");
	ts_sbt_reader_free(reader);
	close(file);
	close(fd);
	directory_remove(directory);
}

/* ---- a recording, as `tsctl record` makes one ---- */

/* One process sends BYE, one dies, one lives on and receives STOP. */
TS_TEST(recording_of_three)
{
	struct producer p[3];
	struct recording r;
	Ts__Rpc__Answer *answer;
	struct ts_sbt_reader *reader;
	struct ts_sbt_verify_report report;
	struct stat status;
	int fds[3], trace = -1, file;

	recording_begin(&r);
	for (int i = 0; i < 3; i++) {
		fds[i] = socket_connect(r.socket, SOCK_SEQPACKET);
		producer_init(&p[i], 2, true);
		producer_hello(fds[i], p[i].memfd);
		ts_check_int(producer_hear(fds[i], NULL), TS_HANDSHAKE_WELCOME);
		produce(&p[i], 1000);
	}
	ts_check_int(ts_client_list_sessions(r.client, &answer), 0);
	ts_check_int(answer->session_list->n_sessions, 3);
	ts_check_str(answer->session_list->sessions[0]->program, "producer");
	ts__rpc__answer__free_unpacked(answer, NULL);

	/* A live trace: everything committed so far can be read. */
	ts_check_int(ts_client_open_trace(r.client, 0, (uint32_t)getpid(), &answer, &trace), 0);
	ts_check(answer->trace_opened->live);
	ts_check_int(ts_sbt_reader_open(trace, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_GROWING);
	ts_sbt_reader_free(reader);
	close(trace);
	ts__rpc__answer__free_unpacked(answer, NULL);

	producer_say(fds[0], TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fds[0], NULL), TS_HANDSHAKE_DONE);
	close(fds[1]);
	/* The third process never flushes: the daemon waits up to its limit and continues. */
	ts_check_int(ts_client_finish(r.client, 15000, &answer), 0);
	ts_check_int(answer->body_case, TS__RPC__ANSWER__BODY_SUMMARY);
	ts_check_int(answer->summary->sessions, 3);
	ts_check_int(answer->summary->died, 1);
	ts_check_int(answer->summary->stopped, 1);
	ts_check_int(summary_count(answer->summary, "api"), 3000);
	ts_check_int(summary_count(answer->summary, "kernel"), 3000);
	ts_check_int(answer->summary->n_lost, 0);
	ts_check_str(answer->summary->path, r.path);
	ts_check_int(stat(r.path, &status), 0);
	ts_check_int(status.st_mode & 0777, 0600);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_check_int(producer_hear(fds[2], NULL), TS_HANDSHAKE_STOP);
	ts_check(!(p[2].control->command & TS_COMMAND_RECORD));

	file = open(r.path, O_RDONLY | O_CLOEXEC);
	ts_check_int(ts_sbt_verify(file, NULL, &report), 0);
	ts_check_int(report.n_findings, 0);
	close(file);
	close(fds[0]);
	close(fds[2]);
	for (int i = 0; i < 3; i++)
		producer_deinit(&p[i]);
	recording_end(&r);
}

/* If tsctl dies, the recording ends as if tsctl had sent FINISH. */
static unsigned count_blocks(const char *path, unsigned type)
{
	struct ts_sbt_reader *reader;
	unsigned n = 0;
	int file;

	reader_open(path, &file, &reader);
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
		n += ts_sbt_reader_block(reader, i)->type == type;
	ts_sbt_reader_free(reader);
	close(file);
	return n;
}

/*
 * A session whose ring is nearly full does not write after each round, even if its rows are old:
 * here any age is too old. The test process stops the daemon while it fills the rings.
 */
TS_TEST(a_session_behind_writes_seldom)
{
	const uint32_t n = PRODUCER_RING_BYTES / 8 * 7 / sizeof(struct ts_record_kernel);
	Ts__Rpc__Answer *answer;
	struct recording r;
	struct producer p;
	int fd;

	recording_begin_with(&r, "--seal-age", "0");
	fd = socket_connect(r.socket, SOCK_SEQPACKET);
	producer_init(&p, 2, true);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	ts_check_int(kill(r.pid, SIGSTOP), 0);
	produce(&p, n);
	ts_check_int(kill(r.pid, SIGCONT), 0);
	while (__atomic_load_n(&producer_shard(&p, 1)->released, __ATOMIC_ACQUIRE) <
	       PRODUCER_RING_BYTES / 8 * 6)
		usleep(1000);
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	ts_check_int(ts_client_finish(r.client, 15000, &answer), 0);
	ts_check_int(summary_count(answer->summary, "kernel"), n);
	ts_check_int(summary_count(answer->summary, "api"), n);
	ts__rpc__answer__free_unpacked(answer, NULL);
	/* A round reads 256 KiB of the ring here. */
	ts_check(count_blocks(r.path, TS_ROW_KERNEL) <= 3);
	close(fd);
	producer_deinit(&p);
	recording_end(&r);
}

TS_TEST(recording_whose_owner_dies)
{
	struct recording r;
	struct producer p;
	int fd;

	recording_begin(&r);
	fd = socket_connect(r.socket, SOCK_SEQPACKET);
	producer_init(&p, 2, true);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	produce(&p, 100);
	p.control->state = TS_SESSION_ENDED;
	ts_client_free(ts_take_ptr(r.client));
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_STOP);
	ts_check_int(daemon_wait(r.pid), 0);
	check_launches(r.path, 100, TS_SESSION_END_STOPPED);
	close(fd);
	producer_deinit(&p);
	directory_remove(r.directory);
}

/*
 * A peer that violates the protocol is dropped; another peer in the same recording does not notice.
 */
TS_TEST(bad_peer_is_dropped_alone)
{
	struct producer good, bad;
	struct recording r;
	Ts__Rpc__Answer *answer;
	int fd_good, fd_bad;

	recording_begin(&r);
	fd_good = socket_connect(r.socket, SOCK_SEQPACKET);
	fd_bad = socket_connect(r.socket, SOCK_SEQPACKET);
	producer_init(&good, 2, true);
	producer_init(&bad, 2, true);
	producer_hello(fd_good, good.memfd);
	producer_hello(fd_bad, bad.memfd);
	ts_check_int(producer_hear(fd_good, NULL), TS_HANDSHAKE_WELCOME);
	ts_check_int(producer_hear(fd_bad, NULL), TS_HANDSHAKE_WELCOME);
	produce(&bad, 10);
	__atomic_store_n(&producer_shard(&bad, 0)->head, UINT64_C(1) << 40, __ATOMIC_RELEASE);
	ts_check_int(producer_hear(fd_bad, NULL), TS_HANDSHAKE_STOP);
	ts_check_int(producer_hear(fd_bad, NULL), 0);
	produce(&good, 1000);
	producer_say(fd_good, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd_good, NULL), TS_HANDSHAKE_DONE);
	ts_check_int(ts_client_finish(r.client, 60000, &answer), 0);
	ts_check_int(answer->summary->dropped, 1);
	ts_check(summary_count(answer->summary, "api") >= 1000);
	ts_check_int(summary_lost(answer->summary, "bad_record"), 1);
	ts__rpc__answer__free_unpacked(answer, NULL);
	close(fd_good);
	close(fd_bad);
	producer_deinit(&good);
	producer_deinit(&bad);
	recording_end(&r);
}

/* Each memfd that must not be mapped is refused with a reason. */
TS_TEST(hostile_memory_is_refused)
{
	struct ts_handshake_reason packet;
	struct recording r;
	struct producer p;
	int fd;

	recording_begin(&r);
	producer_init(&p, 2, false);
	fd = socket_connect(r.socket, SOCK_SEQPACKET);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, &packet), TS_HANDSHAKE_REFUSED);
	ts_check(strstr(packet.text, "sealed"));
	ts_check_int(producer_hear(fd, NULL), 0);
	close(fd);
	fd = socket_connect(r.socket, SOCK_SEQPACKET);
	producer_hello(fd, -1);
	ts_check_int(producer_hear(fd, &packet), TS_HANDSHAKE_REFUSED);
	close(fd);
	producer_deinit(&p);
	/* No session has come: the recording ends empty. */
	{
		Ts__Rpc__Answer *answer;

		ts_check_int(ts_client_finish(r.client, 60000, &answer), 0);
		ts_check_int(answer->summary->sessions, 0);
		ts__rpc__answer__free_unpacked(answer, NULL);
	}
	recording_end(&r);
}

/* ---- a service ---- */

/*
 * Each process has a file. A client can open it while it is written; it is complete when the
 * process receives DONE.
 */
TS_TEST(service)
{
	struct service s;
	struct producer p;
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	struct ts_sbt_reader *reader;
	struct ts_sbt_summary summary;
	char path[200];
	int fd, trace = -1;

	service_begin(&s);
	fd = socket_connect(s.inject, SOCK_SEQPACKET);
	close(socket_connect(s.control, SOCK_STREAM));
	producer_init(&p, 2, true);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	produce(&p, 5000);
	ts_check_int(ts_client_connect(s.control, &client), 0);
	ts_check_int(ts_client_status(client, &answer), 0);
	ts_check_int(answer->status->sessions_live, 1);
	ts_check_int(answer->status->n_sessions, 1);
	ts_check_str(answer->status->mode, "service");
	ts_check_str(answer->status->sessions[0]->state, "recording");
	ts__rpc__answer__free_unpacked(answer, NULL);
	/* The trace contains everything committed before the request. */
	ts_check_int(ts_client_open_trace(client, 0, 0, &answer, &trace), 0);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_check_int(ts_sbt_reader_open(trace, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_GROWING);
	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	ts_check_int(summary.counts[TS_ROW_API], 5000);
	ts_sbt_reader_free(reader);
	ts_check(write(trace, "x", 1) < 0);
	close(trace);
	/*
	 * A service returns an error for requests that it cannot serve and for sessions that it
	 * does not have.
	 */
	ts_check_int(ts_client_finish(client, 1000, &answer), -EPERM);
	ts_check_int(ts_client_open_trace(client, 99, 0, &answer, &trace), -ENOENT);
	ts_check_str(ts_client_error(client), "the daemon has no such session");
	/* The flush request waits until the process answers, and at most for the given time. */
	ts_check_int(ts_client_flush(client, 77, 60000, &answer), 0);
	ts_check_int(answer->flushed->sessions, 0);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_check_int(ts_client_flush(client, 0, 100, &answer), 0);
	ts_check_int(answer->flushed->sessions, 1);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_check_int(p.control->flush_request, 1);
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	service_trace_path(&s, path, sizeof(path));
	check_launches(path, 5000, TS_SESSION_END_BYE);
	/* The user still finds the trace, by pid and by number, and reads it whole. */
	ts_check_int(ts_client_open_trace(client, 0, (uint32_t)getpid(), &answer, &trace), 0);
	ts_check(!answer->trace_opened->live);
	ts_check_str(answer->trace_opened->path, path);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_check_int(ts_sbt_reader_open(trace, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	ts_sbt_reader_free(reader);
	close(trace);
	ts_check_int(ts_client_open_trace(client, 1, 0, &answer, &trace), 0);
	ts__rpc__answer__free_unpacked(answer, NULL);
	close(trace);
	ts_check_int(ts_client_open_trace(client, 99, 0, &answer, &trace), -ENOENT);
	ts_client_free(client);
	close(fd);
	producer_deinit(&p);
	service_end(&s);
}

/*
 * On SIGTERM the service still handles messages that were sent before the signal. So it records a
 * process that ended before the signal.
 */
TS_TEST(service_that_is_told_to_end)
{
	struct service s;
	struct producer p;
	char path[200];
	int fd, status, silent[5];

	service_begin(&s);
	close(socket_connect(s.inject, SOCK_SEQPACKET));
	ts_check_int(kill(s.pid, SIGSTOP), 0);
	ts_check_int(waitpid(s.pid, &status, WUNTRACED), s.pid);
	ts_check(WIFSTOPPED(status));
	/* These connections come first in the queue. */
	for (int i = 0; i < 5; i++)
		silent[i] = socket_connect(s.inject, SOCK_SEQPACKET);
	fd = socket_connect(s.inject, SOCK_SEQPACKET);
	producer_init(&p, 2, true);
	producer_hello(fd, p.memfd);
	produce(&p, 100);
	producer_say(fd, TS_HANDSHAKE_BYE);
	close(fd);
	ts_check_int(kill(s.pid, SIGTERM), 0);
	ts_check_int(kill(s.pid, SIGCONT), 0);
	ts_check_int(daemon_wait(s.pid), 0);
	service_trace_path(&s, path, sizeof(path));
	check_launches(path, 100, TS_SESSION_END_BYE);
	for (int i = 0; i < 5; i++)
		close(silent[i]);
	producer_deinit(&p);
	directory_remove(s.directory);
}

static int socket_listen(const char *path, int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	ts_check(fd >= 0 && strlen(path) < sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	ts_check_int(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ts_check_int(chmod(path, 0666), 0);
	ts_check_int(listen(fd, 16), 0);
	return fd;
}

/*
 * Starts a process that listens at both sockets of a service, and its child. The child holds the
 * sockets, like a porter, until end[1] is closed.
 */
static pid_t listener_fork(const struct service *s, const int end[2])
{
	int ready[2];
	char c = 0;
	pid_t pid;

	ts_check_int(pipe2(ready, O_CLOEXEC), 0);
	fflush(NULL);
	pid = fork();
	ts_check(pid >= 0);
	if (pid) {
		close(ready[1]);
		ts_check_int(read(ready[0], &c, 1), 1);
		close(ready[0]);
		return pid;
	}
	close(end[1]);
	socket_listen(s->inject, SOCK_SEQPACKET);
	socket_listen(s->control, SOCK_STREAM);
	if (!fork())
		_exit(read(end[0], &c, 1) != 0);
	ts_check_int(write(ready[1], &c, 1), 1);
	for (;;)
		pause();
}

/*
 * A service refuses a path at which another process listens, unless that process is dead and only a
 * child of it holds the socket.
 */
TS_TEST(service_after_one_that_was_killed)
{
	struct stat before, now;
	struct service s;
	int end[2], fd;
	pid_t listener;

	service_paths(&s);
	ts_check_int(pipe2(end, O_CLOEXEC), 0);
	listener = listener_fork(&s, end);
	service_start(&s, NULL, NULL);
	ts_check(daemon_wait(s.pid) != 0);
	ts_check_int(access(s.inject, F_OK), 0);
	ts_check_int(stat(s.control, &before), 0);
	ts_check_int(kill(listener, SIGKILL), 0);
	/* The listener is a zombie: this counts as dead. */
	ts_check_int(waitid(P_PID, (id_t)listener, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	service_start(&s, NULL, NULL);
	/* Both paths lead to the service's own sockets. */
	while (stat(s.control, &now) || now.st_ino == before.st_ino) {
		ts_check_int(waitpid(s.pid, NULL, WNOHANG), 0);
		usleep(10000);
	}
	fd = socket_connect(s.control, SOCK_STREAM);
	ts_check(!ts_identity_is_over(fd));
	close(fd);
	ts_check_int(waitpid(listener, NULL, 0), listener);
	close(end[1]);
	close(end[0]);
	service_end(&s);
}

/*
 * After garbage, half a request, connections without data, and too many sessions, the service still
 * serves other processes.
 */
TS_TEST(service_and_strangers)
{
	struct ts_frame_header half = ts_frame_header_make(TS_FRAME_REQUEST, 1, 1000);
	struct ts_handshake_reason packet;
	struct producer p[3];
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	struct service s;
	int fds[3], garbage, halfway, silent, never_reads;
	char byte;

	service_begin(&s);
	silent = socket_connect(s.inject, SOCK_SEQPACKET);
	garbage = socket_connect(s.control, SOCK_STREAM);
	halfway = socket_connect(s.control, SOCK_STREAM);
	never_reads = socket_connect(s.control, SOCK_STREAM);
	ts_check(send(garbage, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", 36, MSG_NOSIGNAL) > 0);
	ts_check(send(halfway, &half, sizeof(half), MSG_NOSIGNAL) > 0);
	/* A client that sends requests without end is dropped when its answers pile up. */
	half.n_bytes = 2;
	for (int i = 0; i < 200000; i++) {
		uint8_t status[sizeof(half) + 2];

		memcpy(status, &half, sizeof(half));
		status[sizeof(half)] = 0x0a; /* field 1, an empty message */
		status[sizeof(half) + 1] = 0;
		if (send(never_reads, status, sizeof(status), MSG_NOSIGNAL) < 0)
			break;
		ts_check(i < 199999);
	}
	ts_check_int(recv(garbage, &byte, 1, 0), 0);
	for (int i = 0; i < 3; i++) {
		fds[i] = socket_connect(s.inject, SOCK_SEQPACKET);
		producer_init(&p[i], 1, true);
		producer_hello(fds[i], p[i].memfd);
		if (i < 2)
			ts_check_int(producer_hear(fds[i], NULL), TS_HANDSHAKE_WELCOME);
	}
	ts_check_int(producer_hear(fds[2], &packet), TS_HANDSHAKE_REFUSED);
	ts_check(strstr(packet.text, "--max-sessions-user"));
	ts_check_int(ts_client_connect(s.control, &client), 0);
	ts_check_int(ts_client_status(client, &answer), 0);
	ts_check_int(answer->status->sessions_live, 2);
	ts_check_int(answer->status->sessions_refused, 1);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_check_int(ts_client_open_trace(client, 0, 0, &answer, &garbage), -ENOTUNIQ);
	ts_client_free(client);
	for (int i = 0; i < 3; i++) {
		close(fds[i]);
		producer_deinit(&p[i]);
	}
	close(garbage);
	close(halfway);
	close(silent);
	close(never_reads);
	service_end(&s);
}

/* ---- the command line ---- */

TS_TEST(wrong_usage)
{
	static const char *const wrong[][4] = {
		{"tracesmithd", "--nonsense", NULL},
		{"tracesmithd", "--private", NULL},
		{"tracesmithd", "--record", "--private", NULL},
		{"tracesmithd", "--stacks", "some", NULL},
		{"tracesmithd", "--session-fd", "999", NULL},
		{"tracesmithd", "extra", NULL},
	};
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int old = dup(2);

	dup2(null, 2);
	for (size_t i = 0; i < TS_ARRAY_LEN(wrong); i++) {
		int status = daemon_wait(daemon_spawn((char *const *)(uintptr_t)wrong[i], -1));

		ts_check(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	}
	dup2(old, 2);
	close(old);
	close(null);
}
