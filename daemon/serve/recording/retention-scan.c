/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the finished traces of earlier runs (ts_retention_scan()) when the service starts. expire.c
 * calls this module. Layout and rules are in retention.h. The directories belong to the service,
 * but their contents are untrusted. Symbolic links are not followed, and only regular files are
 * opened.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/serve/recording/retention-internal.h"
#include "daemon/util/daemon-error.h"
#include "daemon/util/number.h"
#include "proto/abi/grow.h"
#include "sbt/format.h"

#define NAME_PREFIX "tracesmith-"
#define NAME_SUFFIX ".sbt"
/*
 * Length of the suffix ".XXXXXX" of mkostemp(). A file has it if its daemon died before it renamed
 * the file.
 */
#define N_TEMPORARY 7

struct found {
	struct retention_file *file;
	struct ts_user *user;
	size_t n_key;  /* length of the prefix that the names of all files of a trace share */
	uint32_t part; /* UINT32_MAX: the newest file, which has no number */
};

struct scan {
	struct ts_retention *retention;
	struct found *found;
	size_t n, n_allocated;
};

/* ---- names ---- */

/* Splits "NAME.12" into 12 and the length of NAME. Any other stem has no number. */
static uint32_t split_part(const char *stem, size_t *n_stem)
{
	char digits[8];
	size_t at = *n_stem;
	uint64_t part;

	while (at && stem[at - 1] >= '0' && stem[at - 1] <= '9')
		at--;
	if (at < 2 || stem[at - 1] != '.' || *n_stem - at >= sizeof(digits))
		return UINT32_MAX;
	memcpy(digits, stem + at, *n_stem - at);
	digits[*n_stem - at] = '\0';
	if (ts_number_parse(digits, UINT32_MAX - 1, &part))
		return UINT32_MAX;
	*n_stem = at - 1;
	return (uint32_t)part;
}

static bool is_trace_name(const char *name, size_t *ret_n_key, uint32_t *ret_part)
{
	const size_t n_suffix = strlen(NAME_SUFFIX);
	size_t n = strlen(name);

	if (strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)) != 0)
		return false;
	if (n > N_TEMPORARY + n_suffix && name[n - N_TEMPORARY] == '.' &&
	    !memcmp(name + n - N_TEMPORARY - n_suffix, NAME_SUFFIX, n_suffix))
		n -= N_TEMPORARY;
	if (n <= strlen(NAME_PREFIX) + n_suffix ||
	    memcmp(name + n - n_suffix, NAME_SUFFIX, n_suffix) != 0)
		return false;
	n -= n_suffix;
	*ret_part = split_part(name, &n);
	*ret_n_key = n;
	return true;
}

/* ---- files ---- */

/*
 * True if the first bytes are those of a trace and no daemon writes the file. `folder`: descriptor
 * of the directory.
 */
static bool is_finished_trace(int folder, const char *name, const struct stat *status,
			      bool is_private)
{
	ts_cleanup(ts_closep) int fd =
		openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char magic[sizeof(TS_SBT_FILE_MAGIC) - 1];
	struct stat opened;

	/*
	 * The service cannot open a file that an earlier version gave to another user. Such a file
	 * is accepted without a look at its contents.
	 */
	if (fd < 0)
		return errno == EACCES && is_private && status->st_uid != geteuid();
	if (fstat(fd, &opened) < 0 || opened.st_ino != status->st_ino ||
	    opened.st_dev != status->st_dev)
		return false;
	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       !memcmp(magic, TS_SBT_FILE_MAGIC, sizeof(magic)) &&
	       !ts_retention_is_written(fd, &opened);
}

static int add_found(struct scan *scan, const struct found *found)
{
	if (TS_GROW(scan->found, scan->n_allocated, scan->n + 1))
		return ts_error_origin(-ENOMEM);
	scan->found[scan->n++] = *found;
	return 0;
}

/* Adds a file to the list. `prefix`: name of the directory with a slash, or empty. */
static int add_file(struct scan *scan, const char *prefix, const char *name, uid_t uid,
		    const struct stat *status, size_t n_key, uint32_t part)
{
	struct found found = {.n_key = strlen(prefix) + n_key, .part = part};
	int r;

	found.file = calloc(1, sizeof(*found.file));
	if (!found.file)
		return ts_error_origin(-ENOMEM);
	ts_retention_describe(found.file, status);
	if (asprintf(&found.file->name, "%s%s", prefix, name) < 0) {
		free(found.file);
		return ts_error_origin(-ENOMEM);
	}
	found.user = ts_users_ref(scan->retention->options.users, uid);
	r = add_found(scan, &found);
	if (r) {
		ts_user_unref(found.user);
		ts_retention_file_free(found.file);
	}
	return r;
}

/* ---- directories ---- */

struct folder {
	int fd;
	const char *prefix;
	uid_t uid;	 /* owner of its traces; (uid_t)-1: the owner of each file */
	bool is_private; /* only the service creates files in this directory */
};

