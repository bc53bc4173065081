/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums rows for `tsctl view --stats`. query.c and tsctl call this file. This file reads every row,
 * because the file's own sums have no medians and no launch sites.
 *
 *     rows --sumpart.c--> sums by numbers --add_part()--> sums by names, and launch sites
 *
 * Threads read slices of a long trace, and the caller's thread adds their parts in order of time.
 * A row whose call is in an earlier slice gets its launch site there.
 */
#include "replay/report/rows/rowsums.h"

#include "replay/report/names/rowkey.h"
#include "replay/report/rows/sumpart.h"
#include "replay/report/stacks/launchsite.h"
#include "sbt/slices.h"

#include <errno.h>
#include <stdlib.h>

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

/* ---- names ----------------------------------------------------------------------------------- */

/* The sums so far, with what gives names to further ones. */
struct naming {
	struct ts_row_sums *sums;
	struct ts_resolver *resolver;
	struct ts_launch_sites *sites;
};

/* All memsets are summed under one name, because the resolver names a memset by its value. */
static const char *name_of(const struct naming *naming, const struct ts_sum_name *name,
			   char buffer[TS_RESOLVER_NAME_BYTES])
{
	_Alignas(uint64_t) uint8_t bytes[TS_ROW_MAX_BYTES];
	struct ts_sbt_row row;

	if (name->type == TS_ROW_MEMSET)
		return "memset";
	ts_row_of_key(name->type, name->key, bytes, &row);
	return ts_resolver_name(naming->resolver, &row, buffer);
}

static int add_name(const struct naming *naming, const struct ts_sum_name *name)
{
	struct ts_aggregates *to = naming->sums->of[sum_of_type(name->type)];
	char buffer[TS_RESOLVER_NAME_BYTES];
	const char *text = name_of(naming, name, buffer);

	return sum_of_type(name->type) == TS_SUM_RANGES
		       ? ts_aggregates_add_numbered(to, text, &name->sum)
		       : ts_aggregates_add_sum(to, text, &name->sum);
}

/* Adds the launches from a stack. Samples are summed by their place in the code. */
static int add_site(const struct naming *naming, const struct ts_sum_site *from,
		    const struct ts_sum_name *name)
{
	const struct ts_launch_site *site;
	char buffer[TS_RESOLVER_NAME_BYTES];

	if (name->type == TS_ROW_SAMPLE) {
		site = ts_launch_sites_at(naming->sites, from->session, from->stack,
					  from->first_ns);
		return ts_aggregates_add_sum(naming->sums->of[TS_SUM_ON_CPU],
					     site ? site->frame : "unknown place", &name->sum);
	}
	site = ts_launch_sites_of_kernel(naming->sites, from->session, from->stack, from->first_ns,
					 name->type == TS_ROW_KERNEL
						 ? ts_resolver_kernel_name(naming->resolver,
									   (uint32_t)name->key)
						 : NULL);
	return site ? ts_aggregates_add_site(naming->sums->of[sum_of_type(name->type)],
					     name_of(naming, name, buffer), site, from->count)
		    : 0;
}

