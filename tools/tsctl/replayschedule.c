/* SPDX-License-Identifier: Apache-2.0 */
/* Which order of what nothing orders makes a program's results other ones (replay/exec/schedule.h), as messages and as text. */
#include "tools/tsctl/replayschedule.h"

#include "proto/abi/base.h"
#include "replay/report/names.h"
#include "tools/tsctl/out.h"
#include "tools/tsctl/replaycheck.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

/* A schedule is given up after so much longer than by default. */
#define LEAST_NS     UINT64_C(20000000000)
#define TIMES_LONGER 100u

#define SEED_BYTES   2048u

/* "17" or "40-45", up to a comma. */
static int parse_decisions(const char *text, struct ts_exec_decisions *ret_decisions)
{
	size_t n = strcspn(text, ","), dash = strcspn(text, "-");
	unsigned long long first, last;
	char one[48];

	if (!n || n >= sizeof(one))
		return -EINVAL;
	memcpy(one, text, n);
	one[n] = '\0';
	if (dash < n)
		one[dash] = '\0';
	if (ts_parse_number(one, 0, UINT64_MAX, &first) ||
	    ts_parse_number(dash < n ? one + dash + 1 : one, first, UINT64_MAX, &last))
		return -EINVAL;
	*ret_decisions = (struct ts_exec_decisions){first, last};
	return 0;
}

static int parse_seed(const char *text, struct ts_replay_asked *asked)
{
	size_t n = strcspn(text, ":"), i = 0;
	unsigned long long seed;
	char number[24];

	if (n >= sizeof(number))
		return -EINVAL;
	memcpy(number, text, n);
	number[n] = '\0';
	if (ts_parse_number(number, 0, UINT64_MAX, &seed))
		return -EINVAL;
	asked->seed = seed;
	for (const char *at = text + n; *at; at += 1 + strcspn(at + 1, ",")) {
		if (i == TS_ARRAY_LEN(asked->decisions) ||
		    parse_decisions(at + 1, &asked->decisions[i]) ||
		    (i && asked->decisions[i].first <= asked->decisions[i - 1].last))
			return -EINVAL;
		i++;
	}
	asked->n_decisions = i;
	return 0;
}

int ts_replayschedule_parse(const char *text, struct ts_replay_asked *asked)
{
	if (!parse_seed(text, asked))
		return 0;
	ts_complain("--seed %s: it is a number, or one with at most %zu of its decisions behind "
		    "it, in ascending order, like 7:17,40-45",
		    text, TS_ARRAY_LEN(asked->decisions));
	return -EINVAL;
}

int ts_replayschedule_run(struct replay *replay, const volatile int *cancel)
{
	const struct ts_replay_asked *asked = replay->asked;
	const struct ts_exec_options options = {
		.n_threads = 1,
		.time_ns = asked->time_ns ? asked->time_ns
					  : LEAST_NS + TIMES_LONGER * replay->first.elapsed_ns,
	};
	const struct ts_exec_exploration exploration = {
		.n_schedules = asked->n_schedules,
		.seed = asked->seed,
		.unordered_blocks = asked->unordered_blocks,
		.kept = asked->n_decisions ? asked->decisions : NULL,
		.n_kept = asked->n_decisions,
	};
	int r;

	/* What could not be done by default cannot be compared. */
	if (replay->first.refused)
		return 0;
	r = ts_exec_explore(replay->program, replay->executor, &options, &exploration,
			    &replay->results, cancel, &replay->explored);
	replay->n_replays += replay->explored.n_replays;
	return r;
}

