/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trace holds of a session to do again: its operations in order, and their contents. Taken from `tsctl record --capture
 * replay`; a trace without has none.
 *
 * The trace is a stranger's: what is here was only put in order. Who does an operation checks it.
 *
 * One thread at a time, which has the reader. Errors: 0, -errno, an error of the reader's (sbt/error.h), or one of these.
 */
#pragma once

#include "proto/abi/capture-config.h"
#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ts_exec_error {
	TS_EXEC_E_NOT_CAPTURED = 100, /* the session has no operations */
	TS_EXEC_E_TOO_MANY,	      /* more than TS_EXEC_MAX_OPERATIONS */
	TS_EXEC_E_CONTENT, /* a content is not there, is not what its hash says, or is too long */
	TS_EXEC_E_REFUSED, /* an operation cannot be done: the text says why */
	TS_EXEC_E_NOTHING, /* no operation is selected */
};

#define TS_EXEC_MAX_OPERATIONS TS_CAPTURE_MAX_OPERATIONS

struct ts_exec_program {
	struct ts_sbt_reader *reader;
	uint32_t session;
	struct ts_row_operation *operations; /* of sequence 1, 2, ... */
	size_t n;
	size_t n_unsupported; /* of them */
	bool ended;	      /* the last one says why there is no more */
	bool cut; /* an operation is missing behind the last one, and others came after it */
	uint8_t *selected; /* of each, whether it counts; NULL: all do */
	size_t n_selected;
	size_t end; /* operations up to the last that counts */
};

/* The reader outlives the program. */
int ts_exec_program_new(struct ts_sbt_reader *reader, uint32_t session,
			struct ts_exec_program **ret_program);
void ts_exec_program_free(struct ts_exec_program *program); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_exec_program *, ts_exec_program_freep, ts_exec_program_free)

/* Which operations count: those for which all that is given holds. */
struct ts_exec_query {
	bool has_ops, has_stream, has_from, has_to;
	uint64_t first_op, last_op; /* calls, both included */
	uint64_t from_ns, to_ns;    /* when they began, both included */
	uint32_t stream;	    /* in which they did something */
};

/*
 * Those alone count from now on: a replay does what lies before them so that all is as it was, and ends behind the last of them.
 * What a copy brought counts as the copy does. 0, -errno, TS_EXEC_E_NOTHING, an error of the reader's.
 */
int ts_exec_program_select(struct ts_exec_program *program, const struct ts_exec_query *query);

static inline bool ts_exec_program_counts(const struct ts_exec_program *program, size_t i)
{
	return !program->selected || program->selected[i];
}

/* The allocation that holds an address when an operation is done, as far as operations tell: its own, or NULL. */
const struct ts_row_operation *ts_exec_program_allocation(const struct ts_exec_program *program,
							  uint64_t sequence, uint64_t address);

/* A content. The bytes are the caller's to keep between calls; zero-initialised is empty. */
struct ts_exec_content {
	uint8_t *bytes; /* with a NUL behind */
	size_t n;
	size_t capacity;
};
void ts_exec_content_deinit(struct ts_exec_content *content);

/* Fetches what blob `number` stands for: at most max_bytes of it. 0 stands for none: TS_EXEC_E_CONTENT. */
int ts_exec_program_content(const struct ts_exec_program *program, uint32_t number,
			    size_t max_bytes, struct ts_exec_content *content);

#ifdef __cplusplus
}
#endif
