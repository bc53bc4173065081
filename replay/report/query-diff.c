/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares traces of two builds of a program: see query-diff.h. tsctl diff and libtracesmith's
 * users call this file; replay/state/compare computes the differences.
 */
#include "replay/report/query-diff.h"

#include "proto/rpc/json.h"
#include "replay/report/answers/doubtsjson.h"
#include "replay/report/names/names.h"
#include "replay/report/report-pool.h"
#include "replay/state/compare/diff.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#define ALPHA	       0.01
#define DEFAULT_LISTED 10u
#define MAX_LISTED     (1u << 20)
#define LEAST_PERCENT  1u
/*
 * Smallest change that counts, in percent, with one run per side: a GPU's clock varies by one or
 * two percent between runs.
 */
#define LEAST_PERCENT_OF_ONE 3u
#define BYTES_TEXT	     16u

struct comparison {
	const struct ts_query_side *sides;
	const struct ts_diff *diff;
	struct ts_demangler *demangler;
	struct ts_pool pool;
};

static void comparison_deinit(struct comparison *comparison)
{
	ts_demangler_free(comparison->demangler);
	ts_pool_deinit(&comparison->pool);
}

static char *copy_kind_name(struct ts_pool *pool, uint32_t kind)
{
	const char *name = ts_name_memcpy_kind(kind);

	return name ? ts_pool_copy(pool, name) : ts_pool_printf(pool, "kind %" PRIu32, kind);
}

/* Writes 2 to the power of `log2` bytes, such as "512.0 KiB". */
static void bytes_text(unsigned log2, char text[BYTES_TEXT])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	unsigned value = 1u << log2 % 10;

	snprintf(text, BYTES_TEXT, "%.*f %s",
		 log2 < 10     ? 0
		 : value < 100 ? 2
			       : 1,
		 (double)value, units[log2 / 10]);
}

static char *sized_name(struct ts_pool *pool, const char *what, uint32_t size_class)
{
	char from[BYTES_TEXT], to[BYTES_TEXT];

	if (!size_class)
		return ts_pool_printf(pool, "%s, 0 B", what);
	bytes_text(size_class >= 64 ? 63 : size_class - 1, from);
	if (size_class >= 64)
		return ts_pool_printf(pool, "%s, %s or more", what, from);
	bytes_text(size_class, to);
	return ts_pool_printf(pool, "%s, %s to %s", what, from, to);
}

static char *name_text(struct comparison *comparison, const struct ts_diff_name *name)
{
	struct ts_pool *pool = &comparison->pool;
	const char *call;

	switch (name->type) {
	case TS_ROW_KERNEL:
		return ts_pool_copy(pool, ts_demangle(comparison->demangler, name->name));
	case TS_ROW_MEMCPY:
		return sized_name(pool, copy_kind_name(pool, name->kind), name->size_class);
	case TS_ROW_MEMSET:
		return sized_name(pool, "memset", name->size_class);
	default:
		call = ts_name_api(name->kind >> 16, name->kind & UINT16_MAX);
		return call ? ts_pool_copy(pool, call)
			    : ts_pool_printf(pool, "call %" PRIu32, name->kind & UINT16_MAX);
	}
}

static Ts__Rpc__DiffSide *make_side(struct ts_pool *pool, const struct ts_diff_side *side)
{
	Ts__Rpc__DiffSide *message = ts_pool_alloc(pool, 1, sizeof(*message));

	ts__rpc__diff_side__init(message);
	TS_RPC_SET(message, count, side->count);
	TS_RPC_SET(message, total_ns, side->total_ns);
	TS_RPC_SET(message, min_ns, side->min_ns);
	TS_RPC_SET(message, median_ns, side->median_ns);
	TS_RPC_SET(message, max_ns, side->max_ns);
	return message;
}

static Ts__Rpc__LaunchConfig *make_config(struct ts_pool *pool, const struct ts_diff_config *config)
{
	Ts__Rpc__LaunchConfig *message = ts_pool_alloc(pool, 1, sizeof(*message));

	ts__rpc__launch_config__init(message);
	TS_RPC_SET(message, grid_x, config->grid[0]);
	TS_RPC_SET(message, grid_y, config->grid[1]);
	TS_RPC_SET(message, grid_z, config->grid[2]);
	TS_RPC_SET(message, block_x, config->block[0]);
	TS_RPC_SET(message, block_y, config->block[1]);
	TS_RPC_SET(message, block_z, config->block[2]);
	TS_RPC_SET(message, cluster_x, config->cluster[0]);
	TS_RPC_SET(message, cluster_y, config->cluster[1]);
	TS_RPC_SET(message, cluster_z, config->cluster[2]);
	TS_RPC_SET(message, dynamic_shared_bytes, config->dynamic_shared_bytes);
	return message;
}

