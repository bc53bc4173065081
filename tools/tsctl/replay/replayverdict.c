/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the first line of a replay's result: the verdict in a sentence. replayexec.c calls this
 * file.
 */
#include "tools/tsctl/replay/replay-command.h"
#include "tools/tsctl/screen/out.h"

#include "proto/abi/base.h"

#include <inttypes.h>
#include <string.h>

/* ---- differences ----------------------------------------------------------------------------- */

static void print_place(const Ts__Rpc__ReplayDifference *found)
{
	if (!found->has_op_id)
		printf(", in memory at the end");
	else if (found->in_memory)
		printf(", in memory after operation %" PRIu64, found->op_id);
	else
		printf(", in the data that operation %" PRIu64 " copied to the host", found->op_id);
}

static void print_element(const Ts__Rpc__ReplayDifference *found)
{
	printf("element %" PRIu64, found->element_index);
	if (found->element_part) {
		putchar('.');
		ts_out_text(stdout, found->element_part);
	}
	printf(" (");
	ts_out_text(stdout, found->element_type);
	printf(") is ");
	ts_out_text(stdout, found->found_value);
	printf(", was ");
	ts_out_text(stdout, found->expected_value);
}

static void print_value(const Ts__Rpc__ReplayDifference *found)
{
	bool is_capture = !strcmp(found->from, "capture");
	const char *from = is_capture			    ? "capture"
			   : !strcmp(found->from, "replay") ? "first replay"
							    : "usual order";
	size_t n = found->found ? strlen(found->found) / 2 : 0;
	char figure[TS_OUT_FIGURE_BYTES];

	if (found->found_value && found->expected_value && found->element_type)
		print_element(found);
	else if (n == 1)
		printf("1 byte at offset %" PRIu64 " is 0x%s, was 0x%s", found->offset,
		       found->found, found->expected);
	else if (n)
		printf("%zu bytes from offset %" PRIu64 " are (hex) %s, were %s", n, found->offset,
		       found->found, found->expected);
	else
		printf("some of %s bytes differ from the %s", ts_out_count(figure, found->bytes),
		       from);
	if (n && !is_capture)
		printf(" in the %s", from);
	print_place(found);
}

/* ---- what checks found ----------------------------------------------------------------------- */

static void print_kernel(const Ts__Rpc__ReplayFinding *finding)
{
	if (finding->access)
		ts_replayside_print_short(finding->access);
	else
		printf("an operation");
}

static const char *access_of(const Ts__Rpc__ReplayFinding *finding)
{
	const char *access = finding->access ? finding->access->access : NULL;

	return access && !strcmp(access, "write")    ? "writes"
	       : access && !strcmp(access, "atomic") ? "updates"
						     : "reads";
}

static void print_pair(const Ts__Rpc__ReplayFinding *finding)
{
	const Ts__Rpc__ReplaySide *earlier = finding->earlier, *later = finding->access;

	if (!earlier || !later) {
		printf("nothing orders two operations");
		return;
	}
	printf("nothing orders ");
	ts_replayside_print_short(earlier);
	printf(" and ");
	ts_replayside_print_short(later);
}

static void print_finding(const Ts__Rpc__ReplayFinding *finding)
{
	const char *kind = finding->kind;

	if (!strcmp(kind, "unordered")) {
		print_pair(finding);
	} else if (!strcmp(kind, "race")) {
		printf("a data race between two threads of ");
		print_kernel(finding);
	} else if (!strcmp(kind, "host-changed")) {
		printf("the host changed memory before operation %" PRIu64 " had copied it",
		       finding->earlier ? finding->earlier->op_id : 0);
	} else {
		print_kernel(finding);
		printf(" %s memory that %s", access_of(finding),
		       !strcmp(kind, "unwritten")	? "was never written"
		       : !strcmp(kind, "out-of-bounds") ? "is not allocated"
							: "it has no pointer to");
	}
}

