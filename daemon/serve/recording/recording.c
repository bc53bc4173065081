/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings: creates the file under an unused name, writes the recording's metadata, names its
 * stacks and finishes it. peer-file.c, peers.c, server.c and server-system.c create recordings;
 * threads of sessions charge and write. This module calls sbt/write and daemon/symbol.
 */
#include "daemon/serve/recording/recording.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>

#include "daemon/symbol/trace.h"
#include "daemon/util/acl.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"
#include "proto/abi/handshake.h"

/* Inodes of the file system that stay free, if `keep_free` is set. */
#define DISK_KEEP_FILES 1024u
/*
 * Free space beyond keep_free that a new recording needs: its first blocks are written before its
 * writer asks for space.
 */
#define BEGIN_BYTES (UINT64_C(256) << 10)
/*
 * Step of the charge for the writer's memory. After a trim, all memory but the index fits in one
 * step.
 */
#define MEMORY_STEP_BYTES (UINT64_C(256) << 10)

/*
 * Calls how(data, NAME) with numbered names until one does not exist. Returns 0 with that name in
 * *ret_path.
 */
static int find_name(const char *path, bool unique, int (*how)(void *data, const char *name),
		     void *data, char **ret_path)
{
	size_t n_bytes = strlen(path) + 16;
	ts_cleanup(ts_freep) char *name = malloc(n_bytes);

	if (!name)
		return ts_error_origin(-ENOMEM);
	for (unsigned i = 0; i < TS_OUTPUT_MAX_NUMBER; i++) {
		int r = ts_output_number(path, i, name, n_bytes);

		r = r ?: how(data, name);
		if (!r) {
			*ret_path = ts_take_ptr(name);
			return 0;
		}
		if (r != -EEXIST || !unique)
			return ts_error_origin(r);
	}
	return ts_error_origin(-EEXIST);
}

struct recording_file {
	mode_t mode;
	int fd;
};

static int create(void *data, const char *name)
{
	struct recording_file *file = data;

	file->fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, file->mode);
	return file->fd < 0 ? -errno : 0;
}

/* Creates an unnamed file in the directory of `path`. */
static int create_unnamed(const char *path, mode_t mode)
{
	const char *slash = strrchr(path, '/');
	ts_cleanup(ts_freep) char *folder =
		slash ? strndup(path, slash > path ? (size_t)(slash - path) : 1) : strdup(".");

	return folder ? open(folder, O_RDWR | O_TMPFILE | O_CLOEXEC, mode) : -1;
}

static int link_file(void *data, const char *name)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", *(int *)data);
	return linkat(AT_FDCWD, path, AT_FDCWD, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* Reads the boot id. Traces with the same boot id have the same CLOCK_MONOTONIC. */
static bool boot_id(char *text, size_t n_text)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	bool known = file && fgets(text, (int)n_text, file);

	if (file)
		fclose(file);
	if (known)
		text[strcspn(text, "\n")] = '\0';
	return known && *text;
}

static int describe(struct ts_sbt_writer *writer, const char *command)
{
	struct ts_clock_pair pair = ts_clock_pair_take(TS_CLOCK_REALTIME);
	struct utsname system;
	char text[256];
	int r;

	r = ts_sbt_writer_metadata(writer, TS_METADATA_DAEMON_VERSION, TS_VERSION);
	if (!r && !uname(&system)) {
		r = ts_sbt_writer_metadata(writer, TS_METADATA_HOSTNAME, system.nodename);
		snprintf(text, sizeof(text), "%s %s", system.sysname, system.release);
		r = r ?: ts_sbt_writer_metadata(writer, TS_METADATA_KERNEL, text);
	}
	if (!r && boot_id(text, sizeof(text)))
		r = ts_sbt_writer_metadata(writer, TS_METADATA_BOOT_ID, text);
	snprintf(text, sizeof(text), "%" PRIu64, pair.ticks);
	r = r ?: ts_sbt_writer_metadata(writer, TS_METADATA_START_REALTIME, text);
	snprintf(text, sizeof(text), "%" PRIu64, pair.monotonic_ns);
	r = r ?: ts_sbt_writer_metadata(writer, TS_METADATA_START_MONOTONIC, text);
	if (!r && command)
		r = ts_sbt_writer_metadata(writer, TS_METADATA_COMMAND, command);
	return r ?: ts_sbt_writer_flush(writer);
}

static int reopen(int fd, int *ret_fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ts_error_origin(-errno);
	*ret_fd = fd;
	return 0;
}

