/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX access control lists in the format of setxattr() (linux/posix_acl_xattr.h). The daemon owns
 * a trace and lets the user of the traced process read it. A list gives the access that chown()
 * would give, and needs no capability.
 */
#pragma once

#include <sys/types.h>

#include "proto/abi/base.h"

struct ts_acl_readers {
	uid_t uid;   /* the file's owner needs no entry */
	gid_t group; /* (gid_t)-1: none */
};

/*
 * Lets only the owner write a file or directory of the caller, and only `readers` read it. In a
 * directory, readers may list and enter. `fd` is open for reading. Returns 0. -EOPNOTSUPP: the file
 * system has no such lists. Other negative errno: from fstat() or fsetxattr().
 */
int ts_acl_grant(int fd, const struct ts_acl_readers *readers);
