/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl replay --mode dry-run`: what a replay would run, what of it is missing in the trace, and how long it took when it was
 * recorded. The same for every executor that needs no more than a trace has.
 */
#include "tools/tsctl/replayplan.h"

#include "replay/state/machine.h"
#include "tools/tsctl/jsonout.h"
#include "tools/tsctl/out.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

struct plan {
	const struct ts_replay_asked *asked;
	uint64_t from_ns, to_ns; /* of calls */
	uint64_t n_kernels, n_copies, n_sets, n_calls;
	uint64_t n_without_call, n_without_device, n_unsure;
	uint64_t bytes, busy_ns;
	uint64_t start_ns, end_ns;
	bool is_damaged;
};

bool ts_replay_selects(const struct ts_replay_asked *asked, uint64_t origin_ns, uint64_t op_id,
		       uint32_t stream, uint64_t time_ns)
{
	if (asked->has_stream && stream != asked->stream)
		return false;
	if (asked->has_ops && (op_id < asked->first_op || op_id > asked->last_op))
		return false;
	if (asked->has_from && time_ns < ts_time_absolute(&asked->from, origin_ns))
		return false;
	return !asked->has_to || time_ns <= ts_time_absolute(&asked->to, origin_ns);
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

static uint64_t called_ns(const struct ts_state_op *op)
{
	return op->unsure & TS_STATE_UNSURE_CALL ? op->start_ns : op->call_ns;
}

static int read_plan(struct plan *plan, struct ts_source *source)
{
	const struct ts_sbt_cursor_options options = {.types = TS_STATE_MACHINE_ROWS,
						      .session = source->session};
	uint64_t origin_ns = ts_sbt_reader_origin_ns(source->reader);
	ts_cleanup(ts_state_machine_freep) struct ts_state_machine *machine = NULL;
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	struct ts_state_op op;
	int r = ts_state_machine_new(&machine);

	if (!r)
		r = ts_state_machine_prepare(machine, source->reader, source->session);
	if (!r)
		r = ts_sbt_cursor_new(source->reader, &options, &cursor);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			plan->is_damaged = true;
			r = 0;
			continue;
		}
		if (r)
			break;
		plan->n_calls += row.type == TS_ROW_API;
		r = ts_state_machine_feed(machine, &row, &op);
		if (r == 1) {
			if (ts_replay_selects(plan->asked, origin_ns, op.op_id, op.stream,
					      called_ns(&op)))
				take_op(plan, &op);
			r = 0;
		}
	}
	while (r == TS_SBT_E_END && ts_state_machine_unanswered(machine, &op))
		if (ts_replay_selects(plan->asked, origin_ns, op.op_id, op.stream, called_ns(&op)))
			take_op(plan, &op);
	return r == TS_SBT_E_END ? 0 : r;
}

static void print_plan(const struct plan *plan, const struct ts_source *source)
{
	char figure[TS_OUT_FIGURE_BYTES], other[TS_OUT_FIGURE_BYTES];

	ts_out_text(stdout, source->path);
	printf(": %s operations would run",
	       ts_out_count(figure, plan->n_kernels + plan->n_copies + plan->n_sets));
	printf(", of %s calls\n", ts_out_count(figure, plan->n_calls));
	printf("  %14s kernels\n", ts_out_count(figure, plan->n_kernels));
	printf("  %14s copies", ts_out_count(figure, plan->n_copies));
	printf(", %s\n", ts_out_bytes(figure, plan->bytes));
	printf("  %14s sets\n", ts_out_count(figure, plan->n_sets));
	printf("When recorded they took %s",
	       ts_out_duration(figure, plan->end_ns - plan->start_ns));
	printf(", and kept devices busy for %s in all.\n", ts_out_duration(other, plan->busy_ns));
	if (plan->n_without_call)
		printf("Missing: the calls of %s operations; they run behind what was before them "
		       "in their streams.\n",
		       ts_out_count(figure, plan->n_without_call));
	if (plan->n_without_device)
		printf("Missing: what %s calls made the device do; it does not run.\n",
		       ts_out_count(figure, plan->n_without_device));
	if (plan->n_unsure)
		printf("Of %s operations not all that they waited for is known.\n",
		       ts_out_count(figure, plan->n_unsure));
}

static int print_json(const struct plan *plan, const struct ts_source *source)
{
	Ts__Rpc__ReplayPlan message;

	ts__rpc__replay_plan__init(&message);
	message.path = source->path;
	TS_RPC_SET(&message, calls, plan->n_calls);
	TS_RPC_SET(&message, kernels, plan->n_kernels);
	TS_RPC_SET(&message, copies, plan->n_copies);
	TS_RPC_SET(&message, sets, plan->n_sets);
	TS_RPC_SET(&message, copied_bytes, plan->bytes);
	TS_RPC_SET(&message, recorded_ns, plan->end_ns - plan->start_ns);
	TS_RPC_SET(&message, busy_ns, plan->busy_ns);
	TS_RPC_SET(&message, without_call, plan->n_without_call);
	TS_RPC_SET(&message, without_device, plan->n_without_device);
	TS_RPC_SET(&message, unsure, plan->n_unsure);
	TS_RPC_SET(&message, damaged, plan->is_damaged);
	return ts_json_print(&message.base);
}

int ts_replay_plan(const struct ts_replay_asked *asked, struct ts_source *source)
{
	struct plan plan = {.asked = asked};
	int status, r = read_plan(&plan, source);

	if (r) {
		ts_source_complain(source->path, r, ts_sbt_reader_error(source->reader));
		return TS_EXIT_BAD;
	}
	if (asked->json) {
		status = print_json(&plan, source);
	} else {
		print_plan(&plan, source);
		status = ts_finish_output(TS_EXIT_OK);
	}
	if (status || !plan.is_damaged)
		return status;
	ts_source_complain(source->path, TS_SBT_E_CORRUPT, ts_sbt_reader_error(source->reader));
	return TS_EXIT_BAD;
}
