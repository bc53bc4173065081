/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX access control lists, as setxattr() takes them (linux/posix_acl_xattr.h): the daemon keeps a trace its own and lets the
 * user whose process it was read it. A list does what chown() would, and takes no capability.
 */
#pragma once

#include <sys/types.h>

#include "proto/abi/base.h"

struct ts_acl_readers {
	uid_t uid;   /* the file's owner: needs no entry */
	gid_t group; /* (gid_t)-1: none */
};

/*
 * Makes a file or a directory of the caller's one that its owner writes, and `readers` and nobody else read; a directory's readers
 * list and enter it. The descriptor is open to read. -EOPNOTSUPP: the file system has no such lists. Another negative errno: of
 * fstat() or fsetxattr().
 */
int ts_acl_grant(int fd, const struct ts_acl_readers *readers);
