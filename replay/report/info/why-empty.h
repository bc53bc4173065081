/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains why a trace has no GPU rows, and what the user can do. Reasons that processes reported
 * come first. Facts about the command and the machine, collected before the command ran, come next.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Metadata: a text from `tsctl record` about the command, in case the trace is empty. */
#define TS_METADATA_EMPTY_HINT "empty_hint"
/* Prefix of statements that hold only if no process reported anything. */
#define TS_WHY_NOBODY "no process of the command"

#define TS_WHY_BYTES  1024

struct ts_why {
	/* Reason of the first process that has one: a name of enum ts_empty_reason; or NULL. */
	const char *reason;
	const char *reason_text;
	const char *reason_program;
	uint64_t n_sessions;	/* processes that used CUDA or reported a reason */
	uint64_t n_halves;	/* of these, host half only */
	uint64_t n_annotations; /* the application's marks, ranges, counters */
	uint64_t n_unjoined;	/* GPU calls without device rows */
	/* How a process ended abnormally: "killed by SIGTERM". NULL: none did, or unknown. */
	const char *end;
	bool stopped;	  /* recording was stopped at some time */
	const char *hint; /* NULL: none */
};

/* Writes one line without a full stop. */
void ts_why_empty(const struct ts_why *why, char text[TS_WHY_BYTES]);
