/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How full a kernel can make the multiprocessors: the warps that fit there at once, of those that the hardware can hold, by the
 * kernel's registers, shared memory and block and the device's limits, as "CUDA C++ Programming Guide", appendix "Compute Capabilities",
 * and the vendor's cuda_occupancy.h count them. An upper bound, not a measurement: how the caches' share of shared memory was
 * set, clusters and what else runs are left aside. Nothing is said of a launch where the limits or the configuration are
 * not recorded, or cannot be.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What keeps more from fitting; of several the first. */
enum ts_occupancy_limit {
	TS_OCCUPANCY_UNKNOWN,
	TS_OCCUPANCY_FULL,	/* nothing: all that there is room for */
	TS_OCCUPANCY_REGISTERS, /* per thread */
	TS_OCCUPANCY_SHARED,	/* memory, per block */
	TS_OCCUPANCY_WARPS,	/* blocks of a size that leaves a rest */
	TS_OCCUPANCY_BLOCKS,	/* blocks so small that the most of them are too few */
	TS_OCCUPANCY_GRID,	/* there are not so many blocks */
	TS_OCCUPANCY_LIMITS
};

/* "registers"; NULL for other numbers. */
const char *ts_occupancy_limit_name(uint32_t limit);

struct ts_occupancy {
	double share; /* of a multiprocessor's warps: those that fit; with GRID of all multiprocessors' */
	double waves;	 /* blocks of the grid over those that fit on the device at once */
	uint32_t blocks; /* that fit on a multiprocessor */
	uint32_t warps;	 /* so many */
	uint32_t limit;	 /* enum ts_occupancy_limit */
	uint32_t reserved;
};

/* False, and UNKNOWN, where nothing can be said. Thread-safe. */
bool ts_occupancy_of(const struct ts_row_device *device, const struct ts_row_kernel *kernel,
		     struct ts_occupancy *ret_occupancy);

/* Of all launches of a kernel, or on a device, weighted by how long they ran. */
struct ts_occupancy_sum {
	uint32_t name;		  /* of a kernel: string; of a device: 0 */
	uint32_t session, device; /* of a device; of a kernel 0 */
	uint32_t limit;		  /* that most of the time is owed to */
	uint64_t count, ns;
	uint64_t known_count, known_ns; /* of these, those of which something can be said */
	double share, waves;		/* means over these */
	double share_min, share_max;
	double limit_ns[TS_OCCUPANCY_LIMITS]; /* within */
};

struct ts_occupancies {
	struct ts_occupancy_sum *kernels; /* by name, the longest first */
	size_t n_kernels;
	struct ts_occupancy_sum *devices; /* by session, device */
	size_t n_devices;
	bool is_damaged; /* blocks were left out: what they held is missing here */
};

#define TS_OCCUPANCY_MAX_SUMS (1u << 20)

/* Kernels that began within the window (to_ns 0: to the end). Errors: -ENOMEM, those of sbt/reader.h; more names than that count in no sum. */
int ts_occupancies_read(struct ts_sbt_reader *reader, uint32_t session, uint64_t from_ns,
			uint64_t to_ns, struct ts_occupancies **ret_occupancies);
void ts_occupancies_free(struct ts_occupancies *occupancies); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_occupancies *, ts_occupancies_freep, ts_occupancies_free)

#ifdef __cplusplus
}
#endif
