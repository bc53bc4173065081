/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's end of the control socket. One request is out at a time, so an answer with another
 * request's id is a leftover of nobody and ends the connection; a deadline that passes does too,
 * for the late answer would be taken for the next one's.
 */
#include "proto/client/client.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "proto/abi/clock.h"
#include "proto/rpc/frame.h"

struct ts_client {
	int fd;
	uint32_t last_request;
	struct ts_frame_parser parser;
	int fds[TS_FRAME_MAX_FDS]; /* received, not yet claimed by a frame */
	unsigned n_fds;
	char error[256];
};

const char *ts_client_default_path(void)
{
	const char *path = getenv(TS_CONTROL_ENVIRONMENT);

	return path && *path ? path : TS_CONTROL_SOCKET;
}

static void client_drop_fds(struct ts_client *client)
{
	for (unsigned i = 0; i < client->n_fds; i++)
		close(client->fds[i]);
	client->n_fds = 0;
}

__attribute__((format(printf, 3, 4))) static int client_fail(struct ts_client *client, int error,
							     const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(client->error, sizeof(client->error), format, arguments);
	va_end(arguments);
	return error;
}

static int client_close(struct ts_client *client, int error, const char *what)
{
	close(ts_take_fd(&client->fd));
	client_drop_fds(client);
	return client_fail(client, error, "%s", what);
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
	/* A Unix socket connects at once or not at all, unless the daemon's backlog is full. */
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
	client_drop_fds(client);
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

static int client_exchange(struct ts_client *client, const uint8_t *data, size_t n_bytes,
			   uint64_t deadline_ns, struct ts_frame *ret_frame)
{
	int r = ts_frame_send_all(client->fd, data, n_bytes, NULL, 0, deadline_ns);

	/* A daemon that is too busy says so and hangs up, before it hears what is asked. */
	if (!r || r == -ECONNRESET)
		r = ts_frame_receive(client->fd, &client->parser, client->fds, TS_FRAME_MAX_FDS,
				     &client->n_fds, deadline_ns, ret_frame);
	if (!r && (ret_frame->header.request_id != client->last_request ||
		   ret_frame->header.n_fds > client->n_fds || ret_frame->header.flags))
		r = -EPROTO;
	return r;
}

static int client_answer_error(struct ts_client *client, const Ts__Rpc__Error *error)
{
	/* The code is a peer's: anything that is no errno becomes one. */
	int code = error && error->has_code && error->code > 0 && error->code < 4096 ? error->code
										     : EPROTO;

	return client_fail(client, -code, "%s",
			   error && error->message && *error->message ? error->message
								      : strerror(code));
}

int ts_client_call(struct ts_client *client, const Ts__Rpc__Request *request, uint32_t timeout_ms,
		   Ts__Rpc__Answer **ret_answer, int *ret_fd)
{
	uint64_t deadline_ns = 0;
	ts_cleanup(ts_freep) uint8_t *packed = NULL;
	size_t n_bytes = ts__rpc__request__get_packed_size(request);
	struct ts_frame_header header;
	struct ts_frame frame;
	Ts__Rpc__Answer *answer;
	int r;

	if (client->fd < 0)
		return client_fail(client, -ENOTCONN, "the connection to the daemon is closed");
	if (timeout_ms)
		deadline_ns = ts_clock_monotonic_ns() + timeout_ms * UINT64_C(1000000);
	if (n_bytes > TS_FRAME_REQUEST_MAX_BYTES)
		return client_fail(client, -EMSGSIZE, "the request is too large");
	packed = malloc(sizeof(header) + n_bytes);
	if (!packed)
		return client_fail(client, -ENOMEM, "out of memory");
	if (!++client->last_request)
		client->last_request = 1;
	header = ts_frame_header_make(TS_FRAME_REQUEST, client->last_request, (uint32_t)n_bytes);
	header.deadline_ms = timeout_ms;
	memcpy(packed, &header, sizeof(header));
	ts__rpc__request__pack(request, packed + sizeof(header));

	r = client_exchange(client, packed, sizeof(header) + n_bytes, deadline_ns, &frame);
	if (r)
		return client_close(client, r,
				    r == -ETIMEDOUT    ? "the daemon did not answer in time"
				    : r == -ECONNRESET ? "the daemon closed the connection"
				    : r == -EPROTO     ? "the daemon's answer is malformed"
						       : strerror(-r));
	answer = ts__rpc__answer__unpack(NULL, frame.header.n_bytes, frame.data);
	if (!answer)
		return client_close(client, -EPROTO, "the daemon's answer is malformed");
	if (answer->body_case == TS__RPC__ANSWER__BODY_ERROR) {
		r = client_answer_error(client, answer->error);
		ts__rpc__answer__free_unpacked(answer, NULL);
		client_drop_fds(client);
		return r;
	}
	client->error[0] = '\0';
	if (ret_fd) {
		*ret_fd = -1;
		if (frame.header.n_fds) {
			*ret_fd = client->fds[0];
			client->n_fds--;
			memmove(client->fds, client->fds + 1, client->n_fds * sizeof(int));
		}
	}
	client_drop_fds(client);
	*ret_answer = answer;
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
	/* The daemon itself keeps to the time; it is given some more to say so. */
	return ts_client_call(client, &request,
			      timeout_ms ? timeout_ms + 1000 : TS_CLIENT_TIMEOUT_DEFAULT_MS,
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
	return ts_client_call(client, &request, timeout_ms ? timeout_ms + 5000 : 0, ret_answer,
			      NULL);
}
