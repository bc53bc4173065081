/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lists of finished traces and their removal (rules: retention.h). expire.c calls this module
 * when the service starts, when a session ends, and by a timer. retention-scan.c adds the files of
 * earlier runs. Each owner has a list of traces, oldest first, so that a pass reads only the heads
 * of the lists.
 */
#include "daemon/serve/recording/retention.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/serve/recording/retention-internal.h"
#include "daemon/util/daemon-error.h"

#define SECOND_NS UINT64_C(1000000000)
#define HOUR_NS	  (3600 * SECOND_NS)
/* Eighths of a share. Above this, the oldest traces are removed to make room. */
#define FULL_EIGHTHS 7

int ts_retention_new(const struct ts_retention_options *options,
		     struct ts_retention **ret_retention)
{
	struct ts_retention *retention = calloc(1, sizeof(*retention));

	if (!retention)
		return ts_error_origin(-ENOMEM);
	retention->options = *options;
	retention->fd = open(options->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (retention->fd < 0) {
		free(retention);
		return ts_error_origin(-errno);
	}
	*ret_retention = retention;
	return 0;
}

void ts_retention_file_free(struct retention_file *file)
{
	if (!file)
		return;
	free(file->name);
	free(file);
}

/* ---- lists ---- */

static struct retention_owner *owner_of(struct ts_retention *retention, struct ts_user *user)
{
	struct retention_owner *owner = ts_map_get_pointer(&retention->by_user, (uintptr_t)user);

	if (owner)
		return owner;
	owner = calloc(1, sizeof(*owner));
	if (!owner || ts_map_set_pointer(&retention->by_user, (uintptr_t)user, owner)) {
		free(owner);
		return NULL;
	}
	owner->user = ts_user_ref(user);
	owner->next = retention->owners;
	if (owner->next)
		owner->next->before = owner;
	retention->owners = owner;
	return owner;
}

static void owner_free_if_empty(struct ts_retention *retention, struct retention_owner *owner)
{
	if (owner->first)
		return;
	ts_map_remove(&retention->by_user, (uintptr_t)owner->user);
	*(owner->before ? &owner->before->next : &retention->owners) = owner->next;
	if (owner->next)
		owner->next->before = owner->before;
	ts_user_unref(owner->user);
	free(owner);
}

/*
 * Inserts the trace in the sorted list. Searches from the end, because most new traces are newer
 * than all others.
 */
static void owner_insert(struct retention_owner *owner, struct retention_trace *trace)
{
	struct retention_trace *after = owner->last;

	while (after && after->time_ns > trace->time_ns)
		after = after->before;
	trace->before = after;
	trace->next = after ? after->next : owner->first;
	*(after ? &after->next : &owner->first) = trace;
	*(trace->next ? &trace->next->before : &owner->last) = trace;
}

static void owner_unlink(struct retention_owner *owner, struct retention_trace *trace)
{
	*(trace->before ? &trace->before->next : &owner->first) = trace->next;
	*(trace->next ? &trace->next->before : &owner->last) = trace->before;
}

static void count(struct ts_retention *retention, struct retention_owner *owner, uint64_t n_bytes,
		  size_t n_files)
{
	owner->n_bytes += n_bytes;
	retention->n_bytes += n_bytes;
	retention->n_files += n_files;
	ts_user_put(owner->user, TS_RESOURCE_DISK_BYTES, n_bytes);
	ts_user_put(owner->user, TS_RESOURCE_DISK_FILES, n_files);
}

static void uncount(struct ts_retention *retention, struct retention_owner *owner, uint64_t n_bytes,
		    size_t n_files)
{
	owner->n_bytes -= n_bytes;
	retention->n_bytes -= n_bytes;
	retention->n_files -= n_files;
	ts_user_give(owner->user, TS_RESOURCE_DISK_BYTES, n_bytes);
	ts_user_give(owner->user, TS_RESOURCE_DISK_FILES, n_files);
}

static struct retention_file *find_same(const struct retention_owner *owner,
					const struct retention_file *file)
{
	for (struct retention_trace *trace = owner->first; trace; trace = trace->next)
		for (struct retention_file *other = trace->files; other; other = other->next)
			if (other != file && other->inode == file->inode &&
			    other->device == file->device)
				return other;
	return NULL;
}

int ts_retention_insert(struct ts_retention *retention, struct ts_user *user,
			struct retention_trace *trace)
{
	struct retention_owner *owner = owner_of(retention, user);
	uint64_t n_bytes = 0;
	size_t n_files = 0;

