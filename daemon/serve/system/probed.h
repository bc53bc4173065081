/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that have probes: the vendors' libraries, as processes map them and where systems keep them. One user's files wait for that
 * user's prober (prober.h), and take places of that user's account. A file that only root can have written takes one of root's, so that
 * whoever maps the system's libraries uses up nothing. One thread.
 */
#pragma once

#include "daemon/bpf/system.h"
#include "daemon/serve/system/inspector.h"
#include "daemon/serve/users.h"

struct ts_probed;

struct ts_probed_options {
	struct ts_system *system;
	struct ts_users *users; /* outlives it, as the inspector does */
	struct ts_inspector *inspector;
	const char *worker; /* as in struct ts_worker_options */
	/* A process maps the shim; it may be gone by then. */
	void (*preloaded)(void *data, pid_t pid, uid_t uid);
	void *data;
};

/* A negative errno: `why` says in one line what is missing. */
int ts_probed_new(const struct ts_probed_options *options, struct ts_probed **ret_probed,
		  char why[TS_SYSTEM_WHY_BYTES]);
void ts_probed_free(struct ts_probed *probed); /* NULL is fine */

/* Asks for what is mapped now, and for what lies where such libraries are kept, to be probed. */
void ts_probed_scan(struct ts_probed *probed);
/* Whether something that was asked for is neither done nor late. */
bool ts_probed_is_busy(const struct ts_probed *probed);
/* Readable when something was mapped, or a prober answered. */
int ts_probed_fd(const struct ts_probed *probed);
/* Asks for what was mapped since, and takes what probers answered. Never waits. */
void ts_probed_take(struct ts_probed *probed);
/* Removes all probes; waits a second at most for those that a file holds. */
void ts_probed_remove(struct ts_probed *probed);
