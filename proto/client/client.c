/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's end of the control socket; tsctl and users of libtracesmith call this file. This
 * file calls proto/rpc (frames, bodies).
 *
 * Only one request is pending at a time. An answer with another request's id is therefore invalid
 * and ends the connection. If an answer misses its deadline, the connection is closed, too, because
 * the late answer would look like an answer to the next request.
 */
#include "proto/client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "proto/abi/clock.h"
#include "proto/abi/grow.h"
#include "proto/rpc/body.h"
#include "proto/rpc/frame.h"

_Static_assert(TS_CLIENT_MAX_FILES == TS_FRAME_MAX_FDS, "as many as a frame takes");

/*
 * Interval of checks of the cancel flag, and maximum wait for the end of a cancelled query. This
 * wait is longer than the time that the daemon gives a cancelled query.
 */
#define CANCEL_LOOK_NS UINT64_C(50000000)
#define CANCEL_NS      UINT64_C(30000000000)
/*
 * Reserve for the daemon's answer after its own time limit: on a busy machine it takes more than a
 * second.
 */
#define ANSWER_MS 5000u

struct ts_client {
	int fd;
	uint32_t last_request;
	struct ts_frame_parser parser;
	int fds[TS_FRAME_MAX_FDS]; /* received, not yet assigned to a frame */
	unsigned n_fds;
	char error[256];
};

const char *ts_client_default_path(void)
{
	const char *path = secure_getenv(TS_CONTROL_ENVIRONMENT);

	return path && *path ? path : TS_CONTROL_SOCKET;
}

static void drop_fds(struct ts_client *client)
{
	for (unsigned i = 0; i < client->n_fds; i++)
		close(client->fds[i]);
	client->n_fds = 0;
}

__attribute__((format(printf, 3, 4))) static int fail(struct ts_client *client, int error,
						      const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(client->error, sizeof(client->error), format, arguments);
	va_end(arguments);
	return error;
}

static int fail_and_close(struct ts_client *client, int error, const char *what)
{
	close(ts_take_fd(&client->fd));
	drop_fds(client);
	return fail(client, error, "%s", what);
}

int ts_client_new_from_fd(int fd, struct ts_client **ret_client)
{
	struct ts_client *client = calloc(1, sizeof(*client));
	int flags;

	if (!client)
		return -ENOMEM;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) {
		free(client);
		return -errno;
	}
	client->fd = fd;
	ts_frame_parser_init(&client->parser, TS_FRAME_ANSWER, TS_FRAME_ANSWER_MAX_BYTES);
	*ret_client = client;
	return 0;
}

int ts_client_connect(const char *path, struct ts_client **ret_client)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	ts_cleanup(ts_closep) int fd = -1;
	size_t length;
	int r;

	if (!path)
		path = ts_client_default_path();
	length = strlen(path);
	if (length >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, length);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* A Unix socket connects at once or fails, unless the daemon's backlog is full. */
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO,
		       &(struct timeval){.tv_sec = TS_CLIENT_TIMEOUT_DEFAULT_MS / 1000},
		       sizeof(struct timeval)) < 0)
		return -errno;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return errno == EAGAIN ? -ETIMEDOUT : -errno;
	r = ts_client_new_from_fd(fd, ret_client);
	if (!r)
		ts_take_fd(&fd);
	return r;
}

void ts_client_free(struct ts_client *client)
{
	if (!client)
		return;
	if (client->fd >= 0)
		close(client->fd);
	drop_fds(client);
	ts_frame_parser_deinit(&client->parser);
	free(client);
}

int ts_client_fd(const struct ts_client *client)
{
	return client->fd;
}

const char *ts_client_error(const struct ts_client *client)
{
	return client->error;
}

