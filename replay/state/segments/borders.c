/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the plan of segments from the list of blocks: see borders.h. segments.c calls this file.
 * The borders are times at which blocks begin. Blocks are short compared to a segment, so all rows
 * of a block count at its begin. A warm-up is shorter than a block, so its rows are estimated: as
 * if the rows of a block had equal distances.
 */
#include "replay/state/segments/borders.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/*
 * Least rows of a segment, and rows of its warm-up: more than a queue holds. With many threads, an
 * eighth of the work is read twice.
 */
#define MIN_ROWS  (256u * 1024)
#define WARM_ROWS (32u * 1024)
/* Rows of a segment, if there are enough: more of them make the threads' loads more equal. */
#define MAX_ROWS (4u * 1024 * 1024)

/* A border without a warm-up is tried again after this part of the least segment. */
#define TRIES 16u

/* Blocks before a border whose rows are counted for its warm-up: all that may reach it. */
#define NEAR_BLOCKS 256u

struct begin {
	uint64_t ns, end_ns, n_rows;
};

static int compare_begins(const void *a, const void *b)
{
	const struct begin *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* Lists the blocks that a cursor would read. Returns their number; 0: several sessions. */
static size_t list_blocks(const struct ts_sbt_reader *reader,
			  const struct ts_segments_options *options, struct begin *begins,
			  uint64_t *ret_n_rows)
{
	uint32_t session = 0;
	size_t n = 0;

	*ret_n_rows = 0;
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		if (!ts_row_is_event(block->type) ||
		    !(ts_segments_rows(options) & TS_ROW_BIT(block->type)) || !block->n_rows ||
		    (options->session && block->session != options->session) ||
		    (options->to_ns && block->earliest_ns > options->to_ns))
			continue;
		if (session && block->session != session)
			return 0;
		session = block->session;
		begins[n++] = (struct begin){block->earliest_ns, block->latest_ns, block->n_rows};
		*ret_n_rows += block->n_rows;
	}
	qsort(begins, n, sizeof(*begins), compare_begins);
	return n;
}

static uint64_t count_segments(uint64_t n_rows, uint64_t min_rows, uint64_t max_rows,
			       unsigned n_threads)
{
	uint64_t n = n_threads * (n_rows / (n_threads * max_rows) + 1);

	return n < n_rows / min_rows ? n : n_rows / min_rows;
}

/* Estimates the rows in a window that ends where block `i` begins. */
static double count_rows(const struct begin *begins, size_t i, uint64_t from_ns)
{
	const uint64_t to_ns = begins[i].ns;
	double n_rows = 0;

	for (size_t j = i > NEAR_BLOCKS ? i - NEAR_BLOCKS : 0; j < i; j++) {
		const struct begin *begin = &begins[j];
		uint64_t from = begin->ns > from_ns ? begin->ns : from_ns;
		uint64_t to = begin->end_ns < to_ns ? begin->end_ns : to_ns;

		if (from < to)
			n_rows += (double)begin->n_rows * (double)(to - from) /
				  (double)(begin->end_ns - begin->ns);
	}
	return n_rows;
}

/*
 * Adds a border before block `i`. Returns false if its warm-up does not lie within the segment
 * before.
 */
static bool add_border(struct ts_segment_plan *plans, size_t *n, const struct begin *begins,
		       size_t i, uint64_t n_warm_rows)
{
	struct ts_segment_plan *last = &plans[*n - 1];
	const uint64_t from_ns = begins[i].ns, all_ns = from_ns - last->from_ns;
	uint64_t warm_ns, span_ns = 2;

	while (span_ns < all_ns && count_rows(begins, i, from_ns - span_ns) < (double)n_warm_rows) {
		if (span_ns > all_ns / 2)
			return false;
		span_ns *= 2;
	}
	if (span_ns >= all_ns)
		return false;
	warm_ns = from_ns - span_ns;
	last->next_warm_ns = warm_ns;
	last->end_ns = from_ns;
	plans[(*n)++] = (struct ts_segment_plan){.warm_ns = warm_ns,
						 .floor_ns = warm_ns + span_ns / 2,
						 .from_ns = from_ns,
						 .next_warm_ns = UINT64_MAX};
	return true;
}

int ts_segment_plans(struct ts_sbt_reader *reader, const struct ts_segments_options *options,
		     unsigned n_threads, struct ts_segment_plan **ret_plans, size_t *ret_n)
{
	const uint64_t min_rows = options->n_rows ? options->n_rows : MIN_ROWS;
	const uint64_t max_rows = options->max_rows ? options->max_rows : MAX_ROWS;
	const uint64_t n_warm_rows = options->n_warm_rows ? options->n_warm_rows : WARM_ROWS;
	struct begin *begins = malloc((ts_sbt_reader_n_blocks(reader) + 1) * sizeof(*begins));
	struct ts_segment_plan *plans = NULL;
	uint64_t n_rows, n_segments = 0, sum = 0, next = 0;
	size_t n_blocks, n = 1;

	if (!begins)
		return -ENOMEM;
	n_blocks = list_blocks(reader, options, begins, &n_rows);
	if (n_blocks)
		n_segments = count_segments(n_rows, min_rows, max_rows, n_threads);
	if (n_segments > 1)
		plans = calloc(n_segments + 1, sizeof(*plans));
	if (plans)
		plans[0].next_warm_ns = UINT64_MAX;
	for (size_t i = 0; plans && i < n_blocks; i++) {
		/* In a trace of tiny blocks, no border has a warm-up; few of them are tried. */
		if (sum >= next && sum >= n_rows / n_segments * n && n < n_segments &&
		    !add_border(plans, &n, begins, i, n_warm_rows))
			next = sum + min_rows / TRIES;
		sum += begins[i].n_rows;
	}
	free(begins);
	if (!plans)
		return n_segments > 1 ? -ENOMEM : TS_SEGMENTS_NONE;
	if (n == 1) {
		free(plans);
		return TS_SEGMENTS_NONE;
	}
	*ret_plans = plans;
	*ret_n = n;
	return 0;
}
