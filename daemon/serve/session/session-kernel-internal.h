/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel events of a session: the state that session-kernel.c (events) and session-kernel-threads.c
 * (threads and names) share.
 */
#pragma once

#include "daemon/serve/session/session-internal.h"
#include "proto/abi/map.h"

#define KERNEL_NAMES  1024u
#define KERNEL_STACKS 256u
#define KERNEL_BATCH  128u

/*
 * Beside SESSION_E_*, and only while `is_in_place`: the event cannot become a row at once, because
 * it needs a definition, or because its batch is full.
 */
#define KERNEL_E_LATER 3

/* A cached name and its string id. A new name with the same slot replaces it. */
struct kernel_name {
	char text[TS_BPF_FILE_BYTES];
	uint32_t id;
};

/* A cached stack and its id. A new stack with the same slot replaces it. */
struct kernel_stack {
	uint64_t frames[TS_BPF_STACK_FRAMES];
	uint32_t n_frames;
	uint32_t id;
};

/* Rows of the frequent types, which go to the writer together. */
struct kernel_batches {
	struct ts_row_off_cpu off_cpus[KERNEL_BATCH];
	struct ts_row_page_fault faults[KERNEL_BATCH];
	struct ts_row_syscall calls[KERNEL_BATCH];
	uint32_t n_off_cpus, n_faults, n_calls;
};

struct ts_session_kernel {
	struct ts_kernel_feed *feed;	    /* NULL: samples only */
	struct ts_session_samples *samples; /* NULL: none */
	pid_t pid;
	/* The process is in another pid namespace, so it has its own thread numbers. */
	bool inner;
	bool flowing;
	bool quiet; /* recording is paused */
	struct ts_kernel_config config;
	/* A new configuration from the main thread; NULL: none. Exchanged atomically. */
	struct ts_kernel_config *wanted;
	uint64_t lost_reported[TS_BPF_N_PROGRAMS]; /* losses written as rows */
	struct ts_map threads;			   /* thread number -> session's id + 1 */
	/* The last look-up in `threads`, because most events follow one of the same thread. */
	uint32_t last_tid; /* 0: none */
	uint32_t last_id;
	/* Events are read in the kernel's memory, and must not wait for the file or for /proc. */
	bool is_in_place;
	uint64_t n_in_place; /* events of this round that were handled there */
	struct kernel_batches batches;
	struct kernel_name names[KERNEL_NAMES];
	struct kernel_stack stacks[KERNEL_STACKS];
	bool ended;
	uint64_t tally_ns;     /* time of the last read of the tallies */
	struct ts_map tallied; /* thread and kind -> index in tallies + 1 */
	uint64_t *tallies;     /* last reported counts */
	uint32_t n_tallies, n_tallies_allocated;
};

/*
 * Returns the last number of "NSpid:" in the status file at path: the pid inside the process's own
 * namespace. Returns 0 if the line is missing, or if it has only one number, because the process is
 * in the first namespace.
 */
uint32_t ts_session_kernel_inner_number(const char *path);
