/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the /proc entries of other users' processes in a separate process, the inspector. Reading
 * /proc/PID/cmdline, and before Linux 6.17 /proc/PID/maps, waits while process PID holds its mmap
 * lock. A process in mmap() of a FUSE file can hold this lock forever. If an inspector does not
 * answer in time, the daemon kills it and starts a new one.
 *
 * Each user has a budget of TS_INSPECTOR_USER_NS per TS_INSPECTOR_WINDOW_NS. A late answer uses up
 * the budget. Until the window ends, the user's processes are then not inspected (-EBUSY). So one
 * user delays the caller by at most the budget per window.
 *
 * Not thread-safe.
 */
#pragma once

#include "daemon/bpf/mappings.h"
#include "daemon/serve/users.h"

struct ts_inspector;

#define TS_INSPECTOR_USER_NS		UINT64_C(1000000000)
#define TS_INSPECTOR_WINDOW_NS		UINT64_C(10000000000)
#define TS_INSPECTOR_COMMAND_LINE_BYTES 4096u
/* First argument of tracesmithd that selects the inspector. */
#define TS_INSPECTOR_ARGUMENT "--inspector"

/*
 * Makes an inspector; its process starts with the first inspection. `users` must outlive the
 * inspector. Returns 0 or -ENOMEM.
 */
int ts_inspector_new(struct ts_users *users, struct ts_inspector **ret_inspector);
void ts_inspector_free(struct ts_inspector *inspector); /* NULL is accepted */

/*
 * Returns the uid to whose account a process counts, or a negative errno if the process is gone.
 *
 * The result is the effective uid. But if the effective uid is 0 (a set-uid program of root), the
 * result is the real uid, because that user chose the files that the program maps. The owner of
 * /proc/PID does not count: the owner is root for every process that is not dumpable, and any
 * process can become undumpable.
 *
 * Never waits.
 */
int ts_inspector_uid(pid_t pid, uid_t *ret_uid);

/*
 * Calls `found` for each mapping of each process (ts_mappings_of()). Skips processes that cannot be
 * inspected.
 */
void ts_inspector_scan(struct ts_inspector *inspector, ts_mapping_found *found, void *data);
/*
 * Like ts_mappings_has(). -EBUSY: the user has no budget left; -ETIMEDOUT: the inspector did not
 * answer in time. Fills command_line with the process's arguments, separated by spaces, or with an
 * empty text. One answer has the result and the arguments, because short-lived processes are soon
 * gone.
 */
int ts_inspector_has(struct ts_inspector *inspector, pid_t pid, const char *name,
		     char ret_command_line[TS_INSPECTOR_COMMAND_LINE_BYTES]);

/*
 * Runs the inspector process; main() calls it for TS_INSPECTOR_ARGUMENT. Returns the exit status.
 */
int ts_inspector_main(void);
