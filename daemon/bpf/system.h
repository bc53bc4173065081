/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes on the vendors' libraries, in whatever process calls them: the programs of system.bpf.c in the kernel, the files
 * that they sit on, and what they tell. A probe sits on a file, and so in each process that maps it, from its next call on.
 *
 * One thread, but for ts_system_exclude(), which any may call. Nothing is pinned: when the daemon dies, the kernel takes
 * everything away.
 */
#pragma once

#include <sys/types.h>

#include "daemon/bpf/call-functions.h"

#define TS_SYSTEM_WHY_BYTES 256

struct ts_system;

/* The probes on one file. */
struct ts_system_probes {
	int fds[2]; /* -1: none */
};
#define TS_SYSTEM_NO_PROBES ((struct ts_system_probes){{-1, -1}})

/*
 * Loads the programs; `pairs` those that kernels before 6.13 have, which others have too. A negative errno: `why` says in one line
 * what is missing.
 */
int ts_system_new(bool pairs, struct ts_system **ret_system, char why[TS_SYSTEM_WHY_BYTES]);
/* NULL is fine. Probes are removed before. */
void ts_system_free(struct ts_system *system);

/* A process needs these to put probes on files: descriptors of the loaded programs, which may be sent to another process. */
struct ts_system_programs {
	int fds[2];  /* at the first instruction; at the return, or -1 */
	bool either; /* one program for both ends */
};
/* The descriptors stay the system's. */
struct ts_system_programs ts_system_programs(const struct ts_system *system);

/*
 * Puts probes into the file that `fd` is: `places` has one for each of ts_call_functions(), 0 for none, and at least one that is
 * not. The kernel reads the file: this blocks for as long as the file's system likes. A negative errno: there are none.
 */
int ts_system_probe(const struct ts_system_programs *programs, int fd, const uint64_t *places,
		    struct ts_system_probes *ret_probes);
void ts_system_remove(struct ts_system_probes *probes);

/* After probes were removed: calls that were not over then are not seen to end, and are forgotten. */
void ts_system_forget_calls(struct ts_system *system);

/* Nothing is told of the process from now on (or, again, everything is). It stays so until it ends or runs another program. */
int ts_system_exclude(struct ts_system *system, pid_t pid, bool excluded);

/* Readable when there is much to take, or something of a process of which nothing was told before. */
int ts_system_fd(const struct ts_system *system);
/* Hands out what was told: whole events of known types and right sizes. */
typedef void ts_system_taker(void *data, const struct ts_call_event *event);
void ts_system_take(struct ts_system *system, ts_system_taker *take, void *data);

/* Calls of a process for which there was no room so far. */
uint64_t ts_system_lost(struct ts_system *system, pid_t pid);
/* And those of processes for which there was none. */
uint64_t ts_system_unattributed(struct ts_system *system);
/* The kernel did not tell that it ended: forgets it. */
void ts_system_forget(struct ts_system *system, pid_t pid);
