/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All rows of one type as columns: one array a column, over all blocks. For bindings and programs
 * that compute on whole columns. sbt/arrays.h gives the same one block at a time, in less memory.
 *
 *     struct ts_sbt_columns_options options = {.type = TS_ROW_KERNEL};
 *
 *     r = ts_sbt_columns_new(reader, &options, &columns);
 *     start_ns = ts_sbt_columns_values(columns, ts_row_column(schema, "start_ns"));
 *     for (uint64_t i = 0; i < ts_sbt_columns_rows(columns); i++)
 *             ...
 *     ts_sbt_columns_free(columns);
 *
 * The columns are created in the thread that uses the reader. Afterwards they are constant and
 * independent of the reader: any thread may read them until they are freed.
 */
#pragma once

#include "sbt/arrays.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_sbt_columns;

/*
 * An additional column of calls (TS_ROW_API): uint32_t numbers of ts_call_number().
 * ts_name_call(number >> 16, number & 0xffff, buffer) of replay/report/names/callname.h names them.
 */
#define TS_SBT_CALL_COLUMN 63

/* Returns `domain` and `cbid` of a call's row as one number. */
static inline uint32_t ts_call_number(uint16_t domain, uint16_t cbid)
{
	return (uint32_t)domain << 16 | cbid;
}

struct ts_sbt_columns_options {
	uint32_t type;	  /* enum ts_row_type: a type with a row struct */
	uint32_t session; /* 0: all */
	/* TS_SBT_COLUMN(index), also of TS_SBT_CALL_COLUMN, ORed; 0: all */
	uint64_t columns;
	/* The fields below select rows of events. All zero: all rows. */
	uint64_t from_ns; /* rows that touch [from_ns, to_ns] */
	uint64_t to_ns;	  /* 0: no limit */
	uint32_t filter;  /* TS_SBT_BY_*, ORed: the ids that a row must have */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t thread;
	uint32_t n_names;
	/*
	 * Ids of strings, ascending: the row's `name` must be one of them. Of calls: numbers of
	 * ts_call_number(). NULL: any name.
	 */
	const uint32_t *names;
};

/*
 * Decodes the blocks of a type. The rows of a block are in order of start_ns. The blocks are in
 * file order, so rows of different blocks may overlap in time. The caller frees *ret_columns.
 * TS_SBT_E_NOT_FOUND: the type has no row struct; or its rows lack the column of a filter. -ENOMEM:
 * no memory. -EINVAL: a selection of rows for a type that is no event. A damaged block is left out
 * and counted (ts_sbt_columns_damaged()).
 */
int ts_sbt_columns_new(struct ts_sbt_reader *reader, const struct ts_sbt_columns_options *options,
		       struct ts_sbt_columns **ret_columns);

/* Adds a reference, and returns the columns. Each reference is freed. Any thread may call it. */
struct ts_sbt_columns *ts_sbt_columns_ref(struct ts_sbt_columns *columns);

/* Frees a reference; the last one frees the columns. Accepts NULL. The reader may be gone. */
void ts_sbt_columns_free(struct ts_sbt_columns *columns);
TS_DEFINE_CLEANUP(struct ts_sbt_columns *, ts_sbt_columns_freep, ts_sbt_columns_free)

/* Returns the number of rows, which is the length of each array. */
uint64_t ts_sbt_columns_rows(const struct ts_sbt_columns *columns);

/*
 * Returns the values of a column, as ts_sbt_arrays_column() does for a block. NULL: no such column,
 * or it was not selected.
 */
const void *ts_sbt_columns_values(const struct ts_sbt_columns *columns, int column);

const struct ts_row_schema *ts_sbt_columns_schema(const struct ts_sbt_columns *columns);

/* Returns the session of each row. */
const uint32_t *ts_sbt_columns_sessions(const struct ts_sbt_columns *columns);

/*
 * Returns the number of blocks that could not be decoded. ts_sbt_reader_error() describes the last
 * one.
 */
uint64_t ts_sbt_columns_damaged(const struct ts_sbt_columns *columns);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
