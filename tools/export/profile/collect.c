/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums rows; folded.c and pprof.c call this file. This file reads calls and GPU work side by side
 * in time order, the calls a little ahead. It stores the site of each call by operation id, in
 * pages of consecutive ids. It keeps pages for the newest tens of millions of calls: no GPU has a
 * longer queue.
 */
#include "tools/export/profile/collect.h"

#include "tools/export/epochs.h"
#include "tools/export/export-rows.h"

#define STEP_ROWS 8192u

#define PAGE_OPS  1024u
/* Pages of one generation. When a generation is full, the generation before it is dropped. */
#define N_PAGES 32768u
/* Calls are read this far ahead, because the times come from two clocks. */
#define AHEAD_NS UINT64_C(1000000000)
/* Calls are read this far before a window, because work in the window may have waited long. */
#define LOOK_BACK_NS UINT64_C(60000000000)

struct page {
	uint64_t session;
	uint64_t number; /* operation id / PAGE_OPS */
	/* end of key */
	uint32_t *sites; /* site + 1; 0: no call with this id */
};

struct collector {
	struct ts_sbt_reader *reader;
	const struct ts_export_options *options;
	bool streams;
	struct ts_collected *to;
	struct ts_sbt_cursor *rows, *calls;
	struct ts_sbt_row call; /* the next call, not yet used */
	bool has_call;
	struct ts_hashtable pages[2]; /* the newest generation, and the one before */
	struct page last;	      /* page of the last lookup */
	struct ts_epochs epochs;
	uint64_t n_read;
};

static void free_sites(struct ts_hashtable *pages)
{
	for (uint32_t i = 0; i < pages->n; i++)
		free(((struct page *)ts_hashtable_at(pages, i))->sites);
}

static void collector_deinit(struct collector *collector)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(collector->pages); i++) {
		free_sites(&collector->pages[i]);
		ts_hashtable_deinit(&collector->pages[i]);
	}
	ts_epochs_deinit(&collector->epochs);
	ts_sbt_cursor_free(collector->calls);
	ts_sbt_cursor_free(collector->rows);
}

/* ---- calls by operation ---------------------------------------------------------------------- */

/* Returns the page of an operation id; NULL if there is none. */
static uint32_t *find_page(struct collector *collector, uint32_t session, uint64_t op_id)
{
	struct page key = {.session = session, .number = op_id / PAGE_OPS};
	uint32_t at;

	if (collector->last.sites && collector->last.session == key.session &&
	    collector->last.number == key.number)
		return collector->last.sites;
	for (size_t i = 0; i < TS_ARRAY_LEN(collector->pages); i++)
		if (ts_hashtable_find(&collector->pages[i], &key, &at)) {
			collector->last = *(struct page *)ts_hashtable_at(&collector->pages[i], at);
			return collector->last.sites;
		}
	return NULL;
}

static int add_page(struct collector *collector, uint32_t session, uint64_t op_id,
		    uint32_t **ret_sites)
{
	struct page key = {.session = session, .number = op_id / PAGE_OPS};
	ts_cleanup(ts_freep) uint32_t *sites = calloc(PAGE_OPS, sizeof(*sites));
	uint32_t at;
	int r;

	if (!sites)
		return -ENOMEM;
	if (collector->pages[0].n == N_PAGES) {
		struct ts_hashtable spare = collector->pages[1];

		free_sites(&spare);
		ts_hashtable_clear(&spare);
		collector->pages[1] = collector->pages[0];
		collector->pages[0] = spare;
		collector->last.sites = NULL;
	}
	r = ts_hashtable_get(&collector->pages[0], &key, &at, NULL);
	if (r)
		return r;
	*ret_sites = ((struct page *)ts_hashtable_at(&collector->pages[0], at))->sites =
		ts_take_ptr(sites);
	return 0;
}

