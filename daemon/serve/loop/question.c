/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about traces. control.c starts and cancels them, server.c checks them. This module
 * calls daemon/worker to start one process for each question.
 *
 * The worker process reads untrusted files, so its output is untrusted, too: the daemon does not
 * interpret the output, and forwards its bytes only to the client that asked. The process is killed
 * if it exceeds its deadline, if it sends too many bytes, or if the client disconnects. A process
 * that cannot die at once (its file system does not answer) counts against the user's limit until
 * it is dead.
 *
 *   start -> read_answers -> hand_on (last answer) -> settle -> reap -> free
 *                \-> fail (late, malformed, too large) -/
 *   client NULL: answered.   fd -1: no more output.   pid -1: dead.
 */
#include "daemon/serve/loop/question.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "daemon/util/daemon-error.h"
#include "daemon/worker/worker-client.h"
#include "proto/rpc/body.h"
#include "proto/rpc/frame.h"
#include "proto/rpc/json.h"

#define MS_NS UINT64_C(1000000)
/* reads of one socket per turn of the loop */
#define ROUND_READS 16u
/* Time for a cancelled replay to report its findings. On a busy machine this needs seconds. */
#define CANCEL_NS  (10000 * MS_NS)
#define READ_BYTES (64u * 1024)

struct ts_question {
	struct ts_question *next;
	struct ts_server *server;
	struct ts_client_connection *client; /* NULL: answered, or the client is gone */
	uint32_t request_id;
	uint32_t answer; /* TS__RPC__ANSWER__BODY_*: kind of the answers to this question */
	struct ts_user *user;
	pid_t pid; /* -1: dead */
	int status;
	int fd; /* -1: no more output */
	int pid_fd;
	sd_event_source *source, *pid_source;
	struct ts_frame_parser parser;
	uint64_t deadline_ns;
	uint64_t n_bytes, most_bytes;
	struct ts_porter_file files[TS_PORTER_MAX_HELD]; /* the files of the question */
	unsigned n_files;
	bool is_replay;
	bool is_cancelled; /* the worker got SIGTERM, and may still report its findings so far */
	bool killed;
};

static void hang_up(struct ts_question *question)
{
	question->source = sd_event_source_disable_unref(question->source);
	ts_closep(&question->fd);
	question->fd = -1;
}

static void free_question(struct ts_question *question)
{
	for (struct ts_question **p = &question->server->questions; *p; p = &(*p)->next)
		if (*p == question) {
			*p = question->next;
			break;
		}
	hang_up(question);
	sd_event_source_disable_unref(question->pid_source);
	ts_closep(&question->pid_fd);
	ts_frame_parser_deinit(&question->parser);
	ts_user_give(question->user, TS_RESOURCE_QUERIES, 1);
	ts_user_unref(question->user);
	free(question);
}

static void reap(struct ts_question *question)
{
	if (question->pid < 0 || waitpid(question->pid, &question->status, WNOHANG) == 0)
		return;
	question->pid = -1;
	question->pid_source = sd_event_source_disable_unref(question->pid_source);
}

/*
 * Sends an error to the client if the question is not answered yet, kills and reaps the process,
 * and frees the question if the process is dead. The caller must not use the question afterwards.
 */
static void settle(struct ts_question *question)
{
	char how[TS_WORKER_HOW_BYTES];

	reap(question);
	/* The process is dead and its output is closed, but the last answer is missing. */
	if (question->client && question->fd < 0 && question->pid < 0) {
		struct ts_client_connection *client = question->client;

		question->client = NULL;
		if (question->is_cancelled)
			ts_client_connection_error(client, question->request_id, -ECANCELED,
						   "cancelled");
		else
			ts_client_connection_error(client, question->request_id, -ECONNRESET,
						   ts_worker_how_ended(question->status, how));
	}
	if (question->client)
		return;
	hang_up(question);
	if (question->pid >= 0 && !question->killed) {
		question->killed = true;
		kill(question->pid, SIGKILL);
		reap(question);
	}
	if (question->pid < 0)
		free_question(question);
	else
		ts_server_watch(question->server);
}

/* Ends the question with an error. */
static void fail(struct ts_question *question, int error, const char *why)
{
	struct ts_client_connection *client = question->client;

	question->client = NULL;
	if (client)
		ts_client_connection_error(client, question->request_id, error, why);
	settle(question);
}

