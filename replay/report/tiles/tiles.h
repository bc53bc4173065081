/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tiles: the timeline of a trace as small cells, for programs that draw it at any zoom. A trace has
 * lanes: a thread's calls, a stream's operations, a device's copies, ... A cell of level L is 2^L
 * nanoseconds wide, and cell c covers [c * 2^L, (c + 1) * 2^L). A tile is TS_TILE_CELLS cells of a
 * lane. All times are nanoseconds since the trace's origin (ts_sbt_reader_origin_ns()).
 *
 *	ts_tiles_new(reader, NULL, &tiles);
 *	lane = ts_tiles_lane(tiles, 0);
 *	ts_tiles_view(tiles, reader, &(struct ts_tiles_view){.level = 20, .n_tiles = 4,
 *		      .lanes = &lane->id, .n_lanes = 1}, cells, &flags);
 *
 * Rules of a cell. They are exact, and equal for each way to compute it:
 * - `count` is the number of the lane's rows that start in the cell.
 * - An instant belongs to the row that covers it. If several rows cover it, it belongs to the row
 *   that started first; of rows that started together, to the one that ends last; of rows with the
 *   same times, to the lowest key. `share` is the part of the cell that belongs to any row, which
 *   is the union of the rows, in millionths, rounded down. In a lane of nested rows, all belongs to
 *   the outermost rows.
 * - `key` is the key with the largest part of the cell (of equal ones, the lowest key), and
 *   `key_share` is that part in millionths, rounded down. Both are 0 if `share` has no nanosecond.
 * - In a lane of instants (host samples, counters) both shares are 0, and `key` is the key of most
 *   rows that start in the cell (of equal ones, the lowest key).
 * - In a lane of a counter, the words of the shares hold floats: the least and the largest value of
 *   the rows that start in the cell. See ts_tile_least() and ts_tile_largest(). The least one is
 *   rounded down and the largest one up, so the values lie between them. A value that is no number
 *   counts as a row only. Without a value, both floats are no number, or `count` is 0.
 *
 * Threads. `struct ts_tiles` is shared by all threads. A reader is used by one thread at a time, so
 * each thread passes its own reader of the same file. The library prints nothing.
 */
#pragma once

#include "sbt/reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TS_TILE_CELLS	  256u
#define TS_TILE_MAX_LEVEL 54u
#define TS_TILE_MILLION	  1000000u

/* The lane is not known. Returned in addition to sbt/error.h. */
#define TS_TILES_E_LANE 150
/* Too many blocks of the trace overlap at one instant. */
#define TS_TILES_E_OVERLAP 151

struct ts_tile_cell {
	uint32_t key; /* ts_tile_key(); 0: none */
	uint32_t count;
	uint32_t share;	    /* 0..TS_TILE_MILLION */
	uint32_t key_share; /* 0..TS_TILE_MILLION */
};

/* Return the least and the largest value of a cell of a counter with rows; NaN: unknown. */
static inline float ts_tile_least(const struct ts_tile_cell *cell)
{
	float value;

	memcpy(&value, &cell->share, sizeof(value));
	return value;
}
static inline float ts_tile_largest(const struct ts_tile_cell *cell)
{
	float value;

	memcpy(&value, &cell->key_share, sizeof(value));
	return value;
}

/* The order is the order of lanes below their process. */
enum ts_lane_kind {
	TS_LANE_PROCESS, /* a session; no rows of its own */
	TS_LANE_THREAD,	 /* calls of a thread */
	TS_LANE_RANGES,	 /* ranges and marks of a thread */
	TS_LANE_KERNEL_EVENTS,
	TS_LANE_HOST_SAMPLES,
	TS_LANE_COUNTER, /* a counter of the application */
	TS_LANE_DEVICE,	 /* all operations of a device */
	TS_LANE_COMPUTE, /* kernels of a device */
	TS_LANE_COPY,	 /* copies of a device in one direction */
	TS_LANE_STREAM,	 /* operations of a stream */
	TS_LANE_KINDS
};

