/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording in several files. It continues in another file when size or age require it, or for a
 * dump. The newest file keeps the recording's name; finished files get a number. The oldest files
 * are removed when the limits (--keep...) allow it.
 *
 * The thread that has just written checks for a rotation: session-write.c and observer.c call
 * ts_recording_rotate(). dump.c, control.c, answers.c and expire.c call the other functions.
 *
 * Rotation:
 *   link NAME.sbt -> NAME.<number>.sbt     the finished file gets its number
 *   create NAME.sbt.XXXXXX                 the next file
 *   ts_sbt_writer_continue()               ends the old file, writes to the next one
 *   rename NAME.sbt.XXXXXX -> NAME.sbt     the next file gets the recording's name
 */
#include "daemon/serve/recording/recording.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"
#include "proto/abi/grow.h"
#include "sbt/reader.h"

#define MS_NS	     UINT64_C(1000000)
#define MAX_NUMBER   1000000u
#define TRY_AGAIN_NS (UINT64_C(1000) * MS_NS)

/* A finished file. */
struct ts_recording_part {
	uint32_t number;
	uint64_t n_bytes;
	/* bytes of this file that are charged to the recording and not to a dump */
	uint64_t n_counted;
	uint64_t begin_ns;
	dev_t device;
	ino_t inode;
};

static bool is_due(const struct ts_recording *recording, uint64_t now)
{
	const struct ts_limits *limits = recording->limits;
	uint64_t size = limits->rotate_size, age_ms = limits->rotate_age;
	uint64_t n_bytes = ts_sbt_writer_bytes(recording->writer);

	/*
	 * If keep_last_* is set without rotate_*, the limit of one file is an eighth of
	 * keep_last_*.
	 */
	if (!size && limits->keep_last_size)
		size = limits->keep_last_size / 8;
	if (!age_ms && limits->keep_last_age)
		age_ms = limits->keep_last_age / 8 + 1;
	return (size &&
		n_bytes - __atomic_load_n(&recording->part_bytes, __ATOMIC_RELAXED) >= size) ||
	       (age_ms &&
		now - __atomic_load_n(&recording->part_ns, __ATOMIC_RELAXED) >= age_ms * MS_NS);
}

/* Links the present file to a numbered name. On success the caller owns *ret_path. */
static int name_part(struct ts_recording *recording, uint32_t *ret_number, char **ret_path)
{
	struct stat ours, named;

	for (uint32_t number = recording->part_number + 1; number < MAX_NUMBER; number++) {
		ts_cleanup(ts_freep) char *path = ts_sbt_part_path(recording->path, number);

		if (!path)
			return ts_error_origin(-EINVAL);
		if (link(recording->path, path) < 0) {
			if (errno == EEXIST)
				continue;
			return -errno;
		}
		/* Fails if another process has replaced the file that has the recording's name. */
		if (fstat(recording->read_fd, &ours) < 0 || stat(path, &named) < 0 ||
		    ours.st_ino != named.st_ino || ours.st_dev != named.st_dev) {
			unlink(path);
			return ts_error_origin(-ENOENT);
		}
		*ret_number = number;
		*ret_path = ts_take_ptr(path);
		return 0;
	}
	return ts_error_origin(-EEXIST);
}

static int create_next(const struct ts_recording *recording, char **ret_path, int *ret_fd)
{
	ts_cleanup(ts_freep) char *path = NULL;
	struct stat before;
	int fd;

	if (asprintf(&path, "%s.XXXXXX", recording->path) < 0) {
		path = NULL;
		return ts_error_origin(-ENOMEM);
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!fstat(recording->read_fd, &before) && fchmod(fd, before.st_mode & 0777) < 0) {
		/* The file stays readable by its owner only. */
	}
	*ret_path = ts_take_ptr(path);
	*ret_fd = fd;
	return 0;
}

