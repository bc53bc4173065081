/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the dependencies of an operation by the rules of stream order: see state-order.h.
 * state-machine.c calls this file; this file uses replay/streams and state-map.h.
 *
 * Each stream keeps its last groups in the order in which they began, which is the order in which a
 * stream runs. A wait is kept until an operation is issued after it in the stream. When an
 * operation begins, all its dependencies have begun. So operation ids are enough to resolve a point
 * of a stream.
 *
 * The life of a marker, which is one version of an event:
 *   recorded   the map by event and the stream's list refer to it; it is a point of the stream
 *   waited     each wait for the event adds a reference until an operation is issued after the wait
 *   settled    an operation issued after the record began; the record's dependencies are final,
 *              and are copied into the marker
 *   free       the event has a newer record, and no wait refers to the marker
 */
#include "replay/state/state-order.h"

#include "proto/abi/grow.h"
#include "proto/abi/vendor/cupti_activity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE TS_STATE_MAP_NONE

/*
 * Limit on waits of one stream without a later operation in the stream. Beyond the limit the oldest
 * wait is dropped.
 */
#define MAX_WAITS 4096u
/*
 * Limit on unsettled markers of one stream. Beyond the limit, the oldest marker is settled with the
 * dependencies known so far, and is marked unsure.
 */
#define MAX_UNSETTLED 4096u
/*
 * Limit on points visited for one operation: a wait leads to an event's record, before which there
 * may be other waits.
 */
#define MAX_VISITS  4096u
#define MAX_LOOKS   16384u /* waits, including waits for unknown events */
#define MAX_DEPTH   16u
#define MAX_MARKERS (1u << 20)
/* With `is_cut`: a limit on streams of a context, far below MAX_VISITS. */
#define MAX_CUT_STREAMS 512u

void ts_state_order_deinit(struct ts_state_order *order)
{
	for (size_t i = 0; i < order->n_streams; i++) {
		free(order->streams[i].waits);
		free(order->streams[i].markers);
	}
	for (size_t i = 0; i < order->n_contexts; i++)
		free(order->contexts[i].streams);
	free(order->streams);
	free(order->contexts);
	free(order->markers);
	free(order->free_markers);
	free(order->launches);
	ts_state_map_deinit(&order->stream_by_id);
	ts_state_map_deinit(&order->context_by_id);
	ts_state_map_deinit(&order->marker_by_event);
	ts_state_map_deinit(&order->launch_by_op);
}

/* ---- streams --------------------------------------------------------------------------------- */

static int get_context(struct ts_state_order *order, uint32_t session, uint32_t id,
		       uint32_t *ret_context)
{
	uint32_t found = ts_state_map_find(&order->context_by_id, session, id);
	int r;

	if (found == NONE) {
		r = TS_GROW(order->contexts, order->n_contexts_allocated, order->n_contexts + 1);
		if (!r)
			r = ts_state_map_set(&order->context_by_id, session, id,
					     (uint32_t)order->n_contexts);
		if (r)
			return r;
		found = (uint32_t)order->n_contexts++;
		order->contexts[found] = (struct ts_state_order_context){.legacy = NONE};
	}
	*ret_context = found;
	return 0;
}

static int new_stream(struct ts_state_order *order, uint32_t session, uint32_t context, uint32_t id,
		      uint32_t *ret_stream)
{
	uint64_t key = (uint64_t)context << 32 | id;
	struct ts_state_order_context *its;
	uint32_t found, of;
	int r;

	if (order->n_streams == TS_MAX_STREAMS)
		return TS_E_STREAMS;
	r = get_context(order, session, context, &of);
	if (r)
		return r;
	its = &order->contexts[of];
	r = TS_GROW(order->streams, order->n_streams_allocated, order->n_streams + 1);
	if (!r)
		r = TS_GROW(its->streams, its->n_streams_allocated, its->n_streams + 1);
	if (!r)
		r = ts_state_map_set(&order->stream_by_id, session, key,
				     (uint32_t)order->n_streams);
	if (r)
		return r;
	found = (uint32_t)order->n_streams++;
	its->streams[its->n_streams++] = found;
	order->streams[found] = (struct ts_state_order_stream){.session = session,
							       .context = context,
							       .stream = id,
							       .of = of};
	*ret_stream = found;
	return 0;
}

static int get_stream(struct ts_state_order *order, uint32_t session, uint32_t context, uint32_t id,
		      uint32_t *ret_stream)
{
	uint64_t key = (uint64_t)context << 32 | id;
	uint32_t found = ts_state_map_find(&order->stream_by_id, session, key);
	int r = found == NONE ? new_stream(order, session, context, id, &found) : 0;

	if (r)
		return r;
	order->recent[id % TS_STATE_ORDER_RECENT] =
		(struct ts_state_order_recent){key, session, found + 1};
	*ret_stream = found;
	return 0;
}