	if (!owner)
		return ts_error_origin(-ENOMEM);
	for (struct retention_file *file = trace->files; file; file = file->next) {
		/* A dump and its recording share blocks, which count once. */
		if (file->has_links && find_same(owner, file))
			file->n_bytes = 0;
		n_bytes += file->n_bytes;
		n_files++;
	}
	owner_insert(owner, trace);
	count(retention, owner, n_bytes, n_files);
	return 0;
}

static void file_forget(struct ts_retention *retention, struct retention_owner *owner,
			struct retention_trace *trace, struct retention_file *file)
{
	struct retention_file **p = &trace->files,
			      *same = file->has_links ? find_same(owner, file) : NULL;

	while (*p != file)
		p = &(*p)->next;
	*p = file->next;
	uncount(retention, owner, file->n_bytes, 1);
	/*
	 * The blocks stay, because a dump has another name for them. The dump's file is charged for
	 * them now.
	 */
	if (same) {
		same->n_bytes += file->n_bytes;
		count(retention, owner, file->n_bytes, 0);
	}
	ts_retention_file_free(file);
}

static void trace_forget(struct ts_retention *retention, struct retention_owner *owner,
			 struct retention_trace *trace)
{
	while (trace->files)
		file_forget(retention, owner, trace, trace->files);
	owner_unlink(owner, trace);
	free(trace);
}

void ts_retention_free(struct ts_retention *retention)
{
	if (!retention)
		return;
	while (retention->owners) {
		struct retention_owner *owner = retention->owners;

		while (owner->first)
			trace_forget(retention, owner, owner->first);
		owner_free_if_empty(retention, owner);
	}
	ts_map_deinit(&retention->by_user);
	close(retention->fd);
	free(retention);
}

size_t ts_retention_n_files(const struct ts_retention *retention)
{
	return retention->n_files;
}

/* ---- new traces ---- */

static struct retention_file *file_new(const struct ts_retention *retention, const char *path)
{
	size_t n_directory = strlen(retention->options.directory);
	struct retention_file *file;
	struct stat status;

	if (strncmp(path, retention->options.directory, n_directory) != 0 ||
	    path[n_directory] != '/')
		return NULL;
	if (fstatat(retention->fd, path + n_directory + 1, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(status.st_mode))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	ts_retention_describe(file, &status);
	file->name = strdup(path + n_directory + 1);
	if (!file->name) {
		free(file);
		return NULL;
	}
	return file;
}

void ts_retention_describe(struct retention_file *file, const struct stat *status)
{
	file->device = status->st_dev;
	file->inode = status->st_ino;
	file->has_links = status->st_nlink > 1;
	file->n_bytes = (uint64_t)status->st_blocks * 512;
	file->time_ns =
		(uint64_t)status->st_mtim.tv_sec * SECOND_NS + (uint64_t)status->st_mtim.tv_nsec;
}

void ts_retention_trace_free(struct retention_trace *trace)
{
	while (trace && trace->files) {
		struct retention_file *file = trace->files;

		trace->files = file->next;
		ts_retention_file_free(file);
	}
	free(trace);
}

int ts_retention_add(struct ts_retention *retention, struct ts_user *user, char *const *paths,
		     size_t n_paths)
{
	struct retention_trace *trace = calloc(1, sizeof(*trace));
	struct retention_file **end;
	int r = 0;

	if (!trace)
		return ts_error_origin(-ENOMEM);
	end = &trace->files;
	for (size_t i = 0; i < n_paths; i++) {
		/* A removed or replaced file does not belong to the trace. */
		*end = file_new(retention, paths[i]);
		if (!*end)
			continue;
		trace->time_ns =
			(*end)->time_ns > trace->time_ns ? (*end)->time_ns : trace->time_ns;
		end = &(*end)->next;
	}
	if (trace->files)
		r = ts_retention_insert(retention, user, trace);
	if (r || !trace->files)
		ts_retention_trace_free(trace);
	return r;
}

/* ---- changed files ---- */

static bool file_is(const struct retention_file *file, const struct stat *status)
{
	return S_ISREG(status->st_mode) && status->st_ino == file->inode &&
	       status->st_dev == file->device;
}

static bool file_is_there(const struct ts_retention *retention, const struct retention_file *file,
			  struct stat *ret_status)
{
	return !fstatat(retention->fd, file->name, ret_status, AT_SYMLINK_NOFOLLOW) &&
	       file_is(file, ret_status);
}

static void file_refresh(struct ts_retention *retention, struct retention_owner *owner,
			 struct retention_trace *trace, struct retention_file *file)
{
	uint64_t n_bytes;
	struct stat status;

