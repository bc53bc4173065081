/* SPDX-License-Identifier: Apache-2.0 */
/* `tsctl replay --on vgpu`, `--on cuda`: what came of doing a capture again, for people. */
#include "tools/tsctl/out.h"
#include "tools/tsctl/replay.h"
#include "tools/tsctl/texts.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <string.h>

void ts_replayexec_print_missing(size_t n_unsupported, char *const *unsupported, const char *ended,
				 bool cut)
{
	for (size_t i = 0; i < n_unsupported; i++) {
		printf("Not in the capture, and not done again: ");
		ts_out_text(stdout, unsupported[i]);
		putchar('\n');
	}
	if (ended) {
		printf("The capture ended early: ");
		ts_out_text(stdout, ended);
		printf(".\n");
	}
	if (cut)
		printf("The capture lacks operations behind its last one.\n");
}

static void print_difference(const Ts__Rpc__ReplayDifference *found)
{
	if (!strcmp(found->from, "replay"))
		printf("Replays differ from each other first in ");
	else if (!strcmp(found->from, "schedule"))
		printf("In another order it differs first in ");
	else
		printf("It differs from the capture first in ");
	if (found->has_sequence && found->in_memory)
		printf("the memory at 0x%" PRIx64 " after operation %" PRIu64, found->address,
		       found->op_id);
	else if (found->has_sequence)
		printf("what operation %" PRIu64 " brought from 0x%" PRIx64, found->op_id,
		       found->address);
	else
		printf("the memory at 0x%" PRIx64 " at the end", found->address);
	if (found->expected)
		printf(", at offset %" PRIu64 " of %" PRIu64 " bytes: %s, and was %s",
		       found->offset, found->bytes, found->found, found->expected);
	printf(".\n");
	if (found->has_buffer_address)
		printf("  offset %" PRIu64 " of the %" PRIu64 " bytes at 0x%" PRIx64
		       ", which operation %" PRIu64 " allocated\n",
		       found->buffer_offset, found->buffer_bytes, found->buffer_address,
		       found->buffer_op_id);
	if (found->stack)
		ts_text_stack(found->stack, 2);
}

static const char *verdict_of(const Ts__Rpc__ReplayResult *result)
{
	if (!strcmp(result->verdict, "same"))
		return "the same";
	if (!strcmp(result->verdict, "differs"))
		return "differs from the capture";
	return !strcmp(result->verdict, "nondeterministic") ? "the program is nondeterministic"
							    : "not to the end";
}

static void print_notes(const Ts__Rpc__ReplayResult *result)
{
	for (size_t i = 0; i < result->n_notes; i++) {
		printf("Not as it was: ");
		ts_out_text(stdout, result->notes[i]);
		printf(".\n");
	}
	if (result->more_notes)
		printf("Not as it was: %" PRIu64 " more that are not listed.\n",
		       result->more_notes);
}

void ts_replayexec_print(const Ts__Rpc__ReplayResult *result)
{
	char figures[6][TS_OUT_FIGURE_BYTES];

	ts_out_text(stdout, result->path);
	printf(": session %u replayed on ", result->session);
	ts_out_text(stdout, result->executor);
	if (result->device) {
		printf(" (");
		ts_out_text(stdout, result->device);
		putchar(')');
	}
	printf(": %s\n", verdict_of(result));
	if (result->interrupted)
		printf("  interrupted: what follows was found up to then\n");
	printf("  %s of %s operations done, %s launch%s and %s cop%s among them, in %s\n",
	       ts_out_count(figures[0], result->operations),
	       ts_out_count(figures[1], result->captured),
	       ts_out_count(figures[2], result->launches), result->launches == 1 ? "" : "es",
	       ts_out_count(figures[3], result->copies), result->copies == 1 ? "y" : "ies",
	       ts_out_duration(figures[4], result->elapsed_ns));
	if (result->has_before)
		printf("  after %s others, so that all was as it was\n",
		       ts_out_count(figures[0], result->before));
	printf("  %s results compared with the capture's",
	       ts_out_count(figures[0], result->results));
	if (result->unchecked)
		printf(", %s that it does not have", ts_out_count(figures[1], result->unchecked));
	if (result->replays > 1)
		printf("; %u replays compared, and %s allocations at their ends", result->replays,
		       ts_out_count(figures[2], result->allocations));
	if (result->compared_points)
		printf(", and memory at %s points before",
		       ts_out_count(figures[3], result->compared_points));
	putchar('\n');
	ts_replaycheck_print(result);
	ts_replayschedule_print(result);
	print_notes(result);
	if (result->difference)
		print_difference(result->difference);
	if (result->refusal) {
		printf("Operation %" PRIu64 " (%s) %s: ", result->refusal->op_id,
		       result->refusal->kind ? result->refusal->kind : "of an unknown kind",
		       result->faulted_as_captured ? "ended the work, as in the capture"
						   : "could not be done");
		ts_out_text(stdout, result->refusal->why);
		printf(".\n");
		if (result->refusal->stack)
			ts_text_stack(result->refusal->stack, 2);
	}
	ts_replayexec_print_missing(result->n_unsupported, result->unsupported, result->ended,
				    result->cut);
}
