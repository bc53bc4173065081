/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The struct and the functions that the file's writer and its session writers share. Private to
 * sbt/write. Functions return 0 or a negative errno.
 */
#pragma once

#include <pthread.h>

#include "sbt/format/summary.h"
#include "sbt/intern.h"
#include "sbt/write/index.h"
#include "sbt/write/layout.h"
#include "sbt/writer.h"

/* The space of the file's end includes so many bytes for metadata that a full file gets. */
#define TS_SBT_END_METADATA_BYTES 1024u

struct ts_sbt_writer {
	/*
	 * Guards all fields below. `bytes`, `error` and `full` are atomic, relaxed, and also read
	 * without the mutex; no other data depends on them.
	 */
	pthread_mutex_t mutex;
	int fd;
	bool is_file;
	bool finished;
	bool is_short;	 /* blocks and the index may be short */
	bool no_reserve; /* the file system cannot reserve space */
	int error;
	/*
	 * errno: the writer accepts only the ends of sessions and of the file; 0: it accepts all
	 * writes
	 */
	int full;
	uint64_t bytes;		 /* bytes of the whole blocks written */
	uint64_t reserved_bytes; /* reserved up to this offset */
	uint64_t max_bytes;	 /* 0: no limit of the writer's own */
	struct ts_sbt_space space;
	uint64_t end_metadata_bytes; /* used bytes of the TS_SBT_END_METADATA_BYTES */
	uint64_t taken;		     /* bytes of the present file that `space` accounts for */
	uint64_t settled;	     /* of these: space.settle() was called up to this offset */
	uint64_t n_blocks;
	uint64_t quantum_ns;   /* 0: none; fixed before the first session */
	uint32_t part;	       /* number of the file in the recording, from 1 */
	uint8_t recording[16]; /* UUID of the recording's first file */
	uint32_t n_sessions;
	uint32_t n_open;	       /* open session writers */
	struct ts_index index;	       /* of the blocks written */
	struct ts_summaries summaries; /* of listed blocks; not encoded */

	struct ts_intern strings;
	struct ts_buffer string_lengths; /* u32 each, of strings not encoded */
	struct ts_buffer string_bytes;
	uint32_t first_pending_string;
	struct ts_builder *metadata;
	struct ts_builder *images, *symbols; /* NULL: no row yet */

	struct ts_encoder encoder;
	struct ts_buffer ready;	 /* encoded blocks of the file itself, not written */
	struct ts_layout layout; /* of the blocks that are being written */
};

/*
 * Writes a file header with a random UUID and the present time. `is_short`: blocks and the index
 * may be short.
 */
int ts_sbt_write_file_header(int fd, bool is_short, uint8_t ret_uuid[16]);
/* As ts_sbt_writer_new(), for a file of SBT 1.0: nothing in it is short. */
int ts_sbt_writer_new_plain(int fd, struct ts_sbt_writer **ret_writer);
/*
 * Checks a new output file. Accepts a stream, or an empty regular file, which the function locks.
 * -EINVAL: a directory, or a file with content. -EAGAIN: another writer holds the file.
 */
int ts_sbt_check_new_file(int fd, bool *ret_is_file);
/*
 * Writes the pending data of the file itself, the index and the end marker. The caller holds the
 * mutex.
 */
int ts_sbt_writer_end(struct ts_sbt_writer *writer);

/* The kind of a commit decides for which later writes the commit leaves space. */
enum ts_commit_kind {
	TS_COMMIT_ROWS,	  /* leaves space for the ends of all sessions and of the file */
	TS_COMMIT_LAST,	  /* a session's end: leaves space for the file's end */
	TS_COMMIT_FINISH, /* the file's end: leaves no space */
};

/* Returns true for the errors of a full disk, quota or limit. A small write may still fit then. */
static inline bool ts_sbt_is_full(int r)
{
	return r == -ENOSPC || r == -EDQUOT || r == -EFBIG;
}

/*
 * Reserves space for n_bytes more, and for the writes that must still fit after them. The caller
 * holds the mutex. Returns 0, or -ENOSPC, -EDQUOT, -EFBIG if there is no space.
 */
int ts_sbt_writer_reserve(struct ts_sbt_writer *writer, uint64_t n_bytes, enum ts_commit_kind kind);
/* Settles the space of the written blocks, if the file system could not reserve it before. */
void ts_sbt_writer_settle(struct ts_sbt_writer *writer);
/*
 * Gives back the space behind the written blocks. The caller holds the mutex or is the only user.
 */
void ts_sbt_writer_unreserve(struct ts_sbt_writer *writer);
/*
 * Calls space.take() for n_bytes of the next file of the recording. If the writer then does not
 * continue in that file, the caller gives the space back with ts_sbt_writer_give_space().
 */
int ts_sbt_writer_take_space(struct ts_sbt_writer *writer, uint64_t n_bytes);
void ts_sbt_writer_give_space(struct ts_sbt_writer *writer, uint64_t n_bytes);

/*
 * Writes the pending data of the file itself, then the given runs of encoded blocks, and empties
 * these runs. `summaries` is NULL or the summaries of the last run's blocks, numbered from 0; they
 * are emptied, too. The caller holds the mutex. After an error, the writer behaves as if nothing
 * had been written.
 */
int ts_sbt_writer_commit(struct ts_sbt_writer *writer, enum ts_commit_kind kind,
			 struct ts_buffer *const *parts, size_t n_parts,
			 struct ts_summaries *summaries);
