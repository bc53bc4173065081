/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One trace file being written, and what is known of it for its summary. Belongs to the main
 * thread; sessions' threads use its writer, which is thread-safe.
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

/* Session rows for processes that were refused, and for those that could make no session; further ones are counted. */
#define TS_RECORDING_MAX_REFUSALS 256u
#define TS_RECORDING_MAX_NOTES	  4096u
#define TS_RECORDING_MAX_DUMPS	  64u
/* Why a file is cut short. */
#define TS_RECORDING_NOTHING_FREE "no more of the disk is free than is to stay so"

struct ts_recording {
	struct ts_sbt_writer *writer;
	char *path;  /* as it was created */
	int read_fd; /* another open file description: what readers are given is made from it */
	uid_t uid;   /* whose sessions it holds, in a service; who started it otherwise */
	gid_t group; /* whose members read it once it is complete; (gid_t)-1: none */
	bool is_theirs; /* the file came from its process, and is not the daemon's to rename or remove */
	const struct ts_limits *limits;
	struct ts_user *user;	   /* the account that its definitions count for */
	bool nothing_free;	   /* but those; any thread */
	struct ts_disk *disk;	   /* its files count in the user's account; NULL: they do not */
	uint64_t disk_bytes;	   /* of that account; any thread */
	uint32_t n_disk_files;	   /* the same */
	const char *no_space;	   /* why the file got no more space; NULL: it did; any thread */
	bool removed;		   /* while it was written; any thread */
	uint64_t definition_bytes; /* held for its sessions' definitions */
	uint64_t memory_bytes;	   /* charged for what its writer holds beside them; any thread */
	bool ended; /* index and end marker are written, or could not be; set with `rotating` held */
	bool finished;
	int error;	       /* of the writer: why the file is not whole */
	bool judged;	       /* `cut_short` is what it will be */
	const char *cut_short; /* why it ended before its processes; NULL: it did not */
	char names_missing
		[TS_SYMBOL_WHY_BYTES]; /* why stacks have no names, where none of them has */

	/* In several files: recording-rotation.c. */
	pthread_mutex_t rotating;	 /* guards what follows, where it does not say otherwise */
	struct ts_recording_part *parts; /* that are finished, the oldest first */
	size_t n_parts;
	uint32_t part_number;	  /* in the name of the last of them */
	uint64_t part_ns;	  /* when the present file was begun; read without the lock */
	uint64_t part_bytes;	  /* what it began with; read without the lock */
	uint64_t rotate_after_ns; /* not before; read without the lock */
	bool rotation_failed;	  /* and that was said */
	unsigned n_dumps;
	uint32_t dump_name; /* the string that asks for one, of a mark; 0: none */
	bool dump_wanted;   /* any thread */
	uint64_t
		dump_deadline_ns; /* of one that waits for sessions; 0: none does; the main thread's */

	uint64_t n_samples, samples_ns; /* atomic: of all sessions, and what taking them took */
	uint64_t counts[TS_ROW_EVENT_END];
	uint64_t lost[TS_LOSS_COUNT];
	uint64_t n_kernel_counters; /* of the counter rows: the kernel's */
	uint64_t n_own_rows;	    /* of the marks and counters: the shim's own */
	uint64_t n_notes;
	uint32_t n_refused; /* TS_RECORDING_MAX_REFUSALS of them are noted */
	uint32_t n_sessions;
	uint32_t n_observed; /* of these: seen from outside */
	uint64_t n_observed_calls;
	uint32_t n_stopped;
	uint32_t n_died;
	uint32_t n_dropped;
	uint32_t n_captured; /* sessions, to be replayed; all of them: */
	uint64_t captured_bytes;
	uint64_t captured_ns;
	uint32_t n_unsupported;
	const char
		*capture_ended; /* the first that ended before its process: why; NULL: none did */
	/* Of the first process that had one. */
	uint32_t empty_reason;
	char empty_text[256];
	char empty_program[64];
};

/* Paths. */
struct ts_recording_files {
	char **paths;
	size_t n;
};

/*
 * Creates the file, never over an existing one: where `path` exists, -EEXIST; or with `unique`,
 * "-1", "-2", ... is put before its ".sbt" (and -EEXIST where a thousand of those exist too).
 * Otherwise what open() or the writer gave. `command` may be NULL.
 */
int ts_recording_new(const char *path, bool unique, mode_t mode, const char *command,
		     struct ts_recording **ret_recording);
/*
 * The same with a file that a stranger created (output-check.h): `fd` to write, `read_fd` to read, `path` for people. Takes both
 * descriptors over, on failure, too; the file is empty then. -EAGAIN: somebody has it locked.
 */
int ts_recording_adopt(int fd, int read_fd, const char *path, struct ts_recording **ret_recording);
void ts_recording_free(struct ts_recording *recording);

/* Rounds the host's times to `ns`, before its first session: ts_sbt_writer_quantum(). */
int ts_recording_quantum(struct ts_recording *recording, uint64_t ns);

