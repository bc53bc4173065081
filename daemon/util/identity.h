/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Identity of the process at the other end of a Unix socket, as the kernel reports it. The kernel stores these credentials when the
 * process connects; the process can exit, and another one can get its pid, at any time after that.
 *
 * Thread-safe: no state.
 */
#pragma once

#include <sys/types.h>

#include "proto/abi/base.h"

/* Members of this group see the sessions and traces of all users of a service. */
#define TS_IDENTITY_GROUP "tracesmith"

struct ts_identity {
	pid_t pid; /* in the daemon's pid namespace; 0: the process is in none that is visible */
	uid_t uid; /* effective, at the connect() */
	gid_t gid;
	bool sees_all;	   /* root, the daemon's own user, or a member of the group that sees all */
	bool is_anonymous; /* `uid` stands for many users (ts_identity_overflow_uid()) */
	/* Start of the process in clock ticks since boot, read at the accept(); 0: the kernel has SO_PEERPIDFD. */
	uint64_t start_ticks;
};

/*
 * `all_group`: the group whose members see all; (gid_t)-1: none. `overflow_uid`: ts_identity_overflow_uid(). 0 or a negative errno of
 * getsockopt().
 */
int ts_identity_read(int fd, gid_t all_group, uid_t overflow_uid, struct ts_identity *ret_identity);

/*
 * The uid by which the kernel reports each user whom the daemon's user namespace does not map; (uid_t)-1: the namespace maps all
 * users. Nobody is seen by having the same overflow uid.
 */
uid_t ts_identity_overflow_uid(void);

/*
 * The start time of the process that connected, in clock ticks since boot: with the pid it names one process for ever. The
 * process is identified by SO_PEERPIDFD, or without it by the start time that ts_identity_read() found. -ESRCH: the process is
 * over, or `pid` is another one by now.
 */
int ts_identity_confirm(int fd, const struct ts_identity *identity, uint64_t *ret_start_ticks);

/*
 * Whether the process at the other end is over, reaped or not. If `fd` connected to a socket that
 * listens, that process is the one that called listen(): another process may still hold the
 * listening socket. False: it runs, or that is not known.
 */
bool ts_identity_is_over(int fd);

/* Start time of a process in clock ticks since boot: field 22 of /proc/PID/stat. -ESRCH: there is none, or /proc is not mounted. */
int ts_identity_start_ticks(pid_t pid, uint64_t *ret_start_ticks);

/* The gid of TS_IDENTITY_GROUP; (gid_t)-1: this machine has no such group. Asks the system's name service: not in the main loop. */
gid_t ts_identity_group(void);

/* Whether `asker` may see a session or a trace of `owner`. */
bool ts_identity_may_see(const struct ts_identity *asker, uid_t owner);