static int receive_frame(struct ts_client *client, uint64_t deadline_ns, struct ts_frame *ret_frame)
{
	int r = ts_frame_receive(client->fd, &client->parser, client->fds, TS_FRAME_MAX_FDS,
				 &client->n_fds, deadline_ns, ret_frame);

	if (!r && (ret_frame->header.request_id != client->last_request ||
		   ret_frame->header.n_fds > client->n_fds || ret_frame->header.flags))
		r = -EPROTO;
	return r;
}

static int error_of(struct ts_client *client, const Ts__Rpc__Error *error)
{
	/* The code comes from the peer: an invalid errno becomes EPROTO. */
	int code = error && error->has_code && error->code > 0 && error->code < 4096 ? error->code
										     : EPROTO;

	return fail(client, -code, "%s",
		    error && error->message && *error->message ? error->message : strerror(code));
}

/* Closes the connection, which is unusable now. */
static int break_off(struct ts_client *client, int r)
{
	return fail_and_close(client, r,
			      r == -ETIMEDOUT	 ? "the daemon did not answer in time"
			      : r == -ECONNRESET ? "the daemon closed the connection"
			      : r == -EPROTO	 ? "the daemon's answer is malformed"
			      : r == -ECANCELED	 ? "cancelled"
						 : strerror(-r));
}

/* Sends a request, with descriptors. */
static int send_request(struct ts_client *client, const Ts__Rpc__Request *request, const int *fds,
			unsigned n_fds, uint32_t timeout_ms, uint64_t *ret_deadline_ns)
{
	ts_cleanup(ts_freep) uint8_t *packed = NULL;
	size_t n_bytes = ts__rpc__request__get_packed_size(request);
	struct ts_frame_header header;
	int r;

	if (client->fd < 0)
		return fail(client, -ENOTCONN, "the connection to the daemon is closed");
	*ret_deadline_ns =
		timeout_ms ? ts_clock_monotonic_ns() + timeout_ms * UINT64_C(1000000) : 0;
	if (n_fds > TS_CLIENT_MAX_FILES)
		return fail(
			client, -EMSGSIZE,
			"the recording has too many files for one query; query its files one by one");
	if (n_bytes > TS_FRAME_REQUEST_MAX_BYTES)
		return fail(client, -EMSGSIZE, "the request is too large");
	packed = malloc(sizeof(header) + n_bytes);
	if (!packed)
		return fail(client, -ENOMEM, "out of memory");
	if (!++client->last_request)
		client->last_request = 1;
	header = ts_frame_header_make(TS_FRAME_REQUEST, client->last_request, (uint32_t)n_bytes);
	header.deadline_ms = timeout_ms;
	header.n_fds = (uint8_t)n_fds;
	memcpy(packed, &header, sizeof(header));
	ts__rpc__request__pack(request, packed + sizeof(header));
	r = ts_frame_send_all(client->fd, packed, sizeof(header) + n_bytes, fds, n_fds,
			      *ret_deadline_ns);
	/*
	 * A daemon that is too busy sends an error and closes before it reads the request, so read
	 * its answer.
	 */
	return r && r != -ECONNRESET ? break_off(client, r) : 0;
}

/* Unpacks an answer, or returns its error. */
static int unpack_answer(struct ts_client *client, const struct ts_frame *frame,
			 Ts__Rpc__Answer **ret_answer)
{
	Ts__Rpc__Answer *answer = ts__rpc__answer__unpack(NULL, frame->header.n_bytes, frame->data);
	int r;

	if (!answer)
		return break_off(client, -EPROTO);
	if (answer->body_case == TS__RPC__ANSWER__BODY_ERROR) {
		r = error_of(client, answer->error);
		ts__rpc__answer__free_unpacked(answer, NULL);
		drop_fds(client);
		return r;
	}
	client->error[0] = '\0';
	*ret_answer = answer;
	return 0;
}

