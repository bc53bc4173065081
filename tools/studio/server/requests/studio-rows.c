/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of operations: see studio-rows.h. Requests call this module; it asks replay/report/query.h.
 */
#include "tools/studio/server/requests/studio-rows.h"

#include "replay/report/query.h"
#include "tools/tsctl/tsctl.h"

struct span {
	uint64_t first_ns, last_ns;
	bool is_found;
};

static void add_times(struct span *span, uint64_t start_ns, uint64_t end_ns)
{
	if (!span->is_found || start_ns < span->first_ns)
		span->first_ns = start_ns;
	if (!span->is_found || end_ns > span->last_ns)
		span->last_ns = end_ns;
	span->is_found = true;
}

static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const Ts__Rpc__RowList *list = (const Ts__Rpc__RowList *)body;

	if (number != TS__RPC__ANSWER__BODY_ROWS)
		return 0;
	for (size_t i = 0; i < list->n_rows; i++) {
		const Ts__Rpc__Row *row = list->rows[i];

		switch (row->row_case) {
		case TS__RPC__ROW__ROW_API:
			add_times(data, row->api->start_ns, row->api->end_ns);
			break;
		case TS__RPC__ROW__ROW_KERNEL:
			add_times(data, row->kernel->start_ns, row->kernel->end_ns);
			break;
		case TS__RPC__ROW__ROW_MEMCPY:
			add_times(data, row->memcpy->start_ns, row->memcpy->end_ns);
			break;
		case TS__RPC__ROW__ROW_MEMSET:
			add_times(data, row->memset->start_ns, row->memset->end_ns);
			break;
		default:
			break;
		}
	}
	return 0;
}

int ts_studio_rows_span(struct ts_studio_call *call, uint64_t op_id, uint64_t *ret_first_ns,
			uint64_t *ret_last_ns)
{
	char *types[] = {(char *)"api", (char *)"kernel", (char *)"memcpy", (char *)"memset"};
	struct span span = {0};
	struct ts_query_options options = {.give = give,
					   .data = &span,
					   .no_memory = ts_no_memory,
					   .cancel = &call->is_cancelled};
	Ts__Rpc__RowFilter filter = TS__RPC__ROW_FILTER__INIT;
	Ts__Rpc__Query__Rows rows = TS__RPC__QUERY__ROWS__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	struct ts_query_end end;
	int r;

	TS_RPC_SET(&filter, first_op, op_id);
	TS_RPC_SET(&filter, last_op, op_id);
	rows.filter = &filter;
	rows.types = types;
	rows.n_types = sizeof(types) / sizeof(*types);
	query.body_case = TS__RPC__QUERY__BODY_ROWS;
	query.rows = &rows;
	r = ts_query_run(call->reader->source.reader, call->reader->source.session, &query,
			 &options, &end);
	if (r)
		return ts_call_fail_with(call, r);
	if (!span.is_found)
		return ts_call_fail(call, 404, "there is no such operation");
	*ret_first_ns = span.first_ns;
	*ret_last_ns = span.last_ns;
	return 0;
}
