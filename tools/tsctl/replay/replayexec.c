/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the results of `tsctl replay` on the virtual GPU and real ones. cmd-replay.c calls this
 * file; replayverdict.c, replaycheck.c and replayschedule.c print parts.
 */
#include "tools/tsctl/replay/replay-command.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <string.h>

void ts_replayexec_print_missing(size_t n_unsupported, char *const *unsupported, const char *ended,
				 bool cut)
{
	for (size_t i = 0; i < n_unsupported; i++) {
		printf("Not captured and not replayed: ");
		ts_out_text(stdout, unsupported[i]);
		putchar('\n');
	}
	if (ended) {
		printf("The capture ended early: ");
		ts_out_text(stdout, ended);
		printf(".\n");
	}
	if (cut)
		printf("The capture lacks operations after its last one.\n");
}

static void print_type(const Ts__Rpc__ReplayDifference *found)
{
	if (found->typed_by && found->element_type) {
		printf("  type ");
		ts_out_text(stdout, found->element_type);
		printf(" and index: parameter %" PRIu32 " of ", found->parameter);
		ts_replayside_print(found->typed_by);
		putchar('\n');
	} else if (found->expected) {
		printf("  type: unknown; no earlier kernel has a parameter of a known type that "
		       "points there\n");
	} else {
		printf("  values: unknown; the bytes of the other replay were not kept\n");
	}
}

static void print_bytes(const Ts__Rpc__ReplayDifference *found)
{
	char figure[TS_OUT_FIGURE_BYTES];

	printf("  at 0x%" PRIx64, found->address);
	if (found->has_buffer_address) {
		printf(", offset %" PRIu64 " of the %s bytes ", found->buffer_offset,
		       ts_out_count(figure, found->buffer_bytes));
		if (found->buffer_name) {
			printf("of the variable ");
			ts_out_text(stdout, found->buffer_name);
		} else {
			printf("that operation %" PRIu64 " allocated", found->buffer_op_id);
		}
	}
	if (found->expected)
		printf(": %s, was %s (hex, %zu byte%s)", found->found, found->expected,
		       strlen(found->found) / 2, strlen(found->found) == 2 ? "" : "s");
	putchar('\n');
}

static void print_difference(const Ts__Rpc__ReplayDifference *found)
{
	printf("First difference from %s:\n", !strcmp(found->from, "replay") ? "the first replay"
					      : !strcmp(found->from, "schedule") ? "the usual order"
										 : "the capture");
	if (found->operation) {
		printf("  %s ", found->in_memory ? "memory after" : "result of");
		ts_replayside_print(found->operation);
		ts_replayside_print_site(found->operation);
		putchar('\n');
	} else {
		printf("  memory at the end\n");
	}
	print_bytes(found);
	print_type(found);
	if (found->operation)
		ts_replayside_print_stack(found->operation, found->stack);
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

static void print_refusal(const Ts__Rpc__ReplayResult *result)
{
	const Ts__Rpc__ReplayRefusal *refusal = result->refusal;

	if (refusal->operation) {
		printf("Stopped at ");
		ts_replayside_print(refusal->operation);
		ts_replayside_print_site(refusal->operation);
	} else {
		printf("Stopped at operation %" PRIu64 " (%s)", refusal->op_id,
		       refusal->kind ? refusal->kind : "of an unknown kind");
	}
	printf(", which %s: ", result->faulted_as_captured ? "ended the work, as in the capture"
							   : "could not be replayed");
	ts_out_text(stdout, refusal->why);
	putchar('\n');
	if (refusal->operation)
		ts_replayside_print_stack(refusal->operation, refusal->stack);
}

void ts_replayexec_print(const Ts__Rpc__ReplayResult *result)
{
	char figures[6][TS_OUT_FIGURE_BYTES];

	ts_replayverdict_print(result);
	if (result->device) {
		printf("  on ");
		ts_out_text(stdout, result->device);
		putchar('\n');
	}
	if (result->interrupted)
		printf("  interrupted: the results below are those up to then\n");
	printf("  %s of %s operations done, %s launch%s and %s cop%s among them, in %s\n",
	       ts_out_count(figures[0], result->operations),
	       ts_out_count(figures[1], result->captured),
	       ts_out_count(figures[2], result->launches), result->launches == 1 ? "" : "es",
	       ts_out_count(figures[3], result->copies), result->copies == 1 ? "y" : "ies",
	       ts_out_duration(figures[4], result->elapsed_ns));
	if (result->has_before)
		printf("  after %s earlier operations, which restore the state\n",
		       ts_out_count(figures[0], result->before));
	printf("  %s result%s compared with the capture's",
	       ts_out_count(figures[0], result->results), result->results == 1 ? "" : "s");
	if (result->unchecked)
		printf(", %s not in the capture", ts_out_count(figures[1], result->unchecked));
	if (result->replays > 1)
		printf("; %u replays compared, and %s allocation%s at their ends", result->replays,
		       ts_out_count(figures[2], result->allocations),
		       result->allocations == 1 ? "" : "s");
	if (result->compared_points)
		printf(", and memory at %s point%s before",
		       ts_out_count(figures[3], result->compared_points),
		       result->compared_points == 1 ? "" : "s");
	putchar('\n');
	ts_replaycheck_print(result);
	ts_replayschedule_print(result);
	print_notes(result);
	if (result->difference)
		print_difference(result->difference);
	if (result->refusal)
		print_refusal(result);
	ts_replayexec_print_missing(result->n_unsupported, result->unsupported, result->ended,
				    result->cut);
}