static bool folder_may_hold(const struct folder *folder, const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return false;
	if (status->st_uid == geteuid())
		return true;
	/*
	 * True if a service of this system wrote the file. An earlier service may have run as root;
	 * without directories for users, it gave each file to its user.
	 */
	return folder->is_private && (!status->st_uid || folder->uid == (uid_t)-1);
}

static int scan_file(struct scan *scan, const struct folder *folder, const char *name)
{
	struct stat status;
	uint32_t part;
	size_t n_key;

	if (!is_trace_name(name, &n_key, &part) ||
	    fstatat(folder->fd, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !folder_may_hold(folder, &status) ||
	    !is_finished_trace(folder->fd, name, &status, folder->is_private))
		return 0;
	return add_file(scan, folder->prefix, name,
			folder->uid == (uid_t)-1 ? status.st_uid : folder->uid, &status, n_key,
			part);
}

static int scan_uid_folder(struct scan *scan, const struct folder *parent, const char *name);

/* Takes ownership of the descriptor. */
static int scan_folder(struct scan *scan, struct folder *folder)
{
	DIR *dir = fdopendir(folder->fd);
	struct dirent *entry;
	struct stat status;
	int r = 0;

	if (!dir) {
		close(folder->fd);
		return ts_error_origin(-ENOMEM);
	}
	folder->is_private = !fstat(folder->fd, &status) &&
			     (status.st_uid == geteuid() || !status.st_uid) &&
			     !(status.st_mode & (S_IWGRP | S_IWOTH));
	while (!r && (entry = readdir(dir))) {
		r = scan_file(scan, folder, entry->d_name);
		if (!r && folder->uid == (uid_t)-1)
			r = scan_uid_folder(scan, folder, entry->d_name);
	}
	closedir(dir);
	return r;
}

static int scan_uid_folder(struct scan *scan, const struct folder *parent, const char *name)
{
	char prefix[16];
	struct folder folder = {.prefix = prefix};
	struct stat status;
	uint64_t uid;

	/* The service writes uids without leading zeros. */
	if (ts_number_parse(name, UINT32_MAX - 1, &uid) || (*name == '0' && name[1]))
		return 0;
	folder.uid = (uid_t)uid;
	snprintf(prefix, sizeof(prefix), "%s/", name);
	folder.fd = openat(parent->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder.fd < 0)
		return 0;
	if (fstat(folder.fd, &status) < 0 || (status.st_uid != geteuid() && status.st_uid)) {
		close(folder.fd);
		return 0;
	}
	return scan_folder(scan, &folder);
}

/* ---- traces ---- */

/* Groups the files of one trace, oldest first. */
static int compare_found(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	size_t n = x->n_key < y->n_key ? x->n_key : y->n_key;
	int r = memcmp(x->file->name, y->file->name, n);

	r = r ?: (x->n_key > y->n_key) - (x->n_key < y->n_key);
	r = r ?: (x->part > y->part) - (x->part < y->part);
	return r ?: strcmp(x->file->name, y->file->name);
}

static bool are_one_trace(const struct found *a, const struct found *b)
{
	return a->user == b->user && a->n_key == b->n_key &&
	       !memcmp(a->file->name, b->file->name, a->n_key);
}

/*
 * Makes the trace that begins at `from`, and moves its files into it. Returns the index at which
 * the next trace begins.
 */
static size_t make_trace(struct scan *scan, size_t from, struct retention_trace *trace)
{
	struct retention_file **end = &trace->files;
	size_t i = from;

	for (; i < scan->n && are_one_trace(&scan->found[from], &scan->found[i]); i++) {
		struct retention_file *file = scan->found[i].file;

		*end = file;
		end = &file->next;
		trace->time_ns = file->time_ns > trace->time_ns ? file->time_ns : trace->time_ns;
	}
	for (size_t j = from; j < i; j++)
		scan->found[j].file = NULL;
	return i;
}

static int make_traces(struct scan *scan)
{
	int r = 0;

	if (scan->n)
		qsort(scan->found, scan->n, sizeof(*scan->found), compare_found);
	for (size_t i = 0, next; !r && i < scan->n; i = next) {
		struct retention_trace *trace = calloc(1, sizeof(*trace));

		if (!trace)
			return ts_error_origin(-ENOMEM);
		next = make_trace(scan, i, trace);
		r = ts_retention_insert(scan->retention, scan->found[i].user, trace);
		if (r)
			ts_retention_trace_free(trace);
	}
	return r;
}

int ts_retention_scan(struct ts_retention *retention)
{
	struct folder folder = {.prefix = "", .uid = (uid_t)-1};
	struct scan scan = {.retention = retention};
	int r;

	folder.fd = openat(retention->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = folder.fd < 0 ? ts_error_origin(-errno) : scan_folder(&scan, &folder);
	r = r ?: make_traces(&scan);
	for (size_t i = 0; i < scan.n; i++) {
		ts_retention_file_free(scan.found[i].file);
		ts_user_unref(scan.found[i].user);
	}
	free(scan.found);
	return r;
}
