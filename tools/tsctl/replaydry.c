/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl replay --on vgpu --mode dry-run`: which of the captured operations would be done, what of them the trace lacks, and how long
 * the program took over them.
 */
#include "tools/tsctl/replayexec.h"

#include "proto/abi/base.h"
#include "replay/state/map.h"
#include "tools/tsctl/out.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

struct tally {
	uint64_t counts[TS_OPERATION_COUNT];
	uint64_t n_before;
	uint64_t n_missing, n_unknown;
	uint64_t first_ns, last_ns;
};

/* Whether it needs a content that is not there. */
static bool lacks_content(const struct ts_row_operation *operation, size_t n_blobs)
{
	if (operation->content)
		return operation->content > n_blobs;
	return operation->kind == TS_OPERATION_COPY && operation->flags & TS_OPERATION_SRC_HOST;
}

static int count(struct replay *replay, struct tally *tally)
{
	const struct ts_exec_program *program = replay->program;
	size_t n_blobs = ts_sbt_reader_n_blobs(replay->source->reader, program->session);
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
		/* Those of no call have no time. */
		if (operation->start_ns && !tally->first_ns)
			tally->first_ns = operation->start_ns;
		if (operation->start_ns > tally->last_ns)
			tally->last_ns = operation->start_ns;
	}
	ts_state_map_deinit(&functions);
	return r;
}

static void print_plan(const Ts__Rpc__CapturePlan *message)
{
	char figure[TS_OUT_FIGURE_BYTES];

	ts_out_text(stdout, message->path);
	printf(": of session %u, %s operations would be done\n", message->session,
	       ts_out_count(figure, message->operations));
	printf("  %14s launches\n", ts_out_count(figure, message->launches));
	printf("  %14s copies\n", ts_out_count(figure, message->copies));
	printf("  %14s sets\n", ts_out_count(figure, message->fills));
	if (message->has_before)
		printf("  %14s others first, so that all is as it was\n",
		       ts_out_count(figure, message->before));
	printf("When captured they were called for within %s.\n",
	       ts_out_duration(figure, message->recorded_ns));
	if (message->missing_contents)
		printf("Missing: the contents of %s operations.\n",
		       ts_out_count(figure, message->missing_contents));
	if (message->unknown_functions)
		printf("Missing: where the functions of %s launches come from.\n",
		       ts_out_count(figure, message->unknown_functions));
	ts_replayexec_print_missing(message->n_unsupported, message->unsupported, message->ended,
				    message->cut);
}

int ts_replayexec_plan(struct replay *replay)
{
	const struct ts_exec_program *program = replay->program;
	struct tally tally = {0};
	Ts__Rpc__CapturePlan message;

	if (count(replay, &tally)) {
		ts_complain("out of memory");
		return TS_EXIT_BAD;
	}
	ts__rpc__capture_plan__init(&message);
	message.path = replay->source->path;
	TS_RPC_SET(&message, session, program->session);
	TS_RPC_SET(&message, operations, program->n_selected);
	TS_RPC_SET(&message, launches, tally.counts[TS_OPERATION_LAUNCH]);
	TS_RPC_SET(&message, copies, tally.counts[TS_OPERATION_COPY]);
	TS_RPC_SET(&message, fills, tally.counts[TS_OPERATION_FILL]);
	TS_RPC_SET(&message, blobs,
		   ts_sbt_reader_n_blobs(replay->source->reader, program->session));
	if (program->selected)
		TS_RPC_SET(&message, before, tally.n_before);
	TS_RPC_SET(&message, missing_contents, tally.n_missing);
	TS_RPC_SET(&message, unknown_functions, tally.n_unknown);
	TS_RPC_SET(&message, recorded_ns,
		   tally.last_ns > tally.first_ns ? tally.last_ns - tally.first_ns : 0);
	message.n_unsupported = ts_replayexec_unsupported(replay, &message.unsupported);
	message.ended = ts_replayexec_why_ended(replay);
	if (program->cut)
		TS_RPC_SET(&message, cut, true);
	if (replay->asked->json)
		return ts_json_print(&message.base);
	print_plan(&message);
	return ts_finish_output(TS_EXIT_OK);
}
