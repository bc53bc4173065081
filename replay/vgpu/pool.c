/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools, for stream-ordered allocation. A pool holds chunks of its device's memory, whole granules each, and gives out blocks of
 * them: the first place in which one fits, else a new chunk. A block that is freed is the same stream's to have again at once, though
 * operations that were queued before may still work on it: until the stream has come to its release, what was allocated there
 * stays a range that kernels may touch, as far as nothing newer lies on it. Others may have it when the release has been carried out, or
 * when they wait for what was behind it. Chunks of which nothing is in use go back to the device when somebody waits and the
 * pool holds more than its threshold, when it is trimmed, and when the device has nothing else left.
 */
#include <errno.h>
#include <stdlib.h>

#include "replay/vgpu/internal.h"

enum block_state {
	BLOCK_FREE,
	BLOCK_FREED, /* its release is queued */
	BLOCK_USED,
};

struct block {
	struct block *next; /* in its chunk, ascending */
	uint64_t start, bytes;
	enum block_state state;
	/* FREED: the release; FREE: what it was before, where others may not have it yet; 0: anybody may. */
	uint32_t stream_id;
	uint64_t seq;
	/* USED: what was asked for; its range reaches to the block's end until a release of what lay there before, if that is one. */
	uint64_t asked_bytes;
	uint32_t wide_stream_id;
	uint64_t wide_seq;
};

struct ts_vgpu_chunk {
	struct ts_vgpu_pool *pool;
	struct ts_vgpu_chunk *next;
	uint64_t start, bytes;
	uint64_t idle_bytes; /* not used */
	uint64_t
		n_pending; /* releases that have yet to come here, of what lies there or lay there */
	struct block *blocks;
	bool is_loose; /* something became free since somebody waited */
};

struct ts_vgpu_pool {
	struct ts_vgpu_device *device;
	struct ts_vgpu_pool *next;
	const void *user;
	struct ts_vgpu_chunk *chunks; /* in the order in which they were had */
	struct ts_vgpu_pool_rules rules;
	struct ts_vgpu_pool_use use;
	uint64_t n_used, n_pending; /* blocks; releases */
	bool is_loose;
	bool is_closing;
};

int ts_vgpu_pool_new(struct ts_vgpu_device *device, const void *user,
		     struct ts_vgpu_pool **ret_pool)
{
	struct ts_vgpu_pool *pool = calloc(1, sizeof(*pool));

	if (!pool)
		return -ENOMEM;
	pool->device = device;
	pool->user = user;
	pool->rules.follow_events = true;
	pool->rules.opportunistic = true;
	ts_vgpu_lock(device->vgpu);
	pool->next = device->pools;
	device->pools = pool;
	ts_vgpu_unlock(device->vgpu);
	*ret_pool = pool;
	return 0;
}

