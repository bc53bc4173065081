/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes readers for other threads: see twin.h. ahead.c, prefetch.c, slices.c and replay/ call this
 * file. Only the decompressor, the spare memory and the error of a reader change while a cursor
 * reads, so a twin has its own ones. The list of blocks of a growing file moves when the file is
 * read again, so a twin has a copy of this list. Its limit of decoded lists counts as reached, so
 * that it only returns definitions that the reader has decoded.
 */
#include <zstd.h>

#include "sbt/read/threads/twin.h"

int ts_reader_twin_init(struct ts_sbt_reader *twin, const struct ts_sbt_reader *reader)
{
	size_t n_bytes = reader->n_blocks * sizeof(*reader->blocks);

	*twin = *reader;
	twin->on_rows = NULL;
	twin->max_threads = 1;
	twin->error = (struct ts_sbt_error){0};
	twin->list_bytes = UINT64_MAX;
	twin->spares = (struct ts_spares){0};
	twin->zstd = ZSTD_createDCtx();
	twin->has_own_blocks = reader->state != TS_SBT_FINISHED && !reader->n_before;
	if (twin->has_own_blocks) {
		twin->blocks = malloc(n_bytes ? n_bytes : 1);
		if (twin->blocks && n_bytes)
			memcpy(twin->blocks, reader->blocks, n_bytes);
	}
	if (twin->zstd && (twin->blocks || !twin->has_own_blocks))
		return 0;
	ts_reader_twin_deinit(twin);
	return -ENOMEM;
}

void ts_reader_twin_deinit(struct ts_sbt_reader *twin)
{
	if (twin->has_own_blocks)
		free(twin->blocks);
	ZSTD_freeDCtx(twin->zstd);
	ts_spares_deinit(&twin->spares);
	*twin = (struct ts_sbt_reader){0};
}

int ts_sbt_reader_twin(const struct ts_sbt_reader *reader, struct ts_sbt_reader **ret_twin)
{
	struct ts_sbt_reader *twin = malloc(sizeof(*twin));

	if (!twin)
		return -ENOMEM;
	if (ts_reader_twin_init(twin, reader)) {
		free(twin);
		return -ENOMEM;
	}
	*ret_twin = twin;
	return 0;
}

void ts_sbt_reader_twin_free(struct ts_sbt_reader *twin)
{
	if (!twin)
		return;
	ts_reader_twin_deinit(twin);
	free(twin);
}

void ts_sbt_reader_report(const struct ts_sbt_reader *reader, uint64_t n_rows)
{
	for (; reader->on_rows && n_rows; n_rows -= n_rows < UINT32_MAX ? n_rows : UINT32_MAX)
		reader->on_rows(n_rows < UINT32_MAX ? (uint32_t)n_rows : UINT32_MAX,
				reader->on_rows_data);
}

bool ts_sbt_reader_is_cancelled(const struct ts_sbt_reader *reader)
{
	return reader->cancel && __atomic_load_n(reader->cancel, __ATOMIC_RELAXED);
}
