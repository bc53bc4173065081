/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the lanes of a trace and the blocks of each unit: see tiles.h. tiles.c calls this module.
 * It reads the summaries of the blocks, and decodes blocks that have none.
 */
#include "replay/report/tiles/tiles-internal.h"

#include "proto/abi/grow.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "sbt/arrays.h"
#include "sbt/block-places.h"

/* An untrusted file may name any number of streams. */
#define MAX_LANES 65536u

const char *ts_lane_kind_name(uint32_t kind)
{
	static const char *const names[TS_LANE_KINDS] = {
		[TS_LANE_PROCESS] = "process",
		[TS_LANE_THREAD] = "thread",
		[TS_LANE_RANGES] = "ranges",
		[TS_LANE_KERNEL_EVENTS] = "kernel_events",
		[TS_LANE_HOST_SAMPLES] = "host_samples",
		[TS_LANE_COUNTER] = "counter",
		[TS_LANE_DEVICE] = "device",
		[TS_LANE_COMPUTE] = "compute",
		[TS_LANE_COPY] = "copy",
		[TS_LANE_STREAM] = "stream",
	};

	return kind < TS_LANE_KINDS ? names[kind] : NULL;
}

enum ts_tile_class ts_tile_class_of(uint32_t type)
{
	switch (type) {
	case TS_ROW_KERNEL:
	case TS_ROW_MEMCPY:
	case TS_ROW_MEMSET:
		return TS_TILE_OPERATIONS;
	case TS_ROW_API:
		return TS_TILE_CALLS;
	case TS_ROW_RANGE:
	case TS_ROW_MARK:
		return TS_TILE_RANGES;
	case TS_ROW_OFF_CPU:
	case TS_ROW_PAGE_FAULT:
	case TS_ROW_SYSCALL:
	case TS_ROW_BLOCK_IO:
	case TS_ROW_PRESSURE:
	case TS_ROW_DRIVER:
		return TS_TILE_EVENTS;
	case TS_ROW_SAMPLE:
		return TS_TILE_SAMPLES;
	case TS_ROW_COUNTER:
		return TS_TILE_COUNTERS;
	default:
		return TS_TILE_CLASSES;
	}
}

bool ts_tile_has_type(uint32_t type)
{
	return ts_tile_class_of(type) != TS_TILE_CLASSES;
}

enum ts_lane_copies ts_tile_direction(uint32_t copy_kind)
{
	switch (copy_kind) {
	case TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
	case TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOA:
		return TS_LANE_TO_DEVICE;
	case TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
	case TS_CUPTI_ACTIVITY_MEMCPY_KIND_ATOH:
		return TS_LANE_TO_HOST;
	default:
		return TS_LANE_ON_DEVICE;
	}
}

/* ---- look-up --------------------------------------------------------------------------------- */

static uint64_t hash_place(const struct ts_tiles *tiles, const struct ts_lane *place)
{
	const uint32_t words[] = {place->kind,	  place->session, place->device,
				  place->context, place->stream,  place->thread,
				  place->name,	  place->domain,  place->direction};

	return ts_hash_seeded_bytes(ts_hashindex_seed_of(&tiles->by_place), words, sizeof(words));
}

static bool is_place(const struct ts_lane *a, const struct ts_lane *b)
{
	return a->kind == b->kind && a->session == b->session && a->device == b->device &&
	       a->context == b->context && a->stream == b->stream && a->thread == b->thread &&
	       a->name == b->name && a->domain == b->domain && a->direction == b->direction;
}

/* Returns the lane of a place with the first number of its thread. */
static uint32_t find_lane(const struct ts_tiles *tiles, const struct ts_lane *place)
{
	TS_HASHINDEX_EACH (&tiles->by_place, hash_place(tiles, place), at)
		if (is_place(&tiles->lanes[at.number].lane, place))
			return at.number;
	return TS_TILE_NO_LANE;
}

