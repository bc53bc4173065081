/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums time in parts, found by key. blame.c and gaps.c use it. Private to replay/state. Not
 * thread-safe.
 */
#pragma once

#include "proto/abi/map.h"
#include "replay/state/gaps/gaps.h"

/* A part while it grows. */
struct ts_parts_entry {
	struct ts_gap_part part;
	uint64_t last_row;   /* last counted row: a row in several windows counts once */
	uint64_t sampled_ns; /* time that the part's samples stand for */
};

/* Start with all fields zero except `max`. */
struct ts_parts {
	struct ts_parts_entry *entries;
	struct ts_hashindex index; /* by key */
	size_t n, n_allocated, max;
	bool is_cut;
};

#define TS_PARTS_NONE UINT32_MAX

/* Adds the time of samples. A file may have any periods, so the sum has a limit. */
static inline void ts_parts_add_sampled(uint64_t *sum_ns, uint64_t ns)
{
	if (__builtin_add_overflow(*sum_ns, ns, sum_ns))
		*sum_ns = UINT64_MAX;
}

void ts_parts_deinit(struct ts_parts *parts);
/*
 * Finds the part with this key, or adds it. If there are already `max` parts, returns a part with
 * only the key's cause and parent. Returns 0 or -ENOMEM.
 */
int ts_parts_find(struct ts_parts *parts, const struct ts_gap_key *key, uint32_t *ret_index);
/*
 * Divides each thread's time in own code (`code` 0) among the parts that differ only in `code`, by
 * the time that their samples stand for. Returns 0 or -ENOMEM.
 */
int ts_parts_split(struct ts_parts *parts);
/*
 * Moves the parts to *ret_parts in order, each followed by the parts that explain it. The table is
 * empty afterwards. Returns 0 or -ENOMEM.
 */
int ts_parts_take(struct ts_parts *parts, struct ts_gap_parts *ret_parts);
