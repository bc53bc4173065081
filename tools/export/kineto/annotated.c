/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps GPU operations to ranges; kineto.c calls this file. Each range knows its enclosing range, so
 * an operation stores only the innermost one.
 */
#include "tools/export/kineto/annotated.h"

#include "proto/abi/grow.h"

#include <errno.h>
#include <stdlib.h>

/* Limit of nested ranges; ranges further out are ignored. */
#define MAX_DEPTH 200u

void ts_annotated_init(struct ts_annotated *annotated)
{
	ts_hashtable_init(&annotated->spans, sizeof(struct ts_annotated_span),
			  offsetof(struct ts_annotated_span, start_ns));
}

void ts_annotated_deinit(struct ts_annotated *annotated)
{
	free(annotated->ranges);
	free(annotated->ops);
	free(annotated->sessions);
	ts_hashtable_deinit(&annotated->spans);
	ts_state_map_deinit(&annotated->innermost);
	ts_state_map_deinit(&annotated->range_by_op);
}

/* Returns index + 1 of the innermost open range of the thread; 0: none. */
static uint32_t find_open(const struct ts_annotated *annotated, uint32_t session, uint32_t thread,
			  uint64_t time_ns)
{
	uint32_t at = ts_state_map_find(&annotated->innermost, session, thread);

	at = at == TS_STATE_MAP_NONE ? 0 : at;
	for (unsigned int depth = 0; at && annotated->ranges[at - 1].end_ns <= time_ns; depth++)
		at = depth < MAX_DEPTH ? annotated->ranges[at - 1].parent : 0;
	return at;
}

int ts_annotated_range(struct ts_annotated *annotated, uint32_t session, uint32_t thread,
		       uint64_t start_ns, uint64_t end_ns, uint32_t name, uint32_t domain)
{
	if (annotated->n_ranges == TS_ANNOTATED_MAX)
		return 0;
	if (TS_GROW(annotated->ranges, annotated->n_ranges_allocated, annotated->n_ranges + 1))
		return -ENOMEM;
	annotated->ranges[annotated->n_ranges] = (struct ts_annotated_range){
		.end_ns = end_ns,
		.name = name,
		.domain = domain,
		.parent = find_open(annotated, session, thread, start_ns),
	};
	annotated->n_ranges++;
	return ts_state_map_set(&annotated->innermost, session, thread,
				(uint32_t)annotated->n_ranges);
}

int ts_annotated_call(struct ts_annotated *annotated, uint32_t session, uint32_t thread,
		      uint64_t start_ns, uint64_t op_id)
{
	uint32_t range = find_open(annotated, session, thread, start_ns);
	uint64_t slot = annotated->n_ops % TS_ANNOTATED_CALLS;

	if (!range)
		return 0;
	if (!annotated->ops) {
		annotated->ops = calloc(TS_ANNOTATED_CALLS, sizeof(*annotated->ops));
		annotated->sessions = calloc(TS_ANNOTATED_CALLS, sizeof(*annotated->sessions));
	}
	if (!annotated->ops || !annotated->sessions)
		return -ENOMEM;
	if (annotated->n_ops >= TS_ANNOTATED_CALLS)
		ts_state_map_remove(&annotated->range_by_op, annotated->sessions[slot],
				    annotated->ops[slot]);
	annotated->ops[slot] = op_id;
	annotated->sessions[slot] = session;
	annotated->n_ops++;
	return ts_state_map_set(&annotated->range_by_op, session, op_id, range);
}

int ts_annotated_op(struct ts_annotated *annotated, uint32_t session, uint64_t op_id,
		    uint32_t device, uint32_t stream, uint64_t start_ns, uint64_t end_ns)
{
	uint32_t at = ts_state_map_find(&annotated->range_by_op, session, op_id);

	at = at == TS_STATE_MAP_NONE ? 0 : at;
	for (unsigned int depth = 0; at && depth < MAX_DEPTH; depth++) {
		struct ts_annotated_span key = {session, device, stream, at - 1, 0, 0}, *span;
		bool is_new;
		uint32_t i;
		int r;

		if (annotated->spans.n >= TS_ANNOTATED_MAX &&
		    !ts_hashtable_find(&annotated->spans, &key, &i))
			return 0;
		r = ts_hashtable_get(&annotated->spans, &key, &i, &is_new);
		if (r)
			return r;
		span = ts_hashtable_at(&annotated->spans, i);
		if (is_new || start_ns < span->start_ns)
			span->start_ns = start_ns;
		if (is_new || end_ns > span->end_ns)
			span->end_ns = end_ns;
		at = annotated->ranges[at - 1].parent;
	}
	return 0;
}

#define COMPARE(x, y)                              \
	do {                                       \
		if ((x) != (y))                    \
			return (x) < (y) ? -1 : 1; \
	} while (0)

static int compare_spans(const void *a, const void *b)
{
	const struct ts_annotated_span *x = a, *y = b;

	COMPARE(x->session, y->session);
	COMPARE(x->device, y->device);
	COMPARE(x->stream, y->stream);
	COMPARE(x->start_ns, y->start_ns);
	COMPARE(y->end_ns, x->end_ns);
	/* The enclosing range came first. */
	COMPARE(x->range, y->range);
	return 0;
}

struct ts_annotated_span *ts_annotated_sort(struct ts_annotated *annotated, size_t *ret_n)
{
	size_t n = annotated->spans.n;
	struct ts_annotated_span *sorted = calloc(n + 1, sizeof(*sorted));

	if (!sorted)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = *(struct ts_annotated_span *)ts_hashtable_at(&annotated->spans, i);
	qsort(sorted, n, sizeof(*sorted), compare_spans);
	*ret_n = n;
	return sorted;
}