/* As get_stream(), but tries the recent streams first. */
static inline int recall_stream(struct ts_state_order *order, uint32_t session, uint32_t context,
				uint32_t id, uint32_t *ret_stream)
{
	const struct ts_state_order_recent *recent = &order->recent[id % TS_STATE_ORDER_RECENT];

	if (recent->key != ((uint64_t)context << 32 | id) || recent->session != session ||
	    !recent->next)
		return get_stream(order, session, context, id, ret_stream);
	*ret_stream = recent->next - 1;
	return 0;
}

int ts_state_order_stream(struct ts_state_order *order, uint32_t session, uint32_t context,
			  uint32_t stream, uint32_t flags)
{
	struct ts_state_order_stream *its;
	uint32_t index;
	int r = get_stream(order, session, context, stream, &index);

	if (r)
		return r;
	its = &order->streams[index];
	ts_stream_set_kind(&its->kind, flags);
	if (its->kind.is_legacy)
		order->contexts[its->of].legacy = index;
	return 0;
}

/* ---- points ---------------------------------------------------------------------------------- */

static void put_marker(struct ts_state_order *order, uint32_t marker)
{
	/* The array has room: new_marker() reserves a place for each marker. */
	if (marker < TS_STATE_ORDER_HOST && !--order->markers[marker].n_refs)
		order->free_markers[order->n_free_markers++] = marker;
}

static void add_found(struct ts_state_order_found *found,
		      const struct ts_state_dependency *dependency)
{
	struct ts_state_dependency *least = NULL;

	for (uint32_t i = 0; i < found->n; i++) {
		if (found->at[i].op_id == dependency->op_id &&
		    found->at[i].stream == dependency->stream)
			return;
		if (!least || found->at[i].end_ns < least->end_ns)
			least = &found->at[i];
	}
	if (found->n < TS_STATE_MAX_DEPENDENCIES) {
		found->at[found->n++] = *dependency;
		return;
	}
	found->unsure |= TS_STATE_UNSURE_DEPENDENCY;
	if (dependency->end_ns > least->end_ns)
		*least = *dependency;
}

static void add_host(struct ts_state_order_found *found, uint64_t op_id, uint64_t over_ns)
{
	if (found->host_op_id && (over_ns < found->host_over_ns ||
				  (over_ns == found->host_over_ns && op_id <= found->host_op_id)))
		return;
	found->host_op_id = op_id;
	found->host_over_ns = over_ns;
}

/*
 * Adds the stream's host waits before `op_id` after which an operation has begun. All operations
 * after `op_id` in the stream waited for these host waits too.
 */
static void find_passed(const struct ts_state_order_stream *stream, uint64_t op_id,
			struct ts_state_order_found *found)
{
	uint64_t n =
		stream->n_passed < TS_STATE_ORDER_PASSED ? stream->n_passed : TS_STATE_ORDER_PASSED;

	for (uint64_t i = 1; i <= n; i++) {
		const struct ts_state_order_passed *passed =
			&stream->passed[(stream->n_passed - i) % TS_STATE_ORDER_PASSED];

		if (passed->op_id < op_id)
			add_host(found, passed->op_id, passed->over_ns);
		else if (i == n && stream->n_passed > n)
			found->unsure |= TS_STATE_UNSURE_DEPENDENCY;
	}
}

/* ---- segments (is_cut) ----------------------------------------------------------------------- */

bool ts_state_order_is_fresh(const struct ts_state_order *order,
			     const struct ts_state_order_stream *stream)
{
	uint64_t n = stream->n_groups < TS_STATE_HISTORY ? stream->n_groups : TS_STATE_HISTORY;

	for (uint64_t i = 1; i <= n; i++)
		if (stream->history[(stream->n_groups - i) % TS_STATE_HISTORY].op_id >
		    order->floor_id)
			return false;
	return order->is_cut;
}

/* The answer depends on the stream's waits and points. Some of them may lie before the cut. */
static void ask(const struct ts_state_order *order, struct ts_state_order_stream *stream,
		struct ts_state_order_found *found)
{
	if (!order->is_cut || !ts_state_order_is_fresh(order, stream))
		return;
	if (order->is_exact)
		stream->is_asked = true;
	else
		found->lack.is_wrong = true;
}

