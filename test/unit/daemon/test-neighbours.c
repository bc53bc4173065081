/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the daemon with a hostile user and other users. The hostile user passes descriptors whose
 * close() waits for a FUSE server, opens connections without data, and sends requests that are
 * never complete. The daemon serves the other users, every deadline holds, and SIGTERM ends the
 * daemon within END_S whatever is stuck.
 */
#include "test/unit/fuse.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/timerfd.h>

#include "daemon/util/porter/porter.h"
#include "proto/rpc/frame.h"
#include "test/unit/daemon/daemon.h"

#define ATTACKER  65001
#define NEIGHBOUR 65002

#define ATTACK_MS 60000 /* until all connections of an attack are accepted */
#define END_S	  5.0	/* from SIGTERM to the end of the daemon */

static double now_s(void)
{
	return (double)ts_clock_monotonic_ns() / 1e9;
}

/*
 * Sends the signal `number` to the daemon. Fails if the daemon lives for longer than END_S. Returns
 * its exit status.
 */
static int end_in_time(pid_t pid, int number)
{
	double begin = now_s();
	int status;

	kill(pid, number);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		ts_check(now_s() - begin < END_S);
		usleep(10000);
	}
	return status;
}

/*
 * Raises the limit of descriptors to its maximum: each connection of these tests needs one here and
 * two in the daemon.
 */
static void raise_descriptors(void)
{
	struct rlimit limit;

	ts_check_int(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	ts_check_int(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void begin_for_all(struct service *s, const char *option, const char *value)
{
	service_begin_with(s, option, value);
	close(socket_connect(s->inject, SOCK_SEQPACKET));
	close(socket_connect(s->control, SOCK_STREAM));
	ts_check_int(chmod(s->directory, 0711), 0);
}

/* Checks that the service serves a process and a client of this process's user. */
static void check_served(const struct service *s)
{
	struct producer p;
	int fd = socket_connect(s->inject, SOCK_SEQPACKET);

	producer_init(&p, 1, true);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	close(fd);
	producer_deinit(&p);
	service_check_answers(s);
}

/* Starts a process of another user that runs a function and ends. */
static pid_t as_user(uid_t uid, void (*run)(const struct service *s, void *data),
		     const struct service *s, void *data)
{
	pid_t pid = fork();

	ts_check(pid >= 0);
	if (!pid) {
		ts_check_int(setuid(uid), 0);
		/* After setuid(), which clears it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run(s, data);
		_exit(0);
	}
	return pid;
}

static void run_served(const struct service *s, void *data)
{
	check_served(s);
}

static void check_neighbour(const struct service *s)
{
	int status;
	pid_t pid = as_user(NEIGHBOUR, run_served, s, NULL);

	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
}

/* ---- descriptors whose close waits ---- */

struct attack {
	const struct fuse *fuse;
	unsigned n;
	int done[2]; /* the attacker writes a byte when all is sent */
};

/*
 * Reports that the attack is done, and then waits until the test kills this process. If the process
 * closed a FUSE file of its own or ended, this close() would wait for the FUSE server.
 */
static void attack_end(struct attack *attack)
{
	ts_check_int(write(attack->done[1], "", 1), 1);
	for (;;)
		pause();
}

static void attack_wait(struct attack *attack)
{
	struct pollfd poll_fd = {.fd = attack->done[0], .events = POLLIN};
	char byte;

	ts_check_int(poll(&poll_fd, 1, ATTACK_MS), 1);
	ts_check_int(read(attack->done[0], &byte, 1), 1);
}

static void attack_begin(struct attack *attack, const struct fuse *fuse, unsigned n)
{
	*attack = (struct attack){.fuse = fuse, .n = n};
	ts_check_int(pipe2(attack->done, O_CLOEXEC), 0);
}

static void attack_over(struct attack *attack)
{
	close(attack->done[0]);
	close(attack->done[1]);
}

static int fuse_open(const struct fuse *fuse)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/file", fuse->path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ts_check(fd >= 0);
	return fd;
}

/*
 * Opens connections one after the other. Each sends a HELLO or a query with a descriptor of a file
 * whose file system does not answer.
 */
static void run_blocked_closes(const struct service *s, void *data)
{
	struct attack *attack = data;
	int file = fuse_open(attack->fuse);

	raise_descriptors();
	for (unsigned i = 0; i < attack->n; i++) {
		bool is_client = i % 8 == 7;
		int fd = socket_connect(is_client ? s->control : s->inject,
					is_client ? SOCK_STREAM : SOCK_SEQPACKET);

		struct ts_handshake_hello hello = {
			.header = {TS_HANDSHAKE_MAGIC, TS_HANDSHAKE_HELLO, sizeof(hello)},
			.major = TS_ABI_MAJOR,
		};
		union {
			struct cmsghdr align;
			char bytes[CMSG_SPACE(sizeof(int))];
		} control = {0};
		struct iovec iov = {&hello, sizeof(hello)};
		struct msghdr message = {.msg_iov = &iov,
					 .msg_iovlen = 1,
					 .msg_control = control.bytes,
					 .msg_controllen = sizeof(control.bytes)};

		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.align), &file, sizeof(int));
		/* The daemon may have refused and closed this connection already. */
		if (sendmsg(fd, &message, MSG_NOSIGNAL) < 0)
			ts_check(errno == EPIPE || errno == ECONNRESET);
		close(fd);
	}
	attack_end(attack);
}

/* Returns the pid of a service's porter, which is a child of the service. 0: there is none. */
static pid_t find_porter(pid_t daemon)
{
	char path[64], text[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", daemon, daemon);
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof(text), file))
		*text = '\0';
	if (file)
		fclose(file);
	return (pid_t)atoi(text);
}

/*
 * Like producer_hear(), but the connection reports one reset before the answer, because a HELLO
 * lies unread at the other end.
 */
static uint16_t hear_behind_reset(int fd, struct ts_handshake_reason *ret_packet)
{
	ts_check_int(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 100000), 1);
	for (int i = 0; i < 2; i++)
		if (recv(fd, ret_packet, sizeof(*ret_packet), 0) >=
		    (ssize_t)sizeof(ret_packet->header))
			return ret_packet->header.type;
	return 0;
}

