/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP server: see http.h. main.c starts it. libmicrohttpd parses requests and gives each
 * connection a thread. This file checks the sender, collects the body of a POST, calls the
 * request's function, and sends the answer.
 *
 * Other users of the machine can connect to the port, and so can scripts of any web page in the
 * user's browser. Data need the token, which only the page's address has. A page of another origin
 * cannot send the token's header without a preflight, which is refused. The check of Host keeps out
 * names that a foreign site lets point to 127.0.0.1.
 */
#include "tools/studio/server/http.h"

#include "proto/abi/base.h"
#include "proto/abi/clock.h"
#include "tools/studio/server/parameters.h"
#include "tools/studio/server/studio-page.h"
#include "tools/studio/server/studio-peer.h"
#include "tools/studio/server/studio-watch.h"

#include <malloc.h>
#include <microhttpd.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_BODY_BYTES ((size_t)1 << 20)
/*
 * libmicrohttpd accepts a connection above its limit and ends it, so that the client gets a reset.
 * Browsers keep connections that they do not use. So with more than KEPT_CONNECTIONS, a connection
 * ends with its answer.
 */
#define MAX_CONNECTIONS	 256u
#define KEPT_CONNECTIONS 32u
#define TIMEOUT_S	 30u
/* A question that takes longer gives its memory back to the system. */
#define LONG_NS UINT64_C(100000000)
/* Memory for the header of a request. */
#define MEMORY_BYTES ((size_t)32 << 10)

struct ts_studio_http {
	struct ts_studio *studio;
	struct MHD_Daemon *daemon;
	struct ts_studio_watch *watch;
	atomic_uint n_connections;
};

/* State of a request between calls of libmicrohttpd. */
struct state {
	struct ts_json body;
	bool is_too_long;
};

enum kind {
	SMALL,	  /* few bytes of the trace */
	PICTURE,  /* the timeline draws the answer */
	QUESTION, /* may read all of the trace */
};

static const struct request {
	const char *name;
	bool is_post;
	enum kind kind;
	int (*run)(struct ts_studio_call *call);
} requests[] = {
	{"trace", false, PICTURE, ts_request_trace},
	{"tiles", false, PICTURE, ts_request_tiles},
	{"names", false, PICTURE, ts_request_names},
	{"rows", false, PICTURE, ts_request_rows},
	{"row", false, SMALL, ts_request_row},
	{"ask", true, QUESTION, ts_request_ask},
	{"flame", false, QUESTION, ts_request_flame},
	{"search", false, QUESTION, ts_request_search},
	{"arrows", false, QUESTION, ts_request_arrows},
	{"slack", false, QUESTION, ts_request_slack},
	{"what-if", true, QUESTION, ts_request_what_if},
	{"what-if", false, SMALL, ts_request_what_if_progress},
	{"live", false, SMALL, ts_request_live},
	{"live", true, SMALL, ts_request_control},
	{"content", false, SMALL, ts_request_content},
};

static const char *const headers[][2] = {
	{"Content-Security-Policy",
	 "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
	 "img-src 'self' blob: data:; base-uri 'none'; form-action 'none'; "
	 "frame-ancestors 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cache-Control", "no-store"},
};

/* ---- answers --------------------------------------------------------------------------------- */

static enum MHD_Result send_response(struct ts_studio_http *http, struct MHD_Connection *connection,
				     unsigned status, const char *content_type,
				     struct MHD_Response *response)
{
	enum MHD_Result result = MHD_NO;

	if (!response)
		return MHD_NO;
	if (atomic_load_explicit(&http->n_connections, memory_order_relaxed) > KEPT_CONNECTIONS &&
	    MHD_add_response_header(response, "Connection", "close") != MHD_YES)
		goto done;
	for (size_t i = 0; i < TS_ARRAY_LEN(headers); i++)
		if (MHD_add_response_header(response, headers[i][0], headers[i][1]) != MHD_YES)
			goto done;
	if (content_type &&
	    MHD_add_response_header(response, "Content-Type", content_type) != MHD_YES)
		goto done;
	result = MHD_queue_response(connection, status, response);
done:
	MHD_destroy_response(response);
	return result;
}

/* Sends the answer in the call, and frees it. */
static enum MHD_Result send_call(struct ts_studio_http *http, struct MHD_Connection *connection,
				 struct ts_studio_call *call)
{
	struct MHD_Response *response;

	if (call->out.error) {
		ts_json_deinit(&call->out);
		ts_call_fail(call, 500, "no memory");
	}
	if (call->out.error || !call->out.data)
		response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
	else
		response = MHD_create_response_from_buffer(call->out.n_bytes, call->out.data,
							   MHD_RESPMEM_MUST_FREE);
	if (response && call->out.data)
		call->out = (struct ts_json){0};
	ts_json_deinit(&call->out);
	return send_response(http, connection, call->status, call->content_type, response);
}