/* Directions of lanes of copies. */
enum ts_lane_copies {
	TS_LANE_TO_DEVICE,
	TS_LANE_TO_HOST,
	TS_LANE_ON_DEVICE, /* within a device, or between two */
	TS_LANE_DIRECTIONS
};

struct ts_lane {
	uint32_t id;	 /* from 1 */
	uint32_t parent; /* id; 0: none */
	uint32_t kind;	 /* enum ts_lane_kind */
	uint32_t session;
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t thread;     /* number of the thread's first definition */
	uint32_t definition; /* of a thread with several definitions: the one with its name */
	uint32_t name;	     /* COUNTER: string of its name */
	uint32_t domain;     /* COUNTER: string of its domain */
	uint32_t direction;  /* COPY: enum ts_lane_copies */
	uint32_t depth;	     /* number of nested levels so far known, from 1 */
	uint32_t reserved;
	uint64_t n_rows; /* so far known */
};

/* Returns "thread", "stream", ...; NULL for other numbers. */
const char *ts_lane_kind_name(uint32_t kind);

struct ts_tiles;

/*
 * Lists the lanes of a trace. The cost is proportional to the number of blocks, except for blocks
 * without summaries and for counters, which are decoded. The caller frees *ret_tiles. Returns 0,
 * -ENOMEM, or the errors of sbt/reader.h.
 *
 * A growing file needs new tiles after ts_sbt_reader_refresh(). `before` are the tiles before that,
 * whose lanes keep their ids; NULL: there are none. The call does not keep `before`. Readers that
 * are used with the tiles must have been refreshed as late as `reader`.
 */
int ts_tiles_new(struct ts_sbt_reader *reader, const struct ts_tiles *before,
		 struct ts_tiles **ret_tiles);
/* Frees the object after all other calls have returned. Accepts NULL. */
void ts_tiles_free(struct ts_tiles *tiles);
TS_DEFINE_CLEANUP(struct ts_tiles *, ts_tiles_freep, ts_tiles_free)

/* Returns the time from the origin to the end of the last row. */
uint64_t ts_tiles_duration_ns(const struct ts_tiles *tiles);
uint64_t ts_tiles_origin_ns(const struct ts_tiles *tiles);

size_t ts_tiles_n_lanes(const struct ts_tiles *tiles);
/* Copies lane `i` of the list; parents come before their children. */
void ts_tiles_lane(struct ts_tiles *tiles, size_t i, struct ts_lane *ret_lane);

/*
 * Returns the id of the lane with this kind and place (session, device, context, stream, thread,
 * name, domain, direction; those that the kind does not have are 0), or 0. A thread may have any of
 * its numbers.
 */
uint32_t ts_tiles_find_lane(const struct ts_tiles *tiles, const struct ts_lane *place);

/* The cells are estimates from sums of blocks, because the trace was not yet read. */
#define TS_TILES_INEXACT (1u << 0)
/* Damaged blocks were left out. */
#define TS_TILES_DAMAGED (1u << 1)

struct ts_tiles_view {
	uint32_t level; /* at most TS_TILE_MAX_LEVEL */
	uint32_t n_tiles;
	uint64_t first;	       /* number of the first tile */
	const uint32_t *lanes; /* ids */
	size_t n_lanes;
	/* Called at each block; if it returns true, the call ends with -ECANCELED. May be NULL. */
	bool (*is_cancelled)(void *data);
	void *data;
};

/*
 * Computes n_lanes * n_tiles * TS_TILE_CELLS cells, in the order of the lanes. *ret_flags has
 * TS_TILES_*. Returns 0, -ENOMEM, -ECANCELED, -EINVAL (level, or a tile behind the end of time),
 * TS_TILES_E_*, or the errors of sbt/reader.h.
 */
