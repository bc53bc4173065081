/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Validates an answer of the daemon before it is printed. cmd-replay.c calls this file. The daemon
 * forwards the answer of a process that read a foreign trace. The check requires all parts that the
 * printers use, and fixed words without control characters. Wrong numbers are printed as they are.
 */
#include "tools/tsctl/replay/replay-command.h"

/* True for fixed words of the protocol. Names are escaped when they are printed. */
static bool is_word(const char *text)
{
	for (; text && *text; text++)
		if (*text < ' ' || *text > '~')
			return false;
	return true;
}

static bool is_there(const char *text)
{
	return text && is_word(text);
}

static bool is_run_whole(const Ts__Rpc__ReplayRun *run)
{
	for (size_t i = 0; i < run->n_parts; i++)
		if (!is_there(run->parts[i]->part))
			return false;
	for (size_t i = 0; i < run->n_longest; i++)
		if (!is_there(run->longest[i]->part))
			return false;
	for (size_t i = 0; i < run->n_engines; i++)
		for (size_t j = 0; j < run->engines[i]->n_does; j++)
			if (!is_word(run->engines[i]->does[j]))
				return false;
	return true;
}

static bool is_report_whole(const Ts__Rpc__ReplayReport *report)
{
	return report->path && report->executor && report->recorded && report->emulated &&
	       report->doubts && is_run_whole(report->recorded) && is_run_whole(report->emulated) &&
	       (!report->edited || is_run_whole(report->edited));
}

static bool is_side_whole(const Ts__Rpc__ReplaySide *side)
{
	if (!side)
		return true;
	return is_word(side->kind) && is_word(side->access) &&
	       (!side->function || (side->n_block == 3 && side->n_thread == 3));
}

static bool is_difference_whole(const Ts__Rpc__ReplayDifference *found)
{
	return is_there(found->from) && !found->expected == !found->found &&
	       is_word(found->expected) && is_word(found->found) &&
	       is_side_whole(found->operation) && is_side_whole(found->typed_by);
}

static bool is_decision_whole(const Ts__Rpc__ReplayDecision *decision)
{
	return is_there(decision->kind) && is_word(decision->operation) &&
	       is_side_whole(decision->done) && is_side_whole(decision->first_done) &&
	       is_side_whole(decision->last_done) && !decision->first_done == !decision->last_done;
}

static bool is_refusal_whole(const Ts__Rpc__ReplayRefusal *refusal)
{
	return refusal->why && is_word(refusal->kind) && is_side_whole(refusal->operation);
}

static bool is_result_whole(const Ts__Rpc__ReplayResult *result)
{
	for (size_t i = 0; i < result->n_findings; i++)
		if (!is_there(result->findings[i]->kind) || !is_there(result->findings[i]->space) ||
		    !is_side_whole(result->findings[i]->access) ||
		    !is_side_whole(result->findings[i]->earlier))
			return false;
	for (size_t i = 0; i < result->n_decisions; i++)
		if (!is_decision_whole(result->decisions[i]))
			return false;
	for (size_t i = 0; i < result->n_checked; i++)
		if (!is_word(result->checked[i]))
			return false;
	return result->path && result->executor && is_there(result->verdict) &&
	       is_word(result->seed) && (!result->refusal || is_refusal_whole(result->refusal)) &&
	       (!result->difference || is_difference_whole(result->difference));
}

bool ts_replaywhole(const Ts__Rpc__ReplayAnswer *answer)
{
	/* Exactly one part is allowed: a printer might otherwise use an unchecked part. */
	if (!!answer->progress + !!answer->emulated + !!answer->result + !!answer->plan +
		    !!answer->capture_plan + !!answer->complaint !=
	    1)
		return false;
	if (answer->emulated)
		return is_report_whole(answer->emulated);
	if (answer->result)
		return is_result_whole(answer->result);
	if (answer->plan)
		return answer->plan->path;
	if (answer->capture_plan)
		return answer->capture_plan->path;
	return answer->complaint || answer->progress->doing;
}
