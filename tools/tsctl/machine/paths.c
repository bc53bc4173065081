/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds TraceSmith's other files from the path of tsctl: see paths.h. meson passes the install's
 * directories relative to the prefix (TSCTL_BINDIR, TSCTL_LIBDIR, TSCTL_LIBEXECDIR), so an install
 * can be moved as a whole.
 */
#include "tools/tsctl/machine/paths.h"

#include "proto/abi/base.h"
#include "proto/client/places.h"

#include <stdio.h>

/* Returns the directory of tsctl's own executable. */
static int own_directory(char ret_directory[PATH_MAX])
{
	int r = ts_places_self(ret_directory);
	char *slash;

	if (r)
		return r;
	slash = strrchr(ret_directory, '/');
	if (!slash)
		return -ENOENT;
	*slash = 0;
	return 0;
}

/* Removes `tail` ("bin", "usr/bin") from the end of the directory. */
static int strip_tail(char *directory, const char *tail)
{
	size_t n = strlen(directory), n_tail = strlen(tail);

	if (n <= n_tail || directory[n - n_tail - 1] != '/' || strcmp(directory + n - n_tail, tail))
		return -ENOENT;
	directory[n - n_tail - 1] = 0;
	return 0;
}

static int join(char ret_path[PATH_MAX], const char *directory, const char *name)
{
	int n = *name == '/' ? snprintf(ret_path, PATH_MAX, "%s", name)
			     : snprintf(ret_path, PATH_MAX, "%s/%s", directory, name);

	return n < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/*
 * Finds a path. If the environment variable is set, its value is the path. Else the first place
 * that has the file decides: the build tree, then the install. `probe` is appended to a place to
 * test whether the file exists.
 */
static int find(const char *variable, const char *in_build, const char *installed,
		const char *probe, char ret_path[PATH_MAX])
{
	const char *given = secure_getenv(variable);
	char directory[PATH_MAX], prefix[PATH_MAX], path[PATH_MAX], probed[PATH_MAX + 32];
	int r;

	if (given && *given) {
		if (!realpath(given, path))
			snprintf(path, sizeof(path), "%s", given);
		snprintf(probed, sizeof(probed), "%s%s", path, probe);
		memcpy(ret_path, path, PATH_MAX);
		return access(probed, R_OK) ? -ENOENT : 0;
	}
	r = own_directory(directory);
	if (r)
		return r;
	memcpy(prefix, directory, sizeof(prefix));
	if (!strip_tail(prefix, "tools/tsctl") && !join(path, prefix, in_build)) {
		memcpy(ret_path, path, PATH_MAX);
		snprintf(probed, sizeof(probed), "%s%s", path, probe);
		return access(probed, R_OK) ? -ENOENT : 0;
	}
	memcpy(prefix, directory, sizeof(prefix));
	strip_tail(prefix, TSCTL_BINDIR);
	r = join(path, prefix, installed);
	if (r)
		return r;
	memcpy(ret_path, path, PATH_MAX);
	snprintf(probed, sizeof(probed), "%s%s", path, probe);
	return access(probed, R_OK) ? -ENOENT : 0;
}

int ts_path_daemon(char ret_path[PATH_MAX])
{
	return find(TS_DAEMON_ENVIRONMENT, "daemon/tracesmithd", TSCTL_BINDIR "/tracesmithd", "",
		    ret_path);
}

int ts_path_inject(char ret_path[PATH_MAX])
{
	return find(TS_INJECT_ENVIRONMENT, "inject/libtsinject.so", TSCTL_LIBDIR "/libtsinject.so",
		    "", ret_path);
}

int ts_path_vgpu(char ret_path[PATH_MAX])
{
	return find(TS_VGPU_DIR_ENVIRONMENT, "tools/vgpu", TSCTL_LIBDIR "/tracesmith/vgpu",
		    "/libcuda.so.1", ret_path);
}

int ts_path_studio(char ret_path[PATH_MAX])
{
	return find(TS_STUDIO_ENVIRONMENT, "tools/studio/server/tracesmith-studio",
		    TSCTL_LIBEXECDIR "/tracesmith/tracesmith-studio", "", ret_path);
}

bool ts_path_has_vgpu(void)
{
	char path[PATH_MAX];

	return !ts_path_vgpu(path);
}
