/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the rows of a trace in several threads, for callers inside this project. The trace is
 * divided by time into slices: a slice has the rows that start in its time, so each row is in one
 * slice. A thread reads a slice into a part, and the caller's thread merges the parts in order of
 * time.
 *
 * A row's block may be in several slices, and each decodes it. If run() returns an error of the
 * reader, the caller reads the trace again in its own thread: a damaged block loses other rows if
 * it is read from its middle.
 */
#pragma once

#include "sbt/reader.h"

struct ts_slices;
struct ts_slice;

struct ts_slices_work {
	size_t part_bytes; /* a part is zeroed before run() */
	/*
	 * Called in a thread: reads the rows of a slice. Returns 0 or an error, which ends the
	 * work. `data` is shared by all threads.
	 */
	int (*run)(void *part, const struct ts_slice *slice, void *data);
	/* Called in the caller's thread for each slice, in order of time. Returns 0 or an error. */
	int (*merge)(void *part, void *data);
	void (*part_deinit)(void *part);
	void *data;
};

/*
 * Divides the rows that a cursor with these options returns. *ret_slices is NULL if threads do not
 * pay or are not permitted: then the caller reads the rows itself. The caller frees *ret_slices.
 */
int ts_slices_new(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
		  struct ts_slices **ret_slices);
/*
 * As ts_slices_new(), but only blocks whose byte in `among` is not 0 are read. NULL: all are. It
 * outlives the slices.
 */
int ts_slices_new_among(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
			const uint8_t *among, struct ts_slices **ret_slices);
void ts_slices_free(struct ts_slices *slices); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_slices *, ts_slices_freep, ts_slices_free)

/*
 * Reads and merges all slices. Returns 0, the error of the first slice that failed, -ENOMEM, or
 * -EAGAIN if no thread was started. On an error, some parts may have been merged.
 */
int ts_slices_run(struct ts_slices *slices, const struct ts_slices_work *work);

/* Returns true if no rows come before the slice. */
bool ts_slice_is_first(const struct ts_slice *slice);

/*
 * Makes a cursor over the rows of the slice. The options may differ from those of ts_slices_new();
 * they have no `resume`. The thread frees the cursor before run() returns.
 */
int ts_slice_cursor(const struct ts_slice *slice, const struct ts_sbt_cursor_options *options,
		    struct ts_sbt_cursor **ret_cursor);

/*
 * Returns the thread's own reader. It may be asked for sessions, threads, devices and errors, and
 * for nothing else.
 */
struct ts_sbt_reader *ts_slice_reader(const struct ts_slice *slice);

/* A search for few rows of a trace. */
struct ts_row_search {
	/*
	 * Called in threads: returns true if take() needs the row. NULL: take() needs all rows, and
	 * the caller's thread reads them.
	 */
	bool (*keeps)(const struct ts_sbt_row *row, const void *data);
	/* Called in the caller's thread for the kept rows, in order. Returns 0 or an error. */
	int (*take)(const struct ts_sbt_row *row, void *data);
	void *data;
	bool skips_versions; /* a block of an unknown version is as a damaged one */
	/*
	 * If the column is not NULL, take() needs no row of this type in which it is 0: the search
	 * leaves out blocks without another value.
	 */
	const char *nonzero_column;
	unsigned nonzero_type;
};

/*
 * Searches the rows that a cursor with these options returns, in threads if they pay. keeps() has
 * been called for all rows before take() is called. If there are many kept rows, or if the trace is
 * damaged, keeps() and take() are called in turn, in the caller's thread. *is_damaged is set to
 * true if damaged blocks were left out. Returns 0, an error of take(), or the errors of
 * sbt/reader.h.
 */
int ts_rows_search(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
		   const struct ts_row_search *search, bool *is_damaged);
