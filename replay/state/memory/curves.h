/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The live memory of each device over time. state-memory.c feeds every change in the order of time;
 * a point is the largest live memory in one of the equal parts of the trace. Devices with the same
 * UUID are one device. Not thread-safe; prints nothing.
 */
#pragma once

#include "replay/state/overview/samedevice.h"
#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Devices beyond this number have no curve. */
#define TS_MEMORY_MAX_CURVES 64u
#define TS_MEMORY_MAX_PARTS  10000u

struct ts_memory_curve {
	uint32_t session, device; /* of the first session that used it; TS_NO_DEVICE: unknown */
	uint64_t peak_bytes, peak_ns;
	uint64_t live_bytes; /* now, and at the end */
	uint64_t *points;
	uint64_t last_ns; /* internal: points up to this time have the level */
};

/* Start with all fields zero; without parts, nothing is kept. */
struct ts_memory_curves {
	struct ts_memory_curve *curves; /* in the order of their first allocation */
	size_t n_curves, n_allocated;
	uint64_t n_left_out; /* allocations and frees on devices without a curve */
	uint64_t from_ns, part_ns;
	uint32_t n_parts;
	struct ts_sbt_reader *reader;
	struct ts_same_devices same;
};

/* Divides the time from from_ns to to_ns into n_parts (1 to TS_MEMORY_MAX_PARTS). 0 or -ENOMEM. */
int ts_memory_curves_init(struct ts_memory_curves *curves, struct ts_sbt_reader *reader,
			  uint32_t n_parts, uint64_t from_ns, uint64_t to_ns);
void ts_memory_curves_deinit(struct ts_memory_curves *curves);

/*
 * Adds `change`, modulo 2^64, to a device's live memory: the bytes of an allocation, or of a free
 * subtracted from 0. Returns 0 or -ENOMEM.
 */
int ts_memory_curves_add(struct ts_memory_curves *curves, uint32_t session, uint32_t device,
			 uint64_t ns, uint64_t change);
/* Continues all curves up to to_ns. */
void ts_memory_curves_finish(struct ts_memory_curves *curves, uint64_t to_ns);

#ifdef __cplusplus
}
#endif
