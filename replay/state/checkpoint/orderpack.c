/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs and unpacks the stream order (streams, events, graph launches) of state-order.c. It is the
 * part of a checkpoint that holds dependencies. state-machine.c calls this file.
 *
 * A marker is one version of an event. Markers without references are left out, and the other
 * markers get new numbers. Unpacking counts the references again. The bytes are untrusted: every
 * index is checked.
 */
#include "replay/state/state-order.h"

#include "proto/abi/grow.h"

#include <errno.h>
#include <stdlib.h>

#define NONE	    TS_STATE_MAP_NONE
#define MAX_MARKERS (1u << 20)

enum {
	STREAM_KNOWN = 1,
	STREAM_LEGACY = 2,
	STREAM_NON_BLOCKING = 4,
	STREAM_DROPPED_WAIT = 8,
};

/* Targets of a wait. A marker is packed as its number + WAIT_MARKER. */
enum {
	WAIT_UNKNOWN = 0,
	WAIT_HOST = 1,
	WAIT_MARKER = 2,
};

enum {
	LAUNCH_HOMELESS = 1,
	LAUNCH_FOUND = 2,
};

static uint64_t kept(uint64_t n)
{
	return n < TS_STATE_HISTORY ? n : TS_STATE_HISTORY;
}

static uint64_t n_passed(const struct ts_state_order_stream *stream)
{
	return stream->n_passed < TS_STATE_ORDER_PASSED ? stream->n_passed : TS_STATE_ORDER_PASSED;
}

void ts_state_order_pack_found(struct ts_pack *pack, uint32_t n,
			       const struct ts_state_dependency *found, uint64_t op_id)
{
	ts_pack_u(pack, n);
	for (uint32_t i = 0; i < n; i++) {
		ts_pack_from(pack, found[i].op_id, op_id);
		ts_pack_u(pack, found[i].number);
		ts_pack_ns(pack, found[i].end_ns);
		ts_pack_u(pack, found[i].event);
		ts_pack_u(pack, found[i].kind);
		ts_pack_u(pack, found[i].stream);
	}
}

uint32_t ts_state_order_unpack_found(struct ts_unpack *unpack,
				     struct ts_state_dependency found[TS_STATE_MAX_DEPENDENCIES],
				     uint64_t op_id)
{
	size_t n = ts_unpack_count(unpack);

	if (n > TS_STATE_MAX_DEPENDENCIES) {
		unpack->bad = true;
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		found[i].op_id = ts_unpack_from(unpack, op_id);
		found[i].number = ts_unpack_u(unpack);
		found[i].end_ns = ts_unpack_ns(unpack);
		found[i].event = ts_unpack_u(unpack);
		found[i].kind = ts_unpack_u32(unpack);
		found[i].stream = ts_unpack_u32(unpack);
		unpack->bad |=
			found[i].kind < TS_STATE_BY_STREAM || found[i].kind > TS_STATE_BY_LEGACY;
	}
	return (uint32_t)n;
}

/* ---- to bytes -------------------------------------------------------------------------------- */

/* Returns the keys of a map whose values are 0, 1, 2, ... as an array. The caller frees it. */
static struct ts_state_map_slot *keys_of(const struct ts_state_map *map, size_t n)
{
	struct ts_state_map_slot *keys = calloc(n ? n : 1, sizeof(*keys));

	if (!keys)
		return NULL;
	TS_STATE_MAP_EACH (map, slot)
		if (slot->place <= n)
			keys[slot->place - 1] = *slot;
	return keys;
}

static void pack_host(struct ts_pack *pack, uint64_t host_op_id, uint64_t host_over_ns)
{
	ts_pack_u(pack, host_op_id);
	if (host_op_id)
		ts_pack_u(pack, host_over_ns + 1);
}

static void unpack_host(struct ts_unpack *unpack, uint64_t *ret_host_op_id,
			uint64_t *ret_host_over_ns)
{
	*ret_host_op_id = ts_unpack_u(unpack);
	*ret_host_over_ns = *ret_host_op_id ? ts_unpack_u(unpack) - 1 : 0;
}

static void pack_contexts(struct ts_pack *pack, const struct ts_state_order *order)
{
	struct ts_state_map_slot *keys = keys_of(&order->context_by_id, order->n_contexts);

	pack->failed |= !keys;
	ts_pack_u(pack, order->n_contexts);
	for (size_t i = 0; keys && i < order->n_contexts; i++) {
		ts_pack_u(pack, keys[i].session);
		ts_pack_u(pack, keys[i].key);
		ts_pack_u(pack, (uint64_t)order->contexts[i].legacy + 1);
		ts_pack_u(pack, order->contexts[i].unsure);
	}
	free(keys);
}

