/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory over a trace: the live bytes, their peak with its holders, and the memory that was never
 * freed.
 *
 * The module reads alloc, free and access rows twice, and calls once for the stacks of listed
 * holders. Bytes count from the allocating call to the freeing call. Memory is bounded by the live
 * allocations. Not thread-safe; prints nothing.
 */
#pragma once

#include "replay/state/limit.h"
#include "replay/state/memory/curves.h"
#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Live memory of one kind, device and pool. Stream-ordered memory also has its allocating stream.
 */
struct ts_memory_group {
	uint32_t session;
	uint32_t device; /* TS_NO_DEVICE: none */
	uint32_t stream; /* TS_NO_DEVICE: not stream-ordered */
	uint32_t kind;	 /* CUpti_ActivityMemoryKind */
	uint64_t pool;	 /* 0: none */
	uint64_t n_allocs, n_frees;
	uint64_t total_bytes; /* over the whole trace */
	uint64_t live_bytes;  /* at the end */
	uint64_t peak_bytes;
	uint64_t peak_ns; /* time of the first maximum */
};

struct ts_memory_holder {
	uint32_t session;
	uint32_t thread; /* allocating thread; 0: call not recorded */
	uint32_t stack;	 /* 0: unknown */
	uint64_t call_ns;
	struct ts_row_memory row; /* the row of TS_ROW_ALLOC */
};

struct ts_memory_holders {
	struct ts_memory_holder *largest; /* by bytes, then by time; at most max_listed */
	size_t n_largest;
	uint64_t n, bytes; /* of all holders */
};

#define TS_MEMORY_POINTS 64u

struct ts_memory {
	struct ts_memory_group *groups; /* by session, device, kind, pool, stream */
	size_t n_groups;
	/* Memory on devices, all sessions together. */
	uint64_t peak_bytes, peak_ns;
	struct ts_memory_holders at_peak;
	/*
	 * Divides the trace into TS_MEMORY_POINTS equal parts; each point is the maximum of live
	 * bytes in its part.
	 */
	uint64_t from_ns, to_ns;
	uint64_t points[TS_MEMORY_POINTS];
	struct ts_memory_holders never_freed; /* of any kind except variables of modules */
	uint64_t n_unknown_frees;	      /* frees of unknown addresses */
	uint64_t n_lost_frees; /* frees that were not recorded: the address was allocated again */
	bool is_damaged;       /* damaged blocks were left out */
	struct ts_memory_curves curves; /* of each device, if parts were requested */
};

/*
 * Computes the memory use of a trace. `session` 0: all. Each list has at most `max_listed` holders.
 * Returns -ENOMEM, TS_E_LIVE, TS_E_GROUPS, or the errors of sbt/reader.h. The caller frees
 * *ret_memory.
 */
int ts_memory_read(struct ts_sbt_reader *reader, uint32_t session, size_t max_listed,
		   struct ts_memory **ret_memory);
/* Like ts_memory_read(), also with a curve of n_parts points for each device (0: none). */
int ts_memory_read_curves(struct ts_sbt_reader *reader, uint32_t session, size_t max_listed,
			  uint32_t n_parts, struct ts_memory **ret_memory);

/*
 * Finds the memory that is live at an instant. Fills only `at_peak` (memory on devices),
 * `peak_bytes` and `peak_ns`.
 */
int ts_memory_read_at(struct ts_sbt_reader *reader, uint32_t session, uint64_t at_ns,
		      size_t max_listed, struct ts_memory **ret_memory);
void ts_memory_free(struct ts_memory *memory); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_memory *, ts_memory_freep, ts_memory_free)

/* True if memory of that kind lies on a device. */
bool ts_memory_is_device(uint32_t kind);

#ifdef __cplusplus
}
#endif