	if (!file_is_there(retention, file, &status)) {
		file_forget(retention, owner, trace, file);
		return;
	}
	n_bytes = (uint64_t)status.st_blocks * 512;
	if (file->has_links || n_bytes == file->n_bytes)
		return;
	uncount(retention, owner, file->n_bytes, 0);
	file->n_bytes = n_bytes;
	count(retention, owner, file->n_bytes, 0);
}

static void trace_refresh(struct ts_retention *retention, struct retention_owner *owner,
			  struct retention_trace *trace)
{
	struct retention_file *next;

	for (struct retention_file *file = trace->files; file; file = next) {
		next = file->next;
		file_refresh(retention, owner, trace, file);
	}
	if (!trace->files)
		trace_forget(retention, owner, trace);
}

void ts_retention_refresh(struct ts_retention *retention)
{
	struct retention_owner *next_owner;
	struct retention_trace *next;

	for (struct retention_owner *owner = retention->owners; owner; owner = next_owner) {
		next_owner = owner->next;
		for (struct retention_trace *trace = owner->first; trace; trace = next) {
			next = trace->next;
			trace_refresh(retention, owner, trace);
		}
		owner_free_if_empty(retention, owner);
	}
}

/* ---- removal ---- */

/* Opens the file for writing if the service may, otherwise for reading. -1: neither. */
static int file_open(const struct ts_retention *retention, const struct retention_file *file)
{
	const int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = openat(retention->fd, file->name, O_RDWR | flags);
	struct stat status;

	if (fd < 0)
		fd = openat(retention->fd, file->name, O_RDONLY | flags);
	if (fd >= 0 && (fstat(fd, &status) < 0 || !file_is(file, &status))) {
		close(fd);
		return -1;
	}
	return fd;
}

bool ts_retention_is_written(int fd, const struct stat *status)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};

	/*
	 * True if a daemon holds the lock of the file. Ignores locks on files that belong to a
	 * user: the user could hold such a lock to keep the file forever.
	 */
	return status->st_uid == geteuid() && !fcntl(fd, F_OFD_GETLK, &lock) &&
	       lock.l_type != F_UNLCK;
}

static bool trace_is_busy(const struct ts_retention *retention, const struct retention_trace *trace)
{
	const struct ts_retention_options *options = &retention->options;

	for (const struct retention_file *file = trace->files; file; file = file->next) {
		ts_cleanup(ts_closep) int fd = -1;
		struct stat status;

		if (!file_is_there(retention, file, &status))
			continue;
		fd = file_open(retention, file);
		if ((fd >= 0 && ts_retention_is_written(fd, &status)) ||
		    (options->is_busy && options->is_busy(options->data, &status)))
			return true;
	}
	return false;
}

