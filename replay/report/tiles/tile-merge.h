/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the rows of a unit in order of start, within a window. Private to replay/report/tiles. A
 * merge belongs to one thread.
 */
#pragma once

#include "replay/report/tiles/tiles-internal.h"

struct ts_tile_merge_options {
	const struct ts_tile_unit *unit;
	/* Rows that touch [from_ns, to_ns) from the origin, and instants in it. */
	uint64_t from_ns, to_ns;
	/* A byte for each lane: 1: its rows are wanted. NULL: all. Other rows may come, too. */
	const uint8_t *lanes;
	bool keep;			  /* keep decoded blocks in the cache */
	bool (*is_cancelled)(void *data); /* may be NULL; called for each block */
	void *cancel_data;
	/*
	 * Receives the next rows, items[0..n) of the block from `first` on. Rows that lie outside
	 * the window are among them. A value other than 0 ends the merge.
	 */
	int (*take)(void *data, const struct ts_tile_block *block, uint32_t first, uint32_t n);
	void *data;
};

/*
 * Returns 0, -ECANCELED, -ENOMEM, TS_TILES_E_OVERLAP, an error of the reader, or the value of
 * take(). Sets *is_damaged if a damaged block was left out.
 */
int ts_tile_merge(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		  const struct ts_tile_merge_options *options, bool *is_damaged);
