/* SPDX-License-Identifier: Apache-2.0 */
/*
 * close_range() and closefrom(), which glibc has since 2.34, and the file action of posix_spawn()
 * that does the same. Linux has close_range() since 5.9.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "packaging/glibc/glibc.h"

int own_close_range(unsigned int first, unsigned int last, int flags) TS_GLIBC_OWN("close_range");
void own_closefrom(int first) TS_GLIBC_OWN("closefrom");
int own_addclosefrom(posix_spawn_file_actions_t *actions, int first)
	TS_GLIBC_OWN("posix_spawn_file_actions_addclosefrom_np");

int own_close_range(unsigned int first, unsigned int last, int flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

/* The limit may be a billion, so /proc comes first. */
void own_closefrom(int first)
{
	struct dirent *entry;
	struct rlimit limit;
	DIR *folder;

	if (!own_close_range((unsigned int)first, ~0u, 0))
		return;
	folder = opendir("/proc/self/fd");
	while (folder && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);

		if (fd >= first && fd != dirfd(folder))
			close(fd);
	}
	if (folder)
		closedir(folder);
	else if (!getrlimit(RLIMIT_NOFILE, &limit))
		for (int fd = first; fd < INT_MAX && (rlim_t)fd < limit.rlim_cur; fd++)
			close(fd);
}

/*
 * glibc's function closes the descriptors that are open when the new process starts. This function
 * closes those that are open now, so other threads open theirs close-on-exec. Without /proc it
 * closes none.
 */
int own_addclosefrom(posix_spawn_file_actions_t *actions, int first)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int r = 0;

	if (!folder)
		return errno == ENOMEM ? ENOMEM : 0;
	while (!r && (entry = readdir(folder))) {
		int fd = atoi(entry->d_name);

		if (fd >= first && fd != dirfd(folder))
			r = posix_spawn_file_actions_addclose(actions, fd);
	}
	closedir(folder);
	return r;
}
