/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The caller's side of a worker: starts it, sends requests, receives answers. symbol/symbolizer.c
 * and serve/system/prober.c call this module; serve/loop/question.c starts query workers by it. A
 * worker cannot delay its caller beyond the deadline: the socket does not block, and a late worker
 * is killed.
 *
 *     none ---- ts_worker_call(): start, hello ----> confined: request, answer, request, ...
 *       ^ |                                            |
 *       | '- hello fails: every call returns -EPERM    |
 *       '--- timeout, bad answer, worker ended --------'
 */
#include "daemon/worker/worker-client.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "daemon/util/daemon-error.h"
#include "daemon/util/spawn.h"
#include "proto/abi/clock.h"
#include "proto/client/places.h"
#include "proto/rpc/frame.h"

#define HELLO_DEADLINE_MS 5000u
#define STOP_LOOK_MS	  100u
#define MS_NS		  UINT64_C(1000000)

_Static_assert(TS_WORKER_REQUEST_MAX_BYTES == 1 << 20, "conclude() names the limit");

struct ts_worker {
	char path[PATH_MAX];
	char memory[24], cpu[24]; /* arguments */
	pid_t pid;		  /* -1: none */
	int fd;
	uint32_t last_request;
	unsigned n_starts;
	bool unusable;
	const uint64_t *stop_ns;
	struct ts_frame_parser parser;
	Ts__Rpc__WorkerAnswer *hello;
	char why[256];
};

static int own_directory(char ret_directory[PATH_MAX])
{
	int r = ts_places_self(ret_directory);
	char *slash;

	if (r)
		return r;
	slash = strrchr(ret_directory, '/');
	if (!slash)
		return -ENOENT;
	*slash = '\0';
	return 0;
}

int ts_worker_find(char ret_path[PATH_MAX])
{
	static const char *const places[] = {"worker/tracesmith-worker",
					     "../" TS_LIBEXECDIR "/tracesmith-worker"};
	char directory[PATH_MAX];
	int r = own_directory(directory);

	for (size_t i = 0; !r && i < TS_ARRAY_LEN(places); i++)
		if (snprintf(ret_path, PATH_MAX, "%s/%s", directory, places[i]) < PATH_MAX &&
		    !access(ret_path, X_OK))
			return 0;
	return -ENOENT;
}

int ts_worker_new(const struct ts_worker_options *options, struct ts_worker **ret_worker)
{
	struct ts_worker *worker = calloc(1, sizeof(*worker));
	int r = 0;

	if (!worker)
		return -ENOMEM;
	worker->pid = worker->fd = -1;
	worker->stop_ns = options->stop_ns;
	if (options->path)
		snprintf(worker->path, sizeof(worker->path), "%s", options->path);
	else
		r = ts_worker_find(worker->path);
	if (r) {
		free(worker);
		return ts_error_origin(r);
	}
	snprintf(worker->memory, sizeof(worker->memory), "%llu",
		 (unsigned long long)(options->memory_bytes ?: TS_WORKER_MEMORY_BYTES));
	snprintf(worker->cpu, sizeof(worker->cpu), "%u",
		 options->cpu_seconds ?: TS_WORKER_CPU_SECONDS);
	*ret_worker = worker;
	return 0;
}

/*
 * Waits for the end of the worker's process; if `by_force` is true, kills it first. *ret_status is
 * the status from waitpid(); -1: unknown.
 */
static void reap(struct ts_worker *worker, bool by_force, int *ret_status)
{
	*ret_status = -1;
	if (worker->fd >= 0)
		close(worker->fd);
	worker->fd = -1;
	if (worker->pid > 0) {
		if (by_force)
			kill(worker->pid, SIGKILL);
		while (waitpid(worker->pid, ret_status, 0) < 0)
			if (errno != EINTR) {
				*ret_status = -1;
				break;
			}
	}
	worker->pid = -1;
	ts_frame_parser_deinit(&worker->parser);
}

void ts_worker_end(struct ts_worker *worker)
{
	int status;

	reap(worker, true, &status);
}

void ts_worker_free(struct ts_worker *worker)
{
	if (!worker)
		return;
	ts_worker_end(worker);
	if (worker->hello)
		ts__rpc__worker_answer__free_unpacked(worker->hello, NULL);
	free(worker);
}

static int fail(struct ts_worker *worker, int r, const char *why)
{
	snprintf(worker->why, sizeof(worker->why), "%s", why);
	return ts_error_trace(r);
}

/* Handles a worker that ended without an answer. Its exit status gives the reason. */
static int fell(struct ts_worker *worker)
{
	char how[TS_WORKER_HOW_BYTES];
	int status;

	/* The worker closed its end: it has ended, or is about to. */
	reap(worker, false, &status);
	return fail(worker, -ECONNRESET,
		    status < 0 ? "the worker ended" : ts_worker_how_ended(status, how));
}