static Ts__Rpc__DiffName *make_name(struct comparison *comparison, const struct ts_diff_name *name)
{
	Ts__Rpc__DiffName *message = ts_pool_alloc(&comparison->pool, 1, sizeof(*message));
	unsigned verdict = name->verdict;

	ts__rpc__diff_name__init(message);
	message->type = ts_pool_copy(&comparison->pool, ts_row_schema(name->type)->name);
	message->name = name_text(comparison, name);
	message->verdict = ts_pool_copy(&comparison->pool, ts_diff_verdict_name(verdict));
	message->before = make_side(&comparison->pool, &name->sides[0]);
	message->after = make_side(&comparison->pool, &name->sides[1]);
	if (verdict == TS_DIFF_SAME || verdict == TS_DIFF_SLOWER || verdict == TS_DIFF_FASTER) {
		TS_RPC_SET(message, p, name->p);
		TS_RPC_SET(message, slower_share, name->slower_share);
	}
	if (name->has_config[0])
		message->config_before = make_config(&comparison->pool, &name->configs[0]);
	if (name->has_config[1])
		message->config_after = make_config(&comparison->pool, &name->configs[1]);
	return message;
}

static Ts__Rpc__DiffOperation *make_operation(struct comparison *comparison,
					      const struct ts_diff_op *op)
{
	const struct ts_diff_name *name = &comparison->diff->names[op->name];
	Ts__Rpc__DiffOperation *message = ts_pool_alloc(&comparison->pool, 1, sizeof(*message));

	ts__rpc__diff_operation__init(message);
	message->type = ts_pool_copy(&comparison->pool, ts_row_schema(name->type)->name);
	message->name = name_text(comparison, name);
	TS_RPC_SET(message, session, op->session);
	TS_RPC_SET(message, stream, op->stream);
	if (op->op_id[0]) {
		TS_RPC_SET(message, op_id_before, op->op_id[0]);
		TS_RPC_SET(message, duration_before_ns, op->duration_ns[0]);
		TS_RPC_SET(message, wait_before_ns, op->wait_ns[0]);
	}
	if (op->op_id[1]) {
		TS_RPC_SET(message, op_id_after, op->op_id[1]);
		TS_RPC_SET(message, duration_after_ns, op->duration_ns[1]);
		TS_RPC_SET(message, wait_after_ns, op->wait_ns[1]);
	}
	return message;
}

static Ts__Rpc__DiffTotal *make_total(struct comparison *comparison, unsigned side)
{
	const struct ts_diff_total *total = &comparison->diff->totals[side];
	Ts__Rpc__DiffTotal *message = ts_pool_alloc(&comparison->pool, 1, sizeof(*message));
	size_t n = total->n_runs;

	ts__rpc__diff_total__init(message);
	message->path = ts_pool_copy(&comparison->pool, comparison->sides[side].path);
	TS_RPC_SET(message, runs, (uint32_t)n);
	TS_RPC_SET(message, operations, ts_diff_of_run(total->n_ops, n));
	TS_RPC_SET(message, operations_ns, ts_diff_of_run(total->ops_ns, n));
	TS_RPC_SET(message, span_ns, ts_diff_of_run(total->span_ns, n));
	TS_RPC_SET(message, kernels, ts_diff_of_run(total->n_of[0], n));
	TS_RPC_SET(message, kernels_ns, ts_diff_of_run(total->ns_of[0], n));
	TS_RPC_SET(message, copies, ts_diff_of_run(total->n_of[1], n));
	TS_RPC_SET(message, copies_ns, ts_diff_of_run(total->ns_of[1], n));
	TS_RPC_SET(message, sets, ts_diff_of_run(total->n_of[2], n));
	TS_RPC_SET(message, sets_ns, ts_diff_of_run(total->ns_of[2], n));
	TS_RPC_SET(message, busy_ns, ts_diff_of_run(total->busy_ns, n));
	TS_RPC_SET(message, alone, total->n_alone);
	TS_RPC_SET(message, not_aligned, total->n_not_aligned);
	if (total->is_damaged)
		TS_RPC_SET(message, damaged, true);
	message->doubts = ts_doubtsjson_make(&comparison->pool, &total->doubts);
	return message;
}

