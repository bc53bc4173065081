/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the call of a row, and makes a row's times relative to those of its call or absolute again.
 * encode-calls.c chooses what is relative; decode-columns.c makes times absolute. reader-block.c
 * and verify.c collect the calls.
 */

#include "sbt/format/calls.h"

#include <stdlib.h>

/* The calls found by their nested id come after all others. */
#define NESTED_ORDER (UINT64_C(1) << 32)

int ts_calls_new(uint32_t n_rows, struct ts_calls **ret_calls)
{
	struct ts_calls *calls = malloc(sizeof(*calls) + 2ul * n_rows * sizeof(calls->calls[0]));

	if (!calls)
		return -ENOMEM;
	calls->n = 0;
	*ret_calls = calls;
	return 0;
}

void ts_calls_add(struct ts_calls *calls, uint64_t op_id, uint64_t nested_op_id, uint64_t start_ns,
		  uint64_t end_ns)
{
	struct ts_call call = {.op_id = op_id, .start_ns = start_ns, .end_ns = end_ns};

	call.order = calls->n;
	if (op_id)
		calls->calls[calls->n++] = call;
	call.op_id = nested_op_id;
	call.order += NESTED_ORDER;
	if (nested_op_id)
		calls->calls[calls->n++] = call;
}

static int compare(const void *a, const void *b)
{
	const struct ts_call *x = a, *y = b;

	return x->op_id != y->op_id ? (x->op_id > y->op_id) - (x->op_id < y->op_id)
				    : (x->order > y->order) - (x->order < y->order);
}

void ts_calls_order(struct ts_calls *calls)
{
	qsort(calls->calls, calls->n, sizeof(calls->calls[0]), compare);
}

int ts_calls_of_rows(const struct ts_row_api *rows, uint32_t n, struct ts_calls **ret_calls)
{
	int r = ts_calls_new(n, ret_calls);

	if (r)
		return r;
	for (uint32_t i = 0; i < n; i++)
		ts_calls_add(*ret_calls, rows[i].op_id, rows[i].nested_op_id, rows[i].start_ns,
			     rows[i].end_ns);
	ts_calls_order(*ret_calls);
	return 0;
}

const struct ts_call *ts_calls_find(const struct ts_calls *calls, uint64_t op_id)
{
	size_t low = 0, high = calls->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (calls->calls[middle].op_id < op_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < calls->n && calls->calls[low].op_id == op_id ? &calls->calls[low] : NULL;
}

void ts_calls_move(const struct ts_calls *calls, enum ts_calls_kind kind, bool is_back,
		   const uint64_t *ops, uint32_t n, uint64_t *starts, uint64_t *ends)
{
	uint64_t start_ns = 0, end_ns = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct ts_call *call = ts_calls_find(calls, ops[i]);

		/* A row without a call has the reference of the row before. */
		if (call) {
			start_ns = kind == TS_CALLS_END ? call->end_ns : call->start_ns;
			end_ns = kind == TS_CALLS_START ? call->start_ns : call->end_ns;
		}
		starts[i] += is_back ? start_ns : 0 - start_ns;
		if (ends)
			ends[i] += is_back ? end_ns : 0 - end_ns;
	}
}

int ts_calls_column(const struct ts_row_schema *schema)
{
	for (unsigned c = 0; schema->is_event && c < schema->n_columns; c++)
		if (schema->columns[c].role == TS_ROLE_OP)
			return (int)c;
	return -1;
}