static void add_lack(struct ts_state_order_lack *lack, const struct ts_state_order_lack *more)
{
	lack->n_old += more->n_old;
	lack->is_wrong |= more->is_wrong;
}

/* Checks the dependencies of an operation. */
static void check_lack(struct ts_state_order *order, uint32_t n,
		       const struct ts_state_order_lack *lack)
{
	if (!order->is_exact)
		return;
	order->is_doubtful |= lack->is_wrong;
	order->is_doubtful |= n + lack->n_old >= TS_STATE_MAX_DEPENDENCIES &&
			      (lack->n_old || order->has_lost_node);
}

/* ---- dependencies ---------------------------------------------------------------------------- */

/* Adds the last group of the stream that was issued before `op_id`. */
static void find_before(const struct ts_state_order *order, struct ts_state_order_stream *stream,
			uint64_t op_id, const struct ts_state_dependency *as,
			struct ts_state_order_found *found)
{
	struct ts_state_dependency dependency = *as;
	uint64_t n = stream->n_groups < TS_STATE_HISTORY ? stream->n_groups : TS_STATE_HISTORY;

	find_passed(stream, op_id, found);
	for (uint64_t i = 1; i <= n; i++) {
		const struct ts_state_order_group *group =
			&stream->history[(stream->n_groups - i) % TS_STATE_HISTORY];

		if (group->op_id >= op_id)
			continue;
		/* Nodes of launches before the cut may be missing in the history. */
		found->lack.is_wrong |= order->is_cut && i > TS_STATE_HISTORY / 2;
		dependency.op_id = group->op_id;
		dependency.number = group->number;
		dependency.end_ns = group->end_ns;
		dependency.stream = stream->stream;
		add_found(found, &dependency);
		return;
	}
	if (stream->n_groups > n)
		found->unsure |= TS_STATE_UNSURE_DEPENDENCY;
	if (!order->is_cut)
		return;
	stream->is_missed |= as->kind == TS_STATE_BY_LEGACY && order->floor_id < UINT64_MAX;
	found->lack.n_old++;
	found->lack.is_wrong |= stream->n_groups == TS_STATE_HISTORY;
}

struct visit {
	struct ts_state_order *order;
	/*
	 * Start of an operation that waited for all visited points. UINT64_MAX: no such operation
	 * has begun.
	 */
	uint64_t began_ns;
	unsigned int n_visits, n_looks, depth;
};

static void find_point(struct visit *visit, uint32_t index, uint64_t op_id,
		       const struct ts_state_dependency *as, struct ts_state_order_found *found);

/*
 * Adds wait `op_id`, in which a stream waits for the host. At visit->began_ns an operation began
 * that depends on this wait, so the wait had ended. Reduces *over_ns to that time.
 */
static void visit_host(const struct visit *visit, uint64_t op_id, uint64_t *over_ns,
		       struct ts_state_order_found *found)
{
	add_host(found, op_id, *over_ns);
	if (visit->began_ns < *over_ns)
		*over_ns = visit->began_ns;
}

static void find_waits(struct visit *visit, struct ts_state_order_stream *stream, uint64_t op_id,
		       const struct ts_state_dependency *as, struct ts_state_order_found *found)
{
	if (stream->has_dropped_wait)
		found->unsure |= TS_STATE_UNSURE_DEPENDENCY;
	ask(visit->order, stream, found);
	for (size_t i = 0; i < stream->n_waits; i++) {
		struct ts_state_order_wait *wait = &stream->waits[i];
		struct ts_state_order_marker *marker;
		struct ts_state_dependency event = *as;

		if (visit->n_looks++ >= MAX_LOOKS) {
			found->unsure |= TS_STATE_UNSURE_DEPENDENCY;
			return;
		}
		if (wait->op_id >= op_id)
			continue;
		if (wait->marker == TS_STATE_ORDER_HOST)
			visit_host(visit, wait->op_id, &wait->over_ns, found);
		/* The event may have been recorded before the cut. */
		if (visit->order->is_cut && wait->marker == NONE)
			found->lack.is_wrong = true;
		if (wait->marker >= TS_STATE_ORDER_HOST || visit->n_visits >= MAX_VISITS ||
		    visit->depth >= MAX_DEPTH) {
			found->unsure |= TS_STATE_UNSURE_DEPENDENCY;
			continue;
		}
		visit->n_visits++;
		marker = &visit->order->markers[wait->marker];
		if (as->kind == TS_STATE_BY_STREAM)
			event = (struct ts_state_dependency){.kind = TS_STATE_BY_EVENT,
							     .event = marker->event};
		found->unsure |= marker->unsure;
		if (!marker->is_settled) {
			visit->depth++;
			find_point(visit, marker->stream, marker->op_id, &event, found);
			visit->depth--;
			continue;
		}
		add_lack(&found->lack, &marker->lack);
		if (marker->host_op_id)
			visit_host(visit, marker->host_op_id, &marker->host_over_ns, found);
		for (uint32_t j = 0; j < marker->n_found; j++) {
			event.op_id = marker->found[j].op_id;
			event.number = marker->found[j].number;
			event.end_ns = marker->found[j].end_ns;
			event.stream = marker->found[j].stream;
			add_found(found, &event);
		}
	}
}