int ts_client_call(struct ts_client *client, const Ts__Rpc__Request *request, uint32_t timeout_ms,
		   Ts__Rpc__Answer **ret_answer, int *ret_fd)
{
	uint64_t deadline_ns;
	struct ts_frame frame;
	int r = send_request(client, request, NULL, 0, timeout_ms, &deadline_ns);

	if (r)
		return r;
	r = receive_frame(client, deadline_ns, &frame);
	if (r)
		return break_off(client, r);
	r = unpack_answer(client, &frame, ret_answer);
	if (r)
		return r;
	if (ret_fd) {
		*ret_fd = -1;
		if (frame.header.n_fds) {
			*ret_fd = client->fds[0];
			client->n_fds--;
			memmove(client->fds, client->fds + 1, client->n_fds * sizeof(int));
		}
	}
	drop_fds(client);
	return 0;
}

/* ---- queries ---- */

/*
 * Collected parts of one message: the answer without its head. When all parts have arrived, the
 * head is written in front of them.
 */
struct answer_parts {
	uint8_t *bytes; /* begin with room of TS_BODY_HEAD_BYTES */
	size_t n_bytes, n_allocated;
	uint32_t number;
};

static int append_part(struct answer_parts *parts, const struct ts_frame *frame)
{
	uint32_t number;
	size_t off, n;
	int r = ts_body_find(frame->data, frame->header.n_bytes, &number, &off);

	if (r || (parts->n_bytes && number != parts->number))
		return -EPROTO;
	if (!parts->n_bytes)
		parts->n_bytes = TS_BODY_HEAD_BYTES;
	n = frame->header.n_bytes - off;
	if (TS_GROW(parts->bytes, parts->n_allocated, parts->n_bytes + n))
		return -ENOMEM;
	parts->number = number;
	memcpy(parts->bytes + parts->n_bytes, frame->data + off, n);
	parts->n_bytes += n;
	return 0;
}

/*
 * The daemon forwards the answer of a process that read an untrusted trace. A message of another
 * kind would have other members, and a message with an unknown number would be NULL, so both are
 * rejected.
 */
static int check_answer(struct ts_client *client, const struct ts_client_question *question,
			const Ts__Rpc__Answer *answer)
{
	if ((uint32_t)answer->body_case == ts_body_answers((uint32_t)question->query->body_case))
		return 0;
	return fail_and_close(client, -EPROTO, "the daemon's answer does not match the request");
}

static Ts__Rpc__Answer *unpack_parts(struct answer_parts *parts)
{
	uint8_t head[TS_BODY_HEAD_BYTES];
	size_t n = ts_body_head(parts->number, parts->n_bytes - TS_BODY_HEAD_BYTES, head);
	size_t off = TS_BODY_HEAD_BYTES - n;

	memcpy(parts->bytes + off, head, n);
	return ts__rpc__answer__unpack(NULL, parts->n_bytes - off, parts->bytes + off);
}

/* Passes the joined parts to `take`, if there are any. */
static int take_parts(struct ts_client *client, const struct ts_client_question *question,
		      struct answer_parts *parts, const Ts__Rpc__QueryEnd *end)
{
	Ts__Rpc__Answer *answer;
	int r;

	if (!parts->n_bytes)
		return 0;
	answer = unpack_parts(parts);
	if (!answer)
		return break_off(client, -EPROTO);
	r = check_answer(client, question, answer);
	r = r ?: question->take(question->data, answer, end);
	ts__rpc__answer__free_unpacked(answer, NULL);
	return r;
}

