/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes a block to items: times, key and lane of each row. Items of the last used blocks are kept
 * in a cache that all threads share. tile-merge.c calls this module.
 */
#include "proto/abi/grow.h"
#include "replay/report/tiles/tiles-internal.h"
#include "sbt/arrays.h"

/* Memory of the blocks that are kept: two views of as many rows as are read from blocks. */
#define CACHE_BYTES (UINT64_C(24) << 20)

/* ---- decoding -------------------------------------------------------------------------------- */

/* Columns of a block; NULL: the type has no such column. */
struct columns {
	const uint64_t *start_ns, *end_ns;
	const uint32_t *device, *context, *stream, *thread, *name, *domain, *kind, *stack;
	const uint16_t *domain16, *cbid;
	const uint8_t *copy_kind;
	const uint32_t *reason, *syscall, *fault, *memory, *operation;
};

static const char *const wanted[] = {"start_ns",  "end_ns",   "device",	 "context", "stream",
				     "thread",	  "name",     "domain",	 "cbid",    "kind",
				     "copy_kind", "reason",   "syscall", "fault",   "memory",
				     "stack",	  "operation"};

static uint64_t wanted_columns(const struct ts_row_schema *schema)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < TS_ARRAY_LEN(wanted); i++) {
		int column = ts_row_column(schema, wanted[i]);

		if (column >= 0)
			bits |= TS_SBT_COLUMN(column);
	}
	return bits;
}

static const void *get(const struct ts_sbt_arrays *arrays, const char *name)
{
	return ts_sbt_arrays_column(arrays, ts_row_column(ts_sbt_arrays_schema(arrays), name));
}

static void get_columns(const struct ts_sbt_arrays *arrays, uint32_t type,
			struct columns *ret_columns)
{
	*ret_columns = (struct columns){
		.start_ns = get(arrays, "start_ns"),
		.end_ns = get(arrays, "end_ns"),
		.device = get(arrays, "device"),
		.context = get(arrays, "context"),
		.stream = get(arrays, "stream"),
		.thread = get(arrays, "thread"),
		.name = get(arrays, "name"),
		.kind = get(arrays, "kind"),
		.stack = get(arrays, "stack"),
		.copy_kind = get(arrays, "copy_kind"),
		.reason = get(arrays, "reason"),
		.syscall = get(arrays, "syscall"),
		.fault = get(arrays, "fault"),
		.memory = get(arrays, "memory"),
		.operation = get(arrays, "operation"),
	};
	if (type == TS_ROW_API) {
		ret_columns->domain16 = get(arrays, "domain");
		ret_columns->cbid = get(arrays, "cbid");
	} else {
		ret_columns->domain = get(arrays, "domain");
	}
}

static uint32_t key_of(uint32_t session, uint32_t type, const struct columns *columns, uint32_t i)
{
	switch (type) {
	case TS_ROW_API:
		return ts_tile_key(type, (uint64_t)columns->domain16[i] << 16 | columns->cbid[i]);
	case TS_ROW_KERNEL:
	case TS_ROW_RANGE:
	case TS_ROW_MARK:
	case TS_ROW_COUNTER:
		return ts_tile_key(type, columns->name[i]);
	case TS_ROW_MEMCPY:
		return ts_tile_key(type, columns->copy_kind[i]);
	case TS_ROW_OFF_CPU:
		return ts_tile_key(type, (uint64_t)columns->reason[i] << 16 |
						 (columns->syscall[i] & 0xffff));
	case TS_ROW_PAGE_FAULT:
		return ts_tile_key(type,
				   (uint64_t)columns->fault[i] << 8 | (columns->memory[i] & 0xff));
	case TS_ROW_SYSCALL:
		return ts_tile_key(type, columns->syscall[i]);
	case TS_ROW_BLOCK_IO:
		return ts_tile_key(type, columns->operation[i]);
	case TS_ROW_PRESSURE:
	case TS_ROW_DRIVER:
		return ts_tile_key(type, columns->kind[i]);
	case TS_ROW_SAMPLE:
		return ts_tile_sample_key(session, columns->stack[i]);
	default:
		return ts_tile_key(type, 0);
	}
}

