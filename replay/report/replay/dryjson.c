/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dry run of a capture: lists the captured operations that a replay would run, counts the contents
 * that the trace lacks, and sums the recorded time. It is the counterpart of execjson.c for --mode
 * dry-run; replay.c calls this file.
 */
#include "proto/abi/base.h"
#include "replay/report/replay/replay.h"
#include "replay/state/state-map.h"

struct tally {
	uint64_t counts[TS_OPERATION_COUNT];
	uint64_t n_before;
	uint64_t n_missing, n_unknown;
	uint64_t first_ns, last_ns;
};

/* True if the operation needs a content that the trace does not have. */
static bool lacks_content(const struct ts_row_operation *operation, size_t n_blobs)
{
	if (operation->content)
		return operation->content > n_blobs;
	return operation->kind == TS_OPERATION_COPY && operation->flags & TS_OPERATION_SRC_HOST;
}

static int count(struct ts_replay *replay, struct tally *tally)
{
	const struct ts_exec_program *program = replay->program;
	size_t n_blobs = ts_sbt_reader_n_blobs(replay->reader, program->session);
	struct ts_state_map functions = {0};
	int r = 0;

	for (size_t i = 0; !r && i < program->end; i++) {
		const struct ts_row_operation *operation = &program->operations[i];

		if (operation->kind == TS_OPERATION_FUNCTION)
			r = ts_state_map_set(&functions, 0, operation->object, 0);
		tally->n_missing += lacks_content(operation, n_blobs);
		tally->n_unknown +=
			operation->kind == TS_OPERATION_LAUNCH &&
			ts_state_map_find(&functions, 0, operation->object) == TS_STATE_MAP_NONE;
		if (!ts_exec_program_counts(program, i)) {
			tally->n_before++;
			continue;
		}
		if (operation->kind < TS_OPERATION_COUNT)
			tally->counts[operation->kind]++;
		/* Operations without a call have no time. */
		if (operation->start_ns && !tally->first_ns)
			tally->first_ns = operation->start_ns;
		if (operation->start_ns > tally->last_ns)
			tally->last_ns = operation->start_ns;
	}
	ts_state_map_deinit(&functions);
	return r;
}

int ts_replay_exec_plan(struct ts_replay *replay)
{
	const struct ts_exec_program *program = replay->program;
	struct tally tally = {0};
	Ts__Rpc__ReplayAnswer answer = TS__RPC__REPLAY_ANSWER__INIT;
	Ts__Rpc__CapturePlan message = TS__RPC__CAPTURE_PLAN__INIT;
	int r = count(replay, &tally);

	if (r)
		return r;
	message.path = (char *)(uintptr_t)replay->path;
	TS_RPC_SET(&message, session, program->session);
	TS_RPC_SET(&message, operations, program->n_selected);
	TS_RPC_SET(&message, launches, tally.counts[TS_OPERATION_LAUNCH]);
	TS_RPC_SET(&message, copies, tally.counts[TS_OPERATION_COPY]);
	TS_RPC_SET(&message, fills, tally.counts[TS_OPERATION_FILL]);
	TS_RPC_SET(&message, blobs, ts_sbt_reader_n_blobs(replay->reader, program->session));
	if (program->selected)
		TS_RPC_SET(&message, before, tally.n_before);
	TS_RPC_SET(&message, missing_contents, tally.n_missing);
	TS_RPC_SET(&message, unknown_functions, tally.n_unknown);
	TS_RPC_SET(&message, recorded_ns,
		   tally.last_ns > tally.first_ns ? tally.last_ns - tally.first_ns : 0);
	message.n_unsupported = ts_replay_unsupported(replay, &message.unsupported);
	message.ended = ts_replay_why_ended(replay);
	if (program->cut)
		TS_RPC_SET(&message, cut, true);
	answer.capture_plan = &message;
	return ts_replay_give(replay, &answer);
}