static void make_report(struct comparison *comparison, Ts__Rpc__DiffReport *ret_report)
{
	const struct ts_diff *diff = comparison->diff;

	ts__rpc__diff_report__init(ret_report);
	ret_report->before = make_total(comparison, 0);
	ret_report->after = make_total(comparison, 1);
	TS_RPC_SET(ret_report, aligned, diff->n_aligned);
	ret_report->names =
		ts_pool_alloc(&comparison->pool, diff->n_names + 1, sizeof(*ret_report->names));
	for (size_t i = 0; i < diff->n_names; i++)
		ret_report->names[ret_report->n_names++] = make_name(comparison, &diff->names[i]);
	if (diff->has_first)
		ret_report->first_difference = make_operation(comparison, &diff->first);
	ret_report->slower =
		ts_pool_alloc(&comparison->pool, diff->n_slower + 1, sizeof(*ret_report->slower));
	if (diff->lost_overlap || diff->gained_overlap)
		ret_report->overlap =
			ts_pool_copy(&comparison->pool, diff->lost_overlap ? "lost" : "gained");
	if (diff->has_host_clock)
		TS_RPC_SET(ret_report, host_clock, true);
	for (size_t i = 0; i < diff->n_slower; i++)
		ret_report->slower[ret_report->n_slower++] =
			make_operation(comparison, &diff->slower[i]);
}

static_assert(TS_QUERY_DIFF_MAX_RUNS == TS_DIFF_MAX_RUNS, "one limit, two headers");

/* Finds the first damaged trace. */
static void find_damage(const struct ts_diff *diff, const struct ts_query_side sides[2],
			struct ts_query_end *ret_end, unsigned *ret_side, size_t *ret_run)
{
	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < sides[side].n; i++) {
			const struct ts_sbt_error *error =
				ts_sbt_reader_error(sides[side].readers[i]);

			if (!diff->totals[side].is_damaged || !error->code)
				continue;
			*ret_end = (struct ts_query_end){.is_damaged = true, .damage = *error};
			*ret_side = side;
			*ret_run = i;
			return;
		}
}

static int read_diff(const struct ts_query_side sides[2], const Ts__Rpc__DiffQuery *query,
		     const volatile int *cancel, struct ts_diff **ret_diff, unsigned *ret_side,
		     size_t *ret_run)
{
	uint32_t least = sides[0].n > 1 && sides[1].n > 1 ? LEAST_PERCENT : LEAST_PERCENT_OF_ONE;
	const struct ts_diff_runs runs[2] = {{sides[0].readers, sides[0].n},
					     {sides[1].readers, sides[1].n}};
	struct ts_diff_options options = {
		.alpha = ALPHA,
		.least = (double)(query->has_least_percent ? query->least_percent : least) / 100,
		.max_slower = query->has_limit ? query->limit : DEFAULT_LISTED,
	};
	const volatile int *flags[2][TS_QUERY_DIFF_MAX_RUNS];
	int r;

	if (!cancel)
		return ts_diff_read(runs, &options, ret_diff, ret_side, ret_run);
	for (unsigned side = 0; side < 2; side++)
		for (size_t i = 0; i < sides[side].n; i++)
			flags[side][i] = ts_sbt_reader_cancel(sides[side].readers[i], cancel);
	r = ts_diff_read(runs, &options, ret_diff, ret_side, ret_run);
	/* In reverse order: one reader may be on both sides. */
	for (unsigned side = 2; side-- > 0;)
		for (size_t i = sides[side].n; i-- > 0;)
			ts_sbt_reader_cancel(sides[side].readers[i], flags[side][i]);
	return r;
}

int ts_query_diff(const struct ts_query_side sides[2], const Ts__Rpc__DiffQuery *query,
		  const struct ts_query_options *options, struct ts_query_end *ret_end,
		  unsigned *ret_side, size_t *ret_run)
{
	ts_cleanup(comparison_deinit) struct comparison comparison = {
		.sides = sides, .pool = {.no_memory = options->no_memory}};
	ts_cleanup(ts_diff_freep) struct ts_diff *diff = NULL;
	struct ts_query_end end = {0};
	Ts__Rpc__DiffReport report;
	int r;

	*ret_side = 0;
	*ret_run = 0;
	if (!options->give || !options->no_memory)
		return -EINVAL;
	for (unsigned side = 0; side < 2; side++)
		if (!sides[side].n || sides[side].n > TS_QUERY_DIFF_MAX_RUNS)
			return TS_QUERY_E_MANY;
	if (query->has_limit && query->limit > MAX_LISTED)
		return TS_QUERY_E_MANY;
	/* Without a demangler, names are mangled. */
	if (!query->mangled)
		(void)ts_demangler_new(&comparison.demangler);
	r = read_diff(sides, query, options->cancel, &diff, ret_side, ret_run);
	if (r)
		return r;
	comparison.diff = diff;
	make_report(&comparison, &report);
	find_damage(diff, sides, &end, ret_side, ret_run);
	r = options->give(options->data, 0, &report.base);
	if (!r)
		*ret_end = end;
	return r;
}
