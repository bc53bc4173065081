/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address intervals that a captured program's allocations and variables used at any time. The
 * replay's own memory lies outside these intervals: its buffers, and variables whose address the
 * program never asked for. Not thread-safe.
 */
#pragma once

#include "replay/exec/exec-program.h"

struct ts_exec_interval {
	uint64_t start, end;
};

struct ts_exec_layout {
	struct ts_exec_interval *intervals; /* ascending, disjoint */
	size_t n;
	uint64_t next; /* next address that ts_exec_layout_pick() tries */
};

/* Collects the intervals of a program. Returns 0 or -ENOMEM. */
int ts_exec_layout_init(struct ts_exec_layout *layout, const struct ts_exec_program *program);
void ts_exec_layout_deinit(struct ts_exec_layout *layout);
/* True if the program used no byte of [start, start + bytes). */
bool ts_exec_layout_is_clear(const struct ts_exec_layout *layout, uint64_t start, uint64_t bytes);
/*
 * Returns an address that the program never used and that no earlier call returned. 0: none left.
 */
uint64_t ts_exec_layout_pick(struct ts_exec_layout *layout, uint64_t bytes);

/* One of the current allocations, which are sorted by address. */
struct ts_exec_allocation {
	uint64_t start, bytes;
	/* Real address, for executors that cannot place the allocation at its captured address. */
	uint64_t at;
	uint32_t context; /* the executor's number of the context */
	uint32_t owner;	  /* for a module's variable: the module's number plus 1 */
};

struct ts_exec_allocations {
	struct ts_exec_allocation *all; /* ascending */
	size_t n, capacity;
};

/* Adds an allocation, which must not overlap another one. Returns 0 or -ENOMEM. */
int ts_exec_allocations_add(struct ts_exec_allocations *allocations,
			    const struct ts_exec_allocation *one);
void ts_exec_allocations_remove(struct ts_exec_allocations *allocations, size_t i);
/*
 * Returns the index of the allocation that contains all of [address, address + bytes), or SIZE_MAX.
 */
size_t ts_exec_allocations_find(const struct ts_exec_allocations *allocations, uint64_t address,
				uint64_t bytes);
/* True if an allocation has a byte in [address, address + bytes). */
bool ts_exec_allocations_overlap(const struct ts_exec_allocations *allocations, uint64_t address,
				 uint64_t bytes);
