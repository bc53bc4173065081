/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps three bits for each operation id to count operations whose API row or device rows never
 * come. convert-rows.c reports each row; serve/session creates the object (session-main.c) and
 * reads the counts (session-end.c).
 *
 *     older ids | base                                   newest | limit
 *     retired   | settled | settled | chunk | chunk | chunk | chunk |
 *
 * A chunk is settled if all its operations are complete and it is at least HALVES_BEHIND chunks
 * behind the newest: its memory is freed early. A later row for a settled chunk is one more device
 * row of a complete operation (a graph, a chunked copy). A chunk that leaves the window is retired:
 * its incomplete operations are counted.
 */
#include "daemon/merge/halves.h"

#include "proto/abi/record.h"

#define HALVES_BEHIND 4 /* minimum distance of a settled chunk from the newest, in chunks */

static struct ts_halves_chunk halves_settled;

int ts_halves_new(struct ts_halves **ret_halves)
{
	*ret_halves = calloc(1, sizeof(**ret_halves));
	return *ret_halves ? 0 : -ENOMEM;
}

void ts_halves_free(struct ts_halves *halves)
{
	if (!halves)
		return;
	for (uint32_t i = 0; i < TS_HALVES_MAX_CHUNKS; i++)
		if (halves->chunks[i] != &halves_settled)
			free(halves->chunks[i]);
	/* The second window has no window of its own. */
	if (halves->second)
		ts_halves_free(halves->second);
	free(halves);
}

static void chunk_count(const struct ts_halves_chunk *chunk, uint64_t *n_api, uint64_t *n_device)
{
	for (uint32_t i = 0; i < TS_HALVES_WORDS; i++) {
		*n_api += (uint64_t)__builtin_popcountll(chunk->expects[i] & ~chunk->device[i]);
		*n_device += (uint64_t)__builtin_popcountll(chunk->device[i] & ~chunk->api[i]);
	}
}

static void free_chunk(struct ts_halves *halves, struct ts_halves_chunk *chunk)
{
	if (halves->recent == chunk)
		halves->recent = NULL;
	free(chunk);
	halves->n_chunks--;
}

/* Removes a chunk from the window and counts its incomplete operations. */
static void retire(struct ts_halves *halves, uint64_t number)
{
	struct ts_halves_chunk **slot = &halves->chunks[number % TS_HALVES_MAX_CHUNKS];

	if (*slot && *slot != &halves_settled) {
		chunk_count(*slot, &halves->n_unjoined_api, &halves->n_unjoined_device);
		free_chunk(halves, *slot);
	}
	*slot = NULL;
}

void ts_halves_trim(struct ts_halves *halves)
{
	if (halves->second)
		ts_halves_trim(halves->second);
	while (halves->limit - halves->base > HALVES_BEHIND)
		retire(halves, halves->base++);
}

uint64_t ts_halves_memory(const struct ts_halves *halves)
{
	return sizeof(*halves) + halves->n_chunks * sizeof(struct ts_halves_chunk) +
	       (halves->second ? ts_halves_memory(halves->second) : 0);
}

static void settle(struct ts_halves *halves, uint64_t number)
{
	struct ts_halves_chunk **slot = &halves->chunks[number % TS_HALVES_MAX_CHUNKS];
	uint64_t n_api = 0, n_device = 0;

	if (!*slot || *slot == &halves_settled)
		return;
	chunk_count(*slot, &n_api, &n_device);
	if (n_api || n_device)
		return;
	free_chunk(halves, *slot);
	*slot = &halves_settled;
}

/* Moves the window so that it covers the chunk `number`. */
static void cover(struct ts_halves *halves, uint64_t number)
{
	uint64_t n = 0;

	if (halves->limit && number >= halves->limit + TS_HALVES_MAX_CHUNKS) {
		/*
		 * The new window has no chunk of the old one. Retire each slot once, not each
		 * number between them.
		 */
		for (uint64_t i = halves->base; i < halves->limit; i++)
			retire(halves, i);
		halves->base = number;
	} else if (!halves->limit) {
		halves->base =
			number > TS_HALVES_MAX_CHUNKS / 2 ? number - TS_HALVES_MAX_CHUNKS / 2 : 0;
	}
	while (number - halves->base >= TS_HALVES_MAX_CHUNKS)
		retire(halves, halves->base++);
	if (halves->limit < number + 1)
		halves->limit = number + 1;
	/* Each time a new chunk begins, try to settle some older chunks. */
	for (uint64_t i = number; i > halves->base && n < 2 * HALVES_BEHIND; i--, n++)
		if (number - i >= HALVES_BEHIND)
			settle(halves, i);
}

/* Slow part of chunk_of(). */
static __attribute__((noinline)) struct ts_halves_chunk *search_chunk(struct ts_halves *halves,
								      uint64_t op_id,
								      bool *ret_behind)
{
	uint64_t number = op_id / TS_HALVES_CHUNK_IDS;
	struct ts_halves_chunk **slot = &halves->chunks[number % TS_HALVES_MAX_CHUNKS];

	*ret_behind = number < halves->base;
	if (*ret_behind)
		return NULL;
	if (number >= halves->limit)
		cover(halves, number);
	if (*slot == &halves_settled)
		return NULL;
	if (!*slot) {
		*slot = calloc(1, sizeof(**slot));
		halves->n_chunks += *slot != NULL;
		halves->n_no_memory += *slot == NULL;
	}
	halves->recent = *slot;
	halves->recent_number = number;
	return *slot;
}