static int compare_sites(const void *a, const void *b)
{
	const struct ts_sum_site *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * Adds a part in which all calls are known. Stacks are looked up in the order of their first rows,
 * as row by row: the module of an address depends on the time.
 */
static int add_part(const struct naming *naming, struct ts_sum_part *part)
{
	int r = 0;

	for (size_t i = 0; !r && i < part->n_names; i++)
		if (part->names[i].type != TS_ROW_SAMPLE)
			r = add_name(naming, &part->names[i]);
	if (part->n_sites)
		qsort(part->sites, part->n_sites, sizeof(*part->sites), compare_sites);
	for (size_t i = 0; !r && i < part->n_sites; i++)
		r = add_site(naming, &part->sites[i], &part->names[part->sites[i].name]);
	return r;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* The request, which threads share. */
struct summing {
	struct ts_sbt_cursor_options rows, calls;
	bool launches; /* rows get the stacks of their calls */
	bool apart;    /* a second cursor reads the calls */
	const Ts__Rpc__RowFilter *filter;
	/* The caller's thread uses these: */
	struct naming naming;
	struct ts_launchers launchers; /* calls of the merged slices */
	void (*step)(void *data, uint64_t n_rows);
	void *step_data;
	uint64_t n_rows;
};

static void summing_init(struct summing *summing, const struct ts_sbt_cursor_options *options,
			 const Ts__Rpc__RowFilter *filter)
{
	const uint64_t launched =
		TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | TS_ROW_BIT(TS_ROW_MEMSET);

	summing->rows = *options;
	summing->rows.types = (options->types ? options->types : TS_ROW_EVENTS) &
			      (TS_SBT_TOTAL_TYPES | TS_ROW_KERNELS);
	summing->filter = filter;
	summing->launches = summing->rows.types & launched;
	/* A window begins earlier for calls, and damage counts only in rows that are summed. */
	summing->apart = options->from_ns || options->filter ||
			 !(summing->rows.types & TS_ROW_BIT(TS_ROW_API));
	summing->calls = (struct ts_sbt_cursor_options){
		.types = TS_ROW_BIT(TS_ROW_API),
		.session = options->session,
		.from_ns = options->from_ns > TS_LAUNCHERS_BEFORE_NS
				   ? options->from_ns - TS_LAUNCHERS_BEFORE_NS
				   : 0,
		.to_ns = options->to_ns,
	};
}

/* Rows of the whole trace, or of a slice, with the calls that launched them. */
struct source {
	struct ts_sbt_cursor *rows;
	struct ts_sbt_cursor *calls; /* NULL: not needed, or at the end */
	struct ts_sbt_row call;	     /* of `calls`; not in the part yet */
	int calls_error;	     /* ended `calls` */
};

static void source_deinit(struct source *source)
{
	ts_sbt_cursor_free(source->rows);
	ts_sbt_cursor_free(source->calls);
}

/* Reads the next call. Without it, rows lack their launch sites. */
static void next_call(struct source *source)
{
	int r;

	do {
		r = ts_sbt_cursor_next(source->calls, &source->call);
		if (r && r != TS_SBT_E_END)
			source->calls_error = r;
	} while (r == TS_SBT_E_CORRUPT);
	if (!r)
		return;
	ts_sbt_cursor_free(source->calls);
	source->calls = NULL;
}

/* Adds the calls that began until then. */
static void take_calls(struct source *source, struct ts_sum_part *part, uint64_t until_ns)
{
	while (source->calls && source->call.api->start_ns <= until_ns) {
		ts_sum_part_call(part, &source->call);
		next_call(source);
	}
}

/* Sums the next row. Returns the errors of ts_sbt_cursor_next() and of sumpart.h. */
static int sum_next(const struct summing *summing, struct source *source,
		    struct ts_resolver *resolver, struct ts_sum_part *part)
{
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_next(source->rows, &row);

	if (r)
		return r;
	take_calls(source, part, ts_row_start_ns(row.any));
	if (summing->launches && !summing->apart && row.type == TS_ROW_API)
		ts_sum_part_call(part, &row);
	return ts_row_filter_takes(summing->filter, resolver, &row) ? ts_sum_part_add(part, &row)
								    : 0;
}

/* ---- in threads ------------------------------------------------------------------------------ */

static int read_slice(void *data, const struct ts_slice *slice, void *shared)
{
	ts_cleanup(source_deinit) struct source source = {0};
	const struct summing *summing = shared;
	struct ts_sum_part *part = data;
	int r = ts_sum_part_init(part, summing->launches, ts_slice_is_first(slice));

	r = r ? r : ts_slice_cursor(slice, &summing->rows, &source.rows);
	if (!r && summing->launches && summing->apart) {
		r = ts_slice_cursor(slice, &summing->calls, &source.calls);
		if (!r)
			next_call(&source);
	}
	while (!r)
		r = sum_next(summing, &source, NULL, part);
	if (r != TS_SBT_E_END)
		return r;
	/* The next slices need the last calls, too. */
	take_calls(&source, part, UINT64_MAX);
	return source.calls_error;
}

/* Finds the calls of rows that began in earlier slices. */
static int find_later(struct summing *summing, struct ts_sum_part *part)
{
	int r = 0;

	for (size_t i = 0; !r && i < part->n_later; i++) {
		const struct ts_sum_later *later = &part->later[i];
		struct ts_sum_site site = {.name = later->name,
					   .session = later->session,
					   .count = later->count,
					   .first = later->first,
					   .first_ns = later->first_ns};
		struct ts_launcher launcher;

		if (!ts_launchers_find(&summing->launchers, later->session, later->op_id,
				       &launcher) ||
		    !launcher.stack)
			continue;
		site.stack = launcher.stack;
		r = ts_sum_part_add_site(part, &site);
	}
	return r;
}

static int merge_slice(void *data, void *shared)
{
	struct summing *summing = shared;
	struct ts_sum_part *part = data;
	int r = find_later(summing, part);

	r = r ? r : add_part(&summing->naming, part);
	if (summing->launches)
		ts_launchers_merge(&summing->launchers, &part->launchers);
	summing->n_rows += part->n_rows;
	if (!r && summing->step)
		summing->step(summing->step_data, summing->n_rows);
	return r;
}

static void deinit_slice(void *data)
{
	ts_sum_part_deinit(data);
}

/* Sums in threads. *ret_is_done is false if the caller has to read the rows. */
static int read_slices(struct summing *summing, bool *ret_is_done)
{
	const struct ts_slices_work work = {.part_bytes = sizeof(struct ts_sum_part),
					    .run = read_slice,
					    .merge = merge_slice,
					    .part_deinit = deinit_slice,
					    .data = summing};
	ts_cleanup(ts_slices_freep) struct ts_slices *slices = NULL;
	struct ts_sbt_cursor_options all = summing->rows;
	const Ts__Rpc__RowFilter *filter = summing->filter;
	int r;

	/* Names and threads need the reader's strings. */
	if (filter && (filter->name || filter->thread))
		return 0;
	if (summing->launches) {
		all.types |= summing->calls.types;
		all.from_ns = summing->calls.from_ns;
	}
	r = ts_slices_new(ts_resolver_reader(summing->naming.resolver), &all, &slices);
	if (r || !slices)
		return r;
	r = summing->launches ? ts_launchers_init(&summing->launchers) : 0;
	r = r ? r : ts_slices_run(slices, &work);
	*ret_is_done = !r;
	/* Without threads, damage loses the same rows as ever, and parts may have any size. */
	return r > 0 || r == -EAGAIN ? 0 : r;
}

/* ---- in the caller's thread ------------------------------------------------------------------ */

static int read_alone(struct summing *summing)
{
	ts_cleanup(ts_sum_part_deinit) struct ts_sum_part part = {0};
	ts_cleanup(source_deinit) struct source source = {0};
	struct ts_resolver *resolver = summing->naming.resolver;
	struct ts_sbt_reader *reader = ts_resolver_reader(resolver);
	struct ts_row_sums *sums = summing->naming.sums;
	uint64_t n = 0;
	int r = ts_sum_part_init(&part, summing->launches, true);

	r = r ? r : ts_sbt_cursor_new(reader, &summing->rows, &source.rows);
	if (!r && summing->launches && summing->apart) {
		r = ts_sbt_cursor_new(reader, &summing->calls, &source.calls);
		if (!r)
			next_call(&source);
	}
	while (!r) {
		r = sum_next(summing, &source, resolver, &part);
		if (r == TS_SBT_E_CORRUPT) {
			if (!sums->is_damaged)
				sums->damage = *ts_sbt_reader_error(reader);
			sums->is_damaged = true;
			r = 0;
			continue;
		}
		if (!r && ts_sum_part_is_large(&part)) {
			r = add_part(&summing->naming, &part);
			ts_sum_part_clear(&part);
		}
		if (!r && ++n % STEP_ROWS == 0 && summing->step)
			summing->step(summing->step_data, n);
	}
	return r == TS_SBT_E_END ? add_part(&summing->naming, &part) : r;
}

static void free_sums(struct ts_row_sums *sums)
{
	for (int i = 0; i < TS_SUM_COUNT; i++)
		ts_aggregates_free(ts_take_ptr(sums->of[i]));
}

static int make_sums(struct ts_row_sums *sums)
{
	int r = 0;

	free_sums(sums);
	for (int i = 0; !r && i < TS_SUM_COUNT; i++)
		r = ts_aggregates_new(true, &sums->of[i]);
	return r;
}

int ts_row_sums_read(struct ts_row_sums *sums, struct ts_resolver *resolver,
		     const struct ts_sbt_cursor_options *options, const Ts__Rpc__RowFilter *filter,
		     void (*no_memory)(void), void (*step)(void *data, uint64_t n_rows), void *data)
{
	ts_cleanup(ts_launch_sites_freep) struct ts_launch_sites *sites = NULL;
	struct summing summing = {.step = step, .step_data = data};
	bool is_done = false;
	int r = ts_launch_sites_new(resolver, no_memory, &sites);

	r = r ? r : make_sums(sums);
	summing_init(&summing, options, filter);
	if (r || !summing.rows.types)
		return r;
	summing.naming = (struct naming){sums, resolver, sites};
	r = read_slices(&summing, &is_done);
	ts_launchers_deinit(&summing.launchers);
	if (r || is_done)
		return r;
	r = make_sums(sums);
	return r ? r : read_alone(&summing);
}

void ts_row_sums_deinit(struct ts_row_sums *sums)
{
	free_sums(sums);
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