/*
 * Returns the last record or wait of the stream before `op_id`, if there is no operation between
 * the two; otherwise 0.
 */
static uint64_t last_point(const struct ts_state_order_stream *stream, uint64_t op_id)
{
	uint64_t n_points =
		stream->n_points < TS_STATE_HISTORY ? stream->n_points : TS_STATE_HISTORY;
	uint64_t n_groups =
		stream->n_groups < TS_STATE_HISTORY ? stream->n_groups : TS_STATE_HISTORY;
	uint64_t point = 0;

	for (uint64_t i = 1; i <= n_points && !point; i++)
		if (stream->points[(stream->n_points - i) % TS_STATE_HISTORY] < op_id)
			point = stream->points[(stream->n_points - i) % TS_STATE_HISTORY];
	for (uint64_t i = 1; i <= n_groups; i++) {
		uint64_t group = stream->history[(stream->n_groups - i) % TS_STATE_HISTORY].op_id;

		if (group < op_id)
			return group > point ? 0 : point;
	}
	return point;
}

bool ts_state_order_has_point(const struct ts_state_order_stream *stream)
{
	return last_point(stream, UINT64_MAX);
}

/* Adds the operations of all other blocking streams that a point of the legacy stream waits for. */
static void find_blocking(struct visit *visit, const struct ts_state_order_context *context,
			  uint64_t op_id, const struct ts_state_dependency *as,
			  struct ts_state_order_found *found)
{
	visit->order->has_asked_all = true;
	if (visit->order->is_cut && context->n_streams > MAX_CUT_STREAMS)
		found->lack.is_wrong = true;
	for (size_t i = 0; i < context->n_streams; i++) {
		struct ts_state_order_stream *its = &visit->order->streams[context->streams[i]];

		if (!ts_stream_is_tied_to_legacy(&its->kind))
			continue;
		if (visit->n_visits++ >= MAX_VISITS) {
			found->unsure |= TS_STATE_UNSURE_DEPENDENCY;
			return;
		}
		if (!its->kind.is_known && its->n_groups)
			found->unsure |= TS_STATE_UNSURE_STREAM;
		find_before(visit->order, its, op_id, as, found);
		find_waits(visit, its, op_id, as, found);
	}
}

/* Adds all operations that must end before a stream reaches the point `op_id`. */
static void find_point(struct visit *visit, uint32_t index, uint64_t op_id,
		       const struct ts_state_dependency *as, struct ts_state_order_found *found)
{
	struct ts_state_order_stream *stream = &visit->order->streams[index], *its;
	const struct ts_state_order_context *context = &visit->order->contexts[stream->of];
	struct ts_state_dependency legacy = *as;
	uint64_t point;

	find_before(visit->order, stream, op_id, as, found);
	find_waits(visit, stream, op_id, as, found);
	if (context->unsure)
		found->unsure |= TS_STATE_UNSURE_DEPENDENCY;
	if (legacy.kind == TS_STATE_BY_STREAM)
		legacy.kind = TS_STATE_BY_LEGACY;
	if (!stream->kind.is_known)
		found->unsure |= TS_STATE_UNSURE_STREAM;
	if (stream->kind.is_legacy)
		find_blocking(visit, context, op_id, &legacy, found);
	if (context->legacy == NONE || !ts_stream_is_tied_to_legacy(&stream->kind))
		return;
	/*
	 * Records and waits are points of the legacy stream too. The stream reaches them only after
	 * the other streams have reached their own points.
	 */
	its = &visit->order->streams[context->legacy];
	find_before(visit->order, its, op_id, &legacy, found);
	find_waits(visit, its, op_id, &legacy, found);
	point = last_point(its, op_id);
	if (point)
		find_blocking(visit, context, point, &legacy, found);
}

