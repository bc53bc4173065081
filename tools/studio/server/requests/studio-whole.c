/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulates a long trace: see studio-whole.h. request-what-if.c calls this module; it calls
 * replay/emulate and replay/report/tiles.
 */
#include "tools/studio/server/requests/studio-whole.h"

#include "replay/emulate/emulate-windows.h"
#include "tools/studio/server/studio-call.h"

#include <malloc.h>
#include <stdio.h>

/* Rows of the layer; all others are cells alone. */
#define MAX_ROWS ((size_t)1 << 18)
/* The cells of a layer end at this multiple of the recorded time. */
#define MOST_TIMES 64u

struct whole {
	const struct ts_studio_whole_options *options;
	struct ts_studio_times times;
	struct ts_tiles_layer *layer;
	uint64_t end_ns;
};

static int take(void *data, const struct ts_emulate_time *time)
{
	struct whole *whole = data;
	struct ts_tiles_layer_row row;

	ts_studio_times_row(&whole->times, time, &row);
	whole->end_ns = row.end_ns > whole->end_ns ? row.end_ns : whole->end_ns;
	return ts_tiles_layer_add(whole->layer, &row);
}

static int step(void *data, uint64_t done, uint64_t all)
{
	struct ts_studio_call *call = data;

	atomic_store(&call->studio->layers.done, done);
	atomic_store(&call->studio->layers.all, all);
	return ts_call_is_cancelled(call) ? -ECANCELED : 0;
}

/* Copies of a window cannot show how fast pinned ones are, if the window has none. */
static int check_edits(const struct ts_studio_whole_options *options, char *ret_message)
{
	for (size_t i = 0; i < options->n_edits; i++)
		if (options->edits[i].kind == TS_EMULATE_PINNED &&
		    options->edits[i].bytes_per_s <= 0) {
			snprintf(ret_message, TS_EMULATE_TEXT_BYTES,
				 "pinned: a trace of this length needs the rate, like "
				 "pinned=25GB/s");
			return -EINVAL;
		}
	return 0;
}

static int begin(struct whole *whole, struct ts_emulate_windows **ret_windows)
{
	const struct ts_studio_whole_options *options = whole->options;
	struct ts_studio_call *call = options->call;
	const struct ts_emulate_windows_options windows = {.reader = call->reader->source.reader,
							   .session = call->reader->source.session,
							   .step = step,
							   .step_data = call};
	uint64_t duration_ns = ts_tiles_duration_ns(call->tiles->tiles);
	struct ts_tiles_layer_plan plan = {.rows_from_ns = options->from_ns, .max_rows = MAX_ROWS};
	int r;

	if (__builtin_mul_overflow(duration_ns, MOST_TIMES, &plan.most_ns))
		plan.most_ns = UINT64_MAX >> 1;
	r = ts_tiles_layer_begin(call->tiles->tiles, &plan, &whole->layer);
	return r ? r
		 : ts_emulate_windows_new(&windows, options->edits, options->n_edits,
					  options->names, ret_windows);
}

/* Runs all windows. *ret_is_running: this emulation has the right to run. */
static int run(struct whole *whole, struct ts_emulate_windows *windows, bool *is_running,
	       char *ret_message)
{
	struct ts_studio_call *call = whole->options->call;
	uint64_t origin_ns = ts_tiles_origin_ns(call->tiles->tiles);
	const struct ts_emulate_sums *sums = ts_emulate_windows_sums(windows);
	int r = 0;

	while (!r) {
		r = ts_emulate_windows_next(windows, take, whole, ret_message);
		if (!r && sums->settled_ns != UINT64_MAX)
			r = ts_tiles_layer_settle(whole->layer,
						  sums->settled_ns > origin_ns
							  ? sums->settled_ns - origin_ns
							  : 0);
		if (r)
			break;
		r = ts_studio_layers_pause(&call->studio->layers, &call->is_cancelled);
		*is_running = !r;
	}
	return r == TS_SBT_E_END ? ts_tiles_layer_settle(whole->layer, UINT64_MAX) : r;
}

static void sum_up(const struct ts_emulate_sums *sums, uint64_t end_ns,
		   struct ts_studio_whole *ret_sums)
{
	bool is_empty = sums->from_ns == UINT64_MAX || sums->recorded_from_ns == UINT64_MAX;

	*ret_sums = (struct ts_studio_whole){.before_ns = is_empty ? 0
								   : sums->recorded_to_ns -
									     sums->recorded_from_ns,
					     .after_ns = is_empty ? 0 : sums->to_ns - sums->from_ns,
					     .end_ns = end_ns,
					     .n_ops = sums->n_ops,
					     .n_calls = sums->n_calls,
					     .n_edited = sums->n_edited,
					     .n_windows = sums->n_windows,
					     .n_broken = sums->n_broken,
					     .is_damaged = sums->is_damaged};
}

int ts_studio_whole_emulate(const struct ts_studio_whole_options *options,
			    struct ts_tiles_layer **ret_layer, struct ts_studio_whole *ret_sums,
			    char *ret_message)
{
	struct ts_studio_call *call = options->call;
	struct ts_emulate_windows *windows = NULL;
	struct whole whole = {.options = options, .times.tiles = call->tiles->tiles};
	bool is_running = true;
	int r = check_edits(options, ret_message);

	r = r ? r : ts_studio_layers_enter_long(&call->studio->layers, &call->is_cancelled);
	if (r)
		return r;
	r = begin(&whole, &windows);
	r = r ? r : run(&whole, windows, &is_running, ret_message);
	if (!r) {
		sum_up(ts_emulate_windows_sums(windows), whole.end_ns, ret_sums);
		*ret_layer = ts_take_ptr(whole.layer);
	}
	ts_emulate_windows_free(windows);
	ts_tiles_layer_free(whole.layer);
	malloc_trim(0);
	ts_studio_layers_leave_long(&call->studio->layers, is_running);
	return r;
}
