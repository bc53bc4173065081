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
 * The person that `uid` counts for.
 *
 * uid 0, the daemon's own uid and each uid of the passwd file count for themselves, also if a range holds them. Any other uid
 * counts for the owner of its range, or for itself if no range holds it.
 *
 * Some ranges have no person as the owner: those of root and of the daemon's own user, and those of a name that is not in the
 * passwd file. All ranges of one such name count as one user without privilege. A part that several users' ranges share counts as
 * a user of its own, so that no owner pays for another one.
 *
 * Reads both files again if one of them has changed. If a file cannot be read, the ranges stay as they were.
 */
uid_t ts_subuid_owner(struct ts_subuid *subuid, uid_t uid);
