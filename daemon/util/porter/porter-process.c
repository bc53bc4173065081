/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The porter's process: a loop over requests of porter.c. The loop waits only for the next request.
 * Closes that may block run in threads of close-queues.c, with two queues per user:
 * - received descriptors: every close() may wait (FUSE flushes at each);
 * - sockets with unreceived descriptors: their close() seldom waits, so they do not queue behind
 *   files.
 *
 * If PORTER_MAX_SOCKETS sockets of a user wait, helpers of overflow.c close further ones. The loop
 * itself closes a socket without descriptors in its queue.
 *
 * When the daemon is gone, the process shuts down every connection and exits. If a close waits, the
 * kernel ends the process when that close returns. Until then it holds only strangers' descriptors.
 */
#include "daemon/util/porter/porter-internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/util/plain.h"
#include "daemon/util/porter/close-queues.h"
#include "daemon/util/porter/overflow.h"

/* The only inherited descriptor besides the standard ones. */
#define PORTER_FD      3
#define PORTER_BUCKETS 1024u
#define SCM_MOST_FDS   253u  /* SCM_MAX_FD of the kernel */
#define SCAN_MOST      4096u /* messages in a socket's queue */

/* Sockets of one user that wait for close() in this process; helpers close further ones. */
#define PORTER_MAX_SOCKETS 64u

struct kept {
	struct kept *next;
	uint64_t number;
	uint32_t user;
	int fd;
	unsigned n_held;
	int held[]; /* TS_PORTER_MAX_HELD entries, allocated with the first file */
};

struct porter {
	struct porter_shared *shared;
	struct ts_close_queues *queues;
	struct ts_overflow *overflow;
	struct kept *kept[PORTER_BUCKETS];
	uint32_t n_kept, n_held;
	uint8_t data[TS_PORTER_SEND_MAX];
};

union many_control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int) * SCM_MOST_FDS)];
};

/*
 * Returns the number of a user's queue for files. Queues below TS_CLOSE_FIRST_SHARED are root's and
 * always get a thread.
 */
static uint64_t files_queue(uint32_t user)
{
	return 2 * (uint64_t)user;
}

static uint64_t sockets_queue(uint32_t user)
{
	return 2 * (uint64_t)user + 1;
}

static struct kept **kept_find(struct porter *porter, uint64_t number)
{
	struct kept **p = &porter->kept[number % PORTER_BUCKETS];

	while (*p && (*p)->number != number)
		p = &(*p)->next;
	return p;
}

static void count_descriptors(struct porter *porter)
{
	uint32_t n = porter->n_kept + porter->n_held + ts_close_queues_waiting_all(porter->queues);

	__atomic_store_n(&porter->shared->n_open, n, __ATOMIC_RELAXED);
}

/* Closes a socket whose queue may have descriptors. */
static void close_socket(struct porter *porter, uint32_t user, int fd)
{
	const uint64_t queue = sockets_queue(user);

	if (ts_close_queues_waiting(porter->queues, queue) < PORTER_MAX_SOCKETS ||
	    ts_overflow_close(porter->overflow, queue, fd))
		ts_close_queues_add(porter->queues, queue, fd);
}

static void keep(struct porter *porter, const struct porter_request *request, int fd)
{
	struct kept **p = &porter->kept[request->number % PORTER_BUCKETS];
	/* Allocated without the array `held`, because most connections hold no file. */
	struct kept *kept = fd < 0 ? NULL : malloc(sizeof(*kept));

	if (!kept) {
		close_socket(porter, request->user, fd);
		return;
	}
	*kept = (struct kept){.next = *p,
			      .number = request->number,
			      .user = request->user,
			      .fd = fd};
	*p = kept;
	porter->n_kept++;
}

static void release(struct porter *porter, struct kept *kept, uint64_t n)
{
	if (n > kept->n_held)
		n = kept->n_held;
	for (uint64_t i = 0; i < n; i++)
		ts_close_queues_add(porter->queues, files_queue(kept->user), kept->held[i]);
	kept->n_held -= (unsigned)n;
	porter->n_held -= (uint32_t)n;
	memmove(kept->held, kept->held + n, kept->n_held * sizeof(*kept->held));
}

