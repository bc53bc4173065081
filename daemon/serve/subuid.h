/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subordinate uids: /etc/subuid gives a user ranges of uids, which its containers use (subuid(5)). This table finds the owner of
 * such a uid. Names are looked up in the system's passwd file alone: a directory service can block, and the main loop calls this.
 *
 * One thread at a time.
 */
#pragma once

#include <sys/types.h>

struct ts_subuid;

/* Paths are kept by reference; NULL: /etc/subuid, /etc/passwd. 0 or -ENOMEM. */
int ts_subuid_new(const char *subuid_path, const char *passwd_path, struct ts_subuid **ret_subuid);
void ts_subuid_free(struct ts_subuid *subuid); /* NULL is fine */

/*
 * The user whose range `uid` lies in; `uid` itself if it is in none. A range of root's or of the daemon's own user, and one whose
 * owner's name is not in the passwd file, has its first uid as the owner: it counts as one user and gets no privilege. Reads the
 * files again when /etc/subuid has changed.
 */
uid_t ts_subuid_owner(struct ts_subuid *subuid, uid_t uid);
