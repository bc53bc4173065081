/* SPDX-License-Identifier: Apache-2.0 */
/* Prints parts of replay/report's messages as text on standard output. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"

#include <stdbool.h>
#include <stdio.h>

/* Prints one line per frame, with its symbol if known. */
void ts_text_stack(const Ts__Rpc__Stack *stack, unsigned int indent);
/* Prints the clock error as a line if there are several processes. `bounds` may be NULL. */
void ts_text_clocks(const Ts__Rpc__ClockBounds *bounds);

/*
 * Return the text for a part of a critical path, by its JSON name: as a word, and as a sum of such
 * parts.
 */
const char *ts_text_part(const char *part);
const char *ts_text_part_sum(const char *part);
/*
 * Prints a fixed text behind `indent` blanks per line, broken at blanks to the terminal's width,
 * and ends the line.
 */
void ts_text_paragraph(FILE *file, const char *text, unsigned int indent);
/* Prints that the times of a virtual GPU on its model's clock are not comparable to host times. */
void ts_text_model_clock(FILE *file);
/* Prints that kernels were timed and not computed. */
void ts_text_timed_kernels(FILE *file);
/* Prints doubts, or nothing if there are none. `of`: "", or the owner of the doubts. */
void ts_text_doubts(FILE *file, const char *of, const Ts__Rpc__Doubts *doubts);
/* Prints uses of freed memory, and pools; prints nothing if there are none. */
void ts_text_misuses(const Ts__Rpc__MemoryReport *report, uint64_t origin_ns, bool stacks,
		     bool wide);
/* Prints failed calls; prints nothing if there are none. */
void ts_text_errors(size_t n, Ts__Rpc__CallError *const *errors, uint64_t failed_calls,
		    uint64_t origin_ns);
