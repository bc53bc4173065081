/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace file as a stream: the writer only appends and never seeks, so a pipe works, too.
 *
 * A ts_sbt_writer is one file, and several threads may use it at once. A ts_sbt_session_writer is
 * one session in the file. Each one is used by one thread at a time; different ones may be used at
 * the same time. The writer outlives its session writers.
 *
 *     ts_sbt_writer_new(fd) -> ts_sbt_writer_metadata(...) ...
 *       ts_sbt_session_writer_new(writer, &session) -> _add_thread, _add_stack, _add_row ...
 *         ts_sbt_session_writer_seal(checkpoint)  repeatedly; once at the end
 *       ts_sbt_session_writer_free
 *     ts_sbt_writer_finish -> ts_sbt_writer_free
 *
 * Rows are gathered in one open block per type. A block of TS_SBT_BLOCK_ROWS rows is encoded and
 * kept in memory. Only ts_sbt_session_writer_seal() writes a session to the file: everything at
 * once, definitions before the rows that refer to them, the checkpoint last. The caller decides
 * when to seal: by rows, bytes or age.
 *
 * Failure. The writer stores the first failed write (-EPIPE, -EIO, ...). Every later call that
 * would write returns the same error and writes nothing. A regular file is cut back to its last
 * whole block and stays readable. A caller that writes to a pipe ignores SIGPIPE. -EFBIG also means
 * that the file has 16 Mi blocks, the most that a reader accepts. -ENOMEM: no memory; the call has
 * changed nothing.
 *
 * A full regular file. The errors are -ENOSPC, -EDQUOT, or -EFBIG for RLIMIT_FSIZE or
 * ts_sbt_writer_limit(). The file still gets its end, because space for the end is reserved in
 * advance if the file system can do so. A seal that does not fit writes nothing, and neither does
 * any later seal of any session. ts_sbt_session_writer_drop() then drops the unwritten rows of a
 * session. Rows added afterwards (losses, the session row) are sealed as the session's end, and
 * ts_sbt_writer_finish() completes the file. Up to 1024 bytes of metadata (a text counts twice)
 * still fit, so that the file can state why it is cut short. The caller ignores SIGXFSZ.
 *
 * Units. Times are nanoseconds of CLOCK_MONOTONIC; memory and file sizes are bytes.
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

#define TS_SBT_BLOCK_ROWS 65536u
/* limit of the unwritten bytes of one session; beyond it, functions return TS_SBT_E_FULL */
#define TS_SBT_MAX_PENDING_BYTES (128u * 1024 * 1024)
#define TS_SBT_MAX_CHECKPOINT	 (1024u * 1024)	     /* bytes */
#define TS_SBT_MAX_STRING	 (64u * 1024 * 1024) /* bytes */

/*
 * Starts a file on `fd`: a pipe, a socket, or an empty regular file. On success the writer owns
 * `fd` and closes it; on failure `fd` stays the caller's. The file header is written at once.
 *
 * A regular file is locked while it is written (an open-file-description lock). A reader
 * distinguishes a growing file from a cut one by this lock. So a reader needs a descriptor of its
 * own, not a duplicate of `fd`: open("/proc/self/fd/N", O_RDONLY | O_CLOEXEC).
 *
 * -EINVAL: `fd` is a directory or a regular file with content. -EAGAIN: another writer holds the
 * file.
 */
int ts_sbt_writer_new(int fd, struct ts_sbt_writer **ret_writer);

/*
 * Frees the writer and closes the file, finished or not. Accepts NULL. The caller frees all session
 * writers first.
 */
void ts_sbt_writer_free(struct ts_sbt_writer *writer);
TS_DEFINE_CLEANUP(struct ts_sbt_writer *, ts_sbt_writer_freep, ts_sbt_writer_free)

/*
 * Interns a string in the file: equal bytes have equal ids. Any bytes are allowed; the empty string
 * has an id, too. The string is written before any block of rows that may refer to it. -E2BIG: more
 * than TS_SBT_MAX_STRING bytes.
 */
int ts_sbt_writer_string(struct ts_sbt_writer *writer, const char *bytes, size_t n_bytes,
			 uint32_t *ret_id);

/*
 * Adds or replaces a fact about the recording. The fact is written by the next seal, flush or
 * finish. -E2BIG as in ts_sbt_writer_string().
 */
int ts_sbt_writer_metadata(struct ts_sbt_writer *writer, const char *key, const char *value);

/*
 * Adds a definition of the whole file: TS_ROW_IMAGE or TS_ROW_SYMBOL. The row is copied, and
 * written by the next seal, flush or finish. -EINVAL: another type.
 */
int ts_sbt_writer_row(struct ts_sbt_writer *writer, unsigned type, const void *row);

