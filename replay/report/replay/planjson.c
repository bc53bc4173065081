/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dry run of an emulation: counts the operations that a replay would run, the parts that the trace
 * lacks, and the recorded time. The answer is the same for every executor that needs only the
 * trace. replay.c calls this file.
 */
#include "proto/abi/base.h"
#include "replay/report/replay/replay.h"
#include "replay/state/state-machine.h"

struct plan {
	struct ts_replay *replay;
	uint64_t n_kernels, n_copies, n_sets, n_calls;
	uint64_t n_selected_calls;
	uint64_t n_without_call, n_without_device, n_unsure;
	uint64_t bytes, busy_ns;
	uint64_t start_ns, end_ns;
	bool is_damaged;
};

/* True if the request selects the call. `time_ns` is the start of the call. */
static bool selects_call(const struct plan *plan, uint64_t op_id, uint64_t time_ns)
{
	const Ts__Rpc__Query__Replay *asked = plan->replay->asked;

	if (asked->has_first_op && op_id < asked->first_op)
		return false;
	if (asked->has_last_op && op_id > asked->last_op)
		return false;
	if (asked->from && time_ns < ts_replay_from_ns(plan->replay))
		return false;
	return !asked->to || time_ns <= ts_replay_to_ns(plan->replay);
}

static bool selects(const struct plan *plan, const struct ts_state_op *op, uint64_t time_ns)
{
	const Ts__Rpc__Query__Replay *asked = plan->replay->asked;

	return (!asked->has_stream || op->stream == asked->stream) &&
	       selects_call(plan, op->op_id, time_ns);
}

static void take_op(struct plan *plan, const struct ts_state_op *op)
{
	if (op->type == TS_ROW_API) {
		plan->n_without_device++;
		return;
	}
	plan->n_kernels += op->type == TS_ROW_KERNEL;
	plan->n_copies += op->type == TS_ROW_MEMCPY;
	plan->n_sets += op->type == TS_ROW_MEMSET;
	plan->n_without_call += (op->unsure & TS_STATE_UNSURE_CALL) != 0;
	plan->n_unsure += (op->unsure & ~(uint32_t)TS_STATE_UNSURE_CALL) != 0;
	if (op->type == TS_ROW_MEMCPY)
		plan->bytes += op->row.memcpy_.bytes;
	if (op->end_ns > op->start_ns)
		plan->busy_ns += op->end_ns - op->start_ns;
	if (!plan->start_ns || op->start_ns < plan->start_ns)
		plan->start_ns = op->start_ns;
	if (op->end_ns > plan->end_ns)
		plan->end_ns = op->end_ns;
}

static uint64_t call_start_ns(const struct ts_state_op *op)
{
	return op->unsure & TS_STATE_UNSURE_CALL ? op->start_ns : op->call_ns;
}

static int read_plan(struct plan *plan, struct ts_sbt_reader *reader, uint32_t session)
{
	const struct ts_sbt_cursor_options options = {.types = TS_STATE_MACHINE_ROWS,
						      .session = session};
	ts_cleanup(ts_state_machine_freep) struct ts_state_machine *machine = NULL;
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	struct ts_state_op op;
	uint64_t n = 0;
	int r = ts_state_machine_new(&machine);

	if (!r)
		r = ts_state_machine_prepare(machine, reader, session);
	if (!r)
		r = ts_sbt_cursor_new(reader, &options, &cursor);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			plan->is_damaged = true;
			r = 0;
			continue;
		}
		if (!r && ++n % TS_REPLAY_STEP_ROWS == 0)
			r = ts_replay_step(plan->replay, n, 0);
		if (r)
			break;
		if (row.type == TS_ROW_API) {
			plan->n_calls++;
			plan->n_selected_calls +=
				selects_call(plan, row.api->op_id, row.api->start_ns);
		}
		r = ts_state_machine_feed(machine, &row, &op);
		if (r == 1) {
			if (selects(plan, &op, call_start_ns(&op)))
				take_op(plan, &op);
			r = 0;
		}
	}
	while (r == TS_SBT_E_END && ts_state_machine_unanswered(machine, &op))
		if (selects(plan, &op, call_start_ns(&op)))
			take_op(plan, &op);
	return r == TS_SBT_E_END ? 0 : r;
}

int ts_replay_plan(struct ts_replay *replay)
{
	struct plan plan = {.replay = replay};
	Ts__Rpc__ReplayAnswer answer = TS__RPC__REPLAY_ANSWER__INIT;
	Ts__Rpc__ReplayPlan message = TS__RPC__REPLAY_PLAN__INIT;
	int r;

	replay->now.doing = "reading";
	r = read_plan(&plan, replay->reader, replay->in_file);
	if (r)
		return r;
	if (ts_replay_is_empty(replay, plan.n_selected_calls,
			       plan.n_kernels + plan.n_copies + plan.n_sets +
				       plan.n_without_device))
		return ts_replay_complain(replay, true, "%s: no operation is selected",
					  replay->path);
	message.path = (char *)(uintptr_t)replay->path;
	TS_RPC_SET(&message, calls, plan.n_calls);
	TS_RPC_SET(&message, kernels, plan.n_kernels);
	TS_RPC_SET(&message, copies, plan.n_copies);
	TS_RPC_SET(&message, sets, plan.n_sets);
	TS_RPC_SET(&message, copied_bytes, plan.bytes);
	TS_RPC_SET(&message, recorded_ns, plan.end_ns - plan.start_ns);
	TS_RPC_SET(&message, busy_ns, plan.busy_ns);
	TS_RPC_SET(&message, without_call, plan.n_without_call);
	TS_RPC_SET(&message, without_device, plan.n_without_device);
	TS_RPC_SET(&message, unsure, plan.n_unsure);
	TS_RPC_SET(&message, damaged, plan.is_damaged);
	if (plan.is_damaged) {
		replay->end->is_damaged = true;
		replay->end->damage = *ts_sbt_reader_error(replay->reader);
	}
	answer.plan = &message;
	return ts_replay_give(replay, &answer);
}