static void chunk_free(struct ts_vgpu_chunk *chunk)
{
	struct block *block, *next;

	for (block = chunk->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	free(chunk);
}

static void pool_delete(struct ts_vgpu_pool *pool)
{
	struct ts_vgpu_pool **at = &pool->device->pools;
	struct ts_vgpu_chunk *chunk, *next;

	while (*at != pool)
		at = &(*at)->next;
	*at = pool->next;
	for (chunk = pool->chunks; chunk; chunk = next) {
		next = chunk->next;
		ts_vgpu_memory_give(pool->device, chunk->start, chunk->bytes);
		chunk_free(chunk);
	}
	free(pool);
}

static void close_if_idle(struct ts_vgpu_pool *pool)
{
	if (pool->is_closing && !pool->n_used && !pool->n_pending)
		pool_delete(pool);
}

void ts_vgpu_pool_free(struct ts_vgpu_pool *pool)
{
	struct ts_vgpu *vgpu;

	if (!pool)
		return;
	vgpu = pool->device->vgpu;
	ts_vgpu_lock(vgpu);
	pool->is_closing = true;
	pool->user = NULL;
	close_if_idle(pool);
	ts_vgpu_unlock(vgpu);
}

void ts_vgpu_pools_deinit(struct ts_vgpu_device *device)
{
	while (device->pools)
		pool_delete(device->pools);
}

/* ---- giving back -------------------------------------------------------------------------------- */

static bool can_merge(const struct block *a, const struct block *b)
{
	return a->state == BLOCK_FREE && b->state == BLOCK_FREE && a->stream_id == b->stream_id;
}

/* What is free and lies side by side is one. */
static void merge(struct ts_vgpu_chunk *chunk)
{
	for (struct block *block = chunk->blocks; block; block = block->next)
		while (block->next && can_merge(block, block->next)) {
			struct block *next = block->next;

			block->bytes += next->bytes;
			block->seq = ts_vgpu_max(block->seq, next->seq);
			block->next = next->next;
			free(next);
		}
}

static bool is_unused(const struct ts_vgpu_chunk *chunk)
{
	if (chunk->n_pending)
		return false;
	for (const struct block *block = chunk->blocks; block; block = block->next)
		if (block->state != BLOCK_FREE)
			return false;
	return true;
}

/* As long as it holds more than that: with `least` no chunk goes without which it would hold less. */
static void trim(struct ts_vgpu_pool *pool, uint64_t keep_bytes, bool least)
{
	struct ts_vgpu_chunk **at = &pool->chunks, *chunk;

	while ((chunk = *at) && pool->use.reserved_bytes > keep_bytes) {
		if (chunk->idle_bytes < chunk->bytes || !is_unused(chunk) ||
		    (least && pool->use.reserved_bytes - chunk->bytes < keep_bytes)) {
			at = &chunk->next;
			continue;
		}
		*at = chunk->next;
		pool->use.reserved_bytes -= chunk->bytes;
		ts_vgpu_memory_give(pool->device, chunk->start, chunk->bytes);
		chunk_free(chunk);
	}
}

void ts_vgpu_pool_trim(struct ts_vgpu_pool *pool, uint64_t keep_bytes)
{
	ts_vgpu_lock(pool->device->vgpu);
	trim(pool, keep_bytes, true);
	ts_vgpu_unlock(pool->device->vgpu);
}

void ts_vgpu_pools_trim(struct ts_vgpu_device *device)
{
	for (struct ts_vgpu_pool *pool = device->pools; pool; pool = pool->next)
		trim(pool, 0, false);
}

void ts_vgpu_pools_settle(struct ts_vgpu_device *device)
{
	for (struct ts_vgpu_pool *pool = device->pools; pool; pool = pool->next) {
		if (!pool->is_loose)
			continue;
		pool->is_loose = false;
		for (struct ts_vgpu_chunk *chunk = pool->chunks; chunk; chunk = chunk->next) {
			if (!chunk->is_loose)
				continue;
			chunk->is_loose = false;
			for (struct block *block = chunk->blocks; block; block = block->next)
				if (block->state == BLOCK_FREE)
					block->stream_id = 0;
			merge(chunk);
		}
		trim(pool, pool->rules.threshold_bytes, false);
	}
}

static struct block *block_at(const struct ts_vgpu_chunk *chunk, uint64_t start)
{
	struct block *block = chunk->blocks;

	while (block && block->start != start)
		block = block->next;
	return block;
}

static void loosen(struct ts_vgpu_chunk *chunk)
{
	chunk->is_loose = true;
	chunk->pool->is_loose = true;
	merge(chunk);
}

void ts_vgpu_pool_give(struct ts_vgpu_chunk *chunk, uint64_t start)
{
	struct ts_vgpu_pool *pool = chunk->pool;
	struct block *block = block_at(chunk, start);

	if (!block || block->state != BLOCK_USED)
		return;
	block->state = BLOCK_FREE;
	block->stream_id = 0;
	chunk->idle_bytes += block->bytes;
	pool->use.used_bytes -= block->asked_bytes;
	pool->n_used--;
	loosen(chunk);
	close_if_idle(pool);
}

void ts_vgpu_pool_free_async(struct ts_vgpu_range *range, uint32_t stream_id, uint64_t seq)
{
	struct ts_vgpu_chunk *chunk = range->chunk;
	struct ts_vgpu_pool *pool = chunk->pool;
	struct block *block = block_at(chunk, range->start);

	block->state = BLOCK_FREED;
	block->stream_id = stream_id;
	block->seq = seq;
	chunk->idle_bytes += block->bytes;
	pool->use.used_bytes -= block->asked_bytes;
	pool->n_used--;
	pool->n_pending++;
	chunk->n_pending++;
}

void ts_vgpu_pool_released(struct ts_vgpu_chunk *chunk, uint32_t stream_id, uint64_t seq)
{
	struct ts_vgpu_pool *pool = chunk->pool;
	struct ts_vgpu *vgpu = pool->device->vgpu;
	struct ts_vgpu_range *range;

	for (struct block *block = chunk->blocks; block; block = block->next) {
		range = ts_vgpu_range_find(vgpu, block->start);
		if (block->state == BLOCK_FREED && block->stream_id == stream_id &&
		    block->seq == seq) {
			if (range)
				ts_vgpu_range_forget(vgpu, range);
			block->state = BLOCK_FREE;
			if (pool->rules.opportunistic)
				block->stream_id = 0;
		} else if (block->state == BLOCK_USED && block->wide_stream_id == stream_id &&
			   block->wide_seq == seq) {
			range->bytes = block->asked_bytes;
			range->asked_bytes = 0;
			block->wide_stream_id = 0;
		}
	}
	chunk->n_pending--;
	loosen(chunk);
	pool->n_pending--;
	close_if_idle(pool);
}

/* ---- giving out --------------------------------------------------------------------------------- */

/* What the stream does next comes behind that operation. */
static bool is_behind(const struct ts_vgpu_pool *pool, const struct ts_vgpu_stream *stream,
		      const struct block *block)
{
	if (stream->id == block->stream_id)
		return true;
	for (size_t i = 0; pool->rules.follow_events && i < TS_VGPU_MAX_BEHIND; i++)
		if (stream->behind[i].stream_id == block->stream_id &&
		    stream->behind[i].seq >= block->seq)
			return true;
	return false;
}

static bool is_usable(const struct ts_vgpu_pool *pool, const struct ts_vgpu_stream *stream,
		      const struct block *block)
{
	if (block->state == BLOCK_USED)
		return false;
	return (block->state == BLOCK_FREE && !block->stream_id) || is_behind(pool, stream, block);
}

/* The first of blocks side by side that have so many bytes; NULL: there are none. */
static struct block *find(const struct ts_vgpu_pool *pool, const struct ts_vgpu_stream *stream,
			  uint64_t bytes, struct ts_vgpu_chunk **ret_chunk)
{
	for (struct ts_vgpu_chunk *chunk = pool->chunks; chunk; chunk = chunk->next) {
		struct block *first = NULL;
		uint64_t run = 0;

		if (chunk->idle_bytes < bytes)
			continue;
		for (struct block *block = chunk->blocks; block; block = block->next) {
			if (!is_usable(pool, stream, block)) {
				run = 0;
				continue;
			}
			if (!run)
				first = block;
			run += block->bytes;
			if (run >= bytes) {
				*ret_chunk = chunk;
				return first;
			}
		}
	}
	return NULL;
}

/* Another chunk, with room for so many bytes. */
static int grow(struct ts_vgpu_pool *pool, uint64_t bytes, struct ts_vgpu_chunk **ret_chunk)
{
	uint64_t max = pool->rules.max_bytes, start;
	struct ts_vgpu_chunk *chunk, **end = &pool->chunks;
	int r;

	bytes = (bytes + TS_VGPU_GRANULE_BYTES - 1) / TS_VGPU_GRANULE_BYTES * TS_VGPU_GRANULE_BYTES;
	if (max && (bytes > max || pool->use.reserved_bytes > max - bytes))
		return TS_VGPU_E_OUT_OF_MEMORY;
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	chunk->blocks = calloc(1, sizeof(*chunk->blocks));
	r = chunk->blocks ? ts_vgpu_memory_take(pool->device, bytes, &start) : -ENOMEM;
	if (r) {
		chunk_free(chunk);
		return r;
	}
	chunk->pool = pool;
	chunk->start = chunk->blocks->start = start;
	chunk->bytes = chunk->idle_bytes = chunk->blocks->bytes = bytes;
	while (*end)
		end = &(*end)->next;
	*end = chunk;
	pool->use.reserved_bytes += bytes;
	pool->use.reserved_high_bytes =
		ts_vgpu_max(pool->use.reserved_high_bytes, pool->use.reserved_bytes);
	*ret_chunk = chunk;
	return 0;
}

/* Up to `to` something newer lies there now. */
static void uncover(struct ts_vgpu *vgpu, const struct block *block, uint64_t to)
{
	struct ts_vgpu_range *range = ts_vgpu_range_find(vgpu, block->start);
	uint64_t cut = to - block->start;

	if (!range)
		return;
	if (cut >= range->bytes) {
		ts_vgpu_range_forget(vgpu, range);
		return;
	}
	range->start += cut;
	range->backing += cut;
	range->bytes -= cut;
}

/* Makes one used block of what begins with `first`; `rest` is for what is left of the last one, and used up. */
static void take(struct ts_vgpu_chunk *chunk, struct block *first, uint64_t bytes,
		 struct block *rest)
{
	struct ts_vgpu *vgpu = chunk->pool->device->vgpu;
	uint64_t end = first->start + bytes;
	struct block *block = first, *next;
	uint32_t wide_stream_id = 0;
	uint64_t wide_seq = 0;

	for (;; block = next) {
		uint64_t block_end = block->start + block->bytes;

		if (block->state == BLOCK_FREED) {
			wide_stream_id = block->stream_id;
			wide_seq = block->seq;
			uncover(vgpu, block, block_end < end ? block_end : end);
		}
		next = block->next;
		if (block_end > end) {
			*rest = *block;
			rest->start = end;
			rest->bytes = block_end - end;
			next = rest;
		} else if (block_end == end) {
			free(rest);
		}
		if (block != first)
			free(block);
		if (block_end >= end)
			break;
	}
	first->next = next;
	first->bytes = bytes;
	first->state = BLOCK_USED;
	first->wide_stream_id = wide_stream_id;
	first->wide_seq = wide_seq;
	chunk->idle_bytes -= bytes;
}

static int alloc(struct ts_vgpu_pool *pool, struct ts_vgpu_stream *stream, size_t bytes,
		 uint64_t *ret_address)
{
	struct ts_vgpu_device *device = pool->device;
	uint64_t rounded =
		(bytes + TS_VGPU_ALIGN_BYTES - 1) / TS_VGPU_ALIGN_BYTES * TS_VGPU_ALIGN_BYTES;
	struct ts_vgpu_chunk *chunk;
	struct block *block = find(pool, stream, rounded, &chunk), *rest;
	struct ts_vgpu_range range;
	int r = block ? 0 : grow(pool, rounded, &chunk);

	if (r)
		return r;
	rest = malloc(sizeof(*rest));
	if (!rest)
		return -ENOMEM;
	if (!block)
		block = chunk->blocks;
	take(chunk, block, rounded, rest);
	block->asked_bytes = bytes;
	range = (struct ts_vgpu_range){
		.start = block->start,
		.bytes = block->wide_stream_id ? rounded : bytes,
		.asked_bytes = block->wide_stream_id ? bytes : 0,
		.kind = TS_VGPU_MEMORY_DEVICE,
		.device = device->index,
		.context = stream->context,
		.user = pool->user,
		.backing = device->backing + (block->start - (uint64_t)(uintptr_t)device->space),
		.chunk = chunk,
	};
	pool->use.used_bytes += bytes;
	pool->n_used++;
	r = ts_vgpu_range_insert(device->vgpu, &range);
	if (r) {
		ts_vgpu_pool_give(chunk, block->start);
		return r;
	}
	pool->use.used_high_bytes = ts_vgpu_max(pool->use.used_high_bytes, pool->use.used_bytes);
	*ret_address = block->start;
	return 0;
}

int ts_vgpu_pool_alloc(struct ts_vgpu_pool *pool, struct ts_vgpu_stream *stream, size_t bytes,
		       uint64_t *ret_address)
{
	int r;

	if (!bytes)
		return -EINVAL;
	if (bytes > pool->device->space_bytes)
		return TS_VGPU_E_OUT_OF_MEMORY;
	ts_vgpu_lock(pool->device->vgpu);
	r = alloc(pool, stream, bytes, ret_address);
	ts_vgpu_unlock(pool->device->vgpu);
	return r;
}

/* ---- asking ------------------------------------------------------------------------------------- */

void ts_vgpu_pool_ask(struct ts_vgpu_pool *pool, struct ts_vgpu_pool_rules *ret_rules,
		      struct ts_vgpu_pool_use *ret_use)
{
	ts_vgpu_lock(pool->device->vgpu);
	if (ret_rules)
		*ret_rules = pool->rules;
	if (ret_use)
		*ret_use = pool->use;
	ts_vgpu_unlock(pool->device->vgpu);
}

void ts_vgpu_pool_rule(struct ts_vgpu_pool *pool, const struct ts_vgpu_pool_rules *rules)
{
	ts_vgpu_lock(pool->device->vgpu);
	pool->rules = *rules;
	pool->is_loose = true;
	ts_vgpu_unlock(pool->device->vgpu);
}

void ts_vgpu_pool_forget_high(struct ts_vgpu_pool *pool, bool reserved)
{
	ts_vgpu_lock(pool->device->vgpu);
	if (reserved)
		pool->use.reserved_high_bytes = pool->use.reserved_bytes;
	else
		pool->use.used_high_bytes = pool->use.used_bytes;
	ts_vgpu_unlock(pool->device->vgpu);
}