int ts_tiles_view(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		  const struct ts_tiles_view *view, struct ts_tile_cell *ret_cells,
		  uint32_t *ret_flags);

/*
 * Reads the trace to make all cells of coarse levels, which views are then copied from. Until that
 * has ended, such views have estimates. Several threads may call this at the same time, each with
 * its own reader; each returns when no part is left to read. Returns 0, -ECANCELED, or the first
 * error; parts that could not be read stay estimates.
 */
int ts_tiles_build(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		   bool (*is_cancelled)(void *data), void *data);

/* A row of a lane. */
struct ts_tile_row {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t op_id; /* 0: none */
	double value;	/* of a counter */
	uint32_t key;
	uint32_t depth; /* number of earlier rows of the lane that the row is nested in */
	uint32_t type;	/* enum ts_row_type */
	uint32_t index; /* position in the block */
	uint64_t block;
};

struct ts_tile_rows {
	struct ts_tile_row *at;
	size_t n;
	bool more; /* the limit left out further rows */
	bool is_damaged;
};

/*
 * Lists the rows of a lane that touch [from_ns, to_ns), in order of start; of those that start
 * together, the longest first, then by their place in the file. An instant touches the cell in
 * which it lies. The caller frees ret_rows->at. Errors as ts_tiles_view().
 */
int ts_tiles_rows(struct ts_tiles *tiles, struct ts_sbt_reader *reader, uint32_t lane,
		  uint64_t from_ns, uint64_t to_ns, size_t limit, bool (*is_cancelled)(void *data),
		  void *data, struct ts_tile_rows *ret_rows);

/*
 * A layer is other times for the rows of a trace, such as those of an emulation, in the same lanes.
 * A layer is constant after it was made, and all threads may read it.
 */
struct ts_tiles_layer;

struct ts_tiles_layer_row {
	uint64_t start_ns; /* from the origin */
	uint64_t end_ns;
	uint64_t op_id;
	uint32_t key;
	uint32_t lane; /* id of a stream or a thread: ts_tiles_find_lane(); 0: left out */
};

/*
 * Makes a layer of rows in any order. `tiles` must outlive the layer. The caller frees *ret_layer.
 * Returns 0 or -ENOMEM.
 */
int ts_tiles_layer_new(const struct ts_tiles *tiles, const struct ts_tiles_layer_row *rows,
		       size_t n_rows, struct ts_tiles_layer **ret_layer);
void ts_tiles_layer_free(struct ts_tiles_layer *layer); /* accepts NULL */
TS_DEFINE_CLEANUP(struct ts_tiles_layer *, ts_tiles_layer_freep, ts_tiles_layer_free)
/* Returns the memory of the rows and the cells. */
size_t ts_tiles_layer_bytes(const struct ts_tiles_layer *layer);

/*
 * A long layer has bounded memory: cells of all rows, and those rows that touch a span from
 * `rows_from_ns` on, at most `max_rows`. Views in that span are exact. Other views have the cells
 * of all rows, and finer cells are parts of them. Rows that start more than `most_ns` after the
 * origin are left out.
 *
 * ts_tiles_layer_add() takes rows in any order. ts_tiles_layer_settle() puts those into the cells
 * that start before `until_ns`; later rows should start after it: an earlier start is moved.
 * Returns 0 or -ENOMEM. ts_tiles_layer_settle() with UINT64_MAX completes the layer.
 */
struct ts_tiles_layer_plan {
	uint64_t most_ns;
	uint64_t rows_from_ns;
	size_t max_rows;
};
int ts_tiles_layer_begin(const struct ts_tiles *tiles, const struct ts_tiles_layer_plan *plan,
			 struct ts_tiles_layer **ret_layer);
int ts_tiles_layer_add(struct ts_tiles_layer *layer, const struct ts_tiles_layer_row *row);
int ts_tiles_layer_settle(struct ts_tiles_layer *layer, uint64_t until_ns);
/* Returns the span whose rows the layer has. */
void ts_tiles_layer_span(const struct ts_tiles_layer *layer, uint64_t *ret_from_ns,
			 uint64_t *ret_to_ns);