static void check_refused_as_busy(const struct service *s, void *data)
{
	struct ts_handshake_reason packet;
	struct producer p;
	int fd = socket_connect(s->inject, SOCK_SEQPACKET);

	producer_init(&p, 1, true);
	producer_hello(fd, p.memfd);
	ts_check_int(hear_behind_reset(fd, &packet), TS_HANDSHAKE_REFUSED);
	ts_check(strstr(packet.text, "still open"));
	close(fd);
	producer_deinit(&p);
}

/*
 * One user has 5,000 connections. While all closes of this user wait, the daemon serves the other
 * users. When the closes return, it serves this user again.
 */
TS_TEST(blocked_closes)
{
	struct attack attack;
	struct service s;
	struct fuse fuse;
	pid_t pid, other;
	int status;

	if (getuid())
		ts_skip("needs several uids");
	raise_descriptors();
	fuse_mount(&fuse, "file", 4);
	begin_for_all(&s, NULL, NULL);
	fuse_block(&fuse, FUSE_BIT(FUSE_FLUSH));
	attack_begin(&attack, &fuse, 5000);
	pid = as_user(ATTACKER, run_blocked_closes, &s, &attack);
	attack_wait(&attack);
	ts_check(fuse_wait(&fuse, FUSE_FLUSH, 1, 10));
	service_check_answers(&s);
	check_neighbour(&s);
	other = as_user(ATTACKER, check_refused_as_busy, &s, NULL);
	ts_check_int(waitpid(other, &status, 0), other);
	ts_check_int(status, 0);
	fuse_block(&fuse, 0);
	kill(pid, SIGKILL);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < 1000; i++) {
		other = as_user(ATTACKER, run_served, &s, NULL);
		ts_check_int(waitpid(other, &status, 0), other);
		if (!status)
			break;
		usleep(10000);
	}
	ts_check_int(status, 0);
	service_end(&s);
	attack_over(&attack);
	fuse_unmount(&fuse);
}

