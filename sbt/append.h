/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds to a finished file what was found out about it later: strings and file-wide definitions, behind the last
 * block, where the index was; a new index follows. Nothing that was recorded is touched.
 *
 * All that is added is gathered in memory, and the file is changed by commit alone, space being asked for
 * before: a full disk leaves it as it was. Whoever is killed in the middle leaves a file without an index, which
 * readers read up to the last whole block and ts_sbt_repair() mends.
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
 * `fd` is a regular file open for reading and writing and stays the caller's; it is locked as by a writer until the append is
 * freed. Errors as ts_sbt_repair()'s; TS_SBT_E_CORRUPT also where the file is not a finished one.
 */
int ts_sbt_append_new(int fd, struct ts_sbt_append **ret_append, struct ts_sbt_error *ret_error);
void ts_sbt_append_free(struct ts_sbt_append *append); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_sbt_append *, ts_sbt_append_freep, ts_sbt_append_free)

/*
 * What is there already. The append's own: it sees nothing of what is added. It may be joined with the files of the recording that
 * come before (sbt/reader.h); what is added goes into this file all the same.
 */
struct ts_sbt_reader *ts_sbt_append_reader(struct ts_sbt_append *append);

/* As ts_sbt_writer_string(), but that strings which the file has already get further ids. */
int ts_sbt_append_string(struct ts_sbt_append *append, const char *bytes, size_t n_bytes,
			 uint32_t *ret_id);
/* A row of TS_ROW_IMAGE or TS_ROW_SYMBOL (-EINVAL: another). -EFBIG: TS_SBT_APPEND_MAX_BYTES are reached. */
int ts_sbt_append_row(struct ts_sbt_append *append, unsigned type, const void *row);

/*
 * An item of a block of TS_ROW_STATE or TS_ROW_STATE_HEAD, which ts_sbt_reader_items() gives back; blocks say the first and the last
 * time of their items, which come in order of time. -EINVAL: another type; -E2BIG: more than TS_SBT_APPEND_MAX_ITEM; -EFBIG as above.
 */
#define TS_SBT_APPEND_MAX_ITEM (32u * 1024 * 1024)
int ts_sbt_append_item(struct ts_sbt_append *append, unsigned type, uint64_t time_ns,
		       const void *bytes, size_t n_bytes);

/* Writes it. Once. Nothing was added: the file stays as it is. */
int ts_sbt_append_commit(struct ts_sbt_append *append, struct ts_sbt_error *ret_error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
