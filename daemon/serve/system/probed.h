/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files with probes: the vendors' GPU libraries, as processes map them and where systems install
 * them. Files of one user wait for that user's prober (prober.h) and count in that user's account.
 * A file that only root can have written counts for root, so mapping the system's libraries costs a
 * user nothing. Not thread-safe.
 */
#pragma once

#include "daemon/bpf/system.h"
#include "daemon/serve/system/inspector.h"
#include "daemon/serve/users.h"

struct ts_probed;

struct ts_probed_options {
	struct ts_system *system;
	/* the accounts; `users` and the inspector must outlive the object */
	struct ts_users *users;
	struct ts_inspector *inspector;
	const char *worker; /* as in struct ts_worker_options */
	/* Called when a process has mapped the shim. The process may have ended before the call. */
	void (*preloaded)(void *data, pid_t pid, uid_t uid);
	void *data;
};

/* Returns 0, or a negative errno with one line in `why` that names the missing part. */
int ts_probed_new(const struct ts_probed_options *options, struct ts_probed **ret_probed,
		  char why[TS_SYSTEM_WHY_BYTES]);
void ts_probed_free(struct ts_probed *probed); /* NULL is accepted */

/* Queues all mapped libraries, and all installed ones, for probes. */
void ts_probed_scan(struct ts_probed *probed);
/* True while a queued file has neither got its probes nor exceeded its time. */
bool ts_probed_is_busy(const struct ts_probed *probed);
/* Returns a descriptor that is readable when a file was mapped or a prober answered. */
int ts_probed_fd(const struct ts_probed *probed);
/* Queues newly mapped files and handles answers of probers. Never waits. */
void ts_probed_take(struct ts_probed *probed);
/* Removes all probes. Waits at most one second for probers that are held by a wait for a file. */
void ts_probed_remove(struct ts_probed *probed);