static enum MHD_Result send_error(struct ts_studio_http *http, struct MHD_Connection *connection,
				  unsigned status, const char *text)
{
	struct ts_studio_call call = {0};

	ts_call_fail(&call, status, "%s", text);
	return send_call(http, connection, &call);
}

static enum MHD_Result send_file(struct ts_studio_http *http, struct MHD_Connection *connection,
				 const char *url)
{
	const char *name = strcmp(url, "/") ? url + 1 : "index.html";

	for (size_t i = 0; i < ts_studio_n_files; i++) {
		const struct ts_studio_file *file = &ts_studio_files[i];

		if (strcmp(file->name, name))
			continue;
		ts_studio_pace_load(&http->studio->pace);
		return send_response(http, connection, 200, file->content_type,
				     MHD_create_response_from_buffer(file->n_bytes,
								     (void *)(uintptr_t)file->bytes,
								     MHD_RESPMEM_PERSISTENT));
	}
	return send_error(http, connection, 404, "there is no such page");
}

/* ---- permission ------------------------------------------------------------------------------ */

static const char *header(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* Returns true if `text` is `prefix` and one of this server's names. */
static bool is_own(const struct ts_studio *studio, const char *prefix, const char *text)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};

	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++) {
		char own[64];

		snprintf(own, sizeof(own), "%s%s:%u", prefix, names[i], studio->port);
		if (!strcmp(text, own))
			return true;
	}
	return false;
}

/* Behind a Unix socket there is a proxy, whose name the server does not know. */
static bool is_allowed_host(const struct ts_studio *studio, struct MHD_Connection *connection)
{
	const char *host = header(connection, "Host"), *origin = header(connection, "Origin");

	if (!studio->port)
		return true;
	return host && is_own(studio, "", host) && (!origin || is_own(studio, "http://", origin));
}

static bool is_cross_site(struct MHD_Connection *connection)
{
	const char *site = header(connection, "Sec-Fetch-Site");

	return site && strcmp(site, "same-origin") && strcmp(site, "none");
}

static bool has_token(const struct ts_studio *studio, struct MHD_Connection *connection)
{
	static const char bearer[] = "Bearer ";
	const char *given = header(connection, "Authorization");

	return given && !strncmp(given, bearer, sizeof(bearer) - 1) &&
	       ts_query_is_secret(studio->token, given + sizeof(bearer) - 1);
}

/* ---- requests -------------------------------------------------------------------------------- */

/* A question in a thread of its own. */
struct question {
	const struct request *request;
	struct ts_studio_call *call;
};

static void *run_question(void *data)
{
	struct question *question = data;
	uint64_t start_ns = ts_clock_monotonic_ns();

	(void)!nice(TS_STUDIO_NICE);
	question->request->run(question->call);
	/* A long question used much memory, which the system gets back. */
	if (ts_clock_monotonic_ns() - start_ns > LONG_NS)
		malloc_trim(0);
	return NULL;
}

/*
 * Runs a request. Questions share the processors with the requests of the timeline, and have a
 * lower priority. In Linux a thread has its own priority, which it cannot raise again, and the
 * threads that it starts inherit it: so a question has a thread of its own.
 */
static void run_request(const struct request *request, struct ts_studio_call *call)
{
	struct question question = {request, call};
	pthread_t thread;
	bool comes_first;

	call->is_question = request->kind == QUESTION;
	if (call->is_question && !pthread_create(&thread, NULL, run_question, &question)) {
		pthread_join(thread, NULL);
		return;
	}
	/* Estimates become exact by the work that a rest would delay. */
	comes_first = request->kind == PICTURE && !ts_call_parameter(call, "again");
	if (comes_first)
		ts_studio_pace_begin(&call->studio->pace);
	request->run(call);
	if (comes_first)
		ts_studio_pace_end(&call->studio->pace);
}

static enum MHD_Result run_call(struct ts_studio_http *http, struct MHD_Connection *connection,
				size_t request, const struct state *state)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct ts_studio_call call = {.studio = http->studio,
				      .connection = connection,
				      .socket = info ? info->connect_fd : -1,
				      .body = state->body.data ? state->body.data : "",
				      .n_body = state->body.n_bytes,
				      .status = 200,
				      .content_type = "application/json"};

	/* The client may be silent as long as the answer takes. */
	MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
	ts_studio_watch_add(http->watch, &call);
	run_request(&requests[request], &call);
	ts_studio_watch_remove(http->watch, &call);
	MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, TIMEOUT_S);
	ts_call_end_reader(&call);
	if (call.layer)
		ts_studio_layers_put(&http->studio->layers, call.layer);
	return send_call(http, connection, &call);
}

/*
 * Finds a request by its address, "/api/NAME", and its method, or by its address alone if there is
 * no other. Returns their number if there is none.
 */
static size_t find_request(const char *url, bool is_post)
{
	size_t found = TS_ARRAY_LEN(requests);

	for (size_t i = 0; i < TS_ARRAY_LEN(requests); i++)
		if (!strncmp(url, "/api/", 5) && !strcmp(url + 5, requests[i].name) &&
		    (found == TS_ARRAY_LEN(requests) || requests[i].is_post == is_post))
			found = i;
	return found;
}

