/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the daemon with hostile peers: whatever one peer sends, holds or keeps open, the others are
 * served, and every loss is reported.
 */
#include "test/unit/harness.h"

#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "daemon/ingest/ingest-memory.h"
#include "daemon/util/log.h"
#include "proto/rpc/frame.h"
#include "test/unit/daemon/daemon.h"

/* Returns the CPU time of all threads of a process, in nanoseconds. */
static uint64_t processor_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	ts_check_int(clock_getcpuclockid(pid, &clock), 0);
	ts_check_int(clock_gettime(clock, &time), 0);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* ---- descriptors that take long to close ---- */

/*
 * Makes a connection with full queues and a long linger, so that closing its last descriptor blocks
 * for `seconds`.
 */
static int lingering_socket(int seconds, int *ret_other)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct linger linger = {1, seconds};
	socklen_t n_bytes = sizeof(address);
	static const char bytes[65536];
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0)
		ts_skip("no loopback interface");
	ts_check_int(listen(listener, 1), 0);
	ts_check_int(getsockname(listener, (struct sockaddr *)&address, &n_bytes), 0);
	ts_check_int(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	*ret_other = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	close(listener);
	while (send(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	ts_check_int(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	return fd;
}

static void check_lingering(const struct service *s, const char *packet, size_t n_bytes)
{
	int other, fd = lingering_socket(20, &other);
	int peer = socket_connect(s->inject, SOCK_SEQPACKET);

	producer_send(peer, packet, n_bytes, fd);
	/*
	 * The descriptor in flight is the daemon's copy. This close is not the last, so it does not
	 * linger.
	 */
	close(fd);
	service_check_answers(s);
	service_check_answers(s);
	close(peer);
	service_check_answers(s);
	close(other);
}

TS_TEST(lingering_descriptor)
{
	struct ts_handshake_hello hello = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_HELLO, sizeof(hello)},
		.major = TS_ABI_MAJOR,
	};
	struct service s;

	service_begin(&s);
	close(socket_connect(s.control, SOCK_STREAM));
	check_lingering(&s, "garbage", 7);
	check_lingering(&s, (const char *)&hello, sizeof(hello));
	service_end(&s);
}

/* A client sends a descriptor over the control socket. The daemon still answers other clients. */
TS_TEST(descriptor_for_the_control_socket)
{
	int other, fd = lingering_socket(20, &other), client;
	struct msghdr message;
	struct service s;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec iov = {(char *)(uintptr_t) "hello", 5};

	service_begin(&s);
	client = socket_connect(s.control, SOCK_STREAM);
	message = (struct msghdr){.msg_iov = &iov,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes)};
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.align), &fd, sizeof(int));
	/*
	 * The kernel refuses the descriptor at once (Linux 6.16), or the daemon receives and closes
	 * it. No other thread waits for the thread that closes it.
	 */
	ts_check(sendmsg(client, &message, MSG_NOSIGNAL) == 5 || errno == EPERM);
	close(fd);
	service_check_answers(&s);
	close(client);
	service_check_answers(&s);
	close(other);
	service_end(&s);
}

/* ---- connections that send nothing ---- */

/*
 * Starts a process of another uid that opens up to n connections and holds them until it receives a
 * byte. It reports the number of connections that it got.
 */
