/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `tsctl replay` was asked: cmd-replay.c reads the options. What comes of it are messages (replay/report/replay/replay.h), worked
 * out here or by the daemon, and printed by these.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/exec/exec-schedule.h"
#include "replay/report/report-pool.h"
#include "tools/tsctl/trace/ask.h"

struct ts_replay_asked {
	struct ts_asking asking;
	bool json;
	bool debug; /* kernels are stopped, for commands from stdin */
	Ts__Rpc__Query__Replay query;
	Ts__Rpc__Moment from, to;
	Ts__Rpc__Query__Decisions decisions[TS_EXEC_MAX_DECISIONS];
	Ts__Rpc__Query__Decisions *decision_list[TS_EXEC_MAX_DECISIONS];
	struct ts_pool pool; /* of what the query points to */
	int status;	     /* what was found, so far */
};

/* One edit, or @ and the file that has them. A complaint and -EINVAL. */
int ts_replayemulate_add(struct ts_replay_asked *asked, const char *text);
void ts_replayemulate_print(const Ts__Rpc__ReplayReport *report);
void ts_replayplan_print(const Ts__Rpc__ReplayPlan *plan);
void ts_replaydry_print(const Ts__Rpc__CapturePlan *plan);
void ts_replayexec_print(const Ts__Rpc__ReplayResult *result);
/* The first line, which answers. */
void ts_replayverdict_print(const Ts__Rpc__ReplayResult *result);

/* "operation 13 (launch of scale(float*)) in stream 14"; "stream 14"; ", by cudaLaunchKernel at main (app.cu:48)". */
void ts_replayside_print(const Ts__Rpc__ReplaySide *side);
void ts_replayside_print_short(const Ts__Rpc__ReplaySide *side); /* "operation 13 (scale) in ..." */
/* "ns::scale<float>" of a signature, "ns::scale" without template arguments; the caller's to free. NULL: no memory. */
char *ts_replayside_name(const char *signature, bool with_arguments);
void ts_replayside_print_kernel(const char *signature); /* its name, in at most 48 columns */
/* The operation's stack, unless its site tells all of it. */
void ts_replayside_print_stack(const Ts__Rpc__ReplaySide *side, const Ts__Rpc__Stack *stack);
void ts_replayside_print_stream(const Ts__Rpc__ReplaySide *side);
void ts_replayside_print_site(const Ts__Rpc__ReplaySide *side);
/* A line each: `what` and the first one, or the others. */
void ts_replayside_print_remedies(const char *what, size_t n, char *const *remedies);
void ts_replayexec_print_missing(size_t n_unsupported, char *const *unsupported, const char *ended,
				 bool cut);

/* The checks that a list may name; NULL ends them. */
extern const char *const ts_replaycheck_words[];
/* Whether it is such a list as follows, and so no file. */
bool ts_replaycheck_is_list(const char *text);
/* "races,init,bounds,order", or "all". A complaint and -EINVAL where it is none of these. */
int ts_replaycheck_parse(struct ts_replay_asked *asked, const char *text);
void ts_replaycheck_print(const Ts__Rpc__ReplayResult *result);
/* The finding that most probably is the cause of others; there is one. */
const Ts__Rpc__ReplayFinding *ts_replaycheck_gravest(const Ts__Rpc__ReplayResult *result);

/* "7", or "7:17,40-45": a seed, and which of its decisions alone count. A complaint and -EINVAL where it is neither. */
int ts_replayschedule_parse(struct ts_replay_asked *asked, const char *text);
void ts_replayschedule_print(const Ts__Rpc__ReplayResult *result);

/* Whether the daemon's answer has all that its kind of answer has: what is printed looks no further, and prints no control character. */
bool ts_replaywhole(const Ts__Rpc__ReplayAnswer *answer);
