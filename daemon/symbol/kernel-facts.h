/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registers, shared and local memory of kernels, for vendors whose device rows lack them. The
 * session's definitions name device code (TS_DEF_CODE) and kernels in it (TS_DEF_FUNCTION). A
 * worker reads a code when its first kernel's row comes.
 *
 * Not thread-safe. The thread that calls ts_kernel_facts_find() first must live as long as the
 * object is used (worker-client.h).
 */
#pragma once

#include "proto/abi/record.h"

/* Limits of a session. Beyond them, and beyond the time of all workers, facts stay unknown. */
#define TS_KERNEL_FACTS_MAX_CODES     (64u * 1024)
#define TS_KERNEL_FACTS_MAX_FUNCTIONS (256u * 1024)
#define TS_KERNEL_FACTS_MAX_BYTES     (UINT64_C(64) << 20)
#define TS_KERNEL_FACTS_CODE_MS	      5000u
#define TS_KERNEL_FACTS_MS	      60000u

struct ts_kernel_numbers {
	uint32_t registers_per_thread;
	uint32_t static_shared_bytes;
	uint32_t local_bytes_per_thread;
};

struct ts_kernel_facts_options {
	pid_t pid;	    /* the process; its root directory has the files */
	uid_t uid;	    /* root opens files as this user; 0: as root */
	const char *worker; /* path of the worker's program; NULL: ts_worker_find() */
};

struct ts_kernel_facts;

/* Returns 0 or -ENOMEM. */
int ts_kernel_facts_new(const struct ts_kernel_facts_options *options,
			struct ts_kernel_facts **ret_facts);
void ts_kernel_facts_free(struct ts_kernel_facts *facts); /* NULL is accepted */

/*
 * Adds a definition. The arguments are those of the arena's sink (ingest/arena.h). Ids count up
 * from 1. Returns 0, -ENOMEM, or 1: malformed.
 */
int ts_kernel_facts_add_code(struct ts_kernel_facts *facts, const struct ts_definition_code *code,
			     const char *path, const char *target, const uint8_t *bytes);
int ts_kernel_facts_add_function(struct ts_kernel_facts *facts,
				 const struct ts_definition_function *function, const char *name);

/*
 * Returns a kernel's numbers, or NULL if they are unknown. May wait TS_KERNEL_FACTS_CODE_MS for a
 * worker.
 */
const struct ts_kernel_numbers *ts_kernel_facts_find(struct ts_kernel_facts *facts,
						     uint32_t function);

/* Returns the number of codes that could not be read, and the reason of the first one or NULL. */
uint32_t ts_kernel_facts_unread(const struct ts_kernel_facts *facts, const char **ret_why);
/* Returns the bytes of memory that the object uses. */
uint64_t ts_kernel_facts_memory(const struct ts_kernel_facts *facts);