/* Copies the dependencies of a marker into it. began_ns: as in struct visit. */
static void settle(struct ts_state_order *order, struct ts_state_order_marker *marker,
		   uint64_t began_ns)
{
	static const struct ts_state_dependency by_event = {.kind = TS_STATE_BY_EVENT};
	struct ts_state_order_found found = {.at = marker->found};
	struct visit visit = {.order = order, .began_ns = began_ns};
	struct ts_state_dependency as = by_event;

	as.event = marker->event;
	find_point(&visit, marker->stream, marker->op_id, &as, &found);
	marker->n_found = found.n;
	marker->lack = found.lack;
	marker->unsure |= found.unsure & TS_STATE_UNSURE_DEPENDENCY;
	marker->host_op_id = found.host_op_id;
	marker->host_over_ns = began_ns < found.host_over_ns ? began_ns : found.host_over_ns;
	marker->is_settled = true;
}

/*
 * Settles the markers of a stream before a point. An operation after the point has begun, so their
 * dependencies are final.
 */
static void settle_before(struct ts_state_order *order, struct ts_state_order_stream *stream,
			  uint64_t op_id, uint64_t began_ns)
{
	size_t n = 0;

	for (size_t i = 0; i < stream->n_markers; i++) {
		uint32_t index = stream->markers[i];
		struct ts_state_order_marker *marker = &order->markers[index];

		if (marker->n_refs > 1 && marker->op_id >= op_id) {
			stream->markers[n++] = index;
			continue;
		}
		if (marker->n_refs > 1)
			settle(order, marker, began_ns);
		put_marker(order, index);
	}
	stream->n_markers = n;
}

static void settle_oldest(struct ts_state_order *order, struct ts_state_order_stream *stream)
{
	struct ts_state_order_marker *marker = &order->markers[stream->markers[0]];

	settle(order, marker, UINT64_MAX);
	marker->unsure |= TS_STATE_UNSURE_DEPENDENCY;
	put_marker(order, stream->markers[0]);
	stream->n_markers--;
	memmove(stream->markers, stream->markers + 1, stream->n_markers * sizeof(*stream->markers));
}

/*
 * Takes a free marker, or adds one. Returns 0, -ENOMEM, or TS_SBT_E_LIMIT if there are MAX_MARKERS
 * markers.
 */
static int new_marker(struct ts_state_order *order, uint32_t *ret_marker)
{
	int r;

	if (order->n_free_markers) {
		*ret_marker = order->free_markers[--order->n_free_markers];
		return 0;
	}
	if (order->n_markers == MAX_MARKERS)
		return TS_SBT_E_LIMIT;
	r = TS_GROW(order->markers, order->n_markers_allocated, order->n_markers + 1);
	if (!r)
		r = TS_GROW(order->free_markers, order->n_free_markers_allocated,
			    order->n_markers + 1);
	if (r)
		return r;
	*ret_marker = (uint32_t)order->n_markers++;
	return 0;
}

static void add_point(struct ts_state_order_stream *stream, uint64_t op_id)
{
	stream->points[stream->n_points++ % TS_STATE_HISTORY] = op_id;
}

int ts_state_order_record(struct ts_state_order *order, uint32_t session,
			  const struct ts_row_event *row)
{
	uint32_t old = ts_state_map_find(&order->marker_by_event, session, row->event);
	struct ts_state_order_stream *stream = NULL;
	uint32_t index, at = NONE;
	int r = new_marker(order, &index);

	if (r == TS_SBT_E_LIMIT) {
		/* The event has no marker now, so later waits for it are marked as unsure. */
		ts_state_map_remove(&order->marker_by_event, session, row->event);
		put_marker(order, old);
		return 0;
	}
	if (r)
		return r;
	order->markers[index] = (struct ts_state_order_marker){.op_id = row->op_id,
							       .event = row->event,
							       .stream = NONE,
							       .n_refs = 1};
	if (row->stream == TS_NO_DEVICE) {
		order->markers[index].is_settled = true;
		order->markers[index].unsure = TS_STATE_UNSURE_DEPENDENCY;
	} else {
		r = get_stream(order, session, row->context, row->stream, &at);
		if (!r) {
			stream = &order->streams[at];
			add_point(stream, row->op_id);
			/*
			 * An event may be recorded again and again in an idle stream. Drop its old
			 * markers.
			 */
			if (stream->n_markers == stream->n_markers_allocated)
				settle_before(order, stream, 0, UINT64_MAX);
			if (stream->n_markers == MAX_UNSETTLED)
				settle_oldest(order, stream);
			r = TS_GROW(stream->markers, stream->n_markers_allocated,
				    stream->n_markers + 1);
		}
	}
	if (!r)
		r = ts_state_map_set(&order->marker_by_event, session, row->event, index);
	if (r) {
		put_marker(order, index);
		return r;
	}
	if (stream) {
		order->markers[index].stream = at;
		order->markers[index].n_refs++;
		stream->markers[stream->n_markers++] = index;
	}
	put_marker(order, old);
	return 0;
}