static int begin_account(struct ts_recording *recording, const struct ts_recording_account *account,
			 const char **ret_why)
{
	int r;

	ts_recording_limit(recording, account->limits, account->user);
	r = ts_recording_count(recording, account->disk);
	if (r)
		*ret_why = ts_recording_why_full(recording);
	return r;
}

/* How ts_recording_new() makes a file. */
struct recording_new {
	bool unique;
	mode_t mode;
	const char *command;
	const struct ts_recording_account *account;
	const char **ret_why;
};

/*
 * Takes ownership of `fd`. The accounts come before the metadata: with them, the writer reserves
 * the space of the file's end.
 */
static int begin(struct ts_recording *recording, int fd, const struct recording_new *new)
{
	int r = reopen(fd, &recording->read_fd);

	if (!r) {
		r = ts_sbt_writer_new(fd, &recording->writer);
		if (!r)
			fd = -1;
	}
	if (fd >= 0)
		close(fd);
	if (!r && new->account)
		r = begin_account(recording, new->account, new->ret_why);
	return r ?: describe(recording->writer, new->command);
}

/*
 * Links the file to its name after the metadata is written. A daemon that dies before that leaves
 * no incomplete trace. -EOPNOTSUPP: the file system has no unnamed files, or cannot link them.
 */
static int new_whole(struct ts_recording *recording, const char *path,
		     const struct recording_new *new)
{
	int fd = create_unnamed(path, new->mode), r;

	if (fd < 0)
		return -EOPNOTSUPP;
	r = begin(recording, fd, new);
	if (r)
		return r;
	r = find_name(path, new->unique, link_file, &recording->read_fd, &recording->path);
	return !r || r == -EEXIST ? r : -EOPNOTSUPP;
}

static int new_named(struct ts_recording *recording, const char *path,
		     const struct recording_new *new)
{
	struct recording_file file = {.mode = new->mode};
	int r = find_name(path, new->unique, create, &file, &recording->path);

	r = r ?: begin(recording, file.fd, new);
	if (r && recording->path)
		unlink(recording->path);
	return r;
}

static struct ts_recording *alloc(void)
{
	struct ts_recording *recording = calloc(1, sizeof(*recording));

	if (!recording)
		return NULL;
	recording->read_fd = -1;
	recording->group = (gid_t)-1;
	pthread_mutex_init(&recording->rotating, NULL);
	recording->part_ns = ts_clock_monotonic_ns();
	return recording;
}

int ts_recording_new(const char *path, bool unique, mode_t mode, const char *command,
		     const struct ts_recording_account *account, const char **ret_why,
		     struct ts_recording **ret_recording)
{
	const struct recording_new new = {unique, mode, command, account, ret_why};
	struct ts_recording *recording = alloc();
	int r = recording ? new_whole(recording, path, &new) : -ENOMEM;

	if (r == -EOPNOTSUPP) {
		ts_recording_free(recording);
		recording = alloc();
		r = recording ? new_named(recording, path, &new) : -ENOMEM;
	}
	if (r) {
		if (recording)
			ts_recording_free(recording);
		return ts_error_trace(r < 0 ? r : -EIO);
	}
	*ret_recording = recording;
	return 0;
}

/*
 * Starts the writer on the file. Takes ownership of `fd`. On failure, truncates the file to 0
 * bytes.
 */
static int write_to(struct ts_recording *recording, int fd)
{
	int r = ts_sbt_writer_new(fd, &recording->writer);

	r = r ?: describe(recording->writer, NULL);
	if (r && ftruncate(fd, 0) < 0) {
		/*
		 * If it cannot be truncated, the file stays an incomplete trace, which its owner
		 * may remove.
		 */
	}
	if (!recording->writer)
		close(fd);
	return r;
}

int ts_recording_adopt(int fd, int read_fd, const char *path, struct ts_recording **ret_recording)
{
	struct ts_recording *recording = alloc();
	int r;

	if (!recording) {
		close(fd);
		close(read_fd);
		return ts_error_origin(-ENOMEM);
	}
	recording->is_theirs = true;
	recording->read_fd = read_fd;
	recording->path = strdup(path);
	r = write_to(recording, fd);
	if (!r && !recording->path)
		r = -ENOMEM;
	if (r) {
		ts_recording_free(recording);
		return ts_error_trace(r < 0 ? r : -EIO);
	}
	*ret_recording = recording;
	return 0;
}

