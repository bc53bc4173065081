/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Creates and checks directories for traces. main.c checks the service's directory at the start.
 * peer-file.c opens a user's directory before each file. The checks use an open descriptor of the
 * directory, so that its name is resolved only once.
 */
#include "daemon/serve/recording/folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "daemon/util/daemon-error.h"

#define FOREIGN_WRITE (S_IWGRP | S_IWOTH)

int ts_folder_check(const char *directory)
{
	struct stat status;

	if (stat(directory, &status) < 0)
		return -errno;
	if (!S_ISDIR(status.st_mode))
		return -ENOTDIR;
	if ((status.st_uid && status.st_uid != geteuid()) || status.st_mode & FOREIGN_WRITE)
		return -EPERM;
	return 0;
}

static int check(int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return ts_error_origin(-errno);
	if (status.st_uid != geteuid() || status.st_mode & FOREIGN_WRITE)
		return ts_error_origin(-EPERM);
	return 0;
}

int ts_folder_open(const char *directory, const struct ts_acl_readers *readers, char *ret_path,
		   size_t n_bytes, bool *ret_shared)
{
	ts_cleanup(ts_closep) int fd = -1;
	int r;

	if (snprintf(ret_path, n_bytes, "%s/%u", directory, readers->uid) >= (int)n_bytes)
		return ts_error_origin(-ENAMETOOLONG);
	if (mkdir(ret_path, 0700) < 0 && errno != EEXIST)
		return ts_error_origin(-errno);
	fd = open(ret_path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return ts_error_origin(
			errno == ENOTDIR || errno == ELOOP || errno == EACCES ? -EPERM : -errno);
	r = check(fd);
	r = r ?: ts_acl_grant(fd, readers);
	*ret_shared = !r;
	return r == -EOPNOTSUPP ? 0 : r;
}

void ts_folder_close(const char *file)
{
	ts_cleanup(ts_freep) char *directory = strdup(file);
	char *slash = directory ? strrchr(directory, '/') : NULL;

	if (!slash)
		return;
	*slash = '\0';
	/* rmdir() fails if the directory still has a file. */
	rmdir(directory);
}
