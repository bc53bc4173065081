/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that returned an error: function, count, stack, and the known cause. "Not ready" is an
 * answer and not an error.
 *
 * A failed allocation has the requested bytes. An error inside a kernel (an illegal address, an
 * assertion, ...) is returned by a later call. The kernel is one of those launched since the last
 * successful wait; these are listed as suspects.
 *
 * The module reads the calls once, and device rows once if a kernel failed. Memory is bounded by
 * TS_ERRORS_MAX. Not thread-safe; prints nothing.
 */
#pragma once

#include "sbt/reader.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TS_ERRORS_MAX	       1024u /* groups; further errors are only counted */
#define TS_ERRORS_MAX_SUSPECTS 64u

/* A launch since the last wait. */
struct ts_error_suspect {
	uint64_t op_id;
	uint32_t stack;
	uint32_t kernel; /* string: its name; 0: no device row */
	bool is_other;	 /* a copy or a set, so no suspect */
};

/* Failed calls of one function with one result and one stack. */
struct ts_call_error {
	uint32_t session;
	uint32_t domain, cbid; /* the function */
	int32_t result;
	uint32_t stack;
	uint32_t thread; /* thread, start_ns, op_id and bytes are those of the first call */
	uint64_t count;
	uint64_t start_ns, op_id;
	/* bytes that the call requested; 0: the call allocates nothing, or unknown */
	uint64_t bytes;
	/*
	 * Launches that may have caused the error; last launch first. Only for a session's first
	 * error of a kernel.
	 */
	struct ts_error_suspect *suspects;
	size_t n_suspects;
};

struct ts_call_errors {
	struct ts_call_error *at; /* in the order of first calls */
	size_t n;
	uint64_t n_calls; /* all failed calls */
	bool is_damaged;  /* damaged blocks were left out */
};

/*
 * Collects the failed calls. `session` 0: all. Returns -ENOMEM or the errors of sbt/reader.h. The
 * caller frees *ret_errors.
 */
int ts_call_errors_read(struct ts_sbt_reader *reader, uint32_t session,
			struct ts_call_errors **ret_errors);
void ts_call_errors_free(struct ts_call_errors *errors); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_call_errors *, ts_call_errors_freep, ts_call_errors_free)

/* True if this result of a call is an error. */
bool ts_call_failed(int32_t result);

#ifdef __cplusplus
}
#endif