/*
 * True if a socket's queue has unreceived descriptors. Receives all messages before them. No new
 * message can come, because the caller has shut the socket down. With SO_PASSCRED, an empty packet
 * has credentials; the end of the queue has none.
 */
static bool has_descriptors(int fd)
{
	char bytes[1024];
	struct iovec iov = {bytes, sizeof(bytes)};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	socklen_t n_type = sizeof(int);
	int on = 1, type = SOCK_STREAM;

	getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n_type);
	setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on));
	for (unsigned i = 0; i < SCAN_MOST; i++) {
		struct msghdr message = {.msg_iov = &iov,
					 .msg_iovlen = 1,
					 .msg_control = control.bytes,
					 .msg_controllen = sizeof(control.bytes)};
		ssize_t n = recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT);

		if (n < 0 && (errno == EINTR || errno == ECONNRESET))
			continue;
		if (n < 0 || (!n && (type == SOCK_STREAM || !message.msg_controllen)))
			/*
			 * recvmsg() fails on a listening socket, whose queue may have connections
			 * with descriptors.
			 */
			return n < 0 && errno != EAGAIN;
		if (message.msg_flags & MSG_CTRUNC)
			return true;
		if (recv(fd, bytes, n ? (size_t)n : 1, MSG_DONTWAIT) < 0 && errno != EINTR &&
		    errno != ECONNRESET)
			return true;
	}
	return true;
}

static void close_kept(struct porter *porter, uint64_t number)
{
	struct kept **p = kept_find(porter, number), *kept = *p;

	if (!kept)
		return;
	*p = kept->next;
	porter->n_kept--;
	release(porter, kept, kept->n_held);
	if (has_descriptors(kept->fd))
		close_socket(porter, kept->user, kept->fd);
	else
		close(kept->fd);
	free(kept);
}

/* ---- requests with an answer ---- */

/* A message's files for a session, in the order of ts_porter_receive_session(); -1: none. */
struct session_files {
	int fds[TS_PORTER_SESSION_FDS];
};

