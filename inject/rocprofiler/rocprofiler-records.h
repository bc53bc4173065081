/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the records that rocprofiler-sdk delivers in a buffer, and keeps the names of kernels,
 * which the records do not have. Any thread may call these functions.
 */
#pragma once

#include <stdbool.h>

#include "proto/abi/vendor/rocprofiler.h"

enum ts_rocprofiler_work_kind {
	TS_ROCPROFILER_KERNEL = 1,
	TS_ROCPROFILER_COPY = 2,
};

/* Finished work of a device. */
struct ts_rocprofiler_work {
	uint32_t kind;	    /* enum ts_rocprofiler_work_kind */
	uint32_t operation; /* copies: enum ts_rocprofiler_memory_copy_operation */
	uint64_t op_id;	    /* of the call; 0: none */
	uint64_t start_ns;  /* by the SDK's clock */
	uint64_t end_ns;
	uint64_t bytes;	    /* copies */
	uint64_t kernel_id; /* kernels */
	uint32_t grid[3];   /* kernels: in blocks; 0: not known */
	uint32_t block[3];
};

enum ts_rocprofiler_verdict {
	TS_ROCPROFILER_WORK,	/* finished work */
	TS_ROCPROFILER_UNKNOWN, /* a record of a kind that the tool did not ask for */
	TS_ROCPROFILER_BAD,	/* no record, too short a record, or a record of another kind */
};

/* Reads a record. `header` may be NULL. Fills *ret only for TS_ROCPROFILER_WORK. */
enum ts_rocprofiler_verdict ts_rocprofiler_read(const struct ts_rocprofiler_record_header *header,
						struct ts_rocprofiler_work *ret);

/*
 * Reads a callback's record in the layout of its release, and returns the symbol of a kernel that
 * is being loaded. NULL: the record is something else.
 */
const struct ts_rocprofiler_kernel_symbol *ts_rocprofiler_symbol(
	const struct ts_rocprofiler_callback_record *record);

/*
 * Names of kernels by their id. At most TS_ROCPROFILER_MAX_NAMES ids and TS_ROCPROFILER_NAMES_BYTES
 * bytes are kept. A name lives as long as the process, because records come after an unload.
 */
#define TS_ROCPROFILER_MAX_NAMES   (1u << 20)
#define TS_ROCPROFILER_NAMES_BYTES (16u << 20)

/* Keeps the name of a kernel, without the ending ".kd". Returns false if no name is kept. */
bool ts_rocprofiler_name_put(uint64_t kernel_id, const char *name);
/* Returns the name of a kernel; NULL: not known. */
const char *ts_rocprofiler_name(uint64_t kernel_id);