static int note_call(struct collector *collector, uint32_t session, uint64_t op_id, uint32_t site)
{
	uint32_t *sites = find_page(collector, session, op_id);
	int r = sites ? 0 : add_page(collector, session, op_id, &sites);

	if (!r)
		sites[op_id % PAGE_OPS] = site + 1;
	return r;
}

/* Reads the next row as ts_export_next_row(), and reports progress. */
static int next_row(struct collector *collector, struct ts_sbt_cursor *cursor,
		    struct ts_sbt_row *ret_row)
{
	int r = ts_export_next_row(collector->reader, cursor, &collector->to->report, ret_row);

	if (!r && ++collector->n_read % STEP_ROWS == 0 && collector->options->step)
		collector->options->step(collector->options->user, collector->n_read);
	return r;
}

static int next_call(struct collector *collector)
{
	int r = next_row(collector, collector->calls, &collector->call);

	collector->has_call = !r;
	return r == TS_SBT_E_END ? 0 : r;
}

static int take_call(struct collector *collector)
{
	const struct ts_row_api *api = collector->call.api;
	struct ts_site key = {
		.session = collector->call.session,
		.is_known = 1,
		.stack = api->stack,
		.thread = api->thread,
		.epoch = ts_epochs_at(&collector->epochs, collector->call.session, api->start_ns),
	};
	bool is_new;
	uint32_t i;
	int r;

	r = ts_hashtable_recall(&collector->to->sites, &key, offsetof(struct ts_site, time_ns), &i,
				&is_new);
	if (!r && is_new)
		((struct ts_site *)ts_hashtable_at(&collector->to->sites, i))->time_ns =
			api->start_ns;
	if (!r && api->op_id)
		r = note_call(collector, key.session, api->op_id, i);
	if (!r && api->nested_op_id && api->nested_op_id != api->op_id)
		r = note_call(collector, key.session, api->nested_op_id, i);
	return r ? r : next_call(collector);
}

/* ---- GPU work -------------------------------------------------------------------------------- */

static int find_site(struct collector *collector, const struct ts_sbt_row *row, uint64_t op_id,
		     uint32_t *ret_site)
{
	struct ts_site unknown = {.session = row->session};
	const uint32_t *sites = op_id ? find_page(collector, row->session, op_id) : NULL;

	if (sites && sites[op_id % PAGE_OPS]) {
		*ret_site = sites[op_id % PAGE_OPS] - 1;
		return 0;
	}
	return ts_hashtable_get(&collector->to->sites, &unknown, ret_site, NULL);
}

static int take_row(struct collector *collector, const struct ts_sbt_row *row)
{
	struct ts_export_report *report = &collector->to->report;
	struct ts_sample key = {.device = TS_NO_DEVICE, .stream = TS_NO_DEVICE}, *sample;
	uint64_t values[TS_EXPORT_FIRST_OF_HOST] = {0}, op_id;
	const struct ts_site *site;
	uint32_t device, stream, i;
	int r;

	values[TS_EXPORT_GPU_TIME] =
		ts_row_end_ns(row->schema, row->any) - ts_row_start_ns(row->any);
	key.type = row->type;
	if (row->type == TS_ROW_KERNEL) {
		op_id = row->kernel->op_id;
		key.name = row->kernel->name;
		device = row->kernel->device;
		stream = row->kernel->stream;
		values[TS_EXPORT_LAUNCHES] = 1;
	} else if (row->type == TS_ROW_MEMCPY) {
		op_id = row->memcpy_->op_id;
		key.name = row->memcpy_->copy_kind;
		device = row->memcpy_->device;
		stream = row->memcpy_->stream;
		values[TS_EXPORT_BYTES] = row->memcpy_->bytes;
	} else {
		op_id = row->memset_->op_id;
		device = row->memset_->device;
		stream = row->memset_->stream;
	}
	if (collector->streams) {
		key.device = device;
		key.stream = stream;
	}
	if (collector->options->no_leaf)
		key.type = key.name = 0;
	r = find_site(collector, row, op_id, &key.site);
	if (!r)
		r = ts_hashtable_recall(&collector->to->samples, &key,
					offsetof(struct ts_sample, values), &i, NULL);
	if (r)
		return r;
	sample = ts_hashtable_at(&collector->to->samples, i);
	site = ts_hashtable_at(&collector->to->sites, key.site);
	report->n_rows++;
	report->n_without_call += !site->is_known;
	report->n_without_stack += site->is_known && !site->stack;
	for (i = 0; i < TS_EXPORT_FIRST_OF_HOST; i++) {
		ts_collect_add(&sample->values[i], values[i]);
		ts_collect_add(&report->totals[i], values[i]);
	}
	return 0;
}