static void pack_marker(struct ts_pack *pack, const struct ts_state_order_marker *marker)
{
	ts_pack_u(pack, marker->op_id);
	ts_pack_u(pack, marker->event);
	ts_pack_u(pack, marker->stream == NONE ? 0 : (uint64_t)marker->stream + 1);
	ts_pack_u(pack, (uint64_t)marker->unsure << 1 | marker->is_settled);
	if (!marker->is_settled)
		return;
	ts_state_order_pack_found(pack, marker->n_found, marker->found, marker->op_id);
	pack_host(pack, marker->host_op_id, marker->host_over_ns);
}

/* Packs the markers with references. *ret_numbers maps old numbers to new ones. */
static void pack_markers(struct ts_pack *pack, const struct ts_state_order *order,
			 uint32_t **ret_numbers)
{
	uint32_t *numbers = malloc((order->n_markers + 1) * sizeof(*numbers));
	uint32_t n = 0;

	*ret_numbers = numbers;
	pack->failed |= !numbers;
	for (size_t i = 0; numbers && i < order->n_markers; i++)
		numbers[i] = order->markers[i].n_refs ? n++ : NONE;
	ts_pack_u(pack, n);
	for (size_t i = 0; numbers && i < order->n_markers; i++)
		if (numbers[i] != NONE)
			pack_marker(pack, &order->markers[i]);
}

static void pack_stream(struct ts_pack *pack, const struct ts_state_order_stream *stream,
			const uint32_t *numbers)
{
	uint64_t n = kept(stream->n_groups), op_id = 0, number = 0;

	ts_pack_u(pack, stream->of);
	ts_pack_u(pack, stream->stream);
	ts_pack_u(pack, (stream->kind.is_known ? STREAM_KNOWN : 0) |
				(stream->kind.is_legacy ? STREAM_LEGACY : 0) |
				(stream->kind.is_non_blocking ? STREAM_NON_BLOCKING : 0) |
				(stream->has_dropped_wait ? STREAM_DROPPED_WAIT : 0));
	ts_pack_u(pack, stream->n_groups);
	for (uint64_t i = n; i > 0; i--) {
		const struct ts_state_order_group *group =
			&stream->history[(stream->n_groups - i) % TS_STATE_HISTORY];

		ts_pack_from(pack, group->op_id, op_id);
		ts_pack_from(pack, group->number, number);
		ts_pack_ns(pack, group->end_ns);
		op_id = group->op_id;
		number = group->number;
	}
	ts_pack_u(pack, stream->n_points);
	op_id = 0;
	for (uint64_t i = kept(stream->n_points); i > 0; i--) {
		uint64_t point = stream->points[(stream->n_points - i) % TS_STATE_HISTORY];

		ts_pack_from(pack, point, op_id);
		op_id = point;
	}
	ts_pack_u(pack, stream->n_waits);
	for (size_t i = 0; i < stream->n_waits; i++) {
		ts_pack_u(pack, stream->waits[i].op_id);
		ts_pack_u(pack, stream->waits[i].marker == NONE ? WAIT_UNKNOWN
				: stream->waits[i].marker == TS_STATE_ORDER_HOST
					? WAIT_HOST
					: (uint64_t)numbers[stream->waits[i].marker] + WAIT_MARKER);
		if (stream->waits[i].marker == TS_STATE_ORDER_HOST)
			ts_pack_u(pack, stream->waits[i].over_ns + 1);
	}
	n = n_passed(stream);
	ts_pack_u(pack, stream->n_passed);
	for (uint64_t i = n; i > 0; i--) {
		const struct ts_state_order_passed *passed =
			&stream->passed[(stream->n_passed - i) % TS_STATE_ORDER_PASSED];

		ts_pack_u(pack, passed->op_id);
		ts_pack_u(pack, passed->over_ns);
	}
	ts_pack_u(pack, stream->n_markers);
	for (size_t i = 0; i < stream->n_markers; i++)
		ts_pack_u(pack, numbers[stream->markers[i]]);
}

