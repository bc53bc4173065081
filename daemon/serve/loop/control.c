/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of the control socket's clients. connection.c calls the handlers at the end of this
 * file. A request that needs a session's thread waits in a list. It is answered when the thread
 * reports or the deadline is over; no function here blocks. Answers come from answers.c, questions
 * go to question.c.
 */
#include <inttypes.h>

#include "daemon/serve/loop/answers.h"
#include "daemon/serve/loop/control.h"
#include "daemon/serve/loop/question.h"
#include "daemon/util/daemon-error.h"
#include "proto/rpc/frame.h"
#include "proto/rpc/tracesmith.pb-c.h"

#define CONTROL_SEAL_MS	     2000u
#define CONTROL_FLUSH_MS     2000u
#define CONTROL_FLUSH_MAX_MS 60000u

struct control_wait {
	uint32_t peer; /* its number */
	bool observed; /* a session of the observer */
	uint64_t ticket;
};

/*
 * The trace that a client receives. number: the daemon's session number; in_file: its number in the
 * file. Both are 0 for a whole recording.
 */
struct control_trace {
	uint32_t number, in_file;
	struct ts_recording *recording;
};

struct control_pending {
	struct control_pending *next;
	uint32_t request_id;
	Ts__Rpc__Request__BodyCase kind;
	uint64_t deadline_ns;
	uint32_t n_waits;
	uint32_t n_sessions;
	uint32_t n_changed;
	bool system;		   /* the observer is included */
	Ts__Rpc__Request *request; /* the waiting query; NULL: another kind of request waits */
	uint32_t client_ms;	   /* maximum time that the client waits for its answer */
	uint32_t observed_in_file; /* in-file number of an observed session */
	struct control_wait waits[];
};

static void pending_free(struct control_pending *pending)
{
	if (pending->request)
		ts__rpc__request__free_unpacked(pending->request, NULL);
	free(pending);
}

static void leave(struct ts_client_connection *client)
{
	ts_question_leave(client);
	while (client->pending) {
		struct control_pending *pending = client->pending;

		client->pending = pending->next;
		pending_free(pending);
	}
}

/* ---- pending requests ---- */

/* True if the client may open the recording. Otherwise sends the reason to the client. */
static bool may_open(struct ts_client_connection *client, uint32_t request_id,
		     const struct ts_recording *recording)
{
	if (!recording) {
		ts_client_connection_error(client, request_id, -ENOENT, "the session has ended");
		return false;
	}
	/* A user's session can be in another user's recording, if a program changed its user. */
	if (!ts_identity_may_see(&client->credentials, recording->uid)) {
		ts_client_connection_error(client, request_id, -EACCES,
					   "the recording belongs to another user");
		return false;
	}
	return true;
}

/* Tells the client why the trace cannot be opened: `error` is a negative errno. */
static void cannot_open(struct ts_client_connection *client, uint32_t request_id, int error)
{
	char why[128];

	snprintf(why, sizeof(why), "the daemon cannot open the session's trace for reading: %s",
		 strerror(-error));
	ts_client_connection_error(client, request_id, error, why);
}

static void ask_session(struct ts_client_connection *client, uint32_t request_id, uint32_t wait_ms,
			Ts__Rpc__Query *query, const struct ts_question_files *files)
{
	const char *why;
	int r = ts_question_new(client, request_id, query, files, wait_ms, &why);

	if (r)
		ts_client_connection_error(client, request_id, r, why);
}

/* Asks a question about a session's files, limited to that session. */
static void ask_recording(struct ts_client_connection *client, uint32_t request_id,
			  uint32_t wait_ms, Ts__Rpc__Query *query,
			  const struct control_trace *trace)
{
	char *path = query->path;
	int fds[TS_FRAME_MAX_FDS], r;
	struct ts_question_files files = {.fds = fds};

	if (!may_open(client, request_id, trace->recording))
		return;
	r = ts_recording_open_all(trace->recording, fds, TS_FRAME_MAX_FDS, &files.n);
	if (r == -E2BIG) {
		ts_client_connection_error(
			client, request_id, r,
			"the recording has too many files for one query; query its files one by one");
		return;
	}
	if (r) {
		cannot_open(client, request_id, r);
		return;
	}
	query->has_in_file = trace->number != 0;
	query->in_file = trace->in_file;
	query->path = trace->recording->path;
	ask_session(client, request_id, wait_ms, query, &files);
	query->path = path;
	while (files.n)
		close(fds[--files.n]);
}

