/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that returned an error: which, how often, from where, and what is known of the cause. "Not ready" is an answer and no error.
 *
 * A call that failed to allocate has the bytes that it asked for. An error that a kernel made (an illegal address, an assertion, ...) is
 * found by a later call: its kernel is one of those launched since the last wait that succeeded, and they are listed.
 *
 * Reads the calls once, and where a kernel made an error the operations of devices, too. Memory is bounded by TS_ERRORS_MAX.
 * One thread at a time; nothing is printed.
 */
#pragma once

#include "sbt/reader.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TS_ERRORS_MAX	       1024u /* that are told apart; others are counted alone */
#define TS_ERRORS_MAX_SUSPECTS 64u

/* A launch since the last wait. */
struct ts_error_suspect {
	uint64_t op_id;
	uint32_t stack;
	uint32_t kernel; /* string id of its name; 0: no row of a device came of it */
	bool is_other;	 /* a copy or a set: no suspect */
};

/* Calls of one function that failed alike, from one stack. */
struct ts_call_error {
	uint32_t session;
	uint32_t domain, cbid; /* of the function */
	int32_t result;
	uint32_t stack;
	uint32_t thread; /* of the first, as are the following */
	uint64_t count;
	uint64_t start_ns, op_id;
	uint64_t bytes; /* that it asked for; 0: it allocates nothing, or it is not known */
	/* The first error of a session that a kernel made; the last launch first. */
	struct ts_error_suspect *suspects;
	size_t n_suspects;
};

struct ts_call_errors {
	struct ts_call_error *at; /* in the order of their first call */
	size_t n;
	uint64_t n_calls; /* that failed, all of them */
	bool is_damaged;  /* blocks were left out: what they held is missing here */
};

/* `session` 0: all. Errors: -ENOMEM, those of sbt/reader.h. */
int ts_call_errors_read(struct ts_sbt_reader *reader, uint32_t session,
			struct ts_call_errors **ret_errors);
void ts_call_errors_free(struct ts_call_errors *errors); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_call_errors *, ts_call_errors_freep, ts_call_errors_free)

/* A call that returned this failed. */
bool ts_call_failed(int32_t result);

#ifdef __cplusplus
}
#endif
