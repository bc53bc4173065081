/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the state at an instant: see state.h. at.c and checkpoint/ call this file; this file feeds
 * rows to state-machine.c and state-engines.c.
 *
 * Before the instant the builder uses every row. After the instant it uses device rows,
 * synchronizations and graph launches, until every call from before the instant is answered. Only
 * then are the stream and the dependencies of each operation known.
 */
#include "replay/state/state-builder.h"

#include "proto/abi/vendor/cupti_activity.h"

#include <errno.h>
#include <stdlib.h>

#define NONE	     TS_STATE_MAP_NONE

#define MAX_LAUNCHES 4096u

static const char *const phase_names[] = {"unknown", "dispatch_pending", "queued", "waiting",
					  "running"};
static const char *const cause_names[] = {"", "stream", "event", "legacy_stream", "engine", "host"};

const char *ts_state_phase_name(unsigned phase)
{
	return phase < TS_ARRAY_LEN(phase_names) ? phase_names[phase] : phase_names[0];
}

const char *ts_state_cause_name(unsigned cause)
{
	return cause < TS_ARRAY_LEN(cause_names) ? cause_names[cause] : "";
}

void ts_state_free(struct ts_state *state)
{
	if (!state)
		return;
	free(state->ops);
	free(state->threads);
	free(state->allocations);
	free(state->events);
	free(state);
}

int ts_state_builder_new(uint64_t at_ns, struct ts_state_builder **ret_builder)
{
	ts_cleanup(ts_state_builder_freep) struct ts_state_builder *builder =
		calloc(1, sizeof(*builder));
	int r;

	if (!builder)
		return -ENOMEM;
	builder->state = calloc(1, sizeof(*builder->state));
	if (!builder->state)
		return -ENOMEM;
	builder->state->at_ns = at_ns;
	r = ts_state_machine_new(&builder->machine);
	if (r)
		return r;
	*ret_builder = builder;
	builder = NULL;
	return 0;
}

void ts_state_builder_free(struct ts_state_builder *builder)
{
	if (!builder)
		return;
	ts_state_machine_free(builder->machine);
	ts_state_free(builder->state);
	ts_state_map_deinit(&builder->allocation_by_address);
	ts_state_map_deinit(&builder->event_by_handle);
	ts_state_map_deinit(&builder->thread_by_call);
	ts_state_map_deinit(&builder->early_sync_by_call);
	free(builder->early_syncs);
	free(builder->launches);
	ts_state_engines_deinit(&builder->engines);
	free(builder);
}

struct ts_state_machine *ts_state_builder_machine(struct ts_state_builder *builder)
{
	return builder->machine;
}

/* ---- for all instants at once ---------------------------------------------------------------- */

static int note_call(struct ts_state_open *open, const struct ts_sbt_row *row)
{
	struct ts_state_call *call = ts_state_append(&open->calls, &open->n_calls,
						     &open->n_calls_allocated, sizeof(*call));

	if (!call)
		return -ENOMEM;
	call->session = row->session;
	call->row = *row->api;
	return 0;
}

static int note_sync(struct ts_state_open *open, const struct ts_sbt_row *row)
{
	struct ts_state_sync *sync = ts_state_append(&open->syncs, &open->n_syncs,
						     &open->n_syncs_allocated, sizeof(*sync));

	if (!sync)
		return -ENOMEM;
	sync->session = row->session;
	sync->row = *row->sync;
	return 0;
}

static int note_op(struct ts_state_open *open, const struct ts_state_op *op)
{
	struct ts_state_op *noted =
		ts_state_append(&open->ops, &open->n_ops, &open->n_ops_allocated, sizeof(*noted));

	if (!noted)
		return -ENOMEM;
	*noted = *op;
	return 0;
}

/* ---- what the host did ----------------------------------------------------------------------- */

