/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that the times of other rows are relative to. In a small file, a row's times are mostly
 * near those of the call with the row's operation id, or equal to one of them. FORMAT.md, "Times
 * relative to calls", specifies the reference of each row. Private to sbt/.
 */
#pragma once

#include "sbt/schema.h"

/* The reference of the start and of the end of a row. */
enum ts_calls_kind {
	TS_CALLS_END = 0,   /* the call's end */
	TS_CALLS_START = 1, /* the call's start */
	TS_CALLS_BOTH = 2,  /* the call's start, for the end the call's end */
	TS_CALLS_KINDS
};

/* A block of more calls is no reference: it would be decoded once more for each block. */
#define TS_CALLS_MAX 8192u

/*
 * The field `calls` of a block header in memory: the number of blocks from the block of the calls
 * to this block, above 0, and the kind. 0: the block's times are not relative to calls.
 */
#define TS_CALLS_PACK(distance, kind) ((distance) << 2 | (uint32_t)(kind))
#define TS_CALLS_DISTANCE(packed)     ((packed) >> 2)
#define TS_CALLS_KIND(packed)	      ((packed)&3u)

struct ts_call {
	uint64_t op_id;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t order; /* the first of several calls with one id is found */
};

struct ts_calls {
	size_t n;
	struct ts_call calls[]; /* after ts_calls_order(): by op_id, then by order */
};

/*
 * Allocates room for `n_rows` rows of type `api`. The caller frees *ret_calls with free(). Returns
 * 0 or -ENOMEM.
 */
int ts_calls_new(uint32_t n_rows, struct ts_calls **ret_calls);

/* Adds the next call. An id of 0 is none. */
void ts_calls_add(struct ts_calls *calls, uint64_t op_id, uint64_t nested_op_id, uint64_t start_ns,
		  uint64_t end_ns);

/* Ends the adding of calls. */
void ts_calls_order(struct ts_calls *calls);

/* As ts_calls_new(), with the calls of these rows. */
int ts_calls_of_rows(const struct ts_row_api *rows, uint32_t n, struct ts_calls **ret_calls);

/* Returns the call of an operation, or NULL. */
const struct ts_call *ts_calls_find(const struct ts_calls *calls, uint64_t op_id);

/*
 * Makes the times of `n` rows relative to calls, or, with `is_back`, absolute again. `ops` holds
 * the operation id of each row. `ends` is NULL if the type has no ends.
 */
void ts_calls_move(const struct ts_calls *calls, enum ts_calls_kind kind, bool is_back,
		   const uint64_t *ops, uint32_t n, uint64_t *starts, uint64_t *ends);

/* Returns the index of the column with a row's operation id, or -1 if the type has none. */
int ts_calls_column(const struct ts_row_schema *schema);