/*
 * Writes the pending data of the file itself (strings, metadata, images, symbols). Rows of sessions
 * are not written. A reader can then open a recording before its first session.
 */
int ts_sbt_writer_flush(struct ts_sbt_writer *writer);

/*
 * Writes the pending data of the file itself, the index and the end marker. The caller seals all
 * sessions first: their unsealed rows are not written. Later writes return -EINVAL.
 */
int ts_sbt_writer_finish(struct ts_sbt_writer *writer);

/*
 * Rounds host times down to multiples of `ns`, so that they take fewer bytes. 0 and 1: no rounding.
 * -EINVAL: more than TS_SBT_MAX_QUANTUM_NS, or a session exists already. The metadata
 * (TS_METADATA_QUANTUM) records the quantum.
 *
 * Rounding keeps the order of starts and of ends. A duration below the quantum may become 0. Rows
 * of devices (kernels, copies, sets), clock snapshots and losses are not rounded.
 */
#define TS_SBT_MAX_QUANTUM_NS 1000000u
int ts_sbt_writer_quantum(struct ts_sbt_writer *writer, uint64_t ns);

/*
 * Continues the recording in another empty regular file, which then belongs to the writer as in
 * ts_sbt_writer_new(). The present file is finished, and its definitions are copied to the new one
 * with the same ids. `number`: the number that the caller puts into the present file's name
 * (FORMAT.md, "Recordings in several files"). Any thread may call it, also while sessions are in
 * use.
 *
 * On failure the writer continues in the present file, and `fd` stays the caller's, who discards
 * its content. But if the end of the present file could not be written, the writer stores the error
 * as for a failed write. -EBADF: the present file cannot be read.
 */
int ts_sbt_writer_continue(struct ts_sbt_writer *writer, int fd, uint32_t number);

/* Limits the size of the file in bytes. 0: no limit. Any thread may call this function. */
void ts_sbt_writer_limit(struct ts_sbt_writer *writer, uint64_t max_bytes);

/*
 * Returns the bytes of memory of the file's own part, without the contents of strings (up to
 * TS_INTERN_MAX_BYTES). Any thread may call this function.
 */
uint64_t ts_sbt_writer_memory(struct ts_sbt_writer *writer);
/* Frees the memory that only the next write needs. Any thread may call this function. */
void ts_sbt_writer_trim(struct ts_sbt_writer *writer);

/*
 * Accounts for the space of the file and its end before the file uses the space. The functions are
 * called with the writer's lock held, so they must not call the writer. `take` NULL: no accounting.
 */
struct ts_sbt_space {
	void *data;
	/* Returns 0 if the file may use n_bytes more. -ENOSPC, -EDQUOT or -EFBIG: full. */
	int (*take)(void *data, uint64_t n_bytes);
	/*
	 * Called after take(), once the file system counts the n_bytes as used: it has reserved
	 * them, or they are written, or they are about to be given back.
	 */
	void (*settle)(void *data, uint64_t n_bytes);
	/* Called when the file does not need n_bytes of the bytes that it took. */
	void (*give)(void *data, uint64_t n_bytes);
};
/*
 * Sets the functions before the first session. Takes the space of all writes so far and of the
 * file's end. Returns 0; the error of take(); or -ENOSPC, -EDQUOT or -EFBIG if the file system
 * cannot reserve the space because it is full. After an error nothing is accounted. If the limit of
 * ts_sbt_writer_limit() is too small for the file and its end, nothing is taken, and the first
 * write fails.
 */
int ts_sbt_writer_space(struct ts_sbt_writer *writer, const struct ts_sbt_space *space);

/*
 * Returns -ENOSPC, -EDQUOT or -EFBIG if the file is full. Then the writer accepts only the ends of
 * sessions and of the file. 0: it accepts everything. Any thread may call this function.
 */
int ts_sbt_writer_full(const struct ts_sbt_writer *writer);

/*
 * Return the bytes written so far, and the stored error (0: none). Any thread may call these
 * functions.
 */
uint64_t ts_sbt_writer_bytes(const struct ts_sbt_writer *writer);
int ts_sbt_writer_error(const struct ts_sbt_writer *writer);

/*
 * Begins a session. `session->session` is ignored: ts_sbt_session_writer_number() returns the
 * number of the session. Only TS_ROW_SESSION rows hold the number, and the writer sets it. The
 * caller frees *ret_session. Returns 0 or -ENOMEM.
 */
int ts_sbt_session_writer_new(struct ts_sbt_writer *writer, const struct ts_row_session *session,
			      struct ts_sbt_session_writer **ret_session);

