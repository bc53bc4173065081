/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of replay/report's messages in words, on standard output.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"

#include <stdbool.h>
#include <stdio.h>

/* The frames, a line each, with what they are called where that is known. */
void ts_text_stack(const Ts__Rpc__Stack *stack, unsigned int indent);
/* How far times can be off: a line, where there are several processes. NULL is fine. */
void ts_text_clocks(const Ts__Rpc__ClockBounds *bounds);

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
