/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of `tsctl replay`, which cmd-replay.c parses, and the printers of its messages
 * (replay/report/replay/replay.h). This process or the daemon computes the messages.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/exec/exec-schedule.h"
#include "replay/report/report-pool.h"
#include "tools/tsctl/trace/ask.h"

struct ts_replay_asked {
	struct ts_asking asking;
	bool json;
	bool debug; /* stop in kernels and read commands from stdin */
	Ts__Rpc__Query__Replay query;
	Ts__Rpc__Moment from, to;
	Ts__Rpc__Query__Decisions decisions[TS_EXEC_MAX_DECISIONS];
	Ts__Rpc__Query__Decisions *decision_list[TS_EXEC_MAX_DECISIONS];
	struct ts_pool pool; /* owns the memory that `query` refers to */
	int status;	     /* exit status so far */
};

/*
 * Adds one edit, or those of the file behind an @. Prints an error and returns -EINVAL if one is
 * wrong.
 */
int ts_replayemulate_add(struct ts_replay_asked *asked, const char *text);
void ts_replayemulate_print(const Ts__Rpc__ReplayReport *report);
void ts_replayplan_print(const Ts__Rpc__ReplayPlan *plan);
void ts_replaydry_print(const Ts__Rpc__CapturePlan *plan);
void ts_replayexec_print(const Ts__Rpc__ReplayResult *result);
/* Prints the first line, with the verdict. */
void ts_replayverdict_print(const Ts__Rpc__ReplayResult *result);

/*
 * Print "operation 13 (launch of scale(float*)) in stream 14"; "stream 14"; ", by cudaLaunchKernel
 * at main (app.cu:48)".
 */
void ts_replayside_print(const Ts__Rpc__ReplaySide *side);
void ts_replayside_print_short(const Ts__Rpc__ReplaySide *side); /* "operation 13 (scale) in ..." */
/*
 * Returns "ns::scale<float>" for a signature, or "ns::scale" without template arguments. The caller
 * frees it. NULL: memory is short.
 */
char *ts_replayside_name(const char *signature, bool with_arguments);
void ts_replayside_print_kernel(const char *signature); /* its name, in at most 48 columns */
/*
 * Prints the operation's stack. Prints nothing if the site that ts_replayside_print_site() prints
 * is the stack's only frame.
 */
void ts_replayside_print_stack(const Ts__Rpc__ReplaySide *side, const Ts__Rpc__Stack *stack);
void ts_replayside_print_stream(const Ts__Rpc__ReplaySide *side);
void ts_replayside_print_site(const Ts__Rpc__ReplaySide *side);
/* Prints `what` and the first remedy on a line, and each other remedy on a line. */
void ts_replayside_print_remedies(const char *what, size_t n, char *const *remedies);
void ts_replayexec_print_missing(size_t n_unsupported, char *const *unsupported, const char *ended,
				 bool cut);

/* Names of checks; NULL ends the list. */
extern const char *const ts_replaycheck_words[];
/* True if the text is a list of checks, and therefore not a file. */
bool ts_replaycheck_is_list(const char *text);
/*
 * Parses "races,init,bounds,order" or "all". Prints an error and returns -EINVAL if a word is
 * unknown.
 */
int ts_replaycheck_parse(struct ts_replay_asked *asked, const char *text);
void ts_replaycheck_print(const Ts__Rpc__ReplayResult *result);
/* Returns the finding that most probably causes the others. The result must have a finding. */
const Ts__Rpc__ReplayFinding *ts_replaycheck_gravest(const Ts__Rpc__ReplayResult *result);

/*
 * Parses "7" or "7:17,40-45": a seed, and optionally the only decisions of this seed to apply.
 * Prints an error and returns -EINVAL if it is malformed.
 */
int ts_replayschedule_parse(struct ts_replay_asked *asked, const char *text);
void ts_replayschedule_print(const Ts__Rpc__ReplayResult *result);

/*
 * True if the daemon's answer has all parts that the printers need, and no control characters in
 * its fixed words.
 */
bool ts_replaywhole(const Ts__Rpc__ReplayAnswer *answer);
