/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl replay --schedules`: parses seeds, and prints which unordered operations change the
 * result. cmd-replay.c and replayexec.c call this file.
 */
#include "proto/abi/base.h"
#include "proto/rpc/json.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/replay/replay-command.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/tsctl.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* Parses "17" or "40-45", up to a comma. */
static int parse_decisions(const char *text, Ts__Rpc__Query__Decisions *ret_decisions)
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
	ts__rpc__query__decisions__init(ret_decisions);
	TS_RPC_SET(ret_decisions, first, first);
	TS_RPC_SET(ret_decisions, last, last);
	return 0;
}

static int parse_seed(struct ts_replay_asked *asked, const char *text)
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
	TS_RPC_SET(&asked->query, seed, seed);
	asked->query.decisions = asked->decision_list;
	for (const char *at = text + n; *at; at += 1 + strcspn(at + 1, ",")) {
		if (i == TS_ARRAY_LEN(asked->decisions) ||
		    parse_decisions(at + 1, &asked->decisions[i]) ||
		    (i && asked->decisions[i].first <= asked->decisions[i - 1].last))
			return -EINVAL;
		asked->decision_list[i] = &asked->decisions[i];
		i++;
	}
	asked->query.n_decisions = i;
	return 0;
}

int ts_replayschedule_parse(struct ts_replay_asked *asked, const char *text)
{
	if (!parse_seed(asked, text))
		return 0;
	ts_complain("--seed %s: expected a number, or a number and at most %zu of its decisions "
		    "in ascending order, like 7:17,40-45",
		    text, TS_ARRAY_LEN(asked->decisions));
	return -EINVAL;
}

static void print_decided(const Ts__Rpc__ReplayDecision *decision)
{
	if (decision->done) {
		ts_replayside_print(decision->done);
		return;
	}
	printf("operation %" PRIu64 " (%s)", decision->op_id,
	       decision->operation ? decision->operation : "?");
}

static void print_held(const Ts__Rpc__ReplayDecision *decision)
{
	const Ts__Rpc__ReplaySide *first = decision->first_done, *last = decision->last_done;

	if (!first || !last) {
		printf(" is held back, but no other operation is done before it");
		return;
	}
	printf(" is done after ");
	ts_replayside_print(first);
	if (last->sequence == first->sequence)
		return;
	printf(" and others up to ");
	ts_replayside_print(last);
}

static void print_decision(const Ts__Rpc__ReplayDecision *decision)
{
	printf("  %" PRIu64 ": ", decision->number);
	print_decided(decision);
	if (!strcmp(decision->kind, "held"))
		print_held(decision);
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
		       "usually it is block %" PRIu64 ", warp %u at line %u",
		       decision->block, decision->warp, decision->line, decision->instructions,
		       decision->instead_block, decision->instead_warp, decision->instead_line);
	putchar('\n');
}

/* The last decision changes the result. */
static void print_remedies(const Ts__Rpc__ReplayResult *result)
{
	const Ts__Rpc__ReplayDecision *last;

	if (!result->n_decisions || !result->smallest)
		return;
	last = result->decisions[result->n_decisions - 1];
	ts_replayside_print_remedies("to order them:", last->n_remedies, last->remedies);
}

/*
 * Prints the number of orders tried. An order that did not end has no result; if no order ended,
 * nothing is known about other orders.
 */
static void print_tried(const Ts__Rpc__ReplayResult *result)
{
	uint32_t n = result->schedules, late = result->unfinished < n ? result->unfinished : n;
	char figures[2][TS_OUT_FIGURE_BYTES];

	if (!n) {
		printf("  no other order was tried%s: the results of other orders are unknown\n",
		       result->time_is_up ? " in the time limit (--time-limit)" : "");
		return;
	}
	printf("  %s order%s tried, from seed %" PRIu64 " on: ", ts_out_count(figures[0], n),
	       n == 1 ? "" : "s", result->first_seed);
	if (result->has_smallest)
		printf("the last one differs\n");
	else if (late == n)
		printf("none of them ended; their results are unknown\n");
	else if (late)
		printf("the results of the %s that ended are the same\n",
		       ts_out_count(figures[1], n - late));
	else
		printf("the results are always the same\n");
	if (late && late < n)
		printf("  %s of them did not end in time; their results are unknown\n",
		       ts_out_count(figures[1], late));
	if (result->time_is_up)
		printf("  further orders were not tried: the time limit was reached (--time-limit)\n");
}

void ts_replayschedule_print(const Ts__Rpc__ReplayResult *result)
{
	if (!result->has_schedules)
		return;
	print_tried(result);
	if (!result->has_smallest)
		return;
	if (result->smallest)
		printf("The result changes with %s; without the last one it is the usual result",
		       result->n_decisions == 1 ? "this decision" : "these decisions");
	else
		printf("Some of these decisions change the result");
	if (result->seed)
		printf(" (--schedules 1 --seed %s)", result->seed);
	printf(":\n");
	for (size_t i = 0; i < result->n_decisions; i++)
		print_decision(result->decisions[i]);
	print_remedies(result);
}