/* Adds the finished file to the list of parts. */
static int remember_part(struct ts_recording *recording, uint32_t number)
{
	struct stat status;

	if (TS_GROW(recording->parts, recording->n_parts_allocated, recording->n_parts + 1))
		return ts_error_origin(-ENOMEM);
	if (fstat(recording->read_fd, &status) < 0)
		return ts_error_origin(-errno);
	recording->parts[recording->n_parts++] = (struct ts_recording_part){
		.number = number,
		.n_bytes = (uint64_t)status.st_size,
		.n_counted = (uint64_t)status.st_size,
		.begin_ns = recording->part_ns,
		.device = status.st_dev,
		.inode = status.st_ino,
	};
	return 0;
}

/*
 * Makes read_fd refer to the new file. The descriptor's number stays, because other threads use it.
 */
static int open_for_reading(struct ts_recording *recording, const char *path)
{
	ts_cleanup(ts_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || dup3(fd, recording->read_fd, O_CLOEXEC) < 0)
		return ts_error_origin(-errno);
	return 0;
}

/* True if the oldest finished file may be removed. */
static bool has_enough(const struct ts_recording *recording, uint64_t now)
{
	const struct ts_limits *limits = recording->limits;
	const struct ts_recording_part *second = &recording->parts[1];
	uint64_t n_bytes = 0;

	if (limits->keep && recording->n_parts + 1 > limits->keep)
		return true;
	for (size_t i = 1; i < recording->n_parts; i++)
		n_bytes += recording->parts[i].n_bytes;
	if (limits->keep_last_size && recording->n_parts > 1 && n_bytes >= limits->keep_last_size)
		return true;
	return limits->keep_last_age && recording->n_parts > 1 &&
	       now - second->begin_ns >= limits->keep_last_age * MS_NS;
}

static void forget_oldest(struct ts_recording *recording)
{
	const struct ts_recording_part *oldest = recording->parts;
	ts_cleanup(ts_freep) char *path = ts_sbt_part_path(recording->path, oldest->number);
	struct stat named;

	/*
	 * Remove the name only if it still belongs to our file, and not to a file that another
	 * process has put there.
	 */
	if (path && !fstatat(AT_FDCWD, path, &named, AT_SYMLINK_NOFOLLOW) &&
	    named.st_ino == oldest->inode && named.st_dev == oldest->device)
		unlink(path);
	ts_recording_give_file(recording, oldest->n_counted);
	recording->n_parts--;
	memmove(recording->parts, recording->parts + 1,
		recording->n_parts * sizeof(*recording->parts));
}

/* Adds the finished file to the parts and renames the new file to the recording's name. */
static int switch_over(struct ts_recording *recording, uint32_t number, const char *path)
{
	int r = remember_part(recording, number);

	ts_recording_grant(recording);
	r = r ?: open_for_reading(recording, path);
	if (rename(path, recording->path) < 0)
		r = r ?: ts_error_origin(-errno);
	recording->part_number = number;
	__atomic_store_n(&recording->part_bytes, ts_sbt_writer_bytes(recording->writer),
			 __ATOMIC_RELAXED);
	return r;
}

static int rotate(struct ts_recording *recording)
{
	ts_cleanup(ts_freep) char *named = NULL;
	ts_cleanup(ts_freep) char *path = NULL;
	ts_cleanup(ts_closep) int fd = -1;
	uint32_t number;
	int r = ts_recording_take_file(recording);

	if (r)
		return r;
	r = name_part(recording, &number, &named);
	r = r ?: create_next(recording, &path, &fd);
	ts_recording_settle_file(recording);
	r = r ?: ts_sbt_writer_continue(recording->writer, fd, number);
	if (r) {
		if (named)
			unlink(named);
		if (path)
			unlink(path);
		ts_recording_give_file(recording, 0);
		return r;
	}
	ts_take_fd(&fd);
	return switch_over(recording, number, path);
}

/* Called with `rotating` held. */
static int rotate_and_tidy(struct ts_recording *recording, uint64_t now)
{
	int r = rotate(recording);

	if (r) {
		if (!recording->rotation_failed)
			ts_log(TS_LOG_WARNING,
			       "%s: cannot start the next file of the recording: %s; the current file continues",
			       recording->path, strerror(-r));
		recording->rotation_failed = true;
		__atomic_store_n(&recording->rotate_after_ns, now + TRY_AGAIN_NS, __ATOMIC_RELAXED);
		return r;
	}
	__atomic_store_n(&recording->part_ns, now, __ATOMIC_RELAXED);
	while (recording->n_parts && has_enough(recording, now))
		forget_oldest(recording);
	return 0;
}

