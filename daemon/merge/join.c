/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The join's bits. A chunk whose operations are all complete and that lies well behind the newest
 * is freed early and marked as settled: what comes for it later is a further device row of a
 * complete operation (a graph, a chunked copy).
 */
#include "daemon/merge/join.h"

#include "proto/abi/record.h"

#define JOIN_WORDS  (TS_JOIN_CHUNK_IDS / 64)
#define JOIN_BEHIND 4 /* chunks that a settled one lies behind the newest */

struct ts_join_chunk {
	uint64_t api[JOIN_WORDS];
	uint64_t expects[JOIN_WORDS];
	uint64_t device[JOIN_WORDS];
};

static struct ts_join_chunk join_settled;

int ts_join_new(struct ts_join **ret_join)
{
	*ret_join = calloc(1, sizeof(**ret_join));
	return *ret_join ? 0 : -ENOMEM;
}

void ts_join_free(struct ts_join *join)
{
	if (!join)
		return;
	for (uint32_t i = 0; i < TS_JOIN_MAX_CHUNKS; i++)
		if (join->chunks[i] != &join_settled)
			free(join->chunks[i]);
	free(join);
}

static void chunk_count(const struct ts_join_chunk *chunk, uint64_t *n_api, uint64_t *n_device)
{
	for (uint32_t i = 0; i < JOIN_WORDS; i++) {
		*n_api += (uint64_t)__builtin_popcountll(chunk->expects[i] & ~chunk->device[i]);
		*n_device += (uint64_t)__builtin_popcountll(chunk->device[i] & ~chunk->api[i]);
	}
}

/* Takes a chunk out of the window. */
static void retire(struct ts_join *join, uint64_t number)
{
	struct ts_join_chunk **slot = &join->chunks[number % TS_JOIN_MAX_CHUNKS];

	if (*slot && *slot != &join_settled) {
		chunk_count(*slot, &join->n_unjoined_api, &join->n_unjoined_device);
		free(*slot);
		join->n_chunks--;
	}
	*slot = NULL;
}

void ts_join_trim(struct ts_join *join)
{
	while (join->limit - join->base > JOIN_BEHIND)
		retire(join, join->base++);
}

uint64_t ts_join_memory(const struct ts_join *join)
{
	return sizeof(*join) + join->n_chunks * sizeof(struct ts_join_chunk);
}

static void settle(struct ts_join *join, uint64_t number)
{
	struct ts_join_chunk **slot = &join->chunks[number % TS_JOIN_MAX_CHUNKS];
	uint64_t n_api = 0, n_device = 0;

	if (!*slot || *slot == &join_settled)
		return;
	chunk_count(*slot, &n_api, &n_device);
	if (n_api || n_device)
		return;
	free(*slot);
	join->n_chunks--;
	*slot = &join_settled;
}

/* Moves the window so that it covers the chunk. */
static void cover(struct ts_join *join, uint64_t number)
{
	uint64_t n = 0;

	if (join->limit && number >= join->limit + TS_JOIN_MAX_CHUNKS) {
		/* All of the window is left behind: every slot once, not every number between. */
		for (uint64_t i = join->base; i < join->limit; i++)
			retire(join, i);
		join->base = number;
	} else if (!join->limit) {
		join->base = number > TS_JOIN_MAX_CHUNKS / 2 ? number - TS_JOIN_MAX_CHUNKS / 2 : 0;
	}
	while (number - join->base >= TS_JOIN_MAX_CHUNKS)
		retire(join, join->base++);
	if (join->limit < number + 1)
		join->limit = number + 1;
	/* A look at some that lie behind, each time a new chunk is begun. */
	for (uint64_t i = number; i > join->base && n < 2 * JOIN_BEHIND; i--, n++)
		if (number - i >= JOIN_BEHIND)
			settle(join, i);
}

/* NULL: behind the window, settled, or no memory. */
static struct ts_join_chunk *chunk_of(struct ts_join *join, uint64_t op_id, bool *ret_behind)
{
	uint64_t number = op_id / TS_JOIN_CHUNK_IDS;
	struct ts_join_chunk **slot = &join->chunks[number % TS_JOIN_MAX_CHUNKS];

	*ret_behind = false;
	if (number < join->base) {
		*ret_behind = true;
		return NULL;
	}
	if (number >= join->limit)
		cover(join, number);
	if (*slot == &join_settled)
		return NULL;
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot));
		join->n_chunks += *slot != NULL;
		join->n_no_memory += *slot == NULL;
	}
	return *slot;
}

void ts_join_api(struct ts_join *join, uint64_t op_id, uint64_t nested_op_id, bool expects_device)
{
	uint32_t word = op_id % TS_JOIN_CHUNK_IDS / 64;
	uint64_t bit = UINT64_C(1) << op_id % 64;
	struct ts_join_chunk *chunk;
	bool behind, device_seen = false;

	if (!op_id || op_id >= TS_OP_ID_SHARED)
		return;
	if (ts_unlikely(nested_op_id && nested_op_id != op_id)) {
		uint32_t nested_word = nested_op_id % TS_JOIN_CHUNK_IDS / 64;
		uint64_t nested_bit = UINT64_C(1) << nested_op_id % 64;
		uint32_t hash = nested_op_id % TS_JOIN_NESTED;

		/* Device rows of the nested id that came first keep it; the API row names both. */
		chunk = chunk_of(join, nested_op_id, &behind);
		if (chunk) {
			device_seen = chunk->device[nested_word] & nested_bit;
			chunk->api[nested_word] |= nested_bit;
		}
		join->nested_seen = true;
		join->nested[hash].nested = nested_op_id;
		join->nested[hash].outer = op_id;
	}
	chunk = chunk_of(join, op_id, &behind);
	if (!chunk) {
		join->n_unjoined_api += behind && expects_device && !device_seen;
		return;
	}
	chunk->api[word] |= bit;
	if (expects_device)
		chunk->expects[word] |= bit;
	if (device_seen)
		chunk->device[word] |= bit;
}

uint64_t ts_join_device(struct ts_join *join, uint64_t op_id)
{
	struct ts_join_chunk *chunk;
	bool behind;

	if (!op_id) {
		join->n_unjoined_device++;
		return 0;
	}
	if (join->nested_seen && join->nested[op_id % TS_JOIN_NESTED].nested == op_id)
		op_id = join->nested[op_id % TS_JOIN_NESTED].outer;
	chunk = chunk_of(join, op_id, &behind);
	if (chunk)
		chunk->device[op_id % TS_JOIN_CHUNK_IDS / 64] |= UINT64_C(1) << op_id % 64;
	else
		join->n_unjoined_device += behind;
	return op_id;
}

void ts_join_count(const struct ts_join *join, bool all, uint64_t *ret_unjoined_api,
		   uint64_t *ret_unjoined_device)
{
	*ret_unjoined_api = join->n_unjoined_api;
	*ret_unjoined_device = join->n_unjoined_device;
	if (!all)
		return;
	for (uint32_t i = 0; i < TS_JOIN_MAX_CHUNKS; i++)
		if (join->chunks[i] && join->chunks[i] != &join_settled)
			chunk_count(join->chunks[i], ret_unjoined_api, ret_unjoined_device);
}