static pid_t hold_connections(const char *path, int type, unsigned n, uid_t uid, int *ret_release)
{
	int ready[2], release[2];
	char byte;
	pid_t pid;

	ts_check_int(pipe2(ready, O_CLOEXEC), 0);
	ts_check_int(pipe2(release, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		close(release[1]);
		if (setuid(uid) < 0)
			_exit(1);
		for (unsigned i = 0; i < n; i++)
			socket_connect(path, type);
		if (write(ready[1], "", 1) < 0)
			_exit(1);
		_exit(read(release[0], &byte, 1) < 0);
	}
	ts_check_int(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	close(release[0]);
	*ret_release = release[1];
	return pid;
}

/*
 * If one user opens as many connections as possible, the daemon still has room for root and for a
 * third user.
 */
TS_TEST(one_user_locks_nobody_out)
{
	int release[3], fd, status;
	struct ts_handshake_reason packet;
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	struct producer p;
	struct service s;
	pid_t pids[3], pid;

	if (getuid())
		ts_skip("needs several uids");
	service_begin(&s);
	close(socket_connect(s.inject, SOCK_SEQPACKET));
	close(socket_connect(s.control, SOCK_STREAM));
	ts_check_int(chmod(s.directory, 0711), 0);
	pids[0] = hold_connections(s.inject, SOCK_SEQPACKET, 300, 65001, &release[0]);
	pids[1] = hold_connections(s.control, SOCK_STREAM, 70, 65001, &release[1]);
	/* The first user gets the reason. */
	pid = fork();
	if (!pid) {
		ts_check_int(setuid(65001), 0);
		fd = socket_connect(s.inject, SOCK_SEQPACKET);
		ts_check_int(producer_hear(fd, &packet), TS_HANDSHAKE_REFUSED);
		ts_check(strstr(packet.text, "busy"));
		ts_check_int(ts_client_connect(s.control, &client), 0);
		ts_check_int(ts_client_status(client, &answer), -EBUSY);
		ts_check(strstr(ts_client_error(client), "busy"));
		_exit(0);
	}
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
	/* The third user is served. */
	pids[2] = hold_connections(s.inject, SOCK_SEQPACKET, 300, 65002, &release[2]);
	pid = fork();
	if (!pid) {
		ts_check_int(setuid(65003), 0);
		fd = socket_connect(s.inject, SOCK_SEQPACKET);
		producer_init(&p, 1, true);
		producer_hello(fd, p.memfd);
		ts_check_int(producer_hear(fd, &packet), TS_HANDSHAKE_WELCOME);
		service_check_answers(&s);
		_exit(0);
	}
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
	service_check_answers(&s);
	for (int i = 0; i < 3; i++) {
		/*
		 * Write a byte, because closing the pipe is not enough: the other children have the
		 * pipe open, too.
		 */
		ts_check_int(write(release[i], "", 1), 1);
		close(release[i]);
		waitpid(pids[i], NULL, 0);
	}
	service_end(&s);
}

/* Connections arrive without end: the service ends on SIGTERM all the same. */
TS_TEST(service_ends_among_connections)
{
	struct service s;
	pid_t pid;

	service_begin(&s);
	close(socket_connect(s.inject, SOCK_SEQPACKET));
	pid = fork();
	if (!pid) {
		int held[100];

		memset(held, 0xff, sizeof(held));
		for (unsigned i = 0;; i = (i + 1) % TS_ARRAY_LEN(held)) {
			struct sockaddr_un address = {.sun_family = AF_UNIX};

			close(held[i]);
			held[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
			strcpy(address.sun_path, s.inject);
			if (connect(held[i], (struct sockaddr *)&address, sizeof(address)) < 0)
				_exit(0);
		}
	}
	usleep(200000);
	service_end(&s);
	waitpid(pid, NULL, 0);
}

/*
 * Changes the limits with the service's uid, because root needs a capability to change another
 * user's limits.
 */
static void limit_descriptors(const struct service *s, const struct rlimit *few)
{
	const uid_t uid = daemon_in_unit() ? DAEMON_UNIT_UID : getuid();
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(setresgid(uid, uid, uid) || setresuid(uid, uid, uid) ||
		      prlimit(s->pid, RLIMIT_NOFILE, few, NULL));
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
}

/* Without free descriptors, waiting connections cost no processor time. */
TS_TEST(out_of_descriptors)
{
	struct rlimit few = {24, 24};
	uint64_t before_ns;
	int fds[32];
	struct service s;

	service_begin(&s);
	close(socket_connect(s.inject, SOCK_SEQPACKET));
	limit_descriptors(&s, &few);
	for (size_t i = 0; i < TS_ARRAY_LEN(fds); i++)
		fds[i] = socket_connect(s.inject, SOCK_SEQPACKET);
	before_ns = processor_ns(s.pid);
	sleep(2);
	ts_check(processor_ns(s.pid) - before_ns < 150000000);
	for (size_t i = 0; i < TS_ARRAY_LEN(fds); i++)
		close(fds[i]);
	service_check_answers(&s);
	service_end(&s);
}

/* ---- nothing is lost silently ---- */

static void put_api_of(struct producer *p, uint32_t shard, uint64_t op_id)
{
	struct ts_record_api api = {
		.record = PRODUCER_HEADER(struct ts_record_api, TS_RECORD_API, TS_CLOCK_MONOTONIC,
					  ts_clock_monotonic_ns()),
		.op_id = op_id,
	};

	api.end = api.record.time + 1;
	producer_put(p, shard, &api, sizeof(api));
}

static void put_api(struct producer *p, uint32_t shard)
{
	put_api_of(p, shard, 1);
}

/*
 * A producer closes its socket and continues to write: the daemon ends, and counts records that it
 * did not drain.
 */
TS_TEST(writes_on_after_its_end)
{
	uint64_t n_written = 0, until;
	struct ts_sbt_summary summary;
	struct ts_sbt_reader *reader;
	char directory[128], path[160];
	struct producer p;
	int fd, file;
	pid_t pid;

	directory_make(directory, sizeof(directory));
	snprintf(path, sizeof(path), "%s/x.sbt", directory);
	pid = daemon_private(path, &fd);
	producer_init(&p, 1, true);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	producer_claim(&p, 0, 1, "main");
	close(fd);
	until = ts_clock_monotonic_ns() + UINT64_C(100) * 1000000000;
	while (ts_clock_monotonic_ns() < until && waitpid(pid, NULL, WNOHANG) == 0) {
		struct ts_ring_producer *ring = &p.rings[0];

		for (int i = 0; i < 100; i++)
			if (ring->head - __atomic_load_n(&ring->shard->released, __ATOMIC_ACQUIRE) <
			    PRODUCER_RING_BYTES - 4096) {
				put_api(&p, 0);
				n_written++;
			}
	}
	ts_check(ts_clock_monotonic_ns() < until);
	reader_open(path, &file, &reader);
	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	ts_check(summary.counts[TS_ROW_API] + summary.lost[TS_LOSS_UNDRAINED] <= n_written);
	ts_sbt_reader_free(reader);
	close(file);
	producer_deinit(&p);
	directory_remove(directory);
}

/* The time expires before all is drained: undrained records are counted exactly. */
TS_TEST(finish_in_no_time)
{
	const uint32_t n_each = PRODUCER_RING_BYTES / sizeof(struct ts_record_api) - 1;
	Ts__Rpc__Request__Finish finish = TS__RPC__REQUEST__FINISH__INIT;
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	Ts__Rpc__Answer *answer;
	struct recording r;
	struct producer p;
	pid_t pid;
	int fd;

	recording_begin(&r);
	fd = socket_connect(r.socket, SOCK_SEQPACKET);
	producer_init(&p, 8, true);
	for (uint32_t i = 0; i < 8; i++)
		producer_claim(&p, i, i + 1, "main");
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	ts_check_int(kill(r.pid, SIGSTOP), 0);
	for (uint32_t i = 0; i < n_each; i++)
		for (uint32_t j = 0; j < 8; j++)
			put_api(&p, j);
	pid = fork();
	if (!pid) {
		usleep(300000);
		kill(r.pid, SIGCONT);
		_exit(0);
	}
	/* The daemon gets no time to drain. On a busy machine its answer may take long. */
	request.body_case = TS__RPC__REQUEST__BODY_FINISH;
	request.finish = &finish;
	finish.has_timeout_ms = true;
	finish.timeout_ms = 1;
	ts_check_int(ts_client_call(r.client, &request, 0, &answer, NULL), 0);
	ts_check_int(summary_count(answer->summary, "api") +
			     summary_lost(answer->summary, "undrained"),
		     8 * n_each);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	close(fd);
	producer_deinit(&p);
	recording_end(&r);
}

/* One shard is malformed: the trace still contains the records of the others. */
TS_TEST(one_bad_shard)
{
	struct ts_record bad = {.n_words = 0, .n_fixed_words = 2, .type = TS_RECORD_MARK};
	Ts__Rpc__Answer *answer;
	struct recording r;
	struct producer p;
	int fd;

	recording_begin(&r);
	fd = socket_connect(r.socket, SOCK_SEQPACKET);
	producer_init(&p, 3, true);
	for (uint32_t i = 0; i < 3; i++)
		producer_claim(&p, i, i + 1, "main");
	for (int i = 0; i < 1000; i++)
		for (uint32_t j = 0; j < 3; j++)
			put_api(&p, j);
	producer_put(&p, 0, &bad, sizeof(bad));
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_STOP);
	ts_check_int(ts_client_finish(r.client, 60000, &answer), 0);
	ts_check_int(answer->summary->dropped, 1);
	ts_check_int(summary_count(answer->summary, "api"), 3000);
	ts_check_int(summary_lost(answer->summary, "bad_record"), 1);
	ts__rpc__answer__free_unpacked(answer, NULL);
	close(fd);
	producer_deinit(&p);
	recording_end(&r);
}

/*
 * The trace has a row for each refused process up to a limit; further refused processes are only
 * counted.
 */
TS_TEST(refused_is_told)
{
	const struct ts_row_session *session;
	struct ts_handshake_reason packet;
	struct ts_sbt_reader *reader;
	Ts__Rpc__Answer *answer;
	struct recording r;
	struct producer p;
	int fd, file;

	recording_begin(&r);
	producer_init(&p, 1, false);
	for (int i = 0; i < 300; i++) {
		fd = socket_connect(r.socket, SOCK_SEQPACKET);
		producer_hello(fd, p.memfd);
		ts_check_int(producer_hear(fd, &packet), TS_HANDSHAKE_REFUSED);
		close(fd);
	}
	ts_check_int(ts_client_finish(r.client, 60000, &answer), 0);
	ts_check_int(answer->summary->refused, 300);
	ts_check_str(answer->summary->empty_reason, "refused");
	ts_check_str(answer->summary->empty_text, packet.text);
	ts__rpc__answer__free_unpacked(answer, NULL);
	reader_open(r.path, &file, &reader);
	ts_check_int(ts_sbt_reader_n_sessions(reader), 256);
	session = ts_sbt_reader_session_at(reader, 0);
	ts_check_int(session->empty_reason, TS_EMPTY_REFUSED);
	ts_check_int(session->pid, getpid());
	ts_check_str(ts_sbt_reader_string(reader, session->program, NULL), "test-hostile");
	ts_sbt_reader_free(reader);
	close(file);
	producer_deinit(&p);
	recording_end(&r);
}

/*
 * The trace has a row for each process that could not begin a session, up to a limit; further
 * processes are only counted.
 */
TS_TEST(notes_are_bounded)
{
	struct ts_handshake_reason note = {
		.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_NOTE, sizeof(note)},
		.reason = TS_EMPTY_NO_CUPTI,
	};
	struct ts_sbt_reader *reader;
	Ts__Rpc__Answer *answer;
	struct recording r;
	int fd, file;

	recording_begin(&r);
	for (int i = 0; i < 4200; i++) {
		fd = socket_connect(r.socket, SOCK_SEQPACKET);
		producer_send(fd, &note, sizeof(note), -1);
		/* The daemon closes the connection when it has recorded the note. */
		ts_check_int(producer_hear(fd, NULL), 0);
		close(fd);
	}
	ts_check_int(ts_client_finish(r.client, 20000, &answer), 0);
	ts_check_int(answer->summary->notes, 4200);
	ts__rpc__answer__free_unpacked(answer, NULL);
	reader_open(r.path, &file, &reader);
	ts_check_int(ts_sbt_reader_n_sessions(reader), 4096);
	ts_sbt_reader_free(reader);
	close(file);
	recording_end(&r);
}

/* A service removes the file of a session without a row, but not a file that replaced it. */
TS_TEST(replaced_file)
{
	char path[256], other[256];
	struct stat status;
	struct service s;
	struct producer p;
	int fd;

	service_begin(&s);
	fd = socket_connect(s.inject, SOCK_SEQPACKET);
	producer_init(&p, 1, true);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	service_trace_path(&s, path, sizeof(path));
	snprintf(other, sizeof(other), "%s/other", s.directory);
	ts_check_int(unlink(path), 0);
	close(open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	ts_check_int(symlink(other, path), 0);
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	ts_check_int(lstat(path, &status), 0);
	ts_check(S_ISLNK(status.st_mode));
	ts_check_int(lstat(other, &status), 0);
	ts_check_int(status.st_size, 0);
	/* A session of the same name does not write through the link at its file's path. */
	close(fd);
	fd = socket_connect(s.inject, SOCK_SEQPACKET);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	ts_check_int(lstat(other, &status), 0);
	ts_check_int(status.st_size, 0);
	close(fd);
	producer_deinit(&p);
	service_end(&s);
}

/* ---- costs ---- */

static uint64_t directory_bytes(const char *path, unsigned *ret_n_files)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	struct stat status;
	uint64_t n_bytes = 0;

	ts_check(dir != NULL);
	*ret_n_files = 0;
	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, ".sbt") &&
		    !fstatat(dirfd(dir), entry->d_name, &status, 0)) {
			n_bytes += (uint64_t)status.st_size;
			++*ret_n_files;
		}
	closedir(dir);
	return n_bytes;
}

