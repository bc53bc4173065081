/* SPDX-License-Identifier: Apache-2.0 */
/* `tsctl replay --mode dry-run` of any trace: what a replay in virtual time would run, for people. */
#include "tools/tsctl/out.h"
#include "tools/tsctl/replay.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

void ts_replayplan_print(const Ts__Rpc__ReplayPlan *plan)
{
	char figure[TS_OUT_FIGURE_BYTES], other[TS_OUT_FIGURE_BYTES];

	ts_out_text(stdout, plan->path);
	printf(": %s operations would run",
	       ts_out_count(figure, plan->kernels + plan->copies + plan->sets));
	printf(", of %s calls\n", ts_out_count(figure, plan->calls));
	printf("  %14s kernels\n", ts_out_count(figure, plan->kernels));
	printf("  %14s copies", ts_out_count(figure, plan->copies));
	printf(", %s\n", ts_out_bytes(figure, plan->copied_bytes));
	printf("  %14s sets\n", ts_out_count(figure, plan->sets));
	printf("When recorded they took %s", ts_out_duration(figure, plan->recorded_ns));
	printf(", and kept devices busy for %s in all.\n", ts_out_duration(other, plan->busy_ns));
	if (plan->without_call)
		printf("Missing: the calls of %s operations; they run behind what was before them "
		       "in their streams.\n",
		       ts_out_count(figure, plan->without_call));
	if (plan->without_device)
		printf("Missing: what %s calls made the device do; it does not run.\n",
		       ts_out_count(figure, plan->without_device));
	if (plan->unsure)
		printf("Of %s operations not all that they waited for is known.\n",
		       ts_out_count(figure, plan->unsure));
}
