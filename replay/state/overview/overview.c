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

static int take_launch(struct walk *walk, uint32_t session, const struct ts_row_kernel *row)
{
	const struct call *call = call_slot(walk, session, row->op_id);
	bool is_known = row->op_id && call->op_id == row->op_id && call->session == session;
	struct ts_overview *overview = walk->overview;
	uint32_t stack = is_known ? call->stack : 0;
	uint64_t key = (uint64_t)row->name << 32 | stack;
	uint32_t at = ts_state_map_find(&walk->launch_by_key, session, key);
	int r;

	if (at == TS_STATE_MAP_NONE) {
		if (TS_GROW(overview->launches, walk->n_launches_allocated,
			    overview->n_launches + 1))
			return -ENOMEM;
		at = (uint32_t)overview->n_launches;
		r = ts_state_map_set(&walk->launch_by_key, session, key, at);
		if (r)
			return r;
		overview->launches[overview->n_launches++] =
			(struct ts_overview_launch){.session = session,
						    .name = row->name,
						    .stack = stack,
						    .start_ns = row->start_ns};
	}
	overview->launches[at].count++;
	return 0;
}

/*
 * Feeds the passes that need rows alone. The cursor's thread calls this function, while feed()
 * works on earlier rows.
 */
static int take_row(const struct ts_sbt_row *row, void *data)
{
	struct walk *walk = data;
	int r;

	switch (row->type) {
	case TS_ROW_KERNEL:
		r = take_launch(walk, row->session, row->kernel);
		return r ? r : ts_occupancy_pass_take(walk->occupancy, row->session, row->kernel);
	case TS_ROW_API:
		*call_slot(walk, row->session, row->api->op_id) =
			(struct call){row->api->op_id, row->session, row->api->stack};
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

int ts_overview_read(struct ts_sbt_reader *reader, uint32_t session, struct ts_overview *overview)
{
	ts_cleanup(walk_deinit) struct walk walk = {.overview = overview};
	int r;

	*overview = (struct ts_overview){0};
	r = start(&walk, reader, session);
	r = r ? r : read_rows(&walk, reader, session);
	r = r ? r
	      : ts_occupancy_pass_finish(walk.occupancy, walk.is_damaged, &overview->occupancies);
	r = r ? r
	      : ts_errors_pass_finish(walk.errors, reader, session, walk.is_damaged,
				      &overview->errors);
	if (r)
		return r;
	ts_timeline_pass_finish(walk.timeline, walk.machine, walk.is_damaged, &overview->timeline);
	ts_analysis_pass_finish(walk.analysis, walk.is_damaged, &overview->analysis);
	return 0;
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
