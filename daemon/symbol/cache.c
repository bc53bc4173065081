/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores symbol sets on disk by build id. symbolizer.c calls this module. This module calls
 * symbol-set.c to check and merge sets. Readers need no lock, because a name always leads to a
 * whole file. A writer locks the directory, reads the current file again, and renames the new file
 * over it.
 */
#include "daemon/symbol/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#define LOCK_NAME  "lock"
#define NEW_NAME   "new"
#define NAME_BYTES 256u

struct ts_symbol_cache {
	int fd; /* the directory */
};

static int default_directory(char ret_path[PATH_MAX])
{
	const char *given = secure_getenv(TS_SYMBOL_CACHE_ENVIRONMENT),
		   *base = secure_getenv("XDG_CACHE_HOME");
	const char *home = secure_getenv("HOME");
	int n;

	if (given)
		n = snprintf(ret_path, PATH_MAX, "%s", given);
	else if (!geteuid())
		n = snprintf(ret_path, PATH_MAX, "/var/cache/tracesmith/symbols");
	else if (base && *base == '/')
		n = snprintf(ret_path, PATH_MAX, "%s/tracesmith/symbols", base);
	else if (home && *home == '/')
		n = snprintf(ret_path, PATH_MAX, "%s/.cache/tracesmith/symbols", home);
	else
		n = 0;
	return n > 0 && n < PATH_MAX ? 0 : -ENOENT;
}

/* Makes a directory and its parents; only the user can read the last one. */
static void make_directory(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	mkdir(path, 0700);
}

int ts_symbol_cache_new(const char *directory, struct ts_symbol_cache **ret_cache)
{
	struct ts_symbol_cache *cache;
	char path[PATH_MAX];
	struct stat st;
	int fd, r = 0;

	if (directory)
		r = snprintf(path, sizeof(path), "%s", directory) < PATH_MAX ? 0 : -ENAMETOOLONG;
	else
		r = default_directory(path);
	if (r)
		return r;
	make_directory(path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	/* If another user can write the directory, that user can forge symbols. */
	if (fstat(fd, &st) < 0 || st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH)) {
		close(fd);
		return -EACCES;
	}
	cache = calloc(1, sizeof(*cache));
	if (!cache) {
		close(fd);
		return -ENOMEM;
	}
	cache->fd = fd;
	*ret_cache = cache;
	return 0;
}

void ts_symbol_cache_free(struct ts_symbol_cache *cache)
{
	if (!cache)
		return;
	close(cache->fd);
	free(cache);
}

static int file_name(const uint8_t *build_id, size_t n, char ret_name[NAME_BYTES])
{
	if (!n || n > 64)
		return -ENOENT;
	for (size_t i = 0; i < n; i++)
		snprintf(ret_name + 2 * i, 3, "%02x", build_id[i]);
	memcpy(ret_name + 2 * n, ".tsy", 5);
	return 0;
}

static int read_all(int fd, uint8_t **ret_bytes, size_t *ret_n)
{
	struct stat st;
	uint8_t *bytes;
	size_t n = 0;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    st.st_size > (off_t)TS_SYMBOL_SET_MAX_BYTES)
		return -EBADMSG;
	bytes = malloc((size_t)st.st_size);
	if (!bytes)
		return -ENOMEM;
	while (n < (size_t)st.st_size) {
		ssize_t got = read(fd, bytes + n, (size_t)st.st_size - n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			free(bytes);
			return -EBADMSG;
		}
		n += (size_t)got;
	}
	*ret_bytes = bytes;
	*ret_n = n;
	return 0;
}

int ts_symbol_cache_load(struct ts_symbol_cache *cache, const uint8_t *build_id, size_t n_build_id,
			 struct ts_symbol_set *ret_set)
{
	ts_cleanup(ts_closep) int fd = -1;
	char name[NAME_BYTES];
	uint8_t *bytes;
	size_t n;

	*ret_set = (struct ts_symbol_set){0};
	if (file_name(build_id, n_build_id, name))
		return -ENOENT;
	fd = openat(cache->fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0 || read_all(fd, &bytes, &n))
		return -ENOENT;
	return ts_symbol_set_open(bytes, n, build_id, n_build_id, ret_set) ? -ENOENT : 0;
}

static int write_file(int directory, const char *name, const struct ts_symbol_set *set)
{
	ts_cleanup(ts_closep) int fd =
		openat(directory, NEW_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		       0600);
	size_t at = 0;

	if (fd < 0)
		return -errno;
	while (at < set->n_bytes) {
		ssize_t n = write(fd, set->bytes + at, set->n_bytes - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int r = -errno;

			unlinkat(directory, NEW_NAME, 0);
			return r;
		}
		at += (size_t)n;
	}
	return renameat(directory, NEW_NAME, directory, name) < 0 ? -errno : 0;
}

/*
 * Deletes the files that were written longest ago, until the size is within the limit. The caller
 * holds the lock.
 */
static void evict(struct ts_symbol_cache *cache)
{
	int fd = openat(cache->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory = fd >= 0 ? fdopendir(fd) : NULL;

	if (!directory) {
		ts_closep(&fd);
		return;
	}
	for (;;) {
		char oldest[NAME_BYTES] = "";
		struct timespec when = {0};
		uint64_t total = 0;
		struct dirent *entry;

		rewinddir(directory);
		while ((entry = readdir(directory))) {
			struct stat st;

			if (!strstr(entry->d_name, ".tsy") ||
			    fstatat(cache->fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
				continue;
			total += (uint64_t)st.st_size;
			if (!*oldest || st.st_mtim.tv_sec < when.tv_sec) {
				snprintf(oldest, sizeof(oldest), "%s", entry->d_name);
				when = st.st_mtim;
			}
		}
		if (total <= TS_SYMBOL_CACHE_MAX_BYTES || unlinkat(cache->fd, oldest, 0) < 0)
			break;
	}
	closedir(directory);
}

static int merge(struct ts_symbol_cache *cache, const char *name, const uint8_t *build_id,
		 size_t n_build_id, const struct ts_symbol_set *set)
{
	ts_cleanup(ts_symbol_builder_freep) struct ts_symbol_builder *builder = NULL;
	ts_cleanup(ts_symbol_set_deinit) struct ts_symbol_set old = {0}, merged = {0};
	int r;

	if (ts_symbol_cache_load(cache, build_id, n_build_id, &old) || old.flags < set->flags)
		return write_file(cache->fd, name, set);
	/* The stored set has debug information that this set lacks. */
	if (old.flags > set->flags)
		return 0;
	r = ts_symbol_builder_new(&builder);
	if (r)
		return r;
	ts_symbol_builder_add(builder, set);
	ts_symbol_builder_add(builder, &old);
	r = ts_symbol_builder_end(builder, build_id, n_build_id, set->flags, &merged);
	return r ?: write_file(cache->fd, name, &merged);
}

int ts_symbol_cache_store(struct ts_symbol_cache *cache, const uint8_t *build_id, size_t n_build_id,
			  const struct ts_symbol_set *set)
{
	ts_cleanup(ts_closep) int lock = -1;
	char name[NAME_BYTES];
	int r = file_name(build_id, n_build_id, name);

	if (r)
		return r;
	/*
	 * flock() locks an open file description. Each call opens its own, so threads of one
	 * process exclude each other too.
	 */
	lock = openat(cache->fd, LOCK_NAME, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0)
		return -errno;
	while (flock(lock, LOCK_EX) < 0)
		if (errno != EINTR)
			return -errno;
	r = merge(cache, name, build_id, n_build_id, set);
	if (!r)
		evict(cache);
	return r;
}