void ts_recording_grant(const struct ts_recording *recording)
{
	const struct ts_acl_readers readers = {.uid = recording->uid, .group = recording->group};
	int r;

	if (recording->is_theirs || (readers.uid == geteuid() && readers.group == (gid_t)-1))
		return;
	r = ts_acl_grant(recording->read_fd, &readers);
	/*
	 * If the file system has no access control lists, peer-file.c has logged this at the first
	 * file, so log it only as a detail here.
	 */
	if (r)
		ts_log(r == -EOPNOTSUPP ? TS_LOG_DEBUG : TS_LOG_WARNING,
		       "only the daemon can read %s: %s", recording->path, strerror(-r));
}

int ts_recording_quantum(struct ts_recording *recording, uint64_t ns)
{
	int r = ts_sbt_writer_quantum(recording->writer, ns);

	return r ? ts_error_trace(r < 0 ? r : -EIO) : 0;
}

static int sink_string(void *data, const char *bytes, size_t n_bytes, uint32_t *ret_id)
{
	return ts_sbt_writer_string(data, bytes, n_bytes, ret_id);
}

static int sink_row(void *data, unsigned type, const void *row)
{
	return ts_sbt_writer_row(data, type, row);
}

/*
 * Records why no stack has names: the worker cannot start, or dies on every file. If files failed
 * for different reasons, records the reason of the file with the most addresses.
 */
static void note_names(struct ts_recording *recording, const struct ts_symbol_report *report)
{
	const struct ts_symbol_report_image *most = NULL;

	for (size_t i = 0; i < report->n_images; i++)
		if (*report->images[i].why &&
		    (!most || report->images[i].n_addresses > most->n_addresses))
			most = &report->images[i];
	if (most && report->n_addresses && !report->n_named && !report->n_kept)
		snprintf(recording->names_missing, sizeof(recording->names_missing), "%s",
			 most->why);
}

static int symbolize(struct ts_recording *recording, const struct ts_symbol_trace_options *options)
{
	struct ts_symbol_sink sink = {sink_string, sink_row, recording->writer};
	struct ts_symbol_report report = {0};
	ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
	ts_cleanup(ts_closep) int fd = -1;
	int r = reopen(recording->read_fd, &fd);

	r = r ?: ts_sbt_reader_open(fd, &reader, NULL);
	if (r)
		return r == -ENOENT ? -EIO : r;
	r = ts_symbolize_trace(reader, &sink, options, &report);
	if (!r)
		note_names(recording, &report);
	ts_symbol_report_deinit(&report);
	return r;
}

/*
 * Sets `cut_short`, once, before the names of stacks are written: if only these names find no room,
 * the recording does not count as cut short.
 */
static void judge(struct ts_recording *recording)
{
	if (!recording->judged)
		recording->cut_short = ts_recording_why_full(recording);
	recording->judged = true;
}

void ts_recording_symbolize(struct ts_recording *recording, const char *worker, uint32_t ms,
			    const uint64_t *stop_ns)
{
	struct ts_symbol_trace_options options = {
		.symbolizer = {.worker = {.path = worker, .stop_ns = stop_ns}, .deadline_ms = ms},
		.deadline_ns = ts_clock_monotonic_ns() + ms * UINT64_C(1000000),
		.stop_ns = stop_ns,
		.for_others = true,
	};
	int r;

	if (recording->ended || ts_sbt_writer_error(recording->writer) ||
	    ts_recording_full(recording))
		return;
	judge(recording);
	r = symbolize(recording, &options);
	if (r)
		snprintf(recording->names_missing, sizeof(recording->names_missing), "%s",
			 r == -ENOENT ? "tracesmith-worker is not installed"
			 : r < 0      ? strerror(-r)
				      : "the trace cannot be read");
	if (*recording->names_missing)
		ts_log(TS_LOG_WARNING, "%s: stacks have no names: %s", recording->path,
		       recording->names_missing);
}

/* Gives back the charges for the writer's memory, because the writer is freed. */
static void discharge(struct ts_recording *recording)
{
	if (recording->user)
		ts_user_give(recording->user, TS_RESOURCE_DEFINITION_BYTES,
			     recording->definition_bytes);
	if (recording->user)
		ts_user_give(recording->user, TS_RESOURCE_MEMORY_BYTES, recording->memory_bytes);
	recording->definition_bytes = recording->memory_bytes = 0;
}

void ts_recording_free(struct ts_recording *recording)
{
	if (!recording)
		return;
	ts_sbt_writer_free(recording->writer);
	discharge(recording);
	ts_recording_uncount(recording);
	ts_user_unref(recording->user);
	if (recording->read_fd >= 0)
		close(recording->read_fd);
	pthread_mutex_destroy(&recording->rotating);
	free(recording->parts);
	free(recording->path);
	free(recording);
}