uint32_t ts_tile_lane_find(const struct ts_tiles *tiles, const struct ts_lane *place)
{
	struct ts_lane asked = *place;

	asked.thread = ts_tile_thread_first(tiles, asked.session, asked.thread);
	return find_lane(tiles, &asked);
}

static int add_lane(struct ts_tiles *tiles, const struct ts_lane *place, uint64_t n_rows)
{
	uint32_t found = find_lane(tiles, place);
	struct ts_tile_lane *lane;

	if (found != TS_TILE_NO_LANE) {
		tiles->lanes[found].lane.n_rows += n_rows;
		return 0;
	}
	if (tiles->n_lanes >= MAX_LANES)
		return TS_SBT_E_LIMIT;
	if (TS_GROW(tiles->lanes, tiles->lanes_capacity, tiles->n_lanes + 1) ||
	    ts_hashindex_add(&tiles->by_place, hash_place(tiles, place), (uint32_t)tiles->n_lanes))
		return -ENOMEM;
	lane = &tiles->lanes[tiles->n_lanes++];
	*lane = (struct ts_tile_lane){.lane = *place, .unit = TS_TILE_NO_LANE};
	lane->lane.n_rows = n_rows;
	lane->lane.depth = 1;
	return 0;
}

/* ---- lanes of a block's places --------------------------------------------------------------- */

/* Adds the lanes of a device's stream. `directions` has a bit per direction of the session. */
static int add_stream(struct ts_tiles *tiles, uint32_t session, uint32_t type,
		      const struct ts_sbt_place *place, unsigned directions, uint64_t n_rows)
{
	struct ts_lane lane = {.session = session, .device = place->device};
	/* At least 1: a lane without rows is not drawn. */
	const uint64_t share = (n_rows + TS_LANE_DIRECTIONS - 1) / TS_LANE_DIRECTIONS;
	int r;

	lane.kind = TS_LANE_DEVICE;
	r = add_lane(tiles, &lane, n_rows);
	lane.kind = TS_LANE_COMPUTE;
	if (!r && type == TS_ROW_KERNEL)
		r = add_lane(tiles, &lane, n_rows);
	lane.kind = TS_LANE_COPY;
	for (unsigned i = 0; !r && type == TS_ROW_MEMCPY && i < TS_LANE_DIRECTIONS; i++) {
		lane.direction = i;
		if (directions & 1u << i)
			r = add_lane(tiles, &lane, share);
	}
	lane.direction = 0;
	lane.kind = TS_LANE_STREAM;
	lane.context = place->context;
	lane.stream = place->stream;
	return r ? r : add_lane(tiles, &lane, n_rows);
}

static int add_thread(struct ts_tiles *tiles, uint32_t session, uint32_t type, uint32_t thread,
		      uint64_t n_rows)
{
	static const uint8_t kinds[TS_TILE_CLASSES] = {
		[TS_TILE_CALLS] = TS_LANE_THREAD,
		[TS_TILE_RANGES] = TS_LANE_RANGES,
		[TS_TILE_EVENTS] = TS_LANE_KERNEL_EVENTS,
		[TS_TILE_SAMPLES] = TS_LANE_HOST_SAMPLES,
	};
	struct ts_lane lane = {.session = session,
			       .thread = ts_tile_thread_first(tiles, session, thread)};
	int r;

	/* The thread's own lane is the parent of the others. */
	lane.kind = TS_LANE_THREAD;
	r = add_lane(tiles, &lane, 0);
	lane.kind = kinds[ts_tile_class_of(type)];
	return r ? r : add_lane(tiles, &lane, n_rows);
}

/* Returns a column of 4 bytes by its name; NULL: there is none. */
static const uint32_t *column(const struct ts_sbt_arrays *arrays, const char *name)
{
	return ts_sbt_arrays_column(arrays, ts_row_column(ts_sbt_arrays_schema(arrays), name));
}

