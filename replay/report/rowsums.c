/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums. What the file itself sums up is not read row by row.
 */
#include "replay/report/rowsums.h"

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

static int add_row(struct ts_row_sums *sums, struct ts_resolver *resolver,
		   const struct ts_sbt_row *row)
{
	char buffer[TS_RESOLVER_NAME_BYTES];

	return ts_aggregates_add(sums->of[sum_of_type(row->type)],
				 ts_resolver_name(resolver, row, buffer),
				 ts_row_end_ns(row->schema, row->any) - ts_row_start_ns(row->any),
				 0);
}

static void note_damage(struct ts_row_sums *sums, struct ts_resolver *resolver)
{
	if (!sums->is_damaged)
		sums->damage = *ts_sbt_reader_error(ts_resolver_reader(resolver));
	sums->is_damaged = true;
}

/* Those that the file itself sums up. */
static int read_totals(struct ts_row_sums *sums, struct ts_resolver *resolver,
		       const struct ts_sbt_cursor_options *options)
{
	ts_cleanup(ts_sbt_totals_freep) struct ts_sbt_totals *totals = NULL;
	int r = ts_sbt_totals_new(ts_resolver_reader(resolver), options, &totals);

	for (size_t i = 0; !r && i < ts_sbt_totals_count(totals); i++) {
		const struct ts_sbt_total *total = ts_sbt_totals_at(totals, i);

		/* A set's name would be its value, which says nothing. */
		r = ts_aggregates_add_total(sums->of[sum_of_type(total->type)], resolver, total,
					    total->type == TS_ROW_MEMSET ? "memset" : NULL);
	}
	if (!r && ts_sbt_totals_damaged(totals))
		note_damage(sums, resolver);
	return r;
}

int ts_row_sums_read(struct ts_row_sums *sums, struct ts_resolver *resolver,
		     const struct ts_sbt_cursor_options *options,
		     void (*step)(void *data, uint64_t n_rows), void *data)
{
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_cursor_options others = *options;
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = 0;

	for (int i = 0; !r && i < TS_SUM_COUNT; i++)
		r = ts_aggregates_new(&sums->of[i]);
	if (!r)
		r = read_totals(sums, resolver, options);
	others.types = (options->types ? options->types : TS_ROW_EVENTS) & TS_ROW_KERNELS;
	if (r || !others.types)
		return r;
	r = ts_sbt_cursor_new(ts_resolver_reader(resolver), &others, &cursor);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			note_damage(sums, resolver);
			r = 0;
			continue;
		}
		if (!r)
			r = add_row(sums, resolver, &row);
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
