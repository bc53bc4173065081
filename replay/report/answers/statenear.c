/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the nearest operations before and after an idle instant. query.c calls this file. This file
 * reads windows around the instant, each larger than the last, until one has an operation. So it
 * reads few blocks of any trace.
 */
#include "replay/report/answers/statenear.h"

#include "proto/abi/base.h"
#include "proto/rpc/json.h"

#define FIRST_WINDOW_NS UINT64_C(1000000)
#define GROWTH		16u

static Ts__Rpc__StateNear *make_near(struct ts_resolver *resolver, struct ts_pool *pool,
				     const struct ts_sbt_row *row)
{
	Ts__Rpc__StateNear *message = ts_pool_alloc(pool, 1, sizeof(*message));
	char buffer[TS_RESOLVER_NAME_BYTES];

	ts__rpc__state_near__init(message);
	message->type = ts_pool_copy(pool, row->schema->name);
	message->name = ts_pool_copy(pool, ts_resolver_name(resolver, row, buffer));
	TS_RPC_SET(message, session, row->session);
	TS_RPC_SET(message, start_ns, ts_row_start_ns(row->any));
	TS_RPC_SET(message, end_ns, ts_row_end_ns(row->schema, row->any));
	for (unsigned int i = 0; i < row->schema->n_columns; i++) {
		const struct ts_column *column = &row->schema->columns[i];
		uint64_t value = ts_column_get(column, row->any);

		if (column->role == TS_ROLE_OP && !message->has_op_id)
			TS_RPC_SET(message, op_id, value);
		else if (column->role == TS_ROLE_DEVICE && !message->has_device)
			TS_RPC_SET(message, device, (uint32_t)value);
		else if (column->role == TS_ROLE_STREAM && !message->has_stream)
			TS_RPC_SET(message, stream, (uint32_t)value);
	}
	return message;
}

/* Results of a pass over one window so far. */
struct nearest {
	struct ts_resolver *resolver;
	struct ts_pool *pool;
	uint64_t at_ns;
	Ts__Rpc__StateNear *before, *after;
};

static void look_at(struct nearest *nearest, const struct ts_sbt_row *row)
{
	uint64_t start_ns = ts_row_start_ns(row->any);
	uint64_t end_ns = ts_row_end_ns(row->schema, row->any);

	if (end_ns <= nearest->at_ns) {
		if (!nearest->before || end_ns > nearest->before->end_ns)
			nearest->before = make_near(nearest->resolver, nearest->pool, row);
	} else if (start_ns >= nearest->at_ns && !nearest->after) {
		nearest->after = make_near(nearest->resolver, nearest->pool, row);
	}
}

static int read_window(struct nearest *nearest, struct ts_sbt_cursor_options *options)
{
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(ts_resolver_reader(nearest->resolver), options, &cursor);

	while (!r || r == TS_SBT_E_CORRUPT) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (!r)
			look_at(nearest, &row);
		/* Rows come in order of start, so the first one is the nearest. */
		if (!r && nearest->after)
			return 0;
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static int find_before(struct nearest *nearest, struct ts_sbt_cursor_options *options,
		       uint64_t origin_ns)
{
	uint64_t window_ns = FIRST_WINDOW_NS;
	bool is_last = false;
	int r = 0;

	options->to_ns = nearest->at_ns;
	while (!r && !nearest->before && !is_last) {
		is_last = nearest->at_ns - origin_ns <= window_ns;
		options->from_ns = is_last ? origin_ns : nearest->at_ns - window_ns;
		r = read_window(nearest, options);
		/* An instant may be nearly 2^64 ns behind the origin. */
		if (__builtin_mul_overflow(window_ns, GROWTH, &window_ns))
			window_ns = UINT64_MAX;
	}
	return r;
}

int ts_statenear_add(struct ts_resolver *resolver, uint32_t session, struct ts_pool *pool,
		     Ts__Rpc__StateReport *report)
{
	uint64_t origin_ns = ts_sbt_reader_origin_ns(ts_resolver_reader(resolver));
	struct nearest nearest = {.resolver = resolver, .pool = pool, .at_ns = report->at_ns};
	struct ts_sbt_cursor_options options = {
		.types = TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) |
			 TS_ROW_BIT(TS_ROW_MEMSET),
		.session = session,
	};
	int r = 0;

	for (size_t i = 0; i < report->n_operations; i++)
		if (!strcmp(report->operations[i]->state, "running"))
			return 0;
	if (report->at_ns > origin_ns)
		r = find_before(&nearest, &options, origin_ns);
	nearest.after = NULL;
	options.from_ns = report->at_ns;
	options.to_ns = 0;
	r = r ? r : read_window(&nearest, &options);
	report->before = nearest.before;
	report->after = nearest.after;
	return r;
}
