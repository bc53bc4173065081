/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The nursery and the helpers. porter-process.c calls this module. A helper closes with
 * close-queues.c.
 *
 *	porter ---- nursery           one byte: "fork a helper"; answer: a socket to it
 *	   |  \
 *	   |   ---- helper 2          each message: a queue's number and a descriptor
 *	   -------- helper 1 (full)   its socket is shut down; its closes go on
 *
 * The porter's copy of a passed descriptor is never the last one: the message or the helper has
 * another.
 */
#include "daemon/util/porter/overflow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/util/porter/close-queues.h"
#include "proto/abi/base.h"

#define OVERFLOW_SPARE_FDS \
	256u /* room for descriptors that are still in the socket when the helper is full */
#define OVERFLOW_FORK_MS 1000  /* for the nursery's answer */
#define OVERFLOW_END_US	 10000 /* between checks whether all closes have returned */

struct ts_overflow {
	int nursery_fd;
	int helper_fd; /* -1: none */
};

union overflow_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static int send_message(int socket_fd, const void *data, size_t n_bytes, int fd)
{
	struct iovec iov = {(void *)(uintptr_t)data, n_bytes};
	union overflow_control control = {.align = {.cmsg_level = SOL_SOCKET,
						    .cmsg_type = SCM_RIGHTS,
						    .cmsg_len = CMSG_LEN(sizeof(int))}};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
	}
	do
		n = sendmsg(socket_fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/*
 * Waits for a message and returns its size. *ret_fd: its descriptor, or -1. 0: no more messages
 * will come.
 */
static size_t receive(int socket_fd, void *data, size_t n_bytes, int *ret_fd)
{
	struct iovec iov = {data, n_bytes};
	union overflow_control control;
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	const struct cmsghdr *header;
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(header), sizeof(*ret_fd));
	return n < 0 ? 0 : (size_t)n;
}

/* ---- a helper ---- */

/* Returns the number of descriptors with which a helper is full. */
static unsigned helper_capacity(void)
{
	struct rlimit limit = {0};

	getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur > UINT32_MAX)
		limit.rlim_cur = UINT32_MAX;
	return limit.rlim_cur > 2 * OVERFLOW_SPARE_FDS
		       ? (unsigned)limit.rlim_cur - OVERFLOW_SPARE_FDS
		       : (unsigned)limit.rlim_cur / 2;
}

static _Noreturn void helper_run(int socket_fd)
{
	const unsigned capacity = helper_capacity();
	struct ts_close_queues *queues;
	uint64_t queue;
	int fd;

	prctl(PR_SET_NAME, "tracesmith-clos");
	if (ts_close_queues_new(&queues))
		_exit(1);
	while (receive(socket_fd, &queue, sizeof(queue), &fd) == sizeof(queue)) {
		ts_close_queues_add(queues, queue, fd);
		/*
		 * The porter's next send fails. Messages already in the socket are still received.
		 */
		if (ts_close_queues_waiting_all(queues) >= capacity)
			shutdown(socket_fd, SHUT_RD);
	}
	/*
	 * Wait for the threads: at exit the kernel closes one descriptor after another, so one
	 * blocked close would delay all others.
	 */
	while (ts_close_queues_waiting_all(queues))
		usleep(OVERFLOW_END_US);
	_exit(0);
}

/* ---- the nursery ---- */

static void nursery_fork(int nursery_fd)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
		send_message(nursery_fd, "", 1, -1);
		return;
	}
	if (!fork()) {
		close(nursery_fd);
		close(fds[0]);
		helper_run(fds[1]);
	}
	/* If fork() failed, the socket has no other end, so the porter's first send fails. */
	close(fds[1]);
	send_message(nursery_fd, "", 1, fds[0]);
	close(fds[0]);
}

static _Noreturn void nursery_run(int nursery_fd)
{
	char byte;
	int fd;

	prctl(PR_SET_NAME, "tracesmith-nurs");
	signal(SIGCHLD, SIG_IGN);
	while (receive(nursery_fd, &byte, 1, &fd))
		nursery_fork(nursery_fd);
	_exit(0);
}

/* ---- the porter's side ---- */

/* Closes all other descriptors but the standard ones. Returns the new number of `fd`. */
static int close_all_but(int fd)
{
	int kept = dup2(fd, STDERR_FILENO + 1);

	closefrom(kept + 1);
	return kept;
}

int ts_overflow_new(struct ts_overflow **ret_overflow)
{
	struct ts_overflow *overflow = malloc(sizeof(*overflow));
	int fds[2], r = 0;
	pid_t pid;

	if (!overflow)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0) {
		r = -errno;
		free(overflow);
		return r;
	}
	pid = fork();
	if (!pid)
		nursery_run(close_all_but(fds[1]));
	if (pid < 0)
		r = -errno;
	close(fds[1]);
	*overflow = (struct ts_overflow){.nursery_fd = fds[0], .helper_fd = -1};
	if (r) {
		close(fds[0]);
		free(overflow);
		return r;
	}
	*ret_overflow = overflow;
	return 0;
}

static int begin_helper(struct ts_overflow *overflow)
{
	struct pollfd poll_fd = {.fd = overflow->nursery_fd, .events = POLLIN};
	char byte;
	int r;

	r = send_message(overflow->nursery_fd, "", 1, -1);
	if (r)
		return r;
	while ((r = poll(&poll_fd, 1, OVERFLOW_FORK_MS)) < 0 && errno == EINTR)
		;
	if (r != 1)
		return -ETIMEDOUT;
	receive(overflow->nursery_fd, &byte, 1, &overflow->helper_fd);
	return overflow->helper_fd < 0 ? -EAGAIN : 0;
}

int ts_overflow_close(struct ts_overflow *overflow, uint64_t queue, int fd)
{
	int r = -EPIPE;

	if (overflow->helper_fd >= 0)
		r = send_message(overflow->helper_fd, &queue, sizeof(queue), fd);
	if (r == -EPIPE || r == -ECONNRESET) {
		if (overflow->helper_fd >= 0)
			close(ts_take_fd(&overflow->helper_fd));
		r = begin_helper(overflow);
		r = r ?: send_message(overflow->helper_fd, &queue, sizeof(queue), fd);
	}
	if (!r)
		close(fd);
	return r;
}