static void answer_opened(struct ts_client_connection *client, uint32_t request_id,
			  const struct control_trace *trace)
{
	uint8_t *packed = NULL;
	size_t n_bytes = 0;
	int fd = -1, r;

	if (!may_open(client, request_id, trace->recording))
		return;
	r = ts_recording_open(trace->recording, &fd);
	if (r) {
		cannot_open(client, request_id, r);
		return;
	}
	r = ts_answer_opened(trace->number, trace->in_file, trace->recording,
			     !trace->recording->finished, &packed, &n_bytes);
	ts_client_connection_answer_built(client, request_id, r, packed, n_bytes, fd);
}

/* Finds a running session by number. NULL: the session has ended or never existed. */
static struct ts_peer *find_peer(const struct ts_server *server, uint32_t number)
{
	for (struct ts_peer *peer = server->peers; peer; peer = peer->next)
		if (peer->number == number && peer->session)
			return peer;
	return NULL;
}

static struct control_trace trace_waited_for(const struct ts_client_connection *client,
					     const struct control_pending *pending)
{
	const struct control_wait *wait = &pending->waits[0];
	struct ts_server *server = client->server;
	const struct ts_peer *peer = find_peer(server, wait->peer);
	struct ts_session_status status;

	if (wait->observed)
		return (struct control_trace){wait->peer, pending->observed_in_file,
					      server->observed ?: server->recording};
	if (!peer)
		return (struct control_trace){
			.recording = ts_server_find_ended(client->server, &client->credentials,
							  wait->peer, 0)};
	ts_session_status(peer->session, &status);
	return (struct control_trace){peer->number, status.number, peer->recording};
}

static void answer_done(struct ts_client_connection *client, struct control_pending *pending,
			uint32_t n_left)
{
	uint8_t *packed = NULL;
	size_t n_bytes = 0;
	int r;

	if (pending->kind == TS__RPC__REQUEST__BODY_OPEN_TRACE ||
	    pending->kind == TS__RPC__REQUEST__BODY_QUERY) {
		/*
		 * Opens the trace even after a timeout, because the rows written so far can be
		 * read.
		 */
		struct control_trace trace = trace_waited_for(client, pending);

		if (pending->request)
			ask_recording(client, pending->request_id, pending->client_ms,
				      pending->request->query, &trace);
		else
			answer_opened(client, pending->request_id, &trace);
		return;
	}
	if (pending->kind == TS__RPC__REQUEST__BODY_FLUSH)
		r = ts_answer_flushed(pending->n_sessions, n_left, &packed, &n_bytes);
	else
		r = ts_answer_switched(pending->n_sessions, pending->n_changed, n_left,
				       pending->system, &packed, &n_bytes);
	ts_client_connection_answer_built(client, pending->request_id, r, packed, n_bytes, -1);
}

static uint32_t waits_left(const struct ts_client_connection *client,
			   const struct control_pending *pending)
{
	const struct ts_observer *observer = client->server->observer;
	uint32_t n_left = pending->system && observer && !ts_observer_switched(observer);

	for (uint32_t i = 0; i < pending->n_waits; i++) {
		const struct control_wait *wait = &pending->waits[i];
		const struct ts_peer *peer = find_peer(client->server, wait->peer);

		if (wait->observed) {
			n_left += observer && !ts_observer_sealed(observer, wait->ticket);
			continue;
		}
		/*
		 * Counts the sessions that have not written yet. A session that has ended has
		 * written all its rows.
		 */
		n_left += peer && !ts_session_sealed(peer->session, pending->waits[i].ticket);
	}
	return n_left;
}

static void check(struct ts_client_connection *client, uint64_t now_ns)
{
	struct control_pending **p = &client->pending;

	while (*p && !client->broken) {
		struct control_pending *pending = *p;
		uint32_t n_left = waits_left(client, pending);

		if (pending->kind == TS__RPC__REQUEST__BODY_FINISH ||
		    (n_left && now_ns < pending->deadline_ns)) {
			p = &pending->next;
			continue;
		}
		*p = pending->next;
		client->n_pending--;
		answer_done(client, pending, n_left);
		pending_free(pending);
	}
}

