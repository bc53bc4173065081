/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and finds the directories of control sockets. Both the daemon and tsctl call this file, so
 * that both use the same places.
 */
#include "proto/client/places.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static size_t add_parent(char parents[][TS_PLACES_BYTES], size_t n, const char *path)
{
	size_t n_bytes = path ? strlen(path) : 0;

	if (!n_bytes || path[0] != '/' ||
	    n_bytes + sizeof("/" TS_PLACES_PREFIX "XXXXXX/" TS_PLACES_CONTROL) > TS_PLACES_BYTES)
		return n;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(parents[i], path))
			return n;
	memcpy(parents[n], path, n_bytes + 1);
	return n + 1;
}

size_t ts_places_parents(char ret_parents[TS_PLACES_N_PARENTS][TS_PLACES_BYTES])
{
	char runtime[32];
	size_t n;

	/*
	 * Also add /run/user/UID: a daemon that was started with a clean environment has its socket
	 * there, even if the client has $XDG_RUNTIME_DIR.
	 */
	snprintf(runtime, sizeof(runtime), "/run/user/%u", geteuid());
	n = add_parent(ret_parents, 0, secure_getenv("XDG_RUNTIME_DIR"));
	n = add_parent(ret_parents, n, runtime);
	return add_parent(ret_parents, n, "/tmp");
}

int ts_places_new(char ret_directory[TS_PLACES_BYTES])
{
	char parents[TS_PLACES_N_PARENTS][TS_PLACES_BYTES];
	size_t n = ts_places_parents(parents);
	int r = -ENOENT;

	for (size_t i = 0; i < n; i++) {
		snprintf(ret_directory, TS_PLACES_BYTES, "%.*s/" TS_PLACES_PREFIX "XXXXXX",
			 (int)(TS_PLACES_BYTES - sizeof("/" TS_PLACES_PREFIX "XXXXXX")),
			 parents[i]);
		if (mkdtemp(ret_directory))
			return 0;
		r = -errno;
	}
	ret_directory[0] = '\0';
	return r;
}

static void remove_socket(const char *directory, const char *name)
{
	char path[TS_PLACES_BYTES + sizeof(TS_PLACES_CONTROL)];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, name) < sizeof(path))
		unlink(path);
}

void ts_places_remove(const char *directory)
{
	remove_socket(directory, TS_PLACES_CONTROL);
	remove_socket(directory, TS_PLACES_INJECT);
	rmdir(directory);
}

int ts_places_self(char ret_path[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", ret_path, PATH_MAX - 1);
	/* The kernel passes the path as the address of a text. */
	const char *started_by = (const char *)getauxval(AT_EXECFN);

	if (n >= 0) {
		ret_path[n] = '\0';
		return 0;
	}
	if (!started_by)
		return -ENOENT;
	return realpath(started_by, ret_path) ? 0 : -errno;
}

bool ts_places_has_proc(void)
{
	return !access("/proc/self/fd", F_OK);
}
