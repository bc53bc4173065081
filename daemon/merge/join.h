/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which operations have both their halves. Rows are not joined here (a reader does that); what is
 * kept is three bits for each operation id (its API row was seen, that row expects device rows, a
 * device row was seen), so that halves whose other one never came are counted when their time is
 * over.
 *
 * Operation ids are nearly dense and nearly in order: the bits lie in chunks that cover a window of
 * ids; memory is at most TS_JOIN_MAX_CHUNKS chunks of 24 KiB. Any ids are safe. One thread.
 */
#pragma once

#include "proto/abi/base.h"

#define TS_JOIN_CHUNK_IDS  65536u
#define TS_JOIN_MAX_CHUNKS 512u /* 32 Mi ids, at most 12 MiB */
#define TS_JOIN_NESTED	   4096u

struct ts_join_chunk;

struct ts_join {
	struct ts_join_chunk *chunks[TS_JOIN_MAX_CHUNKS]; /* of chunk number n at n % MAX */
	uint64_t base;					  /* the window's first chunk number */
	uint64_t limit;		    /* one past the highest that was used; at most base + MAX */
	uint64_t n_unjoined_api;    /* of operations that left the window */
	uint64_t n_unjoined_device; /* operations, and device rows without an id */
	uint64_t n_no_memory;	    /* rows not looked at */
	uint32_t n_chunks;	    /* that have memory */
	bool nested_seen;
	struct {
		uint64_t nested;
		uint64_t outer;
	} nested[TS_JOIN_NESTED]; /* the latest ones, by hash */
};

int ts_join_new(struct ts_join **ret_join); /* 0 or -ENOMEM */
void ts_join_free(struct ts_join *join);

/*
 * Gives memory back: all operations but those of the newest chunks leave the window, as if so many newer ones had come.
 */
void ts_join_trim(struct ts_join *join);
/* Bytes of memory that it holds. */
uint64_t ts_join_memory(const struct ts_join *join);

/* An API row: its id, the nested call's (0: none), whether it expects device rows. */
void ts_join_api(struct ts_join *join, uint64_t op_id, uint64_t nested_op_id, bool expects_device);

/*
 * A device row. Returns the id it is to carry: the outer call's where it came under a nested one's.
 */
uint64_t ts_join_device(struct ts_join *join, uint64_t op_id);

/*
 * What has both halves or never will: the counts so far, and with `all` what is in the window too.
 */
void ts_join_count(const struct ts_join *join, bool all, uint64_t *ret_unjoined_api,
		   uint64_t *ret_unjoined_device);