int ts_state_order_wait(struct ts_state_order *order, uint32_t session,
			const struct ts_row_stream_wait *row)
{
	uint32_t marker = ts_state_map_find(&order->marker_by_event, session, row->event), index;
	struct ts_state_order_stream *stream;
	int r;

	if (!row->event)
		marker = TS_STATE_ORDER_HOST;

	if (row->stream == TS_NO_DEVICE) {
		r = get_context(order, session, row->context, &index);
		if (!r)
			order->contexts[index].unsure = true;
		return r;
	}
	r = get_stream(order, session, row->context, row->stream, &index);
	if (r)
		return r;
	stream = &order->streams[index];
	add_point(stream, row->op_id);
	if (stream->n_waits == MAX_WAITS) {
		put_marker(order, stream->waits[0].marker);
		memmove(stream->waits, stream->waits + 1, (MAX_WAITS - 1) * sizeof(*stream->waits));
		stream->n_waits--;
		stream->has_dropped_wait = true;
	}
	r = TS_GROW(stream->waits, stream->n_waits_allocated, stream->n_waits + 1);
	if (r)
		return r;
	if (marker < TS_STATE_ORDER_HOST)
		order->markers[marker].n_refs++;
	stream->waits[stream->n_waits++] =
		(struct ts_state_order_wait){row->op_id, UINT64_MAX, marker};
	return 0;
}

/* ---- operations ------------------------------------------------------------------------------ */

/*
 * Appends the group `op_id` to its stream, or updates the group if it is the last one. `number` is
 * the operation that ends at end_ns; start_ns is the start of an operation of the group.
 */
static void stand(struct ts_state_order *order, struct ts_state_order_stream *stream,
		  uint64_t op_id, uint64_t number, uint64_t start_ns, uint64_t end_ns)
{
	struct ts_state_order_group *last =
		&stream->history[(stream->n_groups - 1) % TS_STATE_HISTORY];
	size_t n = 0;

	for (size_t i = 0; i < stream->n_waits; i++) {
		const struct ts_state_order_wait *wait = &stream->waits[i];

		if (wait->op_id >= op_id) {
			stream->waits[n++] = *wait;
			continue;
		}
		if (wait->marker == TS_STATE_ORDER_HOST)
			stream->passed[stream->n_passed++ % TS_STATE_ORDER_PASSED] =
				(struct ts_state_order_passed){wait->op_id,
							       start_ns < wait->over_ns
								       ? start_ns
								       : wait->over_ns};
		put_marker(order, wait->marker);
	}
	stream->n_waits = n;
	stream->has_dropped_wait = false;
	if (!stream->n_groups || last->op_id != op_id) {
		last = &stream->history[stream->n_groups++ % TS_STATE_HISTORY];
		*last = (struct ts_state_order_group){.op_id = op_id};
	}
	if (end_ns >= last->end_ns) {
		last->number = number;
		last->end_ns = end_ns;
	}
}

/*
 * Adds the previous group in the stream, even if its id is higher. If threads share a stream, ids
 * may be out of order.
 */
static void find_previous(const struct ts_state_order *order,
			  const struct ts_state_order_stream *stream, uint64_t op_id,
			  struct ts_state_order_found *found)
{
	uint64_t n = stream->n_groups;
	const struct ts_state_order_group *group;
	struct ts_state_dependency dependency = {.kind = TS_STATE_BY_STREAM,
						 .stream = stream->stream};

	if (n && stream->history[(n - 1) % TS_STATE_HISTORY].op_id == op_id)
		n--;
	if (!n) {
		found->lack.n_old += order->is_cut;
		return;
	}
	group = &stream->history[(n - 1) % TS_STATE_HISTORY];
	dependency.op_id = group->op_id;
	dependency.number = group->number;
	dependency.end_ns = group->end_ns;
	add_found(found, &dependency);
}

/* Adds all dependencies of `op_id` in the stream, which begins at began_ns. */
static void find_all(struct ts_state_order *order, uint32_t index, uint64_t op_id,
		     uint64_t began_ns, struct ts_state_order_found *found)
{
	static const struct ts_state_dependency by_stream = {.kind = TS_STATE_BY_STREAM};
	struct ts_state_order_stream *stream = &order->streams[index];
	struct visit visit = {.order = order, .began_ns = began_ns};

	settle_before(order, stream, op_id, began_ns);
	find_previous(order, stream, op_id, found);
	find_point(&visit, index, op_id, &by_stream, found);
}

