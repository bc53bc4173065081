/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds daemons and lists their sessions: see live.h. Commands on live sessions and completion call
 * this file. The socket of a recording lies in a directory that only its user can enter, so a user
 * who can find it may use it. The socket of a dead daemon refuses connections.
 */
#include "tools/tsctl/machine/live.h"

#include "proto/abi/clock.h"
#include "proto/abi/grow.h"
#include "proto/client/places.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/table.h"
#include "tools/tsctl/tsctl.h"

#include <glob.h>
#include <libgen.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

/* If a socket refuses connections and is older than this, its daemon was killed. */
#define STALE_S 60

/*
 * Connects to the daemon at `path` and adds it to the list. Returns 0, -ENOMEM, or NOBODY if no
 * daemon listens.
 */
#define NOBODY 1
static int add_daemon(struct ts_live *live, const char *path, bool is_recording)
{
	struct ts_live_daemon *daemon;
	struct ts_client *client = NULL;
	int r = ts_client_connect(path, &client);

	if (r == -ENOENT || r == -ECONNREFUSED)
		return NOBODY;
	if (r) {
		ts_complain("cannot connect to the daemon at %s: %s", path, strerror(-r));
		return 0;
	}
	if (!TS_GROW(live->daemons, live->n_daemons_allocated, live->n_daemons + 1)) {
		daemon = &live->daemons[live->n_daemons];
		*daemon = (struct ts_live_daemon){strdup(path), client, is_recording, NULL};
		if (daemon->path) {
			live->n_daemons++;
			return 0;
		}
	}
	ts_client_free(client);
	return -ENOMEM;
}

/* Adds the sockets of the caller's own recordings under this directory. */
static int add_recordings(struct ts_live *live, const char *parent)
{
	char pattern[TS_PLACES_BYTES + sizeof("/" TS_PLACES_PREFIX "*/" TS_PLACES_CONTROL)];
	glob_t found = {0};
	int r = 0;

	snprintf(pattern, sizeof(pattern), "%.*s/" TS_PLACES_PREFIX "*/" TS_PLACES_CONTROL,
		 (int)TS_PLACES_BYTES - 1, parent);
	if (!glob(pattern, 0, NULL, &found)) {
		for (size_t i = 0; !r && i < found.gl_pathc; i++) {
			struct stat status;

			/*
			 * Skips other users' sockets, because they would receive tsctl's requests.
			 */
			if (lstat(found.gl_pathv[i], &status) || !S_ISSOCK(status.st_mode) ||
			    status.st_uid != geteuid())
				continue;
			r = add_daemon(live, found.gl_pathv[i], true);
			if (r == NOBODY) {
				/* A starting daemon listens at once. */
				if (time(NULL) - status.st_mtime > STALE_S)
					ts_places_remove(dirname(found.gl_pathv[i]));
				r = 0;
			}
		}
	}
	globfree(&found);
	return r;
}

int ts_live_new(struct ts_live **ret_live)
{
	const char *given = secure_getenv(TS_CONTROL_ENVIRONMENT);
	char parents[TS_PLACES_N_PARENTS][TS_PLACES_BYTES];
	ts_cleanup(ts_live_freep) struct ts_live *live = calloc(1, sizeof(*live));
	int r;

	if (!live)
		return -ENOMEM;
	r = add_daemon(live, ts_client_default_path(), false);
	r = r == NOBODY ? 0 : r;
	if (!r && !(given && *given)) {
		size_t n_parents = ts_places_parents(parents);

		for (size_t i = 0; !r && i < n_parents; i++)
			r = add_recordings(live, parents[i]);
	}
	if (r)
		return r;
	*ret_live = ts_take_ptr(live);
	return 0;
}

static void free_daemon(struct ts_live_daemon *daemon)
{
	if (daemon->answer)
		ts__rpc__answer__free_unpacked(daemon->answer, NULL);
	ts_client_free(daemon->client);
	free(daemon->path);
}

void ts_live_free(struct ts_live *live)
{
	if (!live)
		return;
	for (size_t i = 0; i < live->n_daemons; i++)
		free_daemon(&live->daemons[i]);
	free(live->daemons);
	free(live->sessions);
	free(live);
}

static int list_daemon(struct ts_live_daemon *daemon)
{
	int r;

	if (daemon->answer)
		ts__rpc__answer__free_unpacked(daemon->answer, NULL);
	daemon->answer = NULL;
	r = ts_client_list_sessions(daemon->client, &daemon->answer);
	if (!r && daemon->answer->body_case != TS__RPC__ANSWER__BODY_SESSION_LIST)
		r = -EPROTO;
	return r;
}