static void answer_with(int64_t r, unsigned n_fds, const void *data, size_t n_bytes,
			const struct session_files *files)
{
	struct porter_answer head = {.r = r, .n_fds = n_fds, .has_memory = files->fds[0] >= 0};
	int fds[TS_PORTER_SESSION_FDS];
	size_t n = 0;
	struct iovec parts[] = {{&head, sizeof(head)}, {(void *)(uintptr_t)data, n_bytes}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
	union porter_control control;
	ssize_t sent;

	for (size_t i = 0; i < TS_PORTER_SESSION_FDS; i++)
		if (files->fds[i] >= 0)
			fds[n++] = files->fds[i];
	if (n)
		porter_put_fds(&message, &control, fds, n);
	/* The daemon waits for this answer. If the daemon is gone, no next request comes. */
	do
		sent = sendmsg(PORTER_FD, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
}

static void answer(int64_t r, unsigned n_fds, const void *data, size_t n_bytes)
{
	answer_with(r, n_fds, data, n_bytes, &(struct session_files){{-1, -1, -1}});
}

static bool may_receive(struct porter *porter, const struct kept *kept)
{
	count_descriptors(porter);
	return ts_close_queues_waiting(porter->queues, files_queue(kept->user)) <
		       TS_PORTER_MAX_USER &&
	       porter->shared->n_open < porter->shared->most;
}

/* Receives up to n bytes and their descriptors. A negative errno: nothing was received. */
static ssize_t receive_all(int fd, void *data, size_t n, int fds[SCM_MOST_FDS], unsigned *ret_n_fds)
{
	struct iovec iov = {data, n};
	union many_control control;
	struct msghdr message;
	unsigned reset = 0;
	ssize_t got;

	*ret_n_fds = 0;
	do {
		message = (struct msghdr){.msg_iov = &iov,
					  .msg_iovlen = 1,
					  .msg_control = control.bytes,
					  .msg_controllen = sizeof(control.bytes)};
		got = recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (got < 0 && (errno == EINTR || (errno == ECONNRESET && !reset++)));
	if (got < 0)
		return -errno;
	for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
	     header = CMSG_NXTHDR(&message, header)) {
		if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
			continue;
		*ret_n_fds = (unsigned)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(header), *ret_n_fds * sizeof(int));
	}
	return got;
}

/*
 * True if the file is a memory file. The kernel answers F_GET_SEALS without a call into the file
 * system, so the check cannot block.
 */
static bool is_memory_file(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0;
}

/*
 * Takes a file of a message for the session. Returns false if the daemon must not get this file, or
 * if the message has already had a file of this kind.
 */
static bool take_session_file(struct session_files *files, int fd)
{
	struct statx status;
	size_t i = 1;

	if (is_memory_file(fd)) {
		if (files->fds[0] >= 0)
			return false;
		files->fds[0] = fd;
		return true;
	}
	if (ts_plain_why_not(fd, &status))
		return false;
	while (i < TS_PORTER_SESSION_FDS && files->fds[i] >= 0)
		i++;
	if (i == TS_PORTER_SESSION_FDS)
		return false;
	files->fds[i] = fd;
	return true;
}

static void receive(struct porter *porter, struct kept *kept, uint64_t n)
{
	struct session_files files = {{-1, -1, -1}};
	int fds[SCM_MOST_FDS];
	unsigned n_fds;
	ssize_t got;

	if (!may_receive(porter, kept)) {
		answer(-EBUSY, 0, NULL, 0);
		return;
	}
	got = receive_all(kept->fd, porter->data, n, fds, &n_fds);
	for (unsigned i = 0; i < n_fds; i++)
		if (!take_session_file(&files, fds[i]))
			ts_close_queues_add(porter->queues, files_queue(kept->user), fds[i]);
	answer_with(got, n_fds, porter->data, got > 0 ? (size_t)got : 0, &files);
	for (size_t i = 0; i < TS_PORTER_SESSION_FDS; i++)
		if (files.fds[i] >= 0)
			close(files.fds[i]);
}

static void hold(struct porter *porter, struct kept **p, uint64_t n)
{
	size_t kept_bytes = sizeof(struct kept) + TS_PORTER_MAX_HELD * sizeof(int);
	struct kept *kept = may_receive(porter, *p) ? realloc(*p, kept_bytes) : NULL;
	int fds[SCM_MOST_FDS];
	unsigned n_fds;
	ssize_t got;

	if (!kept) {
		answer(-EBUSY, 0, NULL, 0);
		return;
	}
	*p = kept;
	got = receive_all(kept->fd, porter->data, n, fds, &n_fds);
	for (unsigned i = 0; i < n_fds; i++)
		if (kept->n_held < TS_PORTER_MAX_HELD) {
			kept->held[kept->n_held++] = fds[i];
			porter->n_held++;
		} else {
			ts_close_queues_add(porter->queues, files_queue(kept->user), fds[i]);
		}
	answer(got, n_fds, porter->data, got > 0 ? (size_t)got : 0);
}

/* Returns a file's identity. Uses cached attributes only, so that no stranger's server is asked. */
static struct ts_porter_file identify(int fd)
{
	struct statx status = {0};

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &status) < 0)
		return (struct ts_porter_file){0};
	return (struct ts_porter_file){
		.device = makedev(status.stx_dev_major, status.stx_dev_minor),
		.inode = status.stx_ino,
	};
}

static void send_held(const struct kept *kept, uint64_t n_fds, int fd, const void *data,
		      size_t n_bytes)
{
	struct iovec iov = {(void *)(uintptr_t)data, n_bytes};
	union many_control control = {0};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	struct ts_porter_file files[TS_PORTER_MAX_HELD];
	ssize_t n;

	if (fd < 0 || n_fds > kept->n_held || !n_fds) {
		answer(-EBADF, 0, NULL, 0);
		return;
	}
	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
	memcpy(CMSG_DATA(&control.align), kept->held, n_fds * sizeof(int));
	message.msg_control = control.bytes;
	message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	for (uint64_t i = 0; i < n_fds; i++)
		files[i] = identify(kept->held[i]);
	do
		n = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	answer(n < 0 ? -errno : n, 0, files, n_fds * sizeof(*files));
}

/* ---- the loop ---- */