static uint64_t column_bit(const struct ts_row_schema *schema, const char *name)
{
	int i = ts_row_column(schema, name);

	return i < 0 ? 0 : TS_SBT_COLUMN(i);
}

/* The places of all blocks: those of the summaries, and those of blocks without one. */
struct seen {
	struct ts_sbt_place *at;
	size_t n, capacity;
};

static int see(struct seen *seen, const struct ts_sbt_place *place)
{
	if (TS_GROW(seen->at, seen->capacity, seen->n + 1))
		return -ENOMEM;
	seen->at[seen->n++] = *place;
	return 0;
}

static int compare_places(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct ts_sbt_place));
}

/* Adds a place unless it is among the last ones. */
static int see_new(struct seen *seen, size_t first, const struct ts_sbt_place *place)
{
	for (size_t k = 0; k < 128 && seen->n > first + k; k++)
		if (!compare_places(&seen->at[seen->n - 1 - k], place))
			return 0;
	return see(seen, place);
}

/* Leaves each place of a block once: those from `first` on. */
static void see_once(struct seen *seen, size_t first)
{
	size_t n = first;

	if (seen->n == first)
		return;
	qsort(seen->at + first, seen->n - first, sizeof(*seen->at), compare_places);
	for (size_t i = first + 1; i < seen->n; i++)
		if (compare_places(&seen->at[n], &seen->at[i]))
			seen->at[++n] = seen->at[i];
	seen->n = n + 1;
}

/* Lists the places of a block without a summary. */
static int see_decoded(struct seen *seen, struct ts_sbt_reader *reader, size_t i)
{
	const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);
	const struct ts_row_schema *schema = ts_row_schema(block->type);
	ts_cleanup(ts_sbt_arrays_freep) struct ts_sbt_arrays *arrays = NULL;
	bool is_device = ts_tile_class_of(block->type) == TS_TILE_OPERATIONS;
	uint64_t columns = is_device
				   ? column_bit(schema, "device") | column_bit(schema, "context") |
					     column_bit(schema, "stream")
				   : column_bit(schema, "thread");
	struct ts_sbt_place place = {.block = i, .is_thread = !is_device};
	const uint32_t *device, *context, *stream, *thread;
	size_t first = seen->n;
	int r = ts_sbt_arrays_new(reader, i, columns, &arrays);

	if (r)
		return r < 0 ? r : 0;
	device = column(arrays, "device");
	context = column(arrays, "context");
	stream = column(arrays, "stream");
	thread = column(arrays, "thread");
	for (uint32_t k = 0; !r && k < ts_sbt_arrays_rows(arrays); k++) {
		if (is_device) {
			place.device = device[k];
			place.context = context[k];
			place.stream = stream[k];
		} else {
			place.thread = thread[k];
		}
		r = see_new(seen, first, &place);
	}
	see_once(seen, first);
	return r;
}

static int add_counters(struct ts_tiles *tiles, struct ts_sbt_reader *reader, size_t i)
{
	const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);
	const struct ts_row_schema *schema = ts_row_schema(block->type);
	ts_cleanup(ts_sbt_arrays_freep) struct ts_sbt_arrays *arrays = NULL;
	struct ts_lane lane = {.session = block->session, .kind = TS_LANE_COUNTER};
	const uint32_t *name, *domain;
	int r = ts_sbt_arrays_new(reader, i,
				  column_bit(schema, "name") | column_bit(schema, "domain"),
				  &arrays);

	if (r)
		return r < 0 ? r : 0;
	name = column(arrays, "name");
	domain = column(arrays, "domain");
	for (uint32_t k = 0; !r && k < ts_sbt_arrays_rows(arrays); k++) {
		lane.name = name[k];
		lane.domain = domain[k];
		r = add_lane(tiles, &lane, 1);
	}
	return r;
}

/* ---- units ----------------------------------------------------------------------------------- */

static uint64_t unit_key(uint32_t session, unsigned tile_class)
{
	return (uint64_t)session << 8 | tile_class;
}