/* Sets the lane's place, and returns true if it differs from the last one. */
static bool place_of(const struct columns *columns, uint32_t i, struct ts_lane *place)
{
	struct ts_lane last = *place;

	switch (place->kind) {
	case TS_LANE_STREAM:
		place->device = columns->device[i];
		place->context = columns->context[i];
		place->stream = columns->stream[i];
		return place->device != last.device || place->context != last.context ||
		       place->stream != last.stream;
	case TS_LANE_COUNTER:
		place->name = columns->name[i];
		place->domain = columns->domain[i];
		return place->name != last.name || place->domain != last.domain;
	default:
		place->thread = columns->thread[i];
		return place->thread != last.thread;
	}
}

/* Lanes of a block are few: the last ones are found without hashing all words. */
#define RECENT 64u

struct recent {
	struct ts_lane place;
	uint32_t lane;
};

static uint32_t find_lane(const struct ts_tiles *tiles, const struct ts_lane *place,
			  struct recent *recent)
{
	struct recent *slot = &recent[(place->device * 31 + place->context * 17 + place->stream +
				       place->thread + place->name) %
				      RECENT];

	if (memcmp(&slot->place, place, sizeof(*place))) {
		slot->lane = ts_tile_lane_find(tiles, place);
		slot->place = *place;
	}
	return slot->lane;
}

static void fill(const struct ts_tiles *tiles, const struct ts_sbt_block *block,
		 const struct columns *columns, struct ts_tile_block *to)
{
	static const uint8_t kinds[TS_TILE_CLASSES] = {
		[TS_TILE_OPERATIONS] = TS_LANE_STREAM,	  [TS_TILE_CALLS] = TS_LANE_THREAD,
		[TS_TILE_RANGES] = TS_LANE_RANGES,	  [TS_TILE_EVENTS] = TS_LANE_KERNEL_EVENTS,
		[TS_TILE_SAMPLES] = TS_LANE_HOST_SAMPLES, [TS_TILE_COUNTERS] = TS_LANE_COUNTER,
	};
	struct ts_lane place = {.session = block->session,
				.kind = kinds[ts_tile_class_of(block->type)]};
	struct recent recent[RECENT] = {0};
	uint32_t lane = TS_TILE_NO_LANE;

	for (uint32_t i = 0; i < to->n; i++) {
		struct ts_tile_item *item = &to->items[i];
		uint64_t start_ns = columns->start_ns[i];
		uint64_t end_ns = columns->end_ns ? columns->end_ns[i] : start_ns;

		item->start_ns = start_ns > tiles->origin_ns ? start_ns - tiles->origin_ns : 0;
		item->end_ns = end_ns > tiles->origin_ns ? end_ns - tiles->origin_ns : 0;
		if (item->end_ns < item->start_ns)
			item->end_ns = item->start_ns;
		item->key = key_of(block->session, block->type, columns, i);
		if (place_of(columns, i, &place) || !i)
			lane = find_lane(tiles, &place, recent);
		item->lane = lane;
	}
}

static int decode(const struct ts_tiles *tiles, struct ts_sbt_reader *reader, uint64_t number,
		  struct ts_tile_block **ret_block)
{
	const struct ts_sbt_block *block = ts_sbt_reader_block(reader, number);
	ts_cleanup(ts_sbt_arrays_freep) struct ts_sbt_arrays *arrays = NULL;
	const struct ts_row_schema *schema = ts_row_schema(block->type);
	uint64_t wanted_bits = wanted_columns(schema);
	struct ts_tile_block *made;
	struct columns columns;
	size_t n_bytes;
	int r;

