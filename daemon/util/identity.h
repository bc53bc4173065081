/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity of the process at the other end of a Unix socket. The kernel stores these credentials at
 * connect(). After that the process can exit at any time, and another process can get its pid.
 *
 * Thread-safe: no state.
 */
#pragma once

#include <sys/types.h>

#include "proto/abi/base.h"

/* Members of this group see the sessions and traces of all users of a service. */
#define TS_IDENTITY_GROUP "tracesmith"

struct ts_identity {
	pid_t pid; /* pid in the daemon's pid namespace; 0: the process is not visible there */
	uid_t uid; /* effective uid at connect() */
	gid_t gid;
	/* Root, the daemon's own user, or a member of the group that sees all. */
	bool sees_all;
	bool is_anonymous; /* `uid` stands for many users (ts_identity_overflow_uid()) */
	/*
	 * Start time in clock ticks since boot, read at accept(); 0: not needed, the kernel has
	 * SO_PEERPIDFD.
	 */
	uint64_t start_ticks;
};

/*
 * Reads the identity of the process that connected. `all_group`: its members see all; (gid_t)-1:
 * none. `overflow_uid`: ts_identity_overflow_uid(). Returns 0 or a negative errno of getsockopt().
 */
int ts_identity_read(int fd, gid_t all_group, uid_t overflow_uid, struct ts_identity *ret_identity);

/*
 * Returns the uid that the kernel reports for every user that the daemon's user namespace does not
 * map. (uid_t)-1: the namespace maps all users. A process with this uid gets no access through it,
 * because the uid can stand for any of these users.
 */
uid_t ts_identity_overflow_uid(void);

/*
 * Returns the start time of the process that connected, in clock ticks since boot. Pid and start
 * time together identify a process forever. SO_PEERPIDFD identifies the process; without it, the
 * start time from ts_identity_read() does. -ESRCH: the process is over, or another process has its
 * pid.
 */
int ts_identity_confirm(int fd, const struct ts_identity *identity, uint64_t *ret_start_ticks);

/*
 * True if the process at the other end has ended, whether or not its parent has reaped it. If `fd`
 * connected to a listening socket, this is the process that called listen(); another process may
 * still hold that socket. False: the process runs, or its state is unknown.
 */
bool ts_identity_is_over(int fd);

/*
 * Reads the start time of a process in clock ticks since boot: field 22 of /proc/PID/stat. -ESRCH:
 * no such process, or /proc is not mounted.
 */
int ts_identity_start_ticks(pid_t pid, uint64_t *ret_start_ticks);

/*
 * Returns the gid of TS_IDENTITY_GROUP; (gid_t)-1: there is no such group. May block in the
 * system's name service, so the main loop must not call it.
 */
gid_t ts_identity_group(void);

/* True if `asker` may see a session or trace of `owner`. */
bool ts_identity_may_see(const struct ts_identity *asker, uid_t owner);