/* Handles one frame. Returns 0, or 1 if it was the last frame. */
static int take_answer(struct ts_client *client, const struct ts_client_question *question,
		       const struct ts_frame *frame, struct answer_parts *parts,
		       Ts__Rpc__Answer **ret_end)
{
	bool more = frame->header.flags & TS_FRAME_MORE;
	Ts__Rpc__Answer *answer;
	int r;

	if (more && question->join) {
		r = append_part(parts, frame);
		return r ? break_off(client, r) : 0;
	}
	r = unpack_answer(client, frame, &answer);
	if (r)
		return r;
	if (more) {
		bool is_bad = check_answer(client, question, answer);

		r = is_bad ? -EPROTO : question->take(question->data, answer, NULL);
		ts__rpc__answer__free_unpacked(answer, NULL);
		/*
		 * The caller wants no more answers: the daemon stops when the connection is closed.
		 */
		return r && !is_bad ? fail_and_close(client, r,
						     "the query was ended before its last answer")
				    : r;
	}
	r = answer->body_case == TS__RPC__ANSWER__BODY_QUERY_END
		    ? take_parts(client, question, parts, answer->query_end)
		    : break_off(client, -EPROTO);
	if (r) {
		ts__rpc__answer__free_unpacked(answer, NULL);
		return r;
	}
	*ret_end = answer;
	return 1;
}

/*
 * Sends a cancel request during the query, whose answers continue. The answer to the cancel request
 * is a separate frame.
 */
static int cancel_query(struct ts_client *client, uint32_t query)
{
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	Ts__Rpc__Request__Cancel cancel = TS__RPC__REQUEST__CANCEL__INIT;
	uint64_t deadline_ns;

	request.body_case = TS__RPC__REQUEST__BODY_CANCEL;
	request.cancel = &cancel;
	cancel.has_request_id = 1;
	cancel.request_id = query;
	return send_request(client, &request, NULL, 0, TS_CLIENT_TIMEOUT_DEFAULT_MS, &deadline_ns);
}

/*
 * State of the wait for the query's next frame. After a cancel, the query's number is not that of
 * the last request.
 */
struct waiting {
	const struct ts_client_question *question;
	uint32_t query; /* 0: not cancelled */
	uint64_t deadline_ns;
	bool is_heard; /* the cancel request was answered */
};

static int wait_for_frame(struct ts_client *client, struct waiting *waiting,
			  struct ts_frame *ret_frame)
{
	const volatile int *cancel = waiting->question->cancel;
	int r;

	for (;;) {
		uint64_t now_ns = ts_clock_monotonic_ns(), until_ns = now_ns + CANCEL_LOOK_NS;
		uint32_t id;

		if (cancel && !waiting->query && __atomic_load_n(cancel, __ATOMIC_RELAXED)) {
			waiting->query = client->last_request;
			waiting->deadline_ns = now_ns + CANCEL_NS;
			r = cancel_query(client, waiting->query);
			if (r)
				return r;
		}
		if (!cancel || (waiting->deadline_ns && waiting->deadline_ns < until_ns))
			until_ns = waiting->deadline_ns;
		r = ts_frame_receive(client->fd, &client->parser, client->fds, TS_FRAME_MAX_FDS,
				     &client->n_fds, until_ns, ret_frame);
		if (r == -ETIMEDOUT && cancel &&
		    (!waiting->deadline_ns || ts_clock_monotonic_ns() < waiting->deadline_ns))
			continue;
		if (r)
			return r == -ETIMEDOUT && waiting->query ? -ECANCELED : r;
		id = ret_frame->header.request_id;
		if (ret_frame->header.n_fds > client->n_fds ||
		    ret_frame->header.flags & ~TS_FRAME_MORE)
			return -EPROTO;
		/* The answer to the cancel request has no data for the caller. */
		if (waiting->query && id == client->last_request) {
			waiting->is_heard = true;
			continue;
		}
		return id == (waiting->query ? waiting->query : client->last_request) ? 0 : -EPROTO;
	}
}

/*
 * Reads the answer to the cancel request if it comes after the query's end. Else the next request
 * would take this answer for its own.
 */
static void receive_rest(struct ts_client *client, const struct waiting *waiting)
{
	struct ts_frame frame;

	if (client->fd < 0 || !waiting->query || waiting->is_heard)
		return;
	if (receive_frame(client, waiting->deadline_ns, &frame))
		close(ts_take_fd(&client->fd));
}

