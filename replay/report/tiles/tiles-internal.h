/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the tiles that several files use. Private to replay/report/tiles.
 *
 * A unit is the rows of one class (device operations, calls, ranges, ...) of one session. Each lane
 * with rows belongs to one unit, so units are read one after the other, or in parallel.
 */
#pragma once

#include "proto/abi/map.h"
#include "replay/report/tiles/tiles.h"

#include <pthread.h>

enum ts_tile_class {
	TS_TILE_OPERATIONS, /* kernels, copies, sets */
	TS_TILE_CALLS,
	TS_TILE_RANGES,
	TS_TILE_EVENTS, /* of the Linux kernel */
	TS_TILE_SAMPLES,
	TS_TILE_COUNTERS,
	TS_TILE_CLASSES
};

#define TS_TILE_NO_LANE UINT32_MAX
/* The word of a float that is no number. */
#define TS_TILE_NO_VALUE UINT32_C(0x7fc00000)

/* A lane, with data for the passes over its rows. Numbers of lanes count from 0. */
struct ts_tile_lane {
	struct ts_lane lane;
	uint32_t unit; /* TS_TILE_NO_LANE: no rows */
	/* Streams only: further lanes with the same rows. TS_TILE_NO_LANE: none. */
	uint32_t device_lane;
	uint32_t compute_lane;
	uint32_t copy_lanes[TS_LANE_DIRECTIONS];
	/* Cells of the whole trace, from the level index_level on; NULL: not read. */
	struct ts_tile_fill *index;
};

/* A block has rows of a lane: of a stream, a thread or a counter. */
struct ts_tile_part {
	uint32_t block; /* number of the block */
	uint32_t lane;
	uint32_t n_rows; /* estimated */
};

/* The state of a unit in the index; it grows. */
enum ts_tile_unit_state {
	TS_TILE_UNREAD,
	TS_TILE_READING, /* cells that end before `read_ns` are final */
	TS_TILE_READ,	 /* all cells are final */
	TS_TILE_FAILED,	 /* no memory, or the cells would use too much */
};

struct ts_tile_unit {
	uint32_t session;
	uint32_t tile_class; /* enum ts_tile_class */
	uint32_t *blocks;    /* numbers of blocks, by earliest start */
	size_t n_blocks, capacity;
	uint64_t n_rows;
	struct ts_tile_part *parts; /* by the block's number */
	size_t n_parts, parts_capacity;
	/* Guards the members below, and the index of the unit's lanes. */
	pthread_mutex_t *lock;
	enum ts_tile_unit_state state;
	uint64_t read_ns;
	bool is_damaged;
	bool is_taken; /* by a thread that reads it; atomic */
};

/* A row as the passes need it. Times are from the origin. */
struct ts_tile_item {
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t key;
	uint32_t lane; /* number of the lane; TS_TILE_NO_LANE: none. Of an operation: its stream */
};

/* The rows of a block. Constant after it was made. */
struct ts_tile_block {
	uint64_t block;
	uint32_t n;
	uint32_t refs; /* guarded by the cache's lock */
	struct ts_tile_item *items;
	const double *values; /* of counters, one per item; NULL: other rows */
	uint64_t used;	      /* of the cache: the last use */
	uint64_t n_bytes;     /* memory of the block */
};

struct ts_tile_fill;

struct ts_tile_cache {
	pthread_mutex_t lock;
	struct ts_tile_block **at;
	size_t n, capacity;
	uint64_t n_bytes, n_uses;
};

struct ts_tiles {
	uint64_t origin_ns;
	uint64_t duration_ns;
	struct ts_tile_lane *lanes;
	size_t n_lanes, lanes_capacity;
	size_t n_lanes_before;	      /* lanes that earlier tiles had */
	struct ts_hashindex by_place; /* lanes by kind and place */
	/* Threads with several definitions, by session and number: see tile-threads.c. */
	struct ts_map first_of_thread, last_of_thread;
	struct ts_tile_unit *units;
	size_t n_units, units_capacity;
	struct ts_tile_cache cache;
	uint32_t index_level; /* of the finest cells in the index */
	unsigned index_n_levels;
	uint64_t n_index_bytes; /* atomic */
};

/* tile-lanes.c */
/* Makes lanes and units from the reader's definitions and blocks. Lanes of `before` come first. */
int ts_tile_lanes_read(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		       const struct ts_tiles *before);
/*
 * Returns the number of the lane of this kind and place, or TS_TILE_NO_LANE. The place may have any
 * number of the thread.
 */
uint32_t ts_tile_lane_find(const struct ts_tiles *tiles, const struct ts_lane *place);
/* Returns the class of a row type; TS_TILE_CLASSES: rows of the type are in no lane. */
enum ts_tile_class ts_tile_class_of(uint32_t type);
/* Returns the direction of a copy by its CUpti_ActivityMemcpyKind. */
enum ts_lane_copies ts_tile_direction(uint32_t copy_kind);

/* tile-threads.c */
/*
 * Finds the threads that have several definitions. `with_calls` has the threads that
 * ts_tile_thread_has_calls() noted. Both return 0 or -ENOMEM.
 */
int ts_tile_threads_read(struct ts_tiles *tiles, const struct ts_sbt_reader *reader,
			 const struct ts_map *with_calls);
int ts_tile_thread_has_calls(struct ts_map *with_calls, uint32_t session, uint32_t number);
/* Return the number of a thread's first definition, and of the best one; `number` if it has one. */
uint32_t ts_tile_thread_first(const struct ts_tiles *tiles, uint32_t session, uint32_t number);
uint32_t ts_tile_thread_last(const struct ts_tiles *tiles, uint32_t session, uint32_t number);

/* tile-block.c */
/*
 * Returns the rows of a block, from the cache or decoded. The caller releases the block.
 * TS_SBT_E_CORRUPT: the block is damaged.
 */
int ts_tile_block_get(struct ts_tiles *tiles, struct ts_sbt_reader *reader, uint64_t block,
		      bool keep, struct ts_tile_block **ret_block);
void ts_tile_block_release(struct ts_tiles *tiles, struct ts_tile_block *block);
int ts_tile_cache_init(struct ts_tile_cache *cache);
void ts_tile_cache_deinit(struct ts_tile_cache *cache);