int ts_live_list(struct ts_live *live)
{
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < live->n_daemons; i++) {
		if (list_daemon(&live->daemons[i])) {
			free_daemon(&live->daemons[i]);
			continue;
		}
		n += live->daemons[i].answer->session_list->n_sessions;
		live->daemons[kept++] = live->daemons[i];
	}
	live->n_daemons = kept;
	free(live->sessions);
	live->n_sessions = 0;
	live->sessions = calloc(n + 1, sizeof(*live->sessions));
	if (!live->sessions)
		return -ENOMEM;
	for (size_t i = 0; i < live->n_daemons; i++) {
		const Ts__Rpc__SessionList *list = live->daemons[i].answer->session_list;

		for (size_t j = 0; j < list->n_sessions; j++) {
			Ts__Rpc__LiveSession *session = list->sessions[j];

			/*
			 * Use the path by which tsctl connected. A daemon's own statement is not
			 * trusted.
			 */
			free(session->control);
			session->control = strdup(live->daemons[i].path);
			live->sessions[live->n_sessions++] = session;
		}
	}
	return 0;
}

const char *ts_live_state(const Ts__Rpc__LiveSession *session)
{
	if (session->host_half_only)
		return session->paused ? "observed, paused" : "observed";
	if (session->paused && session->state && !strcmp(session->state, "yielded"))
		return "yielded, paused";
	return session->state ? session->state : "";
}

const char *ts_live_capture(const Ts__Rpc__LiveCapture *capture, uint64_t start_ns, char *text,
			    size_t n_text_bytes)
{
	uint64_t now = ts_clock_monotonic_ns();
	char bytes[TS_OUT_FIGURE_BYTES], most[TS_OUT_FIGURE_BYTES];
	const char *state = capture->state ? capture->state : "?";
	bool is_window = !strcmp(state, "open") || !strcmp(state, "closed");
	int n = snprintf(text, n_text_bytes,
			 "%s%.8s, %s%s%s captured, %.2f %% of the session's length",
			 is_window ? "window " : "capture: ", state,
			 ts_out_bytes(bytes, capture->bytes), capture->max_bytes ? " of " : "",
			 capture->max_bytes ? ts_out_bytes(most, capture->max_bytes) : "",
			 now > start_ns ? 100.0 * (double)capture->ns / (double)(now - start_ns)
					: 0.0);

	if (capture->ended && n > 0 && (size_t)n < n_text_bytes)
		snprintf(text + n, n_text_bytes - (size_t)n, ": %.64s", capture->ended);
	return text;
}

void ts_live_print(size_t n_sessions, Ts__Rpc__LiveSession *const *sessions)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char rows[TS_OUT_FIGURE_BYTES], bytes[TS_OUT_FIGURE_BYTES], age[TS_OUT_FIGURE_BYTES];
	char capture[TS_LIVE_CAPTURE_BYTES];
	uint64_t now = ts_clock_monotonic_ns();

	if (ts_table_new("rrlrrll", &table))
		return;
	ts_table_addf(table, "SESSION");
	ts_table_addf(table, "PID");
	ts_table_addf(table, "STATE");
	ts_table_addf(table, "AGE");
	ts_table_addf(table, "ROWS");
	ts_table_addf(table, "PROGRAM");
	ts_table_addf(table, "FILE");
	for (size_t i = 0; i < n_sessions; i++) {
		const Ts__Rpc__LiveSession *session = sessions[i];

		ts_table_addf(table, "%u", session->session);
		ts_table_addf(table, "%u", session->pid);
		ts_table_addf(table, "%s", ts_live_state(session));
		ts_table_addf(table, "%s",
			      ts_out_duration(age, now > session->start_monotonic_ns
							   ? now - session->start_monotonic_ns
							   : 0));
		ts_table_addf(table, "%s", ts_out_count(rows, session->rows));
		ts_table_addf(table, "%s", session->program ? session->program : "");
		if (session->capture)
			ts_live_capture(session->capture, session->start_monotonic_ns, capture,
					sizeof(capture));
		ts_table_addf(table, "%s (%s%s)%s%s", session->path ? session->path : "",
			      ts_out_bytes(bytes, session->file_bytes),
			      session->removed ? ", REMOVED while it is written" : "",
			      session->capture ? "; " : "", session->capture ? capture : "");
	}
	ts_table_print(table, stdout, 0, false);
}

int ts_live_parse_pids(const struct ts_operands *operands, uint32_t **ret_pids, size_t *ret_n)
{
	ts_cleanup(ts_freep) void *memory = calloc(operands->n + 1, sizeof(**ret_pids));
	uint32_t *pids = memory;

	if (!pids)
		return -ENOMEM;
	for (size_t i = 0; i < operands->n; i++) {
		unsigned long long pid;

		if (ts_parse_number(operands->words[i], 1, INT32_MAX, &pid)) {
			ts_complain("`%s` is not a process id; `tsctl sessions` lists the "
				    "recorded processes",
				    operands->words[i]);
			return -EINVAL;
		}
		pids[i] = (uint32_t)pid;
	}
	*ret_n = operands->n;
	*ret_pids = ts_take_ptr(memory);
	return 0;
}