static int add_block(struct ts_tiles *tiles, struct ts_map *units, const struct ts_sbt_block *block,
		     size_t i)
{
	enum ts_tile_class tile_class = ts_tile_class_of(block->type);
	uint64_t number = ts_map_get(units, unit_key(block->session, tile_class));
	struct ts_tile_unit *unit;

	if (!number) {
		if (TS_GROW(tiles->units, tiles->units_capacity, tiles->n_units + 1))
			return -ENOMEM;
		tiles->units[tiles->n_units++] =
			(struct ts_tile_unit){.session = block->session, .tile_class = tile_class};
		number = tiles->n_units;
		if (ts_map_set(units, unit_key(block->session, tile_class), number))
			return -ENOMEM;
	}
	unit = &tiles->units[number - 1];
	if (i > UINT32_MAX)
		return TS_SBT_E_LIMIT;
	if (TS_GROW(unit->blocks, unit->capacity, unit->n_blocks + 1))
		return -ENOMEM;
	unit->blocks[unit->n_blocks++] = (uint32_t)i;
	unit->n_rows += block->n_rows;
	return 0;
}

static int by_earliest(const void *left, const void *right, void *data)
{
	const struct ts_sbt_reader *reader = data;
	const uint32_t *a = left, *b = right;
	uint64_t at_a = ts_sbt_reader_block(reader, *a)->earliest_ns;
	uint64_t at_b = ts_sbt_reader_block(reader, *b)->earliest_ns;

	if (at_a != at_b)
		return at_a < at_b ? -1 : 1;
	return (*a > *b) - (*a < *b);
}