/* Checks that a frame may answer the question. The client checks its contents. */
static bool is_answer(const struct ts_question *question, const struct ts_frame *frame, bool more)
{
	uint32_t number;
	size_t off;

	if (frame->header.n_fds || frame->header.flags & ~TS_FRAME_MORE ||
	    ts_body_find(frame->data, frame->header.n_bytes, &number, &off))
		return false;
	if (more)
		return number == question->answer;
	return number == TS__RPC__ANSWER__BODY_QUERY_END || number == TS__RPC__ANSWER__BODY_ERROR;
}

/*
 * True if reading from the worker was paused and can continue. Needed because no event resumes the
 * reading if the client's queue became empty while another answer was sent.
 */
static bool can_go_on(const struct ts_question *question)
{
	int enabled;

	return question->client && question->fd >= 0 &&
	       sd_event_source_get_enabled(question->source, &enabled) >= 0 &&
	       enabled == SD_EVENT_OFF && ts_client_connection_has_capacity(question->client);
}

/* Forwards a frame to the client. Returns false if it was the last frame or the question failed. */
static bool hand_on(struct ts_question *question, const struct ts_frame *frame)
{
	bool more = frame->header.flags & TS_FRAME_MORE;
	struct ts_client_connection *client = question->client;

	if (!is_answer(question, frame, more)) {
		fail(question, -EPROTO, "the worker's answer is malformed");
		return false;
	}
	question->n_bytes += frame->header.n_bytes;
	if (more && question->n_bytes > question->most_bytes) {
		fail(question, -EFBIG,
		     "the answer is larger than its limit (see --max-query-bytes); query a part of the trace");
		return false;
	}
	if (!more)
		question->client = NULL;
	ts_client_connection_answer(client, question->request_id, frame->data,
				    frame->header.n_bytes, more);
	if (!more)
		settle(question);
	return more;
}

/* Forwards the worker's frames to the client while the client's send queue has room. */
static void read_answers(struct ts_question *question)
{
	uint8_t bytes[READ_BYTES];
	struct ts_frame frame;
	unsigned n_reads = 0;
	ssize_t n;
	int r;

	while (ts_client_connection_has_capacity(question->client)) {
		r = ts_frame_parser_next(&question->parser, &frame);
		if (!r) {
			if (!hand_on(question, &frame))
				return;
			continue;
		}
		if (r != TS_FRAME_E_MORE) {
			fail(question, -EPROTO, "the worker's answer is malformed");
			return;
		}
		if (n_reads++ == ROUND_READS)
			break;
		/* Descriptors from the worker are not received. */
		n = ts_frame_receive_some(question->fd, bytes, sizeof(bytes), NULL, 0, NULL);
		if (n == -EAGAIN)
			break;
		if (n <= 0) {
			hang_up(question);
			settle(question);
			return;
		}
		if (ts_frame_parser_feed(&question->parser, bytes, (size_t)n)) {
			fail(question, -ENOMEM, "out of memory");
			return;
		}
	}
	sd_event_source_set_enabled(question->source,
				    ts_client_connection_has_capacity(question->client)
					    ? SD_EVENT_ON
					    : SD_EVENT_OFF);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *data)
{
	read_answers(data);
	return 0;
}

static int on_end(sd_event_source *source, int fd, uint32_t events, void *data)
{
	settle(data);
	return 0;
}

/*
 * Like send(), and passes the question's files. The question stores the files' identity, so that
 * retention does not remove the files while the question is open (ts_questions_hold()).
 */
static ssize_t send_files(struct ts_question *question, const struct ts_question_files *files,
			  const void *data, size_t n_bytes)
{
	struct stat status;
	ssize_t n;

	if (files->fds)
		n = ts_frame_send_some(question->fd, data, n_bytes, files->fds, files->n);
	else
		n = ts_client_connection_send_files(question->client, files->n, question->fd, data,
						    n_bytes, question->files);
	if (n < 0)
		return n;
	/*
	 * Call fstat() only on the daemon's own files. On a client's file fstat() may block, so the
	 * porter has already identified the clients' files.
	 */
	for (unsigned i = 0; files->fds && i < files->n; i++)
		if (!fstat(files->fds[i], &status))
			question->files[i] = (struct ts_porter_file){
				.device = status.st_dev,
				.inode = status.st_ino,
			};
	question->n_files = files->n;
	return n;
}