/* Removes a user's directory if it is empty. The user's next session creates it again. */
static void folder_remove(const struct ts_retention *retention, const char *name)
{
	const char *slash = strchr(name, '/');
	char folder[16];

	if (!slash || (size_t)(slash - name) >= sizeof(folder))
		return;
	memcpy(folder, name, (size_t)(slash - name));
	folder[slash - name] = '\0';
	if (unlinkat(retention->fd, folder, AT_REMOVEDIR) < 0)
		/* It is not empty. */
		return;
}

static int file_remove(const struct ts_retention *retention, const struct retention_file *file)
{
	const struct ts_retention_options *options = &retention->options;
	struct stat status;
	int fd, r;

	/* Do not remove the name if another file has it now. */
	if (!file_is_there(retention, file, &status))
		return 0;
	fd = file_open(retention, file);
	if (unlinkat(retention->fd, file->name, 0) < 0) {
		r = -errno;
		ts_closep(&fd);
		return r == -ENOENT ? 0 : r;
	}
	folder_remove(retention, file->name);
	if (options->removed)
		options->removed(options->data, &status, fd);
	else if (fd >= 0)
		close(fd);
	return 0;
}

static const struct retention_file *last_file(const struct retention_trace *trace)
{
	const struct retention_file *file = trace->files;

	while (file->next)
		file = file->next;
	return file;
}

/*
 * Removes the files of a trace, oldest first. The newest file has the recording's name and goes
 * last, so the remaining part stays readable.
 */
static bool trace_remove(struct ts_retention *retention, struct retention_owner *owner,
			 struct retention_trace *trace, const char *why)
{
	uint64_t n_bytes = 0;
	size_t n_files = 0;
	int r = 0;

	for (const struct retention_file *file = trace->files; file && !r; file = file->next) {
		n_bytes += file->n_bytes;
		n_files++;
		r = file_remove(retention, file);
	}
	if (r) {
		trace->is_stuck = true;
		ts_log(TS_LOG_WARNING, "cannot remove %s/%s: %s; reason for the removal: %s",
		       retention->options.directory, last_file(trace)->name, strerror(-r), why);
		return false;
	}
	ts_log(TS_LOG_INFO, "removed %s/%s, %zu files of %" PRIu64 " bytes of uid %u: %s",
	       retention->options.directory, last_file(trace)->name, n_files, n_bytes,
	       ts_user_uid(owner->user), why);
	trace_forget(retention, owner, trace);
	return true;
}

/* ---- selection ---- */

struct pass {
	uint64_t now_ns;
	size_t n_left, n_removed;
};

static bool is_full(uint64_t has, uint64_t most)
{
	return most != UINT64_MAX && has > most / 8 * FULL_EIGHTHS;
}

static const char *why_too_old(const struct ts_retention *retention, uint64_t now_ns,
			       const struct retention_trace *trace)
{
	uint64_t age_ns = retention->options.limits->retain_age * HOUR_NS;

	return age_ns && now_ns > trace->time_ns && now_ns - trace->time_ns > age_ns
		       ? "older than --retain-age"
		       : NULL;
}

/*
 * Returns the reason for removing a trace of the owner; NULL: none. A full share is a reason only
 * while a file of the owner is being written, so a trace that filled a share stays until another
 * trace needs the room.
 */
static const char *why_too_much_of(const struct ts_retention *retention,
				   const struct retention_owner *owner)
{
	const struct ts_limits *limits = retention->options.limits;
	const struct ts_user *user = owner->user;

	if (limits->retain_size_user && owner->n_bytes > limits->retain_size_user)
		return "the user's traces exceed --retain-size-user";
	if (ts_user_has(user, TS_RESOURCE_DISK_BYTES) <= owner->n_bytes)
		return NULL;
	if (is_full(ts_user_has(user, TS_RESOURCE_DISK_BYTES),
		    ts_user_most(user, TS_RESOURCE_DISK_BYTES)))
		return "the user's traces are near --max-disk-bytes-user";
	if (is_full(ts_user_has(user, TS_RESOURCE_DISK_FILES),
		    ts_user_most(user, TS_RESOURCE_DISK_FILES)))
		return "the user's files are near a quarter of --max-disk-files";
	return NULL;
}

