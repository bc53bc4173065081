/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs the streams of two traces: see counterparts.h. diff.c calls this file. All pairs of streams
 * of a session are candidates, and the best pairs are chosen first. Each stream has a sorted list
 * of names with counts. A walk over two lists counts the names in common.
 */
#include "replay/state/compare/counterparts.h"

#include "proto/abi/base.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NONE TS_COUNTERPARTS_NONE

/* A name, and the number of a stream's operations with this name. */
struct tally {
	uint32_t name;
	size_t n;
};

/* A stream; sorted by session and by first operation. */
struct ranked {
	uint32_t session, index;
	uint64_t first_op_id;
	struct tally *tallies;
	size_t n_tallies;
};

struct candidate {
	uint32_t a, b; /* ranks within the session */
	size_t common;
};

static int compare_ranked(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	if (a->session != b->session)
		return a->session < b->session ? -1 : 1;
	if (a->first_op_id != b->first_op_id)
		return a->first_op_id < b->first_op_id ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static int compare_ids(const void *x, const void *y)
{
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;

	return a < b ? -1 : a > b;
}

static uint32_t distance(const struct candidate *candidate)
{
	return candidate->a > candidate->b ? candidate->a - candidate->b
					   : candidate->b - candidate->a;
}

static int compare_candidates(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->common != b->common)
		return a->common > b->common ? -1 : 1;
	if (distance(a) != distance(b))
		return distance(a) < distance(b) ? -1 : 1;
	return a->a < b->a ? -1 : a->a > b->a;
}

static void free_ranked(struct ranked *streams, size_t n)
{
	for (size_t i = 0; streams && i < n; i++)
		free(streams[i].tallies);
	free(streams);
}

/* Tallies names by sorting them. */
static int tally_sparse(struct ranked *stream, const struct ts_counterparts_stream *of)
{
	ts_cleanup(ts_freep) uint32_t *names = calloc(of->n + 1, sizeof(*names));
	size_t n = 0;

	if (!names)
		return -ENOMEM;
	if (of->n)
		memcpy(names, of->names, of->n * sizeof(*names));
	qsort(names, of->n, sizeof(*names), compare_ids);
	for (size_t i = 0; i < of->n; i++)
		n += !i || names[i] != names[i - 1];
	stream->tallies = calloc(n + 1, sizeof(*stream->tallies));
	if (!stream->tallies)
		return -ENOMEM;
	for (size_t i = 0; i < of->n; i++) {
		if (!i || names[i] != names[i - 1])
			stream->tallies[stream->n_tallies++].name = names[i];
		stream->tallies[stream->n_tallies - 1].n++;
	}
	return 0;
}

/* Tallies names by a count for each number up to `most`. */
static int tally_dense(struct ranked *stream, const struct ts_counterparts_stream *of,
		       uint32_t most)
{
	ts_cleanup(ts_freep) size_t *counts = calloc((size_t)most + 1, sizeof(*counts));
	size_t n = 0;

	if (!counts)
		return -ENOMEM;
	for (size_t i = 0; i < of->n; i++)
		n += !counts[of->names[i]]++;
	stream->tallies = calloc(n + 1, sizeof(*stream->tallies));
	if (!stream->tallies)
		return -ENOMEM;
	for (uint32_t name = 0; stream->n_tallies < n; name++)
		if (counts[name])
			stream->tallies[stream->n_tallies++] = (struct tally){name, counts[name]};
	return 0;
}

/* Numbers of names are dense, and a stream has many operations of few names. */
static int tally(struct ranked *stream, const struct ts_counterparts_stream *of)
{
	uint32_t most = 0;

	for (size_t i = 0; i < of->n; i++)
		most = of->names[i] > most ? of->names[i] : most;
	return most < of->n ? tally_dense(stream, of, most) : tally_sparse(stream, of);
}

