/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections of the control socket's clients. Received bytes become requests; answers wait in a
 * queue until they can be sent. No function here blocks. A client that does not read its answers,
 * or that sends more than the limits allow, is dropped. listen.c creates connections, server.c
 * checks them. Requests go to the handlers (control.c).
 */
#include <sys/socket.h>

#include "daemon/serve/loop/answers.h"
#include "daemon/serve/loop/connection.h"
#include "daemon/util/daemon-error.h"

/* Maximum bytes of answers that a client has not read. A client that exceeds it is dropped. */
#define CONNECTION_MAX_QUEUED_BYTES (4u * 1024 * 1024)
/* Request id of a client's first request. */
#define CONNECTION_FIRST_REQUEST 1u
/* Maximum time that a client may take to read an answer. */
#define CONNECTION_STALL_NS (UINT64_C(10) * 1000000000)
/* Maximum time that a client may take to send one request. */
#define CONNECTION_PARTIAL_NS (UINT64_C(10) * 1000000000)
/* Maximum time that a client may be idle. */
#define CONNECTION_IDLE_NS (UINT64_C(60) * 1000000000)

struct connection_answer {
	struct connection_answer *next;
	uint8_t *bytes; /* header and message */
	size_t n_bytes;
	size_t n_sent;
	int fd; /* descriptor that is sent with the answer's first byte; -1: none */
};

struct ts_client_connection *ts_client_connection_next(struct ts_client_connection *client)
{
	return client->next;
}

static void answer_free(struct connection_answer *answer)
{
	if (answer->fd >= 0)
		close(answer->fd);
	free(answer->bytes);
	free(answer);
}

/* Releases the oldest n_fds files. */
static void drop_files(struct ts_client_connection *client, unsigned n_fds)
{
	ts_porter_release_files(client->server->porter, client->connection, n_fds);
	client->n_fds -= n_fds;
	ts_user_give(client->user, TS_RESOURCE_CLIENT_FDS, n_fds);
}

void ts_client_connection_free(struct ts_client_connection *client)
{
	struct ts_server *server = client->server;

	client->handlers->leave(client);
	for (struct ts_client_connection **p = &server->clients; *p; p = &(*p)->next)
		if (*p == client) {
			*p = client->next;
			break;
		}
	while (client->answers) {
		struct connection_answer *answer = client->answers;

		client->answers = answer->next;
		answer_free(answer);
	}
	drop_files(client, client->n_fds);
	sd_event_source_disable_unref(client->source);
	ts_porter_close(server->porter, client->connection, client->fd);
	ts_frame_parser_deinit(&client->parser);
	ts_user_give(client->user, TS_RESOURCE_CLIENTS, 1);
	ts_user_unref(client->user);
	free(client);
}

/* ---- sending ---- */

static void flush(struct ts_client_connection *client)
{
	while (client->answers) {
		struct connection_answer *answer = client->answers;
		bool first = answer->n_sent == 0 && answer->fd >= 0;
		ssize_t n = ts_frame_send_some(client->fd, answer->bytes + answer->n_sent,
					       answer->n_bytes - answer->n_sent, &answer->fd,
					       first ? 1 : 0);

		if (n == -EAGAIN) {
			if (!client->stalled_ns)
				client->stalled_ns = ts_clock_monotonic_ns();
			sd_event_source_set_io_events(client->source, EPOLLIN | EPOLLOUT);
			return;
		}
		if (n < 0) {
			client->broken = true;
			return;
		}
		answer->n_sent += (size_t)n;
		if (answer->n_sent == answer->n_bytes) {
			/*
			 * The time restarts only when a whole answer was sent, so a slow reader
			 * cannot stay forever.
			 */
			client->stalled_ns = 0;
			client->active_ns = ts_clock_monotonic_ns();
			client->answers = answer->next;
			client->n_answers--;
			client->n_queued_bytes -= answer->n_bytes;
			answer_free(answer);
		}
	}
	sd_event_source_set_io_events(client->source, EPOLLIN);
}

