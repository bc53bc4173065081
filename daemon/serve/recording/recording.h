/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording: one trace file that is being written, or several one after the other, and totals for
 * the summary. The main thread owns a recording. Threads of sessions use its writer, which is
 * thread-safe, and the functions that any thread may call.
 */
#pragma once

#include <pthread.h>
#include <sys/types.h>

#include "daemon/serve/recording/disk.h"
#include "daemon/serve/users.h"
#include "daemon/symbol/symbolizer.h"
#include "daemon/util/identity.h"
#include "proto/abi/session.h"
#include "sbt/writer.h"

/*
 * Maximum number of session rows for refused processes (REFUSALS) and for processes that sent a
 * NOTE (NOTES), and of dumps. Further refusals and notes are only counted.
 */
#define TS_RECORDING_MAX_REFUSALS 256u
#define TS_RECORDING_MAX_NOTES	  4096u
#define TS_RECORDING_MAX_DUMPS	  64u
/* A text for `cut_short`. */
#define TS_RECORDING_NOTHING_FREE "the disk has no more free space than --keep-free reserves"

struct ts_recording {
	struct ts_sbt_writer *writer;
	char *path;  /* the file's path when it was created */
	int read_fd; /* a separate open file description; readers get descriptors made from it */
	/*
	 * service: the user of the recorded process. Other modes: the user that started the
	 * recording.
	 */
	uid_t uid;
	gid_t group; /* members may read the complete file; (gid_t)-1: none */
	/* The traced process created the file: the daemon neither renames nor removes it. */
	bool is_theirs;
	const struct ts_limits *limits;
	struct ts_user *user;  /* account for its definitions */
	bool nothing_free;     /* free disk is below keep_free; any thread */
	struct ts_disk *disk;  /* not NULL: the recording's files count in the user's account */
	uint64_t disk_bytes;   /* charged to that account; any thread */
	uint32_t n_disk_files; /* charged to that account; any thread */
	/* reason for which the file got no more space; NULL: no request was refused; any thread */
	const char *no_space;
	/* another process has removed the file while it was written; any thread */
	bool removed;
	uint64_t definition_bytes; /* charged for definitions of its sessions */
	uint64_t memory_bytes;	   /* charged for other memory of its writer; any thread */
	/* Index and end marker are written, or the write failed. Set with `rotating` held. */
	bool ended;
	bool finished;
	int error;   /* error of the writer: the file is incomplete; 0: none */
	bool judged; /* `cut_short` is final */
	/* reason for which the file ended before its processes; NULL: it did not */
	const char *cut_short;
	/* Reason for which no stack has names; empty: some stacks have names. */
	char names_missing[TS_SYMBOL_WHY_BYTES];

	/* Several files: recording-rotation.c. */
	pthread_mutex_t rotating;	 /* guards the fields below, unless noted */
	struct ts_recording_part *parts; /* finished files, oldest first */
	size_t n_parts, n_parts_allocated;
	uint32_t part_number; /* number in the name of the last part */
	uint64_t part_ns;     /* start of the present file; also read without the lock */
	/*
	 * bytes that the writer had written when the present file began; also read without the lock
	 */
	uint64_t part_bytes;
	uint64_t rotate_after_ns; /* no rotation before this time; also read without the lock */
	bool rotation_failed;	  /* a rotation failed, and this was logged */
	unsigned n_dumps;
	uint32_t dump_name; /* string id of the mark that asks for a dump; 0: none */
	bool dump_wanted;   /* any thread */
	/*
	 * Deadline of a dump that waits for sessions; 0: no dump waits. Only the main thread uses
	 * it.
	 */
	uint64_t dump_deadline_ns;