static void serve(struct porter *porter, const struct porter_request *request, size_t n_bytes,
		  int fd)
{
	struct kept **p = kept_find(porter, request->number);

	switch (request->kind) {
	case PORTER_KEEP:
		keep(porter, request, fd);
		return;
	case PORTER_CLOSE:
		close_kept(porter, request->number);
		return;
	case PORTER_RELEASE:
		if (*p)
			release(porter, *p, request->n);
		return;
	case PORTER_RECEIVE:
	case PORTER_HOLD:
		if (!*p || request->n > TS_PORTER_RECEIVE_MAX)
			answer(-EBUSY, 0, NULL, 0);
		else if (request->kind == PORTER_HOLD)
			hold(porter, p, request->n);
		else
			receive(porter, *p, request->n);
		return;
	case PORTER_SEND:
		if (*p)
			send_held(*p, request->n, fd, porter->data, n_bytes);
		else
			answer(-EBADF, 0, NULL, 0);
		break;
	default:
		break;
	}
	/* Close the worker's socket, or a descriptor that no request expects. */
	if (fd >= 0)
		close(fd);
}

/* Serves the daemon's next request. Returns false if the daemon has ended. */
static bool serve_next(struct porter *porter)
{
	struct porter_request request;
	struct iovec parts[] = {{&request, sizeof(request)}, {porter->data, sizeof(porter->data)}};
	union porter_control control;
	struct msghdr message = {.msg_iov = parts,
				 .msg_iovlen = 2,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	ssize_t n = recvmsg(PORTER_FD, &message, MSG_CMSG_CLOEXEC);

	if (n < 0)
		return errno == EINTR;
	if (n < (ssize_t)sizeof(request))
		return false;
	serve(porter, &request, (size_t)n - sizeof(request), porter_take_fd(&message));
	count_descriptors(porter);
	return true;
}

/*
 * Ends the porter. Shuts down all connections, so that the peers see the end at once. Then waits
 * until the daemon has exited and thereby closed its descriptors. So the porter's exit closes the
 * last descriptor of each file.
 */
static _Noreturn void end(struct porter *porter, pid_t daemon)
{
	for (size_t i = 0; i < PORTER_BUCKETS; i++)
		for (const struct kept *kept = porter->kept[i]; kept; kept = kept->next)
			shutdown(kept->fd, SHUT_RDWR);
	while (porter->n_kept && getppid() == daemon)
		usleep(1000);
	_exit(0);
}

static void close_others(void)
{
	struct rlimit limit = {0};

#ifdef SYS_close_range
	if (!syscall(SYS_close_range, PORTER_FD + 1, ~0u, 0))
		return;
#endif
	getrlimit(RLIMIT_NOFILE, &limit);
	for (rlim_t fd = PORTER_FD + 1; fd < limit.rlim_cur; fd++)
		close((int)fd);
}

/*
 * Drops all inherited descriptors, the standard ones included, because this process may outlive the
 * daemon by long.
 */
static int prepare_descriptors(int fd, struct porter_shared *shared)
{
	struct rlimit limit;
	int null;

	if (fd != PORTER_FD && (dup2(fd, PORTER_FD) < 0 || close(fd) < 0))
		return -errno;
	close_others();
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || fcntl(PORTER_FD, F_SETFD, FD_CLOEXEC) < 0)
		return -errno;
	for (int i = 0; i < PORTER_FD; i++)
		dup2(null, i);
	if (null >= PORTER_FD)
		close(null);
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -errno;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur > UINT32_MAX)
		limit.rlim_cur = UINT32_MAX;
	__atomic_store_n(&shared->most,
			 limit.rlim_cur > 2 * PORTER_SPARE_FDS
				 ? (uint32_t)limit.rlim_cur - PORTER_SPARE_FDS
				 : (uint32_t)limit.rlim_cur / 2,
			 __ATOMIC_RELAXED);
	return 0;
}

void ts_porter_process(int fd, pid_t daemon, struct porter_shared *shared)
{
	static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1};
	struct porter *porter = calloc(1, sizeof(*porter));

	/* A signal that is sent to all processes of a service is for the daemon only. */
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	prctl(PR_SET_NAME, "tracesmith-port");
	if (!porter || prepare_descriptors(fd, shared) || ts_overflow_new(&porter->overflow) ||
	    ts_close_queues_new(&porter->queues))
		_exit(1);
	porter->shared = shared;
	while (serve_next(porter))
		;
	end(porter, daemon);
}
