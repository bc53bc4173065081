/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the last use of each address as ranges without overlap, by session and address. The
 * ranges are in a skip list: its shape does not depend on the contents of a trace, and no function
 * recurses. Private to replay/state/memory.
 */
#pragma once

#include "proto/abi/base.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The call that last allocated or freed a range. */
struct ts_span_call {
	uint64_t op_id; /* 0: unknown */
	uint64_t ns;
};

struct ts_span {
	uint64_t start, end; /* addresses */
	uint64_t block;	     /* the allocation: its start, ... */
	uint64_t bytes;	     /* size of the whole block; a freed range may be only a part of it */
	uint64_t pool;	     /* 0: none */
	struct ts_span_call allocated, freed; /* freed.ns 0: live */
	uint32_t session;
	uint32_t device;
	uint32_t kind; /* CUpti_ActivityMemoryKind */
	uint32_t reserved;
};

struct ts_span_node;

/* Start with all fields zero. */
struct ts_spans {
	struct ts_span_node *head;
	uint64_t random;
	size_t n;
};

void ts_spans_deinit(struct ts_spans *spans);
/*
 * Returns the first range that overlaps [from, to), or NULL. The caller may change the range,
 * except `session`, `start` and `end`.
 */
struct ts_span *ts_spans_over(struct ts_spans *spans, uint32_t session, uint64_t from, uint64_t to);
struct ts_span *ts_spans_first(struct ts_spans *spans);
struct ts_span *ts_spans_next(struct ts_span *span);
/*
 * Adds a range. Older freed ranges lose the part that the new range covers; older live ranges that
 * it overlaps are removed. Returns 0, -ENOMEM, or -EINVAL for an empty range.
 */
int ts_spans_add(struct ts_spans *spans, const struct ts_span *span);

#ifdef __cplusplus
}
#endif