	/* atomic: number of samples of all sessions, and the processor time of all samplers */
	uint64_t n_samples, samples_ns;
	uint64_t counts[TS_ROW_EVENT_END];
	uint64_t lost[TS_LOSS_COUNT];
	uint64_t n_kernel_counters; /* counter rows of the kernel */
	uint64_t n_own_rows;	    /* marks and counters of TS_OWN_DOMAIN */
	uint64_t n_notes;
	/* refused processes; at most TS_RECORDING_MAX_REFUSALS of them have rows */
	uint32_t n_refused;
	uint32_t n_sessions;
	uint32_t n_observed; /* observed sessions among n_sessions */
	uint64_t n_observed_calls;
	uint32_t n_stopped;
	uint32_t n_died;
	uint32_t n_dropped;
	uint32_t n_captured; /* sessions with a capture; the next fields are their totals */
	uint64_t captured_bytes;
	uint64_t captured_ns;
	uint32_t n_unsupported;
	/*
	 * Reason for which a capture ended before its process; if several captures did, the reason
	 * of the first one. NULL: none did.
	 */
	const char *capture_ended;
	/* Reason for an empty trace, from the first process that reported one. */
	uint32_t empty_reason;
	char empty_text[256];
	char empty_program[64];
};

/* Paths of a recording's files. */
struct ts_recording_files {
	char **paths;
	size_t n, n_allocated;
};

/*
 * The accounts that a recording's files are charged to, from the first byte on. The recording
 * refers to `limits` and `disk`, which must outlive it, and gets its own reference to `user`.
 */
struct ts_recording_account {
	const struct ts_limits *limits;
	struct ts_user *user;
	struct ts_disk *disk;
};

/*
 * Creates the file, never over an existing one. If `path` exists: -EEXIST. With `unique`, "-1",
 * "-2", ... is put before ".sbt" instead; -EEXIST after TS_OUTPUT_MAX_NUMBER names. Other errors
 * come from open() or the writer. `command` may be NULL.
 *
 * With `account`, the recording has these limits. -EDQUOT, -ENOSPC: an account has no room for the
 * file, and *ret_why is the reason. NULL: files are not charged, and *ret_why is not set.
 */
int ts_recording_new(const char *path, bool unique, mode_t mode, const char *command,
		     const struct ts_recording_account *account, const char **ret_why,
		     struct ts_recording **ret_recording);
/*
 * Like ts_recording_new(), with a file that a stranger created (output-check.h). `fd` is open for
 * writing, `read_fd` for reading; `path` is for messages. Takes ownership of both descriptors, on
 * failure, too; the file is empty after a failure. -EAGAIN: another process has locked the file.
 */
int ts_recording_adopt(int fd, int read_fd, const char *path, struct ts_recording **ret_recording);
void ts_recording_free(struct ts_recording *recording);

/*
 * Rounds host times down to multiples of `ns`. Call it before the first session. See
 * ts_sbt_writer_quantum().
 */
int ts_recording_quantum(struct ts_recording *recording, uint64_t ns);

/*
 * Adds names to the stacks of the recording, for at most `ms`. No other thread may use the
 * recording. `worker`: as in struct ts_worker_options. Stops early once *stop_ns is not 0. Errors
 * are logged; the recording stays usable.
 */
void ts_recording_symbolize(struct ts_recording *recording, const char *worker, uint32_t ms,
			    const uint64_t *stop_ns);

/*
 * Writes index and end marker, in any thread, while no other thread uses the recording. Optional:
 * ts_recording_finish() also does it.
 */
void ts_recording_end(struct ts_recording *recording);
/* Ends and closes the file. Idempotent. Returns the writer's error, which `error` keeps. */
int ts_recording_finish(struct ts_recording *recording);

/*
 * Charges n_bytes of definitions of a session, until the recording is freed. *n_session_bytes is
 * the session's total and grows. False: the session, its user, or all users together have no room.
 * Any thread may call this function.
 */
bool ts_recording_charge(struct ts_recording *recording, uint64_t n_bytes,
			 uint64_t *n_session_bytes);

/*
 * Charges the memory of the recording's writer. Most of it is the index of a file with many blocks.
 * False: the user, or all users together, have no room. Any thread may call this function.
 */
bool ts_recording_account(struct ts_recording *recording);

/*
 * Sets the size limit, the free disk to keep, and the account for definitions. Call it before the
 * first session. The recording refers to `limits`, which must outlive it, and gets its own
 * reference to `user`.
 */
void ts_recording_limit(struct ts_recording *recording, const struct ts_limits *limits,
			struct ts_user *user);