/*
 * A process fills its ring with padding as fast as the daemon releases it. The file does not grow.
 */
TS_TEST(padding_writes_nothing)
{
	struct ts_record *pad;
	struct ts_shard *shard;
	struct service s;
	struct producer p;
	unsigned n_files;
	char path[256];
	int fd;

	service_begin(&s);
	fd = socket_connect(s.inject, SOCK_SEQPACKET);
	producer_init(&p, 1, true);
	producer_claim(&p, 0, 1, "main");
	shard = producer_shard(&p, 0);
	for (uint32_t off = 0; off < PRODUCER_RING_BYTES; off += 65536) {
		pad = (struct ts_record *)((uint8_t *)(shard + 1) + off);
		pad->n_words = 65536 / 8;
		pad->type = TS_RECORD_PAD;
	}
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	for (uint64_t head = 0, i = 0; i < 500; i++) {
		head += PRODUCER_RING_BYTES / 8 * 5;
		while (head - __atomic_load_n(&shard->released, __ATOMIC_ACQUIRE) >
		       PRODUCER_RING_BYTES) {
			__atomic_add_fetch(&p.control->doorbell, 1, __ATOMIC_RELEASE);
			syscall(SYS_futex, &p.control->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
			usleep(100);
		}
		__atomic_store_n(&shard->head, head, __ATOMIC_RELEASE);
	}
	snprintf(path, sizeof(path), "%s/%u", s.directory, getuid());
	ts_check(directory_bytes(path, &n_files) < 65536);
	/* Padding leaves no file to keep. */
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	/* The directory is removed with its last file. */
	ts_check(access(path, F_OK) < 0);
	close(fd);
	producer_deinit(&p);
	service_end(&s);
}

/*
 * Lets a file reach its limit. Checks that the process receives STOP, and that the trace gets its
 * end and reports the loss.
 */
static void check_limit(const char *option, const char *value, uint64_t most, const char *why)
{
	struct ts_sbt_summary summary;
	struct ts_sbt_reader *reader;
	Ts__Rpc__Answer *answer;
	uint64_t state = 1;
	struct recording r;
	struct producer p;
	uint32_t n = 0;
	int fd, file;

	recording_begin_with(&r, option, value);
	fd = socket_connect(r.socket, SOCK_SEQPACKET);
	producer_init(&p, 1, true);
	producer_claim(&p, 0, 1, "main");
	/* Records that do not compress. */
	for (; n < 10000; n++)
		put_api_of(&p, 0, (state = state * 6364136223846793005u + 1) | 1);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_STOP);
	/* Later sessions of the recording are refused, too. */
	close(fd);
	fd = socket_connect(r.socket, SOCK_SEQPACKET);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_REFUSED);
	ts_check_int(ts_client_finish(r.client, 60000, &answer), 0);
	ts_check(!answer->summary->error);
	ts_check_int(answer->summary->refused, 1);
	ts_check_str(answer->summary->cut_short, why);
	ts_check(summary_lost(answer->summary, "disk") > 0);
	ts_check(summary_count(answer->summary, "api") + summary_lost(answer->summary, "disk") >=
		 n);
	ts_check(answer->summary->bytes <= most);
	reader_open(r.path, &file, &reader);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	ts_check_str(ts_sbt_reader_metadata(reader, TS_METADATA_CUT_SHORT), why);
	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	ts_check_int(summary.lost[TS_LOSS_DISK], summary_lost(answer->summary, "disk"));
	ts_check_int(summary.counts[TS_ROW_API], summary_count(answer->summary, "api"));
	ts_sbt_reader_free(reader);
	close(file);
	ts__rpc__answer__free_unpacked(answer, NULL);
	close(fd);
	producer_deinit(&p);
	recording_end(&r);
}

