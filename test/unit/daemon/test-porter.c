/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The porter forwards memory files and no other descriptors, holds files until they are sent, and
 * closes descriptors that nobody received.
 */
#include "test/unit/harness.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "daemon/util/porter/porter.h"
#include "proto/abi/base.h"

#define USER 65001

/* A connection: [0] is the peer's end, [1] the porter's. */
struct line {
	int fds[2];
	uint64_t number;
};

static void line_open(struct ts_porter *porter, struct line *line, int type)
{
	ts_check_int(socketpair(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, line->fds), 0);
	line->number = ts_porter_keep(porter, USER, line->fds[1]);
}

static void line_close(struct ts_porter *porter, struct line *line)
{
	ts_porter_close(porter, line->number, line->fds[1]);
	close(line->fds[0]);
}

static void pass_with(int socket_fd, const void *data, size_t n_bytes, const int *fds,
		      unsigned n_fds, int flags)
{
	struct iovec iov = {(void *)(uintptr_t)data, n_bytes};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int) * 253)];
	} control = {0};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};

	if (n_fds) {
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, n_fds * sizeof(int));
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	}
	ts_check_int(sendmsg(socket_fd, &message, MSG_NOSIGNAL | flags), n_bytes);
}

static void pass(int socket_fd, const void *data, size_t n_bytes, const int *fds, unsigned n_fds)
{
	pass_with(socket_fd, data, n_bytes, fds, n_fds, 0);
}

/*
 * Passes the write end of a pipe. Returns the read end, which reports a hang-up once the other end
 * is closed.
 */
static int pass_pipe(int socket_fd, const void *data, size_t n_bytes)
{
	int ends[2];

	ts_check_int(pipe2(ends, O_CLOEXEC), 0);
	pass(socket_fd, data, n_bytes, &ends[1], 1);
	close(ends[1]);
	return ends[0];
}

static bool is_closed(int reading_end, int ms)
{
	struct pollfd poll_fd = {.fd = reading_end, .events = POLLIN};

	return poll(&poll_fd, 1, ms) == 1 && poll_fd.revents & POLLHUP;
}

static void check_closed(int reading_end)
{
	ts_check(is_closed(reading_end, 10000));
	close(reading_end);
}

static void check_fds(int n)
{
	ts_check_int(ts_test_count_fds(), n);
}

TS_TEST(messages_without_descriptors)
{
	struct ts_porter *porter;
	struct line line;
	unsigned n_fds = 1;
	char bytes[16];
	int received[TS_PORTER_SESSION_FDS] = {0};

	ts_check_int(ts_porter_new(&porter), 0);
	line_open(porter, &line, SOCK_SEQPACKET);
	ts_check_int(ts_porter_receive_session(porter, line.number, line.fds[1], bytes,
					       sizeof(bytes), received, &n_fds),
		     -EAGAIN);
	pass(line.fds[0], "hello", 5, NULL, 0);
	ts_check_int(ts_porter_receive_session(porter, line.number, line.fds[1], bytes,
					       sizeof(bytes), received, &n_fds),
		     5);
	ts_check(!memcmp(bytes, "hello", 5));
	ts_check_int(received[0], -1);
	ts_check_int(n_fds, 0);
	shutdown(line.fds[0], SHUT_RDWR);
	ts_check_int(ts_porter_receive_session(porter, line.number, line.fds[1], bytes,
					       sizeof(bytes), received, &n_fds),
		     0);
	line_close(porter, &line);
	ts_porter_free(porter);
}

/*
 * The memory file is forwarded, whether first or last in a message; all other descriptors are
 * closed.
 */
