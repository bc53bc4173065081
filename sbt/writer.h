/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace file as a stream: appends only, never seeks, so a pipe works too.
 *
 * One ts_sbt_writer is one file; it may be used by several threads at once. One ts_sbt_session_writer is one
 * session in it; each is used by one thread at a time, different ones at the same time. The writer
 * outlives its session writers.
 *
 *	ts_sbt_writer_new(fd) -> ts_sbt_writer_metadata(...) ...
 *	  ts_sbt_session_writer_new(writer, &session) -> _add_thread, _add_stack, _add_row ...
 *	    ts_sbt_session_writer_seal(checkpoint)  now and then; once at the end
 *	  ts_sbt_session_writer_free
 *	ts_sbt_writer_finish -> ts_sbt_writer_free
 *
 * Rows are gathered in one open block per type. A block of TS_SBT_BLOCK_ROWS rows is encoded and set aside;
 * nothing of a session reaches the file but by ts_sbt_session_writer_seal(), which writes all of it in
 * one go, what it refers to first, its checkpoint last. When to seal (by rows, bytes, age) is the caller's.
 *
 * Failure. The first failed write (-EPIPE, -EIO, ...) is remembered: every later call
 * that would write returns it again and writes nothing. A regular file is cut back to its last whole block;
 * what is there stays readable. The caller ignores SIGPIPE where it writes to a pipe. -EFBIG
 * is also said where a file has 16 Mi blocks, more than a reader takes. Memory short of is -ENOMEM; a call
 * that returns it has changed nothing.
 *
 * A regular file that is full (-ENOSPC, -EDQUOT; -EFBIG: RLIMIT_FSIZE, or ts_sbt_writer_limit()) gets its end all the same:
 * room for that is set aside ahead, where the file system can. The seal that does not fit writes nothing, nor does any
 * after it, of any session, until ts_sbt_session_writer_drop() has thrown away what the session still held: what is added
 * then (losses, the session's row) is sealed as its end, and ts_sbt_writer_finish() completes the file. The caller ignores
 * SIGXFSZ.
 */
#pragma once

#include <stddef.h>

#include "sbt/error.h"
#include "sbt/schema.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_sbt_writer;
struct ts_sbt_session_writer;

#define TS_SBT_BLOCK_ROWS	 65536u
#define TS_SBT_MAX_PENDING_BYTES (128u * 1024 * 1024) /* of one session, before TS_SBT_E_FULL */
#define TS_SBT_MAX_CHECKPOINT	 (1024u * 1024)	      /* bytes */
#define TS_SBT_MAX_STRING	 (64u * 1024 * 1024)  /* bytes */

/*
 * Starts a file on `fd`: a pipe, a socket, or an empty regular file. On success the writer owns fd
 * and closes it; on failure it stays the caller's. The file header is written at once.
 * A regular file is locked while it is written (an open-file-description lock), by which a reader tells a growing
 * file from one that was cut. A reader must not be handed a duplicate of this descriptor
 * but one of its own: open("/proc/self/fd/N", O_RDONLY | O_CLOEXEC).
 * -EINVAL: fd is a directory or a regular file with something in it. -EAGAIN: another writer holds it.
 */
int ts_sbt_writer_new(int fd, struct ts_sbt_writer **ret_writer);

/* Releases everything, finished or not. NULL is fine. All session writers are freed before. */
void ts_sbt_writer_free(struct ts_sbt_writer *writer);
TS_DEFINE_CLEANUP(struct ts_sbt_writer *, ts_sbt_writer_freep, ts_sbt_writer_free)

/*
 * Interns a string, file-wide: the same bytes give the same id. Any bytes but at most
 * TS_SBT_MAX_STRING, else -E2BIG. An empty string has an id of its own. Written before any block of rows that could refer to it.
 */
int ts_sbt_writer_string(struct ts_sbt_writer *writer, const char *bytes, size_t n_bytes,
			 uint32_t *ret_id);

/* Adds or replaces a fact about the recording. Written with the next seal, or by finish. */
int ts_sbt_writer_metadata(struct ts_sbt_writer *writer, const char *key, const char *value);

/*
 * Adds a definition of the whole file: TS_ROW_IMAGE or TS_ROW_SYMBOL (-EINVAL: another). Written with the next seal, or
 * by finish.
 */
int ts_sbt_writer_row(struct ts_sbt_writer *writer, unsigned type, const void *row);

/*
 * Writes what is pending of the file itself (strings, metadata) now; sessions' rows are not touched. For a recording
 * that a reader looks at before its first session.
 */
int ts_sbt_writer_flush(struct ts_sbt_writer *writer);

/*
 * Writes what is pending of the file itself, the index and the end marker. Sessions have been sealed before: what
 * they still hold is not written. No write after this (-EINVAL).
 */
int ts_sbt_writer_finish(struct ts_sbt_writer *writer);

/*
 * The host's times are rounded down to multiples of `ns` (at most TS_SBT_MAX_QUANTUM_NS, else -EINVAL; 0, 1: they are not), which takes
 * fewer bytes and is stated in the metadata (TS_METADATA_QUANTUM). What began, or ended, before something else does not do so after it; an
 * instant shorter than that may come to be none. Of all rows of events but those of devices (kernels, copies, sets), clock snapshots
 * and losses. Before the first session (-EINVAL: there is one).
 */
#define TS_SBT_MAX_QUANTUM_NS 1000000u
int ts_sbt_writer_quantum(struct ts_sbt_writer *writer, uint64_t ns);

/*
 * Goes on in another file, an empty regular one, which becomes the writer's as with ts_sbt_writer_new(): the present one is
 * finished, and everything it had for definitions is in the new one too, with the same ids. `number` is the one in
 * the present file's name from now on (FORMAT.md, "Recordings in several files"). Any thread, whatever sessions do meanwhile.
 * On failure the writer goes on as if it had not been called, `fd` stays the caller's and what was written to it is to be
 * thrown away; but where the present file's end failed, that error stays. -EBADF: the present file cannot be read.
 */
int ts_sbt_writer_continue(struct ts_sbt_writer *writer, int fd, uint32_t number);

/* The file never has more bytes. 0: as many as there is room for. */
void ts_sbt_writer_limit(struct ts_sbt_writer *writer, uint64_t max_bytes);

/* Bytes of memory that the file's own part holds, without the contents of strings (TS_INTERN_MAX_BYTES). Any thread. */
uint64_t ts_sbt_writer_memory(struct ts_sbt_writer *writer);
/* Gives back the memory that only the next write needs. Any thread. */
void ts_sbt_writer_trim(struct ts_sbt_writer *writer);

/*
 * Accounts for the space of the file, its end included, before the file takes it up. The functions are called with the writer's
 * lock held: they call no function of the writer. NULL for `take`: nothing is accounted.
 */
struct ts_sbt_space {
	void *data;
	/* 0: the file may take up n_bytes more; -ENOSPC, -EDQUOT or -EFBIG: it is full. */
	int (*take)(void *data, uint64_t n_bytes);
	/* The file system has set the n_bytes of the last take() aside, where it can. */
	void (*settle)(void *data, uint64_t n_bytes);
	/* The file does not need n_bytes of those that it took. */
	void (*give)(void *data, uint64_t n_bytes);
};
/*
 * Before the first session. Takes the space of all writes so far and of the file's end. Returns 0; the error of take(); or -ENOSPC,
 * -EDQUOT or -EFBIG if the file system sets nothing aside. After an error nothing is accounted. A file whose own limit lies below
 * its end takes nothing, and its first write fails.
 */
int ts_sbt_writer_space(struct ts_sbt_writer *writer, const struct ts_sbt_space *space);

/* Why nothing but ends is taken any more: -ENOSPC, -EDQUOT, -EFBIG; 0: all is. Any thread. */
int ts_sbt_writer_full(const struct ts_sbt_writer *writer);

/* Bytes written so far; the sticky error (0: none). */
uint64_t ts_sbt_writer_bytes(const struct ts_sbt_writer *writer);
int ts_sbt_writer_error(const struct ts_sbt_writer *writer);

/*
 * Begins a session. `session->session` is ignored; the number it got is told by
 * ts_sbt_session_writer_number() and belongs into no row but TS_ROW_SESSION's, where the writer sets it.
 */
int ts_sbt_session_writer_new(struct ts_sbt_writer *writer, const struct ts_row_session *session,
			      struct ts_sbt_session_writer **ret_session);

/* What was not sealed is dropped. NULL is fine. */
void ts_sbt_session_writer_free(struct ts_sbt_session_writer *session);
TS_DEFINE_CLEANUP(struct ts_sbt_session_writer *, ts_sbt_session_writer_freep,
		  ts_sbt_session_writer_free)

uint32_t ts_sbt_session_writer_number(const struct ts_sbt_session_writer *session);

/* Replaces what is known of the session; written with the next seal. */
int ts_sbt_session_writer_update(struct ts_sbt_session_writer *session,
				 const struct ts_row_session *row);

/*
 * Adds a stack: frames as in proto/abi/record.h, the innermost first; flags TS_STACK_*. Ids count up from 1 in the
 * session and are not shared between sessions (an address means nothing without its process). Stacks
 * are not compared: who adds the same one twice gets two ids. More than TS_STACK_MAX_FRAMES: -E2BIG.
 */
int ts_sbt_session_writer_add_stack(struct ts_sbt_session_writer *session, const uint64_t *frames,
				    uint32_t n_frames, uint32_t flags, uint32_t *ret_id);

/*
 * Adds a blob: n_bytes of a content, or, with TS_BLOB_LIST in `flags`, the numbers (u32) of the blobs that a content consists
 * of. Numbers count up from 1 in the session; nothing is compared: the caller knows what it has by hash (proto/abi/hash.h).
 * More than TS_BLOB_MAX_BYTES: -E2BIG. TS_SBT_E_FULL: as ts_sbt_session_writer_add_row().
 */
int ts_sbt_session_writer_add_blob(struct ts_sbt_session_writer *session, const void *bytes,
				   uint32_t n_bytes, uint32_t flags, const uint64_t hash[2],
				   uint32_t *ret_blob);

/* Adds a thread. `row->thread` is ignored; ids count up from 1 in the session. */
int ts_sbt_session_writer_add_thread(struct ts_sbt_session_writer *session,
				     const struct ts_row_thread *row, uint32_t *ret_id);

/* Adds a row of any event type, of TS_ROW_DEVICE, TS_ROW_MODULE or TS_ROW_NAME: `row` is the type's struct.
 * It is copied; rows may come in any order of time. -EINVAL: another type. TS_SBT_E_FULL: the row was
 * not taken, TS_SBT_MAX_PENDING_BYTES are unwritten; seal, then add it again. */
int ts_sbt_session_writer_add_row(struct ts_sbt_session_writer *session, unsigned type,
				  const void *row);

/* The same for n_rows in an array. On an error the first *ret_n_added of them were taken. */
int ts_sbt_session_writer_add_rows(struct ts_sbt_session_writer *session, unsigned type,
				   const void *rows, size_t n_rows, size_t *ret_n_added);

/*
 * Writes everything that the session holds, then, where n_checkpoint_bytes is not 0, the checkpoint:
 * how far each shard had been consumed, opaque here, the last one found again by
 * ts_sbt_reader_checkpoint(). When it returns 0 the rows are in the file (the kernel's page cache: they
 * outlive this process, not the machine). Nothing to write and no checkpoint: 0, nothing written.
 */
int ts_sbt_session_writer_seal(struct ts_sbt_session_writer *session, const void *checkpoint,
			       size_t n_checkpoint_bytes);

/*
 * Of a file that is full: drops all that the session holds. From then on it takes rows alone, no stack and no thread
 * (-EINVAL), and they may refer to none that was not sealed before: they are its end. How many rows of each type were dropped.
 */
void ts_sbt_session_writer_drop(struct ts_sbt_session_writer *session,
				uint64_t ret_counts[TS_ROW_EVENT_END]);

/* What a seal would write: event rows, and about how many bytes of memory are held for them. */
uint64_t ts_sbt_session_writer_pending_rows(const struct ts_sbt_session_writer *session);
uint64_t ts_sbt_session_writer_pending_bytes(const struct ts_sbt_session_writer *session);

/* Bytes of memory that the session's writer holds, rows or no rows. */
uint64_t ts_sbt_session_writer_memory(const struct ts_sbt_session_writer *session);
/*
 * Gives back the memory that holds no rows: after a seal, all of it. Without need it makes the rows that follow slower, and
 * what was found out about how to encode them is forgotten.
 */
void ts_sbt_session_writer_trim(struct ts_sbt_session_writer *session);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
