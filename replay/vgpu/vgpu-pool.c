/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools, for stream-ordered allocation. The pool facade calls the public functions;
 * vgpu-memory.c, vgpu-stream.c, release.c and worker.c call the others under the lock.
 *
 * A pool holds chunks of its device's memory, each of whole granules. A pool allocates blocks of a
 * chunk: from a run that has room, else from a new chunk. A block has one of three states:
 *
 *     FREE  --alloc--> USED         USED --free--> FREE
 *     FREED --alloc--> USED         USED --free_async--> FREED --release carried out--> FREE
 *
 * The stream that frees a block may reuse the block at once, though earlier operations may still
 * access it. Until the stream has reached the release, the old allocation stays a range that
 * kernels may access, except where a newer allocation covers it. Other streams may reuse the block
 * when its release has been carried out, or when they wait for an event behind it.
 *
 * An unused chunk returns to the device in three cases: a thread waits while the pool holds more
 * than its threshold, the pool is trimmed, or the device has no other free memory.
 */
#include <errno.h>
#include <stdlib.h>

#include "replay/vgpu/vgpu-internal.h"

enum block_state {
	BLOCK_FREE,
	BLOCK_FREED, /* its release is queued */
	BLOCK_USED,
};

struct ts_vgpu_block {
	struct ts_vgpu_chunk *chunk;
	struct ts_vgpu_block *prev, *next; /* links in its chunk, ascending */
	uint64_t start, bytes;
	enum block_state state;
	/*
	 * FREED: stream and number of the release. FREE: the same values, if other streams may not
	 * use the block yet; 0: all streams may use it.
	 */
	uint32_t stream_id;
	uint64_t seq;
	/*
	 * For a block that is USED or FREED: the range that kernels access; NULL: the range no
	 * longer exists.
	 */
	struct ts_vgpu_range *range;
	/*
	 * FREED: the block's own release. USED: the release of an earlier allocation at this place;
	 * until it runs, the new range extends to the block's end. NULL: none.
	 */
	struct ts_vgpu_release *release;
	/* Links of blocks with the same release, or of FREE blocks in pool->kept. */
	struct ts_vgpu_block *more, **more_prev;
	uint64_t asked_bytes; /* USED */
	/* In the first block of a run: the run's last block. In the last block: the first one. */
	struct ts_vgpu_block *end;
	/* In the first block of a run: links of its shelf. */
	struct ts_vgpu_block *beside, **beside_prev;
};

/* A queued release. */
struct ts_vgpu_release {
	struct ts_vgpu_chunk *chunk;
	struct ts_vgpu_release *next, **prev; /* links of the chunk's releases */
	/* blocks that change when the release is carried out */
	struct ts_vgpu_block *blocks;
};

struct ts_vgpu_chunk {
	struct ts_vgpu_pool *pool;
	struct ts_vgpu_chunk *next, **prev;
	struct ts_vgpu_chunk *unused_next, **unused_prev;
	uint64_t start, bytes;
	uint64_t idle_bytes; /* bytes that are not used */
	struct ts_vgpu_block *blocks;
	struct ts_vgpu_release *releases; /* queued releases of present and former blocks */
};

/*
 * A run is a sequence of adjacent unused blocks between used blocks or the chunk's ends. Shelf n
 * holds runs of at least 2^n bytes and fewer than 2^(n+1).
 */
#define N_SHELVES 64u
/* Number of blocks of a shelf that a search examines before the pool grows. */
#define MAX_LOOKS 64u