/*
 * Starts charging the recording's files to the user's account. ts_recording_new() calls it before
 * the file grows. -EDQUOT, -ENOSPC: the accounts have no room for a file. The functions below do
 * nothing for a recording for which this function was not called.
 */
int ts_recording_count(struct ts_recording *recording, struct ts_disk *disk);
/* Stops charging the recording's files, and gives back all their charges. */
void ts_recording_uncount(struct ts_recording *recording);
/*
 * Charges for another file: _take_ before its creation, _settle_ after its creation succeeded or
 * failed, _give_ after its removal (n_bytes: the bytes that were charged for it). -EDQUOT, -ENOSPC:
 * the file must not be created.
 */
int ts_recording_take_file(struct ts_recording *recording);
void ts_recording_settle_file(struct ts_recording *recording);
void ts_recording_give_file(struct ts_recording *recording, uint64_t n_bytes);
/*
 * Stops charging n_bytes to the recording's files: they are not used, or are now charged to a dump.
 */
void ts_recording_give_bytes(struct ts_recording *recording, uint64_t n_bytes);
/*
 * True if the file must not grow, because its size limit, the disk's or the user's share is
 * reached. Any thread may call this function.
 */
bool ts_recording_full(struct ts_recording *recording);
/*
 * Returns the reason why ts_recording_full() is true, for messages. NULL: it is false. Any thread
 * may call this function.
 */
const char *ts_recording_why_full(const struct ts_recording *recording);
/* Checks that the file still has a name. Logs a removal once. Any thread may call this function. */
void ts_recording_look(struct ts_recording *recording);
/* True if the disk of the directory has enough free space for a new file. */
bool ts_recording_has_disk(const char *directory, const struct ts_limits *limits);
/*
 * If the present file has reached its limit of size or age, continues in another file. Called after
 * a write. Any thread may call this function.
 */
void ts_recording_rotate(struct ts_recording *recording);
/* Returns the bytes of all existing files of the recording. */
uint64_t ts_recording_bytes(struct ts_recording *recording);
/*
 * Keeps the records so far as a dump. The dump's files have "-dump1", "-dump2" and so on before
 * ".sbt" in their names. The dump of an ended recording has all kept files. Returns 0 or a negative
 * errno, which is logged. *ret_files: the dump's files, oldest first. These files are no longer
 * files of the recording. The caller frees the list with ts_recording_files_deinit(). Only the main
 * thread may call this function.
 */
int ts_recording_dump(struct ts_recording *recording, struct ts_recording_files *ret_files);
/* Lists all files of the recording, oldest first. Returns 0 or -ENOMEM. */
int ts_recording_files(struct ts_recording *recording, struct ts_recording_files *ret_files);
void ts_recording_files_deinit(struct ts_recording_files *files);
/*
 * Lets the session's user and the group read the complete file by its path. Any thread may call
 * this function.
 */
void ts_recording_grant(const struct ts_recording *recording);
/* Removes the file's name. A stranger's file keeps its name. */
void ts_recording_discard(struct ts_recording *recording);

/*
 * Returns a read-only descriptor of the file. The descriptor has its own position, unless the file
 * is a stranger's.
 */
int ts_recording_open(const struct ts_recording *recording, int *ret_fd);
/*
 * Returns read-only descriptors of all files, newest first. *ret_n: their number. -E2BIG: more than
 * `most`.
 */
int ts_recording_open_all(struct ts_recording *recording, int *ret_fds, unsigned most,
			  unsigned *ret_n);

/* Adds a session row without records for a process that sent a NOTE. */
int ts_recording_note(struct ts_recording *recording, const struct ts_identity *peer,
		      enum ts_empty_reason reason, const char *program, const char *text);

/*
 * Adds a session row without records for a process that the daemon refused. Increments n_refused.
 */
int ts_recording_note_refused(struct ts_recording *recording, const struct ts_identity *peer,
			      const char *program, const char *why);

/* Keeps the first reason for an empty trace. */
void ts_recording_empty(struct ts_recording *recording, uint32_t reason, const char *program,
			const char *text);

/* Returns the reason's name, such as "no_cupti"; NULL for TS_EMPTY_NONE. */
const char *ts_empty_reason_name(uint32_t reason);
