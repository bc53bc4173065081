/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the reads and writes of copies, fills and host writes to replay/check. run.c calls this
 * file for each operation of a checked replay; this file calls ts_check_reads(), ts_check_writes()
 * and ts_check_takes(). The device itself reports the accesses of kernels.
 */
#include "replay/exec/checked.h"

#include "proto/abi/record.h"

/* Reports each row of `width` bytes. */
static int record_rows(struct ts_check *check, const struct ts_row_operation *operation,
		       bool writes, bool copies)
{
	uint64_t depth = operation->kind == TS_OPERATION_COPY ? operation->depth : 1;
	uint64_t width = operation->kind == TS_OPERATION_FILL ? operation->bytes * operation->src
							      : operation->bytes;
	int r = 0;

	for (uint64_t z = 0; !r && z < depth; z++)
		for (uint64_t y = 0; !r && y < operation->height; y++) {
			uint64_t from = operation->src + z * operation->src_slice +
					y * operation->src_pitch;
			uint64_t to = operation->dst + z * operation->dst_slice +
				      y * operation->dst_pitch;

			r = writes ? ts_check_writes(check, to, width, copies ? from : 0)
				   : ts_check_reads(check, from, width);
		}
	return r;
}

static int record_copy(struct ts_check *check, const struct ts_row_operation *operation,
		       const struct ts_exec_content *content)
{
	bool from_host = operation->flags & TS_OPERATION_SRC_HOST;
	bool to_host = operation->flags & TS_OPERATION_DST_HOST;
	uint64_t rows = operation->height * operation->depth;
	int r = 0;

	/*
	 * Reports the host's source only if it is one row, or rows without gaps: the capture has no
	 * bytes of the gaps.
	 */
	if (from_host &&
	    (rows == 1 || (operation->src_pitch == operation->bytes &&
			   operation->src_slice == operation->bytes * operation->height)))
		r = ts_check_takes(check, operation->src, content->bytes, content->n);
	if (!r && !from_host)
		r = record_rows(check, operation, false, false);
	return r || to_host ? r : record_rows(check, operation, true, !from_host);
}

int ts_exec_checked_record(struct ts_check *check, const struct ts_row_operation *operation,
			   const struct ts_exec_content *content)
{
	switch (operation->kind) {
	case TS_OPERATION_COPY:
		return record_copy(check, operation, content);
	case TS_OPERATION_FILL:
		return record_rows(check, operation, true, false);
	case TS_OPERATION_HOST_WRITE:
		return ts_check_writes(check, operation->dst, content->n, 0);
	default:
		return 0;
	}
}