struct ts_vgpu_pool {
	struct ts_vgpu_device *device;
	struct ts_vgpu_pool *next;
	const void *user;
	struct ts_vgpu_chunk *chunks;
	struct ts_vgpu_chunk *unused;
	struct ts_vgpu_block *shelves[N_SHELVES];
	struct ts_vgpu_block *kept; /* FREE blocks that other streams may not use yet */
	struct ts_vgpu_pool_rules rules;
	struct ts_vgpu_pool_use use;
	uint64_t n_used, n_pending; /* USED blocks; queued releases */
	bool is_loose;		    /* memory became free since the last wait */
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

static void more_add(struct ts_vgpu_block **list, struct ts_vgpu_block *block)
{
	block->more = *list;
	block->more_prev = list;
	if (*list)
		(*list)->more_prev = &block->more;
	*list = block;
}

static void more_remove(struct ts_vgpu_block *block)
{
	if (!block->more_prev)
		return;
	*block->more_prev = block->more;
	if (block->more)
		block->more->more_prev = block->more_prev;
	block->more_prev = NULL;
}

static void chunk_free(struct ts_vgpu_chunk *chunk)
{
	struct ts_vgpu_block *block, *next;
	struct ts_vgpu_release *release;

	for (block = chunk->blocks; block; block = next) {
		next = block->next;
		more_remove(block);
		free(block);
	}
	while ((release = chunk->releases)) {
		chunk->releases = release->next;
		free(release);
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
	close_if_idle(pool);
	ts_vgpu_unlock(vgpu);
}

void ts_vgpu_pools_deinit(struct ts_vgpu_device *device)
{
	while (device->pools)
		pool_delete(device->pools);
}

/* ---- runs ------------------------------------------------------------------------------------ */

static bool is_idle(const struct ts_vgpu_block *block)
{
	return block && block->state != BLOCK_USED;
}

static uint64_t run_bytes(const struct ts_vgpu_block *first)
{
	return first->end->start + first->end->bytes - first->start;
}

static unsigned int shelf_of(uint64_t bytes)
{
	return 63 - (unsigned int)__builtin_clzll(bytes);
}

static void run_add(struct ts_vgpu_pool *pool, struct ts_vgpu_block *first,
		    struct ts_vgpu_block *last)
{
	struct ts_vgpu_block **shelf;

	first->end = last;
	last->end = first;
	shelf = &pool->shelves[shelf_of(run_bytes(first))];
	first->beside = *shelf;
	first->beside_prev = shelf;
	if (*shelf)
		(*shelf)->beside_prev = &first->beside;
	*shelf = first;
}

static void run_remove(struct ts_vgpu_block *first)
{
	*first->beside_prev = first->beside;
	if (first->beside)
		first->beside->beside_prev = first->beside_prev;
}

/* Joins a block that stops being used with the runs on both sides. */
static void run_join(struct ts_vgpu_block *block)
{
	struct ts_vgpu_block *first = block, *last = block;

	if (is_idle(block->prev)) {
		first = block->prev->end;
		run_remove(first);
	}
	if (is_idle(block->next)) {
		run_remove(block->next);
		last = block->next->end;
	}
	run_add(block->chunk->pool, first, last);
}

static bool can_merge(const struct ts_vgpu_block *a, const struct ts_vgpu_block *b)
{
	return a && b && a->state == BLOCK_FREE && b->state == BLOCK_FREE &&
	       a->stream_id == b->stream_id;
}

/* Merges two blocks of a run; the bytes do not change. */
static void merge_next(struct ts_vgpu_block *block)
{
	struct ts_vgpu_block *next = block->next;

	block->bytes += next->bytes;
	block->seq = ts_vgpu_max(block->seq, next->seq);
	block->next = next->next;
	if (next->next)
		next->next->prev = block;
	if (!is_idle(next->next)) {
		block->end = next->end;
		next->end->end = block;
	}
	more_remove(next);
	free(next);
}

/* Merges a FREE block with its FREE neighbours of the same stream. */
static void merge(struct ts_vgpu_block *block)
{
	if (can_merge(block, block->next))
		merge_next(block);
	if (can_merge(block->prev, block))
		merge_next(block->prev);
}

/* ---- giving back ----------------------------------------------------------------------------- */

/* Updates the list of unused chunks after a change of the chunk. */
static void chunk_changed(struct ts_vgpu_chunk *chunk)
{
	bool is_unused = chunk->idle_bytes == chunk->bytes && !chunk->releases;
	struct ts_vgpu_chunk **list = &chunk->pool->unused;

	if (is_unused && !chunk->unused_prev) {
		chunk->unused_next = *list;
		chunk->unused_prev = list;
		if (*list)
			(*list)->unused_prev = &chunk->unused_next;
		*list = chunk;
	} else if (!is_unused && chunk->unused_prev) {
		*chunk->unused_prev = chunk->unused_next;
		if (chunk->unused_next)
			chunk->unused_next->unused_prev = chunk->unused_prev;
		chunk->unused_prev = NULL;
	}
}

/*
 * Frees unused chunks while the pool holds more than keep_bytes. If `least` is true, the pool keeps
 * at least keep_bytes.
 */
static void trim(struct ts_vgpu_pool *pool, uint64_t keep_bytes, bool least)
{
	struct ts_vgpu_chunk *chunk, *next;

	for (chunk = pool->unused; chunk && pool->use.reserved_bytes > keep_bytes; chunk = next) {
		next = chunk->unused_next;
		if (least && pool->use.reserved_bytes - chunk->bytes < keep_bytes)
			continue;
		*chunk->unused_prev = next;
		if (next)
			next->unused_prev = chunk->unused_prev;
		*chunk->prev = chunk->next;
		if (chunk->next)
			chunk->next->prev = chunk->prev;
		run_remove(chunk->blocks);
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
	struct ts_vgpu_block *block;

	for (struct ts_vgpu_pool *pool = device->pools; pool; pool = pool->next) {
		if (!pool->is_loose)
			continue;
		pool->is_loose = false;
		while ((block = pool->kept)) {
			more_remove(block);
			block->stream_id = 0;
			merge(block);
		}
		trim(pool, pool->rules.threshold_bytes, false);
	}
}

uint64_t ts_vgpu_pools_pending(const struct ts_vgpu_device *device)
{
	uint64_t n = 0;

	for (const struct ts_vgpu_pool *pool = device->pools; pool; pool = pool->next)
		n += pool->n_pending;
	return n;
}

struct ts_vgpu_device *ts_vgpu_pool_device(const struct ts_vgpu_pool *pool)
{
	return pool->device;
}

int ts_vgpu_memory_take(struct ts_vgpu_device *device, uint64_t bytes, uint64_t *ret_start)
{
	int r = TS_VGPU_E_OUT_OF_MEMORY;

	for (unsigned i = 0; i < 2 && r; i++) {
		/* If memory is short, the pools' unused chunks are freed first. */
		if (i)
			ts_vgpu_pools_trim(device);
		/* Memory without an address (physical.c) also counts. */
		if (bytes <= device->space_bytes - device->used_bytes)
			r = ts_vgpu_hole_take(device, bytes, ret_start);
	}
	return r;
}

/* Ends the block's allocation. */
static void unuse(struct ts_vgpu_block *block)
{
	struct ts_vgpu_chunk *chunk = block->chunk;

	more_remove(block);
	block->release = NULL;
	chunk->idle_bytes += block->bytes;
	chunk->pool->use.used_bytes -= block->asked_bytes;
	chunk->pool->n_used--;
	run_join(block);
}

void ts_vgpu_pool_give(struct ts_vgpu_block *block)
{
	struct ts_vgpu_chunk *chunk = block->chunk;
	struct ts_vgpu_pool *pool = chunk->pool;

	block->range = NULL;
	if (block->state != BLOCK_USED)
		return;
	unuse(block);
	block->state = BLOCK_FREE;
	block->stream_id = 0;
	merge(block);
	pool->is_loose = true;
	chunk_changed(chunk);
	close_if_idle(pool);
}

struct ts_vgpu_release *ts_vgpu_pool_free_async(struct ts_vgpu_block *block, uint32_t stream_id,
						uint64_t seq)
{
	struct ts_vgpu_release *release = malloc(sizeof(*release));
	struct ts_vgpu_chunk *chunk = block->chunk;

	if (!release)
		return NULL;
	*release = (struct ts_vgpu_release){
		.chunk = chunk,
		.next = chunk->releases,
		.prev = &chunk->releases,
	};
	if (release->next)
		release->next->prev = &release->next;
	chunk->releases = release;
	unuse(block);
	block->state = BLOCK_FREED;
	block->stream_id = stream_id;
	block->seq = seq;
	block->release = release;
	more_add(&release->blocks, block);
	chunk->pool->n_pending++;
	return release;
}

void ts_vgpu_pool_released(struct ts_vgpu_release *release)
{
	struct ts_vgpu_chunk *chunk = release->chunk;
	struct ts_vgpu_pool *pool = chunk->pool;
	struct ts_vgpu_block *block;

	while ((block = release->blocks)) {
		more_remove(block);
		block->release = NULL;
		if (block->state == BLOCK_USED) {
			block->range->bytes = block->asked_bytes;
			block->range->asked_bytes = 0;
			continue;
		}
		if (block->range)
			ts_vgpu_range_forget(pool->device->vgpu, block->range);
		block->range = NULL;
		block->state = BLOCK_FREE;
		if (pool->rules.opportunistic)
			block->stream_id = 0;
		else
			more_add(&pool->kept, block);
		merge(block);
	}
	*release->prev = release->next;
	if (release->next)
		release->next->prev = release->prev;
	free(release);
	pool->is_loose = true;
	chunk_changed(chunk);
	pool->n_pending--;
	close_if_idle(pool);
}

/* ---- giving out ------------------------------------------------------------------------------ */

/* True if the stream's next operation runs after the block's release. */
static bool is_behind(const struct ts_vgpu_pool *pool, const struct ts_vgpu_stream *stream,
		      const struct ts_vgpu_block *block)
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
		      const struct ts_vgpu_block *block)
{
	if (block->state == BLOCK_USED)
		return false;
	return (block->state == BLOCK_FREE && !block->stream_id) || is_behind(pool, stream, block);
}

/*
 * Finds adjacent usable blocks of the run with enough bytes and returns the first one. NULL: none.
 */
static struct ts_vgpu_block *find_in(const struct ts_vgpu_pool *pool,
				     const struct ts_vgpu_stream *stream, struct ts_vgpu_block *run,
				     uint64_t bytes, uint64_t *looks)
{
	struct ts_vgpu_block *first = NULL, *last = run->end;
	uint64_t found = 0;

	for (struct ts_vgpu_block *block = run; *looks; block = block->next) {
		--*looks;
		if (is_usable(pool, stream, block)) {
			if (!found)
				first = block;
			found += block->bytes;
		} else {
			found = 0;
		}
		if (found >= bytes)
			return first;
		if (block == last)
			break;
	}
	return NULL;
}

static struct ts_vgpu_block *find(const struct ts_vgpu_pool *pool,
				  const struct ts_vgpu_stream *stream, uint64_t bytes,
				  uint64_t max_looks, struct ts_vgpu_block **ret_run)
{
	for (unsigned int i = shelf_of(bytes); i < N_SHELVES; i++) {
		uint64_t looks = max_looks;

		for (struct ts_vgpu_block *run = pool->shelves[i]; run && looks;
		     run = run->beside) {
			struct ts_vgpu_block *first = NULL;

			if (run_bytes(run) < bytes)
				looks--;
			else
				first = find_in(pool, stream, run, bytes, &looks);
			if (first) {
				*ret_run = run;
				return first;
			}
		}
	}
	return NULL;
}

/* Adds a chunk with enough bytes. The chunk is one block. */
static int grow(struct ts_vgpu_pool *pool, uint64_t bytes, struct ts_vgpu_block **ret_block)
{
	uint64_t max = pool->rules.max_bytes, start;
	struct ts_vgpu_chunk *chunk;
	struct ts_vgpu_block *block;
	int r;

	bytes = (bytes + TS_VGPU_GRANULE_BYTES - 1) / TS_VGPU_GRANULE_BYTES * TS_VGPU_GRANULE_BYTES;
	if (max && (bytes > max || pool->use.reserved_bytes > max - bytes))
		return TS_VGPU_E_OUT_OF_MEMORY;
	chunk = calloc(1, sizeof(*chunk));
	if (!chunk)
		return -ENOMEM;
	block = chunk->blocks = calloc(1, sizeof(*block));
	r = block ? ts_vgpu_memory_take(pool->device, bytes, &start) : -ENOMEM;
	if (r) {
		chunk_free(chunk);
		return r;
	}
	chunk->pool = pool;
	chunk->next = pool->chunks;
	chunk->prev = &pool->chunks;
	if (chunk->next)
		chunk->next->prev = &chunk->next;
	pool->chunks = chunk;
	block->chunk = chunk;
	chunk->start = block->start = start;
	chunk->bytes = chunk->idle_bytes = block->bytes = bytes;
	run_add(pool, block, block);
	chunk_changed(chunk);
	pool->use.reserved_bytes += bytes;
	pool->use.reserved_high_bytes =
		ts_vgpu_max(pool->use.reserved_high_bytes, pool->use.reserved_bytes);
	*ret_block = block;
	return 0;
}

/* Shortens the block's range, because a newer allocation covers the block up to `to`. */
static void uncover(struct ts_vgpu *vgpu, struct ts_vgpu_block *block, uint64_t to)
{
	struct ts_vgpu_range *range = block->range;
	uint64_t cut = to - block->start;

	if (!range)
		return;
	if (cut >= range->bytes) {
		ts_vgpu_range_forget(vgpu, range);
		block->range = NULL;
		return;
	}
	range->start += cut;
	range->backing += cut;
	range->bytes -= cut;
}

/*
 * Makes a block of the part from `from` on. The part joins the list of its release or of the pool,
 * but no run yet.
 */
static void cut_off(struct ts_vgpu_block *block, uint64_t from, struct ts_vgpu_block *rest)
{
	*rest = *block;
	rest->start = from;
	rest->bytes = block->start + block->bytes - from;
	if (rest->next)
		rest->next->prev = rest;
	if (rest->range)
		rest->range->block = rest;
	if (rest->release)
		more_add(&rest->release->blocks, rest);
	else if (rest->stream_id)
		more_add(&block->chunk->pool->kept, rest);
}

/*
 * Makes one used block of `bytes` bytes that starts with `first` in the run. Consumes `rest`, which
 * stores the remainder of the last block.
 */
static void take(struct ts_vgpu_block *run, struct ts_vgpu_block *first, uint64_t bytes,
		 struct ts_vgpu_block *rest)
{
	struct ts_vgpu_chunk *chunk = first->chunk;
	struct ts_vgpu_block *block = first, *next, *last = run->end;
	struct ts_vgpu_release *release = NULL;
	uint64_t end = first->start + bytes, block_end;

	run_remove(run);
	for (;; block = next) {
		block_end = block->start + block->bytes;
		more_remove(block);
		if (block->state == BLOCK_FREED) {
			release = block->release;
			uncover(chunk->pool->device->vgpu, block,
				block_end < end ? block_end : end);
		}
		next = block->next;
		if (block_end > end) {
			cut_off(block, end, rest);
			if (block == last)
				last = rest;
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
	if (next)
		next->prev = first;
	first->bytes = bytes;
	first->state = BLOCK_USED;
	first->stream_id = 0;
	first->range = NULL;
	first->release = release;
	if (release)
		more_add(&release->blocks, first);
	if (first != run)
		run_add(chunk->pool, run, first->prev);
	if (is_idle(next))
		run_add(chunk->pool, next, last);
	chunk->idle_bytes -= bytes;
	chunk_changed(chunk);
}

static int alloc(struct ts_vgpu_pool *pool, struct ts_vgpu_stream *stream, size_t bytes,
		 uint64_t *ret_address)
{
	struct ts_vgpu_device *device = pool->device;
	uint64_t rounded =
		(bytes + TS_VGPU_ALIGN_BYTES - 1) / TS_VGPU_ALIGN_BYTES * TS_VGPU_ALIGN_BYTES;
	struct ts_vgpu_block *run, *block, *rest;
	struct ts_vgpu_range range;
	int r = 0;

	rest = malloc(sizeof(*rest));
	if (!rest)
		return -ENOMEM;
	block = find(pool, stream, rounded, MAX_LOOKS, &run);
	if (!block) {
		r = grow(pool, rounded, &run);
		block = run;
		if (r == TS_VGPU_E_OUT_OF_MEMORY) {
			block = find(pool, stream, rounded, UINT64_MAX, &run);
			r = block ? 0 : r;
		}
	}
	if (r) {
		free(rest);
		return r;
	}
	take(run, block, rounded, rest);
	block->asked_bytes = bytes;
	range = (struct ts_vgpu_range){
		.start = block->start,
		.bytes = block->release ? rounded : bytes,
		.asked_bytes = block->release ? bytes : 0,
		.kind = TS_VGPU_MEMORY_DEVICE,
		.device = device->index,
		.context = stream->context,
		.user = pool->user,
		.backing = device->backing + (block->start - (uint64_t)(uintptr_t)device->space),
		.block = block,
	};
	pool->use.used_bytes += bytes;
	pool->n_used++;
	r = ts_vgpu_range_insert(device->vgpu, &range);
	if (r) {
		ts_vgpu_pool_give(block);
		return r;
	}
	block->range = ts_vgpu_range_find(device->vgpu, block->start);
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

/* ---- asking ---------------------------------------------------------------------------------- */

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
