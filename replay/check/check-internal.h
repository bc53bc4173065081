/* SPDX-License-Identifier: Apache-2.0 */
/* Shared declarations of the checks. */
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/base.h"
#include "proto/abi/map.h"
#include "replay/check/cells.h"
#include "replay/check/check-clocks.h"
#include "replay/check/check.h"
#include "replay/streams/streams.h"

/*
 * Limit of the memory for each of two sets of cells: one for the accesses of a kernel's threads to
 * global memory, one for the accesses of operations.
 */
#define TS_CHECK_MAX_CELL_BYTES (UINT64_C(1) << 30)

struct ts_check_allocation {
	uint64_t address, bytes;
	uint8_t *written; /* one bit per byte; NULL: all written */
	bool is_pinned, is_managed, is_mapped;
};

/* check-allocations.c: sorted by address. */
struct ts_check_allocations {
	struct ts_check_allocation *all;
	size_t n, capacity;
};

/* Returns the allocation that contains the address, or NULL. */
struct ts_check_allocation *ts_check_allocation_at(const struct ts_check_allocations *allocations,
						   uint64_t address);
/* Returns the last allocation that starts at or before the address, or NULL. */
const struct ts_check_allocation *ts_check_allocation_before(
	const struct ts_check_allocations *allocations, uint64_t address);
/*
 * Returns the allocation that contains the address. If none contains it, returns the nearest one.
 * NULL: there are no allocations.
 */
struct ts_check_allocation *ts_check_allocation_near(const struct ts_check_allocations *allocations,
						     uint64_t address);
/* Returns the first allocation that starts after the address, or NULL. */
struct ts_check_allocation *ts_check_allocation_behind(
	const struct ts_check_allocations *allocations, uint64_t address);
/*
 * Mark a range as written, and test if all of a range is written. If it is not, *ret_first receives
 * the first unwritten address. The range may extend past the allocation's end; the part beyond is
 * ignored.
 */
void ts_check_mark_written(struct ts_check_allocation *allocation, uint64_t address,
			   uint64_t bytes);
bool ts_check_is_written(const struct ts_check_allocation *allocation, uint64_t address,
			 uint64_t bytes, uint64_t *ret_first);

/* A block's threads and the accesses to its shared memory. */
struct ts_check_block;

/* State of the running kernel. */
struct ts_check_kernel {
	const struct ts_ptx_launch *launch;
	const struct ts_ptx_image *image;
	uint32_t block_threads; /* thread numbers per block, a multiple of 32 */
	bool too_large;		/* too many threads for 32-bit numbers: no races are checked */
	struct ts_check_cells cells;
	/* by address: the knowledge (check-clocks.h) that a strong read of the address acquires */
	struct ts_map published;
	/* for each page, bits of the bytes that the kernel read and wrote */
	struct ts_map touched;
	const struct ts_ptx_access *access; /* the current access; `lane` is its current lane */
	struct ts_check_block *block;
	uint32_t lane;
	uint32_t last;	     /* index of the allocation that was accessed last; searched first */
	bool knows_pointers; /* `reached` is valid: the kernel's first pointers could be read */
	bool *reached;	     /* For each allocation: true if the kernel may have a pointer to it. */
};

/* A stream, or (the first actor) the host. */
struct ts_check_actor {
	struct ts_stream_name name;
	struct ts_stream_kind kind;
	bool is_gone;
	uint32_t clock;
	/*
	 * for each other actor, the clock up to which that actor's operations are ordered before
	 * this actor's next operation
	 */
	uint32_t *known;
};

struct ts_check_event {
	uint64_t handle;
	uint32_t *known; /* NULL: not recorded */
	uint32_t n_known;
};

/* A copy from pinned memory that the host has not waited for. */
struct ts_check_flight {
	uint64_t address;
	uint8_t *bytes;
	size_t n;
	struct ts_check_trail trail; /* `what` is the copy's sequence number */
};

