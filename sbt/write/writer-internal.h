/* SPDX-License-Identifier: Apache-2.0 */
/* What the file's writer and its sessions' writers share. Private to sbt/write. */
#pragma once

#include <pthread.h>

#include "sbt/format/summary.h"
#include "sbt/intern.h"
#include "sbt/write/index.h"
#include "sbt/writer.h"

struct ts_sbt_writer {
	pthread_mutex_t
		mutex; /* guards all below; `bytes`, `error` and `full` are also read without it */
	int fd;
	bool is_file;
	bool finished;
	bool no_reserve; /* the file system sets nothing aside */
	int error;
	int full;		 /* why nothing but ends is taken any more; 0: all is */
	uint64_t bytes;		 /* of the whole blocks written */
	uint64_t reserved_bytes; /* up to where the file system has set space aside */
	uint64_t max_bytes;	 /* 0: no limit of its own */
	struct ts_sbt_space space;
	uint64_t taken; /* of the present file: accounted for by `space` */
	uint64_t n_blocks;
	uint64_t quantum_ns;   /* 0: none; fixed before the first session */
	uint32_t part;	       /* of the recording, from 1 */
	uint8_t recording[16]; /* its first file's UUID */
	uint32_t n_sessions;
	uint32_t n_open;	       /* session writers */
	struct ts_index index;	       /* of the blocks written */
	struct ts_summaries summaries; /* of blocks that are listed; not yet encoded */

	struct ts_intern strings;
	struct ts_buffer string_lengths; /* u32 each, of those not yet encoded */
	struct ts_buffer string_bytes;
	uint32_t first_pending_string;
	struct ts_builder *metadata;
	struct ts_builder *images, *symbols; /* NULL: none yet */

	struct ts_encoder encoder;
	struct ts_buffer ready; /* encoded blocks of the file itself, not yet written */
};

struct iovec;

/* All of it, waiting where the descriptor is a non-blocking one. */
int ts_sbt_write_all(int fd, struct iovec *iov, int n_iov);
/* All of it, at that place of a regular file. */
int ts_sbt_write_at(int fd, const uint8_t *bytes, size_t n, uint64_t off);
int ts_sbt_write_file_header(int fd, uint8_t ret_uuid[16]);
/* An empty file, which is locked, or a stream. */
int ts_sbt_check_new_file(int fd, bool *ret_is_file);
/* Writes what is pending of the file itself, index and end marker. The caller holds the mutex. */
int ts_sbt_writer_end(struct ts_sbt_writer *writer);

/* What is written, and so what it leaves room for. */
enum ts_commit_kind {
	TS_COMMIT_ROWS,	  /* the ends of all sessions, and the file's */
	TS_COMMIT_LAST,	  /* a session's end: the file's */
	TS_COMMIT_FINISH, /* the file's end: nothing */
};

/* A disk, a quota or a limit: errors after which little things may still fit. */
static inline bool ts_sbt_is_full(int r)
{
	return r == -ENOSPC || r == -EDQUOT || r == -EFBIG;
}

/*
 * Makes sure of the space for n_bytes more, and for what is to come after them. The caller holds the mutex. 0, or
 * -ENOSPC, -EDQUOT, -EFBIG: there is none.
 */
int ts_sbt_writer_reserve(struct ts_sbt_writer *writer, uint64_t n_bytes, enum ts_commit_kind kind);
void ts_sbt_writer_unreserve(struct ts_sbt_writer *writer);
/* The same for a file that is complete up to n_bytes and becomes the writer's; the caller gives back what is not. */
int ts_sbt_writer_take_space(struct ts_sbt_writer *writer, uint64_t n_bytes);
void ts_sbt_writer_give_space(struct ts_sbt_writer *writer, uint64_t n_bytes);

/*
 * Writes what is pending of the file itself, then these runs of encoded blocks, and empties them; likewise `summaries`,
 * NULL or of blocks of the last run, numbered from its first one. The caller holds the mutex. On an error nothing counts as
 * written.
 */
int ts_sbt_writer_commit(struct ts_sbt_writer *writer, enum ts_commit_kind kind,
			 struct ts_buffer *const *parts, size_t n_parts,
			 struct ts_summaries *summaries);
