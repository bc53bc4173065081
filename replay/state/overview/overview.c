/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds the passes of passes.h with one walk over a trace: see overview.h. replay/report calls this
 * file for `tsctl analyze`; this file calls the state machine and the passes.
 */
#include "replay/state/overview/overview.h"

#include "proto/abi/grow.h"
#include "replay/state/overview/passes.h"
#include "replay/state/relay.h"
#include "replay/state/state-map.h"
#include "replay/state/state-stages.h"
#include "sbt/tap.h"

/*
 * Calls whose stacks are remembered until their kernels come. A call precedes its kernels by at
 * most the depth of a stream's queue.
 */
#define N_CALLS (1u << 16)

struct call {
	uint64_t op_id;
	uint32_t session, stack;
};

/* A row for the machine, or a synchronization of the host. */
struct item {
	struct ts_state_item state;
	bool is_sync;
	struct ts_analysis_sync sync;
};

struct walk {
	struct ts_overview *overview;
	struct ts_relay *relay; /* to `timeline` and `analysis` */
	struct ts_state_machine *machine;
	struct ts_timeline_pass *timeline;
	struct ts_analysis_pass *analysis;
	struct ts_occupancy_pass *occupancy;
	struct ts_errors_pass *errors;
	struct call *calls;
	struct ts_state_map launch_by_key;
	size_t n_launches_allocated;
	bool is_damaged;
};

static void walk_deinit(struct walk *walk)
{
	ts_relay_free(walk->relay);
	ts_timeline_pass_free(walk->timeline);
	ts_analysis_pass_free(walk->analysis);
	ts_occupancy_pass_free(walk->occupancy);
	ts_errors_pass_free(walk->errors);
	ts_state_machine_free(walk->machine);
	ts_state_map_deinit(&walk->launch_by_key);
	free(walk->calls);
}

/* Most ids of a session increase by one, so recent calls have different slots. */
static struct call *call_slot(const struct walk *walk, uint32_t session, uint64_t op_id)
{
	return &walk->calls[(op_id ^ session * UINT64_C(40503)) & (N_CALLS - 1)];
}

/* Adds launches of a kernel with a stack. */
static int add_launches(struct walk *walk, const struct ts_overview_launch *launches)
{
	struct ts_overview *overview = walk->overview;
	uint64_t key = (uint64_t)launches->name << 32 | launches->stack;
	uint32_t at = ts_state_map_find(&walk->launch_by_key, launches->session, key);
	int r;

	if (at == TS_STATE_MAP_NONE) {
		if (TS_GROW(overview->launches, walk->n_launches_allocated,
			    overview->n_launches + 1))
			return -ENOMEM;
		at = (uint32_t)overview->n_launches;
		r = ts_state_map_set(&walk->launch_by_key, launches->session, key, at);
		if (r)
			return r;
		overview->launches[overview->n_launches] = *launches;
		overview->launches[overview->n_launches++].count = 0;
	}
	overview->launches[at].count += launches->count;
	return 0;
}

static int take_launch(struct walk *walk, uint32_t session, const struct ts_row_kernel *row)
{
	const struct call *call = call_slot(walk, session, row->op_id);
	bool is_known = row->op_id && call->op_id == row->op_id && call->session == session;
	const struct ts_overview_launch launch = {.session = session,
						  .name = row->name,
						  .stack = is_known ? call->stack : 0,
						  .count = 1,
						  .start_ns = row->start_ns};

	return add_launches(walk, &launch);
}

static int take_kernel(struct walk *walk, uint32_t session, const struct ts_row_kernel *row)
{
	int r = take_launch(walk, session, row);

	return r ? r : ts_occupancy_pass_take(walk->occupancy, session, row);
}

static void note_call(struct walk *walk, uint32_t session, const struct ts_row_api *row)
{
	*call_slot(walk, session, row->op_id) = (struct call){row->op_id, session, row->stack};
}

/*
 * Feeds the passes that need rows alone. The cursor's thread calls this function, while feed()
 * works on earlier rows.
 */
static int take_row(const struct ts_sbt_row *row, void *data)
{
	struct walk *walk = data;

	switch (row->type) {
	case TS_ROW_KERNEL:
		return take_kernel(walk, row->session, row->kernel);
	case TS_ROW_API:
		note_call(walk, row->session, row->api);
		return ts_errors_pass_take(walk->errors, row);
	case TS_ROW_SYNC:
	case TS_ROW_ACCESS:
		return ts_errors_pass_take(walk->errors, row);
	default:
		return 0;
	}
}

static int take_timeline(void *pass, void *data)
{
	const struct item *item = data;

	return item->state.has_op ? ts_timeline_pass_take(pass, &item->state.op) : 0;
}