/* ---- start ---- */

static int spawn(char *const *argv, int *ret_fd, pid_t *ret_pid)
{
	/*
	 * libdw allocates each line of a table by itself, and frees all lines after it has made an
	 * array of them. A large cache of free memory in the C library makes this faster.
	 */
	char tunables[] = "GLIBC_TUNABLES=glibc.malloc.tcache_count=65535:glibc.malloc.hugetlb=1";
	/* A confined process may not start threads to read a trace. */
	char one_thread[] = "TRACESMITH_THREADS=1";
	char *environment[] = {tunables, one_thread, NULL};

	return ts_spawn(argv, environment, SOCK_STREAM, ret_fd, ret_pid);
}

static int start(struct ts_worker *worker)
{
	char *argv[] = {worker->path, worker->memory, worker->cpu, NULL};
	int r = spawn(argv, &worker->fd, &worker->pid);

	if (r)
		return r;
	worker->n_starts++;
	ts_frame_parser_init(&worker->parser, TS_FRAME_ANSWER, TS_FRAME_ANSWER_MAX_BYTES);
	return 0;
}

int ts_worker_start_query(const struct ts_worker_options *options, int *ret_fd, pid_t *ret_pid)
{
	char path[PATH_MAX], memory[24], cpu[24];
	char query[] = TS_WORKER_QUERY, replay[] = TS_WORKER_REPLAY;
	char *argv[] = {path, memory, cpu, options->is_replay ? replay : query, NULL};
	int r = 0;

	if (options->path)
		snprintf(path, sizeof(path), "%s", options->path);
	else
		r = ts_worker_find(path);
	snprintf(memory, sizeof(memory), "%llu",
		 (unsigned long long)(options->memory_bytes ?: TS_WORKER_MEMORY_BYTES));
	snprintf(cpu, sizeof(cpu), "%u", options->cpu_seconds ?: TS_WORKER_CPU_SECONDS);
	return r ?: spawn(argv, ret_fd, ret_pid);
}

const char *ts_worker_how_ended(int status, char ret_how[TS_WORKER_HOW_BYTES])
{
	int signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	switch (signal_number) {
	case SIGSYS:
		return "the worker made a system call that its filter does not allow";
	case SIGXCPU:
		return "the worker reached its limit of CPU time";
	case 0:
		return WEXITSTATUS(status) == TS_WORKER_EXIT_MEMORY
			       ? "the worker reached its memory limit"
			       : "the worker ended";
	default:
		snprintf(ret_how, TS_WORKER_HOW_BYTES, "a signal ended the worker: %s",
			 strsignal(signal_number));
		return ret_how;
	}
}

/* ---- one request ---- */

static bool is_stopped(const struct ts_worker *worker)
{
	return worker->stop_ns && __atomic_load_n(worker->stop_ns, __ATOMIC_RELAXED);
}

/* Receives an answer. Descriptors are not accepted. */
static int receive(struct ts_worker *worker, uint64_t deadline_ns, struct ts_frame *ret_frame)
{
	uint64_t until_ns;
	int no_fds[1], r;
	unsigned n_none = 0;

	do {
		until_ns = ts_clock_monotonic_ns() + STOP_LOOK_MS * MS_NS;
		if (until_ns > deadline_ns)
			until_ns = deadline_ns;
		r = ts_frame_receive(worker->fd, &worker->parser, no_fds, 0, &n_none, until_ns,
				     ret_frame);
	} while (r == -ETIMEDOUT && until_ns < deadline_ns && !is_stopped(worker));
	return r;
}

static int exchange(struct ts_worker *worker, const Ts__Rpc__WorkerRequest *request, const int *fds,
		    unsigned n_fds, uint32_t deadline_ms, Ts__Rpc__WorkerAnswer **ret_answer)
{
	uint64_t deadline_ns = ts_clock_monotonic_ns() + deadline_ms * MS_NS;
	size_t n_bytes = ts__rpc__worker_request__get_packed_size(request);
	ts_cleanup(ts_freep) uint8_t *packed = NULL;
	struct ts_frame_header header;
	struct ts_frame frame;
	int r;

	if (n_bytes > TS_WORKER_REQUEST_MAX_BYTES)
		return -E2BIG;
	packed = malloc(sizeof(header) + n_bytes);
	if (!packed)
		return -ENOMEM;
	header = ts_frame_header_make(TS_FRAME_REQUEST, ++worker->last_request ?: 1,
				      (uint32_t)n_bytes);
	worker->last_request = header.request_id;
	header.n_fds = (uint8_t)n_fds;
	header.deadline_ms = deadline_ms;
	memcpy(packed, &header, sizeof(header));
	ts__rpc__worker_request__pack(request, packed + sizeof(header));
	r = ts_frame_send_all(worker->fd, packed, sizeof(header) + n_bytes, fds, n_fds,
			      deadline_ns);
	r = r ?: receive(worker, deadline_ns, &frame);
	if (r)
		return r;
	if (frame.header.request_id != header.request_id || frame.header.n_fds ||
	    frame.header.flags)
		return -EPROTO;
	*ret_answer = ts__rpc__worker_answer__unpack(NULL, frame.header.n_bytes, frame.data);
	return *ret_answer ? 0 : -EPROTO;
}

