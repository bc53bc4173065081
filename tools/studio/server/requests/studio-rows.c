/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of operations: see studio-rows.h. Requests call this module; it asks replay/report/query.h.
 *
 * Numbers of operations ascend with their calls, almost. So the block with the call is found by
 * bisection, and only rows near it are searched. If this finds no call, or a call without the
 * device row that it expects, the whole trace is searched.
 */
#include "tools/studio/server/requests/studio-rows.h"

#include "proto/abi/grow.h"
#include "replay/report/query.h"
#include "sbt/arrays.h"
#include "tools/tsctl/tsctl.h"

/* Operations that begin later after their call are searched in the whole trace. */
#define NEAR_NS UINT64_C(2000000000)

struct span {
	uint64_t first_ns, last_ns;
	bool has_call, has_device, expects_device;
};

static void add_times(struct span *span, uint64_t start_ns, uint64_t end_ns)
{
	bool is_found = span->has_call || span->has_device;

	if (!is_found || start_ns < span->first_ns)
		span->first_ns = start_ns;
	if (!is_found || end_ns > span->last_ns)
		span->last_ns = end_ns;
}

static void add_device(struct span *span, uint64_t start_ns, uint64_t end_ns)
{
	add_times(span, start_ns, end_ns);
	span->has_device = true;
}

static void add_row(struct span *span, const Ts__Rpc__Row *row)
{
	switch (row->row_case) {
	case TS__RPC__ROW__ROW_API:
		add_times(span, row->api->start_ns, row->api->end_ns);
		span->has_call = true;
		span->expects_device |= row->api->expects_device;
		break;
	case TS__RPC__ROW__ROW_KERNEL:
		add_device(span, row->kernel->start_ns, row->kernel->end_ns);
		break;
	case TS__RPC__ROW__ROW_MEMCPY:
		add_device(span, row->memcpy->start_ns, row->memcpy->end_ns);
		break;
	case TS__RPC__ROW__ROW_MEMSET:
		add_device(span, row->memset->start_ns, row->memset->end_ns);
		break;
	default:
		break;
	}
}

static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const Ts__Rpc__RowList *list = (const Ts__Rpc__RowList *)body;

	if (number != TS__RPC__ANSWER__BODY_ROWS)
		return 0;
	for (size_t i = 0; i < list->n_rows; i++)
		add_row(data, list->rows[i]);
	return 0;
}

/* A window, as absolute times. */
struct window {
	uint64_t from_ns, to_ns;
};

/* Searches the rows of an operation in a window; NULL: in the whole trace. */
static int search(struct ts_studio_call *call, uint64_t op_id, const struct window *window,
		  struct span *span)
{
	char *types[] = {(char *)"api", (char *)"kernel", (char *)"memcpy", (char *)"memset"};
	struct ts_query_options options = {.give = give,
					   .data = span,
					   .no_memory = ts_no_memory,
					   .cancel = &call->is_cancelled};
	Ts__Rpc__Moment from = TS__RPC__MOMENT__INIT, to = TS__RPC__MOMENT__INIT;
	Ts__Rpc__RowFilter filter = TS__RPC__ROW_FILTER__INIT;
	Ts__Rpc__Query__Rows rows = TS__RPC__QUERY__ROWS__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	struct ts_query_end end;

	TS_RPC_SET(&filter, first_op, op_id);
	TS_RPC_SET(&filter, last_op, op_id);
	if (window) {
		TS_RPC_SET(&from, ns, window->from_ns);
		TS_RPC_SET(&to, ns, window->to_ns);
		rows.from = &from;
		rows.to = &to;
	}
	rows.filter = &filter;
	rows.types = types;
	rows.n_types = sizeof(types) / sizeof(*types);
	query.body_case = TS__RPC__QUERY__BODY_ROWS;
	query.rows = &rows;
	*span = (struct span){0};
	return ts_query_run(call->reader->source.reader, call->session, &query, &options, &end);
}

