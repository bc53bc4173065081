/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a file that was cut short a finished one, in place: what follows its last whole block is cut
 * off, an index and an end marker are appended. Nothing before that is touched.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_sbt_repair_report {
	bool was_finished;   /* nothing was wrong with its end, nothing was done */
	uint64_t n_blocks;   /* whole ones that were kept */
	uint64_t n_rows;     /* of events, that were kept */
	uint64_t cut_bytes;  /* torn bytes cut off; a stale index counts too */
	uint64_t file_bytes; /* afterwards */
};

/*
 * `fd` is a regular file open for reading and writing (-EBADF, -EINVAL) and stays the caller's.
 * -EBUSY: its writer is still at work. TS_SBT_E_NOT_SBT, TS_SBT_E_VERSION: as in ts_sbt_reader_open(); nothing was done.
 * Damage before the last whole block is not mended: ts_sbt_verify() names it. TS_SBT_E_CORRUPT: whole blocks
 * follow the damage; TS_SBT_E_LIMIT: whether any do could not be told in bounded time. Nothing was done in
 * either case. ret_error may be NULL.
 */
int ts_sbt_repair(int fd, struct ts_sbt_repair_report *ret_report, struct ts_sbt_error *ret_error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
