/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operations have both their halves. Rows are not joined here (a reader does that); what is
 * kept is three bits for each operation id (its API row was seen, that row expects device rows, a
 * device row was seen), so that halves whose other one never came are counted when their time is
 * over.
 *
 * Operation ids are nearly dense and nearly in order: the bits lie in chunks that cover a window of
 * ids; memory is at most TS_HALVES_MAX_CHUNKS chunks of 24 KiB. Any ids are safe. One thread.
 */
#pragma once

#include "proto/abi/base.h"

#define TS_HALVES_CHUNK_IDS  65536u
#define TS_HALVES_MAX_CHUNKS 512u /* 32 Mi ids, at most 12 MiB */
#define TS_HALVES_NESTED     4096u

struct ts_halves_chunk;

struct ts_halves {
	struct ts_halves_chunk *chunks[TS_HALVES_MAX_CHUNKS]; /* of chunk number n at n % MAX */
	uint64_t base;					      /* the window's first chunk number */
	uint64_t limit;		    /* one past the highest that was used; at most base + MAX */
	uint64_t n_unjoined_api;    /* of operations that left the window */
	uint64_t n_unjoined_device; /* operations, and device rows without an id */
	uint64_t n_no_memory;	    /* rows not looked at */
	uint32_t n_chunks;	    /* that have memory */
	bool nested_seen;
	struct {
		uint64_t nested;
		uint64_t outer;
	} nested[TS_HALVES_NESTED]; /* the latest ones, by hash */
};

int ts_halves_new(struct ts_halves **ret_halves); /* 0 or -ENOMEM */
void ts_halves_free(struct ts_halves *halves);

/*
 * Gives memory back: all operations but those of the newest chunks leave the window, as if so many newer ones had come.
 */
void ts_halves_trim(struct ts_halves *halves);
/* Bytes of memory that it holds. */
uint64_t ts_halves_memory(const struct ts_halves *halves);

/* An API row: its id, the nested call's (0: none), whether it expects device rows. */
void ts_halves_api(struct ts_halves *halves, uint64_t op_id, uint64_t nested_op_id,
		   bool expects_device);

/*
 * A device row. Returns the id it is to carry: the outer call's where it came under a nested one's.
 */
uint64_t ts_halves_device(struct ts_halves *halves, uint64_t op_id);

/*
 * What has both halves or never will: the counts so far, and with `all` what is in the window too.
 */
void ts_halves_count(const struct ts_halves *halves, bool all, uint64_t *ret_unjoined_api,
		     uint64_t *ret_unjoined_device);