void ts_client_connection_finished(struct ts_client_connection *client)
{
	struct control_pending **p = &client->pending;

	while (*p) {
		struct control_pending *pending = *p;
		uint8_t *packed = NULL;
		size_t n_bytes = 0;
		int r;

		if (pending->kind != TS__RPC__REQUEST__BODY_FINISH) {
			p = &pending->next;
			continue;
		}
		*p = pending->next;
		client->n_pending--;
		r = ts_answer_summary(client->server->recording, &packed, &n_bytes);
		ts_client_connection_answer_built(client, pending->request_id, r, packed, n_bytes,
						  -1);
		pending_free(pending);
	}
}

static struct control_pending *add_pending(struct ts_client_connection *client, uint32_t request_id,
					   Ts__Rpc__Request__BodyCase kind, uint32_t wait_ms)
{
	/* Room for each session and for the observer. */
	size_t n_bytes = sizeof(struct control_pending) +
			 (client->server->n_peers + 2) * sizeof(struct control_wait);
	struct control_pending *pending;

	if (client->n_pending >= client->server->options.limits.max_requests) {
		ts_client_connection_error(client, request_id, -EBUSY,
					   "busy: too many waiting requests (see --max-requests)");
		return NULL;
	}
	pending = calloc(1, n_bytes);
	if (!pending) {
		ts_client_connection_error(client, request_id, -ENOMEM, "out of memory");
		return NULL;
	}
	pending->request_id = request_id;
	pending->kind = kind;
	pending->deadline_ns = ts_clock_monotonic_ns() + wait_ms * UINT64_C(1000000);
	pending->next = client->pending;
	client->pending = pending;
	client->n_pending++;
	return pending;
}

static bool sees(const struct ts_client_connection *client, const struct ts_peer *peer)
{
	return peer->session && ts_identity_may_see(&client->credentials, peer->credentials.uid);
}

static bool find_observed(const struct ts_client_connection *client, uint32_t number, uint32_t pid,
			  struct control_trace *ret_trace)
{
	ret_trace->recording =
		ts_server_find_observed(client->server, &client->credentials, number, pid,
					&ret_trace->number, &ret_trace->in_file);
	return ret_trace->recording;
}

/*
 * Finds a session by number or pid; if both are 0, finds the only session. For an observed or an
 * ended session, sets *ret_trace to its trace. Returns 0. If no session matches that the client may
 * see, sends an error to the client.
 */
static int find(struct ts_client_connection *client, uint32_t request_id, uint32_t number,
		uint32_t pid, struct ts_peer **ret_peer, struct control_trace *ret_trace)
{
	struct ts_server *server = client->server;
	struct ts_recording *recording = NULL;
	struct ts_peer *found = NULL;
	uint32_t n_found = 0;

	for (struct ts_peer *peer = server->peers; peer; peer = peer->next) {
		if (!sees(client, peer) || (number && number != peer->number) ||
		    (pid && pid != (uint32_t)peer->credentials.pid))
			continue;
		found = peer;
		n_found++;
	}
	if (n_found > 1 && !server->recording) {
		ts_client_connection_error(client, request_id, -ENOTUNIQ,
					   "the daemon has several sessions; name one");
		return -ENOTUNIQ;
	}
	*ret_trace = (struct control_trace){0};
	*ret_peer = found;
	/*
	 * Requests no write for a client that may not open the file, because all users share the
	 * file of observed sessions.
	 */
	if (!found && find_observed(client, number, pid, ret_trace))
		return may_open(client, request_id, ret_trace->recording) ? 0 : -EACCES;
	if (!found && server->recording && !number && !pid &&
	    ts_identity_may_see(&client->credentials, server->recording->uid))
		recording = server->recording;
	else if (!found && !server->recording && (number || pid))
		recording = ts_server_find_ended(client->server, &client->credentials, number, pid);
	if (!found && !recording) {
		ts_client_connection_error(client, request_id, -ENOENT,
					   "the daemon has no such session");
		return -ENOENT;
	}
	ret_trace->recording = recording;
	return 0;
}