/* As ts_tiles_view() and ts_tiles_rows(). Rows outside of a long layer's span: none, and `more`. */
int ts_tiles_layer_view(const struct ts_tiles_layer *layer, const struct ts_tiles_view *view,
			struct ts_tile_cell *ret_cells);
int ts_tiles_layer_rows(const struct ts_tiles_layer *layer, uint32_t lane, uint64_t from_ns,
			uint64_t to_ns, size_t limit, struct ts_tile_rows *ret_rows);

/*
 * Places are ordered by start; at one start by the lane's id, then by block and index, the position
 * in the file. So the order is the same for each search of a file.
 */
struct ts_tile_place {
	uint64_t start_ns;
	uint64_t block;
	uint32_t lane; /* id of the stream, the thread, ...; 0: before all lanes */
	uint32_t index;
};

/* Returns the place behind all rows that start at this time. */
static inline struct ts_tile_place ts_tile_place_after(uint64_t start_ns)
{
	return (struct ts_tile_place){start_ns, UINT64_MAX, UINT32_MAX, UINT32_MAX};
}

struct ts_tiles_search {
	struct ts_tile_place from; /* the next row is behind this place; backward: before it */
	bool is_backward;
	/* Returns true if rows of this key are wanted. */
	bool (*is_wanted)(void *data, uint32_t key);
	bool (*is_cancelled)(void *data); /* may be NULL */
	void *data;
};

struct ts_tile_match {
	uint32_t lane; /* of a stream, a thread, ... */
	uint32_t reserved;
	struct ts_tile_row row; /* without depth */
	/* Matching calls, operations and ranges in the whole trace; other rows are not counted. */
	uint64_t n_matches;
};

/*
 * Finds the nearest row with a wanted key. TS_SBT_E_NOT_FOUND: there is none. Errors as
 * ts_tiles_view().
 */
int ts_tiles_search(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		    const struct ts_tiles_search *search, struct ts_tile_match *ret_match);

/* Sets the operation of a row, or its value. Errors of the reader. */
int ts_tile_row_complete(struct ts_sbt_reader *reader, struct ts_tile_row *row);

/*
 * A key is the name of a row as a number: the row type in the six high bits, and its name in the
 * low ones. It depends on the file alone.
 */
#define TS_TILE_KEY_BITS 26u
static inline uint32_t ts_tile_key(uint32_t type, uint64_t value)
{
	const uint32_t most = (1u << TS_TILE_KEY_BITS) - 1;

	return type << TS_TILE_KEY_BITS | (value < most ? (uint32_t)value : most);
}
/* Stacks are numbered by session, so the key of a sample has both numbers. */
#define TS_TILE_STACK_BITS 20u
static inline uint32_t ts_tile_sample_key(uint32_t session, uint32_t stack)
{
	return stack >> TS_TILE_STACK_BITS
		       ? ts_tile_key(TS_ROW_SAMPLE, UINT64_MAX)
		       : ts_tile_key(TS_ROW_SAMPLE,
				     (uint64_t)session << TS_TILE_STACK_BITS | stack);
}
static inline uint32_t ts_tile_key_type(uint32_t key)
{
	return key >> TS_TILE_KEY_BITS;
}

/* Returns true if rows of this type are in a lane. */
bool ts_tile_has_type(uint32_t type);

struct ts_resolver;
#define TS_TILE_NAME_BYTES 1024
/*
 * Writes the name of a key as in `tsctl view`: a kernel's name, a call's function, a copy's kind.
 * Returns a string that is `buffer` or belongs to the resolver. "" if there is no name.
 */
const char *ts_tile_key_name(struct ts_resolver *resolver, uint32_t key,
			     char buffer[TS_TILE_NAME_BYTES]);