TS_TEST(file_at_its_limit)
{
	check_limit("--max-file-bytes", "64K", 65536,
		    "the file reached its size limit (--max-file-bytes, ulimit -f)");
	check_limit("--keep-free", "1000000000000000", 1048576,
		    "the disk has no more free space than --keep-free reserves");
}

/*
 * A process sends definitions without end. The daemon keeps some of them. The others become unknown
 * and are counted.
 */
TS_TEST(definition_flood)
{
	const uint64_t arena_bytes = UINT64_C(24) << 20;
	struct ts_arena *arena;
	Ts__Rpc__Answer *answer;
	struct recording r;
	struct producer p;
	int fd;

	recording_begin(&r);
	fd = socket_connect(r.socket, SOCK_SEQPACKET);
	producer_init_arena(&p, 1, true, arena_bytes);
	producer_claim(&p, 0, 1, "main");
	arena = (struct ts_arena *)(p.base + p.control->arena_off);
	while (p.arena_at + sizeof(struct ts_definition) <= arena_bytes) {
		*(struct ts_definition *)((uint8_t *)(arena + 1) + p.arena_at) =
			(struct ts_definition){.n_words = sizeof(struct ts_definition) / 8,
					       .type = TS_DEF_STRING,
					       .id = ++p.n_defs[TS_DEF_STRING]};
		p.arena_at += sizeof(struct ts_definition);
	}
	__atomic_store_n(&arena->published, p.arena_at, __ATOMIC_RELEASE);
	put_api(&p, 0);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	ts_check_int(ts_client_finish(r.client, 60000, &answer), 0);
	ts_check(summary_lost(answer->summary, "arena_full") > 100000);
	ts_check(summary_lost(answer->summary, "arena_full") < p.n_defs[TS_DEF_STRING] - 100000);
	ts_check_int(summary_count(answer->summary, "api"), 1);
	ts__rpc__answer__free_unpacked(answer, NULL);
	close(fd);
	producer_deinit(&p);
	recording_end(&r);
}