static int take_analysis(void *pass, void *data)
{
	const struct item *item = data;

	if (item->is_sync)
		return ts_analysis_pass_sync(pass, &item->sync);
	return item->state.has_op ? ts_analysis_pass_take(pass, &item->state.op) : 0;
}

static int feed(struct walk *walk, const struct ts_sbt_row *row)
{
	struct item *item = ts_relay_item(walk->relay);
	int r;

	item->is_sync = ts_analysis_pass_row(walk->analysis, row, &item->sync);
	r = ts_state_machine_join(walk->machine, row, &item->state);
	return r == 1 || (!r && item->is_sync) ? ts_relay_put(walk->relay) : r;
}

static int read_rows(struct walk *walk, struct ts_sbt_reader *reader, uint32_t session)
{
	const struct ts_sbt_cursor_options options = {
		.types = TS_STATE_MACHINE_ROWS | TS_ERRORS_ROWS,
		.session = session,
	};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader, &options, &cursor), error;

	if (!r)
		ts_sbt_cursor_tap(cursor, take_row, walk);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			walk->is_damaged = true;
			r = 0;
			continue;
		}
		r = r ? r : feed(walk, &row);
	}
	error = ts_relay_end(walk->relay);
	return error ? error : r == TS_SBT_E_END ? 0 : r;
}

static int start(struct walk *walk, struct ts_sbt_reader *reader, uint32_t session)
{
	const struct ts_timeline_options options = {.session = session, .n_parts = 1};
	struct ts_relay_pass passes[] = {{.take = ts_state_machine_order, .is_first = true},
					 {.take = take_timeline},
					 {.take = take_analysis}};
	int r = ts_state_machine_new(&walk->machine);

	r = r ? r : ts_state_machine_prepare(walk->machine, reader, session);
	r = r ? r : ts_timeline_pass_new(reader, &options, &walk->timeline);
	r = r ? r : ts_analysis_pass_new(walk->machine, &walk->analysis);
	r = r ? r : ts_occupancy_pass_new(reader, &walk->occupancy);
	r = r ? r : ts_errors_pass_new(&walk->errors);
	passes[0].pass = walk->machine;
	passes[1].pass = walk->timeline;
	passes[2].pass = walk->analysis;
	r = r ? r : ts_relay_new(sizeof(struct item), passes, 3, &walk->relay);
	walk->calls = calloc(N_CALLS, sizeof(*walk->calls));
	return r ? r : walk->calls ? 0 : -ENOMEM;
}

/* ---- segments -------------------------------------------------------------------------------- */

/* The walk of a segment has an overview of its own. */
struct segment {
	struct walk walk;
	struct ts_overview overview;
	bool has_started;
};

struct segments {
	struct ts_sbt_reader *reader;
	struct walk *all; /* the joined segments */
	uint32_t session;
};

static int start_passes(struct walk *walk, struct ts_sbt_reader *reader, uint32_t session,
			const struct ts_state_machine *machine, bool is_first)
{
	const struct ts_timeline_options options = {.session = session, .n_parts = 1};
	int r = ts_timeline_pass_new_segment(reader, &options, is_first, &walk->timeline);

	r = r ? r : ts_analysis_pass_new(machine, &walk->analysis);
	r = r ? r : ts_occupancy_pass_new(reader, &walk->occupancy);
	r = r ? r : ts_errors_pass_new(&walk->errors);
	walk->calls = calloc(N_CALLS, sizeof(*walk->calls));
	return r ? r : walk->calls ? 0 : -ENOMEM;
}

static void free_segment(void *data)
{
	struct segment *segment = data;

	walk_deinit(&segment->walk);
	ts_overview_deinit(&segment->overview);
	free(segment);
}

static int create_segment(void *data, bool is_first, const struct ts_state_machine *machine,
			  void **ret_segment)
{
	const struct segments *segments = data;
	struct segment *segment = calloc(1, sizeof(*segment));
	int r;

	if (!segment)
		return -ENOMEM;
	segment->walk.overview = &segment->overview;
	segment->has_started = is_first;
	r = start_passes(&segment->walk, segments->reader, segments->session, machine, is_first);
	if (r)
		free_segment(segment);
	else
		*ret_segment = segment;
	return r;
}

