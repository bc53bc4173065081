/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks for a plain file. porter-process.c calls this module before it passes a file on, and
 * serve/recording/output-check.c calls this module again. The caller must not wait, so the order
 * matters. First come cached attributes, which need no call into the file system. They exclude
 * every file system without a block device (FUSE, NFS, overlay, tmpfs, btrfs). Then comes the magic
 * number, only for block devices.
 */
#include "daemon/util/plain.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/statfs.h>
#include <unistd.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#ifndef BCACHEFS_SUPER_MAGIC
#define BCACHEFS_SUPER_MAGIC 0xca451a4e
#endif

/* Devices whose blocks a user's process can serve: loop (over a FUSE file) and nbd. */
#define MAJOR_LOOP 7
#define MAJOR_NBD  43

#define FIELDS	   (STATX_TYPE | STATX_UID | STATX_NLINK | STATX_SIZE | STATX_INO)

/*
 * True for a file system that never makes a caller wait for another process. ext2, ext3 and ext4
 * share one magic number.
 */
static bool is_known(uint32_t magic)
{
	return magic == EXT4_SUPER_MAGIC || magic == XFS_SUPER_MAGIC || magic == F2FS_SUPER_MAGIC ||
	       magic == BCACHEFS_SUPER_MAGIC;
}

const char *ts_plain_why_not(int fd, struct statx *ret_status)
{
	struct statfs filesystem;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, FIELDS, ret_status) < 0 ||
	    (ret_status->stx_mask & FIELDS) != FIELDS)
		return "its attributes cannot be read";
	if (!S_ISREG(ret_status->stx_mode))
		return "it is not a regular file";
	if (!ret_status->stx_dev_major || ret_status->stx_dev_major == MAJOR_LOOP ||
	    ret_status->stx_dev_major == MAJOR_NBD)
		return "it is not on a local disk";
	if (fstatfs(fd, &filesystem) < 0 || !is_known((uint32_t)filesystem.f_type))
		return "its file system is not ext4, XFS, F2FS or bcachefs";
	return NULL;
}