/* ---- bisection ------------------------------------------------------------------------------- */

/* Blocks of calls. */
struct calls {
	uint32_t *blocks;
	size_t n, capacity;
};

/* Lists the blocks of calls. `n` stays 0 if several sessions have numbers of their own. */
static int list_calls(struct ts_studio_call *call, struct calls *calls)
{
	struct ts_sbt_reader *reader = call->reader->source.reader;
	uint32_t session = call->session;

	if (!session && ts_sbt_reader_n_sessions(reader) != 1)
		return 0;
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		if (block->type != TS_ROW_API || !block->n_rows ||
		    (session && block->session != session))
			continue;
		if (TS_GROW(calls->blocks, calls->capacity, calls->n + 1))
			return -ENOMEM;
		calls->blocks[calls->n++] = (uint32_t)i;
	}
	return 0;
}

/* Compares an operation with those of a block: -1: it is before all, 0: among them, 1: behind. */
static int compare(struct ts_sbt_reader *reader, uint32_t block, uint64_t op_id, int *ret_order)
{
	ts_cleanup(ts_sbt_arrays_freep) struct ts_sbt_arrays *arrays = NULL;
	int column = ts_row_column(ts_row_schema(TS_ROW_API), "op_id");
	uint64_t least = UINT64_MAX, most = 0;
	const uint64_t *ops;
	int r = ts_sbt_arrays_new(reader, block, TS_SBT_COLUMN(column), &arrays);

	if (r)
		return r;
	ops = ts_sbt_arrays_column(arrays, column);
	for (uint32_t i = 0; i < ts_sbt_arrays_rows(arrays); i++) {
		least = ops[i] < least ? ops[i] : least;
		most = ops[i] > most ? ops[i] : most;
	}
	*ret_order = op_id < least ? -1 : op_id > most;
	return 0;
}

/* Finds the block of an operation's call. Returns 0, an error, or TS_SBT_E_NOT_FOUND. */
static int find_block(struct ts_studio_call *call, const struct calls *calls, uint64_t op_id,
		      struct window *ret_window)
{
	struct ts_sbt_reader *reader = call->reader->source.reader;
	size_t low = 0, high = calls->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct ts_sbt_block *block =
			ts_sbt_reader_block(reader, calls->blocks[middle]);
		int order, r = compare(reader, calls->blocks[middle], op_id, &order);

		if (r)
			return r;
		if (!order) {
			ret_window->from_ns = block->earliest_ns;
			if (__builtin_add_overflow(block->latest_ns, NEAR_NS, &ret_window->to_ns))
				ret_window->to_ns = UINT64_MAX;
			return 0;
		}
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return TS_SBT_E_NOT_FOUND;
}

/* Searches near the call. Sets *ret_found if all rows were found. */
static int search_near(struct ts_studio_call *call, uint64_t op_id, struct span *span,
		       bool *ret_found)
{
	struct calls calls = {0};
	struct window window;
	int r = list_calls(call, &calls);

	*ret_found = false;
	r = r ? r : find_block(call, &calls, op_id, &window);
	free(calls.blocks);
	/* A damaged block: the search of the whole trace leaves it out. */
	if (r)
		return r < 0 ? r : 0;
	r = search(call, op_id, &window, span);
	*ret_found = !r && span->has_call && (span->has_device || !span->expects_device);
	return r;
}

int ts_studio_rows_span(struct ts_studio_call *call, uint64_t op_id, uint64_t *ret_first_ns,
			uint64_t *ret_last_ns)
{
	struct span span;
	bool is_found;
	int r = search_near(call, op_id, &span, &is_found);

	if (!r && !is_found)
		r = search(call, op_id, NULL, &span);
	if (r)
		return ts_call_fail_with(call, r);
	if (!span.has_call && !span.has_device)
		return ts_call_fail(call, 404, "there is no such operation");
	*ret_first_ns = span.first_ns;
	*ret_last_ns = span.last_ns;
	return 0;
}