/* Returns the unit of a lane, or TS_TILE_NO_LANE. */
static uint32_t unit_of(const struct ts_lane *lane, const struct ts_map *units)
{
	static const uint8_t classes[TS_LANE_KINDS] = {
		[TS_LANE_PROCESS] = TS_TILE_CLASSES,	  [TS_LANE_THREAD] = TS_TILE_CALLS,
		[TS_LANE_RANGES] = TS_TILE_RANGES,	  [TS_LANE_KERNEL_EVENTS] = TS_TILE_EVENTS,
		[TS_LANE_HOST_SAMPLES] = TS_TILE_SAMPLES, [TS_LANE_COUNTER] = TS_TILE_COUNTERS,
		[TS_LANE_DEVICE] = TS_TILE_OPERATIONS,	  [TS_LANE_COMPUTE] = TS_TILE_OPERATIONS,
		[TS_LANE_COPY] = TS_TILE_OPERATIONS,	  [TS_LANE_STREAM] = TS_TILE_OPERATIONS,
	};
	uint8_t tile_class = classes[lane->kind];
	uint64_t unit = ts_map_get(units, unit_key(lane->session, tile_class));

	return unit ? (uint32_t)unit - 1 : TS_TILE_NO_LANE;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* Threads come before counters, and these before devices. */
static unsigned group_of(const struct ts_lane *lane)
{
	if (lane->kind == TS_LANE_PROCESS)
		return 0;
	if (lane->kind < TS_LANE_COUNTER)
		return 1;
	return lane->kind == TS_LANE_COUNTER ? 2 : 3;
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_order(const void *left, const void *right)
{
	const struct ts_lane *a = &((const struct ts_tile_lane *)left)->lane;
	const struct ts_lane *b = &((const struct ts_tile_lane *)right)->lane;
	int r = compare(a->session, b->session);

	r = r ? r : compare(group_of(a), group_of(b));
	r = r ? r : compare(a->thread, b->thread);
	r = r ? r : compare(a->device, b->device);
	r = r ? r : compare(a->kind, b->kind);
	r = r ? r : compare(a->direction, b->direction);
	r = r ? r : compare(a->context, b->context);
	r = r ? r : compare(a->stream, b->stream);
	r = r ? r : compare(a->domain, b->domain);
	return r ? r : compare(a->name, b->name);
}

static uint32_t parent_of(const struct ts_tiles *tiles, const struct ts_lane *lane)
{
	struct ts_lane parent = {.session = lane->session};
	uint32_t found;

	switch (lane->kind) {
	case TS_LANE_PROCESS:
		return 0;
	case TS_LANE_RANGES:
	case TS_LANE_KERNEL_EVENTS:
	case TS_LANE_HOST_SAMPLES:
		parent.kind = TS_LANE_THREAD;
		parent.thread = lane->thread;
		break;
	case TS_LANE_COMPUTE:
	case TS_LANE_COPY:
	case TS_LANE_STREAM:
		parent.kind = TS_LANE_DEVICE;
		parent.device = lane->device;
		break;
	default:
		parent.kind = TS_LANE_PROCESS;
	}
	found = ts_tile_lane_find(tiles, &parent);
	return found == TS_TILE_NO_LANE ? 0 : found + 1;
}

static void find_relatives(struct ts_tiles *tiles, struct ts_tile_lane *lane)
{
	struct ts_lane place = {.session = lane->lane.session, .device = lane->lane.device};

	place.kind = TS_LANE_DEVICE;
	lane->device_lane = ts_tile_lane_find(tiles, &place);
	place.kind = TS_LANE_COMPUTE;
	lane->compute_lane = ts_tile_lane_find(tiles, &place);
	place.kind = TS_LANE_COPY;
	for (unsigned i = 0; i < TS_LANE_DIRECTIONS; i++) {
		place.direction = i;
		lane->copy_lanes[i] = ts_tile_lane_find(tiles, &place);
	}
}

static int order_lanes(struct ts_tiles *tiles, const struct ts_map *units)
{
	if (tiles->n_lanes > tiles->n_lanes_before)
		qsort(tiles->lanes + tiles->n_lanes_before, tiles->n_lanes - tiles->n_lanes_before,
		      sizeof(*tiles->lanes), by_order);
	ts_hashindex_clear(&tiles->by_place);
	for (size_t i = 0; i < tiles->n_lanes; i++) {
		tiles->lanes[i].lane.id = (uint32_t)i + 1;
		if (ts_hashindex_add(&tiles->by_place, hash_place(tiles, &tiles->lanes[i].lane),
				     (uint32_t)i))
			return -ENOMEM;
	}
	for (size_t i = 0; i < tiles->n_lanes; i++) {
		struct ts_tile_lane *lane = &tiles->lanes[i];

		lane->lane.parent = parent_of(tiles, &lane->lane);
		lane->lane.definition =
			ts_tile_thread_last(tiles, lane->lane.session, lane->lane.thread);
		lane->unit = unit_of(&lane->lane, units);
		find_relatives(tiles, lane);
	}
	return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Maps a session to a bit per direction of its copies. */
static int read_directions(struct ts_sbt_reader *reader, struct ts_map *directions)
{
	for (size_t i = 0; i < ts_sbt_reader_n_sessions(reader); i++) {
		struct ts_sbt_cursor_options options = {
			.types = TS_ROW_BIT(TS_ROW_MEMCPY),
			.session = ts_sbt_reader_session_at(reader, i)->session};
		ts_cleanup(ts_sbt_totals_freep) struct ts_sbt_totals *totals = NULL;
		unsigned bits = 0;
		int r = ts_sbt_totals_new(reader, &options, &totals);

		if (r)
			return r;
		for (size_t k = 0; k < ts_sbt_totals_count(totals); k++) {
			struct ts_row_memcpy row;

			ts_sbt_total_row(ts_sbt_totals_at(totals, k), &row);
			bits |= 1u << ts_tile_direction(row.copy_kind);
		}
		if (ts_map_set(directions, options.session, bits))
			return -ENOMEM;
	}
	return 0;
}

/* Calls `add` for each place, with the estimated number of its rows. Places are by block. */
static int for_places(struct ts_tiles *tiles, struct ts_sbt_reader *reader, const struct seen *seen,
		      void *data,
		      int (*add)(struct ts_tiles *tiles, const struct ts_sbt_block *block,
				 const struct ts_sbt_place *place, void *data, uint64_t n_rows))
{
	int r = 0;

	for (size_t i = 0, n; !r && i < seen->n; i += n) {
		const struct ts_sbt_place *first = &seen->at[i];
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, first->block);

		for (n = 1; i + n < seen->n && seen->at[i + n].block == first->block &&
			    seen->at[i + n].is_thread == first->is_thread;
		     n++)
			;
		for (size_t k = 0; !r && k < n; k++)
			r = add(tiles, block, &first[k], data, (block->n_rows + n - 1) / n);
	}
	return r;
}

/* Notes which lane has rows in the block. */
static int add_part(struct ts_tiles *tiles, const struct ts_sbt_block *block,
		    const struct ts_sbt_place *place, void *data, uint64_t n_rows)
{
	static const uint8_t kinds[TS_TILE_CLASSES] = {
		[TS_TILE_OPERATIONS] = TS_LANE_STREAM,	  [TS_TILE_CALLS] = TS_LANE_THREAD,
		[TS_TILE_RANGES] = TS_LANE_RANGES,	  [TS_TILE_EVENTS] = TS_LANE_KERNEL_EVENTS,
		[TS_TILE_SAMPLES] = TS_LANE_HOST_SAMPLES, [TS_TILE_COUNTERS] = TS_LANE_COUNTER,
	};
	enum ts_tile_class tile_class = ts_tile_class_of(block->type);
	struct ts_lane lane = {.session = block->session};
	struct ts_tile_unit *unit;
	uint32_t found;

	if (tile_class == TS_TILE_CLASSES || place->is_thread == (tile_class == TS_TILE_OPERATIONS))
		return 0;
	lane.kind = kinds[tile_class];
	lane.device = place->device;
	lane.context = place->context;
	lane.stream = place->stream;
	lane.thread = place->thread;
	found = ts_tile_lane_find(tiles, &lane);
	if (found == TS_TILE_NO_LANE || tiles->lanes[found].unit == TS_TILE_NO_LANE)
		return 0;
	unit = &tiles->units[tiles->lanes[found].unit];
	if (TS_GROW(unit->parts, unit->parts_capacity, unit->n_parts + 1))
		return -ENOMEM;
	unit->parts[unit->n_parts++] = (struct ts_tile_part){.block = (uint32_t)place->block,
							     .lane = found,
							     .n_rows = (uint32_t)n_rows};
	return 0;
}

static int by_block(const void *left, const void *right)
{
	const struct ts_tile_part *a = left, *b = right;

	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (a->lane > b->lane) - (a->lane < b->lane);
}

/* Lists the places of all blocks of lanes, by block, and the blocks of the units. */
static int see_blocks(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		      const struct ts_sbt_places *places, struct ts_map *units, struct seen *seen)
{
	int r = 0;

	for (size_t i = 0; !r && i < places->n; i++)
		r = see(seen, &places->at[i]);
	for (size_t i = 0; !r && i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);
		enum ts_tile_class tile_class = ts_tile_class_of(block->type);
		unsigned needed = tile_class == TS_TILE_OPERATIONS ? TS_SBT_PLACES_STREAMS
								   : TS_SBT_PLACES_THREADS;

		if (tile_class == TS_TILE_CLASSES || !block->n_rows || !block->session)
			continue;
		if (tile_class == TS_TILE_COUNTERS)
			r = add_counters(tiles, reader, i);
		else if (!(places->known[i] & needed))
			r = see_decoded(seen, reader, i);
		r = r ? r : add_block(tiles, units, block, i);
	}
	return r;
}

static int add_place(struct ts_tiles *tiles, const struct ts_sbt_block *block,
		     const struct ts_sbt_place *place, void *data, uint64_t n_rows)
{
	const struct ts_map *directions = data;
	enum ts_tile_class tile_class = ts_tile_class_of(block->type);

	if (tile_class == TS_TILE_CLASSES || tile_class == TS_TILE_COUNTERS || !block->session ||
	    place->is_thread == (tile_class == TS_TILE_OPERATIONS))
		return 0;
	if (place->is_thread)
		return add_thread(tiles, block->session, block->type, place->thread, n_rows);
	return add_stream(tiles, block->session, block->type, place,
			  (unsigned)ts_map_get(directions, block->session), n_rows);
}

/* Finds the threads that have several definitions. */
static int read_threads(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
			const struct seen *seen)
{
	struct ts_map with_calls = {0};
	int r = 0;

	for (size_t i = 0; !r && i < seen->n; i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, seen->at[i].block);
		enum ts_tile_class tile_class = ts_tile_class_of(block->type);

		if (seen->at[i].is_thread &&
		    (tile_class == TS_TILE_CALLS || tile_class == TS_TILE_RANGES))
			r = ts_tile_thread_has_calls(&with_calls, block->session,
						     seen->at[i].thread);
	}
	r = r ? r : ts_tile_threads_read(tiles, reader, &with_calls);
	ts_map_deinit(&with_calls);
	return r;
}

