/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The capture of one session as bytes without checksum, hash or compression, so that a fuzzer can
 * change them. The bytes are a header, operations as in sbt/schema.h, texts, blobs. They are made
 * from a trace and converted to a trace again. The new trace has correct checksums, whatever its
 * operations contain.
 */
#pragma once

#include "sbt/buffer.h"
#include "sbt/reader.h"
#include "sbt/writer.h"

#define TS_FUZZ_CAPTURE_MAGIC UINT32_C(0x50435354) /* "TSCP" */

/*
 * The header. Then n_operations struct ts_row_operation; then each text, then each blob: a u32
 * length and the bytes.
 */
struct ts_fuzz_capture_header {
	uint32_t magic;
	uint32_t n_operations;
	uint32_t n_texts; /* number of texts; operation.name is the number of a text, from 1 */
	uint32_t n_blobs;
};

#define TS_FUZZ_BLOB_LIST UINT32_C(0x80000000) /* in a blob's length: a list of other blobs */

/*
 * Appends the capture of the first session that has one to `out`. Returns 0, -errno, or
 * TS_SBT_E_NOT_FOUND if no session has a capture.
 */
int ts_fuzz_capture_pack(struct ts_sbt_reader *reader, struct ts_buffer *out);

/*
 * Writes a trace of the capture to the empty file `fd`; the writer takes ownership of `fd`. Ignores
 * bytes that make no sense. If `more` is not NULL, it adds other rows before the operations.
 * Returns 0 or -errno.
 */
int ts_fuzz_capture_write(const uint8_t *bytes, size_t n, int fd,
			  int (*more)(void *userdata, struct ts_sbt_writer *writer,
				      struct ts_sbt_session_writer *session),
			  void *userdata);