static int get_launch(struct ts_state_order *order, uint32_t session, uint64_t op_id,
		      struct ts_state_order_launch **ret_launch)
{
	uint32_t slot = ts_state_map_find(&order->launch_by_op, session, op_id);
	struct ts_state_order_launch *launch;
	int r;

	if (!order->launches)
		order->launches = calloc(TS_STATE_ORDER_LAUNCHES, sizeof(*order->launches));
	if (!order->launches)
		return -ENOMEM;
	if (slot != NONE) {
		*ret_launch = &order->launches[slot];
		return 0;
	}
	slot = (uint32_t)(order->n_launches % TS_STATE_ORDER_LAUNCHES);
	launch = &order->launches[slot];
	r = ts_state_map_set(&order->launch_by_op, session, op_id, slot);
	if (r)
		return r;
	if (order->n_launches++ >= TS_STATE_ORDER_LAUNCHES &&
	    ts_state_map_find(&order->launch_by_op, launch->session, launch->op_id) == slot)
		ts_state_map_remove(&order->launch_by_op, launch->session, launch->op_id);
	*launch =
		(struct ts_state_order_launch){.op_id = op_id, .session = session, .stream = NONE};
	*ret_launch = launch;
	return 0;
}

static void find_for_launch(struct ts_state_order *order, struct ts_state_order_launch *launch,
			    uint64_t began_ns)
{
	struct ts_state_order_found found = {.at = launch->found};

	find_all(order, launch->stream, launch->op_id, began_ns, &found);
	launch->n_found = found.n;
	launch->unsure = found.unsure;
	launch->lack = found.lack;
	launch->host_op_id = found.host_op_id;
	launch->host_over_ns = found.host_over_ns;
	launch->has_found = true;
}

int ts_state_order_launch(struct ts_state_order *order, uint32_t session,
			  const struct ts_row_graph_launch *row)
{
	struct ts_state_order_launch *launch;
	uint32_t index;
	int r = get_launch(order, session, row->op_id, &launch);

	if (r)
		return r;
	if (row->stream == TS_NO_DEVICE) {
		launch->is_homeless = true;
		return 0;
	}
	r = get_stream(order, session, row->context, row->stream, &index);
	if (r)
		return r;
	launch->stream = index;
	/* The row of a graph launch comes when its call returns. Nodes may have begun before. */
	if (!launch->end_ns)
		return 0;
	find_for_launch(order, launch, row->start_ns);
	if (launch->host_op_id && row->start_ns < launch->host_over_ns)
		launch->host_over_ns = row->start_ns;
	stand(order, &order->streams[index], launch->op_id, launch->number, row->start_ns,
	      launch->end_ns);
	return 0;
}

static int order_node(struct ts_state_order *order, struct ts_state_op *op, uint32_t index)
{
	struct ts_state_order_found found = {.at = op->dependencies};
	struct ts_state_order_launch *launch;
	int r = get_launch(order, op->session, op->op_id, &launch);

	if (r)
		return r;
	if (op->end_ns >= launch->end_ns) {
		launch->number = op->number;
		launch->end_ns = op->end_ns;
	}
	if (launch->stream == NONE) {
		find_all(order, index, op->op_id, op->start_ns, &found);
		check_lack(order, found.n, &found.lack);
		op->n_dependencies = found.n;
		op->unsure |= found.unsure;
		op->host_op_id = found.host_op_id;
		op->host_over_ns = found.host_over_ns;
		if (launch->is_homeless)
			stand(order, &order->streams[index], op->op_id, op->number, op->start_ns,
			      op->end_ns);
		return 0;
	}
	if (!launch->has_found)
		find_for_launch(order, launch, op->start_ns);
	check_lack(order, launch->n_found, &launch->lack);
	memcpy(op->dependencies, launch->found, sizeof(op->dependencies));
	op->n_dependencies = launch->n_found;
	op->unsure |= launch->unsure;
	op->host_op_id = launch->host_op_id;
	/*
	 * If an earlier node has begun, the launch's wait for the host had ended before that node's
	 * start. This node's own start is a bound only for later nodes.
	 */
	op->host_over_ns = launch->host_over_ns;
	if (launch->host_op_id && op->start_ns < launch->host_over_ns)
		launch->host_over_ns = op->start_ns;
	stand(order, &order->streams[launch->stream], op->op_id, op->number, op->start_ns,
	      op->end_ns);
	return 0;
}

