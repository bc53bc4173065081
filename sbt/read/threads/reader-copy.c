/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of a reader for threads: see reader-copy.h. prefetch.c and slices.c call this module.
 */

#include "sbt/read/threads/reader-copy.h"

#include <zstd.h>

int ts_sbt_reader_copy(struct ts_sbt_reader *ret_copy, const struct ts_sbt_reader *reader)
{
	ZSTD_DCtx *zstd = ZSTD_createDCtx();

	if (!zstd)
		return -ENOMEM;
	*ret_copy = *reader;
	ret_copy->zstd = zstd;
	ret_copy->spares = (struct ts_spares){0};
	ret_copy->error = (struct ts_sbt_error){0};
	ret_copy->on_rows = NULL;
	ret_copy->max_threads = 1;
	return 0;
}

void ts_sbt_reader_copy_deinit(struct ts_sbt_reader *copy)
{
	ZSTD_freeDCtx(copy->zstd);
	ts_spares_deinit(&copy->spares);
}
