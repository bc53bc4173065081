/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A skip list of address ranges: see spans.h. misuse.c and pools.c call this file. Each range is a
 * node with a random number of levels. If a newer range lies inside an older one, the older one
 * becomes two nodes.
 */
#include "replay/state/memory/spans.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_LEVELS 24u

struct ts_span_node {
	struct ts_span span; /* first field: a span is its node */
	unsigned n_levels;
	struct ts_span_node *next[];
};

static struct ts_span_node *new_node(unsigned n_levels)
{
	struct ts_span_node *node = calloc(1, sizeof(*node) + n_levels * sizeof(*node->next));

	if (node)
		node->n_levels = n_levels;
	return node;
}

void ts_spans_deinit(struct ts_spans *spans)
{
	struct ts_span_node *next;

	for (struct ts_span_node *node = spans->head; node; node = next) {
		next = node->next[0];
		free(node);
	}
	*spans = (struct ts_spans){0};
}

/* Returns a random number of levels for a node: each level has a next one with probability 1/4. */
static unsigned toss(struct ts_spans *spans)
{
	uint64_t x = spans->random ? spans->random : UINT64_C(0x9e3779b97f4a7c15);

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	spans->random = x;
	return 1 + (unsigned)__builtin_ctzll(x | UINT64_C(1) << 2 * (MAX_LEVELS - 1)) / 2;
}

static bool is_before(const struct ts_span *span, uint32_t session, uint64_t start)
{
	return span->session != session ? span->session < session : span->start < start;
}

/* Finds the last node before the address on each level, or the head. */
static void find_before(struct ts_spans *spans, uint32_t session, uint64_t start,
			struct ts_span_node *ret[MAX_LEVELS])
{
	struct ts_span_node *at = spans->head;

	for (unsigned level = MAX_LEVELS; level--;) {
		while (at->next[level] && is_before(&at->next[level]->span, session, start))
			at = at->next[level];
		ret[level] = at;
	}
}

struct ts_span *ts_spans_over(struct ts_spans *spans, uint32_t session, uint64_t from, uint64_t to)
{
	struct ts_span_node *before[MAX_LEVELS], *at;

	if (!spans->head)
		return NULL;
	find_before(spans, session, from, before);
	at = before[0];
	if (at != spans->head && at->span.session == session && at->span.end > from)
		return &at->span;
	at = at->next[0];
	return at && at->span.session == session && at->span.start < to ? &at->span : NULL;
}

struct ts_span *ts_spans_next(struct ts_span *span)
{
	struct ts_span_node *next = ((struct ts_span_node *)span)->next[0];

	return next ? &next->span : NULL;
}

struct ts_span *ts_spans_first(struct ts_spans *spans)
{
	return spans->head ? ts_spans_next(&spans->head->span) : NULL;
}

static int insert(struct ts_spans *spans, const struct ts_span *span)
{
	struct ts_span_node *before[MAX_LEVELS], *node = new_node(toss(spans));

	if (!node)
		return -ENOMEM;
	node->span = *span;
	find_before(spans, span->session, span->start, before);
	for (unsigned level = 0; level < node->n_levels; level++) {
		node->next[level] = before[level]->next[level];
		before[level]->next[level] = node;
	}
	spans->n++;
	return 0;
}

static void drop(struct ts_spans *spans, struct ts_span_node *node)
{
	struct ts_span_node *before[MAX_LEVELS];

	find_before(spans, node->span.session, node->span.start, before);
	for (unsigned level = 0; level < node->n_levels; level++)
		before[level]->next[level] = node->next[level];
	spans->n--;
	free(node);
}

int ts_spans_add(struct ts_spans *spans, const struct ts_span *span)
{
	struct ts_span *over, rest;
	int r = 0;

	if (span->end <= span->start)
		return -EINVAL;
	if (!spans->head)
		spans->head = new_node(MAX_LEVELS);
	if (!spans->head)
		return -ENOMEM;
	while (!r && (over = ts_spans_over(spans, span->session, span->start, span->end))) {
		rest = *over;
		if (over->freed.ns && over->start < span->start)
			over->end = span->start;
		else
			drop(spans, (struct ts_span_node *)over);
		if (rest.freed.ns && rest.end > span->end) {
			rest.start = span->end;
			r = insert(spans, &rest);
		}
	}
	return r ? r : insert(spans, span);
}