static void print_findings(const Ts__Rpc__ReplayResult *result)
{
	uint64_t more = result->n_findings - 1 + result->more_findings;
	char figure[TS_OUT_FIGURE_BYTES];

	print_finding(ts_replaycheck_gravest(result));
	if (more)
		printf("; and %s more", ts_out_count(figure, more));
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* The last decision changes the result. */
static void print_order(const Ts__Rpc__ReplayResult *result)
{
	const Ts__Rpc__ReplayDecision *last =
		result->n_decisions ? result->decisions[result->n_decisions - 1] : NULL;

	if (!last || !result->smallest) {
		printf("a result depends on an order that CUDA does not guarantee");
	} else if (strcmp(last->kind, "held") != 0) {
		printf("a result depends on the order of the %s of ",
		       !strcmp(last->kind, "blocks") ? "blocks" : "threads");
		if (last->done)
			ts_replayside_print_short(last->done);
		else
			printf("operation %" PRIu64, last->op_id);
	} else if (last->done && last->first_done) {
		printf("a result depends on the order of ");
		ts_replayside_print_short(last->done);
		printf(" and ");
		ts_replayside_print_short(last->first_done);
		if (last->first_done->sequence != last->last_done->sequence)
			printf(" or later ones");
	} else {
		printf("a result depends on when operation %" PRIu64 " is done", last->op_id);
	}
}

static void print_orders(const Ts__Rpc__ReplayResult *result)
{
	uint32_t n = result->schedules, late = result->unfinished < n ? result->unfinished : n;
	char figure[TS_OUT_FIGURE_BYTES];

	if (!n)
		printf("no other order was tried");
	else if (late == n)
		printf("the results of other orders are unknown: none of %s ended",
		       ts_out_count(figure, n));
	else
		printf("the results are the same in %s other order%s",
		       ts_out_count(figure, n - late), n - late == 1 ? "" : "s");
}

/* ---- all ------------------------------------------------------------------------------------- */

static void print_refusal(const Ts__Rpc__ReplayResult *result, const char *what)
{
	printf("%s at operation %" PRIu64, what, result->refusal->op_id);
	if (result->refusal->operation && result->refusal->operation->name) {
		printf(" (");
		ts_replayside_print_kernel(result->refusal->operation->name);
		putchar(')');
	}
	printf(": ");
	ts_out_text(stdout, result->refusal->why);
}

static void print_same(const Ts__Rpc__ReplayResult *result)
{
	if (result->faulted_as_captured && result->refusal)
		print_refusal(result, "as in the capture, a fault ended the work");
	else if (result->results)
		printf("the replay is the same as the capture");
	else if (result->replays > 1)
		printf("all replays are the same; the capture has no result to compare them with");
	else
		printf("all operations were done; the capture has no result to compare them with");
}

static void print_replay(const Ts__Rpc__ReplayResult *result)
{
	const char *verdict = result->verdict;

	if (!strcmp(verdict, "nondeterministic") && result->has_smallest) {
		print_order(result);
	} else if (!strcmp(verdict, "nondeterministic")) {
		printf("the program is nondeterministic");
	} else if (!strcmp(verdict, "differs") && !result->difference && result->refusal) {
		print_refusal(result, "the replay differs from the capture: it stopped");
		return;
	} else if (!strcmp(verdict, "differs")) {
		printf("the replay differs from the capture");
	} else if (!strcmp(verdict, "unfinished") && result->refusal) {
		print_refusal(result, "the replay did not end: it stopped");
		return;
	} else if (!strcmp(verdict, "interrupted")) {
		printf("the replay was interrupted; no difference up to there");
		return;
	} else if (strcmp(verdict, "same") != 0) {
		printf("the replay did not end");
		return;
	} else if (result->has_schedules && !result->faulted_as_captured) {
		print_orders(result);
		return;
	} else {
		print_same(result);
		return;
	}
	if (result->difference) {
		printf(": ");
		print_value(result->difference);
	} else if (result->refusal) {
		printf(": ");
		print_refusal(result, "it stopped");
	}
}

void ts_replayverdict_print(const Ts__Rpc__ReplayResult *result)
{
	ts_out_text(stdout, result->path);
	printf(": session %u on ", result->session);
	ts_out_text(stdout, result->executor);
	printf(": ");
	if (result->n_findings) {
		print_findings(result);
		if (strcmp(result->verdict, "same") != 0) {
			printf("; ");
			print_replay(result);
		}
	} else {
		if (result->n_checked && !strcmp(result->verdict, "same"))
			printf("--check found nothing%s; ",
			       result->unlooked ? " in the accesses that it could check" : "");
		print_replay(result);
	}
	puts(".");
}
