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

#define TS_HALVES_CHUNK_IDS  65536u
#define TS_HALVES_MAX_CHUNKS 512u /* 32 Mi ids, at most 12 MiB */
#define TS_HALVES_NESTED     4096u

struct ts_halves_chunk;

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

/*
 * Adds an API row: its id, the id of the nested call (0: none), and whether it expects device rows.
 */
void ts_halves_api(struct ts_halves *halves, uint64_t op_id, uint64_t nested_op_id,
		   bool expects_device);

/*
 * Adds a device row. Returns the operation id for the row: if `op_id` is that of a nested call, the
 * id of the outer call.
 */
uint64_t ts_halves_device(struct ts_halves *halves, uint64_t op_id);

/*
 * Counts the operations that left the window with a missing half. With `all`, also counts
 * operations with a missing half that are still in the window.
 */
void ts_halves_count(const struct ts_halves *halves, bool all, uint64_t *ret_unjoined_api,
		     uint64_t *ret_unjoined_device);
