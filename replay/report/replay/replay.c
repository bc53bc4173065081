/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dispatches replay requests: selects the sessions and the kind of answer. query.c calls this file;
 * this file calls execjson.c, dryjson.c, emulatejson.c and planjson.c. asking.c has the code that
 * they share.
 */
#include "replay/report/replay/replay.h"

#include "proto/abi/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_LISTED 1000000u

static void replay_deinit(struct ts_replay *replay)
{
	ts_check_free(replay->check);
	ts_exec_explored_deinit(&replay->explored);
	ts_exec_results_deinit(&replay->results);
	ts_exec_program_free(replay->program);
	ts_resolver_free(replay->resolver);
	ts_state_map_deinit(&replay->functions);
	ts_pool_deinit(&replay->pool);
}

/*
 * Replays one session. Returns TS_EXEC_E_NOT_CAPTURED if the session has no capture, or 1 after it
 * reported an error in an answer.
 */
static int exec_session(struct ts_replay *replay, uint32_t session)
{
	char *why;
	int r = ts_exec_program_new(replay->reader, session, &replay->program);

	if (r == TS_EXEC_E_NOT_CAPTURED)
		return r;
	replay->now.session = session;
	/* A capture that ended before its first operation has only the reason. */
	if (!r && replay->program->n == 1 && replay->program->ended)
		return ts_replay_complain(replay, true, "%s: session %u: nothing was captured: %s",
					  replay->path, session,
					  ts_replay_why_ended(replay) ?: "unknown reason")
			       ?: 1;
	r = r ?: ts_replay_select(replay->asked, replay->program);
	if (!r)
		r = replay->asked->dry_run ? ts_replay_exec_plan(replay) : ts_replay_exec(replay);
	why = ts_replay_why(&replay->pool, replay->path, session, r,
			    *replay->first.text ? replay->first.text : replay->last.text);
	return why ? ts_replay_complain(replay, true, "%s", why) ?: 1 : r;
}

static int complain_not_captured(struct ts_replay *replay)
{
	return ts_replay_complain(
		replay, true,
		"%s: the trace has no capture to replay; record one with `tsctl record "
		"--capture replay` (`tsctl cut`, `dump` and `merge` leave the capture out)",
		replay->path);
}

static int exec_sessions(struct ts_replay *replay)
{
	struct ts_sbt_reader *reader = replay->reader;
	const struct ts_replay begin = *replay;
	bool any = false;
	int r = 0;

	for (size_t i = 0; !r && i < ts_sbt_reader_n_sessions(reader); i++) {
		uint32_t session = ts_sbt_reader_session_at(reader, i)->session;
		bool is_said;

		if (replay->in_file && session != replay->in_file)
			continue;
		r = exec_session(replay, session);
		any |= r != TS_EXEC_E_NOT_CAPTURED;
		r = r == TS_EXEC_E_NOT_CAPTURED ? 0 : r;
		is_said = replay->is_said;
		replay_deinit(replay);
		*replay = begin;
		replay->is_said = is_said;
		if (ts_replay_is_interrupted(replay))
			break;
	}
	if (!any && !r)
		return complain_not_captured(replay);
	return r == 1 ? 0 : r;
}

/* True for requests that no option of tsctl can produce. */
static bool is_odd(const Ts__Rpc__Query__Replay *asked)
{
	if (asked->n_decisions > TS_EXEC_MAX_DECISIONS || asked->limit > MAX_LISTED)
		return true;
	/*
	 * Check points of schedules lie at other operations than those of repeated replays, so one
	 * request with compare_every cannot have both.
	 */
	if (asked->schedules && asked->repeat && asked->compare_every)
		return true;
	for (size_t i = 0; i < asked->n_decisions; i++)
		if (asked->decisions[i]->last < asked->decisions[i]->first ||
		    (i && asked->decisions[i]->first <= asked->decisions[i - 1]->last))
			return true;
	return asked->first_op > (asked->has_last_op ? asked->last_op : UINT64_MAX);
}

static int dispatch(struct ts_replay *replay, const char *name)
{
	if (is_odd(replay->asked))
		return TS_QUERY_E_UNKNOWN;
	if (!strcmp(name, "emulate"))
		return replay->asked->dry_run ? ts_replay_plan(replay) : ts_replay_emulate(replay);
	replay->executor = ts_replay_executor(name);
	if (!replay->executor && replay->options->device &&
	    !strcmp(replay->options->device->name, name))
		replay->executor = replay->options->device;
	if (replay->executor)
		return exec_sessions(replay);
	return ts_replay_complain(replay, true,
				  "--on %s: not available here; use `--on emulate` "
				  "or `--on vgpu`",
				  name);
}

int ts_replay_query(struct ts_sbt_reader *reader, uint32_t session, const Ts__Rpc__Query *query,
		    const struct ts_query_options *options, struct ts_query_end *end)
{
	const Ts__Rpc__Query__Replay *asked = query->replay;
	struct ts_replay replay = {
		.asked = asked,
		.reader = reader,
		.path = query->path ? query->path : "",
		.in_file = session,
		.limit = asked->has_limit ? asked->limit : TS_REPLAY_DEFAULT_LISTED,
		.options = options,
		.end = end,
		.pool = {.no_memory = options->no_memory},
	};
	int r = dispatch(&replay, asked->executor ? asked->executor : "emulate");

	if (r == -ECANCELED)
		r = ts_replay_complain(&replay, true, "interrupted");
	replay_deinit(&replay);
	return r;
}
