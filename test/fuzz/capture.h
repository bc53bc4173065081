/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was captured of one session, as bytes that a fuzzer can change without a checksum, a hash or a compression in its way: a
 * header, operations as sbt/schema.h has them, texts, blobs. Made from a trace, and made into one again, whose checksums are right
 * whatever its operations say.
 */
#pragma once

#include "sbt/buffer.h"
#include "sbt/reader.h"
#include "sbt/writer.h"

#define TS_FUZZ_CAPTURE_MAGIC UINT32_C(0x50435354) /* "TSCP" */

/* Then n_operations times struct ts_row_operation; of texts and blobs each a u32 of its length, and its bytes. */
struct ts_fuzz_capture_header {
	uint32_t magic;
	uint32_t n_operations;
	uint32_t n_texts; /* numbers of operations' names count from 1 here */
	uint32_t n_blobs;
};

#define TS_FUZZ_BLOB_LIST UINT32_C(0x80000000) /* in a blob's length: it is a list of others */

/* Appends the capture of the first session that has one. 0, -errno, TS_SBT_E_NOT_FOUND: none has. */
int ts_fuzz_capture_pack(struct ts_sbt_reader *reader, struct ts_buffer *out);

/*
 * Writes a trace of it to an empty file, which becomes the writer's. As far as the bytes make sense. `more`, where it is not NULL,
 * adds what else there is, before. 0 or -errno.
 */
int ts_fuzz_capture_write(const uint8_t *bytes, size_t n, int fd,
			  int (*more)(void *userdata, struct ts_sbt_writer *writer,
				      struct ts_sbt_session_writer *session),
			  void *userdata);
