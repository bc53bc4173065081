/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks queries about a trace, in this process or through the daemon: see ask.h. The commands info,
 * analyze, gaps, state, view, graph, timeline, memory and replay call this file; replay/report
 * answers.
 */
#include "tools/tsctl/trace/ask.h"

#include "proto/rpc/json.h"
#include "replay/report/query-lines.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <fcntl.h>

struct answering {
	struct ts_asking *asking;
	struct ts_source *source; /* shows its progress; NULL: no progress */
	struct ts_about about;
	int status;
};

/* Differs from each errno and each error of the reader. The error is printed already. */
#define E_REPORTED INT32_MIN

Ts__Rpc__Moment *ts_ask_moment(const struct ts_time *time, Ts__Rpc__Moment *ret_moment)
{
	ts__rpc__moment__init(ret_moment);
	TS_RPC_SET(ret_moment, ns, time->ns);
	TS_RPC_SET(ret_moment, from_start, !time->is_absolute);
	return ret_moment;
}

static int deliver(const struct ts_asking *asking, const struct ts_about *about,
		   const ProtobufCMessage *body)
{
	if (!asking->print)
		return asking->take(asking->data, about, body);
	if (asking->json)
		return ts_json_print(body);
	asking->print(asking->data, about, body);
	return ts_finish_output(TS_EXIT_OK);
}

static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	struct answering *answering = data;

	/* The answer begins: draw no progress between its lines. */
	if (answering->source)
		ts_source_unwatch(answering->source);
	answering->status = deliver(answering->asking, &answering->about, body);
	return answering->status ? E_REPORTED : 0;
}

/* The caller's thread gives the first lines, so only this thread changes the reader. */
static int give_lines(void *data, const char *lines, size_t n_bytes)
{
	struct answering *answering = data;
	const struct ts_asking *asking = answering->asking;

	if (answering->source)
		ts_source_unwatch(ts_take_ptr(answering->source));
	answering->status = asking->take_lines(asking->data, lines, n_bytes);
	return answering->status ? E_REPORTED : 0;
}

static void complain(const char *path, int r, const struct ts_sbt_error *error)
{
	char why[TS_QUERY_WHY_BYTES];

	if (r == TS_QUERY_E_WINDOW) {
		ts_complain("--to is before --from");
	} else if (r < TS_QUERY_E_WINDOW) {
		ts_source_complain(path, r, error);
	} else {
		ts_query_why(path, r, error, why);
		ts_complain("%s", why);
	}
}

static int ask_here(struct ts_asking *asking, Ts__Rpc__Query *query)
{
	ts_cleanup(ts_source_deinit) struct ts_source source = {0};
	struct answering answering = {.asking = asking};
	struct ts_query_options options = {.give = give,
					   .data = &answering,
					   .no_memory = ts_no_memory,
					   .cancel = asking->cancel,
					   .progress = asking->progress,
					   .n_threads = asking->n_threads,
					   .device = asking->device};
	struct ts_query_end end;
	int r;

	if (ts_source_open(&source, asking->session ? NULL : asking->file, asking->session))
		return TS_EXIT_BAD;
	query->path = (char *)(uintptr_t)source.path;
	answering.about = (struct ts_about){
		.path = source.path,
		.origin_ns = ts_sbt_reader_origin_ns(source.reader),
		.many_sessions = ts_sbt_reader_n_sessions(source.reader) > 1 && !source.session,
		.session = source.session,
		.reader = source.reader,
	};
	/* A replay draws its own progress. */
	if (!asking->progress) {
		answering.source = &source;
		ts_source_watch(&source);
	}
	r = ts_query_lines(source.reader, source.session, query, &options,
			   asking->take_lines ? give_lines : NULL, &end);
	if (answering.source)
		ts_source_unwatch(&source);
	if (r == E_REPORTED)
		return answering.status;
	if (r) {
		complain(source.path, r, ts_sbt_reader_error(source.reader));
		return TS_EXIT_BAD;
	}
	if (end.has_bad_checkpoints)
		ts_complain("the checkpoints of %s are damaged; the whole file was read instead",
			    source.path);
	if (!end.is_damaged)
		return TS_EXIT_OK;
	asking->is_damaged = true;
	if (ts_finish_output(TS_EXIT_OK))
		return TS_EXIT_BAD;
	ts_source_complain(source.path, TS_SBT_E_CORRUPT, &end.damage);
	return TS_EXIT_BAD;
}

/* ---- the daemon ------------------------------------------------------------------------------ */

