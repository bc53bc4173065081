/* SPDX-License-Identifier: Apache-2.0 */
/* What the checks share. */
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

/* Of each: what a kernel's threads did in global memory, and what operations did. */
#define TS_CHECK_MAX_CELL_BYTES (UINT64_C(1) << 30)

struct ts_check_allocation {
	uint64_t address, bytes;
	uint8_t *written; /* a bit a byte; NULL: all is */
	bool is_pinned, is_managed, is_mapped;
};

/* check-allocations.c: by address. */
struct ts_check_allocations {
	struct ts_check_allocation *all;
	size_t n, capacity;
};

/* The one that the address lies in; NULL. */
struct ts_check_allocation *ts_check_allocation_at(const struct ts_check_allocations *allocations,
						   uint64_t address);
/* The last one that begins at or before the address; NULL. */
const struct ts_check_allocation *ts_check_allocation_before(
	const struct ts_check_allocations *allocations, uint64_t address);
/* The one that the address lies in, or the one that ends or begins nearest; NULL: there is none. */
struct ts_check_allocation *ts_check_allocation_near(const struct ts_check_allocations *allocations,
						     uint64_t address);
/* The first one that begins behind the address; NULL. */
struct ts_check_allocation *ts_check_allocation_behind(
	const struct ts_check_allocations *allocations, uint64_t address);
void ts_check_mark_written(struct ts_check_allocation *allocation, uint64_t address,
			   uint64_t bytes);
bool ts_check_is_written(const struct ts_check_allocation *allocation, uint64_t address,
			 uint64_t bytes, uint64_t *ret_first);

/* A block's threads, and what they did in its shared memory. */
struct ts_check_block;

/* What the kernel that runs does. */
struct ts_check_kernel {
	const struct ts_ptx_launch *launch;
	const struct ts_ptx_image *image;
	uint32_t block_threads; /* numbers that a block takes: a multiple of 32 */
	bool too_large;		/* its threads cannot be numbered: nothing is known of races */
	struct ts_check_cells cells;
	struct ts_map published;	    /* by place in memory: what who reads there learns */
	struct ts_map touched;		    /* of which bytes it read and wrote */
	const struct ts_ptx_access *access; /* the one that is looked at, and by which lane */
	struct ts_check_block *block;
	uint32_t lane;
	uint32_t last;	     /* the place in ts_check_allocations where the last access was */
	bool knows_pointers; /* which allocations it can have pointers to is known: */
	bool *reached;	     /* those, by their place in ts_check_allocations */
};

/* A stream, or (the first one) the host. */
struct ts_check_actor {
	struct ts_stream_name name;
	struct ts_stream_kind kind;
	bool is_gone;
	uint32_t clock;
	uint32_t *known; /* of each actor how far */
};

struct ts_check_event {
	uint64_t handle;
	uint32_t *known; /* NULL: not recorded */
	uint32_t n_known;
};

/* A copy from pinned memory, while nobody has waited for it. */
struct ts_check_flight {
	uint64_t address;
	uint8_t *bytes;
	size_t n;
	struct ts_check_trail trail; /* what: its sequence */
};

struct ts_check_operations {
	struct ts_check_actor *actors;
	uint32_t n_actors, actors_capacity;
	struct ts_check_event *events;
	size_t n_events, events_capacity;
	struct ts_map event_at; /* by handle */
	/* Of those that are not kept what they all know together: a wait for one of them is one for them all. */
	uint32_t *more_known;
	struct ts_check_flight *flights;
	size_t n_flights, flights_capacity;
	size_t flight_bytes;
	struct ts_check_cells cells;
	/* By sequence: who did it, at what clock, and by what it is known again. */
	struct ts_check_trail *trails;
	size_t n_trails;
	uint32_t current; /* the actor */
};

struct ts_check {
	uint32_t what;
	struct ts_ptx_observer observer;
	const uint8_t *(*memory)(void *userdata, uint64_t address, uint64_t n_bytes); /* or NULL */
	void *memory_userdata;
	struct ts_check_allocations allocations;
	struct ts_check_kernel kernel;
	struct ts_check_operations operations;
	const struct ts_row_operation *operation; /* that was begun */
	struct ts_check_finding findings[TS_CHECK_MAX_FINDINGS];
	uint32_t places[TS_CHECK_MAX_FINDINGS][2]; /* by which the same is known again */
	uint64_t pairs[TS_CHECK_MAX_FINDINGS]
		      [2]; /* of operations: the last two that were counted */
	size_t n_findings;
	uint64_t n_more, n_unlooked;
	int error; /* a callback's */
};

/*
 * findings.c: a finding to be filled in, or NULL: it is another of one that is there, or too many are. `earlier`: the sequence of the
 * operation that the current one is against, and is counted with once; 0: each is counted.
 */
struct ts_check_finding *ts_check_found(struct ts_check *check, enum ts_check_kind kind,
					uint32_t place, uint32_t other, uint64_t earlier);
/* Where it lies: its allocation. */
void ts_check_locate(const struct ts_check *check, struct ts_check_finding *finding);

/* check-kernel.c */
void ts_check_kernel_init(struct ts_check *check);
/* What the kernel that ended has touched, told to the operations; forgets it. */
int ts_check_kernel_touched(struct ts_check *check);
void ts_check_kernel_deinit(struct ts_check_kernel *kernel);

/* strays.c: what the kernel that begins was given pointers to. -ENOMEM. */
int ts_check_strays_begin(struct ts_check *check);
/*
 * Whether the access goes where the kernel has no pointer to. If not, what it reads there are pointers that it has from then on.
 * `in`: NULL where kernels allocated it, which any may go to.
 */
bool ts_check_strays_is_one(struct ts_check *check, const struct ts_check_allocation *in,
			    uint64_t address);

/* check-operations.c */
int ts_check_operations_begin(struct ts_check *check, const struct ts_row_operation *operation);
int ts_check_operations_done(struct ts_check *check);
int ts_check_operations_touch(struct ts_check *check, uint64_t address, uint64_t bytes,
			      uint32_t flags);
int ts_check_operations_take(struct ts_check *check, uint64_t address, const uint8_t *bytes,
			     size_t n);
void ts_check_operations_deinit(struct ts_check_operations *operations);
