/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The truth: counts of a test program's own GPU work, in a shared-memory file. Tests compare the
 * program's trace with the truth, even after the program is killed. A program counts an operation
 * after its call returned success, so that a count never exceeds the work done.
 *
 * The file is $TS_TRUTH; without that variable the counts stay in private memory. truth.py reads
 * the same layout, and writes it for Python programs. Counting is thread-safe.
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
	uint64_t finished; /* 1: main() returned normally */
	uint64_t threads;  /* threads that made a counted call */
	uint64_t devices;  /* bit d: device d was used */
	uint64_t copies[TS_TRUTH_DIRECTIONS];
	uint64_t copy_bytes[TS_TRUTH_DIRECTIONS];
	uint64_t sets;
	uint64_t set_bytes;
	uint64_t allocs[TS_TRUTH_MEMORIES];
	uint64_t alloc_bytes[TS_TRUTH_MEMORIES];
	uint64_t frees[TS_TRUTH_MEMORIES];
	/* Stream d is the default stream of device d. Created streams have the numbers from 16. */
	uint64_t launches[TS_TRUTH_KERNELS][TS_TRUTH_STREAMS];
	char kernel_names[TS_TRUTH_KERNELS][TS_TRUTH_NAME_BYTES];
	/*
	 * Outermost API calls by index. The names are the vendor's; two indices may have the same
	 * name.
	 */
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

/* Opens the truth of this process. If the file cannot be created, ends the process. */
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