/*
 * A process that rings the doorbell all the time is not served more often: the daemon waits a
 * millisecond between two looks at the ring.
 */
TS_TEST(doorbell_rung_for_nothing)
{
	uint64_t begin, now, seen = 0, n_looks = 0;
	struct service s;
	struct producer p;
	int fd;

	service_begin(&s);
	fd = socket_connect(s.inject, SOCK_SEQPACKET);
	producer_init(&p, 1, true);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	begin = now = ts_clock_monotonic_ns();
	while (now - begin < UINT64_C(2000000000)) {
		uint64_t heartbeat = __atomic_load_n(&p.control->heartbeat_ns, __ATOMIC_RELAXED);

		n_looks += heartbeat != seen;
		seen = heartbeat;
		__atomic_add_fetch(&p.control->doorbell, 1, __ATOMIC_RELEASE);
		if (__atomic_exchange_n(&p.control->sleeping, 0, __ATOMIC_SEQ_CST))
			syscall(SYS_futex, &p.control->doorbell, FUTEX_WAKE, 1, NULL, NULL, 0);
		now = ts_clock_monotonic_ns();
	}
	/* 3: the first look, and a look in progress at either end. */
	ts_check(n_looks <= (now - begin) / 1000000 + 3);
	close(fd);
	producer_deinit(&p);
	service_end(&s);
}