int ts_client_query(struct ts_client *client, const struct ts_client_question *question,
		    Ts__Rpc__Answer **ret_end)
{
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	struct answer_parts parts = {0};
	Ts__Rpc__Answer *end = NULL;
	struct waiting waiting = {.question = question};
	struct ts_frame frame;
	int r;

	request.body_case = TS__RPC__REQUEST__BODY_QUERY;
	request.query = (Ts__Rpc__Query *)(uintptr_t)question->query;
	r = send_request(client, &request, question->fds, question->n_fds, question->timeout_ms,
			 &waiting.deadline_ns);
	while (!r) {
		r = wait_for_frame(client, &waiting, &frame);
		r = r ? break_off(client, r) : take_answer(client, question, &frame, &parts, &end);
	}
	free(parts.bytes);
	receive_rest(client, &waiting);
	drop_fds(client);
	if (!end)
		return r;
	*ret_end = end;
	return 0;
}

int ts_client_status(struct ts_client *client, Ts__Rpc__Answer **ret_answer)
{
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	Ts__Rpc__Request__Status status = TS__RPC__REQUEST__STATUS__INIT;

	request.body_case = TS__RPC__REQUEST__BODY_STATUS;
	request.status = &status;
	return ts_client_call(client, &request, TS_CLIENT_TIMEOUT_DEFAULT_MS, ret_answer, NULL);
}

int ts_client_list_sessions(struct ts_client *client, Ts__Rpc__Answer **ret_answer)
{
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	Ts__Rpc__Request__ListSessions list = TS__RPC__REQUEST__LIST_SESSIONS__INIT;

	request.body_case = TS__RPC__REQUEST__BODY_LIST_SESSIONS;
	request.list_sessions = &list;
	return ts_client_call(client, &request, TS_CLIENT_TIMEOUT_DEFAULT_MS, ret_answer, NULL);
}

int ts_client_open_trace(struct ts_client *client, uint32_t session, uint32_t pid,
			 Ts__Rpc__Answer **ret_answer, int *ret_fd)
{
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	Ts__Rpc__Request__OpenTrace open_trace = TS__RPC__REQUEST__OPEN_TRACE__INIT;

	request.body_case = TS__RPC__REQUEST__BODY_OPEN_TRACE;
	request.open_trace = &open_trace;
	open_trace.has_session = session != 0;
	open_trace.session = session;
	open_trace.has_pid = pid != 0;
	open_trace.pid = pid;
	return ts_client_call(client, &request, TS_CLIENT_TIMEOUT_DEFAULT_MS, ret_answer, ret_fd);
}

int ts_client_flush(struct ts_client *client, uint32_t session, uint32_t timeout_ms,
		    Ts__Rpc__Answer **ret_answer)
{
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	Ts__Rpc__Request__Flush flush = TS__RPC__REQUEST__FLUSH__INIT;

	request.body_case = TS__RPC__REQUEST__BODY_FLUSH;
	request.flush = &flush;
	flush.has_session = session != 0;
	flush.session = session;
	flush.has_timeout_ms = timeout_ms != 0;
	flush.timeout_ms = timeout_ms;
	return ts_client_call(client, &request,
			      timeout_ms ? timeout_ms + ANSWER_MS : TS_CLIENT_TIMEOUT_DEFAULT_MS,
			      ret_answer, NULL);
}

int ts_client_finish(struct ts_client *client, uint32_t timeout_ms, Ts__Rpc__Answer **ret_answer)
{
	Ts__Rpc__Request request = TS__RPC__REQUEST__INIT;
	Ts__Rpc__Request__Finish finish = TS__RPC__REQUEST__FINISH__INIT;

	request.body_case = TS__RPC__REQUEST__BODY_FINISH;
	request.finish = &finish;
	finish.has_timeout_ms = timeout_ms != 0;
	finish.timeout_ms = timeout_ms;
	return ts_client_call(client, &request, timeout_ms ? timeout_ms + ANSWER_MS : 0, ret_answer,
			      NULL);
}