/*
 * Checks that SIGTERM and SIGKILL each end the daemon while close() calls wait, and that the
 * connections of its peers end.
 */
static void check_end_with_blocked_closes(int number)
{
	struct attack attack;
	struct service s;
	struct fuse fuse;
	struct producer p;
	pid_t pid, porter;
	int fd, status;

	if (getuid())
		ts_skip("needs several uids");
	fuse_mount(&fuse, "file", 4);
	begin_for_all(&s, NULL, NULL);
	porter = find_porter(s.pid);
	producer_init(&p, 1, true);
	fd = socket_connect(s.inject, SOCK_SEQPACKET);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	fuse_block(&fuse, FUSE_BIT(FUSE_FLUSH));
	attack_begin(&attack, &fuse, 300);
	pid = as_user(ATTACKER, run_blocked_closes, &s, &attack);
	attack_wait(&attack);
	ts_check(fuse_wait(&fuse, FUSE_FLUSH, 1, 10));
	status = end_in_time(s.pid, number);
	ts_check_int(status, number == SIGKILL ? SIGKILL : 0);
	ts_check_int(producer_hear(fd, NULL), number == SIGKILL ? 0 : TS_HANDSHAKE_STOP);
	/*
	 * The porter outlives the daemon, because its close() still waits for FUSE. Yet no process
	 * listens at the daemon's socket.
	 */
	ts_check(fuse_waiting(&fuse, FUSE_FLUSH) >= 1);
	ts_check(porter > 0);
	ts_check_int(kill(porter, 0), 0);
	{
		struct sockaddr_un address = {.sun_family = AF_UNIX};
		int other = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

		strcpy(address.sun_path, s.inject);
		ts_check(connect(other, (struct sockaddr *)&address, sizeof(address)) < 0);
		close(other);
	}
	fuse_block(&fuse, 0);
	kill(pid, SIGKILL);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	/* The porter ends as soon as its closes return. */
	for (int i = 0; i < 1000 && !kill(porter, 0); i++)
		usleep(10000);
	ts_check(kill(porter, 0) < 0);
	close(fd);
	producer_deinit(&p);
	attack_over(&attack);
	fuse_unmount(&fuse);
	directory_remove(s.directory);
}

TS_TEST(term_with_blocked_closes)
{
	check_end_with_blocked_closes(SIGTERM);
}

TS_TEST(kill_with_blocked_closes)
{
	check_end_with_blocked_closes(SIGKILL);
}

static void run_one_blocked_close(const struct service *s, void *data)
{
	struct attack *attack = data;
	int file = fuse_open(attack->fuse), fd = socket_connect(s->inject, SOCK_SEQPACKET);

	producer_send(fd, "x", 1, file);
	producer_hear(fd, NULL);
	attack_end(attack);
}

static void run_pipe(const struct service *s, void *data)
{
	int *ends = data, fd = socket_connect(s->inject, SOCK_SEQPACKET);

	producer_send(fd, "x", 1, ends[1]);
	close(fd);
}

