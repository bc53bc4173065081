/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a trace file is whole: every checksum, every structure, the index against the blocks, and
 * every id that a row refers to. Reads all of the file; memory is bounded as the reader's is.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_sbt_verify_report {
	enum ts_sbt_file_state state;
	uint64_t n_blocks; /* whole ones, the index included */
	uint64_t
		n_rows; /* of events, of all blocks that could be decoded: what ts_sbt_reader_summary() counts */
	uint64_t counts[TS_ROW_EVENT_END]; /* those, by type */
	uint64_t file_bytes;
	uint64_t good_bytes; /* up to here all is well; == file_bytes where nothing was found */
	uint64_t n_findings; /* all of them, counted */
	struct ts_sbt_error first; /* the one nearest the start of the file; code 0: none */
	uint64_t n_unknown_blocks; /* skipped: of types this version does not know; not a finding */
	uint64_t n_unknown_columns; /* likewise */
};

/*
 * Called for each finding, in no promised order; `error->off` is the first bad byte. At most 1,000 are told, all are
 * counted. A file that was not finished is a finding of its own (its offset is where the
 * end marker should be), unless its writer is still at work.
 */
typedef void (*ts_sbt_verify_fn)(const struct ts_sbt_error *error, void *data);

/* Called now and then with how much has been read, for a progress line. */
typedef void (*ts_sbt_progress_fn)(uint64_t done_bytes, uint64_t file_bytes, void *data);

struct ts_sbt_verify_options {
	ts_sbt_verify_fn on_finding;	/* may be NULL */
	ts_sbt_progress_fn on_progress; /* may be NULL */
	void *data;			/* handed to both */
};

/*
 * Returns 0 when it could look at everything, found or not (see ret_report->n_findings), a negative errno where
 * the file could not be read, TS_SBT_E_NOT_SBT or TS_SBT_E_VERSION where it is no trace that this version
 * knows (ret_report->first says why). `options` may be NULL.
 */
int ts_sbt_verify(int fd, const struct ts_sbt_verify_options *options,
		  struct ts_sbt_verify_report *ret_report);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
