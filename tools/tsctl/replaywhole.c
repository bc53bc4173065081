/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon hands on what a process says that read a stranger's trace: whether all is there that printing takes for granted. Numbers
 * that lie are printed as they are.
 */
#include "tools/tsctl/replay.h"

static bool is_run_whole(const Ts__Rpc__ReplayRun *run)
{
	for (size_t i = 0; i < run->n_parts; i++)
		if (!run->parts[i]->part)
			return false;
	for (size_t i = 0; i < run->n_longest; i++)
		if (!run->longest[i]->part)
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
	return !side || !side->function || (side->n_block == 3 && side->n_thread == 3);
}

static bool is_difference_whole(const Ts__Rpc__ReplayDifference *found)
{
	return found->from && !found->expected == !found->found;
}

static bool is_result_whole(const Ts__Rpc__ReplayResult *result)
{
	for (size_t i = 0; i < result->n_findings; i++)
		if (!result->findings[i]->kind || !result->findings[i]->space ||
		    !is_side_whole(result->findings[i]->access) ||
		    !is_side_whole(result->findings[i]->earlier))
			return false;
	for (size_t i = 0; i < result->n_decisions; i++)
		if (!result->decisions[i]->kind)
			return false;
	return result->path && result->executor && result->verdict &&
	       (!result->refusal || result->refusal->why) &&
	       (!result->difference || is_difference_whole(result->difference));
}

bool ts_replaywhole(const Ts__Rpc__ReplayAnswer *answer)
{
	if (answer->emulated)
		return is_report_whole(answer->emulated);
	if (answer->result)
		return is_result_whole(answer->result);
	if (answer->plan)
		return answer->plan->path;
	if (answer->capture_plan)
		return answer->capture_plan->path;
	return answer->complaint || (answer->progress && answer->progress->doing);
}