/* ---- contents of messages ---- */

/*
 * The process did not read its WELCOME, so the kernel reports a reset before it delivers the BYE.
 * The daemon still reads the BYE.
 */
TS_TEST(goodbye_behind_a_reset)
{
	const struct ts_row_session *session;
	struct ts_sbt_reader *reader;
	Ts__Rpc__Answer *answer;
	struct recording r;
	struct producer p;
	int fd, file;

	recording_begin(&r);
	fd = socket_connect(r.socket, SOCK_SEQPACKET);
	producer_init(&p, 1, true);
	producer_hello(fd, p.memfd);
	ts_check_int(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 10000), 1);
	ts_check_int(kill(r.pid, SIGSTOP), 0);
	producer_say(fd, TS_HANDSHAKE_BYE);
	close(fd);
	ts_check_int(kill(r.pid, SIGCONT), 0);
	ts_check_int(ts_client_finish(r.client, 60000, &answer), 0);
	ts_check_int(answer->summary->died, 0);
	ts__rpc__answer__free_unpacked(answer, NULL);
	reader_open(r.path, &file, &reader);
	session = ts_sbt_reader_session_at(reader, 0);
	ts_check_int(session->ended, TS_SESSION_END_BYE);
	ts_sbt_reader_free(reader);
	close(file);
	producer_deinit(&p);
	recording_end(&r);
}

/*
 * If a process's name or reason has bytes that are not UTF-8, the daemon's answer has a question
 * mark for each of them.
 */
