/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads in /proc about strangers' processes, in a process of its own, the inspector. /proc/PID/cmdline and, before Linux 6.17,
 * /proc/PID/maps wait while the stranger's process holds its mmap lock. A process in mmap() of a FUSE file can hold that lock for ever. A
 * late inspector is killed, and a new one begins.
 *
 * Each user has TS_INSPECTOR_USER_NS of inspection in TS_INSPECTOR_WINDOW_NS; a late answer uses up all of it. After that the user's
 * processes are not inspected (-EBUSY) until the window is over, so one user delays the caller by no more.
 *
 * One thread.
 */
#pragma once

#include "daemon/bpf/mappings.h"
#include "daemon/serve/users.h"

struct ts_inspector;

#define TS_INSPECTOR_USER_NS		UINT64_C(1000000000)
#define TS_INSPECTOR_WINDOW_NS		UINT64_C(10000000000)
#define TS_INSPECTOR_COMMAND_LINE_BYTES 4096u
/* The first argument of tracesmithd that makes it an inspector. */
#define TS_INSPECTOR_ARGUMENT "--inspector"

/* The process begins with the first inspection. `users` outlives the inspector. 0 or -ENOMEM. */
int ts_inspector_new(struct ts_users *users, struct ts_inspector **ret_inspector);
void ts_inspector_free(struct ts_inspector *inspector); /* NULL is fine */

/*
 * The user who counts for a process; a negative errno: the process is gone. If a set-uid program gave the process root's
 * rights, the real user counts, who chose what such a program maps. /proc/PID's owner does not count: it is root for each process that is not
 * dumpable, which anybody can choose to be. Never waits.
 */
int ts_inspector_uid(pid_t pid, uid_t *ret_uid);

/* Calls `found` for each mapping of each process (ts_mappings_of()). Leaves out processes that cannot be inspected. */
void ts_inspector_scan(struct ts_inspector *inspector, ts_mapping_found *found, void *data);
/*
 * As ts_mappings_has(); -EBUSY: not inspected; -ETIMEDOUT: late. Fills command_line with the process's arguments and spaces between them, or
 * with an empty text. Both come with one answer, because short processes are gone soon.
 */
int ts_inspector_has(struct ts_inspector *inspector, pid_t pid, const char *name,
		     char ret_command_line[TS_INSPECTOR_COMMAND_LINE_BYTES]);

/* The process itself: main() calls it for TS_INSPECTOR_ARGUMENT. Returns its exit status. */
int ts_inspector_main(void);