/*
 * Sends the checked request to the worker, with the files. The message fits into an empty socket
 * buffer.
 */
static int send_question(struct ts_question *question, Ts__Rpc__Query *query,
			 const struct ts_question_files *files)
{
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	ts_cleanup(ts_freep) uint8_t *packed = NULL;
	struct ts_frame_header header;
	size_t n_bytes;
	ssize_t n;

	request.body_case = TS__RPC__REQUEST__BODY_QUERY;
	request.query = query;
	n_bytes = ts__rpc__request__get_packed_size(&request);
	if (n_bytes > TS_FRAME_REQUEST_MAX_BYTES)
		return ts_error_origin(-EMSGSIZE);
	packed = malloc(sizeof(header) + n_bytes);
	if (!packed)
		return ts_error_origin(-ENOMEM);
	header = ts_frame_header_make(TS_FRAME_REQUEST, question->request_id, (uint32_t)n_bytes);
	header.n_fds = (uint8_t)files->n;
	memcpy(packed, &header, sizeof(header));
	ts__rpc__request__pack(&request, packed + sizeof(header));
	n = send_files(question, files, packed, sizeof(header) + n_bytes);
	if (n < 0)
		return ts_error_origin((int)n);
	return (size_t)n == sizeof(header) + n_bytes ? 0 : ts_error_origin(-EMSGSIZE);
}

static uint64_t bound_ms(const struct ts_limits *limits, bool is_replay)
{
	return is_replay ? limits->max_replay_ms : limits->max_query_ms;
}

static int start(struct ts_question *question, Ts__Rpc__Query *query,
		 const struct ts_question_files *files)
{
	struct ts_server *server = question->server;
	const struct ts_limits *limits = &server->options.limits;
	uint64_t most_ms = bound_ms(limits, question->is_replay);
	long n_cpus = question->is_replay ? sysconf(_SC_NPROCESSORS_ONLN) : 1;
	struct ts_worker_options options = {
		.path = server->options.worker,
		.memory_bytes =
			question->is_replay ? limits->max_replay_memory : limits->max_query_memory,
		.cpu_seconds = (uint32_t)(most_ms / 1000 + 1) * (uint32_t)(n_cpus > 1 ? n_cpus : 1),
		.is_replay = question->is_replay,
	};
	int r = ts_worker_start_query(&options, &question->fd, &question->pid);

	if (r)
		return ts_error_origin(r);
	r = send_question(question, query, files);
	/* These errors mean that the worker has already ended; settle() reports how it ended. */
	if (r && r != -EPIPE && r != -ECONNRESET)
		return r;
	r = sd_event_add_io(server->event, &question->source, question->fd, EPOLLIN, on_io,
			    question);
	if (r < 0)
		return ts_error_origin(r);
	/* Without a pidfd, the next check notices the end of the process. */
	question->pid_fd = (int)syscall(SYS_pidfd_open, question->pid, 0);
	if (question->pid_fd >= 0)
		sd_event_add_io(server->event, &question->pid_source, question->pid_fd, EPOLLIN,
				on_end, question);
	return 0;
}

bool ts_questions_hold(const struct ts_server *server, dev_t device, ino_t inode)
{
	for (const struct ts_question *question = server->questions; question;
	     question = question->next)
		for (unsigned i = 0; i < question->n_files; i++)
			if (question->files[i].inode == inode &&
			    question->files[i].device == device)
				return true;
	return false;
}

