/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory over a trace: how much was live, when it was most and who held it then, what was never freed.
 *
 * From alloc and free rows alone, read twice; calls are read once for the stacks of those that are listed. Bytes count from
 * the call that allocated to the call that freed. Memory is bounded by what is live. One thread at a time; nothing is
 * printed.
 */
#pragma once

#include "replay/state/limit.h"
#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Memory of one kind, device, pool and (stream-ordered) allocating stream. */
struct ts_memory_group {
	uint32_t session;
	uint32_t device; /* TS_NO_DEVICE: none */
	uint32_t stream; /* TS_NO_DEVICE: not stream-ordered */
	uint32_t kind;	 /* CUpti_ActivityMemoryKind */
	uint64_t pool;	 /* 0: none */
	uint64_t n_allocs, n_frees;
	uint64_t total_bytes; /* ever */
	uint64_t live_bytes;  /* at the end */
	uint64_t peak_bytes;
	uint64_t peak_ns; /* when it was first reached */
};

struct ts_memory_holder {
	uint32_t session;
	uint32_t thread; /* that allocated; 0: its call was not recorded */
	uint32_t stack;	 /* 0: not known */
	uint64_t call_ns;
	struct ts_row_memory row; /* TS_ROW_ALLOC's */
};

struct ts_memory_holders {
	struct ts_memory_holder *largest; /* by bytes, then by time; at most as many as asked for */
	size_t n_largest;
	uint64_t n, bytes; /* of all */
};

#define TS_MEMORY_POINTS 64u

struct ts_memory {
	struct ts_memory_group *groups; /* by session, device, kind, pool, stream */
	size_t n_groups;
	/* Of memory that lies on devices, all sessions together. */
	uint64_t peak_bytes, peak_ns;
	struct ts_memory_holders at_peak;
	/* The most that was live in each of as many equal parts of the trace. */
	uint64_t from_ns, to_ns;
	uint64_t points[TS_MEMORY_POINTS];
	struct ts_memory_holders never_freed; /* of any kind but modules' variables */
	uint64_t n_unknown_frees; /* of what was not allocated, as far as the trace knows */
	uint64_t n_lost_frees; /* that were not recorded: what was live there was allocated anew */
	bool is_damaged;       /* blocks were left out: what they held is missing here */
};

/*
 * `session` 0: all. At most `max_listed` holders each. Errors: -ENOMEM, those of sbt/reader.h, TS_E_LIVE and
 * TS_E_GROUPS.
 */
int ts_memory_read(struct ts_sbt_reader *reader, uint32_t session, size_t max_listed,
		   struct ts_memory **ret_memory);

/* What was live at an instant: in `at_peak` what lay on devices then, in `peak_bytes` how much, and nothing else. */
int ts_memory_read_at(struct ts_sbt_reader *reader, uint32_t session, uint64_t at_ns,
		      size_t max_listed, struct ts_memory **ret_memory);
void ts_memory_free(struct ts_memory *memory); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_memory *, ts_memory_freep, ts_memory_free)

/* Whether memory of that kind lies on a device. */
bool ts_memory_is_device(uint32_t kind);

#ifdef __cplusplus
}
#endif