static int read_all(struct ts_tiles *tiles, struct ts_sbt_reader *reader, struct ts_map *units,
		    struct ts_map *directions, struct seen *seen)
{
	struct ts_sbt_places places;
	int r = read_directions(reader, directions);

	r = r ? r : ts_sbt_reader_places(reader, &places);
	if (r)
		return r;
	for (size_t i = 0; !r && i < ts_sbt_reader_n_sessions(reader); i++) {
		struct ts_lane lane = {.kind = TS_LANE_PROCESS};

		lane.session = ts_sbt_reader_session_at(reader, i)->session;
		r = add_lane(tiles, &lane, 0);
	}
	r = r ? r : see_blocks(tiles, reader, &places, units, seen);
	ts_sbt_places_deinit(&places);
	r = r ? r : read_threads(tiles, reader, seen);
	r = r ? r : for_places(tiles, reader, seen, directions, add_place);
	r = r ? r : order_lanes(tiles, units);
	return r ? r : for_places(tiles, reader, seen, NULL, add_part);
}

static int init_units(struct ts_tiles *tiles, struct ts_sbt_reader *reader)
{
	for (size_t i = 0; i < tiles->n_units; i++) {
		struct ts_tile_unit *unit = &tiles->units[i];

		qsort_r(unit->blocks, unit->n_blocks, sizeof(uint32_t), by_earliest, reader);
		/* Those of blocks without summaries were added last. */
		if (unit->n_parts)
			qsort(unit->parts, unit->n_parts, sizeof(*unit->parts), by_block);
		unit->lock = malloc(sizeof(*unit->lock));
		if (!unit->lock)
			return -ENOMEM;
		pthread_mutex_init(unit->lock, NULL);
	}
	return 0;
}

/* Adds the lanes of earlier tiles in their order. */
static int add_before(struct ts_tiles *tiles, const struct ts_tiles *before)
{
	int r = 0;

	for (size_t i = 0; !r && before && i < before->n_lanes; i++) {
		struct ts_lane lane = before->lanes[i].lane;

		lane.id = lane.parent = 0;
		r = add_lane(tiles, &lane, 0);
	}
	tiles->n_lanes_before = tiles->n_lanes;
	return r;
}

int ts_tile_lanes_read(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		       const struct ts_tiles *before)
{
	struct ts_map units = {0}, directions = {0};
	struct seen seen = {0};
	int r;

	ts_hashindex_seed(&tiles->by_place);
	r = add_before(tiles, before);
	r = r ? r : read_all(tiles, reader, &units, &directions, &seen);
	free(seen.at);
	ts_map_deinit(&units);
	ts_map_deinit(&directions);
	return r ? r : init_units(tiles, reader);
}
