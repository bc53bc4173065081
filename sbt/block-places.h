/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The streams and threads of each block, from the summaries: a list of a trace's lanes without
 * decoding its rows. Not installed; replay/report/tiles is the user. Not thread-safe.
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
