/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects operations of a program, and finds the allocation at an address. replay/report calls this
 * file. The stream of a call is taken from its device rows, because captured operations have only
 * stream handles, and CUDA reuses handles.
 */
#include "replay/exec/exec-program.h"

#include "proto/abi/grow.h"
#include "sbt/error.h"

struct ids {
	uint64_t *all;
	size_t n, capacity;
};

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int add(struct ids *ids, uint64_t id)
{
	if (ids->n && ids->all[ids->n - 1] == id)
		return 0;
	if (TS_GROW(ids->all, ids->capacity, ids->n + 1))
		return -ENOMEM;
	ids->all[ids->n++] = id;
	return 0;
}

/* Collects the operation ids of the calls whose operations ran in a stream, in ascending order. */
static int calls_of(const struct ts_exec_program *program, uint32_t stream, struct ids *ids)
{
	const struct ts_sbt_cursor_options options = {
		.types = TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) |
			 TS_ROW_BIT(TS_ROW_MEMSET),
		.session = program->session,
	};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(program->reader, &options, &cursor);

	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT)
			r = 0;
		else if (r)
			break;
		else if (row.type == TS_ROW_KERNEL && row.kernel->stream == stream)
			r = add(ids, row.kernel->op_id);
		else if (row.type == TS_ROW_MEMCPY && row.memcpy_->stream == stream)
			r = add(ids, row.memcpy_->op_id);
		else if (row.type == TS_ROW_MEMSET && row.memset_->stream == stream)
			r = add(ids, row.memset_->op_id);
	}
	if (ids->n)
		qsort(ids->all, ids->n, sizeof(*ids->all), compare);
	return r == TS_SBT_E_END ? 0 : r;
}

static bool counts(const struct ts_exec_query *query, const struct ids *ids,
		   const struct ts_row_operation *operation)
{
	uint64_t op = operation->op_id;

	if (query->has_ops && (op < query->first_op || op > query->last_op))
		return false;
	if (query->has_from && operation->start_ns < query->from_ns)
		return false;
	if (query->has_to && operation->start_ns > query->to_ns)
		return false;
	return !query->has_stream ||
	       (ids->n && bsearch(&op, ids->all, ids->n, sizeof(op), compare));
}

int ts_exec_program_select(struct ts_exec_program *program, const struct ts_exec_query *query)
{
	struct ids ids = {0};
	uint8_t *selected = calloc(program->n ? program->n : 1, 1);
	size_t n = 0, end = 0;
	int r = selected ? 0 : -ENOMEM;

	if (!r && query->has_stream)
		r = calls_of(program, query->stream, &ids);
	for (size_t i = 0; !r && i < program->n; i++) {
		const struct ts_row_operation *operation = &program->operations[i];

		if (operation->kind == TS_OPERATION_RESULT) {
			selected[i] = operation->parent && operation->parent <= i &&
				      selected[operation->parent - 1];
			n += selected[i];
			continue;
		}
		selected[i] = counts(query, &ids, operation);
		n += selected[i];
		if (selected[i])
			end = i + 1;
	}
	free(ids.all);
	if (!r && !n)
		r = TS_EXEC_E_NOTHING;
	if (r) {
		free(selected);
		return r;
	}
	free(program->selected);
	program->selected = selected;
	program->n_selected = n;
	program->end = end;
	return 0;
}

const struct ts_row_operation *ts_exec_program_allocation(const struct ts_exec_program *program,
							  uint64_t sequence, uint64_t address)
{
	for (size_t i = sequence < program->n ? (size_t)sequence : program->n; i-- > 0;) {
		const struct ts_row_operation *operation = &program->operations[i];

		if ((operation->kind == TS_OPERATION_ALLOC ||
		     operation->kind == TS_OPERATION_VARIABLE) &&
		    address >= operation->dst && address - operation->dst < operation->bytes)
			return operation;
	}
	return NULL;
}
