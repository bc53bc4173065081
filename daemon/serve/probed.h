/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that have probes: the vendors' libraries, as processes map them and where systems keep them. What a file has where is
 * found out by the worker. One thread at a time.
 */
#pragma once

#include "daemon/bpf/mappings.h"
#include "daemon/bpf/system.h"

struct ts_probed;

struct ts_probed_options {
	struct ts_system *system;
	const char *worker; /* as in struct ts_worker_options */
	/* A process maps the shim; it may be gone by then. */
	void (*preloaded)(void *data, pid_t pid);
	void *data;
};

/* A negative errno: `why` says in one line what is missing. */
int ts_probed_new(const struct ts_probed_options *options, struct ts_probed **ret_probed,
		  char why[TS_SYSTEM_WHY_BYTES]);
void ts_probed_free(struct ts_probed *probed); /* NULL is fine */

/* Probes what is mapped now, and what lies where such libraries are kept. */
void ts_probed_scan(struct ts_probed *probed);
/* Readable when something was mapped. */
int ts_probed_fd(const struct ts_probed *probed);
/* Probes what was mapped since. */
void ts_probed_take(struct ts_probed *probed);
/* Removes all probes. */
void ts_probed_remove(struct ts_probed *probed);
