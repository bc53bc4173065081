/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds strings and definitions of the whole file, such as symbols, to a finished file. The new
 * blocks replace the index behind the last block, and a new index follows them. Recorded blocks are
 * not changed.
 *
 * Everything added is held in memory, and only ts_sbt_append_commit() changes the file. Commit
 * allocates the space first, so a full disk leaves the file unchanged. If the process is killed
 * during a commit, the file has no index. Readers read such a file up to the last whole block, and
 * ts_sbt_repair() completes it.
 *
 * An append is used by one thread at a time.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define TS_SBT_APPEND_MAX_BYTES (256u * 1024 * 1024)

struct ts_sbt_append;

/*
 * Opens the file for additions. `fd` is a regular file open for reading and writing, and stays the
 * caller's. The file is locked like a writer's until the append is freed. Errors are those of
 * ts_sbt_repair(); TS_SBT_E_CORRUPT also if the file is not finished. `ret_error` may be NULL.
 */
int ts_sbt_append_new(int fd, struct ts_sbt_append **ret_append, struct ts_sbt_error *ret_error);
void ts_sbt_append_free(struct ts_sbt_append *append); /* accepts NULL */
TS_DEFINE_CLEANUP(struct ts_sbt_append *, ts_sbt_append_freep, ts_sbt_append_free)

/*
 * Returns the reader of the file, without the additions. The reader belongs to the append. The
 * caller may join it with earlier files of the recording (sbt/reader.h); additions still go into
 * this file.
 */
struct ts_sbt_reader *ts_sbt_append_reader(struct ts_sbt_append *append);

/*
 * Interns a string among the added ones. A string that the file already has gets a new id. -E2BIG:
 * more than 1 MiB. -EFBIG: the additions would exceed TS_SBT_APPEND_MAX_BYTES.
 */
int ts_sbt_append_string(struct ts_sbt_append *append, const char *bytes, size_t n_bytes,
			 uint32_t *ret_id);
/*
 * Adds a row of type TS_ROW_IMAGE or TS_ROW_SYMBOL; the row is copied. -EINVAL: another type.
 * -EFBIG: the additions would exceed TS_SBT_APPEND_MAX_BYTES.
 */
int ts_sbt_append_row(struct ts_sbt_append *append, unsigned type, const void *row);

/*
 * Adds an item of a TS_ROW_STATE or TS_ROW_STATE_HEAD block; ts_sbt_reader_items() returns it.
 * Items of a type are added in order of time, and a block records the first and the last time of
 * its items. -EINVAL: another type. -E2BIG: more than TS_SBT_APPEND_MAX_ITEM bytes. -EFBIG: the
 * additions would exceed TS_SBT_APPEND_MAX_BYTES.
 */
#define TS_SBT_APPEND_MAX_ITEM (32u * 1024 * 1024)
int ts_sbt_append_item(struct ts_sbt_append *append, unsigned type, uint64_t time_ns,
		       const void *bytes, size_t n_bytes);

/*
 * Writes all additions. May be called once (-EINVAL: called before). Without additions, the file
 * stays as it is. `ret_error` may be NULL.
 */
int ts_sbt_append_commit(struct ts_sbt_append *append, struct ts_sbt_error *ret_error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