void ts_recording_rotate(struct ts_recording *recording)
{
	uint64_t now = ts_clock_monotonic_ns();

	/*
	 * Do not rotate a file that the traced process created: a second file in its directory
	 * would need that process's rights.
	 */
	if (recording->is_theirs || !is_due(recording, now) ||
	    now < __atomic_load_n(&recording->rotate_after_ns, __ATOMIC_RELAXED) ||
	    ts_sbt_writer_full(recording->writer) || pthread_mutex_trylock(&recording->rotating))
		return;
	/* Check again with the lock held, because another thread may have rotated just before. */
	if (is_due(recording, now) && now >= recording->part_ns)
		rotate_and_tidy(recording, now);
	pthread_mutex_unlock(&recording->rotating);
}

/* Opens a finished file. -1: the file is gone, or another file has its name. */
static int open_part(const struct ts_recording *recording, const struct ts_recording_part *part)
{
	ts_cleanup(ts_freep) char *path = ts_sbt_part_path(recording->path, part->number);
	ts_cleanup(ts_closep) int fd = -1;
	struct stat status;

	if (!path)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &status) || status.st_ino != part->inode ||
	    status.st_dev != part->device)
		return -1;
	return ts_take_fd(&fd);
}

int ts_recording_open_all(struct ts_recording *recording, int *ret_fds, unsigned most,
			  unsigned *ret_n)
{
	unsigned n = 0;
	int r;

	pthread_mutex_lock(&recording->rotating);
	r = recording->n_parts < most ? 0 : -E2BIG;
	if (!r)
		r = ts_recording_open(recording, &ret_fds[0]);
	n = !r;
	/*
	 * Stops at the first missing file: older files are useless, because a recording is read
	 * without gaps.
	 */
	for (size_t i = recording->n_parts; !r && i--; n++) {
		ret_fds[n] = open_part(recording, &recording->parts[i]);
		if (ret_fds[n] < 0)
			break;
	}
	pthread_mutex_unlock(&recording->rotating);
	*ret_n = n;
	return r;
}

uint64_t ts_recording_bytes(struct ts_recording *recording)
{
	struct stat status;
	uint64_t n_bytes = 0;

	pthread_mutex_lock(&recording->rotating);
	for (size_t i = 0; i < recording->n_parts; i++)
		n_bytes += recording->parts[i].n_bytes;
	if (!fstat(recording->read_fd, &status))
		n_bytes += (uint64_t)status.st_size;
	pthread_mutex_unlock(&recording->rotating);
	return n_bytes;
}

/* ---- lists of files ---- */

void ts_recording_files_deinit(struct ts_recording_files *files)
{
	while (files->n)
		free(files->paths[--files->n]);
	free(files->paths);
	*files = (struct ts_recording_files){0};
}

/* Adds a path to the list and takes ownership of it. NULL: the path's allocation failed. */
static int files_add(struct ts_recording_files *files, char *path)
{
	if (!path || TS_GROW(files->paths, files->n_allocated, files->n + 1)) {
		free(path);
		return ts_error_origin(-ENOMEM);
	}
	files->paths[files->n++] = path;
	return 0;
}

int ts_recording_files(struct ts_recording *recording, struct ts_recording_files *ret_files)
{
	struct ts_recording_files files = {0};
	int r = 0;

	pthread_mutex_lock(&recording->rotating);
	for (size_t i = 0; !r && i < recording->n_parts; i++)
		r = files_add(&files,
			      ts_sbt_part_path(recording->path, recording->parts[i].number));
	pthread_mutex_unlock(&recording->rotating);
	r = r ?: files_add(&files, strdup(recording->path));
	if (r) {
		ts_recording_files_deinit(&files);
		return r;
	}
	*ret_files = files;
	return 0;
}

/* ---- dumps ---- */

