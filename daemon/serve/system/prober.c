/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both ends of the socket to a prober. probed.c calls the daemon's end. The other end is the
 * prober: a process of tracesmithd with TS_PROBER_ARGUMENT. The prober has the daemon's rights and
 * the descriptors of the BPF programs. It opens files with the rights of the user that maps them.
 * Its own worker finds the functions in a file; then the prober attaches the probes. It ends when
 * the daemon closes the socket.
 */
#include "daemon/serve/system/prober.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "daemon/symbol/files.h"
#include "daemon/util/daemon-error.h"
#include "daemon/util/spawn.h"
#include "daemon/worker/worker-client.h"
#include "proto/client/places.h"

#define MAX_FDS 2u

struct ts_prober {
	pid_t pid; /* -1: it is gone */
	int fd;
};

/* ---- messages ---- */

/* The first message: the BPF programs. */
struct hello {
	uint32_t either, n_fds;
};

union control {
	struct cmsghdr header;
	char bytes[CMSG_SPACE(MAX_FDS * sizeof(int))];
};

static int send_message(int fd, const void *bytes, size_t n_bytes, const int *fds, size_t n_fds,
			int flags)
{
	union control control = {.bytes = {0}};
	struct iovec iov = {(void *)(uintptr_t)bytes, n_bytes};
	struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *header;

	if (n_fds) {
		message.msg_control = control.bytes;
		message.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(header), fds, n_fds * sizeof(int));
	}
	while (sendmsg(fd, &message, MSG_NOSIGNAL | flags) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/*
 * Receives a message of exactly n_bytes. -ECONNRESET: the other end is gone; -EAGAIN: no message.
 */
static int receive_message(int fd, void *bytes, size_t n_bytes, struct ts_system_probes *ret_fds)
{
	union control control = {.bytes = {0}};
	struct iovec iov = {bytes, n_bytes};
	struct msghdr message = {.msg_iov = &iov,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	const struct cmsghdr *header;
	ssize_t n;

	*ret_fds = TS_SYSTEM_NO_PROBES;
	while ((n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC)) < 0)
		if (errno != EINTR)
			return -errno;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
		/* The control buffer bounds the number of descriptors. */
		memcpy(ret_fds->fds, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
	}
	if (n == (ssize_t)n_bytes && !(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)))
		return 0;
	ts_system_remove(ret_fds);
	return n ? -EPROTO : -ECONNRESET;
}

/* ---- the daemon's end ---- */

static int start(struct ts_prober *prober, const char *worker)
{
	char self[PATH_MAX], argument[] = TS_PROBER_ARGUMENT;
	/* posix_spawn() takes non-const pointers but does not write through them. */
	char *argv[] = {self, argument, (char *)(uintptr_t)worker, NULL};
	int r = ts_places_self(self);

	return r ?: ts_spawn(argv, environ, SOCK_SEQPACKET, &prober->fd, &prober->pid);
}

int ts_prober_new(const struct ts_system_programs *programs, const char *worker,
		  struct ts_prober **ret_prober)
{
	struct hello hello = {programs->either, programs->fds[1] < 0 ? 1 : 2};
	struct ts_prober *prober = calloc(1, sizeof(*prober));
	int r;

	if (!prober)
		return ts_error_origin(-ENOMEM);
	*prober = (struct ts_prober){.pid = -1, .fd = -1};
	r = start(prober, worker);
	r = r ?: send_message(prober->fd, &hello, sizeof(hello), programs->fds, hello.n_fds, 0);
	if (r) {
		ts_prober_free(prober);
		return ts_error_origin(r);
	}
	*ret_prober = prober;
	return 0;
}

bool ts_prober_end(struct ts_prober *prober)
{
	if (prober->pid > 0) {
		kill(prober->pid, SIGKILL);
		if (waitpid(prober->pid, NULL, WNOHANG))
			prober->pid = -1;
	}
	return prober->pid < 0;
}

void ts_prober_free(struct ts_prober *prober)
{
	if (!prober)
		return;
	(void)ts_prober_end(prober);
	ts_closep(&prober->fd);
	free(prober);
}

