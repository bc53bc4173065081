/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of a service: the configured one, and in it one directory per user, named by the uid.
 * Both belong to the daemon, and no other user writes there. So a path below them leads only to
 * files of the daemon. An access control list lets a user enter and list the user's own directory.
 */
#pragma once

#include "daemon/util/acl.h"

/*
 * Checks that a service may keep traces in the directory. The directory must belong to root or the
 * daemon, and only its owner may write to it. Returns 0, -ENOTDIR, -EPERM (another owner, or others
 * may write), or the error of stat().
 */
int ts_folder_check(const char *directory);

/*
 * Creates the user's directory if it is missing, and checks it. *ret_path: its path. *ret_shared:
 * false if the file system has no access control lists; then only the daemon can read the
 * directory. -EPERM: another user's file or directory has that name.
 */
int ts_folder_open(const char *directory, const struct ts_acl_readers *readers, char *ret_path,
		   size_t n_bytes, bool *ret_shared);

/* Removes the directory in which a file was, if the directory is empty. */
void ts_folder_close(const char *file);