TS_TEST(memory_comes_through)
{
	struct ts_porter *porter;
	struct line line;
	unsigned n_fds;
	char bytes[16];
	int fds[3], ends[2], received[TS_PORTER_SESSION_FDS], memory, n;

	ts_check_int(ts_porter_new(&porter), 0);
	line_open(porter, &line, SOCK_SEQPACKET);
	memory = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	ts_check_int(ftruncate(memory, 12345), 0);
	ts_check_int(pipe2(ends, O_CLOEXEC), 0);
	n = ts_test_count_fds();
	fds[0] = ends[1];
	fds[1] = memory;
	fds[2] = ends[1];
	pass(line.fds[0], "hello", 5, fds, 3);
	ts_check_int(ts_porter_receive_session(porter, line.number, line.fds[1], bytes,
					       sizeof(bytes), received, &n_fds),
		     5);
	ts_check(!memcmp(bytes, "hello", 5));
	ts_check_int(n_fds, 3);
	ts_check_int(lseek(received[0], 0, SEEK_END), 12345);
	close(received[0]);
	/* The porter passed only the memory file's descriptor to this process. */
	check_fds(n);
	close(ends[1]);
	check_closed(ends[0]);
	close(memory);
	line_close(porter, &line);
	ts_porter_free(porter);
}

TS_TEST(files_are_held_until_they_are_sent)
{
	struct ts_porter *porter;
	struct line line;
	unsigned n_fds;
	char bytes[16];
	int worker[2], sent, first, second;
	struct ts_porter_file files[TS_PORTER_MAX_HELD];
	struct stat status;
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {bytes, sizeof(bytes)};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};

	ts_check_int(ts_porter_new(&porter), 0);
	line_open(porter, &line, SOCK_STREAM);
	first = pass_pipe(line.fds[0], "one", 3);
	second = pass_pipe(line.fds[0], "two", 3);
	for (int i = 0; i < 2; i++) {
		ts_check_int(ts_porter_receive_files(porter, line.number, line.fds[1], bytes,
						     sizeof(bytes), &n_fds),
			     3);
		ts_check(!memcmp(bytes, i ? "two" : "one", 3));
		ts_check_int(n_fds, 1);
	}
	ts_check(!is_closed(first, 50));
	ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, worker), 0);
	ts_check_int(ts_porter_send_files(porter, line.number, 1, worker[0], "work", 4, files), 4);
	ts_check_int(fstat(first, &status), 0);
	/* Both ends of a pipe are one inode. */
	ts_check_int(files[0].device, status.st_dev);
	ts_check_int(files[0].inode, status.st_ino);
	ts_check_int(ts_porter_send_files(porter, line.number, 3, worker[0], "work", 4, files),
		     -EBADF);
	ts_check_int(recvmsg(worker[1], &message, MSG_CMSG_CLOEXEC), 4);
	memcpy(&sent, CMSG_DATA(&control.align), sizeof(sent));
	ts_porter_release_files(porter, line.number, 1);
	ts_check(!is_closed(first, 50));
	close(sent);
	check_closed(first);
	ts_check(!is_closed(second, 50));
	/* The other files are closed with the connection. */
	line_close(porter, &line);
	check_closed(second);
	close(worker[0]);
	close(worker[1]);
	ts_porter_free(porter);
}

/*
 * If a connection ends with descriptors that nobody received, the porter closes them. They are in a
 * packet behind others, in an empty packet, or behind empty packets.
 */
TS_TEST(what_nobody_received_is_closed)
{
	static const int types[] = {SOCK_SEQPACKET, SOCK_STREAM};
	struct ts_porter *porter;
	struct line line;
	int n, reading;

	ts_check_int(ts_porter_new(&porter), 0);
	n = ts_test_count_fds();
	for (size_t i = 0; i < TS_ARRAY_LEN(types); i++)
		for (unsigned before = 0; before < 40; before += 13) {
			line_open(porter, &line, types[i]);
			for (unsigned j = 0; j < before; j++)
				pass(line.fds[0], "hello", types[i] == SOCK_STREAM ? 5 : j % 3,
				     NULL, 0);
			reading = pass_pipe(line.fds[0], "", types[i] == SOCK_STREAM);
			line_close(porter, &line);
			check_closed(reading);
		}
	check_fds(n);
	ts_porter_free(porter);
}

/*
 * The porter also receives a descriptor that comes with an out-of-band byte, and does not wait for
 * its close.
 */
