/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Within: what addresses were last used for, as ranges that do not overlap, in the order of session and address. A skip list: its
 * shape does not follow from what a trace holds, and nothing recurses.
 */
#pragma once

#include "proto/abi/base.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Who allocated, or freed. */
struct ts_span_call {
	uint64_t op_id; /* 0: not told */
	uint64_t ns;
};

struct ts_span {
	uint64_t start, end; /* addresses */
	uint64_t block;	     /* what was allocated: start of it, ... */
	uint64_t bytes;	     /* ... and how much; of what was freed, parts may be gone */
	uint64_t pool;	     /* 0: none */
	struct ts_span_call allocated, freed; /* freed.ns 0: it is live */
	uint32_t session;
	uint32_t device;
	uint32_t kind; /* CUpti_ActivityMemoryKind */
	uint32_t reserved;
};

struct ts_span_node;

/* All zero is an empty one. */
struct ts_spans {
	struct ts_span_node *head;
	uint64_t random;
	size_t n;
};

void ts_spans_deinit(struct ts_spans *spans);
/* The first that has any of [from, to); NULL: none. It may be changed, but for where it lies. */
struct ts_span *ts_spans_over(struct ts_spans *spans, uint32_t session, uint64_t from, uint64_t to);
struct ts_span *ts_spans_first(struct ts_spans *spans);
struct ts_span *ts_spans_next(struct ts_span *span);
/* What it overlaps is cut off, or, where it is live, removed. -ENOMEM; -EINVAL: it is empty. */
int ts_spans_add(struct ts_spans *spans, const struct ts_span *span);

#ifdef __cplusplus
}
#endif
