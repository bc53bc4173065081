/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracks which operations have both halves: the API row and the device rows. Rows are not joined
 * here; readers join them. The object keeps three bits for each operation id: its API row was seen,
 * that row expects device rows, a device row was seen. When an operation leaves the window, a
 * missing half is counted.
 *
 * Operation ids are nearly dense and nearly in order. The bits lie in chunks that cover a window of
 * ids. The ids of a second vendor are dense in themselves and have a window of their own. Memory is
 * at most TS_HALVES_MAX_CHUNKS chunks of 24 KiB for each window. Any ids are safe. Not thread-safe.
 */
#pragma once

#include "proto/abi/base.h"
#include "proto/abi/record.h"

#define TS_HALVES_CHUNK_IDS  65536u
#define TS_HALVES_MAX_CHUNKS 512u /* 32 Mi ids, at most 12 MiB */
#define TS_HALVES_NESTED     4096u

#define TS_HALVES_WORDS	     (TS_HALVES_CHUNK_IDS / 64)

/* Bits of the ids of a chunk. */
struct ts_halves_chunk {
	uint64_t api[TS_HALVES_WORDS];
	uint64_t expects[TS_HALVES_WORDS];
	uint64_t device[TS_HALVES_WORDS];
};

struct ts_halves {
	struct ts_halves_chunk *chunks[TS_HALVES_MAX_CHUNKS]; /* chunk n is at n % MAX */
	uint64_t base;					      /* first chunk number of the window */
	uint64_t limit; /* one past the highest chunk in use; at most base + MAX */
	/* operations whose device rows were missing when they left the window */
	uint64_t n_unjoined_api;
	/*
	 * operations whose API row was missing when they left the window, and device rows without
	 * an id
	 */
	uint64_t n_unjoined_device;
	uint64_t n_no_memory; /* rows that were not tracked */
	uint32_t n_chunks;    /* chunks that have memory */
	/* The chunk that was found last, and its number. Most rows need no search. NULL: none. */
	struct ts_halves_chunk *recent;
	uint64_t recent_number;
	/* Ids from TS_OP_ID_SECOND on, whose window moves by itself; NULL: none yet. */
	struct ts_halves *second;
	bool nested_seen;
	struct {
		uint64_t nested;
		uint64_t outer;
	} nested[TS_HALVES_NESTED]; /* the latest nested ids, by hash */
};

int ts_halves_new(struct ts_halves **ret_halves); /* 0 or -ENOMEM */
void ts_halves_free(struct ts_halves *halves);

/* Frees memory: all but the newest chunks leave the window, as if newer operations had come. */
void ts_halves_trim(struct ts_halves *halves);
/* Returns the bytes of memory that the object holds. */
uint64_t ts_halves_memory(const struct ts_halves *halves);

/* Slow parts of the two functions below: they accept any ids. */
void ts_halves_any_api(struct ts_halves *halves, uint64_t op_id, uint64_t nested_op_id,
		       bool expects_device);
uint64_t ts_halves_any_device(struct ts_halves *halves, uint64_t op_id);

/*
 * Returns true if an id lies in the chunk that was used last. Ids of the second window never do:
 * that chunk is one of the first window.
 */
static inline bool ts_halves_is_recent(const struct ts_halves *halves, uint64_t op_id)
{
	return op_id && halves->recent && op_id / TS_HALVES_CHUNK_IDS == halves->recent_number;
}

/*
 * Adds an API row: its id, the id of the nested call (0: none), and whether it expects device rows.
 */
static inline void ts_halves_api(struct ts_halves *halves, uint64_t op_id, uint64_t nested_op_id,
				 bool expects_device)
{
	uint32_t word = op_id % TS_HALVES_CHUNK_IDS / 64;
	uint64_t bit = UINT64_C(1) << op_id % 64;

	if (ts_unlikely(!ts_halves_is_recent(halves, op_id) || op_id >= TS_OP_ID_SHARED ||
			(nested_op_id && nested_op_id != op_id))) {
		ts_halves_any_api(halves, op_id, nested_op_id, expects_device);
		return;
	}
	halves->recent->api[word] |= bit;
	if (expects_device)
		halves->recent->expects[word] |= bit;
}

/*
 * Adds a device row. Returns the operation id for the row: if `op_id` is that of a nested call, the
 * id of the outer call.
 */
static inline uint64_t ts_halves_device(struct ts_halves *halves, uint64_t op_id)
{
	if (ts_unlikely(halves->nested_seen || !ts_halves_is_recent(halves, op_id)))
		return ts_halves_any_device(halves, op_id);
	halves->recent->device[op_id % TS_HALVES_CHUNK_IDS / 64] |= UINT64_C(1) << op_id % 64;
	return op_id;
}

/*
 * Counts the operations that left the window with a missing half. With `all`, also counts
 * operations with a missing half that are still in the window.
 */
void ts_halves_count(const struct ts_halves *halves, bool all, uint64_t *ret_unjoined_api,
		     uint64_t *ret_unjoined_device);
