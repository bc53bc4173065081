/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports the rows of a trace as Arrow IPC files, for DuckDB, Spark, Dask and others. The folders
 * give job, rank, type and time of the rows.
 *
 *     job=train/rank=3/type=kernel/time=20261127T063000Z/run-1-5f0c61e2a9b4d873-00000.arrow
 *
 * tools/export/arrow/COLUMNS.md describes the columns. The caller creates the files, so it decides
 * when they appear. Not thread-safe.
 */
#pragma once

#include "tools/export/export.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_ARROW_SLICE_UNIT_NS UINT64_C(1000000000)
#define TS_ARROW_SLICE_NS      (60 * TS_ARROW_SLICE_UNIT_NS) /* the default */

struct ts_export_arrow_options {
	/* NULL: of each session; if unknown, the trace's metadata of this key; else "unknown" */
	const char *job, *rank;
	const char *path; /* required: of the trace, names the files */
	/* A multiple of the unit; 0: the default. Rows that start in one slice share a folder. */
	uint64_t slice_ns;
	/*
	 * Opens a file. `path` is relative, has folders that may not exist yet, and has only
	 * letters, digits and ".-_=%". The exporter does not close the file.
	 */
	int (*open)(void *user, const char *path, FILE **ret_file);
	/*
	 * Completes and closes the open file. It is not called if the file could not be written:
	 * then the caller closes and removes the file.
	 */
	int (*finish)(void *user);
	void *user;
};

/*
 * Writes the data set. The used options are window, session, types, generator, step and cancel;
 * types 0 means all types; NULL: the whole trace. `mangled`: names of kernels as the compiler made
 * them. Threads make the columns of a long trace; the callbacks are called by the caller's thread.
 * Memory: one file of at most 256 Ki rows; with threads two, and 1 MiB for each thread. *ret_report
 * is filled if the result is 0. Returns 0; the values of ts_export(); -EINVAL (a callback or the
 * path is NULL, or a bad slice); -E2BIG: a text has more than 64 MiB. Errors of open() and finish()
 * are returned unchanged.
 */
int ts_export_arrow(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		    const struct ts_export_arrow_options *arrow, bool mangled,
		    struct ts_export_report *ret_report);

#ifdef __cplusplus
}
#endif
