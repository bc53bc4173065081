/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums rows for `tsctl view --stats`. query.c and tsctl call this file; this file calls aggregate.c
 * and launchsite.c. This file reads every row, because the file's own sums have no medians and no
 * launch sites.
 */
#include "replay/report/rows/rowsums.h"

#include "replay/report/stacks/launchsite.h"

#define STEP_ROWS 4096u

static enum ts_sum sum_of_type(unsigned int type)
{
	switch (type) {
	case TS_ROW_KERNEL:
		return TS_SUM_KERNELS;
	case TS_ROW_API:
		return TS_SUM_API;
	case TS_ROW_MEMCPY:
		return TS_SUM_COPIES;
	case TS_ROW_MEMSET:
		return TS_SUM_MEMSETS;
	case TS_ROW_SYNC:
		return TS_SUM_SYNCS;
	case TS_ROW_SAMPLE:
		return TS_SUM_ON_CPU;
	case TS_ROW_OFF_CPU:
		return TS_SUM_OFF_CPU;
	case TS_ROW_PAGE_FAULT:
		return TS_SUM_FAULTS;
	case TS_ROW_SYSCALL:
		return TS_SUM_SYSCALLS;
	case TS_ROW_BLOCK_IO:
		return TS_SUM_BLOCK_IO;
	case TS_ROW_PRESSURE:
		return TS_SUM_PRESSURE;
	case TS_ROW_DRIVER:
		return TS_SUM_DRIVERS;
	default:
		return TS_SUM_RANGES;
	}
}

static uint64_t bytes_of(const struct ts_sbt_row *row)
{
	return row->schema->bytes_column < 0
		       ? 0
		       : ts_column_get(&row->schema->columns[row->schema->bytes_column], row->any);
}

/*
 * Sums samples by their place in the code. The samples have few distinct stacks, and each stack is
 * looked up once.
 */
static int add_sample(struct ts_row_sums *sums, struct ts_launch_sites *sites,
		      const struct ts_sbt_row *row)
{
	const struct ts_launch_site *site = ts_launch_sites_of(sites, row);

	return ts_aggregates_add_launched(sums->of[TS_SUM_ON_CPU],
					  site ? site->frame : "unknown place", NULL,
					  row->sample->period_ns, 0);
}

static int add_row(struct ts_row_sums *sums, struct ts_resolver *resolver,
		   struct ts_launch_sites *sites, const struct ts_sbt_row *row)
{
	const uint64_t launched =
		TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | TS_ROW_BIT(TS_ROW_MEMSET);
	char buffer[TS_RESOLVER_NAME_BYTES];

	if (row->type == TS_ROW_SAMPLE)
		return add_sample(sums, sites, row);
	if (sum_of_type(row->type) == TS_SUM_RANGES)
		return ts_aggregates_add_numbered(sums->of[TS_SUM_RANGES],
						  ts_resolver_name(resolver, row, buffer),
						  ts_row_end_ns(row->schema, row->any) -
							  ts_row_start_ns(row->any));
	/*
	 * All memsets are summed under one name, because the resolver names a memset by its value.
	 */
	return ts_aggregates_add_launched(
		sums->of[sum_of_type(row->type)],
		row->type == TS_ROW_MEMSET ? "memset" : ts_resolver_name(resolver, row, buffer),
		TS_ROW_BIT(row->type) & launched ? ts_launch_sites_of(sites, row) : NULL,
		ts_row_end_ns(row->schema, row->any) - ts_row_start_ns(row->any), bytes_of(row));
}

int ts_row_sums_read(struct ts_row_sums *sums, struct ts_resolver *resolver,
		     const struct ts_sbt_cursor_options *options, const Ts__Rpc__RowFilter *filter,
		     void (*no_memory)(void), void (*step)(void *data, uint64_t n_rows), void *data)
{
	ts_cleanup(ts_launch_sites_freep) struct ts_launch_sites *sites = NULL;
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_cursor_options rows = *options;
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = ts_launch_sites_new(resolver, no_memory, &sites);

	for (int i = 0; !r && i < TS_SUM_COUNT; i++)
		r = ts_aggregates_new(true, &sums->of[i]);
	rows.types = (options->types ? options->types : TS_ROW_EVENTS) &
		     (TS_SBT_TOTAL_TYPES | TS_ROW_KERNELS);
	if (r || !rows.types)
		return r;
	r = ts_sbt_cursor_new(ts_resolver_reader(resolver), &rows, &cursor);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			if (!sums->is_damaged)
				sums->damage = *ts_sbt_reader_error(ts_resolver_reader(resolver));
			sums->is_damaged = true;
			r = 0;
			continue;
		}
		if (!r && ts_row_filter_takes(filter, resolver, &row))
			r = add_row(sums, resolver, sites, &row);
		if (!r && ++n % STEP_ROWS == 0 && step)
			step(data, n);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

void ts_row_sums_deinit(struct ts_row_sums *sums)
{
	for (int i = 0; i < TS_SUM_COUNT; i++)
		ts_aggregates_free(sums->of[i]);
}

void ts_row_sums_message(const struct ts_row_sums *sums, struct ts_pool *pool, size_t limit,
			 Ts__Rpc__TraceStats *ret_stats)
{
	const struct {
		size_t *n;
		Ts__Rpc__Aggregate ***messages;
	} lists[TS_SUM_COUNT] = {
		[TS_SUM_KERNELS] = {&ret_stats->n_kernels, &ret_stats->kernels},
		[TS_SUM_API] = {&ret_stats->n_api, &ret_stats->api},
		[TS_SUM_COPIES] = {&ret_stats->n_copies, &ret_stats->copies},
		[TS_SUM_MEMSETS] = {&ret_stats->n_memsets, &ret_stats->memsets},
		[TS_SUM_SYNCS] = {&ret_stats->n_syncs, &ret_stats->syncs},
		[TS_SUM_ON_CPU] = {&ret_stats->n_on_cpu, &ret_stats->on_cpu},
		[TS_SUM_OFF_CPU] = {&ret_stats->n_off_cpu, &ret_stats->off_cpu},
		[TS_SUM_FAULTS] = {&ret_stats->n_page_faults, &ret_stats->page_faults},
		[TS_SUM_SYSCALLS] = {&ret_stats->n_syscalls, &ret_stats->syscalls},
		[TS_SUM_BLOCK_IO] = {&ret_stats->n_block_io, &ret_stats->block_io},
		[TS_SUM_PRESSURE] = {&ret_stats->n_pressure, &ret_stats->pressure},
		[TS_SUM_DRIVERS] = {&ret_stats->n_drivers, &ret_stats->drivers},
		[TS_SUM_RANGES] = {&ret_stats->n_ranges, &ret_stats->ranges},
	};

	ts__rpc__trace_stats__init(ret_stats);
	for (int i = 0; i < TS_SUM_COUNT; i++)
		ts_aggregates_messages(sums->of[i], pool, limit, lists[i].n, lists[i].messages);
}
