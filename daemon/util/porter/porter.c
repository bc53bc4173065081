/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's half of the porter. listen.c registers each connection. peers.c and connection.c
 * receive through it, and question.c sends files to workers. MSG_PEEK without room for descriptors
 * sets MSG_CTRUNC if the next message has some, and receives none of them. Only such a message
 * costs a round trip to the porter's process.
 */
#include "daemon/util/porter/porter-internal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/util/daemon-error.h"

#define PORTER_ANSWER_MS   10000 /* the process never waits, so a later answer never comes */
#define PORTER_FAREWELL_MS 100

struct ts_porter {
	int fd;
	pid_t pid;
	uint64_t last_number;
	struct porter_shared *shared;
};

int ts_porter_new(struct ts_porter **ret_porter)
{
	struct ts_porter *porter = calloc(1, sizeof(*porter));
	const pid_t self = getpid();
	int fds[2], r = 0;

	if (!porter)
		return ts_error_origin(-ENOMEM);
	porter->shared = mmap(NULL, sizeof(*porter->shared), PROT_READ | PROT_WRITE,
			      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (porter->shared == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		r = ts_error_origin(-errno);
	if (!r) {
		porter->shared->most = UINT32_MAX;
		porter->pid = fork();
		if (!porter->pid)
			ts_porter_process(fds[1], self, porter->shared);
		if (porter->pid < 0)
			r = ts_error_origin(-errno);
		close(fds[1]);
		porter->fd = fds[0];
		if (r)
			close(fds[0]);
	}
	if (r) {
		if (porter->shared != MAP_FAILED)
			munmap(porter->shared, sizeof(*porter->shared));
		free(porter);
		return r;
	}
	*ret_porter = porter;
	return 0;
}

void ts_porter_free(struct ts_porter *porter)
{
	if (!porter)
		return;
	/* If a close blocks the process, it ends later than the daemon, and init reaps it. */
	close(porter->fd);
	for (int ms = 0; ms < PORTER_FAREWELL_MS && !waitpid(porter->pid, NULL, WNOHANG); ms++)
		usleep(1000);
	munmap(porter->shared, sizeof(*porter->shared));
	free(porter);
}

int ts_porter_fd(const struct ts_porter *porter)
{
	return porter->fd;
}

bool ts_porter_is_full(const struct ts_porter *porter)
{
	return __atomic_load_n(&porter->shared->n_open, __ATOMIC_RELAXED) >=
	       __atomic_load_n(&porter->shared->most, __ATOMIC_RELAXED);
}

/* Sends a request to the porter's process, with a descriptor unless fd is -1. */
static int send_request(struct ts_porter *porter, const struct porter_request *request, int fd,
			const void *data, size_t n_bytes)
{
	struct iovec parts[] = {
		{(void *)(uintptr_t)request, sizeof(*request)},
		{(void *)(uintptr_t)data, n_bytes},
	};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = data ? 2 : 1};
	union porter_control control;
	ssize_t n;

	if (fd >= 0)
		porter_put_fds(&message, &control, &fd, 1);
	do
		n = sendmsg(porter->fd, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? ts_error_origin(-EPIPE) : 0;
}

/* Sorts descriptors into the order of ts_porter_receive_session(). */
static void take_session(struct msghdr *message, bool has_memory,
			 int ret_fds[TS_PORTER_SESSION_FDS])
{
	int fds[TS_PORTER_SESSION_FDS];
	size_t n = porter_take_fds(message, fds);

	for (size_t i = 0; i < TS_PORTER_SESSION_FDS; i++)
		ret_fds[i] = -1;
	for (size_t i = 0, at = !has_memory; i < n && at < TS_PORTER_SESSION_FDS; i++)
		ret_fds[at++] = fds[i];
}

/* Sends a request and waits for the answer. After -EPIPE, no further request is answered. */
static ssize_t call(struct ts_porter *porter, const struct porter_request *request, int with_fd,
		    const void *data, size_t n_data, void *ret_data, size_t n_bytes,
		    int ret_fds[TS_PORTER_SESSION_FDS], uint64_t *ret_n_fds)
{
	struct porter_answer answer;
	struct iovec parts[] = {{&answer, sizeof(answer)}, {ret_data, n_bytes}};
	union porter_control control;
	struct msghdr message = {.msg_iov = parts,
				 .msg_iovlen = 2,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	struct pollfd poll_fd = {.fd = porter->fd, .events = POLLIN};
	ssize_t n;
	int r = send_request(porter, request, with_fd, data, n_data);

	if (r)
		return r;
	do
		r = poll(&poll_fd, 1, PORTER_ANSWER_MS);
	while (r < 0 && errno == EINTR);
	n = r == 1 ? recvmsg(porter->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) : -1;
	if (n < (ssize_t)sizeof(answer)) {
		/* A late answer would be mistaken for that of the next request. */
		shutdown(porter->fd, SHUT_RDWR);
		return ts_error_origin(-EPIPE);
	}
	take_session(&message, answer.has_memory, ret_fds);
	*ret_n_fds = answer.n_fds;
	return (ssize_t)answer.r;
}

uint64_t ts_porter_keep(struct ts_porter *porter, uid_t user, int fd)
{
	const struct porter_request request = {.kind = PORTER_KEEP,
					       .user = user,
					       .number = ++porter->last_number};
	const int on = 1;

	/*
	 * MSG_PEEK skips an out-of-band packet, and the next receive frees it with its descriptors.
	 * SO_OOBINLINE makes it an ordinary packet.
	 */
	(void)setsockopt(fd, SOL_SOCKET, SO_OOBINLINE, &on, sizeof(on));
	(void)send_request(porter, &request, fd, NULL, 0);
	return request.number;
}

void ts_porter_close(struct ts_porter *porter, uint64_t number, int fd)
{
	const struct porter_request request = {.kind = PORTER_CLOSE, .number = number};

	if (fd < 0)
		return;
	/* The other end sees the shutdown at once, before the porter closes the socket. */
	shutdown(fd, SHUT_RDWR);
	/* Close it before the request, so that the porter's close is the last one. */
	close(fd);
	(void)send_request(porter, &request, -1, NULL, 0);
}

static ssize_t receive_again(int fd, struct msghdr *message, int flags)
{
	ssize_t n;

	do
		n = recvmsg(fd, message, MSG_DONTWAIT | flags);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static ssize_t receive(struct ts_porter *porter, enum porter_kind kind, uint64_t number, int fd,
		       void *data, size_t n_bytes, int ret_fds[TS_PORTER_SESSION_FDS],
		       unsigned *ret_n_fds)
{
	struct iovec iov = {.iov_base = data, .iov_len = n_bytes};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	struct porter_request request = {.kind = kind, .number = number};
	ssize_t n = receive_again(fd, &message, MSG_PEEK);
	uint64_t n_fds;

	for (size_t i = 0; i < TS_PORTER_SESSION_FDS; i++)
		ret_fds[i] = -1;
	*ret_n_fds = 0;
	if (n < 0)
		return n;
	if (message.msg_flags & MSG_CTRUNC) {
		request.n = n_bytes;
		n = call(porter, &request, -1, NULL, 0, data, n_bytes, ret_fds, &n_fds);
		if (n >= 0)
			*ret_n_fds = (unsigned)n_fds;
		return n;
	}
	/*
	 * Receives exactly the peeked bytes: on a stream, a message with descriptors may now follow
	 * them.
	 */
	iov.iov_len = (size_t)n;
	message.msg_flags = 0;
	return receive_again(fd, &message, 0);
}

ssize_t ts_porter_receive_session(struct ts_porter *porter, uint64_t number, int fd, void *data,
				  size_t n_bytes, int ret_fds[TS_PORTER_SESSION_FDS],
				  unsigned *ret_n_fds)
{
	return receive(porter, PORTER_RECEIVE, number, fd, data, n_bytes, ret_fds, ret_n_fds);
}

ssize_t ts_porter_receive_files(struct ts_porter *porter, uint64_t number, int fd, void *data,
				size_t n_bytes, unsigned *ret_n_fds)
{
	int none[TS_PORTER_SESSION_FDS];

	return receive(porter, PORTER_HOLD, number, fd, data, n_bytes, none, ret_n_fds);
}

ssize_t ts_porter_send_files(struct ts_porter *porter, uint64_t number, unsigned n_fds,
			     int socket_fd, const void *data, size_t n_bytes,
			     struct ts_porter_file ret_files[TS_PORTER_MAX_HELD])
{
	const struct porter_request request = {.kind = PORTER_SEND, .number = number, .n = n_fds};
	int none[TS_PORTER_SESSION_FDS];
	uint64_t n_sent;

	if (n_bytes > TS_PORTER_SEND_MAX || n_fds > TS_PORTER_MAX_HELD)
		return ts_error_origin(-EMSGSIZE);
	return call(porter, &request, socket_fd, data, n_bytes, ret_files,
		    n_fds * sizeof(*ret_files), none, &n_sent);
}

void ts_porter_release_files(struct ts_porter *porter, uint64_t number, unsigned n_fds)
{
	const struct porter_request request = {.kind = PORTER_RELEASE,
					       .number = number,
					       .n = n_fds};

	if (n_fds)
		(void)send_request(porter, &request, -1, NULL, 0);
}
