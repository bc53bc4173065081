/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of replay/report's messages in words, on standard output.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"

#include <stdbool.h>
#include <stdio.h>

/* The frames, a line each, with what they are called where that is known. */
void ts_text_stack(const Ts__Rpc__Stack *stack, unsigned int indent);
/* How far times can be off: a line, where there are several processes. NULL is fine. */
void ts_text_clocks(const Ts__Rpc__ClockBounds *bounds);

/*
 * "launch (network.c:12) < device_step (network.c:88)"; "2 places, mostly ..." if there are several. "" for no site. Goes with the
 * pool.
 */
const char *ts_text_launchers(struct ts_pool *pool, size_t n_sites,
			      Ts__Rpc__LaunchSite *const *sites, uint64_t n_places);
/* A part of a critical path by its name in JSON: in a word, and as a sum of such parts. */
const char *ts_text_part(const char *part);
const char *ts_text_part_sum(const char *part);
/* Prints a text of our own behind `indent` blanks in every line, broken at blanks to the terminal's width, and ends the line. */
void ts_text_paragraph(FILE *file, const char *text, unsigned int indent);
/* Prints that the times of a virtual GPU on its model's clock and the host's are not comparable. */
void ts_text_model_clock(FILE *file);
/* `of`: "", or whose; nothing where there are none. */
void ts_text_doubts(FILE *file, const char *of, const Ts__Rpc__Doubts *doubts);
/* What was named after it was freed, and pools; nothing where there is nothing to tell. */
void ts_text_misuses(const Ts__Rpc__MemoryReport *report, uint64_t origin_ns, bool stacks,
		     bool wide);
/* Calls that failed; nothing where there are none. */
void ts_text_errors(size_t n, Ts__Rpc__CallError *const *errors, uint64_t failed_calls,
		    uint64_t origin_ns);
