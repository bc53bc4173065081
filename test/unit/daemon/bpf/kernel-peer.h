/* SPDX-License-Identifier: Apache-2.0 */
/* Agreement between test-kernel-peers.c and the program that it has executed under several credentials, kernel-peer.c. */
#pragma once

#include <stdint.h>

/* File descriptors that the program inherits, above all that the test has. */
#define PEER_FD_SHARED	 500 /* struct peer_shared */
#define PEER_FD_FOLDER	 501
#define PEER_FD_PLAIN	 502 /* the program itself, without a set-id bit */
#define PEER_FD_PROGRAMS 503 /* and on: eBPF programs, as enum peer_program */

enum peer_program {
	PEER_RECLAIM_BEGUN,
	PEER_RECLAIM_OVER,
	PEER_FENCE_MADE,
	PEER_FENCE_SIGNALED,
	PEER_WAIT_BEGUN,
	PEER_WAIT_OVER,
	PEER_N_PROGRAMS
};

#define PEER_MARKER	"marker" /* a file in the folder */
#define PEER_DATA	"data" /* a file in the folder whose data lies on a disk, if there is one */
#define PEER_DATA_BYTES (64u << 10)
#define PEER_PAGES	2048u
#define PEER_OPENS	64u /* more than a program needs to begin */
/* On a busy machine a thread is preempted before it sleeps, and not each time. */
#define PEER_SLEEPS   8u
#define PEER_SLEEP_NS 4000000

struct peer_shared {
	uint32_t go;	      /* set by the test: the process may begin */
	uint32_t pid;	      /* of the process that makes events */
	uint64_t exec_ns;     /* before that process executes the program; 0: it does not */
	uint64_t start_ns;    /* before its first event */
	uint64_t end_ns;      /* behind its last event; 0: not reached */
	uint32_t n_runs;      /* eBPF programs that it ran */
	uint32_t is_dumpable; /* of its memory, as prctl(2) returned it */
	uint32_t has_disk;    /* it read from a disk */
	uint32_t reserved;
};