static int start(struct collector *collector)
{
	const struct ts_export_options *options = collector->options;
	struct ts_sbt_cursor_options rows = {
		.types = options->types ? options->types
					: TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) |
						  TS_ROW_BIT(TS_ROW_MEMSET),
		.session = options->session,
		.from_ns = options->from_ns,
		.to_ns = options->to_ns,
	};
	struct ts_sbt_cursor_options calls = {
		.types = TS_ROW_BIT(TS_ROW_API),
		.session = options->session,
		.from_ns = options->from_ns > LOOK_BACK_NS ? options->from_ns - LOOK_BACK_NS : 0,
	};
	int r;

	if (options->to_ns && __builtin_add_overflow(options->to_ns, AHEAD_NS, &calls.to_ns))
		calls.to_ns = 0;
	for (size_t i = 0; i < TS_ARRAY_LEN(collector->pages); i++)
		ts_hashtable_init(&collector->pages[i], sizeof(struct page),
				  offsetof(struct page, sites));
	r = ts_epochs_init(&collector->epochs, collector->reader);
	if (!r)
		r = ts_sbt_cursor_new(collector->reader, &rows, &collector->rows);
	if (!r)
		r = ts_sbt_cursor_new(collector->reader, &calls, &collector->calls);
	return r ? r : next_call(collector);
}

static int run(struct collector *collector)
{
	struct ts_sbt_row row;
	uint64_t until_ns;
	int r;

	while (!(r = next_row(collector, collector->rows, &row))) {
		if (__builtin_add_overflow(ts_row_start_ns(row.any), AHEAD_NS, &until_ns))
			until_ns = UINT64_MAX;
		while (!r && collector->has_call && collector->call.api->start_ns <= until_ns)
			r = take_call(collector);
		if (!r)
			r = take_row(collector, &row);
		if (r)
			return r;
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static int collect_device(struct ts_sbt_reader *reader, const struct ts_export_options *options,
			  bool streams, struct ts_collected *collected)
{
	ts_cleanup(collector_deinit) struct collector collector = {.reader = reader,
								   .options = options,
								   .streams = streams,
								   .to = collected};
	int r = start(&collector);

	return r ? r : run(&collector);
}

int ts_collect(struct ts_sbt_reader *reader, const struct ts_export_options *options, bool profile,
	       struct ts_collected *ret_collected)
{
	struct ts_collected collected = {0};
	int r;

	ts_hashtable_init(&collected.sites, sizeof(struct ts_site),
			  offsetof(struct ts_site, time_ns));
	ts_hashtable_init(&collected.samples, sizeof(struct ts_sample),
			  offsetof(struct ts_sample, values));
	r = options->weight < TS_EXPORT_FIRST_OF_HOST
		    ? collect_device(reader, options, profile, &collected)
		    : ts_collect_host(reader, options, profile, &collected);
	if (r) {
		ts_collected_deinit(&collected);
		return r;
	}
	collected.report.n_samples = collected.samples.n;
	*ret_collected = collected;
	return 0;
}

void ts_collected_deinit(struct ts_collected *collected)
{
	ts_hashtable_deinit(&collected->sites);
	ts_hashtable_deinit(&collected->samples);
}
