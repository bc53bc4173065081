/* SPDX-License-Identifier: Apache-2.0 */
/* Checks and locks a file that append.c or repair.c changes in place; both call this file. */
#include "sbt/rewrite/in-place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int ts_in_place_fail(struct ts_sbt_error *error, int code, uint64_t off, const char *text)
{
	if (error) {
		*error = (struct ts_sbt_error){.code = code, .off = off};
		snprintf(error->text, sizeof(error->text), "%s", text);
	}
	return code;
}

static int set_lock(int fd, short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_len = 1};

	return fcntl(fd, F_OFD_SETLK, &lock) < 0 && (errno == EAGAIN || errno == EACCES) ? -EBUSY
											 : 0;
}

int ts_in_place_lock(int fd, struct ts_sbt_error *ret_error)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) < 0)
		return ts_in_place_fail(ret_error, -errno, 0, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return ts_in_place_fail(ret_error, -EINVAL, 0, "not a regular file");
	if ((flags & O_ACCMODE) != O_RDWR)
		return ts_in_place_fail(ret_error, -EBADF, 0, "not open for reading and writing");
	if (set_lock(fd, F_WRLCK))
		return ts_in_place_fail(ret_error, -EBUSY, 0, "it is still being written");
	return 0;
}

void ts_in_place_unlock(int fd)
{
	set_lock(fd, F_UNLCK);
}
