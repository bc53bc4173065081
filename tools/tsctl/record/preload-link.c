/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes symbolic links to directories that the loader's lists cannot contain: see preload-link.h.
 * cmd-record.c calls this file.
 */
#include "tools/tsctl/record/preload-link.h"

#include "proto/abi/base.h"
#include "proto/abi/tablehash.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

/* The directory of the links. */
static int cache(char ret_path[PATH_MAX])
{
	const char *given = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	int n;

	if (given && *given == '/')
		n = snprintf(ret_path, PATH_MAX, "%s", given);
	else if (home && *home == '/')
		n = snprintf(ret_path, PATH_MAX, "%s/.cache", home);
	else
		return -EINVAL;
	if (n >= PATH_MAX - 64)
		return -ENAMETOOLONG;
	if (mkdir(ret_path, 0700) && errno != EEXIST)
		return -errno;
	memcpy(ret_path + n, "/tracesmith", sizeof("/tracesmith"));
	return mkdir(ret_path, 0700) && errno != EEXIST ? -errno : 0;
}

/* The link's name depends on its target only. */
static uint64_t hash(const char *text)
{
	return ts_hash_bytes(TS_HASH_TEXT_BEGIN, text, strlen(text));
}

static bool is_link_to(const char *link, const char *target)
{
	char found[PATH_MAX];
	ssize_t n = readlink(link, found, sizeof(found) - 1);

	if (n < 0)
		return false;
	found[n] = 0;
	return !strcmp(found, target);
}

int ts_preload_link(char directory[PATH_MAX], const char *separators)
{
	char folder[PATH_MAX], link[PATH_MAX], new[PATH_MAX + 32];
	int r;

	if (!strpbrk(directory, separators))
		return 0;
	r = cache(folder);
	if (r)
		return r;
	if (strpbrk(folder, separators))
		return -EINVAL;
	if (snprintf(link, sizeof(link), "%s/%016" PRIx64, folder, hash(directory)) >=
	    (int)sizeof(link))
		return -ENAMETOOLONG;
	if (!is_link_to(link, directory)) {
		/* Another tsctl may make the same link at the same time. */
		snprintf(new, sizeof(new), "%s-%d", link, getpid());
		(void)unlink(new);
		if (symlink(directory, new))
			return -errno;
		if (rename(new, link)) {
			r = -errno;
			(void)unlink(new);
			return r;
		}
	}
	memcpy(directory, link, strlen(link) + 1);
	return 0;
}

int ts_preload_link_file(char path[PATH_MAX], const char *separators)
{
	char directory[PATH_MAX], name[NAME_MAX + 1];
	char *slash = strrchr(path, '/');
	int r, n;

	if (!slash || slash == path || !strpbrk(path, separators))
		return 0;
	n = snprintf(name, sizeof(name), "%s", slash + 1);
	if (n >= (int)sizeof(name))
		return -ENAMETOOLONG;
	if (strpbrk(name, separators))
		return -EINVAL;
	memcpy(directory, path, (size_t)(slash - path));
	directory[slash - path] = 0;
	r = ts_preload_link(directory, separators);
	if (r)
		return r;
	n = snprintf(path, PATH_MAX, "%s/%s", directory, name);
	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}