void ts_recording_end(struct ts_recording *recording)
{
	int r;

	if (recording->ended)
		return;
	/* Take the lock, because a dump may be in progress. */
	pthread_mutex_lock(&recording->rotating);
	recording->ended = true;
	judge(recording);
	/*
	 * This metadata may find no room in the file. The losses with reason `disk` still report
	 * the fact.
	 */
	if (recording->cut_short)
		(void)ts_sbt_writer_metadata(recording->writer, TS_METADATA_CUT_SHORT,
					     recording->cut_short);
	r = ts_sbt_writer_finish(recording->writer);
	recording->error = r > 0 ? -EIO : r;
	pthread_mutex_unlock(&recording->rotating);
}

int ts_recording_finish(struct ts_recording *recording)
{
	struct stat status;

	if (recording->finished)
		return recording->error;
	recording->finished = true;
	ts_recording_end(recording);
	/* Report a file that was written but that another process has removed. */
	if (!recording->error && !fstat(recording->read_fd, &status) && !status.st_nlink)
		recording->error = -ENOENT;
	/*
	 * Freeing the writer releases its lock on the file, by which readers see that the file is
	 * being written.
	 */
	ts_sbt_writer_free(ts_take_ptr(recording->writer));
	discharge(recording);
	return recording->error;
}

bool ts_recording_charge(struct ts_recording *recording, uint64_t n_bytes,
			 uint64_t *n_session_bytes)
{
	if (*n_session_bytes + n_bytes > recording->limits->max_definition_bytes ||
	    !ts_user_take(recording->user, TS_RESOURCE_DEFINITION_BYTES, n_bytes))
		return false;
	__atomic_add_fetch(&recording->definition_bytes, n_bytes, __ATOMIC_RELAXED);
	*n_session_bytes += n_bytes;
	return true;
}

bool ts_recording_account(struct ts_recording *recording)
{
	uint64_t n_bytes = ts_align_up(ts_sbt_writer_memory(recording->writer), MEMORY_STEP_BYTES);
	/* Several threads may run this: each charges the difference to the previous charge. */
	uint64_t before = __atomic_exchange_n(&recording->memory_bytes, n_bytes, __ATOMIC_RELAXED);

	if (n_bytes <= before) {
		ts_user_give(recording->user, TS_RESOURCE_MEMORY_BYTES, before - n_bytes);
		return true;
	}
	if (ts_user_take(recording->user, TS_RESOURCE_MEMORY_BYTES, n_bytes - before))
		return true;
	__atomic_sub_fetch(&recording->memory_bytes, n_bytes - before, __ATOMIC_RELAXED);
	return false;
}

void ts_recording_limit(struct ts_recording *recording, const struct ts_limits *limits,
			struct ts_user *user)
{
	recording->limits = limits;
	recording->user = ts_user_ref(user);
	ts_sbt_writer_limit(recording->writer, limits->max_file_bytes);
}

/*
 * True if too few bytes or inodes are free. Inodes count, because many small files would use up the
 * inodes of other users.
 */
static bool disk_is_used_up(const struct statvfs *disk, uint64_t keep_free)
{
	return (uint64_t)disk->f_bavail * disk->f_frsize < keep_free ||
	       (disk->f_files && disk->f_favail < DISK_KEEP_FILES);
}

bool ts_recording_has_disk(const char *directory, const struct ts_limits *limits)
{
	struct statvfs disk;

	return !limits->keep_free || statvfs(directory, &disk) < 0 ||
	       !disk_is_used_up(&disk, limits->keep_free + BEGIN_BYTES);
}

bool ts_recording_full(struct ts_recording *recording)
{
	struct statvfs disk;

	if (recording->limits->keep_free && !fstatvfs(recording->read_fd, &disk) &&
	    disk_is_used_up(&disk, recording->limits->keep_free))
		__atomic_store_n(&recording->nothing_free, true, __ATOMIC_RELAXED);
	return ts_recording_why_full(recording) != NULL;
}

const char *ts_recording_why_full(const struct ts_recording *recording)
{
	const char *no_space = __atomic_load_n(&recording->no_space, __ATOMIC_RELAXED);

	if (no_space)
		return no_space;
	switch (ts_sbt_writer_full(recording->writer)) {
	case -ENOSPC:
		return "the disk is full";
	case -EDQUOT:
		return "the disk quota of the file system is used up";
	case -EFBIG:
		return "the file reached its size limit (--max-file-bytes, ulimit -f)";
	default:
		return __atomic_load_n(&recording->nothing_free, __ATOMIC_RELAXED)
			       ? TS_RECORDING_NOTHING_FREE
			       : NULL;
	}
}

