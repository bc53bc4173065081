/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that puts probes on one user's files. On a FUSE file system the kernel can wait for ever while it opens a file, reads it,
 * closes it, puts a probe on it or removes one; no signal ends that. So none of these happens in the daemon, and each user has
 * a prober of its own, which is killed if it is late. The probes belong to the prober: they are gone when it is.
 *
 * A request for a file has two answers: which file it is, at which the prober waits for a word on whether to go on, and
 * what became of the probes. A request for an open file has one, a removal none. One thread.
 */
#pragma once

#include <sys/types.h>

#include "daemon/bpf/system.h"

#define TS_PROBER_PATH_BYTES 4096u
#define TS_PROBER_MAX_FILES  256u
/* The first argument of tracesmithd that makes it a prober. */
#define TS_PROBER_ARGUMENT "--prober"

struct ts_prober;

enum ts_prober_kind {
	TS_PROBER_FILE =
		1, /* which a process maps, as the process sees it and with its user's rights */
	TS_PROBER_OWN_FILE,  /* of this system, with the daemon's own rights */
	TS_PROBER_OPEN_FILE, /* that comes with the request; it gets probes, and one answer */
	TS_PROBER_GO_ON,     /* the file gets probes, which have a number from now on */
	TS_PROBER_STOP,	     /* it gets none */
	TS_PROBER_REMOVE,    /* the probes of this number */
};

struct ts_prober_request {
	uint32_t kind; /* enum ts_prober_kind */
	int32_t pid;
	uint32_t uid;
	uint32_t number; /* less than TS_PROBER_MAX_FILES */
	char path[TS_PROBER_PATH_BYTES];
};

enum ts_prober_answer_kind {
	TS_PROBER_IDENTITY = 1, /* of a file that is open now */
	TS_PROBER_PROBES,	/* what became of it */
};

struct ts_prober_answer {
	uint32_t kind; /* enum ts_prober_answer_kind */
	int32_t error; /* 0, or a negative errno; -ENOENT of PROBES: the file has none of the functions */
	uint64_t device, inode;
	uint32_t
		trusted; /* only root or the daemon's user can have written the file; it comes along */
	uint32_t reserved;
};

/* Starts one. `worker`: as in struct ts_worker_options. 0 or a negative errno. */
int ts_prober_new(const struct ts_system_programs *programs, const char *worker,
		  struct ts_prober **ret_prober);
/* Kills it. Returns whether it is gone, and its probes with it: false for as long as some file holds it. */
bool ts_prober_end(struct ts_prober *prober);
/* A prober that is not gone by then is left to the kernel. NULL is fine. */
void ts_prober_free(struct ts_prober *prober);

/* Readable when there is an answer, or the prober is gone. */
int ts_prober_fd(const struct ts_prober *prober);
/* Never blocks. `fd`: what comes along, or -1; it stays the caller's. 0 or a negative errno: the prober is gone, or does not read. */
int ts_prober_send(struct ts_prober *prober, const struct ts_prober_request *request, int fd);
/* *ret_fd: a trusted file, or -1. -EAGAIN: there is no answer so far. Other errors: the prober is gone, or its answer is none. */
int ts_prober_receive(struct ts_prober *prober, struct ts_prober_answer *ret_answer, int *ret_fd);

/* The process itself: main() calls it for TS_PROBER_ARGUMENT. Returns its exit status. */
int ts_prober_main(int argc, char **argv);