TS_TEST(names_are_utf8)
{
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	struct service s;
	struct producer p;
	int fd;

	service_begin(&s);
	fd = socket_connect(s.inject, SOCK_SEQPACKET);
	producer_init(&p, 1, true);
	strcpy(p.control->program, "\xff\xfe b\xc3\xa4 \xed\xa0\x80 \xe2\x82");
	strcpy(p.control->reason_text, "\xc0\xaf");
	p.control->reason = TS_EMPTY_CUPTI_ERROR;
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	ts_check_int(ts_client_connect(s.control, &client), 0);
	ts_check_int(ts_client_list_sessions(client, &answer), 0);
	ts_check_str(answer->session_list->sessions[0]->program, "?? b\xc3\xa4 ??? ??");
	ts_check_str(answer->session_list->sessions[0]->empty_text, "??");
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_client_free(client);
	close(fd);
	producer_deinit(&p);
	service_end(&s);
}

/* The id of a job ends within its field; a field without its flag counts as 0. */
TS_TEST(jobs_are_bounded)
{
	struct ts_memory memory;
	struct producer p;
	const char *why;

	producer_init(&p, 1, true);
	memset(&p.control->job, 0xff, sizeof(p.control->job));
	ts_check_int(ts_memory_open(p.memfd, 1u << 30, &memory, &why), 0);
	ts_check_int(strlen(memory.job.id), sizeof(memory.job.id) - 1);
	ts_check_int(strspn(memory.job.id, "?"), sizeof(memory.job.id) - 1);
	ts_check_int(memory.job.flags, TS_JOB_RANK | TS_JOB_LOCAL_RANK);
	ts_check(memory.job.rank == UINT32_MAX && memory.job.local_rank == UINT32_MAX);
	ts_memory_close(&memory);
	p.control->job.flags = 0;
	p.control->job.id[0] = '\0';
	ts_check_int(ts_memory_open(p.memfd, 1u << 30, &memory, &why), 0);
	ts_check(!*memory.job.id && !memory.job.rank && !memory.job.local_rank);
	ts_memory_close(&memory);
	producer_deinit(&p);
}

/* A process name cannot forge lines of the daemon's log. */
TS_TEST(log_is_not_forged)
{
	int fds[2], old = dup(2);
	char text[256];
	ssize_t n;

	ts_check_int(pipe2(fds, O_CLOEXEC), 0);
	dup2(fds[1], 2);
	ts_log(TS_LOG_ERROR, "pid %d: %s", 7, "x\n<0>kernel: \033[31mred\xc2\x9b");
	dup2(old, 2);
	close(old);
	n = read(fds[0], text, sizeof(text) - 1);
	ts_check(n > 0);
	text[n] = '\0';
	ts_check(strstr(text, "pid 7: x\\x0a<0>kernel: \\x1b[31mred\\xc2\\x9b\n"));
	ts_check(strchr(text, '\n') == text + n - 1);
	close(fds[0]);
	close(fds[1]);
}

/* A flush request wakes the process, so the process need not poll. */
TS_TEST(flush_request_wakes)
{
	struct timespec limit = {100, 0};
	struct ts_client *client;
	Ts__Rpc__Answer *answer;
	struct service s;
	struct producer p;
	int fd, status;
	pid_t pid;

	service_begin(&s);
	fd = socket_connect(s.inject, SOCK_SEQPACKET);
	producer_init(&p, 1, true);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	pid = fork();
	if (!pid) {
		syscall(SYS_futex, &p.control->flush_request, FUTEX_WAIT, 0, &limit, NULL, 0);
		__atomic_store_n(&p.control->flushes_done, p.control->flush_request,
				 __ATOMIC_RELEASE);
		_exit(0);
	}
	usleep(100000);
	ts_check_int(ts_client_connect(s.control, &client), 0);
	ts_check_int(ts_client_flush(client, 0, 60000, &answer), 0);
	ts_check_int(answer->flushed->timed_out, 0);
	ts_check_int(__atomic_load_n(&p.control->flushes_done, __ATOMIC_ACQUIRE), 1);
	ts__rpc__answer__free_unpacked(answer, NULL);
	ts_client_free(client);
	ts_check_int(waitpid(pid, &status, 0), pid);
	close(fd);
	producer_deinit(&p);
	service_end(&s);
}
