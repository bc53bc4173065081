/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sentences about answers, for people: the same in tsctl's text and in the page of tools/export.
 * The texts contain names of the trace as they are; the caller escapes them. Pure functions;
 * thread-safe.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"

#include <stddef.h>
#include <stdint.h>

#define TS_WORDS_PART_BYTES 512u

/* Returns the sentence of AnalysisReport.verdict, with line ends; "" for an unknown verdict. */
const char *ts_words_verdict(const char *verdict);
/* Returns the objects that AnalysisFinding.finding counts; "" for an unknown finding. */
const char *ts_words_finding(const char *finding);
/* The times of a virtual GPU on its model's clock are not comparable to host times. */
const char *ts_words_model_clock(void);
/* Kernels were timed and not computed. */
const char *ts_words_timed_kernels(void);

/*
 * Returns "launch (network.c:12) < device_step (network.c:88)", or "2 places, mostly ..." for
 * several sites, or "" for none. The pool owns the text.
 */
const char *ts_words_launchers(struct ts_pool *pool, size_t n_sites,
			       Ts__Rpc__LaunchSite *const *sites, uint64_t n_places);

/*
 * Writes the text of the part `parts[i]` of a gap's time. `of_tid`: a thread that the reader knows,
 * and that is not named; 0: none.
 */
void ts_words_gap_part(Ts__Rpc__GapPart *const *parts, size_t n, size_t i, uint32_t of_tid,
		       char ret_text[TS_WORDS_PART_BYTES]);

/*
 * Returns "Uncertain, of 12 operations: ...", or "" for none. `of`: "", or the owner of the doubts.
 * The pool owns the text.
 */
const char *ts_words_doubts(struct ts_pool *pool, const char *of, const Ts__Rpc__Doubts *doubts);