/* Takes ownership of `packed` and `fd`. */
static void queue_answer(struct ts_client_connection *client, uint32_t request_id, uint8_t *packed,
			 size_t n_bytes, int fd, uint32_t flags)
{
	struct ts_frame_header header =
		ts_frame_header_make(TS_FRAME_ANSWER, request_id, (uint32_t)n_bytes);
	struct connection_answer *answer = calloc(1, sizeof(*answer)), **end = &client->answers;

	if (answer) {
		*answer = (struct connection_answer){.fd = fd, .n_bytes = sizeof(header) + n_bytes};
		answer->bytes = malloc(answer->n_bytes);
	}
	if (!answer || !answer->bytes || n_bytes > TS_FRAME_ANSWER_MAX_BYTES ||
	    client->n_answers >= client->server->options.limits.max_answers ||
	    client->n_queued_bytes >= CONNECTION_MAX_QUEUED_BYTES) {
		client->broken = true;
		if (answer)
			answer_free(answer);
		else if (fd >= 0)
			close(fd);
		free(packed);
		return;
	}
	header.n_fds = fd >= 0;
	header.flags = flags;
	memcpy(answer->bytes, &header, sizeof(header));
	memcpy(answer->bytes + sizeof(header), packed, n_bytes);
	free(packed);
	while (*end)
		end = &(*end)->next;
	*end = answer;
	client->n_answers++;
	client->n_queued_bytes += answer->n_bytes;
	flush(client);
}

void ts_client_connection_answer_built(struct ts_client_connection *client, uint32_t request_id,
				       int r, uint8_t *packed, size_t n_bytes, int fd)
{
	if (!r) {
		queue_answer(client, request_id, packed, n_bytes, fd, 0);
		return;
	}
	if (fd >= 0)
		close(fd);
	client->broken = true;
}

ssize_t ts_client_connection_send_files(const struct ts_client_connection *client, unsigned n_fds,
					int socket_fd, const void *data, size_t n_bytes,
					struct ts_porter_file ret_files[TS_PORTER_MAX_HELD])
{
	return ts_porter_send_files(client->server->porter, client->connection, n_fds, socket_fd,
				    data, n_bytes, ret_files);
}

struct ts_server *ts_client_connection_server(const struct ts_client_connection *client)
{
	return client->server;
}

void ts_client_connection_answer(struct ts_client_connection *client, uint32_t request_id,
				 const uint8_t *packed, size_t n_bytes, bool more)
{
	uint8_t *copy = malloc(n_bytes ? n_bytes : 1);

	if (!copy) {
		client->broken = true;
		return;
	}
	memcpy(copy, packed, n_bytes);
	queue_answer(client, request_id, copy, n_bytes, -1, more ? TS_FRAME_MORE : 0);
}

void ts_client_connection_error(struct ts_client_connection *client, uint32_t request_id, int error,
				const char *why)
{
	uint8_t *packed = NULL;
	size_t n_bytes = 0;
	int r = ts_answer_error(error, why, &packed, &n_bytes);

	ts_client_connection_answer_built(client, request_id, r, packed, n_bytes, -1);
}

bool ts_client_connection_has_capacity(const struct ts_client_connection *client)
{
	return !client->broken &&
	       client->n_answers <= client->server->options.limits.max_answers / 4 &&
	       client->n_queued_bytes < CONNECTION_MAX_QUEUED_BYTES / 4;
}

/* ---- receiving ---- */

/*
 * Counts files that a client sent. They are bounded per client, per user and in total. A client
 * that exceeds a bound is dropped, and the porter releases its files.
 */
static void keep_files(struct ts_client_connection *client, unsigned n_fds)
{
	for (unsigned i = 0; i < n_fds && !client->broken; i++)
		if (client->n_fds < TS_PORTER_MAX_HELD &&
		    ts_user_take(client->user, TS_RESOURCE_CLIENT_FDS, 1))
			client->n_fds++;
		else
			client->broken = true;
}

/* Handles a complete request. */
static void take_frame(struct ts_client_connection *client, const struct ts_frame *frame)
{
	if (frame->header.n_fds > client->n_fds) {
		client->broken = true;
		return;
	}
	client->active_ns = ts_clock_monotonic_ns();
	client->partial_ns = 0;
	client->handlers->request(client, frame);
	drop_files(client, frame->header.n_fds);
}

/* Notes the time of a request's first byte. Further bytes do not change this time. */
static void note_partial(struct ts_client_connection *client)
{
	if (client->parser.n_filled == client->parser.n_taken)
		client->partial_ns = 0;
	else if (!client->partial_ns)
		client->partial_ns = ts_clock_monotonic_ns();
}

/* Marks a client that has disconnected. If the client owns the recording, ends the recording. */
static void hang_up(struct ts_client_connection *client)
{
	struct ts_server *server = client->server;

	client->broken = true;
	sd_event_source_set_enabled(client->source, SD_EVENT_OFF);
	ts_server_look(server);
	if (client->owner)
		server->finish(server, 0);
}

