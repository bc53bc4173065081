/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests rows against the filter of a request. rowwalk.c, rowsums.c and query.c call this file; this
 * file calls the resolver.
 */
#include "replay/report/rows/rowfilter.h"

#include "replay/state/overview/errors.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static bool column(const struct ts_sbt_row *row, enum ts_role role, uint64_t *ret_value)
{
	for (unsigned int i = 0; i < row->schema->n_columns; i++) {
		if (row->schema->columns[i].role != role)
			continue;
		*ret_value = ts_column_get(&row->schema->columns[i], row->any);
		return true;
	}
	return false;
}

bool ts_row_failed(const struct ts_sbt_row *row)
{
	switch (row->type) {
	case TS_ROW_API:
		return ts_call_failed(row->api->result);
	case TS_ROW_BLOCK_IO:
		return row->block_io->result < 0;
	case TS_ROW_DRIVER:
		return row->driver->result < 0;
	default:
		return false;
	}
}

static bool matches(const char *name, const char *wanted)
{
	return strpbrk(wanted, "*?") ? !fnmatch(wanted, name, 0) : strstr(name, wanted) != NULL;
}

static bool is_thread(const char *wanted, struct ts_resolver *resolver,
		      const struct ts_sbt_row *row)
{
	const struct ts_row_thread *thread = ts_resolver_thread(resolver, row);
	const char *name;
	char number[16];

	if (!thread)
		return false;
	snprintf(number, sizeof(number), "%u", thread->tid);
	if (!strcmp(number, wanted))
		return true;
	name = ts_resolver_thread_name(resolver, row->session, thread);
	return name && matches(name, wanted);
}

bool ts_row_filter_asks_threads(const Ts__Rpc__RowFilter *filter)
{
	return filter && filter->thread;
}

bool ts_row_filter_takes(const Ts__Rpc__RowFilter *filter, struct ts_resolver *resolver,
			 const struct ts_sbt_row *row)
{
	char buffer[TS_RESOLVER_NAME_BYTES];
	uint64_t value;

	if (!filter)
		return true;
	if (filter->errors && !ts_row_failed(row))
		return false;
	if (filter->has_stream && (!column(row, TS_ROLE_STREAM, &value) || value != filter->stream))
		return false;
	if (filter->has_device && (!column(row, TS_ROLE_DEVICE, &value) || value != filter->device))
		return false;
	if ((filter->has_first_op || filter->has_last_op) &&
	    (!column(row, TS_ROLE_OP, &value) || !value ||
	     (filter->has_first_op && value < filter->first_op) ||
	     (filter->has_last_op && value > filter->last_op)))
		return false;
	if (filter->name && !matches(ts_resolver_name(resolver, row, buffer), filter->name))
		return false;
	return !filter->thread || is_thread(filter->thread, resolver, row);
}
