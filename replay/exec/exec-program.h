/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A captured program: a session's operations in order, and their contents, for a replay. `tsctl
 * record --capture replay` captures it; other traces have none.
 *
 * The trace is untrusted: this module only sorts the operations. The executor checks each
 * operation.
 *
 * Program and reader are not thread-safe. Errors: 0, -errno, an error of the reader (sbt/error.h),
 * or one of these.
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
	TS_EXEC_E_CONTENT, /* a content is missing, too long, or does not match its hash */
	TS_EXEC_E_REFUSED, /* an operation cannot be replayed; the text explains why */
	TS_EXEC_E_NOTHING, /* no operation is selected */
};

#define TS_EXEC_MAX_OPERATIONS TS_CAPTURE_MAX_OPERATIONS

struct ts_exec_program {
	struct ts_sbt_reader *reader;
	uint32_t session;
	struct ts_row_operation *operations; /* sequence numbers 1, 2, ... */
	size_t n;
	size_t n_unsupported; /* operations of kind TS_OPERATION_UNSUPPORTED */
	/*
	 * the last operation is TS_OPERATION_END, which has the reason for the capture's early end
	 */
	bool ended;
	/*
	 * the trace lacks the operation after the last one of this list, but has later operations
	 */
	bool cut;
	uint8_t *selected; /* for each operation: 1 if it is selected; NULL: all are selected */
	size_t n_selected;
	size_t end; /* number of operations up to the last selected one */
};

/*
 * Reads the operations of a session. The reader must outlive the program. Returns 0, -errno,
 * TS_EXEC_E_NOT_CAPTURED, TS_EXEC_E_TOO_MANY, or an error of the reader. The caller owns
 * *ret_program.
 */
int ts_exec_program_new(struct ts_sbt_reader *reader, uint32_t session,
			struct ts_exec_program **ret_program);
void ts_exec_program_free(struct ts_exec_program *program); /* NULL is accepted */
TS_DEFINE_CLEANUP(struct ts_exec_program *, ts_exec_program_freep, ts_exec_program_free)

/* Conditions for a selection; an operation must meet all given ones. */
struct ts_exec_query {
	bool has_ops, has_stream, has_from, has_to;
	uint64_t first_op, last_op; /* operation ids of calls, inclusive */
	uint64_t from_ns, to_ns;    /* start times of the calls, inclusive */
	uint32_t stream;	    /* the stream in which the call's operations ran */
};

/*
 * Selects operations. A replay runs the operations before them only to restore their state, and
 * ends after the last selected one. The result of a copy is selected together with the copy.
 * Returns 0, -errno, TS_EXEC_E_NOTHING, or an error of the reader.
 */
int ts_exec_program_select(struct ts_exec_program *program, const struct ts_exec_query *query);

static inline bool ts_exec_program_counts(const struct ts_exec_program *program, size_t i)
{
	return !program->selected || program->selected[i];
}

/*
 * Returns the last ALLOC or VARIABLE operation up to `sequence` whose memory contains the address,
 * or NULL. Frees are ignored: the memory may be freed before `sequence`.
 */
const struct ts_row_operation *ts_exec_program_allocation(const struct ts_exec_program *program,
							  uint64_t sequence, uint64_t address);

/*
 * The bytes of a blob. The caller owns the buffer and may reuse it in further calls; all fields
 * zero is an empty buffer.
 */
struct ts_exec_content {
	uint8_t *bytes; /* followed by a NUL */
	size_t n;
	size_t capacity;
};
void ts_exec_content_deinit(struct ts_exec_content *content);

/*
 * Reads blob `number` of at most max_bytes bytes. Returns TS_EXEC_E_CONTENT if the trace cannot
 * give the blob, and for `number` 0, which means no blob.
 */
int ts_exec_program_content(const struct ts_exec_program *program, uint32_t number,
			    size_t max_bytes, struct ts_exec_content *content);

#ifdef __cplusplus
}
#endif
