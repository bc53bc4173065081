/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints `tsctl replay --mode dry-run` for a capture: the operations that a replay would execute.
 * cmd-replay.c calls this file.
 */
#include "tools/tsctl/replay/replay-command.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

void ts_replaydry_print(const Ts__Rpc__CapturePlan *message)
{
	char figure[TS_OUT_COUNTED_BYTES];

	ts_out_text(stdout, message->path);
	printf(": session %u: %s would be replayed\n", message->session,
	       ts_out_counted(figure, message->operations, "operation"));
	printf("  %s\n", ts_out_counted(figure, message->launches, "launch"));
	printf("  %s\n", ts_out_counted(figure, message->copies, "copy"));
	printf("  %s\n", ts_out_counted(figure, message->fills, "set"));
	if (message->has_before)
		printf("  %s before them, which restore memory\n",
		       ts_out_counted(figure, message->before, "other"));
	printf("In the capture their calls came within %s.\n",
	       ts_out_duration(figure, message->recorded_ns));
	if (message->missing_contents)
		printf("Missing: the contents of %s.\n",
		       ts_out_counted(figure, message->missing_contents, "operation"));
	if (message->unknown_functions)
		printf("Missing: the origin of the functions of %s.\n",
		       ts_out_counted(figure, message->unknown_functions, "launch"));
	ts_replayexec_print_missing(message->n_unsupported, message->unsupported, message->ended,
				    message->cut);
}