/* The closes of 100 users wait; the closes of another user do not. */
TS_TEST(blocked_closes_of_many_users)
{
	struct pollfd poll_fd = {.events = POLLIN};
	struct attack attack;
	struct service s;
	struct fuse fuse;
	pid_t pids[100], pid;
	int ends[2];

	if (getuid())
		ts_skip("needs several uids");
	raise_descriptors();
	fuse_mount(&fuse, "file", 4);
	begin_for_all(&s, NULL, NULL);
	fuse_block(&fuse, FUSE_BIT(FUSE_FLUSH));
	attack_begin(&attack, &fuse, 1);
	for (unsigned i = 0; i < TS_ARRAY_LEN(pids); i++) {
		pids[i] = as_user(ATTACKER + 1000 + i, run_one_blocked_close, &s, &attack);
		attack_wait(&attack);
	}
	ts_check_int(pipe2(ends, O_CLOEXEC), 0);
	pid = as_user(NEIGHBOUR, run_pipe, &s, ends);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	close(ends[1]);
	/* The daemon's descriptor of the pipe is closed. */
	poll_fd.fd = ends[0];
	ts_check_int(poll(&poll_fd, 1, 10000), 1);
	close(ends[0]);
	check_neighbour(&s);
	ts_check_int(end_in_time(s.pid, SIGTERM), 0);
	fuse_block(&fuse, 0);
	for (unsigned i = 0; i < TS_ARRAY_LEN(pids); i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	attack_over(&attack);
	fuse_unmount(&fuse);
	directory_remove(s.directory);
}

/* ---- connections whose own close waits ---- */

#define PAGE_BYTES 4096u
#define BATCH	   1000u
/*
 * Limit of descriptors of the daemon, at its minimum. The porter, which has all connections, and
 * each of its helpers have the same limit.
 */
#define FEW_FDS 4096u

struct batch {
	struct attack attack;
	unsigned number;
};

/*
 * Opens connections, sends a descriptor of one file over each, and closes them before the daemon
 * receives the descriptors. Then writes the file; the page stays in the kernel. A connection has
 * the last copy of its descriptor, so the close of the connection waits for FUSE_WRITE.
 */
static void run_unreceived(const struct service *s, void *data)
{
	struct batch *batch = data;
	char path[128], page[PAGE_BYTES] = "written";
	int file;

	raise_descriptors();
	snprintf(path, sizeof(path), "%s/%u", batch->attack.fuse->path, batch->number);
	for (unsigned i = 0; i < batch->attack.n; i++) {
		int fd = socket_connect(s->inject, SOCK_SEQPACKET);

		file = open(path, O_RDWR | O_CLOEXEC);
		ts_check(file >= 0);
		producer_send(fd, "x", 1, file);
		close(file);
		close(fd);
	}
	file = open(path, O_RDWR | O_CLOEXEC);
	ts_check_int(pwrite(file, page, sizeof(page), 0), sizeof(page));
	attack_end(&batch->attack);
}

/* Checks that all remaining processes of the daemon end. This process has no other children. */
static void check_all_end(void)
{
	pid_t pid = 0;

	for (int i = 0; i < 3000 && pid >= 0; i++) {
		pid = waitpid(-1, NULL, WNOHANG);
		if (!pid)
			usleep(10000);
	}
	ts_check(pid < 0 && errno == ECHILD);
}

/*
 * One user opens connections whose closes never return, twice as many as the porter may have
 * descriptors. The others are served, the daemon ends, and its processes end as soon as the closes
 * return.
 */
TS_TEST(closes_of_connections_that_never_return)
{
	struct batch batches[2 * FEW_FDS / BATCH + 2];
	char page[PAGE_BYTES] = "";
	struct service s;
	struct fuse fuse;
	unsigned n = 0;
	pid_t pids[TS_ARRAY_LEN(batches)];

	if (getuid())
		ts_skip("needs several uids");
	ts_skip_emulated("prctl(PR_SET_CHILD_SUBREAPER)");
	ts_check_int(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	fuse_mount_writeback(&fuse, page, sizeof(page));
	daemon_max_fds = FEW_FDS;
	begin_for_all(&s, NULL, NULL);
	fuse_block(&fuse, FUSE_BIT(FUSE_WRITE));
	while (n < TS_ARRAY_LEN(batches)) {
		struct batch *batch = &batches[n];

		attack_begin(&batch->attack, &fuse, BATCH);
		batch->number = n;
		/* The daemon accepts these connections only after their files were written. */
		kill(s.pid, SIGSTOP);
		pids[n] = as_user(ATTACKER, run_unreceived, &s, batch);
		attack_wait(&batch->attack);
		kill(s.pid, SIGCONT);
		/* The neighbour's connection is behind the attacker's connections in the queue. */
		check_neighbour(&s);
		service_check_answers(&s);
		n++;
	}
	ts_check(fuse_waiting(&fuse, FUSE_WRITE) > 0);
	ts_check_int(end_in_time(s.pid, SIGTERM), 0);
	fuse_block(&fuse, 0);
	for (unsigned i = 0; i < n; i++) {
		kill(pids[i], SIGKILL);
		ts_check_int(waitpid(pids[i], NULL, 0), pids[i]);
		attack_over(&batches[i].attack);
	}
	fuse_unmount(&fuse);
	check_all_end();
	directory_remove(s.directory);
}

static void run_query(const struct service *s, void *data)
{
	struct attack *attack = data;
	int file = fuse_open(attack->fuse);
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	Ts__Rpc__Query__State state = TS__RPC__QUERY__STATE__INIT;
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	uint8_t bytes[256];
	struct ts_frame_header *header = (void *)bytes;
	int fd = socket_connect(s->control, SOCK_STREAM);
	size_t n;

	query.body_case = TS__RPC__QUERY__BODY_STATE;
	query.state = &state;
	request.body_case = TS__RPC__REQUEST__BODY_QUERY;
	request.query = &query;
	n = ts__rpc__request__pack(&request, bytes + sizeof(*header));
	*header = ts_frame_header_make(TS_FRAME_REQUEST, 1, (uint32_t)n);
	header->n_fds = 1;
	fuse_block((struct fuse *)(uintptr_t)attack->fuse, ~UINT64_C(0));
	producer_send(fd, bytes, sizeof(*header) + n, file);
	attack_end(attack);
}

/* A query names a file whose FUSE server does not answer. Only the worker of this query waits. */
TS_TEST(query_about_a_silent_file)
{
	struct attack attack;
	struct service s;
	struct fuse fuse;
	pid_t pid;

	if (getuid())
		ts_skip("needs several uids");
	fuse_mount(&fuse, "file", 4);
	begin_for_all(&s, NULL, NULL);
	attack_begin(&attack, &fuse, 1);
	pid = as_user(ATTACKER, run_query, &s, &attack);
	attack_wait(&attack);
	/* The worker first asks for the file's attributes, or reads the file. */
	for (int i = 0;
	     i < 1000 && !fuse_waiting(&fuse, FUSE_GETATTR) && !fuse_waiting(&fuse, FUSE_READ); i++)
		usleep(10000);
	ts_check(fuse_waiting(&fuse, FUSE_GETATTR) + fuse_waiting(&fuse, FUSE_READ) > 0);
	service_check_answers(&s);
	check_neighbour(&s);
	ts_check_int(end_in_time(s.pid, SIGTERM), 0);
	fuse_block(&fuse, 0);
	kill(pid, SIGKILL);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	attack_over(&attack);
	fuse_unmount(&fuse);
	directory_remove(s.directory);
}

/* ---- connections and descriptors of one user ---- */

static unsigned count_fds(pid_t pid)
{
	char path[64];
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	ts_check(dir != NULL);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static void run_connections(const struct service *s, void *data)
{
	struct attack *attack = data;

	raise_descriptors();
	for (unsigned i = 0; i < attack->n; i++)
		socket_connect(i % 2 ? s->inject : s->control,
			       i % 2 ? SOCK_SEQPACKET : SOCK_STREAM);
	attack_end(attack);
}

/*
 * One user holds 10,000 connections. The daemon keeps no more than that user's share, and the
 * others are served.
 */
TS_TEST(ten_thousand_connections)
{
	struct rlimit limit;
	struct attack attack;
	struct service s;
	pid_t pid;

	if (getuid())
		ts_skip("needs several uids");
	ts_check_int(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_max < 10100)
		ts_skip("RLIMIT_NOFILE is too small");
	begin_for_all(&s, NULL, NULL);
	attack_begin(&attack, NULL, 10000);
	pid = as_user(ATTACKER, run_connections, &s, &attack);
	attack_wait(&attack);
	service_check_answers(&s);
	check_neighbour(&s);
	/*
	 * The attacker has a quarter of --max-connections and of --max-clients, and the daemon's
	 * own descriptors.
	 */
	ts_check(count_fds(s.pid) < 64 + 16 + 40);
	ts_check(count_fds(find_porter(s.pid)) < 64 + 16 + 40);
	ts_check_int(end_in_time(s.pid, SIGTERM), 0);
	kill(pid, SIGKILL);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	attack_over(&attack);
	directory_remove(s.directory);
}

/*
 * Opens descriptors of every kind, and adds `connection` itself: a socket in its own queue is a
 * cycle.
 */
static unsigned open_all_kinds(int connection, int fds[16])
{
	unsigned n = 0;
	int pair[2];

	ts_check_int(pipe2(pair, O_CLOEXEC), 0);
	fds[n++] = pair[0];
	fds[n++] = pair[1];
	ts_check_int(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair), 0);
	fds[n++] = pair[0];
	fds[n++] = pair[1];
	fds[n++] = epoll_create1(EPOLL_CLOEXEC);
	fds[n++] = eventfd(0, EFD_CLOEXEC);
	fds[n++] = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	fds[n++] = inotify_init1(IN_CLOEXEC);
	fds[n++] = open("/dev/null", O_RDWR | O_CLOEXEC);
	fds[n++] = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	fds[n++] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fds[n++] = open("/", O_PATH | O_CLOEXEC);
	fds[n++] = memfd_create("small", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	fds[n++] = dup(connection);
	for (unsigned i = 0; i < n; i++)
		ts_check(fds[i] >= 0);
	return n;
}

static void check_refused(const struct service *s, unsigned kind)
{
	struct ts_handshake_reason packet;
	int fd = socket_connect(s->inject, SOCK_SEQPACKET), fds[16];
	unsigned n = open_all_kinds(fd, fds);

	producer_hello(fd, fds[kind % n]);
	ts_check_int(producer_hear(fd, &packet), TS_HANDSHAKE_REFUSED);
	ts_check(strlen(packet.text) > 0);
	close(fd);
	/*
	 * Sends the descriptor over a client's socket, too, where the daemon expects none. Linux
	 * 6.16 may refuse to pass it.
	 */
	fd = socket_connect(s->control, SOCK_STREAM);
	producer_send(fd, "TSRP", 4, fds[kind % n]);
	close(fd);
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
}

TS_TEST(descriptors_of_every_kind)
{
	unsigned n_daemon, n_porter;
	struct service s;
	pid_t porter;

	begin_for_all(&s, NULL, NULL);
	porter = find_porter(s.pid);
	check_served(&s);
	usleep(100000);
	n_daemon = count_fds(s.pid);
	n_porter = count_fds(porter);
	for (unsigned kind = 0; kind < 14; kind++)
		check_refused(&s, kind);
	check_served(&s);
	/* The daemon and the porter close all of these descriptors. */
	for (int i = 0; i < 1000 && (count_fds(s.pid) > n_daemon || count_fds(porter) > n_porter);
	     i++)
		usleep(10000);
	ts_check(count_fds(s.pid) <= n_daemon);
	ts_check(count_fds(porter) <= n_porter);
	service_end(&s);
}

/*
 * The daemon refuses a packet that is larger than any valid packet. It drops a client whose request
 * announces more bytes than a request may have.
 */
TS_TEST(oversized_messages)
{
	struct ts_frame_header header =
		ts_frame_header_make(TS_FRAME_REQUEST, 1, TS_FRAME_REQUEST_MAX_BYTES + 1);
	static char bytes[100000];
	struct service s;
	int fd;

	begin_for_all(&s, NULL, NULL);
	fd = socket_connect(s.inject, SOCK_SEQPACKET);
	ts_check_int(send(fd, bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_REFUSED);
	close(fd);
	fd = socket_connect(s.control, SOCK_STREAM);
	ts_check_int(send(fd, &header, sizeof(header), MSG_NOSIGNAL), sizeof(header));
	ts_check_int(poll(&(struct pollfd){.fd = fd, .events = POLLIN}, 1, 5000), 1);
	ts_check(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) <= 0);
	close(fd);
	check_served(&s);
	service_end(&s);
}

/* ---- deadlines ---- */

#define CONNECT_MS 100u /* between connections of a neighbour */

static void run_connects(const struct service *s, void *data)
{
	for (;;) {
		close(socket_connect(s->inject, SOCK_SEQPACKET));
		close(socket_connect(s->control, SOCK_STREAM));
		usleep(CONNECT_MS * 1000);
	}
}

/*
 * Returns the seconds until the other end closes the connection. Until then sends the bytes of
 * `drip`, one every half second.
 */
static double hung_up_after(int fd, const void *drip, size_t n_bytes)
{
	double begin = now_s();
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	char bytes[4096];
	size_t off = 0;

	while (now_s() - begin < 30) {
		if (poll(&poll_fd, 1, 500) > 0 && recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) <= 0)
			break;
		if (off < n_bytes && send(fd, (const char *)drip + off++, 1, MSG_NOSIGNAL) < 0)
			break;
	}
	return now_s() - begin;
}

/* Starts a process that checks that the other end closes the connection after about ten seconds. */
static pid_t begin_hung_up(int fd, const void *drip, size_t n_bytes)
{
	pid_t pid = fork();

	ts_check(pid >= 0);
	if (!pid) {
		double s = hung_up_after(fd, drip, n_bytes);

		if (s < 8 || s > 20)
			fprintf(stderr, "hung up after %.1f s\n", s);
		_exit(s < 8 || s > 20);
	}
	close(fd);
	return pid;
}

/*
 * A neighbour connects all the time. The daemon still drops in time a connection that sends
 * nothing, or never a complete request.
 */
TS_TEST(deadlines_under_accepts)
{
	struct ts_frame_header header = ts_frame_header_make(TS_FRAME_REQUEST, 1, 60000);
	struct service s;
	int fds[4], status;
	pid_t pids[TS_ARRAY_LEN(fds)], pid;

	begin_for_all(&s, NULL, NULL);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run_connects(&s, NULL);
	}
	/* Two connections without data; half a header; a request byte by byte. */
	fds[0] = socket_connect(s.inject, SOCK_SEQPACKET);
	fds[1] = socket_connect(s.inject, SOCK_SEQPACKET);
	fds[2] = socket_connect(s.control, SOCK_STREAM);
	ts_check_int(send(fds[2], &header, 7, MSG_NOSIGNAL), 7);
	fds[3] = socket_connect(s.control, SOCK_STREAM);
	ts_check_int(send(fds[3], &header, sizeof(header), MSG_NOSIGNAL), sizeof(header));
	for (size_t i = 0; i < TS_ARRAY_LEN(fds); i++)
		pids[i] = begin_hung_up(fds[i], s.directory, i == 3 ? sizeof(s.directory) : 0);
	for (size_t i = 0; i < TS_ARRAY_LEN(fds); i++) {
		ts_check_int(waitpid(pids[i], &status, 0), pids[i]);
		ts_check_int(status, 0);
	}
	kill(pid, SIGKILL);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	service_end(&s);
}

/* ---- the end by a signal ---- */

/*
 * On SIGTERM no process answers the flush, and one continues to write. The daemon finishes all
 * files in time.
 */
TS_TEST(term_with_silent_sessions)
{
	struct ts_sbt_reader *reader;
	struct ts_sbt_summary summary;
	struct producer p[40];
	struct service s;
	int fds[TS_ARRAY_LEN(p)];
	unsigned n_files = 0;
	uint64_t n_rows = 0;
	glob_t traces;
	pid_t pid;

	begin_for_all(&s, "--max-sessions-user", "64");
	for (size_t i = 0; i < TS_ARRAY_LEN(p); i++) {
		producer_init(&p[i], 2, true);
		produce(&p[i], 1000);
		fds[i] = socket_connect(s.inject, SOCK_SEQPACKET);
		producer_hello(fds[i], p[i].memfd);
		ts_check_int(producer_hear(fds[i], NULL), TS_HANDSHAKE_WELCOME);
	}
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (uint64_t i = 1001;; i++)
			producer_launch(&p[0], i, 0, 0);
	}
	kill(s.pid, SIGUSR1);
	ts_check_int(end_in_time(s.pid, SIGTERM), 0);
	kill(pid, SIGKILL);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	service_traces(s.directory, &traces);
	for (size_t i = 0; i < traces.gl_pathc; i++) {
		int file;

		/* A dump is another name of a file, or a part of a file. */
		if (strstr(traces.gl_pathv[i], "dump"))
			continue;
		reader_open(traces.gl_pathv[i], &file, &reader);
		ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
		ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
		n_rows += summary.counts[TS_ROW_API];
		n_files++;
		ts_sbt_reader_free(reader);
		close(file);
	}
	globfree(&traces);
	ts_check_int(n_files, TS_ARRAY_LEN(p));
	ts_check(n_rows >= 1000 * TS_ARRAY_LEN(p));
	for (size_t i = 0; i < TS_ARRAY_LEN(p); i++) {
		close(fds[i]);
		producer_deinit(&p[i]);
	}
	directory_remove(s.directory);
}