int ts_question_new(struct ts_client_connection *client, uint32_t request_id, Ts__Rpc__Query *query,
		    const struct ts_question_files *files, uint32_t wait_ms, const char **ret_why)
{
	struct ts_server *server = ts_client_connection_server(client);
	const struct ts_limits *limits = &server->options.limits;
	struct ts_user *user = ts_client_connection_user(client);
	bool is_replay = query->body_case == TS__RPC__QUERY__BODY_REPLAY;
	struct ts_question *question;
	int r;

	if (!ts_user_take(user, TS_RESOURCE_QUERIES, 1)) {
		*ret_why = "busy: too many queries at once (see --max-queries)";
		return -EBUSY;
	}
	question = calloc(1, sizeof(*question));
	if (!question) {
		ts_user_give(user, TS_RESOURCE_QUERIES, 1);
		*ret_why = "out of memory";
		return ts_error_origin(-ENOMEM);
	}
	if (!wait_ms || wait_ms > bound_ms(limits, is_replay))
		wait_ms = (uint32_t)bound_ms(limits, is_replay);
	if (!query->has_max_bytes || query->max_bytes > limits->max_query_bytes)
		TS_RPC_SET(query, max_bytes, limits->max_query_bytes);
	*question = (struct ts_question){
		.next = server->questions,
		.server = server,
		.client = client,
		.request_id = request_id,
		.answer = ts_body_answers((uint32_t)query->body_case),
		.user = ts_user_ref(user),
		.pid = -1,
		.is_replay = is_replay,
		.fd = -1,
		.pid_fd = -1,
		.deadline_ns = ts_clock_monotonic_ns() + wait_ms * MS_NS,
		/*
		 * Allow additional bytes for the headers of parts, which do not count as bytes of
		 * the answer.
		 */
		.most_bytes = query->max_bytes + query->max_bytes / 1024 + TS_BODY_PART_BYTES,
	};
	ts_frame_parser_init(&question->parser, TS_FRAME_ANSWER, TS_FRAME_ANSWER_MAX_BYTES);
	server->questions = question;
	r = start(question, query, files);
	if (r) {
		*ret_why = "the worker for the query cannot be started";
		question->client = NULL;
		settle(question);
		return r;
	}
	ts_server_watch(server);
	return 0;
}

void ts_question_resume(struct ts_client_connection *client)
{
	struct ts_question *next;

	for (struct ts_question *question = ts_client_connection_server(client)->questions;
	     question; question = next) {
		next = question->next;
		if (question->client == client && question->fd >= 0)
			read_answers(question);
	}
}

/* Cancels a question. A replay gets SIGTERM and may still report its findings. */
static void cancel(struct ts_question *question)
{
	uint64_t cancel_ns;

	if (!question->is_replay || question->pid < 0 || question->is_cancelled ||
	    kill(question->pid, SIGTERM)) {
		fail(question, -ECANCELED, "cancelled");
		return;
	}
	question->is_cancelled = true;
	cancel_ns = ts_clock_monotonic_ns() + CANCEL_NS;
	if (question->deadline_ns > cancel_ns)
		question->deadline_ns = cancel_ns;
	ts_server_watch(question->server);
}

bool ts_question_cancel(struct ts_client_connection *client, uint32_t request_id)
{
	for (struct ts_question *question = ts_client_connection_server(client)->questions;
	     question; question = question->next)
		if (question->client == client && question->request_id == request_id) {
			cancel(question);
			return true;
		}
	return false;
}

bool ts_question_is_asked(const struct ts_client_connection *client)
{
	for (const struct ts_question *question = ts_client_connection_server(client)->questions;
	     question; question = question->next)
		if (question->client == client)
			return true;
	return false;
}

void ts_question_leave(struct ts_client_connection *client)
{
	struct ts_question *next;

	for (struct ts_question *question = ts_client_connection_server(client)->questions;
	     question; question = next) {
		next = question->next;
		if (question->client != client)
			continue;
		question->client = NULL;
		settle(question);
	}
}

static void fail_late(struct ts_question *question)
{
	if (question->is_cancelled)
		fail(question, -ECANCELED, "cancelled");
	else
		fail(question, -ETIMEDOUT,
		     "the query reached its time limit (see --max-query-ms, --max-replay-ms)");
}

void ts_questions_check(struct ts_server *server, uint64_t now_ns)
{
	struct ts_question *next;

	for (struct ts_question *question = server->questions; question; question = next) {
		next = question->next;
		if (question->client && now_ns > question->deadline_ns)
			fail_late(question);
		else if (can_go_on(question))
			read_answers(question);
		else
			settle(question);
	}
}

void ts_questions_end(struct ts_server *server)
{
	while (server->questions) {
		struct ts_question *question = server->questions;

		question->client = NULL;
		if (question->pid >= 0)
			kill(question->pid, SIGKILL);
		free_question(question);
	}
}
