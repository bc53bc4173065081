/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the executable mappings of processes. /proc has the present mappings. For each new
 * executable mapping, the kernel sends a record (PERF_RECORD_MMAP2 of perf_event_open(2)). Not
 * thread-safe.
 */
#pragma once

#include <sys/types.h>

#include "proto/abi/base.h"

struct ts_mappings;

/*
 * A file that a process maps. The same mapping can be reported several times. The process may have
 * ended before the report.
 */
struct ts_mapping {
	pid_t pid;
	const char *path; /* the path as the process sees it */
	/*
	 * Device and inode as /proc/PID/maps reports them. On some file systems (btrfs, overlayfs)
	 * fstat() of the file returns other numbers.
	 */
	uint64_t device, inode;
};
typedef void ts_mapping_found(void *data, const struct ts_mapping *mapping);

/* Watches new mappings on all CPUs. A negative errno: the kernel cannot report new mappings. */
int ts_mappings_new(struct ts_mappings **ret_mappings);
void ts_mappings_free(struct ts_mappings *mappings); /* NULL is fine */

/* Returns a descriptor that is readable when there are new mappings. */
int ts_mappings_fd(const struct ts_mappings *mappings);
/*
 * Calls `found` for each new mapping. False: the kernel had no room for all records; then call
 * ts_mappings_of() to find the missing mappings.
 */
bool ts_mappings_take(struct ts_mappings *mappings, ts_mapping_found *found, void *data);

/*
 * ts_mappings_of() calls `found` for each executable mapping of a process that is a vendor's
 * library (ts_call_is_library()). ts_mappings_has() returns 1 if the name of a mapping contains
 * `name`, 0 if none does, and -ESRCH if the process maps nothing. If /proc does not show the
 * process, it returns another negative errno. Both functions wait while the process holds its mmap
 * lock; before Linux 6.17 that wait can be endless. serve/system/inspector.c calls these functions.
 */
void ts_mappings_of(pid_t pid, ts_mapping_found *found, void *data);
int ts_mappings_has(pid_t pid, const char *name);