/*
 * Names what its stacks have, as far as that goes in the time; nobody else uses the recording. `worker` as in
 * struct ts_worker_options. `stop_ns`: the time is up as soon as it is not 0. What goes wrong is logged and leaves the recording as
 * it is.
 */
void ts_recording_symbolize(struct ts_recording *recording, const char *worker, uint32_t ms,
			    const uint64_t *stop_ns);

/*
 * Writes what ends the file, in whatever thread has the time for it while nobody else uses the
 * recording. Optional: ts_recording_finish() does it where it was not done.
 */
void ts_recording_end(struct ts_recording *recording);
/* Ends and closes the file. Idempotent. Returns the writer's error, which is also kept. */
int ts_recording_finish(struct ts_recording *recording);

/*
 * Asks for memory that is held for a session's definitions until the recording is freed; *n_session_bytes is how much the
 * session has, and grows. False: it has its share, or its user has, or there is none left in all. Any thread.
 */
bool ts_recording_charge(struct ts_recording *recording, uint64_t n_bytes,
			 uint64_t *n_session_bytes);

/*
 * Charges what the recording's writer holds by now, of which most is the index of a file with many blocks. False: its user, or the
 * whole, has no room for that. Any thread.
 */
bool ts_recording_account(struct ts_recording *recording);

/*
 * Before its first session: how large the file may be, how much of its disk stays free, and the account that its definitions count
 * for, of which the recording gets a reference of its own. `limits` outlives the recording.
 */
void ts_recording_limit(struct ts_recording *recording, const struct ts_limits *limits,
			struct ts_user *user);
/*
 * Before its first session: its files count in the user's account from now on. 0 or -EDQUOT: the account has no room for a file.
 * `disk` outlives the recording. The functions below do nothing for a recording that does not count.
 */
int ts_recording_count(struct ts_recording *recording, struct ts_disk *disk);
/* Nothing of it counts any more. */
void ts_recording_uncount(struct ts_recording *recording);
/*
 * Another file of it is about to be made, was made or could not be, and is gone with n_bytes. -EDQUOT, -ENOSPC: there must be
 * none.
 */
int ts_recording_take_file(struct ts_recording *recording);
void ts_recording_settle_file(struct ts_recording *recording);
void ts_recording_give_file(struct ts_recording *recording, uint64_t n_bytes);
/* n_bytes of its files count elsewhere. */
void ts_recording_give_bytes(struct ts_recording *recording, uint64_t n_bytes);
/* Whether the file may not grow on: by its size, or by what is left of the disk. Any thread. */
bool ts_recording_full(struct ts_recording *recording);
/* What was found to be full, for people; NULL: nothing. Any thread. */
const char *ts_recording_why_full(const struct ts_recording *recording);
/* Whether the file still has a name; where it lost it, that is logged, once. Any thread. */
void ts_recording_look(struct ts_recording *recording);
/* Whether a new file may be begun there. */
bool ts_recording_has_disk(const char *directory, const struct ts_limits *limits);
/* Goes on in another file where it is time for that. By whoever wrote something; any thread. */
void ts_recording_rotate(struct ts_recording *recording);
/* All files of it that are there. */
uint64_t ts_recording_bytes(struct ts_recording *recording);
/*
 * Keeps what there is so far, and is not to be kept for ever, under another name: "-dump1" and so on before its ".sbt"; of a
 * recording that has ended, all that is kept of it. The main thread. 0 or -errno, which is logged. The dump's files, the oldest
 * first, do not count as the recording's; the list is freed with ts_recording_files_deinit().
 */
int ts_recording_dump(struct ts_recording *recording, struct ts_recording_files *ret_files);
/* All files of it, the oldest first. 0 or -ENOMEM. */
int ts_recording_files(struct ts_recording *recording, struct ts_recording_files *ret_files);
void ts_recording_files_deinit(struct ts_recording_files *files);
/* The file is complete: from now on the user whose sessions it holds and the group's members read it by its name. Any thread. */
void ts_recording_grant(const struct ts_recording *recording);
/* Nobody needs the file: takes its name away. A file of a stranger's keeps it. */
void ts_recording_discard(struct ts_recording *recording);

/* A descriptor of the file for a reader: read-only, with a position of its own unless the file is a stranger's. */
int ts_recording_open(const struct ts_recording *recording, int *ret_fd);
/* Of all its files, the newest first; *ret_n of them. -E2BIG: they are more than `most`. */
int ts_recording_open_all(struct ts_recording *recording, int *ret_fds, unsigned most,
			  unsigned *ret_n);

/* A process that could not make a session: a session row without records. */
int ts_recording_note(struct ts_recording *recording, const struct ts_identity *peer,
		      enum ts_empty_reason reason, const char *program, const char *text);

/* The same for one that the daemon refused; counts in n_refused rather than n_notes. */
int ts_recording_note_refused(struct ts_recording *recording, const struct ts_identity *peer,
			      const char *program, const char *why);

/* Remembers the first reason for emptiness. */
void ts_recording_empty(struct ts_recording *recording, uint32_t reason, const char *program,
			const char *text);

/* "no_cupti", ...; NULL for none. */
const char *ts_empty_reason_name(uint32_t reason);