/* Waits until a session has written its rows. `peer` NULL: an observed session. */
static struct control_pending *wait_for(struct ts_client_connection *client, uint32_t request_id,
					Ts__Rpc__Request__BodyCase kind, const struct ts_peer *peer,
					const struct control_trace *observed)
{
	struct control_pending *pending = add_pending(client, request_id, kind, CONTROL_SEAL_MS);

	if (!pending)
		return NULL;
	pending->n_waits = pending->n_sessions = 1;
	if (peer) {
		pending->waits[0].peer = peer->number;
		pending->waits[0].ticket = ts_session_seal(peer->session, 0);
	} else {
		pending->observed_in_file = observed->in_file;
		pending->waits[0].peer = observed->number;
		pending->waits[0].observed = true;
		pending->waits[0].ticket = ts_observer_seal(client->server->observer);
	}
	return pending;
}

static void open_trace(struct ts_client_connection *client, uint32_t request_id,
		       const Ts__Rpc__Request__OpenTrace *request)
{
	struct control_trace trace;
	struct ts_peer *peer;

	if (find(client, request_id, request->session, request->pid, &peer, &trace))
		return;
	if (peer || trace.number)
		wait_for(client, request_id, TS__RPC__REQUEST__BODY_OPEN_TRACE, peer, &trace);
	else
		answer_opened(client, request_id, &trace);
}

/*
 * Starts a query. Takes ownership of *request if the query waits for a session. The porter holds
 * the files of the request.
 */
static void start_query(struct ts_client_connection *client, const struct ts_frame_header *header,
			Ts__Rpc__Request **request)
{
	const struct ts_question_files files = {.fds = NULL, .n = header->n_fds};
	Ts__Rpc__Query *query = (*request)->query;
	struct control_pending *pending;
	struct control_trace trace;
	struct ts_peer *peer;

	if (files.n && (query->has_session || query->has_pid)) {
		ts_client_connection_error(client, header->request_id, -EINVAL,
					   "a query names a session or a file, not both");
		return;
	}
	if (files.n) {
		ask_session(client, header->request_id, header->deadline_ms, query, &files);
		return;
	}
	if (find(client, header->request_id, query->session, query->pid, &peer, &trace))
		return;
	if (!peer && !trace.number) {
		ask_recording(client, header->request_id, header->deadline_ms, query, &trace);
		return;
	}
	pending = wait_for(client, header->request_id, TS__RPC__REQUEST__BODY_QUERY, peer, &trace);
	if (!pending)
		return;
	pending->client_ms = header->deadline_ms;
	pending->request = *request;
	*request = NULL;
}

static void cancel(struct ts_client_connection *client, uint32_t request_id, uint32_t cancelled)
{
	struct control_pending **p = &client->pending;
	uint8_t *packed = NULL;
	size_t n_bytes = 0;
	bool found;
	int r;

	while (*p && ((*p)->kind != TS__RPC__REQUEST__BODY_QUERY || (*p)->request_id != cancelled))
		p = &(*p)->next;
	found = *p;
	if (found) {
		struct control_pending *pending = *p;

		*p = pending->next;
		client->n_pending--;
		pending_free(pending);
		ts_client_connection_error(client, cancelled, -ECANCELED, "cancelled");
	} else {
		found = ts_question_cancel(client, cancelled);
	}
	r = ts_answer_cancelled(found, &packed, &n_bytes);
	ts_client_connection_answer_built(client, request_id, r, packed, n_bytes, -1);
}

static uint32_t bound_wait_ms(uint32_t asked_ms)
{
	if (!asked_ms)
		return CONTROL_FLUSH_MS;
	return asked_ms < CONTROL_FLUSH_MAX_MS ? asked_ms : CONTROL_FLUSH_MAX_MS;
}

/* Writes the rows of observed processes. These processes have nothing to flush. */
static void flush_observed(struct ts_client_connection *client,
			   const Ts__Rpc__Request__Flush *request, struct control_pending *pending)
{
	struct ts_observer *observer = client->server->observer;
	struct control_trace trace = {0};

	if (!observer)
		return;
	if (request->has_session) {
		if (!find_observed(client, request->session, 0, &trace) ||
		    !ts_identity_may_see(&client->credentials, trace.recording->uid))
			return;
		pending->n_sessions++;
	} else {
		if (!ts_identity_may_see(&client->credentials, getuid()))
			return;
		pending->n_sessions += ts_observer_n_sessions(observer);
	}
	pending->waits[pending->n_waits++] =
		(struct control_wait){.peer = trace.number,
				      .observed = true,
				      .ticket = ts_observer_seal(observer)};
}