/* Answers a page, or refuses a request. Returns true with *ret_result if the request is over. */
static bool refuse(struct ts_studio_http *http, struct MHD_Connection *connection, const char *url,
		   const char *method, enum MHD_Result *ret_result)
{
	const struct ts_studio *studio = http->studio;
	bool is_api = !strncmp(url, "/api/", 5), is_get = !strcmp(method, "GET");
	size_t request = find_request(url, !is_get);

	if (!is_get && strcmp(method, "POST"))
		*ret_result = send_error(http, connection, 405, "only GET and POST are allowed");
	else if (!is_allowed_host(studio, connection))
		*ret_result = send_error(http, connection, 403, "this name is not of this server");
	else if (!is_api && !is_get)
		*ret_result = send_error(http, connection, 405, "pages are read by GET");
	else if (!is_api)
		*ret_result = send_file(http, connection, url);
	else if (is_cross_site(connection))
		*ret_result =
			send_error(http, connection, 403, "requests of other sites are refused");
	else if (!has_token(studio, connection))
		*ret_result =
			send_response(http, connection, 401, NULL,
				      MHD_create_response_from_buffer(0, NULL,
								      MHD_RESPMEM_PERSISTENT));
	else if (request == TS_ARRAY_LEN(requests))
		*ret_result = send_error(http, connection, 404, "there is no such request");
	else if (requests[request].is_post == is_get)
		*ret_result = send_error(http, connection, 405,
					 requests[request].is_post ? "this request is a POST"
								   : "this request is a GET");
	else
		return false;
	return true;
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *upload,
				  size_t *n_upload, void **request_data)
{
	struct ts_studio_http *http = data;
	struct state *state = *request_data;
	enum MHD_Result result;

	if (!state) {
		if (refuse(http, connection, url, method, &result))
			return result;
		*request_data = calloc(1, sizeof(*state));
		return *request_data ? MHD_YES : MHD_NO;
	}
	if (*n_upload) {
		if (*n_upload > MAX_BODY_BYTES - state->body.n_bytes)
			state->is_too_long = true;
		if (!state->is_too_long)
			ts_json_bytes(&state->body, upload, *n_upload);
		*n_upload = 0;
		return MHD_YES;
	}
	if (state->is_too_long)
		return send_error(http, connection, 413, "the body is longer than 1 MiB");
	if (state->body.error)
		return send_error(http, connection, 500, "no memory");
	return run_call(http, connection, find_request(url, strcmp(method, "GET") != 0), state);
}

static void on_completed(void *data, struct MHD_Connection *connection, void **request_data,
			 enum MHD_RequestTerminationCode code)
{
	struct state *state = *request_data;

	if (!state)
		return;
	ts_json_deinit(&state->body);
	free(state);
	*request_data = NULL;
}

static void count_connection(void *data, struct MHD_Connection *connection, void **connection_data,
			     enum MHD_ConnectionNotificationCode code)
{
	struct ts_studio_http *http = data;

	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		atomic_fetch_add_explicit(&http->n_connections, 1, memory_order_relaxed);
	else
		atomic_fetch_sub_explicit(&http->n_connections, 1, memory_order_relaxed);
}

/* libmicrohttpd prints nothing: clients' mistakes are no concern of the user. */
static void on_log(void *data, const char *format, va_list args)
{
}

/* Other users' connections end at once, so that they cannot use up MAX_CONNECTIONS. */
static enum MHD_Result on_connection(void *data, const struct sockaddr *peer, socklen_t n_bytes)
{
	const struct ts_studio_http *http = data;

	return ts_studio_is_own_peer(peer, n_bytes, http->studio->port) ? MHD_YES : MHD_NO;
}

int ts_studio_http_new(struct ts_studio *studio, int fd, struct ts_studio_http **ret_http)
{
	struct ts_studio_http *http = calloc(1, sizeof(*http));
	int r;

	if (!http) {
		close(fd);
		return -ENOMEM;
	}
	http->studio = studio;
	r = ts_studio_watch_new(studio, &http->watch);
	if (r) {
		close(fd);
		free(http);
		return r;
	}
	http->daemon = MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			MHD_USE_ERROR_LOG,
		0, on_connection, http, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, MAX_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		MEMORY_BYTES, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL,
		MHD_OPTION_NOTIFY_CONNECTION, count_connection, http, MHD_OPTION_END);
	if (!http->daemon) {
		close(fd);
		ts_studio_watch_free(http->watch);
		free(http);
		return -EIO;
	}
	*ret_http = http;
	return 0;
}

void ts_studio_http_free(struct ts_studio_http *http)
{
	if (!http)
		return;
	MHD_stop_daemon(http->daemon);
	ts_studio_watch_free(http->watch);
	free(http);
}