int ts_prober_fd(const struct ts_prober *prober)
{
	return prober->fd;
}

int ts_prober_send(struct ts_prober *prober, const struct ts_prober_request *request, int fd)
{
	return send_message(prober->fd, request, sizeof(*request), &fd, fd < 0 ? 0 : 1,
			    MSG_DONTWAIT);
}

/* Receives a message and at most one descriptor. */
static int receive_one(int fd, void *bytes, size_t n_bytes, int *ret_fd)
{
	struct ts_system_probes fds;
	int r = receive_message(fd, bytes, n_bytes, &fds);

	*ret_fd = ts_take_fd(&fds.fds[0]);
	ts_system_remove(&fds);
	return r;
}

int ts_prober_receive(struct ts_prober *prober, struct ts_prober_answer *ret_answer, int *ret_fd)
{
	return receive_one(prober->fd, ret_answer, sizeof(*ret_answer), ret_fd);
}

/* ---- the process ---- */

struct probing {
	struct ts_system_programs programs;
	struct ts_worker *worker;
	const char *worker_path; /* NULL: the installed worker */
	struct ts_system_probes files[TS_PROBER_MAX_FILES];
};

static int answer(const struct ts_prober_answer *message, int fd)
{
	return send_message(TS_SPAWN_FD, message, sizeof(*message), &fd, fd < 0 ? 0 : 1, 0);
}

/* Receives a request. *ret_fd is the descriptor in the request, or -1. */
static int receive_request(struct ts_prober_request *ret_request, int *ret_fd)
{
	int r = receive_one(TS_SPAWN_FD, ret_request, sizeof(*ret_request), ret_fd);

	if (!r && ret_request->number >= TS_PROBER_MAX_FILES)
		r = -EPROTO;
	ret_request->path[sizeof(ret_request->path) - 1] = '\0';
	return r;
}

static int open_file(const struct ts_prober_request *request, struct ts_symbol_file *ret_file)
{
	bool is_own = request->kind == TS_PROBER_OWN_FILE;
	ts_cleanup(ts_closep) int root_fd = is_own ? -1 : ts_symbol_root_open(request->pid);
	const struct ts_symbol_view view = {.root_fd = root_fd,
					    .uid = request->uid,
					    .by_own_path = is_own};

	if (!is_own && root_fd < 0)
		return errno == EACCES || errno == EPERM ? -EACCES : -ESRCH;
	return ts_symbol_open(&view, request->path, 0, ret_file);
}

/* Asks the worker for the file offsets of the functions. The kernel rejects a wrong offset. */
static int ask_places(struct probing *probing, const struct ts_symbol_file *file,
		      uint64_t *ret_places, size_t n)
{
	ts_cleanup(ts_freep) char **names = calloc(n, sizeof(*names));
	Ts__Rpc__WorkerRequest__Places places = TS__RPC__WORKER_REQUEST__PLACES__INIT;
	Ts__Rpc__WorkerRequest request = TS__RPC__WORKER_REQUEST__INIT;
	const struct ts_call_function *functions = ts_call_functions(&n);
	Ts__Rpc__WorkerAnswer *found;
	int r;

	if (!names)
		return -ENOMEM;
	/* protobuf-c takes non-const pointers but does not write through them. */
	for (size_t i = 0; i < n; i++)
		names[i] = (char *)(uintptr_t)functions[i].symbol;
	places.names = names;
	places.n_names = n;
	request.body_case = TS__RPC__WORKER_REQUEST__BODY_PLACES;
	request.places = &places;
	r = ts_worker_call(probing->worker, &request, &file->fd, 1, 0, &found);
	if (r)
		return r;
	if (found->body_case != TS__RPC__WORKER_ANSWER__BODY_PLACES || found->places->n_places != n)
		r = -EPROTO;
	else
		memcpy(ret_places, found->places->places, n * sizeof(*ret_places));
	ts__rpc__worker_answer__free_unpacked(found, NULL);
	/* End the worker after an untrusted file, which may have taken over the worker. */
	if (!file->trusted)
		ts_worker_end(probing->worker);
	return r;
}