static void flush_sessions(struct ts_client_connection *client, uint32_t request_id,
			   const Ts__Rpc__Request__Flush *request)
{
	uint32_t wait_ms = bound_wait_ms(request->timeout_ms);
	struct control_pending *pending;

	pending = add_pending(client, request_id, TS__RPC__REQUEST__BODY_FLUSH, wait_ms);
	if (!pending)
		return;
	for (struct ts_peer *peer = client->server->peers; peer; peer = peer->next) {
		if (!sees(client, peer) ||
		    (request->has_session && request->session != peer->number))
			continue;
		pending->waits[pending->n_waits].peer = peer->number;
		pending->waits[pending->n_waits++].ticket = ts_session_seal(peer->session, wait_ms);
	}
	pending->n_sessions = pending->n_waits;
	flush_observed(client, request, pending);
	if (!pending->n_waits)
		ts_server_look(client->server);
}

/*
 * Opens or closes capture windows. Answers like switch_recording(). If none of the requested
 * sessions can open windows, the answer is an error with the reason.
 */
static void window(struct ts_client_connection *client, uint32_t request_id, bool open,
		   const Ts__Rpc__Request__Switch *request)
{
	const bool all = !request->has_session && !request->has_pid;
	struct ts_server *server = client->server;
	uint32_t n = 0, n_changed = 0, n_without = 0;
	uint8_t *packed = NULL;
	size_t n_bytes = 0;
	int r;

	if (strcmp(request->capture, "replay") != 0 || request->kernel_events) {
		ts_client_connection_error(
			client, request_id, -EINVAL,
			request->kernel_events
				? "a request opens a capture window or changes kernel events, not both"
				: "the capture of a window is `replay`");
		return;
	}
	if (all && server->recording &&
	    ts_identity_may_see(&client->credentials, server->recording->uid))
		server->options.command =
			open ? server->options.command | TS_COMMAND_REPLAY
			     : server->options.command & ~(uint32_t)TS_COMMAND_REPLAY;
	for (struct ts_peer *peer = server->peers; peer; peer = peer->next) {
		if (!sees(client, peer) ||
		    (request->has_session && request->session != peer->number) ||
		    (request->has_pid && request->pid != (uint32_t)peer->credentials.pid))
			continue;
		r = ts_session_window(peer->session, open);
		n_without += r < 0;
		n += r >= 0;
		n_changed += r > 0;
	}
	if (n_without && !n) {
		ts_client_connection_error(
			client, request_id, -ENOTSUP,
			"the process was not started with `--capture window` (TRACESMITH_CAPTURE=window), so its live objects are not known");
		return;
	}
	r = ts_answer_switched(n, n_changed, 0, false, &packed, &n_bytes);
	ts_client_connection_answer_built(client, request_id, r, packed, n_bytes, -1);
}

/*
 * Starts or stops recording. The flush request that follows makes the processes apply the change.
 */
static void switch_recording(struct ts_client_connection *client, uint32_t request_id,
			     Ts__Rpc__Request__BodyCase kind,
			     const Ts__Rpc__Request__Switch *request)
{
	const bool all = !request->has_session && !request->has_pid;
	const bool paused = kind == TS__RPC__REQUEST__BODY_STOP;
	struct ts_server *server = client->server;
	uint32_t wait_ms = bound_wait_ms(request->timeout_ms);
	struct control_pending *pending;
	struct control_trace observed;
	struct ts_kernel_config config;
	char why[TS_SERVER_WHY_BYTES];
	int r;

	if (request->capture) {
		window(client, request_id, !paused, request);
		return;
	}
	r = request->kernel_events
		    ? ts_server_kernel_config(server, request->kernel_events, &config, why)
		    : 0;
	if (r) {
		ts_client_connection_error(client, request_id, r, why);
		return;
	}
	/*
	 * Recording of one observed process cannot be stopped alone, because probes are attached to
	 * files, which several processes map.
	 */
	if (!all && find_observed(client, request->session, request->pid, &observed)) {
		ts_client_connection_error(
			client, request_id, -ENOTSUP,
			"the process has no preloaded libtsinject.so: its recording from outside starts and stops only with all others; omit the pid");
		return;
	}
	pending = add_pending(client, request_id, kind, wait_ms);
	if (!pending)
		return;
	if (all && server->recording &&
	    ts_identity_may_see(&client->credentials, server->recording->uid))
		server->options.command =
			paused ? server->options.command | TS_COMMAND_PAUSED
			       : server->options.command & ~(uint32_t)TS_COMMAND_PAUSED;
	if (all && server->observer && ts_identity_may_see(&client->credentials, getuid())) {
		pending->system = true;
		pending->n_sessions = ts_observer_n_sessions(server->observer);
		if (ts_observer_switch(server->observer, paused))
			pending->n_changed = pending->n_sessions;
	}
	for (struct ts_peer *peer = server->peers; peer; peer = peer->next) {
		if (!sees(client, peer) ||
		    (request->has_session && request->session != peer->number) ||
		    (request->has_pid && request->pid != (uint32_t)peer->credentials.pid))
			continue;
		if (request->kernel_events)
			ts_session_kernel_config(peer->session, &config);
		pending->n_changed += ts_session_switch(peer->session, paused);
		pending->waits[pending->n_waits].peer = peer->number;
		pending->waits[pending->n_waits++].ticket = ts_session_seal(peer->session, wait_ms);
	}
	pending->n_sessions += pending->n_waits;
	/* If no session waits, the loop still sends the answer. */
	if (!pending->n_waits)
		ts_server_look(server);
}

