/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completes, in place, a file that was cut short. Everything after the last whole block is cut off;
 * missing summaries, an index and an end marker are appended. The blocks before the cut are not
 * changed.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_sbt_repair_report {
	bool was_finished;   /* the file was complete; nothing was changed */
	uint64_t n_blocks;   /* whole blocks kept */
	uint64_t n_rows;     /* event rows kept */
	uint64_t cut_bytes;  /* bytes cut off, including a stale index */
	uint64_t file_bytes; /* size of the file afterwards */
};

/*
 * Repairs the file. `fd` is a regular file open for reading and writing, and stays the caller's.
 * Any thread may call this function. `ret_error` may be NULL. Returns 0, or an error that leaves
 * the file unchanged:
 * - -EBADF, -EINVAL: `fd` is not open for reading and writing, or not a regular file;
 * - -EBUSY: a writer holds the file;
 * - TS_SBT_E_NOT_SBT, TS_SBT_E_VERSION: as for ts_sbt_reader_open();
 * - TS_SBT_E_CORRUPT: whole blocks follow the damage; ts_sbt_verify() reports where;
 * - TS_SBT_E_LIMIT: the search for such blocks exceeded its bound.
 *
 * Another negative errno reports a failed write; the file then has its whole blocks, possibly
 * without index and end marker.
 */
int ts_sbt_repair(int fd, struct ts_sbt_repair_report *ret_report, struct ts_sbt_error *ret_error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
