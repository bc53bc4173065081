/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a trace has no GPU rows, in words that say what to do. What the processes said themselves comes
 * first; then what could be told of the command and of the machine before it ran.
 */
#pragma once

#include "tools/tsctl/record/record-program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Metadata: what `tsctl record` knew of the command, for the case that nothing of it is in the trace. */
#define TS_METADATA_EMPTY_HINT "empty_hint"

#define TS_WHY_BYTES	       1024

/*
 * What to say if no process of the command reports anything. `injection_path`: CUDA_INJECTION64_PATH of its
 * environment where it is another tool's, else NULL.
 */
void ts_why_hint(const struct ts_program *program, bool vgpu, const char *injection_path,
		 char text[TS_WHY_BYTES]);

struct ts_why {
	const char *
		reason; /* of the first process that had one: a name of enum ts_empty_reason; or NULL */
	const char *reason_text;
	const char *reason_program;
	uint64_t n_sessions;	/* processes that used CUDA, or said something of themselves */
	uint64_t n_halves;	/* of these: seen from outside, their host half alone */
	uint64_t n_annotations; /* marks, ranges, counters of the application's */
	uint64_t n_unjoined; /* calls that ask a GPU for something, and that it was not told of */
	const char *
		end; /* how a process ended that did not end by itself: "killed by SIGTERM"; NULL: all did, or it is not known */
	bool stopped;	  /* recording was, at some time */
	const char *hint; /* NULL: none */
};

/* One line, no full stop. */
void ts_why_empty(const struct ts_why *why, char text[TS_WHY_BYTES]);
