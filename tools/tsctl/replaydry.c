/* SPDX-License-Identifier: Apache-2.0 */
/* `tsctl replay --mode dry-run` of what was captured: what would be done again, for people. */
#include "tools/tsctl/out.h"
#include "tools/tsctl/replay.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

void ts_replaydry_print(const Ts__Rpc__CapturePlan *message)
{
	char figure[TS_OUT_FIGURE_BYTES];

	ts_out_text(stdout, message->path);
	printf(": of session %u, %s operations would be done\n", message->session,
	       ts_out_count(figure, message->operations));
	printf("  %14s launch%s\n", ts_out_count(figure, message->launches),
	       message->launches == 1 ? "" : "es");
	printf("  %14s cop%s\n", ts_out_count(figure, message->copies),
	       message->copies == 1 ? "y" : "ies");
	printf("  %14s set%s\n", ts_out_count(figure, message->fills),
	       message->fills == 1 ? "" : "s");
	if (message->has_before)
		printf("  %14s others first, so that all is as it was\n",
		       ts_out_count(figure, message->before));
	printf("When captured they were called for within %s.\n",
	       ts_out_duration(figure, message->recorded_ns));
	if (message->missing_contents)
		printf("Missing: the contents of %s operations.\n",
		       ts_out_count(figure, message->missing_contents));
	if (message->unknown_functions)
		printf("Missing: where the functions of %s launches come from.\n",
		       ts_out_count(figure, message->unknown_functions));
	ts_replayexec_print_missing(message->n_unsupported, message->unsupported, message->ended,
				    message->cut);
}
