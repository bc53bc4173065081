/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code shared by all answers to replay requests: executors by name, the selected part of a program,
 * progress, error messages. replay.c, execjson.c, dryjson.c, emulatejson.c and planjson.c call this
 * file.
 */
#include "replay/report/replay/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES 1024u

/* Executors by the name that a request uses. */
static const struct ts_executor *const executors[] = {&ts_exec_vgpu};

const struct ts_executor *ts_replay_executor(const char *name)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(executors); i++)
		if (!strcmp(executors[i]->name, name))
			return executors[i];
	return NULL;
}

int ts_replay_give(struct ts_replay *replay, Ts__Rpc__ReplayAnswer *answer)
{
	ts_replay_progress_pause(replay->options->progress);
	return replay->options->give(replay->options->data, TS__RPC__ANSWER__BODY_REPLAY,
				     &answer->base);
}

int ts_replay_complain(struct ts_replay *replay, bool failed, const char *format, ...)
{
	Ts__Rpc__ReplayAnswer answer = TS__RPC__REPLAY_ANSWER__INIT;
	char text[TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	answer.complaint = text;
	if (failed)
		TS_RPC_SET(&answer, failed, true);
	return ts_replay_give(replay, &answer);
}

bool ts_replay_is_interrupted(const struct ts_replay *replay)
{
	const volatile int *cancel = replay->options->cancel;

	return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED);
}

int ts_replay_step(void *data, uint64_t done, uint64_t all)
{
	struct ts_replay *replay = data;

	replay->now.done = done;
	replay->now.all = all;
	ts_replay_progress_note(replay->options->progress, &replay->now);
	return ts_replay_is_interrupted(replay) ? -ECANCELED : 0;
}

uint64_t ts_replay_from_ns(const struct ts_replay *replay)
{
	return ts_query_ns(replay->reader, replay->asked->from);
}

uint64_t ts_replay_to_ns(const struct ts_replay *replay)
{
	return ts_query_ns(replay->reader, replay->asked->to);
}

int ts_replay_select(const Ts__Rpc__Query__Replay *asked, struct ts_exec_program *program)
{
	const struct ts_exec_query query = {
		.has_ops = asked->has_first_op || asked->has_last_op,
		.has_stream = asked->has_stream,
		.has_from = asked->from,
		.has_to = asked->to,
		.first_op = asked->first_op,
		.last_op = asked->has_last_op ? asked->last_op : UINT64_MAX,
		.stream = asked->stream,
		.from_ns = asked->from ? ts_query_ns(program->reader, asked->from) : 0,
		.to_ns = asked->to ? ts_query_ns(program->reader, asked->to) : 0,
	};

	if (!query.has_ops && !query.has_stream && !query.has_from && !query.has_to)
		return 0;
	return ts_exec_program_select(program, &query);
}

char *ts_replay_why(struct ts_pool *pool, const char *path, uint32_t session, int r,
		    const char *refused)
{
	if (r == TS_EXEC_E_REFUSED)
		return ts_pool_copy(pool, refused);
	if (r == TS_EXEC_E_NOTHING)
		return ts_pool_printf(pool, "%s: session %u: no captured operation is selected",
				      path, session);
	if (r == TS_EXEC_E_TOO_MANY)
		return ts_pool_printf(pool,
				      "%s: session %u: more than %u captured operations, which is "
				      "the limit; capture a part of the program with `tsctl record "
				      "--capture window`",
				      path, session, TS_EXEC_MAX_OPERATIONS);
	return r == -ECANCELED ? ts_pool_copy(pool, "interrupted") : NULL;
}

bool ts_replay_is_empty(const struct ts_replay *replay, uint64_t n_calls, uint64_t n_operations)
{
	const Ts__Rpc__Query__Replay *asked = replay->asked;

	if (n_operations)
		return false;
	/*
	 * If the request selects a stream, calls without operations do not count as selected,
	 * because they only wait.
	 */
	return asked->has_stream || (!n_calls && (asked->has_first_op || asked->has_last_op ||
						  asked->from || asked->to));
}
