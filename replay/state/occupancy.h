/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Theoretical occupancy: the number of a kernel's warps that fit on a multiprocessor at once,
 * divided by the maximum. The inputs are the kernel's registers, shared memory and block size, and
 * the limits of the device. The rules follow "CUDA C++ Programming Guide", appendix "Compute
 * Capabilities", and the vendor's cuda_occupancy.h.
 *
 * The result is an upper bound and not a measurement. It ignores the split between cache and shared
 * memory, clusters, and concurrent kernels. If limits or configuration are missing or impossible,
 * the occupancy is unknown.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The resource that limits occupancy. If several resources limit it equally, the one that comes
 * first in this enum is reported.
 */
enum ts_occupancy_limit {
	TS_OCCUPANCY_UNKNOWN,
	TS_OCCUPANCY_FULL,	/* no limit: all warps are occupied */
	TS_OCCUPANCY_REGISTERS, /* per thread */
	TS_OCCUPANCY_SHARED,	/* shared memory, per block */
	TS_OCCUPANCY_WARPS,	/* block size does not divide the warps */
	TS_OCCUPANCY_BLOCKS,	/* maximum number of blocks; blocks are too small */
	TS_OCCUPANCY_GRID,	/* the grid has too few blocks */
	TS_OCCUPANCY_LIMITS
};

/* Returns the limit's name, such as "registers"; NULL for other numbers. */
const char *ts_occupancy_limit_name(uint32_t limit);

struct ts_occupancy {
	/*
	 * Resident warps of a multiprocessor, divided by the maximum. With TS_OCCUPANCY_GRID: the
	 * average over all multiprocessors of the device.
	 */
	double share;
	double waves;	 /* blocks of the grid / blocks that fit on the device */
	uint32_t blocks; /* resident blocks per multiprocessor */
	uint32_t warps;	 /* resident warps per multiprocessor */
	uint32_t limit;	 /* enum ts_occupancy_limit */
	uint32_t reserved;
};

/* Returns false and limit UNKNOWN if the occupancy is unknown. Thread-safe. */
bool ts_occupancy_of(const struct ts_row_device *device, const struct ts_row_kernel *kernel,
		     struct ts_occupancy *ret_occupancy);

/*
 * Sums over all launches of one kernel name, or of one device. The weight of a launch is its
 * duration.
 */
struct ts_occupancy_sum {
	uint32_t name;		  /* kernel: string id; device: 0 */
	uint32_t session, device; /* device: its ids; kernel: 0 */
	uint32_t limit;		  /* the limit with the largest weight */
	uint64_t count, ns;
	uint64_t known_count, known_ns; /* launches whose occupancy is known */
	double share, waves;		/* weighted means over known launches */
	double share_min, share_max;
	/* sum of the weights of the launches with each limit */
	double limit_ns[TS_OCCUPANCY_LIMITS];
};

struct ts_occupancies {
	struct ts_occupancy_sum *kernels; /* one per name, longest time first */
	size_t n_kernels;
	struct ts_occupancy_sum *devices; /* by session, device */
	size_t n_devices;
	bool is_damaged; /* damaged blocks were left out */
};

#define TS_OCCUPANCY_MAX_SUMS (1u << 20)

/*
 * Sums the kernels that began within the window. to_ns 0 means the end of the trace. Returns
 * -ENOMEM or the errors of sbt/reader.h. Kernels beyond TS_OCCUPANCY_MAX_SUMS names are left out of
 * all sums.
 */
int ts_occupancies_read(struct ts_sbt_reader *reader, uint32_t session, uint64_t from_ns,
			uint64_t to_ns, struct ts_occupancies **ret_occupancies);
void ts_occupancies_free(struct ts_occupancies *occupancies); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_occupancies *, ts_occupancies_freep, ts_occupancies_free)

#ifdef __cplusplus
}
#endif
