/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums samples and off-CPU times by stack; collect.c calls this file. No join is needed: each row
 * has its stack and thread.
 */
#include "tools/export/profile/collect.h"

#include "tools/export/epochs.h"
#include "tools/export/export-rows.h"

#define STEP_ROWS 8192u

struct collector {
	struct ts_sbt_reader *reader;
	const struct ts_export_options *options;
	struct ts_collected *to;
	struct ts_sbt_cursor *rows;
	struct ts_epochs epochs;
};

static void collector_deinit(struct collector *collector)
{
	ts_epochs_deinit(&collector->epochs);
	ts_sbt_cursor_free(collector->rows);
}

/* Fills in the row's thread, stack and leaf name. Returns its time. */
static uint64_t look_at(const struct ts_sbt_row *row, struct ts_site *site,
			struct ts_sample *sample)
{
	sample->type = row->type;
	if (row->type == TS_ROW_SAMPLE) {
		site->stack = row->sample->stack;
		site->thread = row->sample->thread;
		sample->name = row->sample->flags & TS_SAMPLE_KERNEL;
		return row->sample->period_ns;
	}
	site->stack = row->off_cpu->stack;
	site->thread = row->off_cpu->thread;
	sample->name = row->off_cpu->reason;
	return ts_row_end_ns(row->schema, row->any) - ts_row_start_ns(row->any);
}

static int take_row(struct collector *collector, const struct ts_sbt_row *row)
{
	struct ts_export_report *report = &collector->to->report;
	struct ts_site site = {.session = row->session, .is_known = 1};
	struct ts_sample key = {.device = TS_NO_DEVICE, .stream = TS_NO_DEVICE}, *sample;
	uint64_t start_ns = ts_row_start_ns(row->any), ns = look_at(row, &site, &key);
	unsigned weight = row->type == TS_ROW_SAMPLE ? TS_EXPORT_CPU : TS_EXPORT_OFF_CPU;
	bool is_new;
	uint32_t i;
	int r;

	if (collector->options->no_leaf)
		key.type = key.name = 0;
	site.epoch = ts_epochs_at(&collector->epochs, row->session, start_ns);
	r = ts_hashtable_get(&collector->to->sites, &site, &key.site, &is_new);
	if (r)
		return r;
	if (is_new)
		((struct ts_site *)ts_hashtable_at(&collector->to->sites, key.site))->time_ns =
			start_ns;
	r = ts_hashtable_get(&collector->to->samples, &key, &i, NULL);
	if (r)
		return r;
	sample = ts_hashtable_at(&collector->to->samples, i);
	ts_collect_add(&sample->values[weight], ns);
	ts_collect_add(&sample->values[TS_EXPORT_HOST], ns);
	ts_collect_add(&report->totals[weight], ns);
	ts_collect_add(&report->totals[TS_EXPORT_HOST], ns);
	if (weight == TS_EXPORT_CPU && !collector->to->period_ns)
		collector->to->period_ns = ns;
	report->n_rows++;
	report->n_without_stack += !site.stack;
	return 0;
}

static int start(struct collector *collector, bool all)
{
	const struct ts_export_options *options = collector->options;
	struct ts_sbt_cursor_options rows = {
		.types = TS_ROW_BIT(TS_ROW_SAMPLE) | TS_ROW_BIT(TS_ROW_OFF_CPU),
		.session = options->session,
		.from_ns = options->from_ns,
		.to_ns = options->to_ns,
	};
	int r;

	if (!all && options->weight == TS_EXPORT_CPU)
		rows.types = TS_ROW_BIT(TS_ROW_SAMPLE);
	else if (!all && options->weight == TS_EXPORT_OFF_CPU)
		rows.types = TS_ROW_BIT(TS_ROW_OFF_CPU);
	r = ts_epochs_init(&collector->epochs, collector->reader);
	return r ? r : ts_sbt_cursor_new(collector->reader, &rows, &collector->rows);
}

static int run(struct collector *collector)
{
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = 0;

	while (!r && !(r = ts_export_next_row(collector->reader, collector->rows,
					      &collector->to->report, &row))) {
		r = take_row(collector, &row);
		if (!r && ++n % STEP_ROWS == 0 && collector->options->step)
			collector->options->step(collector->options->user, n);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

int ts_collect_host(struct ts_sbt_reader *reader, const struct ts_export_options *options, bool all,
		    struct ts_collected *collected)
{
	ts_cleanup(collector_deinit) struct collector collector = {.reader = reader,
								   .options = options,
								   .to = collected};
	int r = start(&collector, all);

	return r ? r : run(&collector);
}
