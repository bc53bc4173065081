/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints `tsctl replay --mode dry-run` for any trace: the operations that an emulation would run.
 * cmd-replay.c calls this file.
 */
#include "tools/tsctl/replay/replay-command.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

void ts_replayplan_print(const Ts__Rpc__ReplayPlan *plan)
{
	char figure[TS_OUT_COUNTED_BYTES], other[TS_OUT_FIGURE_BYTES];

	ts_out_text(stdout, plan->path);
	printf(": %s would run",
	       ts_out_counted(figure, plan->kernels + plan->copies + plan->sets, "operation"));
	printf(", of %s\n", ts_out_counted(figure, plan->calls, "call"));
	printf("  %s\n", ts_out_counted(figure, plan->kernels, "kernel"));
	printf("  %s", ts_out_counted(figure, plan->copies, "copy"));
	printf(", %s\n", ts_out_bytes(figure, plan->copied_bytes));
	printf("  %s\n", ts_out_counted(figure, plan->sets, "set"));
	printf("When recorded they took %s", ts_out_duration(figure, plan->recorded_ns));
	printf(", and kept devices busy for %s in all.\n", ts_out_duration(other, plan->busy_ns));
	if (plan->without_call)
		printf("Missing: the calls of %s; they run after the earlier operations of their "
		       "streams.\n",
		       ts_out_counted(figure, plan->without_call, "operation"));
	if (plan->without_device)
		printf("Missing: the operations of %s; they do not run.\n",
		       ts_out_counted(figure, plan->without_device, "call"));
	if (plan->unsure)
		printf("%s had unknown dependencies.\n",
		       ts_out_counted(figure, plan->unsure, "operation"));
}