/*
 * Returns the chunk of an id. NULL: the chunk is behind the window or settled, or there is no
 * memory.
 */
static inline struct ts_halves_chunk *chunk_of(struct ts_halves *halves, uint64_t op_id,
					       bool *ret_behind)
{
	*ret_behind = false;
	if (ts_likely(halves->recent && op_id / TS_HALVES_CHUNK_IDS == halves->recent_number))
		return halves->recent;
	return search_chunk(halves, op_id, ret_behind);
}

static bool is_second(uint64_t op_id)
{
	return op_id >= TS_OP_ID_SECOND && op_id < TS_OP_ID_SHARED;
}

/* Returns the window of an id; NULL: no memory, which is counted. */
static struct ts_halves *window_of(struct ts_halves *halves, uint64_t op_id)
{
	if (ts_likely(!is_second(op_id)))
		return halves;
	if (!halves->second && ts_halves_new(&halves->second))
		halves->n_no_memory++;
	return halves->second;
}

/* The first window has the count of rows that were not tracked, of both windows. */
static void take_no_memory(struct ts_halves *halves, struct ts_halves *window)
{
	if (ts_likely(window == halves))
		return;
	halves->n_no_memory += window->n_no_memory;
	window->n_no_memory = 0;
}

static void add_api(struct ts_halves *halves, uint64_t op_id, uint64_t nested_op_id,
		    bool expects_device)
{
	uint32_t word = op_id % TS_HALVES_CHUNK_IDS / 64;
	uint64_t bit = UINT64_C(1) << op_id % 64;
	struct ts_halves_chunk *chunk;
	bool behind, device_seen = false;

	if (ts_unlikely(nested_op_id && nested_op_id != op_id)) {
		uint32_t nested_word = nested_op_id % TS_HALVES_CHUNK_IDS / 64;
		uint64_t nested_bit = UINT64_C(1) << nested_op_id % 64;
		uint32_t hash = nested_op_id % TS_HALVES_NESTED;

		/*
		 * Device rows with the nested id that came before this API row keep the nested id.
		 * The API row has both ids.
		 */
		chunk = chunk_of(halves, nested_op_id, &behind);
		if (chunk) {
			device_seen = chunk->device[nested_word] & nested_bit;
			chunk->api[nested_word] |= nested_bit;
		}
		halves->nested_seen = true;
		halves->nested[hash].nested = nested_op_id;
		halves->nested[hash].outer = op_id;
	}
	chunk = chunk_of(halves, op_id, &behind);
	if (!chunk) {
		halves->n_unjoined_api += behind && expects_device && !device_seen;
		return;
	}
	chunk->api[word] |= bit;
	if (expects_device)
		chunk->expects[word] |= bit;
	if (device_seen)
		chunk->device[word] |= bit;
}

void ts_halves_any_api(struct ts_halves *halves, uint64_t op_id, uint64_t nested_op_id,
		       bool expects_device)
{
	struct ts_halves *window;

	if (!op_id || op_id >= TS_OP_ID_SHARED)
		return;
	window = window_of(halves, op_id);
	if (!window)
		return;
	/* A nested call is of the same vendor. */
	add_api(window, op_id, nested_op_id, expects_device);
	take_no_memory(halves, window);
}

static uint64_t add_device(struct ts_halves *halves, uint64_t op_id)
{
	struct ts_halves_chunk *chunk;
	bool behind;

	if (halves->nested_seen && halves->nested[op_id % TS_HALVES_NESTED].nested == op_id)
		op_id = halves->nested[op_id % TS_HALVES_NESTED].outer;
	chunk = chunk_of(halves, op_id, &behind);
	if (chunk)
		chunk->device[op_id % TS_HALVES_CHUNK_IDS / 64] |= UINT64_C(1) << op_id % 64;
	else
		halves->n_unjoined_device += behind;
	return op_id;
}

uint64_t ts_halves_any_device(struct ts_halves *halves, uint64_t op_id)
{
	struct ts_halves *window = op_id ? window_of(halves, op_id) : NULL;

	if (!window) {
		halves->n_unjoined_device += !op_id;
		return op_id;
	}
	op_id = add_device(window, op_id);
	take_no_memory(halves, window);
	return op_id;
}

void ts_halves_count(const struct ts_halves *halves, bool all, uint64_t *ret_unjoined_api,
		     uint64_t *ret_unjoined_device)
{
	uint64_t n_api = 0, n_device = 0;

	if (halves->second)
		ts_halves_count(halves->second, all, &n_api, &n_device);
	*ret_unjoined_api = halves->n_unjoined_api + n_api;
	*ret_unjoined_device = halves->n_unjoined_device + n_device;
	if (!all)
		return;
	for (uint32_t i = 0; i < TS_HALVES_MAX_CHUNKS; i++)
		if (halves->chunks[i] && halves->chunks[i] != &halves_settled)
			chunk_count(halves->chunks[i], ret_unjoined_api, ret_unjoined_device);
}
