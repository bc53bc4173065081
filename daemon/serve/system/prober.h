/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that attaches probes to the files of one user. On a FUSE file system the kernel can
 * wait forever to open, read or close a file, or to attach or remove a probe. No signal ends that
 * wait. So the daemon does none of these. Each user has a separate prober. If a prober does not
 * answer in time, the daemon kills it. Probes belong to their prober and end with it.
 *
 * A file is probed in two steps:
 *   FILE or OWN_FILE   -> IDENTITY   the prober then waits for GO_ON or STOP
 *   GO_ON              -> PROBES     the result
 *   OPEN_FILE          -> PROBES     for an open file, in one step
 *   REMOVE                           no answer
 *
 * Not thread-safe.
 */
#pragma once

#include <sys/types.h>

#include "daemon/bpf/system.h"

#define TS_PROBER_PATH_BYTES 4096u
#define TS_PROBER_MAX_FILES  256u
/* First argument of tracesmithd that selects the prober. */
#define TS_PROBER_ARGUMENT "--prober"

struct ts_prober;

enum ts_prober_kind {
	/*
	 * Probe a file that a process maps. The prober resolves the path in the process's mount
	 * namespace, and opens the file with the user's rights.
	 */
	TS_PROBER_FILE = 1,
	/*
	 * probe a file at a path of the daemon's own mount namespace, opened with the daemon's
	 * rights
	 */
	TS_PROBER_OWN_FILE,
	TS_PROBER_OPEN_FILE, /* the open file in the request gets probes */
	TS_PROBER_GO_ON,     /* the file gets probes, with the request's number */
	TS_PROBER_STOP,	     /* the file gets no probes */
	TS_PROBER_REMOVE,    /* removes the probes with this number */
};

struct ts_prober_request {
	uint32_t kind; /* enum ts_prober_kind */
	int32_t pid;
	uint32_t uid;
	uint32_t number; /* less than TS_PROBER_MAX_FILES */
	char path[TS_PROBER_PATH_BYTES];
};

enum ts_prober_answer_kind {
	TS_PROBER_IDENTITY = 1, /* of the opened file */
	TS_PROBER_PROBES,	/* result of the probes */
};

struct ts_prober_answer {
	uint32_t kind; /* enum ts_prober_answer_kind */
	/*
	 * 0 or a negative errno. In a PROBES answer, -ENOENT means that the file has none of the
	 * functions.
	 */
	int32_t error;
	uint64_t device, inode;
	/*
	 * Only root or the daemon's user can have written the file; the answer has its
	 * descriptor.
	 */
	uint32_t trusted;
	uint32_t reserved;
};

/* Starts a prober. `worker`: as in struct ts_worker_options. Returns 0 or a negative errno. */
int ts_prober_new(const struct ts_system_programs *programs, const char *worker,
		  struct ts_prober **ret_prober);
/*
 * Kills the prober. Returns true if the process and its probes are gone; false if a wait for a file
 * still holds it.
 */
bool ts_prober_end(struct ts_prober *prober);
/*
 * Kills the prober and frees it. A prober that still waits for a file ends when the kernel ends the
 * wait. NULL is accepted.
 */
void ts_prober_free(struct ts_prober *prober);

/* Returns a descriptor that is readable when there is an answer or the prober is gone. */
int ts_prober_fd(const struct ts_prober *prober);
/*
 * Sends a request. Never blocks. `fd`: a descriptor to send, or -1; the caller keeps it. Returns 0
 * or a negative errno: the prober is gone or does not read.
 */
int ts_prober_send(struct ts_prober *prober, const struct ts_prober_request *request, int fd);
/*
 * Receives an answer. *ret_fd: a trusted file, or -1. -EAGAIN: no answer yet. Other errors: the
 * prober is gone, or its answer is malformed.
 */
int ts_prober_receive(struct ts_prober *prober, struct ts_prober_answer *ret_answer, int *ret_fd);

/* Runs the prober process; main() calls it for TS_PROBER_ARGUMENT. Returns the exit status. */
int ts_prober_main(int argc, char **argv);