/* Returns the number of finished files. The last file of an ended recording counts as finished. */
static size_t dump_n_files(const struct ts_recording *recording)
{
	return recording->n_parts + recording->ended;
}

/*
 * Links one finished file to a name of the dump and adds the name to `files`. The last file gets
 * the dump's name without a number.
 */
static int dump_link(struct ts_recording *recording, const char *dump, size_t i,
		     struct ts_recording_files *files)
{
	ts_cleanup(ts_freep) char *numbered = NULL;
	const char *from = recording->path;
	int r;

	if (i < recording->n_parts) {
		numbered = ts_sbt_part_path(recording->path, recording->parts[i].number);
		if (!numbered)
			return -ENOMEM;
		from = numbered;
	}
	r = files_add(files, i + 1 < dump_n_files(recording)
				     ? ts_sbt_part_path(dump, recording->parts[i].number)
				     : strdup(dump));
	if (r)
		return r;
	if (!link(from, files->paths[files->n - 1]))
		return 0;
	r = -errno;
	free(files->paths[--files->n]);
	return r;
}

/* Links all finished files to the names of a dump. The dump is complete with the last link. */
static int dump_as(struct ts_recording *recording, const char *dump,
		   struct ts_recording_files *files)
{
	int r = access(dump, F_OK) ? 0 : -EEXIST;

	for (size_t i = 0; !r && i < dump_n_files(recording); i++)
		r = dump_link(recording, dump, i, files);
	if (!r)
		return 0;
	for (size_t i = 0; i < files->n; i++)
		unlink(files->paths[i]);
	ts_recording_files_deinit(files);
	return r;
}

static int dump(struct ts_recording *recording, struct ts_recording_files *files)
{
	size_t n = strlen(recording->path), n_stem = n;
	int r = -EEXIST;

	if (n > 4 && !strcmp(recording->path + n - 4, ".sbt"))
		n_stem = n - 4;
	while (r == -EEXIST && recording->n_dumps < TS_RECORDING_MAX_DUMPS) {
		ts_cleanup(ts_freep) char *path = NULL;

		if (asprintf(&path, "%.*s-dump%u%s", (int)n_stem, recording->path,
			     ++recording->n_dumps, recording->path + n_stem) < 0) {
			path = NULL;
			return -ENOMEM;
		}
		r = dump_as(recording, path, files);
	}
	return r;
}

/* Checks that the user's account has room for the dump. dump_count() charges the files later. */
static int dump_ask(struct ts_recording *recording)
{
	uint64_t n_files = dump_n_files(recording);

	if (!recording->disk)
		return 0;
	if (!ts_user_take(recording->user, TS_RESOURCE_DISK_FILES, n_files))
		return -EDQUOT;
	ts_user_give(recording->user, TS_RESOURCE_DISK_FILES, n_files);
	return 0;
}

/*
 * Charges the bytes of the linked files to the dump and no longer to the recording, because the
 * dump may outlive the recording's files.
 */
static void dump_count(struct ts_recording *recording)
{
	for (size_t i = 0; i < recording->n_parts; i++) {
		ts_recording_give_bytes(recording, recording->parts[i].n_counted);
		recording->parts[i].n_counted = 0;
	}
}

int ts_recording_dump(struct ts_recording *recording, struct ts_recording_files *ret_files)
{
	struct ts_recording_files files = {0};
	int r;

	if (recording->is_theirs) {
		ts_log(TS_LOG_WARNING,
		       "%s: the daemon does not dump a file that its process opened",
		       recording->path);
		return -EOPNOTSUPP;
	}
	if (recording->n_dumps >= TS_RECORDING_MAX_DUMPS)
		return -EDQUOT;
	pthread_mutex_lock(&recording->rotating);
	r = recording->ended ? 0 : rotate_and_tidy(recording, ts_clock_monotonic_ns());
	r = r ?: dump_ask(recording);
	r = r ?: dump(recording, &files);
	if (!r)
		dump_count(recording);
	pthread_mutex_unlock(&recording->rotating);
	if (r)
		ts_log(TS_LOG_ERROR, "%s: cannot write a dump: %s", recording->path, strerror(-r));
	else
		*ret_files = files;
	return r;
}