/* As `--seed` takes it. NULL: the list is too long for that. */
static char *seed_of(struct replay *replay)
{
	const struct ts_exec_explored *explored = &replay->explored;
	char text[SEED_BYTES];
	size_t n;

	if (explored->n_kept > TS_ARRAY_LEN(replay->asked->decisions))
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

static Ts__Rpc__ReplayDecision *make_decision(struct replay *replay,
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
	to->name = ts_pool_copy(&replay->pool, ts_replaycheck_kernel(replay->program, row));
	to->kind = ts_pool_copy(&replay->pool, from->is_held ? "held" : kinds[choice->kind]);
	if (from->is_held) {
		if (from->first_before)
			TS_RPC_SET(to, first_before, from->first_before);
		if (from->last_before)
			TS_RPC_SET(to, last_before, from->last_before);
		return to;
	}
	TS_RPC_SET(to, block, choice->block);
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

void ts_replayschedule_fill(struct replay *replay, Ts__Rpc__ReplayResult *to)
{
	const struct ts_exec_explored *explored = &replay->explored;

	if (!replay->asked->n_schedules)
		return;
	TS_RPC_SET(to, schedules, explored->n_schedules);
	TS_RPC_SET(to, first_seed, replay->asked->seed);
	if (explored->n_unfinished)
		TS_RPC_SET(to, unfinished, explored->n_unfinished);
	if (!explored->found)
		return;
	to->seed = seed_of(replay);
	TS_RPC_SET(to, smallest, explored->is_smallest);
	to->decisions =
		ts_pool_alloc(&replay->pool, explored->n_decisions + 1, sizeof(*to->decisions));
	for (uint32_t i = 0; i < explored->n_decisions; i++)
		to->decisions[to->n_decisions++] = make_decision(replay, &explored->decisions[i]);
}

static void print_operation(const Ts__Rpc__ReplayDecision *decision)
{
	printf("operation %" PRIu64 " (%s", decision->sequence,
	       decision->operation ? decision->operation : "?");
	if (decision->name) {
		printf(" of ");
		ts_out_text(stdout, decision->name);
	}
	printf(", call %" PRIu64 ")", decision->op_id);
}

static void print_decision(const Ts__Rpc__ReplayDecision *decision)
{
	printf("  %" PRIu64 ": ", decision->number);
	print_operation(decision);
	if (!strcmp(decision->kind, "held") && !decision->has_first_before)
		printf(" is held back, though nothing comes before it for that");
	else if (!strcmp(decision->kind, "held") && decision->first_before == decision->last_before)
		printf(" is done behind operation %" PRIu64, decision->first_before);
	else if (!strcmp(decision->kind, "held"))
		printf(" is done behind operations %" PRIu64 " to %" PRIu64, decision->first_before,
		       decision->last_before);
	else if (!strcmp(decision->kind, "blocks"))
		printf(" has its blocks in another order, from block %" PRIu64 " on",
		       decision->block);
	else if (!strcmp(decision->kind, "lanes"))
		printf(", block %" PRIu64 ", warp %u, PTX line %u: the atomic of lane %u comes "
		       "first, not of lane %u",
		       decision->block, decision->warp, decision->line, decision->lane,
		       decision->instead_lane);
	else
		printf(", block %" PRIu64 ", warp %u goes on at PTX line %u for %u instructions; "
		       "else it were block %" PRIu64 ", warp %u at line %u",
		       decision->block, decision->warp, decision->line, decision->instructions,
		       decision->instead_block, decision->instead_warp, decision->instead_line);
	putchar('\n');
}

void ts_replayschedule_print(const Ts__Rpc__ReplayResult *result)
{
	char figures[2][TS_OUT_FIGURE_BYTES];

	if (!result->has_schedules)
		return;
	printf("  %s orders tried, from seed %" PRIu64 " on: %s\n",
	       ts_out_count(figures[0], result->schedules), result->first_seed,
	       result->has_smallest ? "the last one differs" : "the results are always the same");
	if (result->unfinished)
		printf("  %s of them did not end in their time, and say nothing\n",
		       ts_out_count(figures[1], result->unfinished));
	if (!result->has_smallest)
		return;
	if (result->smallest)
		printf("It takes these decisions; without the last one it is as by default");
	else
		printf("Among these decisions are those that it takes");
	if (result->seed)
		printf(" (--schedules 1 --seed %s)", result->seed);
	printf(":\n");
	for (size_t i = 0; i < result->n_decisions; i++)
		print_decision(result->decisions[i]);
}