/* Keeps a synchronization whose row came before the row of its call. */
static int keep_early_sync(struct ts_state_builder *builder, const struct ts_sbt_row *row)
{
	struct ts_row_sync *sync;

	if (builder->n_early_syncs == TS_STATE_MAX_LIVE)
		return TS_E_LIVE;
	sync = ts_state_append(&builder->early_syncs, &builder->n_early_syncs,
			       &builder->n_early_syncs_allocated, sizeof(*sync));
	if (!sync)
		return -ENOMEM;
	*sync = *row->sync;
	return ts_state_map_set(&builder->early_sync_by_call, row->session, row->sync->op_id,
				(uint32_t)(builder->n_early_syncs - 1));
}

static int feed_call(struct ts_state_builder *builder, const struct ts_sbt_row *row)
{
	const struct ts_row_api *call = row->api;
	struct ts_state *state = builder->state;
	struct ts_state_thread *thread;
	uint32_t sync;

	if (builder->never && call->flags & TS_API_EXPECTS_DEVICE &&
	    ts_state_map_find(builder->never, row->session, call->op_id) != NONE)
		builder->n_never++;
	if (builder->open)
		return note_call(builder->open, row);
	if (call->end_ns <= state->at_ns)
		return 0;
	if (state->n_threads == TS_STATE_MAX_LIVE)
		return TS_E_LIVE;
	thread = ts_state_append(&state->threads, &state->n_threads, &builder->n_threads_allocated,
				 sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	thread->session = row->session;
	thread->thread = call->thread;
	thread->call = *call;
	sync = ts_state_map_find(&builder->early_sync_by_call, row->session, call->op_id);
	if (sync != NONE)
		thread->sync = builder->early_syncs[sync];
	return ts_state_map_set(&builder->thread_by_call, row->session, call->op_id,
				(uint32_t)(state->n_threads - 1));
}

static int feed_sync(struct ts_state_builder *builder, const struct ts_sbt_row *row)
{
	uint32_t thread;

	if (builder->open)
		return note_sync(builder->open, row);
	if (row->sync->end_ns <= builder->state->at_ns ||
	    row->sync->sync_type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT)
		return 0;
	thread = ts_state_map_find(&builder->thread_by_call, row->session, row->sync->op_id);
	if (thread == NONE)
		return keep_early_sync(builder, row);
	builder->state->threads[thread].sync = *row->sync;
	return 0;
}

static int feed_alloc(struct ts_state_builder *builder, const struct ts_sbt_row *row)
{
	struct ts_state *state = builder->state;
	struct ts_state_allocation *allocation;
	uint32_t at = ts_state_map_find(&builder->allocation_by_address, row->session,
					row->memory->address);

	if (at != NONE) {
		/* The free of the previous allocation was not recorded. */
		state->allocations[at].row = *row->memory;
		return 0;
	}
	if (state->n_allocations == TS_STATE_MAX_LIVE)
		return TS_E_LIVE;
	allocation = ts_state_append(&state->allocations, &state->n_allocations,
				     &builder->n_allocations_allocated, sizeof(*allocation));
	if (!allocation)
		return -ENOMEM;
	allocation->session = row->session;
	allocation->row = *row->memory;
	return ts_state_map_set(&builder->allocation_by_address, row->session, row->memory->address,
				(uint32_t)(state->n_allocations - 1));
}

static int feed_free(struct ts_state_builder *builder, const struct ts_sbt_row *row)
{
	struct ts_state *state = builder->state;
	const struct ts_state_allocation *last;
	uint32_t at = ts_state_map_find(&builder->allocation_by_address, row->session,
					row->memory->address);

	if (at == NONE) {
		state->n_bad_frees++;
		return 0;
	}
	ts_state_map_remove(&builder->allocation_by_address, row->session, row->memory->address);
	last = &state->allocations[--state->n_allocations];
	if (at == state->n_allocations)
		return 0;
	state->allocations[at] = *last;
	return ts_state_map_set(&builder->allocation_by_address, last->session, last->row.address,
				at);
}

static int feed_event(struct ts_state_builder *builder, const struct ts_sbt_row *row)
{
	struct ts_state *state = builder->state;
	uint32_t at = ts_state_map_find(&builder->event_by_handle, row->session, row->event->event);
	struct ts_state_event *event;
	int r;

	if (at == NONE) {
		if (state->n_events == TS_STATE_MAX_LIVE)
			return TS_E_LIVE;
		event = ts_state_append(&state->events, &state->n_events,
					&builder->n_events_allocated, sizeof(*event));
		if (!event)
			return -ENOMEM;
		at = (uint32_t)(state->n_events - 1);
		r = ts_state_map_set(&builder->event_by_handle, row->session, row->event->event,
				     at);
		if (r)
			return r;
	}
	state->events[at] = (struct ts_state_event){.session = row->session,
						    .stream = row->event->stream,
						    .event = row->event->event,
						    .recorded_ns = row->event->start_ns};
	return 0;
}

/* ---- launches of graphs ---------------------------------------------------------------------- */

static int feed_launch(struct ts_state_builder *builder, const struct ts_sbt_row *row)
{
	struct ts_state_launch *launch;

	/* Keeps only the last launch of each stream. */
	for (size_t i = 0; i < builder->n_launches; i++) {
		launch = &builder->launches[i];
		if (launch->session == row->session &&
		    launch->context == row->graph_launch->context &&
		    launch->stream == row->graph_launch->stream) {
			launch->op_id = row->graph_launch->op_id;
			launch->done_ns = 0;
			return 0;
		}
	}
	if (builder->n_launches == MAX_LAUNCHES) {
		builder->state->is_cut = true;
		return 0;
	}
	launch = ts_state_append(&builder->launches, &builder->n_launches,
				 &builder->n_launches_allocated, sizeof(*launch));
	if (!launch)
		return -ENOMEM;
	*launch = (struct ts_state_launch){.op_id = row->graph_launch->op_id,
					   .session = row->session,
					   .context = row->graph_launch->context,
					   .stream = row->graph_launch->stream};
	return 0;
}

static void wait_launches(struct ts_state_builder *builder, const struct ts_sbt_row *row)
{
	const struct ts_row_sync *sync = row->sync;

	for (size_t i = 0; i < builder->n_launches; i++) {
		struct ts_state_launch *launch = &builder->launches[i];

		if (launch->session != row->session || launch->context != sync->context ||
		    launch->op_id > sync->op_id || launch->done_ns)
			continue;
		if (sync->sync_type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE ||
		    (sync->sync_type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE &&
		     sync->stream == launch->stream))
			launch->done_ns = sync->end_ns;
	}
}

static void pass_launches(struct ts_state_builder *builder, const struct ts_state_op *op)
{
	for (size_t i = 0; i < builder->n_launches;) {
		struct ts_state_launch *launch = &builder->launches[i];

		if ((launch->done_ns && launch->done_ns < op->start_ns) ||
		    (launch->session == op->session && launch->context == op->context &&
		     launch->stream == op->stream && launch->op_id < op->op_id))
			*launch = builder->launches[--builder->n_launches];
		else
			i++;
	}
}

/* True for a node of a launch whose further nodes the builder still expects. */
static bool is_launched(const struct ts_state_builder *builder, const struct ts_state_op *op)
{
	for (size_t i = 0; i < builder->n_launches && op->unsure & TS_STATE_UNSURE_GRAPH; i++)
		if (builder->launches[i].op_id == op->op_id &&
		    builder->launches[i].session == op->session)
			return true;
	return false;
}

/* Computes when each event is reached, from the rows read so far. */
static void find_due(struct ts_state_builder *builder)
{
	struct ts_state *state = builder->state;

	for (size_t i = 0; i < state->n_events; i++) {
		struct ts_state_dependency found[TS_STATE_MAX_DEPENDENCIES];
		struct ts_state_event *event = &state->events[i];
		uint64_t host_over_ns;
		int n_found = ts_state_machine_event(builder->machine, event->session, event->event,
						     found, &event->host_op_id, &host_over_ns);

		event->due_ns = event->by_op_id = 0;
		for (int j = 0; j < n_found; j++) {
			if (found[j].end_ns <= event->due_ns)
				continue;
			event->due_ns = found[j].end_ns;
			event->by_op_id = found[j].op_id;
		}
		/*
		 * The host wait was over by the instant, or it ended before the operations that the
		 * event waits for.
		 */
		if (host_over_ns <= state->at_ns || host_over_ns <= event->due_ns)
			event->host_op_id = 0;
		if (event->host_op_id && event->due_ns <= state->at_ns) {
			event->due_ns = 0;
			event->by_op_id = event->host_op_id;
		}
	}
	builder->is_due_known = true;
}

/* True if the event is not reached, or if this is unknown. */
static bool is_outstanding(const struct ts_state_event *event, uint64_t at_ns)
{
	return event->due_ns > at_ns || event->host_op_id;
}

/* Drops the events that were reached before the instant and that later rows cannot change. */
static void drop_reached(struct ts_state_builder *builder)
{
	struct ts_state *state = builder->state;
	size_t n = 0;

	for (size_t i = 0; i < state->n_events; i++)
		if (is_outstanding(&state->events[i], state->at_ns) ||
		    !ts_state_machine_is_settled(builder->machine, state->events[i].session,
						 state->events[i].event))
			state->events[n++] = state->events[i];
	state->n_events = n;
}

/* ---- engines --------------------------------------------------------------------------------- */

int ts_state_builder_device(struct ts_state_builder *builder, uint32_t session,
			    const struct ts_row_device *row)
{
	return ts_state_engines_device(&builder->engines, session, row);
}

int ts_state_builder_devices(struct ts_state_builder *builder, struct ts_sbt_reader *reader)
{
	size_t n = ts_sbt_reader_n_devices(reader);
	int r = 0;

	for (size_t i = 0; !r && i < n; i++) {
		const struct ts_sbt_device *device = ts_sbt_reader_device_at(reader, i);

		r = ts_state_builder_device(builder, device->session, &device->row);
	}
	return r;
}

/* Registers the operations that run at the instant as users of engines. */
static int take_engines(struct ts_state_builder *builder)
{
	const struct ts_state *state = builder->state;
	int r = 0;

	for (size_t i = 0; !r && i < state->n_ops; i++) {
		const struct ts_state_op *op = &state->ops[i].op;

		if (op->start_ns <= state->at_ns && op->type != TS_ROW_API)
			r = ts_state_engines_begin(&builder->engines, op);
	}
	ts_state_engines_begun(&builder->engines);
	return r;
}

/*
 * Feeds an operation that began after the instant to the engines. `current` is its entry in the
 * state if its call came before the instant; otherwise NULL.
 */
static int pass_engine(struct ts_state_builder *builder, const struct ts_state_op *op,
		       struct ts_state_current *current)
{
	struct ts_state_engine_found found;
	int r = ts_state_engines_pass(&builder->engines, op, &found);

	if (r || !current)
		return r;
	current->engine_op_id = found.op_id;
	current->engine_ns = found.since_ns;
	current->is_engine_unsure = found.is_unsure;
	return 0;
}

/* ---- feeding --------------------------------------------------------------------------------- */

int ts_state_builder_keep(struct ts_state_builder *builder, const struct ts_state_op *op)
{
	struct ts_state *state = builder->state;
	struct ts_state_current *current;

	if (op->type != TS_ROW_API && op->end_ns <= state->at_ns)
		return 0;
	if ((op->call_ns ? op->call_ns : op->start_ns) > state->at_ns)
		return 0;
	if (state->n_ops == TS_STATE_MAX_LIVE)
		return TS_E_LIVE;
	current = ts_state_append(&state->ops, &state->n_ops, &builder->n_ops_allocated,
				  sizeof(*current));
	if (!current)
		return -ENOMEM;
	current->op = *op;
	return 0;
}

int ts_state_builder_host(struct ts_state_builder *builder, const struct ts_sbt_row *row)
{
	switch (row->type) {
	case TS_ROW_API:
		return feed_call(builder, row);
	case TS_ROW_SYNC:
		return feed_sync(builder, row);
	case TS_ROW_ALLOC:
		return feed_alloc(builder, row);
	case TS_ROW_FREE:
		return feed_free(builder, row);
	case TS_ROW_EVENT:
		return feed_event(builder, row);
	case TS_ROW_GRAPH_LAUNCH:
		return feed_launch(builder, row);
	default:
		return 0;
	}
}

static bool is_device(const struct ts_sbt_row *row)
{
	return row->type == TS_ROW_KERNEL || row->type == TS_ROW_MEMCPY ||
	       row->type == TS_ROW_MEMSET;
}

/* Feeds a row to the machine and keeps the operation that it completes. */
static int feed_machine(struct ts_state_builder *builder, const struct ts_sbt_row *row)
{
	uint64_t n_awaited = ts_state_machine_n_awaited(builder->machine);
	size_t n_launches = builder->n_launches, n_ops;
	struct ts_state_op op;
	int r = ts_state_machine_feed(builder->machine, row, &op);

	if (r != 1)
		return r;
	if (builder->n_launches)
		pass_launches(builder, &op);
	n_ops = builder->state->n_ops;
	r = builder->open ? note_op(builder->open, &op) : ts_state_builder_keep(builder, &op);
	if (!r && builder->is_behind)
		r = pass_engine(builder, &op,
				builder->state->n_ops > n_ops ? &builder->state->ops[n_ops] : NULL);
	/*
	 * Operations after the last awaited one are not reported: the answer must not depend on how
	 * far the reader reads.
	 */
	if (is_launched(builder, &op) || builder->n_launches < n_launches ||
	    ts_state_machine_n_awaited(builder->machine) < n_awaited) {
		builder->n_reported = builder->state->n_ops;
		builder->is_due_known = false;
	}
	return r;
}

int ts_state_builder_pass(struct ts_state_builder *builder, const struct ts_sbt_row *row)
{
	int r = 0;

	builder->state->n_rows++;
	if (row->type == TS_ROW_SYNC)
		wait_launches(builder, row);
	if (!is_device(row))
		r = ts_state_builder_host(builder, row);
	return r ? r : feed_machine(builder, row);
}

int ts_state_builder_feed(struct ts_state_builder *builder, const struct ts_sbt_row *row)
{
	int r;

	if (!builder->is_behind) {
		if (ts_row_start_ns(row->any) <= builder->state->at_ns)
			return ts_state_builder_pass(builder, row);
		builder->is_behind = true;
		builder->n_reported = builder->state->n_ops;
		find_due(builder);
		drop_reached(builder);
		r = take_engines(builder);
		if (r)
			return r;
	}
	if (!builder->n_launches &&
	    ts_state_machine_n_awaited(builder->machine) == builder->n_never)
		return TS_SBT_E_END;
	builder->state->n_rows++;
	if (row->type == TS_ROW_SYNC)
		wait_launches(builder, row);
	/*
	 * If it is unknown whether more awaited rows will come, the answer has the due times after
	 * the last awaited row. So compute the due times before a row that no call awaits.
	 */
	if ((!builder->never || builder->n_launches) && !builder->is_due_known &&
	    !ts_state_machine_awaits(builder->machine, row))
		find_due(builder);
	if (is_device(row))
		return feed_machine(builder, row);
	r = 0;
	/*
	 * The launch row comes when the call returns. The call was in progress at the instant, and
	 * its first nodes may have begun before.
	 */
	if (row->type == TS_ROW_GRAPH_LAUNCH &&
	    ts_state_map_find(&builder->thread_by_call, row->session, row->graph_launch->op_id) !=
		    NONE)
		r = feed_launch(builder, row) ?: feed_machine(builder, row);
	return r;
}

/* ---- the answer ------------------------------------------------------------------------------ */

/*
 * Sets the phase and its cause. While an earlier operation of the same stream is unfinished, the
 * stream is the cause. Otherwise it is the dependency that ends last.
 */
static void classify(struct ts_state_current *current, uint64_t at_ns)
{
	const struct ts_state_op *op = &current->op;
	const struct ts_state_dependency *by = NULL;
	uint64_t stream_ns = 0;

	current->since_ns = op->call_ns ? op->call_ns : op->start_ns;
	if (op->type == TS_ROW_API)
		return;
	if (op->start_ns <= at_ns) {
		current->phase = TS_STATE_RUNNING;
		current->since_ns = op->start_ns;
		return;
	}
	current->phase = TS_STATE_DISPATCH_PENDING;
	for (uint32_t i = 0; i < op->n_dependencies; i++) {
		const struct ts_state_dependency *it = &op->dependencies[i];

		if (it->end_ns <= at_ns) {
			if (it->end_ns > stream_ns)
				stream_ns = it->end_ns;
			continue;
		}
		if (!by || (it->kind == TS_STATE_BY_STREAM) > (by->kind == TS_STATE_BY_STREAM) ||
		    ((it->kind == TS_STATE_BY_STREAM) == (by->kind == TS_STATE_BY_STREAM) &&
		     it->end_ns > by->end_ns))
			by = it;
	}
	if (stream_ns > current->since_ns)
		current->since_ns = stream_ns;
	if (!by && op->host_op_id && at_ns < op->host_over_ns) {
		current->phase = TS_STATE_WAITING;
		current->cause = TS_STATE_CAUSE_HOST;
		current->by_op_id = op->host_op_id;
	}
	if (!by && current->phase == TS_STATE_DISPATCH_PENDING &&
	    (current->engine_op_id || current->is_engine_unsure))
		current->op.unsure |= TS_STATE_UNSURE_ENGINE;
	if (!by && current->phase == TS_STATE_DISPATCH_PENDING && current->engine_op_id &&
	    !current->is_engine_unsure) {
		current->phase = TS_STATE_WAITING;
		current->cause = TS_STATE_CAUSE_ENGINE;
		current->by_op_id = current->engine_op_id;
		if (current->engine_ns > current->since_ns)
			current->since_ns = current->engine_ns;
	}
	if (!by)
		return;
	current->phase = by->kind == TS_STATE_BY_STREAM ? TS_STATE_QUEUED : TS_STATE_WAITING;
	current->cause = by->kind == TS_STATE_BY_STREAM	 ? TS_STATE_CAUSE_STREAM
			 : by->kind == TS_STATE_BY_EVENT ? TS_STATE_CAUSE_EVENT
							 : TS_STATE_CAUSE_LEGACY;
	current->by_op_id = by->op_id;
	current->by_event = by->event;
}

/*
 * Limit on pairs of thread and operation, for all threads together: a malformed trace may hold many
 * threads and many operations.
 */
#define MAX_LOOKS (UINT64_C(1) << 26)

/* True if the call waits for the operation before it returns. */
static bool is_waited_for(const struct ts_state_machine *machine,
			  const struct ts_state_thread *thread, const struct ts_state_op *op)
{
	const struct ts_row_sync *sync = &thread->sync;

	if (thread->session != op->session)
		return false;
	/* A launch does not wait, even if the launched operation ends before the launch returns. */
	if (!sync->start_ns)
		return op->type == TS_ROW_MEMCPY &&
		       (op->op_id == thread->call.op_id ||
			(thread->call.nested_op_id && op->op_id == thread->call.nested_op_id));
	if (op->op_id >= sync->op_id || op->type == TS_ROW_API || op->context != sync->context)
		return false;
	return sync->sync_type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE ||
	       (sync->sync_type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE &&
		ts_state_machine_home(machine, op) == sync->stream);
}

/* For each thread in a call, finds the last-ending operation that the call waits for. */
static void find_waited_for(const struct ts_state_machine *machine, struct ts_state *state)
{
	uint64_t n_looks = 0;

	for (size_t i = 0; i < state->n_threads && n_looks < MAX_LOOKS; i++) {
		struct ts_state_thread *thread = &state->threads[i];
		uint64_t end_ns = 0;

		n_looks += state->n_ops;
		for (size_t j = 0; j < state->n_ops; j++) {
			const struct ts_state_op *op = &state->ops[j].op;

			if (op->end_ns <= end_ns || op->end_ns > thread->call.end_ns ||
			    !is_waited_for(machine, thread, op))
				continue;
			thread->by_op_id = op->op_id;
			end_ns = op->end_ns;
		}
	}
}

#define COMPARE(x, y)                              \
	do {                                       \
		if ((x) != (y))                    \
			return (x) < (y) ? -1 : 1; \
	} while (0)

static int compare_ops(const void *a, const void *b)
{
	const struct ts_state_current *x = a, *y = b;

	COMPARE(y->phase, x->phase);
	COMPARE(x->op.session, y->op.session);
	COMPARE(x->op.device, y->op.device);
	COMPARE(x->op.context, y->op.context);
	COMPARE(x->op.stream, y->op.stream);
	COMPARE(x->op.start_ns, y->op.start_ns);
	COMPARE(x->op.op_id, y->op.op_id);
	return 0;
}

static int compare_threads(const void *a, const void *b)
{
	const struct ts_state_thread *x = a, *y = b;

	COMPARE(x->session, y->session);
	COMPARE(x->thread, y->thread);
	COMPARE(x->call.op_id, y->call.op_id);
	return 0;
}

static int compare_allocations(const void *a, const void *b)
{
	const struct ts_state_allocation *x = a, *y = b;

	COMPARE(x->session, y->session);
	COMPARE(x->row.address, y->row.address);
	return 0;
}

static int compare_events(const void *a, const void *b)
{
	const struct ts_state_event *x = a, *y = b;

	COMPARE(x->session, y->session);
	COMPARE(x->recorded_ns, y->recorded_ns);
	COMPARE(x->event, y->event);
	return 0;
}

int ts_state_builder_finish(struct ts_state_builder *builder, struct ts_state **ret_state)
{
	struct ts_state *state = builder->state;
	struct ts_state_op op;
	size_t n_events = 0;
	int r = 0;

	if (builder->is_behind)
		state->n_ops = builder->n_reported;
	state->is_cut |= ts_state_machine_n_awaited(builder->machine) > 0;
	while (!r && ts_state_machine_unanswered(builder->machine, &op))
		r = ts_state_builder_keep(builder, &op);
	if (r)
		return r;
	for (size_t i = 0; i < state->n_ops; i++)
		classify(&state->ops[i], state->at_ns);
	if (state->n_ops)
		qsort(state->ops, state->n_ops, sizeof(*state->ops), compare_ops);
	find_waited_for(builder->machine, state);
	if (!builder->is_due_known)
		find_due(builder);
	for (size_t i = 0; i < state->n_events; i++)
		if (is_outstanding(&state->events[i], state->at_ns))
			state->events[n_events++] = state->events[i];
	state->n_events = n_events;
	if (state->n_threads)
		qsort(state->threads, state->n_threads, sizeof(*state->threads), compare_threads);
	if (state->n_allocations)
		qsort(state->allocations, state->n_allocations, sizeof(*state->allocations),
		      compare_allocations);
	if (state->n_events)
		qsort(state->events, state->n_events, sizeof(*state->events), compare_events);
	*ret_state = state;
	builder->state = NULL;
	return 0;
}

int ts_state_builder_read(struct ts_state_builder *builder, struct ts_sbt_cursor *cursor)
{
	struct ts_sbt_row row;
	int r = 0;

	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (!r)
			r = ts_state_builder_feed(builder, &row);
		else if (r == TS_SBT_E_CORRUPT) {
			builder->state->is_damaged = true;
			r = 0;
		}
	}
	return r;
}
