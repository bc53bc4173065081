/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a file that a stranger passed. peer-file.c calls this module in the main loop. This module
 * calls util/plain.c, so no file system can block it.
 */
#include "daemon/serve/recording/output-check.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "daemon/util/daemon-error.h"
#include "daemon/util/plain.h"
#include "proto/abi/utf8.h"

#define ODD_FLAGS (O_APPEND | O_ASYNC | O_DIRECT | O_DSYNC | O_SYNC | O_PATH | O_NOATIME)

/*
 * Checks access mode and flags of the open file description. fcntl() asks only the kernel, not the
 * file system.
 */
static bool is_open_for(int fd, int access)
{
	int flags = fcntl(fd, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) == access && !(flags & ODD_FLAGS);
}

static const char *why_not(const struct statx *file, const struct statx *again, uid_t uid)
{
	if (file->stx_ino != again->stx_ino || file->stx_dev_minor != again->stx_dev_minor ||
	    file->stx_dev_major != again->stx_dev_major)
		return "its two descriptors refer to different files";
	if (file->stx_uid != uid)
		return "it belongs to another user";
	if (file->stx_size)
		return "it is not empty";
	if (file->stx_nlink != 1)
		return "its number of hard links is not 1";
	return NULL;
}

int ts_output_check(int fd, int read_fd, uid_t uid, const char **ret_why)
{
	struct statx file, again;
	const char *why;

	if (fd < 0 || read_fd < 0)
		why = "it is not on a local ext4, XFS, F2FS or bcachefs";
	else if (!is_open_for(fd, O_RDWR) || !is_open_for(read_fd, O_RDONLY))
		why = "its descriptors have a wrong access mode or wrong flags";
	else
		why = ts_plain_why_not(fd, &file) ?: ts_plain_why_not(read_fd, &again);
	why = why ?: why_not(&file, &again, uid);
	*ret_why = why;
	return why ? -EPERM : 0;
}

void ts_output_path(int fd, char *ret_path, size_t n_bytes)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, ret_path, n_bytes - 1);
	if (n <= 0)
		n = snprintf(ret_path, n_bytes, "(unknown path)");
	ret_path[n] = '\0';
	for (char *c = ret_path; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	ts_text_clean(ret_path);
}
