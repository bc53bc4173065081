/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens the files that have symbols. symbolizer.c, trace.c and serve/system/prober.c call this
 * module. The paths come from a traced process and are untrusted. A path is resolved inside that
 * process's root directory, as that process's user if the daemon is root. The kind of the file is
 * checked before it is opened for reading.
 */
#include "daemon/symbol/files.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#define NOBODY	     65534u
#define DEBUG_NAME   "/usr/lib/debug/.build-id/"
#define MAX_ID_BYTES 64u

/* Opens the path without reading rights (O_PATH), to examine the file first. */
static int open_path(int root_fd, const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd;

	fd = root_fd < 0 ? open(path, O_PATH | O_CLOEXEC)
			 : (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

/*
 * True if the owner and the bytes of a file can be trusted. A user's process can serve a FUSE file
 * system. In another process's mount namespace, a user can also mount an overlay on FUSE, or an
 * image. So only file systems on disks are trusted there.
 */
static bool is_believed(int fd, bool is_strangers_view)
{
	struct statfs status;

	if (fstatfs(fd, &status) < 0 || status.f_type == FUSE_SUPER_MAGIC)
		return false;
	return !is_strangers_view ||
	       ((status.f_type == EXT4_SUPER_MAGIC || status.f_type == XFS_SUPER_MAGIC ||
		 status.f_type == BTRFS_SUPER_MAGIC || status.f_type == F2FS_SUPER_MAGIC) &&
		!(status.f_flags & ST_NOSUID));
}

static int open_regular(const struct ts_symbol_view *view, int root_fd, const char *path,
			struct ts_symbol_file *ret_file)
{
	ts_cleanup(ts_closep) int look = -1;
	char name[32];
	struct stat st;
	int fd;

	if (*path != '/')
		return -ENOENT;
	look = open_path(root_fd, path);
	if (look < 0)
		return look;
	if (fstat(look, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	if (view->of_owner && st.st_uid != view->owner)
		return -EPERM;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", look);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	*ret_file = (struct ts_symbol_file){
		.fd = fd,
		.trusted = (!st.st_uid || st.st_uid == geteuid()) && !(st.st_mode & S_IWOTH) &&
			   is_believed(fd, root_fd >= 0),
	};
	return 0;
}

/*
 * Changes the user for file access of this thread. A thread that gives up root's id in this way
 * also loses the capabilities over files.
 */
static void become(uid_t uid, uid_t *ret_before, gid_t *ret_group_before)
{
	*ret_group_before = (gid_t)setfsgid(uid ? NOBODY : 0);
	*ret_before = (uid_t)setfsuid(uid);
}

static int open_as(const struct ts_symbol_view *view, int root_fd, const char *path,
		   struct ts_symbol_file *ret_file)
{
	bool change = view->uid && !geteuid();
	uid_t before;
	gid_t group_before;
	int r;

	if (!change)
		return open_regular(view, root_fd, path, ret_file);
	/*
	 * Drops the supplementary groups of this thread only, and permanently: the thread needs
	 * none.
	 */
	if (syscall(SYS_setgroups, 0, NULL) < 0)
		return -errno;
	become(view->uid, &before, &group_before);
	r = (uid_t)setfsuid((uid_t)-1) == view->uid ? open_regular(view, root_fd, path, ret_file)
						    : -EPERM;
	setfsuid(before);
	setfsgid(group_before);
	return r;
}

int ts_symbol_root_open(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int ts_symbol_open(const struct ts_symbol_view *view, const char *path, unsigned nth,
		   struct ts_symbol_file *ret_file)
{
	if (view->root_fd >= 0 && !nth--)
		return open_as(view, view->root_fd, path, ret_file);
	if (view->by_own_path && !nth--)
		return open_as(view, -1, path, ret_file);
	return -ERANGE;
}

int ts_symbol_open_link(const struct ts_symbol_view *view, const char *path, const char *name,
			unsigned nth, struct ts_symbol_file *ret_file)
{
	static const char *const before[] = {"", "", "/usr/lib/debug"};
	static const char *const between[] = {"", ".debug/", ""};
	const unsigned n_views = (view->root_fd >= 0) + (unsigned)view->by_own_path;
	const char *slash = strrchr(path, '/');
	char place[PATH_MAX];
	int n;

	if (!slash || !n_views || nth / n_views >= TS_ARRAY_LEN(before))
		return -ERANGE;
	n = snprintf(place, sizeof(place), "%s%.*s%s%s", before[nth / n_views],
		     (int)(slash + 1 - path), path, between[nth / n_views], name);
	if (n >= (int)sizeof(place))
		return -ENAMETOOLONG;
	return ts_symbol_open(view, place, nth % n_views, ret_file);
}

static void hex(const uint8_t *bytes, size_t n, char *to)
{
	for (size_t i = 0; i < n; i++)
		snprintf(to + 2 * i, 3, "%02x", bytes[i]);
}

/*
 * Finds the path at which debuginfod's client has stored a file: see debuginfod_find_debuginfo(3).
 */
static bool fetched_name(const char *id, char ret_path[PATH_MAX])
{
	const char *given = secure_getenv("DEBUGINFOD_CACHE_PATH"),
		   *cache = secure_getenv("XDG_CACHE_HOME");
	const char *home = secure_getenv("HOME");
	int n = 0;

	if (given && *given)
		n = snprintf(ret_path, PATH_MAX, "%s/%s/debuginfo", given, id);
	else if (cache && *cache)
		n = snprintf(ret_path, PATH_MAX, "%s/debuginfod_client/%s/debuginfo", cache, id);
	else if (home && *home)
		n = snprintf(ret_path, PATH_MAX, "%s/.cache/debuginfod_client/%s/debuginfo", home,
			     id);
	return n > 0 && n < PATH_MAX;
}

int ts_symbol_open_debug(const struct ts_symbol_view *view, const uint8_t *build_id, size_t n,
			 struct ts_symbol_file *ret_file)
{
	char id[2 * MAX_ID_BYTES + 1] = "", path[sizeof(DEBUG_NAME) + sizeof(id) + 8];
	const struct ts_symbol_view ours = {.root_fd = -1};
	char fetched[PATH_MAX];

	if (n < 2 || n > MAX_ID_BYTES)
		return -ENOENT;
	hex(build_id, n, id);
	snprintf(path, sizeof(path), DEBUG_NAME "%.2s/%s.debug", id, id + 2);
	if (!open_regular(&ours, -1, path, ret_file))
		return 0;
	if (view->root_fd >= 0 && !open_as(view, view->root_fd, path, ret_file))
		return 0;
	return fetched_name(id, fetched) && !open_regular(&ours, -1, fetched, ret_file) ? 0
											: -ENOENT;
}

bool ts_symbol_fetch_debug(const uint8_t *build_id, size_t n)
{
	static const char script[] = "exec </dev/null >/dev/null 2>&1; "
				     "nice debuginfod-find debuginfo \"$1\" &";
	const char *wanted = secure_getenv("TRACESMITH_DEBUGINFOD"),
		   *urls = secure_getenv("DEBUGINFOD_URLS");
	char id[2 * MAX_ID_BYTES + 1] = "";
	char sh[] = "sh", c[] = "-c";
	/* posix_spawn() lacks const; it does not write through the pointer. */
	char *argv[] = {sh, c, (char *)(uintptr_t)script, sh, id, NULL};
	pid_t pid;

	if (!wanted || strcmp(wanted, "1") || !urls || !*urls || !n || n > MAX_ID_BYTES)
		return false;
	hex(build_id, n, id);
	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ))
		return false;
	/* The shell ends at once; init adopts its background process. */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return true;
}