	if (block->type == TS_ROW_COUNTER)
		wanted_bits |= TS_SBT_COLUMN(ts_row_column(schema, "value"));
	r = ts_sbt_arrays_new(reader, number, wanted_bits, &arrays);
	if (r)
		return r;
	n_bytes = sizeof(*made) +
		  (size_t)ts_sbt_arrays_rows(arrays) *
			  (sizeof(*made->items) +
			   (block->type == TS_ROW_COUNTER ? sizeof(*made->values) : 0));
	made = malloc(n_bytes);
	if (!made)
		return -ENOMEM;
	*made = (struct ts_tile_block){.block = number,
				       .n = ts_sbt_arrays_rows(arrays),
				       .refs = 1,
				       .items = (struct ts_tile_item *)(made + 1),
				       .n_bytes = n_bytes};
	get_columns(arrays, block->type, &columns);
	fill(tiles, block, &columns, made);
	if (block->type == TS_ROW_COUNTER)
		made->values = memcpy(&made->items[made->n], get(arrays, "value"),
				      made->n * sizeof(*made->values));
	*ret_block = made;
	return 0;
}

/* ---- the cache ------------------------------------------------------------------------------- */

int ts_tile_cache_init(struct ts_tile_cache *cache)
{
	*cache = (struct ts_tile_cache){0};
	return -pthread_mutex_init(&cache->lock, NULL);
}

void ts_tile_cache_deinit(struct ts_tile_cache *cache)
{
	for (size_t i = 0; i < cache->n; i++)
		free(cache->at[i]);
	free(cache->at);
	pthread_mutex_destroy(&cache->lock);
}

/* Drops a reference; the caller has the lock. */
static void unref(struct ts_tile_block *block)
{
	if (!--block->refs)
		free(block);
}

/* Drops the least recently used blocks until n_bytes more fit. */
static void make_space(struct ts_tile_cache *cache, uint64_t n_bytes)
{
	while (cache->n && cache->n_bytes + n_bytes > CACHE_BYTES) {
		size_t oldest = 0;

		for (size_t i = 1; i < cache->n; i++)
			if (cache->at[i]->used < cache->at[oldest]->used)
				oldest = i;
		cache->n_bytes -= cache->at[oldest]->n_bytes;
		unref(cache->at[oldest]);
		cache->at[oldest] = cache->at[--cache->n];
	}
}

static struct ts_tile_block *find(struct ts_tile_cache *cache, uint64_t number)
{
	struct ts_tile_block *found = NULL;

	pthread_mutex_lock(&cache->lock);
	for (size_t i = 0; !found && i < cache->n; i++)
		if (cache->at[i]->block == number)
			found = cache->at[i];
	if (found) {
		found->used = ++cache->n_uses;
		found->refs++;
	}
	pthread_mutex_unlock(&cache->lock);
	return found;
}

/* Keeps the block. Another thread may have added the same one: then both are there for a while. */
static void keep_block(struct ts_tile_cache *cache, struct ts_tile_block *block)
{
	pthread_mutex_lock(&cache->lock);
	make_space(cache, block->n_bytes);
	if (block->n_bytes <= CACHE_BYTES && !TS_GROW(cache->at, cache->capacity, cache->n + 1)) {
		cache->at[cache->n++] = block;
		cache->n_bytes += block->n_bytes;
		block->used = ++cache->n_uses;
		block->refs++;
	}
	pthread_mutex_unlock(&cache->lock);
}

int ts_tile_block_get(struct ts_tiles *tiles, struct ts_sbt_reader *reader, uint64_t block,
		      bool keep, struct ts_tile_block **ret_block)
{
	struct ts_tile_block *found = find(&tiles->cache, block);
	int r;

	if (!found) {
		r = decode(tiles, reader, block, &found);
		if (r)
			return r;
		if (keep)
			keep_block(&tiles->cache, found);
	}
	*ret_block = found;
	return 0;
}

void ts_tile_block_release(struct ts_tiles *tiles, struct ts_tile_block *block)
{
	pthread_mutex_lock(&tiles->cache.lock);
	unref(block);
	pthread_mutex_unlock(&tiles->cache.lock);
}