/*
 * SIGTERM ends the daemon while 4,000 clients have each sent half a request, and new clients
 * connect without end.
 */
TS_TEST(term_among_clients)
{
	unsigned n = 4000;
	struct rlimit limit;
	struct service s;
	pid_t pid;
	int *fds;

	if (getuid())
		ts_skip("root alone may have so many clients");
	raise_descriptors();
	ts_check_int(getrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_max < 3 * n)
		ts_skip("RLIMIT_NOFILE is too small");
	fds = calloc(n, sizeof(*fds));
	ts_check(fds);
	begin_for_all(&s, "--max-clients", "4096");
	for (unsigned i = 0; i < n; i++) {
		fds[i] = socket_connect(s.control, SOCK_STREAM);
		ts_check_int(send(fds[i], "TSRP", 4, MSG_NOSIGNAL), 4);
	}
	service_check_answers(&s);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			struct sockaddr_un address = {.sun_family = AF_UNIX};
			int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

			strcpy(address.sun_path, s.control);
			if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
				_exit(0);
			close(fd);
		}
	}
	ts_check_int(end_in_time(s.pid, SIGTERM), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	for (unsigned i = 0; i < n; i++)
		close(fds[i]);
	free(fds);
	directory_remove(s.directory);
}

/*
 * SIGTERM ends the daemon while its main loop waits for a worker that names the frames of stacks
 * and does not answer. The file is readable.
 */
