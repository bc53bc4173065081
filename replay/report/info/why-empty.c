/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains an empty trace: see why-empty.h. traceinfo.c and tsctl's recordsummary.c call this file.
 * An empty trace is the most common problem of first-time users of a profiler; each branch is a
 * known cause.
 */
#include "replay/report/info/why-empty.h"

#include "proto/abi/base.h"

#include <inttypes.h>
#include <stdio.h>

static const char *advice(const char *reason)
{
	static const struct {
		const char *reason, *advice;
	} advices[] = {
		{"no_cupti",
		 "; install it (CUPTI comes with the CUDA toolkit) or set TRACESMITH_CUPTI to its path"},
		{"cupti_held", "; end the other profiler and record again"},
		{"injection_held", "; unset CUDA_INJECTION64_PATH and record again"},
		{"cupti_too_old", "; install a newer CUPTI"},
		{"no_memory", "; a smaller --ring-size needs less"},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(advices); i++)
		if (!strcmp(advices[i].reason, reason))
			return advices[i].advice;
	return "";
}

void ts_why_empty(const struct ts_why *why, char text[TS_WHY_BYTES])
{
	if (why->reason && *why->reason) {
		bool said = why->reason_text && *why->reason_text;
		bool named = why->reason_program && *why->reason_program;

		snprintf(text, TS_WHY_BYTES, "%.64s%s%.512s%s", named ? why->reason_program : "",
			 named ? ": " : "", said ? why->reason_text : why->reason,
			 advice(why->reason));
	} else if (why->n_halves && why->n_halves == why->n_sessions) {
		snprintf(text, TS_WHY_BYTES,
			 "host half only: calls were recorded from outside, without the work of "
			 "the GPU; preload libtsinject.so to record both");
	} else if (why->n_unjoined) {
		snprintf(text, TS_WHY_BYTES,
			 "the GPU work of %" PRIu64 " call%s was not reported%s%.200s%s",
			 why->n_unjoined, why->n_unjoined == 1 ? "" : "s",
			 why->end ? ": the program was " : "", why->end ? why->end : "",
			 why->end ? " first" : "");
	} else if (why->n_annotations) {
		snprintf(text, TS_WHY_BYTES,
			 "nothing was launched, copied or set; the trace has the application's "
			 "marks, ranges and counters");
	} else if (why->n_sessions && why->stopped) {
		snprintf(text, TS_WHY_BYTES,
			 "nothing was launched, copied or set while recording was on; `tsctl "
			 "start` starts recording");
	} else if (why->n_sessions) {
		bool more = why->hint && *why->hint &&
			    strncmp(why->hint, TS_WHY_NOBODY, strlen(TS_WHY_NOBODY));

		snprintf(text, TS_WHY_BYTES,
			 "CUDA was initialised, but nothing was launched, copied or set%s%.900s",
			 more ? "; " : "", more ? why->hint : "");
	} else {
		snprintf(text, TS_WHY_BYTES, "%.1000s",
			 why->hint && *why->hint ? why->hint : "no process initialised CUDA");
	}
}
