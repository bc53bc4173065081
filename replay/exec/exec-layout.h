/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a program's memory lay: every address that one of its operations says was allocated at any time. What a replay needs
 * for itself (its own buffers, variables whose address the program never asked for) is kept clear of that.
 */
#pragma once

#include "replay/exec/exec-program.h"

struct ts_exec_interval {
	uint64_t start, end;
};

struct ts_exec_layout {
	struct ts_exec_interval *intervals; /* ascending, apart from each other */
	size_t n;
	uint64_t next; /* where ts_exec_layout_pick() goes on */
};

int ts_exec_layout_init(struct ts_exec_layout *layout, const struct ts_exec_program *program);
void ts_exec_layout_deinit(struct ts_exec_layout *layout);
/* Whether the program had none of [start, start + bytes). */
bool ts_exec_layout_is_clear(const struct ts_exec_layout *layout, uint64_t start, uint64_t bytes);
/* An address that neither the program had nor this gave before. 0: there is none. */
uint64_t ts_exec_layout_pick(struct ts_exec_layout *layout, uint64_t bytes);

/* Allocations that are there, by address. */
struct ts_exec_allocation {
	uint64_t start, bytes;
	uint64_t at;	  /* where it lies, to executors that cannot have it where it was */
	uint32_t context; /* the executor's number for it */
	uint32_t owner;	  /* a module's number and one, where it is a variable of one */
};

struct ts_exec_allocations {
	struct ts_exec_allocation *all; /* ascending */
	size_t n, capacity;
};

/* -ENOMEM. The caller knows that nothing overlaps. */
int ts_exec_allocations_add(struct ts_exec_allocations *allocations,
			    const struct ts_exec_allocation *one);
void ts_exec_allocations_remove(struct ts_exec_allocations *allocations, size_t i);
/* The one that holds all of [address, address + bytes): its place; or SIZE_MAX. */
size_t ts_exec_allocations_find(const struct ts_exec_allocations *allocations, uint64_t address,
				uint64_t bytes);
/* Whether there is one with a byte in [address, address + bytes). */
bool ts_exec_allocations_overlap(const struct ts_exec_allocations *allocations, uint64_t address,
				 uint64_t bytes);