/* Handles an error of the exchange. Ends the worker, except if nothing was sent. */
static int conclude(struct ts_worker *worker, int r)
{
	switch (r) {
	case 0:
		return 0;
	case -E2BIG:
		return fail(worker, r, "the request to the worker is larger than 1 MiB");
	case -ECONNRESET:
		return fell(worker);
	case -ETIMEDOUT:
		ts_worker_end(worker);
		return fail(worker, r, "the worker did not answer in time");
	case -EMSGSIZE:
	case -EPROTONOSUPPORT:
	case -EPROTO:
		ts_worker_end(worker);
		return fail(worker, -EPROTO, "the worker's answer is malformed");
	default:
		ts_worker_end(worker);
		return fail(worker, r, strerror(-r));
	}
}

/* Converts an answer with an error to a return value. */
static int look_for_error(struct ts_worker *worker, Ts__Rpc__WorkerAnswer **answer)
{
	const Ts__Rpc__WorkerError *error = (*answer)->error;
	int code;

	if ((*answer)->body_case != TS__RPC__WORKER_ANSWER__BODY_ERROR)
		return 0;
	code = error->has_code && error->code > 0 && error->code < 4096 ? error->code : EPROTO;
	fail(worker, -code, error->message ? error->message : strerror(code));
	ts__rpc__worker_answer__free_unpacked(*answer, NULL);
	*answer = NULL;
	return -code;
}

static int start_confined(struct ts_worker *worker)
{
	Ts__Rpc__WorkerRequest request = TS__RPC__WORKER_REQUEST__INIT;
	Ts__Rpc__WorkerRequest__Hello hello = TS__RPC__WORKER_REQUEST__HELLO__INIT;
	Ts__Rpc__WorkerAnswer *answer = NULL;
	int r;

	if (worker->unusable)
		return -EPERM;
	r = start(worker);
	if (r)
		return fail(worker, r, strerror(-r));
	request.body_case = TS__RPC__WORKER_REQUEST__BODY_HELLO;
	request.hello = &hello;
	r = conclude(worker, exchange(worker, &request, NULL, 0, HELLO_DEADLINE_MS, &answer));
	if (r)
		return r;
	r = look_for_error(worker, &answer);
	if (r || answer->body_case != TS__RPC__WORKER_ANSWER__BODY_READY) {
		if (answer)
			ts__rpc__worker_answer__free_unpacked(answer, NULL);
		ts_worker_end(worker);
		worker->unusable = true;
		ts_log(TS_LOG_WARNING,
		       "no file is read for names: the worker cannot be confined: %s", worker->why);
		return ts_error_trace(-EPERM);
	}
	if (worker->hello)
		ts__rpc__worker_answer__free_unpacked(worker->hello, NULL);
	worker->hello = answer;
	if (answer->ready->missing && worker->n_starts == 1)
		ts_log(TS_LOG_WARNING, "the worker is confined without %s",
		       answer->ready->missing == 1 ? "a user of its own"
		       : answer->ready->missing == 2
			       ? "an empty root directory"
			       : "a user of its own and an empty root directory");
	return 0;
}

int ts_worker_call(struct ts_worker *worker, const Ts__Rpc__WorkerRequest *request, const int *fds,
		   unsigned n_fds, uint32_t deadline_ms, Ts__Rpc__WorkerAnswer **ret_answer)
{
	Ts__Rpc__WorkerAnswer *answer = NULL;
	int r = worker->pid < 0 ? start_confined(worker) : 0;

	if (r)
		return r;
	r = conclude(worker, exchange(worker, request, fds, n_fds,
				      deadline_ms ?: TS_WORKER_DEADLINE_MS, &answer));
	r = r ?: look_for_error(worker, &answer);
	if (!r)
		*ret_answer = answer;
	return r;
}

const char *ts_worker_why(const struct ts_worker *worker)
{
	return worker->why;
}

const Ts__Rpc__WorkerReady *ts_worker_ready(const struct ts_worker *worker)
{
	return worker->hello ? worker->hello->ready : NULL;
}

pid_t ts_worker_pid(const struct ts_worker *worker)
{
	return worker->pid;
}

unsigned ts_worker_n_starts(const struct ts_worker *worker)
{
	return worker->n_starts;
}