static void finish(struct ts_client_connection *client, uint32_t request_id,
		   const Ts__Rpc__Request__Finish *request)
{
	struct ts_server *server = client->server;

	if (server->options.mode != TS_SERVER_RECORD || !client->owner) {
		ts_client_connection_error(client, request_id, -EPERM,
					   "only `tsctl record` ends a recording");
		return;
	}
	for (size_t i = 0; i < request->n_metadata; i++)
		if (!request->metadata[i]->key || !request->metadata[i]->value ||
		    ts_sbt_writer_metadata(server->recording->writer, request->metadata[i]->key,
					   request->metadata[i]->value))
			ts_log(TS_LOG_ERROR, "cannot write metadata to %s",
			       server->recording->path);
	if (add_pending(client, request_id, TS__RPC__REQUEST__BODY_FINISH, 0))
		server->finish(server, request->has_timeout_ms ? request->timeout_ms : 0);
}

static void take_request(struct ts_client_connection *client, const struct ts_frame *frame)
{
	uint32_t id = frame->header.request_id;
	Ts__Rpc__Request *request =
		ts__rpc__request__unpack(NULL, frame->header.n_bytes, frame->data);
	uint8_t *packed = NULL;
	size_t n_bytes = 0;
	int r;

	if (!request) {
		ts_client_connection_error(client, id, -EPROTO, "the request is malformed");
		return;
	}
	switch (request->body_case) {
	case TS__RPC__REQUEST__BODY_STATUS:
		r = ts_answer_status(client->server, &client->credentials, &packed, &n_bytes);
		ts_client_connection_answer_built(client, id, r, packed, n_bytes, -1);
		break;
	case TS__RPC__REQUEST__BODY_LIST_SESSIONS:
		r = ts_answer_sessions(client->server, &client->credentials, &packed, &n_bytes);
		ts_client_connection_answer_built(client, id, r, packed, n_bytes, -1);
		break;
	case TS__RPC__REQUEST__BODY_OPEN_TRACE:
		open_trace(client, id, request->open_trace);
		break;
	case TS__RPC__REQUEST__BODY_FLUSH:
		flush_sessions(client, id, request->flush);
		break;
	case TS__RPC__REQUEST__BODY_FINISH:
		finish(client, id, request->finish);
		break;
	case TS__RPC__REQUEST__BODY_START:
		switch_recording(client, id, request->body_case, request->start);
		break;
	case TS__RPC__REQUEST__BODY_STOP:
		switch_recording(client, id, request->body_case, request->stop);
		break;
	case TS__RPC__REQUEST__BODY_QUERY:
		start_query(client, &frame->header, &request);
		break;
	case TS__RPC__REQUEST__BODY_CANCEL:
		cancel(client, id, request->cancel->request_id);
		break;
	default:
		ts_client_connection_error(client, id, -EOPNOTSUPP,
					   "this daemon does not know the request");
	}
	if (request)
		ts__rpc__request__free_unpacked(request, NULL);
}

const struct ts_client_handlers ts_control_handlers = {
	.request = take_request,
	.check = check,
	.resume = ts_question_resume,
	.is_asked = ts_question_is_asked,
	.leave = leave,
};
