/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Subordinate uids: /etc/subuid gives a user ranges of uids for containers (subuid(5)). This table
 * finds the owner of such a uid. Names are looked up only in the system's passwd file: a directory
 * service can block, and the main loop calls this.
 *
 * Not thread-safe.
 */
#pragma once

#include <sys/types.h>

struct ts_subuid;

/* Keeps the pointers to both paths. NULL: /etc/subuid, /etc/passwd. Returns 0 or -ENOMEM. */
int ts_subuid_new(const char *subuid_path, const char *passwd_path, struct ts_subuid **ret_subuid);
void ts_subuid_free(struct ts_subuid *subuid); /* NULL is accepted */

/*
 * Returns the uid whose account `uid` counts for.
 *
 * uid 0, the daemon's own uid and each uid of the passwd file count for themselves, even inside a
 * range. Any other uid counts for the owner of its range; if it is in no range, it counts for
 * itself.
 *
 * Some ranges have no person as owner: ranges of root, of the daemon's own user, and of names that
 * are not in the passwd file. All ranges of one such name count as one user without privilege. If
 * ranges of several users overlap, the common part counts as a separate user, so no owner pays for
 * another.
 *
 * Reads both files again if one of them has changed. If a file cannot be read, the previous ranges
 * stay.
 */
uid_t ts_subuid_owner(struct ts_subuid *subuid, uid_t uid);
