/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes on the vendors' libraries in all processes: the programs of system.bpf.c in the kernel,
 * the probes on files, and the events. A probe belongs to a file, so it applies to each process
 * that maps the file, from its next call on.
 *
 * Not thread-safe, except ts_system_exclude(): any thread may call it. Nothing is pinned: when the
 * daemon dies, the kernel removes programs and probes.
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
 * Loads the programs. With `pairs`, loads the pair of programs for kernels before 6.13; newer
 * kernels run this pair too. A negative errno: `why` has one line that names the missing part.
 */
int ts_system_new(bool pairs, struct ts_system **ret_system, char why[TS_SYSTEM_WHY_BYTES]);
/* Frees the object. The caller has removed all probes before. NULL is accepted. */
void ts_system_free(struct ts_system *system);

/*
 * Descriptors of the loaded programs, for ts_system_probe(). The descriptors may be sent to another
 * process.
 */
struct ts_system_programs {
	/*
	 * descriptors of two programs: for the probe at a function's first instruction, and for the
	 * probe at its return (or -1)
	 */
	int fds[2];
	bool either; /* one program serves both probes */
};
/* Returns the descriptors; the system keeps their ownership. */
struct ts_system_programs ts_system_programs(const struct ts_system *system);

/*
 * Puts probes on the file of `fd`. `places` has one file offset for each of ts_call_functions(),
 * and 0 for a function that the file lacks; at least one is not 0. The kernel reads the file, so
 * this call blocks as long as the file system does. A negative errno: no probe was put.
 */
int ts_system_probe(const struct ts_system_programs *programs, int fd, const uint64_t *places,
		    struct ts_system_probes *ret_probes);
/* Removes the probes of one file. Idempotent. */
void ts_system_remove(struct ts_system_probes *probes);

/*
 * Deletes the calls that have begun and not ended. Call it after probes were removed, because the
 * programs will not see the end of these calls.
 */
void ts_system_forget_calls(struct ts_system *system);

/*
 * Excludes a process or includes it again. While a process is excluded, the kernel reports no event
 * of it. The setting lasts until the process ends or executes another program.
 */
int ts_system_exclude(struct ts_system *system, pid_t pid, bool excluded);

/*
 * Returns a descriptor that is readable when the ring holds many events, or the first event of a
 * process.
 */
int ts_system_fd(const struct ts_system *system);
/*
 * ts_system_take() calls `take` for each event in the ring: whole events of known types and sizes.
 */
typedef void ts_system_taker(void *data, const struct ts_call_event *event);
void ts_system_take(struct ts_system *system, ts_system_taker *take, void *data);

/* Returns the number of calls of a process that were lost so far for lack of room. */
uint64_t ts_system_lost(struct ts_system *system, pid_t pid);
/* Returns the number of lost calls of processes that have no entry for lack of room. */
uint64_t ts_system_unattributed(struct ts_system *system);
/* Removes the entry of a process whose end the kernel did not report. */
void ts_system_forget(struct ts_system *system, pid_t pid);