TS_TEST(out_of_band_descriptors)
{
	struct ts_porter *porter;
	struct line line;
	unsigned n_fds = 0;
	char bytes[16];
	int ends[2], probe[2];

	ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, probe), 0);
	if (send(probe[0], "O", 1, MSG_OOB | MSG_NOSIGNAL) < 0)
		ts_skip("this kernel has no out-of-band data on Unix sockets");
	close(probe[0]);
	close(probe[1]);
	ts_check_int(ts_porter_new(&porter), 0);
	line_open(porter, &line, SOCK_STREAM);
	ts_check_int(pipe2(ends, O_CLOEXEC), 0);
	pass_with(line.fds[0], "O", 1, &ends[1], 1, MSG_OOB);
	close(ends[1]);
	pass(line.fds[0], "def", 3, NULL, 0);
	ts_check_int(ts_porter_receive_files(porter, line.number, line.fds[1], bytes, sizeof(bytes),
					     &n_fds),
		     1);
	ts_check_int(n_fds, 1);
	ts_check(!is_closed(ends[0], 0));
	ts_porter_release_files(porter, line.number, 1);
	check_closed(ends[0]);
	/* A descriptor that nobody received is found when the connection ends. */
	ts_check_int(pipe2(ends, O_CLOEXEC), 0);
	pass_with(line.fds[0], "O", 1, &ends[1], 1, MSG_OOB);
	close(ends[1]);
	line_close(porter, &line);
	check_closed(ends[0]);
	ts_porter_free(porter);
}

/*
 * If the daemon is killed, the porter shuts down all connections and exits. The exit closes the
 * files that the porter has received, and the descriptors in messages that it has not received.
 */
TS_TEST(the_end_closes_all)
{
	int lines[2][2], readings[2], n = ts_test_count_fds();
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		ts_check_int(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
					lines[i]),
			     0);
		readings[i] = pass_pipe(lines[i][0], "x", 1);
	}
	pid = fork();
	ts_check(pid >= 0);
	if (!pid) {
		struct ts_porter *porter;
		unsigned n_fds;
		char byte;

		ts_check_int(ts_porter_new(&porter), 0);
		ts_porter_keep(porter, USER, lines[0][1]);
		ts_check_int(ts_porter_receive_files(porter,
						     ts_porter_keep(porter, USER, lines[1][1]),
						     lines[1][1], &byte, 1, &n_fds),
			     1);
		kill(getpid(), SIGKILL);
	}
	for (int i = 0; i < 2; i++)
		close(lines[i][1]);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	for (int i = 0; i < 2; i++) {
		struct pollfd poll_fd = {.fd = lines[i][0], .events = POLLIN};

		ts_check_int(poll(&poll_fd, 1, 10000), 1);
		check_closed(readings[i]);
		close(lines[i][0]);
	}
	check_fds(n);
}

TS_TEST(many_descriptors_at_once)
{
	struct ts_porter *porter;
	struct line line;
	unsigned n_fds;
	int fds[253], received[TS_PORTER_SESSION_FDS], reading, ends[2];
	char byte;

	ts_check_int(ts_porter_new(&porter), 0);
	line_open(porter, &line, SOCK_STREAM);
	ts_check_int(pipe2(ends, O_CLOEXEC), 0);
	reading = ends[0];
	for (size_t i = 0; i < TS_ARRAY_LEN(fds); i++)
		fds[i] = ends[1];
	pass(line.fds[0], "x", 1, fds, TS_ARRAY_LEN(fds));
	pass(line.fds[0], "x", 1, fds, TS_ARRAY_LEN(fds));
	close(ends[1]);
	ts_check_int(ts_porter_receive_files(porter, line.number, line.fds[1], &byte, 1, &n_fds),
		     1);
	ts_check_int(n_fds, TS_ARRAY_LEN(fds));
	ts_check(!is_closed(reading, 50));
	ts_porter_release_files(porter, line.number, TS_PORTER_MAX_HELD);
	ts_check_int(ts_porter_receive_session(porter, line.number, line.fds[1], &byte, 1, received,
					       &n_fds),
		     1);
	ts_check_int(received[0], -1);
	check_closed(reading);
	line_close(porter, &line);
	ts_porter_free(porter);
}
