/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the order of unordered operations that changes a program's results
 * (replay/exec/exec-schedule.h), and reports it as messages. execjson.c calls this file.
 */
#include "replay/report/replay/schedulejson.h"

#include "proto/abi/base.h"
#include "replay/report/names/names.h"
#include "replay/report/replay/sidejson.h"

#include <inttypes.h>
#include <stdio.h>

/* Time limit of one schedule: a constant plus a multiple of the default run's time. */
#define LEAST_NS     UINT64_C(20000000000)
#define TIMES_LONGER 100u

#define SEED_BYTES   4096u

int ts_schedulejson_run(struct ts_replay *replay, const struct ts_exec_options *usual)
{
	const Ts__Rpc__Query__Replay *asked = replay->asked;
	ts_cleanup(ts_freep) struct ts_exec_decisions *kept =
		calloc(asked->n_decisions + 1, sizeof(*kept));
	struct ts_exec_options options = *usual;
	const struct ts_exec_exploration exploration = {
		.n_schedules = asked->schedules,
		.seed = asked->has_seed ? asked->seed : 1,
		.unordered_blocks = asked->unordered_blocks,
		.kept = asked->n_decisions ? kept : NULL,
		.n_kept = asked->n_decisions,
		.until_ns = replay->until_ns,
	};
	int r;

	if (!kept)
		return -ENOMEM;
	for (size_t i = 0; i < asked->n_decisions; i++)
		kept[i] = (struct ts_exec_decisions){asked->decisions[i]->first,
						     asked->decisions[i]->last};
	options.check = NULL;
	options.schedule = NULL;
	options.time_ns = LEAST_NS + TIMES_LONGER * replay->first.elapsed_ns;
	/*
	 * If the executor refused the run with the default schedule, there are no results to
	 * compare with.
	 */
	if (replay->first.refused)
		return 0;
	r = ts_exec_explore(replay->program, replay->executor, &options, &exploration,
			    &replay->results, replay->options->cancel, &replay->explored);
	replay->n_replays += replay->explored.n_replays;
	return r;
}

/*
 * Returns the seed and the decisions in the syntax of `--seed`; NULL if the list of decisions is
 * too long.
 */
static char *seed_of(struct ts_replay *replay)
{
	const struct ts_exec_explored *explored = &replay->explored;
	char text[SEED_BYTES];
	size_t n;

	if (explored->n_kept > TS_SCHEDULEJSON_MAX_DECISIONS)
		return NULL;
	n = (size_t)snprintf(text, sizeof(text), "%" PRIu64, explored->seed);
	for (size_t i = 0; i < explored->n_kept; i++) {
		const struct ts_exec_decisions *one = &explored->kept[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%c%" PRIu64, i ? ',' : ':',
				      one->first);
		if (one->last != one->first)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "-%" PRIu64, one->last);
	}
	return ts_pool_copy(&replay->pool, text);
}

/* Describes an operation that was held back while later ones in other streams ran. */
static void fill_held(struct ts_replay *replay, const struct ts_exec_decision *from,
		      Ts__Rpc__ReplayDecision *to)
{
	if (from->first_before) {
		TS_RPC_SET(to, first_before, from->first_before);
		to->first_done = ts_sidejson_make(replay, from->first_before, false);
	}
	if (from->last_before) {
		TS_RPC_SET(to, last_before, from->last_before);
		to->last_done = ts_sidejson_make(replay, from->last_before, false);
	}
	if (to->done && to->first_done)
		to->n_remedies =
			ts_sidejson_remedies(replay, to->done, to->first_done, &to->remedies);
}

static void add_for_threads(struct ts_replay *replay, enum ts_ptx_choice_kind kind,
			    Ts__Rpc__ReplayDecision *to)
{
	static const char *const remedies[] = {
		[TS_PTX_CHOICE_BLOCKS] = "two launches: blocks of one launch have no order",
		[TS_PTX_CHOICE_TURN] = ("barriers between the writes and the reads of different "
					"threads: `--check races` reports both places"),
		[TS_PTX_CHOICE_LANES] = "a reduction in a fixed order: atomics have no order",
	};

	to->remedies = ts_pool_alloc(&replay->pool, 1, sizeof(*to->remedies));
	to->remedies[to->n_remedies++] = ts_pool_copy(&replay->pool, remedies[kind]);
}

static Ts__Rpc__ReplayDecision *make_decision(struct ts_replay *replay,
					      const struct ts_exec_decision *from)
{
	static const char *const kinds[] = {
		[TS_PTX_CHOICE_BLOCKS] = "blocks",
		[TS_PTX_CHOICE_TURN] = "turn",
		[TS_PTX_CHOICE_LANES] = "lanes",
	};
	const struct ts_row_operation *row = &replay->program->operations[from->sequence - 1];
	const struct ts_ptx_choice *choice = &from->choice;
	Ts__Rpc__ReplayDecision *to = ts_pool_alloc(&replay->pool, 1, sizeof(*to));

	ts__rpc__replay_decision__init(to);
	TS_RPC_SET(to, number, from->number);
	TS_RPC_SET(to, sequence, from->sequence);
	TS_RPC_SET(to, op_id, row->op_id);
	to->operation = ts_pool_copy(&replay->pool, ts_name_operation_kind(row->kind));
	to->name = ts_pool_copy(&replay->pool, ts_sidejson_kernel(replay, row));
	to->kind = ts_pool_copy(&replay->pool, from->is_held ? "held" : kinds[choice->kind]);
	to->done = ts_sidejson_make(replay, from->sequence, false);
	if (from->is_held) {
		fill_held(replay, from, to);
		return to;
	}
	TS_RPC_SET(to, block, choice->block);
	add_for_threads(replay, choice->kind, to);
	if (choice->kind == TS_PTX_CHOICE_BLOCKS)
		return to;
	TS_RPC_SET(to, warp, choice->warp);
	TS_RPC_SET(to, line, choice->line);
	if (choice->kind == TS_PTX_CHOICE_LANES) {
		TS_RPC_SET(to, lane, choice->lane);
		TS_RPC_SET(to, instead_lane, choice->instead_lane);
		return to;
	}
	TS_RPC_SET(to, instructions, choice->n_insns);
	TS_RPC_SET(to, instead_block, choice->instead_block);
	TS_RPC_SET(to, instead_warp, choice->instead_warp);
	TS_RPC_SET(to, instead_line, choice->instead_line);
	return to;
}

void ts_schedulejson_fill(struct ts_replay *replay, Ts__Rpc__ReplayResult *to)
{
	const struct ts_exec_explored *explored = &replay->explored;

	if (!replay->asked->schedules)
		return;
	TS_RPC_SET(to, schedules, explored->n_schedules);
	TS_RPC_SET(to, first_seed, replay->asked->has_seed ? replay->asked->seed : 1);
	if (explored->n_unfinished)
		TS_RPC_SET(to, unfinished, explored->n_unfinished);
	if (explored->is_time_up)
		TS_RPC_SET(to, time_is_up, true);
	if (!explored->found)
		return;
	to->seed = seed_of(replay);
	TS_RPC_SET(to, smallest, explored->is_smallest);
	to->decisions =
		ts_pool_alloc(&replay->pool, explored->n_decisions + 1, sizeof(*to->decisions));
	for (uint32_t i = 0; i < explored->n_decisions; i++)
		to->decisions[to->n_decisions++] = make_decision(replay, &explored->decisions[i]);
}