TS_TEST(term_while_symbolising)
{
	char map[64];
	struct ts_sbt_reader *reader;
	struct ts_frame_header header;
	uint8_t finish[sizeof(header) + 2];
	struct recording r;
	struct producer p;
	FILE *file;
	int fd;

	snprintf(map, sizeof(map), "/tmp/perf-%d.map", getpid());
	file = fopen(map, "we");
	ts_check(file);
	fprintf(file, "1000 100 main\n");
	fclose(file);
	recording_begin_with(&r, "--worker", "/bin/sleep");
	fd = socket_connect(r.socket, SOCK_SEQPACKET);
	producer_init(&p, 2, true);
	produce(&p, 10);
	producer_hello(fd, p.memfd);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_WELCOME);
	producer_say(fd, TS_HANDSHAKE_BYE);
	ts_check_int(producer_hear(fd, NULL), TS_HANDSHAKE_DONE);
	header = ts_frame_header_make(TS_FRAME_REQUEST, 1, 2);
	memcpy(finish, &header, sizeof(header));
	finish[sizeof(header)] = 5 << 3 | 2;
	finish[sizeof(header) + 1] = 0;
	ts_check_int(send(ts_client_fd(r.client), finish, sizeof(finish), MSG_NOSIGNAL),
		     sizeof(finish));
	usleep(300000);
	ts_check_int(end_in_time(r.pid, SIGTERM), 0);
	unlink(map);
	close(fd);
	reader_open(r.path, &fd, &reader);
	ts_check(ts_sbt_reader_n_sessions(reader) == 1);
	ts_sbt_reader_free(reader);
	close(fd);
	producer_deinit(&p);
	ts_client_free(r.client);
	directory_remove(r.directory);
}