static int take(void *data, const Ts__Rpc__Answer *answer, const Ts__Rpc__QueryEnd *end)
{
	struct answering *answering = data;

	answering->about = (struct ts_about){.path = ""};
	if (end)
		answering->about = (struct ts_about){
			.path = end->path ? end->path : "",
			.origin_ns = end->origin_ns,
			.many_sessions = end->sessions > 1 && !end->session,
		};
	/*
	 * All members of the union are pointers to messages. The client has checked that the answer
	 * has the expected member.
	 */
	answering->status = deliver(answering->asking, &answering->about, &answer->state->base);
	return answering->status ? E_REPORTED : 0;
}

static int report_end(struct ts_asking *asking, const Ts__Rpc__QueryEnd *end)
{
	struct ts_sbt_error damage = {.off = end->damaged_at};
	const char *path = end->path ? end->path : "the trace";

	if (end->bad_checkpoints)
		ts_complain("the checkpoints of %s are damaged; the whole file was read instead",
			    path);
	if (!end->damaged)
		return TS_EXIT_OK;
	asking->is_damaged = true;
	if (ts_finish_output(TS_EXIT_OK))
		return TS_EXIT_BAD;
	snprintf(damage.text, sizeof(damage.text), "%s", end->damage ? end->damage : "");
	ts_source_complain(path, TS_SBT_E_CORRUPT, &damage);
	return TS_EXIT_BAD;
}

static int ask_daemon(struct ts_asking *asking, const struct ts_live_daemon *daemon,
		      const Ts__Rpc__Query *query, const int *fds, unsigned n_fds)
{
	struct answering answering = {.asking = asking};
	struct ts_client_question question = {.query = query,
					      .fds = fds,
					      .n_fds = n_fds,
					      .join = asking->is_one,
					      .take = take,
					      .cancel = asking->cancel,
					      .data = &answering};
	Ts__Rpc__Answer *end;
	int status, r = ts_client_query(daemon->client, &question, &end);

	if (r == E_REPORTED)
		return answering.status;
	if (r) {
		ts_complain("the daemon at %s: %s", daemon->path, ts_client_error(daemon->client));
		return TS_EXIT_BAD;
	}
	status = answering.status ? answering.status : report_end(asking, end->query_end);
	ts__rpc__answer__free_unpacked(end, NULL);
	return status;
}

static int ask_of_file(struct ts_asking *asking, const struct ts_live *live, Ts__Rpc__Query *query)
{
	int fds[TS_CLIENT_MAX_FILES], status;
	unsigned n_fds;

	if (!live->n_daemons) {
		ts_complain("no daemon listens at %s; without --served tsctl reads the file itself",
			    ts_client_default_path());
		return TS_EXIT_BAD;
	}
	if (ts_source_open_files(asking->file, fds, TS_CLIENT_MAX_FILES, &n_fds))
		return TS_EXIT_BAD;
	query->path = (char *)(uintptr_t)asking->file;
	status = ask_daemon(asking, &live->daemons[0], query, fds, n_fds);
	for (unsigned i = 0; i < n_fds; i++)
		close(fds[i]);
	return status;
}

static int ask_of_session(struct ts_asking *asking, const struct ts_live *live,
			  Ts__Rpc__Query *query)
{
	const struct ts_live_daemon *daemon;
	unsigned long long number;
	uint32_t session;

	if (ts_parse_number(asking->session, 1, UINT32_MAX, &number)) {
		ts_complain(
			"--session %s: expected a session's number or a pid; `tsctl sessions` lists both",
			asking->session);
		return TS_EXIT_BAD;
	}
	daemon = ts_source_find_session(live, (uint32_t)number, &session);
	if (!daemon) {
		ts_source_complain_nobody((uint32_t)number);
		return TS_EXIT_BAD;
	}
	/*
	 * A session that has ended is not in its daemon's list. The query then names it by the pid.
	 */
	if (session)
		TS_RPC_SET(query, session, session);
	else
		TS_RPC_SET(query, pid, (uint32_t)number);
	return ask_daemon(asking, daemon, query, NULL, 0);
}

static int ask_served(struct ts_asking *asking, Ts__Rpc__Query *query)
{
	ts_cleanup(ts_live_freep) struct ts_live *live = NULL;
	int r = ts_live_new(&live);

	if (!r && asking->session)
		r = ts_live_list(live);
	if (r) {
		ts_complain("%s", strerror(-r));
		return TS_EXIT_BAD;
	}
	return asking->session ? ask_of_session(asking, live, query)
			       : ask_of_file(asking, live, query);
}

int ts_ask(struct ts_asking *asking, Ts__Rpc__Query *query)
{
	return asking->served ? ask_served(asking, query) : ask_here(asking, query);
}