static int probe(struct probing *probing, const struct ts_symbol_file *file,
		 struct ts_system_probes *ret_probes)
{
	size_t n, n_found = 0;
	ts_cleanup(ts_freep) uint64_t *places = NULL;
	int r;

	ts_call_functions(&n);
	places = calloc(n, sizeof(*places));
	if (!places)
		return -ENOMEM;
	r = ask_places(probing, file, places, n);
	for (size_t i = 0; i < n; i++)
		n_found += places[i] != 0;
	if (r || !n_found)
		return r ?: -ENOENT;
	return ts_system_probe(&probing->programs, file->fd, places, ret_probes);
}

static int answer_probes(struct probing *probing, const struct ts_symbol_file *file,
			 uint32_t number)
{
	struct ts_prober_answer message = {.kind = TS_PROBER_PROBES};

	ts_system_remove(&probing->files[number]);
	message.error = probe(probing, file, &probing->files[number]);
	return answer(&message, -1);
}

/* Waits for GO_ON or STOP. Meanwhile handles REMOVE requests, which are for other files. */
static int receive_word(struct probing *probing, struct ts_prober_request *ret_request)
{
	int fd, r;

	while (!(r = receive_request(ret_request, &fd))) {
		ts_closep(&fd);
		if (ret_request->kind != TS_PROBER_REMOVE)
			break;
		ts_system_remove(&probing->files[ret_request->number]);
	}
	return r;
}

static int look_at_file(struct probing *probing, struct ts_prober_request *request)
{
	struct ts_prober_answer message = {.kind = TS_PROBER_IDENTITY};
	struct ts_symbol_file file = {.fd = -1};
	struct stat status;
	int r;

	message.error = open_file(request, &file);
	if (!message.error && fstat(file.fd, &status) < 0)
		message.error = -errno;
	if (!message.error) {
		message.device = status.st_dev;
		message.inode = status.st_ino;
		message.trusted = file.trusted;
	}
	r = answer(&message, message.trusted ? file.fd : -1);
	if (!r && !message.error) {
		r = receive_word(probing, request);
		if (!r && request->kind == TS_PROBER_GO_ON)
			r = answer_probes(probing, &file, request->number);
	}
	ts_closep(&file.fd);
	return r;
}

static int begin(struct probing *probing)
{
	const struct ts_worker_options worker = {.path = probing->worker_path};
	struct ts_system_probes fds;
	struct hello hello;
	int r;

	/*
	 * The prober ends with the daemon. A closed socket also ends a prober that waits for a
	 * request.
	 */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/*
	 * The prober has the daemon's capabilities. So it becomes undumpable: other processes of
	 * this user cannot trace it.
	 */
	prctl(PR_SET_DUMPABLE, 0);
	r = receive_message(TS_SPAWN_FD, &hello, sizeof(hello), &fds);
	if (r)
		return r;
	memcpy(probing->programs.fds, fds.fds, sizeof(fds.fds));
	probing->programs.either = hello.either;
	for (size_t i = 0; i < TS_PROBER_MAX_FILES; i++)
		probing->files[i] = TS_SYSTEM_NO_PROBES;
	return ts_worker_new(&worker, &probing->worker);
}

static int serve(struct probing *probing, struct ts_prober_request *request, int fd)
{
	const struct ts_symbol_file file = {.fd = fd, .trusted = true};

	switch (request->kind) {
	case TS_PROBER_FILE:
	case TS_PROBER_OWN_FILE:
		return look_at_file(probing, request);
	case TS_PROBER_OPEN_FILE:
		return answer_probes(probing, &file, request->number);
	case TS_PROBER_REMOVE:
		ts_system_remove(&probing->files[request->number]);
		return 0;
	default:
		return -EPROTO;
	}
}

int ts_prober_main(int argc, char **argv)
{
	struct probing probing = {.worker_path = argc > 2 ? argv[2] : NULL};
	struct ts_prober_request request;
	int fd, r = begin(&probing);

	while (!r && !(r = receive_request(&request, &fd))) {
		r = serve(&probing, &request, fd);
		ts_closep(&fd);
	}
	ts_worker_free(probing.worker);
	return r == -ECONNRESET ? 0 : 1;
}