/* Failed calls depend on the calls since the last wait. They are rare: one machine reads them. */
static int take_row_of_segment(void *data, const struct ts_sbt_row *row)
{
	struct segment *segment = data;
	struct walk *walk = &segment->walk;
	struct ts_analysis_sync sync;
	bool is_sync = ts_analysis_pass_row(walk->analysis, row, &sync);

	if (row->type == TS_ROW_API && ts_call_failed(row->api->result))
		return TS_SEGMENTS_NONE;
	if (row->type == TS_ROW_API)
		note_call(walk, row->session, row->api);
	if (!segment->has_started)
		return 0;
	if (row->type == TS_ROW_KERNEL)
		return take_kernel(walk, row->session, row->kernel);
	return is_sync ? ts_analysis_pass_sync(walk->analysis, &sync) : 0;
}

static int take_op_of_segment(void *data, const struct ts_state_op *op)
{
	struct walk *walk = &((struct segment *)data)->walk;
	int r = ts_timeline_pass_take(walk->timeline, op);

	return r ? r : ts_analysis_pass_take(walk->analysis, op);
}

static void start_segment(void *data, const struct ts_segments_counts *counts)
{
	struct segment *segment = data;

	segment->has_started = true;
	ts_timeline_pass_start(segment->walk.timeline, counts);
	ts_analysis_pass_start(segment->walk.analysis, counts);
}

static int join_segment(void *data, void *consumer, const struct ts_segments_counts *counts)
{
	struct walk *all = ((struct segments *)data)->all;
	const struct segment *segment = consumer;
	int r = ts_timeline_pass_join(all->timeline, segment->walk.timeline, counts);

	r = r ? r : ts_analysis_pass_join(all->analysis, segment->walk.analysis, counts);
	r = r ? r : ts_occupancy_pass_join(all->occupancy, segment->walk.occupancy);
	for (size_t i = 0; !r && i < segment->overview.n_launches; i++)
		r = add_launches(all, &segment->overview.launches[i]);
	return r;
}

static int finish(struct walk *walk, struct ts_sbt_reader *reader, uint32_t session)
{
	struct ts_overview *overview = walk->overview;
	int r = ts_occupancy_pass_finish(walk->occupancy, walk->is_damaged, &overview->occupancies);

	r = r ? r
	      : ts_errors_pass_finish(walk->errors, reader, session, walk->is_damaged,
				      &overview->errors);
	if (r)
		return r;
	ts_timeline_pass_finish(walk->timeline, walk->machine, walk->is_damaged,
				&overview->timeline);
	ts_analysis_pass_finish(walk->analysis, walk->is_damaged, &overview->analysis);
	return 0;
}

int ts_overview_read_segments(struct ts_sbt_reader *reader, uint32_t session,
			      const struct ts_segments_options *sizes, struct ts_overview *overview)
{
	static const struct ts_segments_consumer consumer = {
		.create = create_segment,
		.row = take_row_of_segment,
		.take = take_op_of_segment,
		.start = start_segment,
		.join = join_segment,
		.free = free_segment,
	};
	const struct ts_segments_options how = {.session = session,
						.types = TS_ERRORS_ROWS,
						.needs_legacy = true,
						.n_rows = sizes ? sizes->n_rows : 0,
						.n_warm_rows = sizes ? sizes->n_warm_rows : 0};
	ts_cleanup(walk_deinit) struct walk walk = {.overview = overview};
	struct segments segments = {.reader = reader, .all = &walk, .session = session};
	int r;

	*overview = (struct ts_overview){0};
	r = start_passes(&walk, reader, session, NULL, true);
	r = r ? r : ts_segments_read(reader, &how, &consumer, &segments);
	return r ? r : finish(&walk, reader, session);
}

int ts_overview_read(struct ts_sbt_reader *reader, uint32_t session, struct ts_overview *overview)
{
	ts_cleanup(walk_deinit) struct walk walk = {.overview = overview};
	int r = ts_overview_read_segments(reader, session, NULL, overview);

	if (r != TS_SEGMENTS_NONE)
		return r;
	ts_overview_deinit(overview);
	*overview = (struct ts_overview){0};
	r = start(&walk, reader, session);
	r = r ? r : read_rows(&walk, reader, session);
	return r ? r : finish(&walk, reader, session);
}

void ts_overview_deinit(struct ts_overview *overview)
{
	ts_timeline_free(overview->timeline);
	ts_analysis_free(overview->analysis);
	ts_occupancies_free(overview->occupancies);
	ts_call_errors_free(overview->errors);
	free(overview->launches);
}

int ts_analysis_read(struct ts_sbt_reader *reader, uint32_t session,
		     struct ts_analysis **ret_analysis)
{
	struct ts_overview overview;
	int r = ts_overview_read(reader, session, &overview);

	if (!r)
		*ret_analysis = ts_take_ptr(overview.analysis);
	ts_overview_deinit(&overview);
	return r;
}