static int compare_slots(const void *a, const void *b)
{
	const struct ts_state_map_slot *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

void ts_pack_map(struct ts_pack *pack, const struct ts_state_map *map, const uint32_t *numbers)
{
	struct ts_state_map_slot *slots = malloc((ts_state_map_count(map) + 1) * sizeof(*slots));
	uint64_t key = 0;
	size_t n = 0;

	pack->failed |= !slots;
	if (slots)
		TS_STATE_MAP_EACH (map, slot)
			slots[n++] = *slot;
	if (n)
		qsort(slots, n, sizeof(*slots), compare_slots);
	ts_pack_u(pack, n);
	for (size_t i = 0; i < n; i++) {
		ts_pack_u(pack, slots[i].session);
		ts_pack_from(pack, slots[i].key, key);
		ts_pack_u(pack, numbers ? numbers[slots[i].place - 1] : slots[i].place - 1);
		key = slots[i].key;
	}
	free(slots);
}

static void pack_launches(struct ts_pack *pack, const struct ts_state_order *order)
{
	uint64_t n = order->n_launches < TS_STATE_ORDER_LAUNCHES ? order->n_launches
								 : TS_STATE_ORDER_LAUNCHES;

	ts_pack_u(pack, order->n_launches);
	for (uint64_t i = n; i > 0; i--) {
		const struct ts_state_order_launch *launch =
			&order->launches[(order->n_launches - i) % TS_STATE_ORDER_LAUNCHES];

		ts_pack_u(pack, launch->session);
		ts_pack_u(pack, launch->op_id);
		ts_pack_u(pack, launch->number);
		ts_pack_u(pack, launch->end_ns);
		ts_pack_u(pack, launch->stream == NONE ? 0 : (uint64_t)launch->stream + 1);
		ts_pack_u(pack, (launch->is_homeless ? LAUNCH_HOMELESS : 0) |
					(launch->has_found ? LAUNCH_FOUND : 0));
		ts_pack_u(pack, launch->unsure);
		if (!launch->has_found)
			continue;
		ts_state_order_pack_found(pack, launch->n_found, launch->found, launch->op_id);
		pack_host(pack, launch->host_op_id, launch->host_over_ns);
	}
}

void ts_state_order_pack(const struct ts_state_order *order, struct ts_pack *pack)
{
	uint32_t *numbers = NULL;

	pack_contexts(pack, order);
	pack_markers(pack, order, &numbers);
	ts_pack_u(pack, order->n_streams);
	for (size_t i = 0; numbers && i < order->n_streams; i++)
		pack_stream(pack, &order->streams[i], numbers);
	if (numbers)
		ts_pack_map(pack, &order->marker_by_event, numbers);
	pack_launches(pack, order);
	free(numbers);
}

/* ---- from bytes ------------------------------------------------------------------------------ */

/*
 * Returns a zeroed array of n items. If memory is short, sets `bad`, because the caller can compute
 * the answer without this checkpoint.
 */
static void *array(struct ts_unpack *unpack, size_t n, size_t bytes)
{
	void *items = calloc(n ? n : 1, bytes);

	unpack->bad |= !items;
	return items;
}

static void unpack_contexts(struct ts_unpack *unpack, struct ts_state_order *order)
{
	size_t n = ts_unpack_count(unpack);

	order->contexts = array(unpack, n, sizeof(*order->contexts));
	order->n_contexts_allocated = order->n_contexts = unpack->bad ? 0 : n;
	for (size_t i = 0; !unpack->bad && i < n; i++) {
		uint32_t session = ts_unpack_u32(unpack);
		uint64_t id = ts_unpack_u(unpack), legacy = ts_unpack_u(unpack);

		order->contexts[i] =
			(struct ts_state_order_context){.legacy = (uint32_t)(legacy - 1),
							.unsure = ts_unpack_u(unpack)};
		/* NONE is the largest valid value. */
		unpack->bad |= !legacy || legacy - 1 > NONE ||
			       ts_state_map_set(&order->context_by_id, session, id, (uint32_t)i);
	}
}

static void unpack_markers(struct ts_unpack *unpack, struct ts_state_order *order)
{
	size_t n = ts_unpack_count(unpack);

	unpack->bad |= n > MAX_MARKERS;
	if (unpack->bad)
		return;
	order->markers = array(unpack, n, sizeof(*order->markers));
	order->free_markers = array(unpack, n, sizeof(*order->free_markers));
	order->n_markers_allocated = order->n_free_markers_allocated = n;
	order->n_markers = unpack->bad ? 0 : n;
	for (size_t i = 0; !unpack->bad && i < n; i++) {
		struct ts_state_order_marker *marker = &order->markers[i];
		uint64_t stream, flags;

		marker->op_id = ts_unpack_u(unpack);
		marker->event = ts_unpack_u(unpack);
		stream = ts_unpack_u(unpack);
		flags = ts_unpack_u(unpack);
		marker->stream = stream ? (uint32_t)(stream - 1) : NONE;
		marker->unsure = (uint32_t)(flags >> 1);
		marker->is_settled = flags & 1;
		unpack->bad |= stream > TS_MAX_STREAMS || (!stream && !marker->is_settled);
		if (!marker->is_settled)
			continue;
		marker->n_found = ts_state_order_unpack_found(unpack, marker->found, marker->op_id);
		unpack_host(unpack, &marker->host_op_id, &marker->host_over_ns);
	}
}

/* Adds a reference to a marker. Returns NONE if there is no such marker. */
static uint32_t refer(struct ts_unpack *unpack, struct ts_state_order *order, uint64_t marker)
{
	if (marker >= order->n_markers) {
		unpack->bad = true;
		return NONE;
	}
	order->markers[marker].n_refs++;
	return (uint32_t)marker;
}

static void unpack_waiting(struct ts_unpack *unpack, struct ts_state_order *order,
			   struct ts_state_order_stream *stream)
{
	size_t n = ts_unpack_count(unpack);

	stream->waits = n ? array(unpack, n, sizeof(*stream->waits)) : NULL;
	stream->n_waits = stream->n_waits_allocated = unpack->bad ? 0 : n;
	for (size_t i = 0; i < stream->n_waits; i++) {
		uint64_t op_id = ts_unpack_u(unpack), marker = ts_unpack_u(unpack);

		stream->waits[i] = (struct ts_state_order_wait){
			op_id, UINT64_MAX,
			marker == WAIT_UNKNOWN ? NONE
			: marker == WAIT_HOST  ? TS_STATE_ORDER_HOST
					       : refer(unpack, order, marker - WAIT_MARKER)};
		if (marker == WAIT_HOST)
			stream->waits[i].over_ns = ts_unpack_u(unpack) - 1;
	}
	stream->n_passed = ts_unpack_u(unpack);
	for (uint64_t i = n_passed(stream); i > 0; i--) {
		struct ts_state_order_passed *passed =
			&stream->passed[(stream->n_passed - i) % TS_STATE_ORDER_PASSED];

		passed->op_id = ts_unpack_u(unpack);
		passed->over_ns = ts_unpack_u(unpack);
	}
	n = ts_unpack_count(unpack);
	stream->markers = n ? array(unpack, n, sizeof(*stream->markers)) : NULL;
	stream->n_markers = stream->n_markers_allocated = unpack->bad ? 0 : n;
	for (size_t i = 0; i < stream->n_markers; i++) {
		stream->markers[i] = refer(unpack, order, ts_unpack_u(unpack));
		/* A marker in a stream's list must name its stream. */
		unpack->bad |= unpack->bad || order->markers[stream->markers[i]].stream == NONE;
	}
}

static void unpack_stream(struct ts_unpack *unpack, struct ts_state_order *order,
			  struct ts_state_order_stream *stream)
{
	uint64_t flags, op_id = 0, number = 0;

	stream->of = ts_unpack_u32(unpack);
	stream->stream = ts_unpack_u32(unpack);
	flags = ts_unpack_u(unpack);
	stream->kind.is_known = flags & STREAM_KNOWN;
	stream->kind.is_legacy = flags & STREAM_LEGACY;
	stream->kind.is_non_blocking = flags & STREAM_NON_BLOCKING;
	stream->has_dropped_wait = flags & STREAM_DROPPED_WAIT;
	stream->n_groups = ts_unpack_u(unpack);
	for (uint64_t i = kept(stream->n_groups); i > 0; i--) {
		struct ts_state_order_group *group =
			&stream->history[(stream->n_groups - i) % TS_STATE_HISTORY];

		group->op_id = op_id = ts_unpack_from(unpack, op_id);
		group->number = number = ts_unpack_from(unpack, number);
		group->end_ns = ts_unpack_ns(unpack);
	}
	stream->n_points = ts_unpack_u(unpack);
	op_id = 0;
	for (uint64_t i = kept(stream->n_points); i > 0; i--)
		stream->points[(stream->n_points - i) % TS_STATE_HISTORY] = op_id =
			ts_unpack_from(unpack, op_id);
	unpack_waiting(unpack, order, stream);
}

/* Registers a stream in its context and by its id. */
static void place_stream(struct ts_unpack *unpack, struct ts_state_order *order, uint32_t i,
			 const struct ts_state_map_slot *contexts)
{
	struct ts_state_order_stream *stream = &order->streams[i];
	struct ts_state_order_context *context;
	const struct ts_state_map_slot *key;

	if (stream->of >= order->n_contexts) {
		unpack->bad = true;
		return;
	}
	context = &order->contexts[stream->of];
	key = &contexts[stream->of];
	stream->session = key->session;
	stream->context = (uint32_t)key->key;
	if (TS_GROW(context->streams, context->n_streams_allocated, context->n_streams + 1)) {
		unpack->bad = true;
		return;
	}
	context->streams[context->n_streams++] = i;
	unpack->bad |= ts_state_map_set(&order->stream_by_id, stream->session,
					(uint64_t)stream->context << 32 | stream->stream, i) != 0;
}

static void unpack_streams(struct ts_unpack *unpack, struct ts_state_order *order)
{
	size_t n = ts_unpack_count(unpack);
	struct ts_state_map_slot *contexts = keys_of(&order->context_by_id, order->n_contexts);

	unpack->bad |= !contexts || n > TS_MAX_STREAMS;
	if (!unpack->bad)
		order->streams = array(unpack, n, sizeof(*order->streams));
	order->n_streams = order->n_streams_allocated = unpack->bad ? 0 : n;
	for (size_t i = 0; !unpack->bad && i < n; i++) {
		unpack_stream(unpack, order, &order->streams[i]);
		if (!unpack->bad)
			place_stream(unpack, order, (uint32_t)i, contexts);
	}
	free(contexts);
	for (size_t i = 0; i < order->n_contexts; i++)
		unpack->bad |= order->contexts[i].legacy != NONE && order->contexts[i].legacy >= n;
	for (size_t i = 0; i < order->n_markers; i++)
		unpack->bad |= order->markers[i].stream != NONE && order->markers[i].stream >= n;
}

static void unpack_events(struct ts_unpack *unpack, struct ts_state_order *order)
{
	size_t n = ts_unpack_count(unpack);
	uint64_t key = 0;

	for (size_t i = 0; !unpack->bad && i < n; i++) {
		uint32_t session = ts_unpack_u32(unpack), marker;

		key = ts_unpack_from(unpack, key);
		marker = refer(unpack, order, ts_unpack_u(unpack));
		if (!unpack->bad)
			unpack->bad |= ts_state_map_set(&order->marker_by_event, session, key,
							marker) != 0;
	}
	/* A marker without references would be freed once too often. */
	for (size_t i = 0; i < order->n_markers; i++)
		unpack->bad |= !order->markers[i].n_refs;
	unpack->bad |= ts_state_map_count(&order->marker_by_event) != n;
}

static void unpack_launches(struct ts_unpack *unpack, struct ts_state_order *order)
{
	uint64_t n_launches = ts_unpack_u(unpack);
	uint64_t n = n_launches < TS_STATE_ORDER_LAUNCHES ? n_launches : TS_STATE_ORDER_LAUNCHES;

	if (!n || unpack->bad)
		return;
	order->launches = array(unpack, TS_STATE_ORDER_LAUNCHES, sizeof(*order->launches));
	order->n_launches = n_launches;
	for (uint64_t i = n; !unpack->bad && i > 0; i--) {
		uint32_t slot = (uint32_t)((n_launches - i) % TS_STATE_ORDER_LAUNCHES);
		struct ts_state_order_launch *launch = &order->launches[slot];
		uint64_t stream, flags;

		launch->session = ts_unpack_u32(unpack);
		launch->op_id = ts_unpack_u(unpack);
		launch->number = ts_unpack_u(unpack);
		launch->end_ns = ts_unpack_u(unpack);
		stream = ts_unpack_u(unpack);
		flags = ts_unpack_u(unpack);
		launch->stream = stream ? (uint32_t)(stream - 1) : NONE;
		launch->is_homeless = flags & LAUNCH_HOMELESS;
		launch->has_found = flags & LAUNCH_FOUND;
		launch->unsure = ts_unpack_u32(unpack);
		if (launch->has_found) {
			launch->n_found =
				ts_state_order_unpack_found(unpack, launch->found, launch->op_id);
			unpack_host(unpack, &launch->host_op_id, &launch->host_over_ns);
		}
		unpack->bad |= stream > order->n_streams;
		if (!unpack->bad)
			unpack->bad |= ts_state_map_set(&order->launch_by_op, launch->session,
							launch->op_id, slot) != 0;
	}
}

int ts_state_order_unpack(struct ts_state_order *order, struct ts_unpack *unpack)
{
	unpack_contexts(unpack, order);
	unpack_markers(unpack, order);
	unpack_streams(unpack, order);
	unpack_events(unpack, order);
	unpack_launches(unpack, order);
	return unpack->bad ? TS_SBT_E_CORRUPT : 0;
}
