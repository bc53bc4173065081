/* SPDX-License-Identifier: Apache-2.0 */
/* What the file's writer and its sessions' writers share. Private to sbt/writer*.c. */
#pragma once

#include <pthread.h>

#include "sbt/block.h"
#include "sbt/intern.h"
#include "sbt/writer.h"

struct ts_sbt_writer {
	pthread_mutex_t mutex; /* guards all below; `bytes` and `error` are also read without it */
	int fd;
	bool is_file;
	bool finished;
	int error;
	uint64_t bytes; /* of the whole blocks written */
	uint64_t n_blocks;
	uint32_t n_sessions;
	struct ts_buffer index; /* of struct ts_sbt_block */

	struct ts_intern strings;
	struct ts_buffer string_lengths; /* u32 each, of those not yet encoded */
	struct ts_buffer string_bytes;
	uint32_t first_pending_string;
	struct ts_builder *metadata;
	struct ts_builder *images, *symbols; /* NULL: none yet */

	struct ts_encoder encoder;
	struct ts_buffer ready; /* encoded blocks of the file itself, not yet written */
};

/*
 * Writes what is pending of the file itself, then these runs of encoded blocks, and empties them. The caller holds
 * the mutex. On an error nothing counts as written.
 */
int ts_sbt_writer_commit(struct ts_sbt_writer *writer, struct ts_buffer *const *parts,
			 size_t n_parts);
