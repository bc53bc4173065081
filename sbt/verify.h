/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verifies a trace file: every checksum, every structure, the index against the blocks, and every
 * id that a row refers to. Verifying reads the whole file and, like a reader, uses bounded memory.
 * Any thread may call the function.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_sbt_verify_report {
	enum ts_sbt_file_state state;
	uint64_t n_blocks; /* whole blocks, index blocks included */
	/*
	 * Event rows of all blocks that could be decoded; ts_sbt_reader_summary() counts
	 * the same rows.
	 */
	uint64_t n_rows;
	uint64_t counts[TS_ROW_EVENT_END]; /* event rows by type */
	uint64_t file_bytes;
	/* the file is valid up to this offset; == file_bytes if there is no finding */
	uint64_t good_bytes;
	uint64_t n_findings;	    /* count of all findings */
	struct ts_sbt_error first;  /* the finding nearest to the file's start; code 0: none */
	uint64_t n_unknown_blocks;  /* skipped blocks of unknown types; these are not findings */
	uint64_t n_unknown_columns; /* skipped unknown columns; these are not findings */
};

/*
 * Called for each finding, in no defined order, from the verifying thread. `error->off` is the
 * first bad byte. At most 1,000 findings are reported; all are counted. An unfinished file is a
 * finding of its own, at the offset where the end marker should be, unless a writer holds the file.
 */
typedef void (*ts_sbt_verify_fn)(const struct ts_sbt_error *error, void *data);

/* Called at times with the number of verified bytes, for a progress line. */
typedef void (*ts_sbt_progress_fn)(uint64_t done_bytes, uint64_t file_bytes, void *data);

struct ts_sbt_verify_options {
	ts_sbt_verify_fn on_finding;	/* may be NULL */
	ts_sbt_progress_fn on_progress; /* may be NULL */
	void *data;			/* passed to both */
};

/*
 * Verifies a file. `fd` is seekable and stays the caller's. `options` may be NULL. *ret_report is
 * filled in any case. Returns:
 * - 0: the whole file was read; ret_report->n_findings is the result;
 * - a negative errno: the file could not be read, or there is no memory;
 * - TS_SBT_E_NOT_SBT, TS_SBT_E_VERSION: no trace, or of an unknown version; ret_report->first has
 *   the cause.
 */
int ts_sbt_verify(int fd, const struct ts_sbt_verify_options *options,
		  struct ts_sbt_verify_report *ret_report);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