/*
 * Handles the case in which the stream's previous group has a lower id and is the only dependency:
 * finds the same dependency as find_all(), only faster, and puts the group at the end of the
 * stream. Returns false in all other cases.
 */
static inline bool order_plain(const struct ts_state_order *order,
			       struct ts_state_order_stream *stream, struct ts_state_op *op)
{
	const struct ts_state_order_context *context = &order->contexts[stream->of];
	const struct ts_state_order_group *last;

	if (stream->n_waits | stream->n_markers | stream->has_dropped_wait |
	    stream->kind.is_legacy | context->unsure | !stream->n_groups)
		return false;
	if (context->legacy != NONE && !stream->kind.is_non_blocking)
		return false;
	last = &stream->history[(stream->n_groups - 1) % TS_STATE_HISTORY];
	if (last->op_id >= op->op_id || last->op_id <= order->floor_id)
		return false;
	op->dependencies[0] = (struct ts_state_dependency){.op_id = last->op_id,
							   .number = last->number,
							   .end_ns = last->end_ns,
							   .kind = TS_STATE_BY_STREAM,
							   .stream = stream->stream};
	op->n_dependencies = 1;
	if (!stream->kind.is_known)
		op->unsure |= TS_STATE_UNSURE_STREAM;
	if (last->end_ns > op->start_ns && !op->may_begin_early)
		op->unsure |= TS_STATE_UNSURE_OVERLAP;
	stream->history[stream->n_groups++ % TS_STATE_HISTORY] =
		(struct ts_state_order_group){.op_id = op->op_id,
					      .number = op->number,
					      .end_ns = op->end_ns};
	return true;
}

int ts_state_order_op(struct ts_state_order *order, struct ts_state_op *op)
{
	struct ts_state_order_found found = {.at = op->dependencies};
	uint32_t index;
	int r = recall_stream(order, op->session, op->context, op->stream, &index);

	if (r)
		return r;
	op->stream_number = index;
	if (!(op->unsure & TS_STATE_UNSURE_GRAPH) && order_plain(order, &order->streams[index], op))
		return 0;
	if (op->unsure & TS_STATE_UNSURE_GRAPH) {
		r = order_node(order, op, index);
	} else {
		find_all(order, index, op->op_id, op->start_ns, &found);
		check_lack(order, found.n, &found.lack);
		op->n_dependencies = found.n;
		op->unsure |= found.unsure;
		op->host_op_id = found.host_op_id;
		op->host_over_ns = found.host_over_ns;
		stand(order, &order->streams[index], op->op_id, op->number, op->start_ns,
		      op->end_ns);
	}
	for (uint32_t i = 0; !r && i < op->n_dependencies; i++) {
		uint64_t end_ns = op->dependencies[i].end_ns;

		if (end_ns > op->start_ns &&
		    !(op->may_begin_early && op->dependencies[i].kind == TS_STATE_BY_STREAM))
			op->unsure |= TS_STATE_UNSURE_OVERLAP;
		/*
		 * If a dependency ends after the wait for the host, that wait did not delay the
		 * operation.
		 */
		if (end_ns >= op->host_over_ns)
			op->host_op_id = 0;
	}
	if (op->host_op_id)
		op->unsure |= TS_STATE_UNSURE_DEPENDENCY;
	return r;
}

int ts_state_order_event(struct ts_state_order *order, uint32_t session, uint64_t event,
			 struct ts_state_order_found *found)
{
	uint32_t index = ts_state_map_find(&order->marker_by_event, session, event);
	struct visit visit = {.order = order, .began_ns = UINT64_MAX};
	struct ts_state_dependency as = {.kind = TS_STATE_BY_EVENT, .event = event};
	const struct ts_state_order_marker *marker;

	if (index == NONE)
		return -1;
	marker = &order->markers[index];
	if (!marker->is_settled) {
		find_point(&visit, marker->stream, marker->op_id, &as, found);
		return (int)found->n;
	}
	memcpy(found->at, marker->found, marker->n_found * sizeof(*found->at));
	found->n = marker->n_found;
	found->host_op_id = marker->host_op_id;
	found->host_over_ns = marker->host_over_ns;
	return (int)marker->n_found;
}

uint32_t ts_state_order_home(const struct ts_state_order *order, const struct ts_state_op *op)
{
	uint32_t slot;

	if (!(op->unsure & TS_STATE_UNSURE_GRAPH))
		return op->stream;
	slot = ts_state_map_find(&order->launch_by_op, op->session, op->op_id);
	if (slot == NONE || order->launches[slot].stream == NONE)
		return TS_NO_DEVICE;
	return order->streams[order->launches[slot].stream].stream;
}
