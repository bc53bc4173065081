/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The directories of a service: the one that the administrator names, and in it one for each user, named by the uid. Both are the
 * daemon's own and nobody else writes there, so a path below them leads to the file that the daemon made, and to nothing else. A
 * user enters and lists the directory of that user by an access control list.
 */
#pragma once

#include "daemon/util/acl.h"

/*
 * Whether a service may keep traces there: a directory of root's or the daemon's own in which only its owner writes. 0, or
 * -ENOTDIR, -EPERM (somebody else's, or others write there), or what stat() gave.
 */
int ts_folder_check(const char *directory);

/*
 * Makes the user's directory, if there is none, and checks it. *ret_path is its path. *ret_shared: false if the file system has no
 * access control lists, so the directory stays the daemon's alone. -EPERM: something has its name that the daemon did not make.
 */
int ts_folder_open(const char *directory, const struct ts_acl_readers *readers, char *ret_path,
		   size_t n_bytes, bool *ret_shared);

/* Removes the directory of a file if nothing else is in it. */
void ts_folder_close(const char *file);