/* Frees the session's writer and drops all unsealed rows. Accepts NULL. */
void ts_sbt_session_writer_free(struct ts_sbt_session_writer *session);
TS_DEFINE_CLEANUP(struct ts_sbt_session_writer *, ts_sbt_session_writer_freep,
		  ts_sbt_session_writer_free)

/* Returns the number of the session in the file, from 1. */
uint32_t ts_sbt_session_writer_number(const struct ts_sbt_session_writer *session);

/* Replaces the session row; the next seal writes it. Returns 0. */
int ts_sbt_session_writer_update(struct ts_sbt_session_writer *session,
				 const struct ts_row_session *row);

/*
 * Adds a stack: frames as in proto/abi/record.h, innermost first; flags are TS_STACK_*. Ids count
 * from 1 in the session and are not shared between sessions, because an address has a meaning only
 * in its process. Stacks are not compared: a stack that is added twice has two ids. -E2BIG: more
 * than TS_STACK_MAX_FRAMES. -EOVERFLOW: no ids are left.
 */
int ts_sbt_session_writer_add_stack(struct ts_sbt_session_writer *session, const uint64_t *frames,
				    uint32_t n_frames, uint32_t flags, uint32_t *ret_id);

/*
 * Adds a blob: n_bytes of content. With TS_BLOB_LIST in `flags`, the bytes are the numbers (u32) of
 * the blobs that form a content. Numbers count from 1 in the session. Blobs are not compared: the
 * caller finds equal contents by hash (proto/abi/hash.h). -E2BIG: more than TS_BLOB_MAX_BYTES.
 * TS_SBT_E_FULL as in ts_sbt_session_writer_add_row().
 */
int ts_sbt_session_writer_add_blob(struct ts_sbt_session_writer *session, const void *bytes,
				   uint32_t n_bytes, uint32_t flags, const uint64_t hash[2],
				   uint32_t *ret_blob);

/*
 * Adds a thread. `row->thread` is ignored; ids count from 1 in the session. -EOVERFLOW: no ids are
 * left.
 */
int ts_sbt_session_writer_add_thread(struct ts_sbt_session_writer *session,
				     const struct ts_row_thread *row, uint32_t *ret_id);

/*
 * Adds a row of an event type, or of TS_ROW_DEVICE, TS_ROW_MODULE or TS_ROW_NAME. `row` is the
 * type's struct and is copied. Rows may come in any order of time. -EINVAL: another type.
 * TS_SBT_E_FULL: the row was not added, because TS_SBT_MAX_PENDING_BYTES are unwritten; seal, then
 * add it again.
 */
int ts_sbt_session_writer_add_row(struct ts_sbt_session_writer *session, unsigned type,
				  const void *row);

/*
 * Adds an array of n_rows rows as ts_sbt_session_writer_add_row() adds one. *ret_n_added is the
 * number of added rows, also on an error.
 */
int ts_sbt_session_writer_add_rows(struct ts_sbt_session_writer *session, unsigned type,
				   const void *rows, size_t n_rows, size_t *ret_n_added);

/*
 * Writes everything that the session holds, then the checkpoint if n_checkpoint_bytes is not 0. A
 * checkpoint records how far each shard was consumed. The writer does not interpret it, and
 * ts_sbt_reader_checkpoint() returns the last one. When the call returns 0, the rows are in the
 * kernel's page cache: they survive the process, but not the machine. Without rows and checkpoint
 * nothing is written. -E2BIG: more than TS_SBT_MAX_CHECKPOINT.
 */
int ts_sbt_session_writer_seal(struct ts_sbt_session_writer *session, const void *checkpoint,
			       size_t n_checkpoint_bytes);

/*
 * Drops everything that the session holds, after the file became full. ret_counts is the number of
 * dropped rows by type. Afterwards the session accepts only the rows of its end. New stacks,
 * threads and blobs are rejected (-EINVAL). Rows may refer only to stacks, threads and blobs that
 * were sealed before.
 */
void ts_sbt_session_writer_drop(struct ts_sbt_session_writer *session,
				uint64_t ret_counts[TS_ROW_EVENT_END]);

/*
 * Return the work of the next seal: the number of event rows, and approximately the bytes of memory
 * that hold them.
 */
uint64_t ts_sbt_session_writer_pending_rows(const struct ts_sbt_session_writer *session);
uint64_t ts_sbt_session_writer_pending_bytes(const struct ts_sbt_session_writer *session);

/* Returns the bytes of memory of the session's writer, with or without rows. */
uint64_t ts_sbt_session_writer_memory(const struct ts_sbt_session_writer *session);
/*
 * Frees the memory that holds no rows; after a seal, this is all memory. Rows added later are
 * slower at first, and the chosen encodings are lost.
 */
void ts_sbt_session_writer_trim(struct ts_sbt_session_writer *session);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