static int on_io(sd_event_source *source, int fd, uint32_t events, void *data)
{
	struct ts_client_connection *client = data;
	/*
	 * Receives at most 256 bytes per turn of the loop, so that a busy client does not delay the
	 * others.
	 */
	uint8_t bytes[256];
	struct ts_frame frame;
	unsigned n_fds = 0;
	ssize_t n;
	int r;

	if (events & EPOLLOUT) {
		flush(client);
		if (ts_client_connection_has_capacity(client))
			client->handlers->resume(client);
	}
	if (!client->broken && events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
		n = ts_porter_receive_files(client->server->porter, client->connection, fd, bytes,
					    sizeof(bytes), &n_fds);
		keep_files(client, n_fds);
		if (n == -EAGAIN)
			return 0;
		if (n == -EBUSY)
			ts_client_connection_error(
				client, CONNECTION_FIRST_REQUEST, -EBUSY,
				"busy: too many descriptors that this user passed are still open; retry later");
		if (n <= 0) {
			hang_up(client);
			return 0;
		}
		r = ts_frame_parser_feed(&client->parser, bytes, (size_t)n);
		while (!r && !client->broken) {
			r = ts_frame_parser_next(&client->parser, &frame);
			if (!r)
				take_frame(client, &frame);
		}
		if (r < 0)
			client->broken = true;
		note_partial(client);
	}
	if (client->broken)
		hang_up(client);
	return 0;
}

uid_t ts_client_connection_uid(const struct ts_client_connection *client)
{
	return client->credentials.uid;
}

struct ts_user *ts_client_connection_user(const struct ts_client_connection *client)
{
	return client->user;
}

void ts_client_connection_reject(struct ts_server *server, const struct ts_incoming *incoming,
				 const char *why)
{
	uint8_t frame[512], *packed = NULL;
	size_t n_bytes = 0;

	/*
	 * The client may have sent its first request already, so the answer has the id of that
	 * request.
	 */
	if (!ts_answer_error(-EBUSY, why, &packed, &n_bytes) &&
	    n_bytes <= sizeof(frame) - sizeof(struct ts_frame_header)) {
		struct ts_frame_header header =
			ts_frame_header_make(TS_FRAME_ANSWER, CONNECTION_FIRST_REQUEST,
					     (uint32_t)n_bytes);

		memcpy(frame, &header, sizeof(header));
		memcpy(frame + sizeof(header), packed, n_bytes);
		ts_frame_send_some(incoming->fd, frame, sizeof(header) + n_bytes, NULL, 0);
	}
	free(packed);
	ts_porter_close(server->porter, incoming->connection, incoming->fd);
}

int ts_client_connection_new(struct ts_server *server, const struct ts_incoming *incoming,
			     bool owner, const struct ts_client_handlers *handlers)
{
	struct ts_client_connection *client = calloc(1, sizeof(*client));
	int r;

	if (!client) {
		ts_porter_close(server->porter, incoming->connection, incoming->fd);
		ts_user_give(incoming->user, TS_RESOURCE_CLIENTS, 1);
		ts_user_unref(incoming->user);
		return ts_error_origin(-ENOMEM);
	}
	client->server = server;
	client->handlers = handlers;
	client->user = incoming->user;
	client->owner = owner;
	client->fd = incoming->fd;
	client->connection = incoming->connection;
	ts_frame_parser_init(&client->parser, TS_FRAME_REQUEST, TS_FRAME_REQUEST_MAX_BYTES);
	client->credentials = incoming->identity;
	client->active_ns = ts_clock_monotonic_ns();
	client->next = server->clients;
	server->clients = client;
	r = sd_event_add_io(server->event, &client->source, client->fd, EPOLLIN, on_io, client);
	if (r < 0) {
		ts_client_connection_free(client);
		return ts_error_origin(r);
	}
	return 0;
}

/*
 * True if more than most_ns have passed since since_ns. False if since_ns is 0, which means that
 * the time did not begin.
 */
static bool is_over(uint64_t since_ns, uint64_t most_ns, uint64_t now_ns)
{
	return since_ns && now_ns > since_ns + most_ns;
}

/*
 * True if the client was idle for too long. The owner (`tsctl record`) never counts as idle,
 * because it sends nothing between start and Finish.
 */
static bool is_idle(const struct ts_client_connection *client, uint64_t now_ns)
{
	return !client->owner && !client->pending && !client->answers &&
	       !client->handlers->is_asked(client) &&
	       is_over(client->active_ns, CONNECTION_IDLE_NS, now_ns);
}

void ts_client_connection_check(struct ts_client_connection *client, uint64_t now_ns)
{
	client->handlers->check(client, now_ns);
	if (client->broken || is_idle(client, now_ns) ||
	    is_over(client->partial_ns, CONNECTION_PARTIAL_NS, now_ns) ||
	    is_over(client->stalled_ns, CONNECTION_STALL_NS, now_ns))
		ts_client_connection_free(client);
}
