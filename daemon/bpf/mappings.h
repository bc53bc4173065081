/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which processes map which code, now and from now on: /proc, and the kernel's word for each file that is mapped to be run
 * (PERF_RECORD_MMAP2 of perf_event_open(2)). One thread.
 */
#pragma once

#include <sys/types.h>

#include "proto/abi/base.h"

struct ts_mappings;

/* A file that a process maps. A mapping can be reported several times, and the process be gone by then. */
struct ts_mapping {
	pid_t pid;
	const char *path; /* as the process sees it */
	/* As the mapping has them: fstat() of some file systems (btrfs, overlayfs) answers others. */
	uint64_t device, inode;
};
typedef void ts_mapping_found(void *data, const struct ts_mapping *mapping);

/* Watches all CPUs. A negative errno: it cannot be told of what is mapped from now on. */
int ts_mappings_new(struct ts_mappings **ret_mappings);
void ts_mappings_free(struct ts_mappings *mappings); /* NULL is fine */

/* Readable when something was mapped. */
int ts_mappings_fd(const struct ts_mappings *mappings);
/* Calls `found` for each new mapping. False: the kernel had no room for all of them, and ts_mappings_of() reports more. */
bool ts_mappings_take(struct ts_mappings *mappings, ts_mapping_found *found, void *data);

/*
 * Calls `found` for each mapping of a process that can be run and is a library of a vendor (ts_call_is_library()).
 * ts_mappings_has() returns 1 if the name of a mapping contains `name`, 0 if none does, and -errno if /proc does not show them. Both wait for as
 * long as the process holds its mmap lock; before Linux 6.17 that can be for ever. serve/system/inspector.c calls them.
 */
void ts_mappings_of(pid_t pid, ts_mapping_found *found, void *data);
int ts_mappings_has(pid_t pid, const char *name);