static int rank(const struct ts_counterparts_stream *streams, size_t n, struct ranked **ret_ranked)
{
	int r = 0;

	*ret_ranked = calloc(n + 1, sizeof(**ret_ranked));
	if (!*ret_ranked)
		return -ENOMEM;
	for (size_t i = 0; !r && i < n; i++) {
		(*ret_ranked)[i] = (struct ranked){.session = streams[i].session,
						   .index = (uint32_t)i,
						   .first_op_id = streams[i].first_op_id};
		r = tally(&(*ret_ranked)[i], &streams[i]);
	}
	if (!r)
		qsort(*ret_ranked, n, sizeof(**ret_ranked), compare_ranked);
	return r;
}

static size_t in_common(const struct ranked *a, const struct ranked *b)
{
	size_t i = 0, j = 0, n = 0;

	while (i < a->n_tallies && j < b->n_tallies) {
		const struct tally *x = &a->tallies[i], *y = &b->tallies[j];

		if (x->name == y->name)
			n += x->n < y->n ? x->n : y->n;
		i += x->name <= y->name;
		j += y->name <= x->name;
	}
	return n;
}

/* True if comparing all pairs stays within TS_COUNTERPARTS_STEPS. */
static bool is_affordable(const struct ranked *a, size_t n_a, const struct ranked *b, size_t n_b)
{
	uint64_t of_a = 1, of_b = 1;

	for (size_t i = 0; i < n_a; i++)
		of_a += a[i].n_tallies + 1;
	for (size_t i = 0; i < n_b; i++)
		of_b += b[i].n_tallies + 1;
	/* Both sums are at most 2^32, because there are fewer streams and names than that. */
	return of_a <= TS_COUNTERPARTS_STEPS / (n_b + 1) &&
	       of_b <= TS_COUNTERPARTS_STEPS / (n_a + 1);
}

/* Pairs the streams of one session. */
static int pair(const struct ranked *a, size_t n_a, const struct ranked *b, size_t n_b,
		uint32_t *ret_of_a)
{
	ts_cleanup(ts_freep) struct candidate *candidates = NULL;
	ts_cleanup(ts_freep) bool *taken = NULL;
	size_t n = 0;

	if (!is_affordable(a, n_a, b, n_b)) {
		for (size_t i = 0; i < n_a && i < n_b; i++)
			ret_of_a[a[i].index] = b[i].index;
		return 0;
	}
	candidates = calloc(n_a * n_b + 1, sizeof(*candidates));
	taken = calloc(n_b + 1, sizeof(*taken));
	if (!candidates || !taken)
		return -ENOMEM;
	for (uint32_t i = 0; i < n_a; i++)
		for (uint32_t j = 0; j < n_b; j++)
			candidates[n++] = (struct candidate){i, j, in_common(&a[i], &b[j])};
	qsort(candidates, n, sizeof(*candidates), compare_candidates);
	for (size_t i = 0; i < n; i++) {
		const struct candidate *next = &candidates[i];

		if (taken[next->b] || ret_of_a[a[next->a].index] != NONE)
			continue;
		taken[next->b] = true;
		ret_of_a[a[next->a].index] = b[next->b].index;
	}
	return 0;
}

static size_t session_end(const struct ranked *streams, size_t n, size_t at)
{
	size_t end = at;

	while (end < n && streams[end].session == streams[at].session)
		end++;
	return end;
}

int ts_counterparts(const struct ts_counterparts_stream *a, size_t n_a,
		    const struct ts_counterparts_stream *b, size_t n_b, uint32_t *ret_of_a)
{
	struct ranked *of_a = NULL, *of_b = NULL;
	int r = rank(a, n_a, &of_a);

	r = r ? r : rank(b, n_b, &of_b);
	for (size_t i = 0; i < n_a; i++)
		ret_of_a[i] = NONE;
	for (size_t i = 0, j = 0; !r && i < n_a && j < n_b;) {
		size_t end_a = session_end(of_a, n_a, i), end_b = session_end(of_b, n_b, j);

		if (of_a[i].session < of_b[j].session) {
			i = end_a;
		} else if (of_a[i].session > of_b[j].session) {
			j = end_b;
		} else {
			r = pair(of_a + i, end_a - i, of_b + j, end_b - j, ret_of_a);
			i = end_a;
			j = end_b;
		}
	}
	free_ranked(of_a, n_a);
	free_ranked(of_b, n_b);
	return r;
}
