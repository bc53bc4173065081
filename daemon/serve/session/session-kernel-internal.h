/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel events of a session, as session-kernel.c (events) and session-kernel-threads.c (threads and names) share them.
 */
#pragma once

#include "daemon/serve/session/session-internal.h"
#include "proto/abi/map.h"

#define KERNEL_NAMES  1024u
#define KERNEL_STACKS 256u

/* A name and its string; another one of the same hash takes its place. */
struct kernel_name {
	char text[TS_BPF_FILE_BYTES];
	uint32_t id;
};

/* The same of a stack. */
struct kernel_stack {
	uint64_t frames[TS_BPF_STACK_FRAMES];
	uint32_t n_frames;
	uint32_t id;
};

struct ts_session_kernel {
	struct ts_kernel_feed *feed;	    /* NULL: nothing but samples */
	struct ts_session_samples *samples; /* NULL: none */
	pid_t pid;
	bool inner; /* the process has numbers of its own: it is in another pid namespace */
	bool flowing;
	bool quiet; /* recording is stopped */
	struct ts_kernel_config config;
	struct ts_kernel_config *wanted; /* by another thread; taken from here atomically */
	uint64_t lost_reported[TS_BPF_N_PROGRAMS]; /* losses */
	struct ts_map threads; /* by number: one more than their id in the session */
	struct kernel_name names[KERNEL_NAMES];
	struct kernel_stack stacks[KERNEL_STACKS];
	bool ended;
	uint64_t tally_ns;     /* of the last look at what is counted */
	struct ts_map tallied; /* a thread and a kind: one more than their place in */
	uint64_t *tallies;     /* how many were told of */
	uint32_t n_tallies, n_tallies_allocated;
};

/*
 * The last number of "NSpid:", which is what the process itself calls it; 0 where it cannot be told, or where it is the
 * only one.
 */
uint32_t ts_session_kernel_inner_number(const char *path);