struct ts_check_operations {
	struct ts_check_actor *actors;
	uint32_t n_actors, actors_capacity;
	struct ts_check_event *events;
	size_t n_events, events_capacity;
	struct ts_map event_at; /* by handle */
	/*
	 * The joined `known` of all events beyond MAX_EVENTS. A wait for any of these events counts
	 * as a wait for all of them.
	 */
	uint32_t *more_known;
	struct ts_check_flight *flights;
	size_t n_flights, flights_capacity;
	size_t flight_bytes;
	struct ts_check_cells cells;
	/* By sequence number: actor, clock, and the hash that identifies repeated operations. */
	struct ts_check_trail *trails;
	size_t n_trails;
	uint32_t current; /* current actor */
};

struct ts_check {
	uint32_t what;
	struct ts_ptx_observer observer;
	/* May be NULL. */
	const uint8_t *(*memory)(void *userdata, uint64_t address, uint64_t n_bytes);
	void *memory_userdata;
	struct ts_check_allocations allocations;
	struct ts_check_kernel kernel;
	struct ts_check_operations operations;
	/* the current operation, between ts_check_begin() and ts_check_done() */
	const struct ts_row_operation *operation;
	struct ts_check_finding findings[TS_CHECK_MAX_FINDINGS];
	/* each finding's pair of places, which identifies repeats */
	uint32_t places[TS_CHECK_MAX_FINDINGS][2];
	/* for each finding, the pair of operations that was counted last */
	uint64_t pairs[TS_CHECK_MAX_FINDINGS][2];
	size_t n_findings;
	uint64_t n_more, n_unlooked;
	int error; /* first error of a callback */
};

/*
 * findings.c: returns a new finding to fill in. Returns NULL if an equal one exists or there are
 * too many. `earlier` is the sequence number of the earlier operation of the conflict: the finding
 * counts each pair of operations once. If `earlier` is 0, the finding counts every occurrence.
 */
struct ts_check_finding *ts_check_found(struct ts_check *check, enum ts_check_kind kind,
					uint32_t place, uint32_t other, uint64_t earlier);
/*
 * Sets the finding's allocation: the one nearest to its address. A finding in shared memory has
 * none.
 */
void ts_check_locate(const struct ts_check *check, struct ts_check_finding *finding);

/* check-kernel.c */
/* Sets the observer's callbacks. */
void ts_check_kernel_init(struct ts_check *check);
/*
 * Reports the accesses of the ended kernel to check-operations.c, and drops them. Returns 0 or
 * -ENOMEM.
 */
int ts_check_kernel_touched(struct ts_check *check);
void ts_check_kernel_deinit(struct ts_check_kernel *kernel);

/*
 * strays.c: finds the allocations that the starting kernel has pointers to. Returns 0 or -ENOMEM.
 */
int ts_check_strays_begin(struct ts_check *check);
/*
 * True if the kernel has no pointer to the accessed allocation. False also if the kernel's pointers
 * are unknown. If false, the words that the access reads become further pointers of the kernel.
 * `in` is NULL for memory that kernels allocate; every kernel may access that.
 */
bool ts_check_strays_is_one(struct ts_check *check, const struct ts_check_allocation *in,
			    uint64_t address);

/* check-operations.c */
/*
 * Begin and end an operation, record a range that it accesses, and record host bytes that a copy
 * reads. Return 0 or -ENOMEM.
 */
int ts_check_operations_begin(struct ts_check *check, const struct ts_row_operation *operation);
int ts_check_operations_done(struct ts_check *check);
int ts_check_operations_touch(struct ts_check *check, uint64_t address, uint64_t bytes,
			      uint32_t flags);
int ts_check_operations_take(struct ts_check *check, uint64_t address, const uint8_t *bytes,
			     size_t n);
void ts_check_operations_deinit(struct ts_check_operations *operations);
