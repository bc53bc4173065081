/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time summed by what it went to: parts of a gap, found by their key. Within replay/state; one thread.
 */
#pragma once

#include "proto/abi/map.h"
#include "replay/state/gaps/gaps.h"

/* A part as it grows. */
struct ts_parts_entry {
	struct ts_gap_part part;
	uint64_t last_row;   /* that it counted: one that spans several windows counts once */
	uint64_t sampled_ns; /* that its samples stand for */
};

/* All zero but for `max` is an empty one. */
struct ts_parts {
	struct ts_parts_entry *entries;
	struct ts_hashindex index; /* by key */
	size_t n, n_allocated, max;
	bool is_cut;
};

#define TS_PARTS_NONE UINT32_MAX

void ts_parts_deinit(struct ts_parts *parts);
/*
 * The part of that key, made where there is none. Past `max` parts it is the one of the key's cause, session and thread, or
 * of its cause alone. -ENOMEM.
 */
int ts_parts_find(struct ts_parts *parts, const struct ts_gap_key *key, uint32_t *ret_index);
/* Divides each thread's time in its own code (`code` 0) among the parts that differ from it by their code, by their samples. -ENOMEM. */
int ts_parts_split(struct ts_parts *parts);
/* Hands them out in order, each followed by those that explain it. The table is empty afterwards. -ENOMEM. */
int ts_parts_take(struct ts_parts *parts, struct ts_gap_parts *ret_parts);