void ts_recording_look(struct ts_recording *recording)
{
	struct stat status;

	if (fstat(recording->read_fd, &status) < 0 || status.st_nlink ||
	    __atomic_exchange_n(&recording->removed, true, __ATOMIC_RELAXED))
		return;
	ts_log(TS_LOG_WARNING,
	       "%s was removed while the daemon writes it: its rows are lost at the end of the recording; stop the program, or start a new recording",
	       recording->path);
}

void ts_recording_discard(struct ts_recording *recording)
{
	struct stat ours, named;

	if (recording->is_theirs)
		return;
	/*
	 * Remove the name only if it still belongs to our file, and not to a file that another
	 * process has put there.
	 */
	if (!fstat(recording->read_fd, &ours) &&
	    !fstatat(AT_FDCWD, recording->path, &named, AT_SYMLINK_NOFOLLOW) &&
	    ours.st_ino == named.st_ino && ours.st_dev == named.st_dev)
		unlink(recording->path);
}

int ts_recording_open(const struct ts_recording *recording, int *ret_fd)
{
	/* The daemon's user might not have the right to open a stranger's file. */
	if (recording->is_theirs) {
		*ret_fd = fcntl(recording->read_fd, F_DUPFD_CLOEXEC, 0);
		return *ret_fd < 0 ? ts_error_origin(-errno) : 0;
	}
	return reopen(recording->read_fd, ret_fd);
}

void ts_recording_empty(struct ts_recording *recording, uint32_t reason, const char *program,
			const char *text)
{
	if (!reason || recording->empty_reason)
		return;
	recording->empty_reason = reason;
	snprintf(recording->empty_program, sizeof(recording->empty_program), "%s", program);
	snprintf(recording->empty_text, sizeof(recording->empty_text), "%s", text);
}

static int add_note(struct ts_recording *recording, const struct ts_identity *peer,
		    enum ts_empty_reason reason, const char *program, const char *text)
{
	struct ts_sbt_session_writer *session = NULL;
	struct ts_row_session row = {
		.pid = (uint32_t)peer->pid,
		.uid = peer->uid,
		.start_ns = ts_clock_monotonic_ns(),
		.start_realtime_ns = ts_clock_realtime_ns(),
		.host_clock = TS_CLOCK_MONOTONIC,
		.state = TS_SESSION_REFUSED,
		.ended = TS_SESSION_END_EMPTY,
		.empty_reason = reason,
	};
	int r;

	row.end_ns = row.start_ns;
	r = ts_sbt_writer_string(recording->writer, program, strlen(program), &row.program);
	r = r ?: ts_sbt_writer_string(recording->writer, text, strlen(text), &row.empty_text);
	r = r ?: ts_sbt_session_writer_new(recording->writer, &row, &session);
	r = r ?: ts_sbt_session_writer_seal(session, NULL, 0);
	ts_sbt_session_writer_free(session);
	if (r)
		return ts_error_trace(r < 0 ? r : -EIO);
	ts_recording_empty(recording, reason, program, text);
	return 0;
}

int ts_recording_note(struct ts_recording *recording, const struct ts_identity *peer,
		      enum ts_empty_reason reason, const char *program, const char *text)
{
	int r;

	if (recording->n_notes++ >= TS_RECORDING_MAX_NOTES)
		return 0;
	r = add_note(recording, peer, reason, program, text);
	recording->n_notes -= r != 0;
	return r;
}

int ts_recording_note_refused(struct ts_recording *recording, const struct ts_identity *peer,
			      const char *program, const char *why)
{
	if (recording->n_refused++ >= TS_RECORDING_MAX_REFUSALS)
		return 0;
	return add_note(recording, peer, TS_EMPTY_REFUSED, program, why);
}

const char *ts_empty_reason_name(uint32_t reason)
{
	static const char *const names[] = {
		[TS_EMPTY_NO_CUPTI] = "no_cupti",
		[TS_EMPTY_CUPTI_HELD] = "cupti_held",
		[TS_EMPTY_INJECTION_HELD] = "injection_held",
		[TS_EMPTY_CUPTI_TOO_OLD] = "cupti_too_old",
		[TS_EMPTY_CUPTI_ERROR] = "cupti_error",
		[TS_EMPTY_NO_MEMORY] = "no_memory",
		[TS_EMPTY_REFUSED] = "refused",
	};

	return reason < TS_ARRAY_LEN(names) ? names[reason] : NULL;
}
