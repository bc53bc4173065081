/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a test program knows to be true of itself, kept in a shared-memory file while it runs: a trace
 * of it is compared with this, also when the program was killed half-way. A thing is counted after
 * the call that did it returned success, so that a count never runs ahead of what happened.
 *
 * The file is $TS_TRUTH; without it the counts are kept in private memory and nobody sees them.
 * truth.py reads (and, for Python programs, writes) the same layout. Counting is thread-safe.
 */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TS_TRUTH_ENVIRONMENT "TS_TRUTH"
#define TS_TRUTH_MAGIC	     0x31485455525453ull /* "STRUTH1" */
#define TS_TRUTH_KERNELS     16
#define TS_TRUTH_STREAMS     64
#define TS_TRUTH_CALLS	     32
#define TS_TRUTH_NAME_BYTES  32

enum ts_truth_direction {
	TS_TRUTH_H2D = 0,
	TS_TRUTH_D2H = 1,
	TS_TRUTH_D2D = 2,
	TS_TRUTH_PEER = 3,
	TS_TRUTH_DIRECTIONS
};

enum ts_truth_memory {
	TS_TRUTH_DEVICE = 0,
	TS_TRUTH_PINNED = 1,
	TS_TRUTH_MEMORIES
};

struct ts_truth {
	uint64_t magic;
	uint32_t n_bytes; /* sizeof(struct ts_truth) */
	uint32_t pid;
	uint64_t finished; /* 1: main() came to its end */
	uint64_t threads;  /* that made a counted call */
	uint64_t devices;  /* bit d: device d was used */
	uint64_t copies[TS_TRUTH_DIRECTIONS];
	uint64_t copy_bytes[TS_TRUTH_DIRECTIONS];
	uint64_t sets;
	uint64_t set_bytes;
	uint64_t allocs[TS_TRUTH_MEMORIES];
	uint64_t alloc_bytes[TS_TRUTH_MEMORIES];
	uint64_t frees[TS_TRUTH_MEMORIES];
	/* Streams are numbered: device d's default stream is d, created ones count from 16. */
	uint64_t launches[TS_TRUTH_KERNELS][TS_TRUTH_STREAMS];
	char kernel_names[TS_TRUTH_KERNELS][TS_TRUTH_NAME_BYTES];
	/* Outermost API calls, by the names that the vendor gives them; a name may stand twice. */
	uint64_t calls[TS_TRUTH_CALLS];
	char call_names[TS_TRUTH_CALLS][TS_TRUTH_NAME_BYTES];
};

#define TS_TRUTH_FIRST_CREATED_STREAM 16

static inline struct ts_truth *ts_truth_map(int fd, size_t n_bytes)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *mapping = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (mapping == MAP_FAILED) {
		perror("the truth's memory");
		exit(9);
	}
	return (struct ts_truth *)mapping;
}

/* Opens the truth of this process; ends it where the file cannot be made. */
static inline struct ts_truth *ts_truth_open(void)
{
	const char *path = getenv(TS_TRUTH_ENVIRONMENT);
	struct ts_truth *truth;
	int fd = -1;

	if (path) {
		fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0 || ftruncate(fd, sizeof(struct ts_truth))) {
			perror(path);
			exit(9);
		}
	}
	truth = ts_truth_map(fd, sizeof(struct ts_truth));
	if (fd >= 0)
		close(fd);
	truth->n_bytes = sizeof(struct ts_truth);
	truth->pid = (uint32_t)getpid();
	truth->magic = TS_TRUTH_MAGIC;
	return truth;
}

static inline void ts_truth_add(uint64_t *count, uint64_t n)
{
	__atomic_fetch_add(count, n, __ATOMIC_RELAXED);
}
