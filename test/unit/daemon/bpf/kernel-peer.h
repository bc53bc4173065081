/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agreement between test-kernel-peers.c and kernel-peer.c, the program that the test executes under
 * several credentials.
 */
#pragma once

#include <stdint.h>

/* File descriptors that the program inherits. The numbers lie above all descriptors of the test. */
#define PEER_FD_SHARED	 500 /* struct peer_shared */
#define PEER_FD_FOLDER	 501
#define PEER_FD_PLAIN	 502 /* the program itself, without a set-id bit */
#define PEER_FD_PROGRAMS 503 /* the first of PEER_N_PROGRAMS: eBPF programs, as enum peer_program */

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
#define PEER_OPENS	64u /* more than a program opens at its start */
/* On a busy machine a thread may be preempted before it sleeps, so not every sleep counts. */
#define PEER_SLEEPS   8u
#define PEER_SLEEP_NS 4000000

struct peer_shared {
	uint32_t go;  /* set by the test: the process may begin */
	uint32_t pid; /* the process that makes events */
	/* just before the process executes the program; 0: it executes none */
	uint64_t exec_ns;
	uint64_t start_ns;    /* before its first event */
	uint64_t end_ns;      /* after its last event; 0: not reached */
	uint32_t n_runs;      /* eBPF programs that the process ran */
	uint32_t is_dumpable; /* PR_GET_DUMPABLE of its memory */
	uint32_t has_disk;    /* the process read from a disk */
	uint32_t reserved;
};