static const char *why_too_much(const struct ts_retention *retention)
{
	const struct ts_limits *limits = retention->options.limits;
	const struct ts_users *users = retention->options.users;

	if (limits->retain_size && retention->n_bytes > limits->retain_size)
		return "all traces exceed --retain-size";
	if (ts_users_have(users, TS_RESOURCE_DISK_BYTES) <= retention->n_bytes)
		return NULL;
	if (is_full(ts_users_have(users, TS_RESOURCE_DISK_BYTES),
		    ts_users_most(users, TS_RESOURCE_DISK_BYTES)))
		return "all traces are near --max-disk-bytes";
	if (is_full(ts_users_have(users, TS_RESOURCE_DISK_FILES),
		    ts_users_most(users, TS_RESOURCE_DISK_FILES)))
		return "all files are near --max-disk-files";
	return NULL;
}

static struct retention_trace *oldest_of(const struct ts_retention *retention,
					 const struct retention_owner *owner)
{
	struct retention_trace *trace = owner->first;

	while (trace && (trace->is_stuck || trace_is_busy(retention, trace)))
		trace = trace->next;
	return trace;
}

static bool pass_remove(struct ts_retention *retention, struct pass *pass,
			struct retention_owner *owner, struct retention_trace *trace,
			const char *why)
{
	if (!trace || !trace_remove(retention, owner, trace, why))
		return false;
	pass->n_left--;
	pass->n_removed++;
	return true;
}

static void expire_owner(struct ts_retention *retention, struct pass *pass,
			 struct retention_owner *owner)
{
	struct retention_trace *trace = owner->first, *next;
	const char *why;

	for (; pass->n_left && trace && (why = why_too_old(retention, pass->now_ns, trace));
	     trace = next) {
		next = trace->next;
		if (!trace->is_stuck && !trace_is_busy(retention, trace))
			(void)pass_remove(retention, pass, owner, trace, why);
	}
	while (pass->n_left && (why = why_too_much_of(retention, owner)) &&
	       pass_remove(retention, pass, owner, oldest_of(retention, owner), why))
		continue;
}

/*
 * Returns the owner with the most bytes, among the owners that have a trace which may be removed.
 */
static struct retention_owner *largest_owner(const struct ts_retention *retention,
					     struct retention_trace **ret_trace)
{
	struct retention_owner *largest = NULL;

	for (struct retention_owner *owner = retention->owners; owner; owner = owner->next) {
		struct retention_trace *trace;

		if (largest && owner->n_bytes <= largest->n_bytes)
			continue;
		trace = oldest_of(retention, owner);
		if (!trace)
			continue;
		largest = owner;
		*ret_trace = trace;
	}
	return largest;
}

static bool expire_largest(struct ts_retention *retention, struct pass *pass)
{
	const char *why = why_too_much(retention);
	struct retention_trace *trace = NULL;
	struct retention_owner *owner = why ? largest_owner(retention, &trace) : NULL;

	return owner && pass_remove(retention, pass, owner, trace, why);
}

size_t ts_retention_expire(struct ts_retention *retention, uint64_t now_ns, size_t most)
{
	struct pass pass = {.now_ns = now_ns, .n_left = most};
	struct retention_owner *next;

	for (struct retention_owner *owner = retention->owners; owner; owner = owner->next)
		expire_owner(retention, &pass, owner);
	while (pass.n_left && expire_largest(retention, &pass))
		continue;
	for (struct retention_owner *owner = retention->owners; owner; owner = next) {
		next = owner->next;
		owner_free_if_empty(retention, owner);
	}
	return pass.n_removed;
}
