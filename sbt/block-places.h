/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams, threads and names of each block, from the summaries: the lanes of a trace, and
 * searches for names, without decoding its rows. Not installed. replay/report/tiles is the user.
 * Not thread-safe.
 */
#pragma once

#include "sbt/reader.h"

/* A block has rows of this stream, or of this thread. */
struct ts_sbt_place {
	uint64_t block; /* position in the reader's list of blocks */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t thread;
	uint32_t is_thread; /* 1: `thread` is set; 0: the other three are set */
	uint32_t reserved;
};

/* Bits of a block in ts_sbt_places.known: the list has all its streams, or all its threads. */
#define TS_SBT_PLACES_STREAMS (1u << 0)
#define TS_SBT_PLACES_THREADS (1u << 1)

struct ts_sbt_places {
	struct ts_sbt_place *at;
	size_t n;
	/* One byte per block; a block without summaries (small, or of very many streams) has 0. */
	uint8_t *known;
};

/*
 * Lists the places of all event blocks. The caller frees the list with ts_sbt_places_deinit().
 * Returns 0, -ENOMEM, or another negative errno. A damaged summary leaves its blocks unknown.
 */
int ts_sbt_reader_places(struct ts_sbt_reader *reader, struct ts_sbt_places *ret_places);
void ts_sbt_places_deinit(struct ts_sbt_places *places);

/*
 * Rules out the event blocks whose summaries have sums by name, but none that is wanted: one byte
 * per block, 0 if the block is ruled out. `is_wanted` gets `type` and `key` of a total. The caller
 * frees *ret_chosen. Returns 0, -ENOMEM, or another negative errno.
 */
int ts_sbt_reader_with_sums(struct ts_sbt_reader *reader,
			    bool (*is_wanted)(void *data, const struct ts_sbt_total *total),
			    void *data, uint8_t **ret_chosen);
