/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums the gap parts in which a thread was preempted, by the name of the thread that ran instead.
 * cmd-gaps.c calls this file. Threads of the recorded processes do not count.
 */
#include "tools/tsctl/trace/neighbours.h"

#include "proto/abi/base.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/term.h"

#include <inttypes.h>

#define MAX_LISTED  4u
#define LEAST_SHARE 0.01

struct neighbour {
	const char *name;
	uint64_t ns;
};

static int compare_tids(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static int compare_names(const void *a, const void *b)
{
	const struct neighbour *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int compare_times(const void *a, const void *b)
{
	const struct neighbour *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* Returns the thread ids of the recorded processes, sorted; NULL: memory is short. */
static uint32_t *own_tids(struct ts_sbt_reader *reader, size_t *ret_n)
{
	size_t n = ts_sbt_reader_n_threads(reader);
	uint32_t *tids = calloc(n + 1, sizeof(*tids));

	if (!tids)
		return NULL;
	for (size_t i = 0; i < n; i++)
		tids[i] = ts_sbt_reader_thread_at(reader, i)->row.tid;
	qsort(tids, n, sizeof(*tids), compare_tids);
	*ret_n = n;
	return tids;
}

static bool is_neighbour(const Ts__Rpc__GapPart *part, const uint32_t *own, size_t n_own)
{
	return part->reason &&
	       (!strcmp(part->reason, "preempted") || !strcmp(part->reason, "yielded")) &&
	       part->waker &&
	       !(part->waker_tid &&
		 bsearch(&part->waker_tid, own, n_own, sizeof(*own), compare_tids));
}

/* Sums the entries by name, longest first. Returns the number of names. */
static size_t sum_up(struct neighbour *all, size_t n)
{
	size_t n_names = 0;

	qsort(all, n, sizeof(*all), compare_names);
	for (size_t i = 0; i < n; i++)
		if (n_names && !strcmp(all[n_names - 1].name, all[i].name))
			all[n_names - 1].ns += all[i].ns;
		else
			all[n_names++] = all[i];
	qsort(all, n_names, sizeof(*all), compare_times);
	return n_names;
}

static void print_names(const struct neighbour *all, size_t n)
{
	char figure[TS_OUT_FIGURE_BYTES];

	for (size_t i = 0; i < n && i < MAX_LISTED; i++) {
		printf("  %10s  ", ts_out_duration(figure, all[i].ns));
		ts_out_text(stdout, all[i].name);
		putchar('\n');
	}
	if (n > MAX_LISTED)
		printf("              and %zu more\n", n - MAX_LISTED);
}

void ts_neighbours_print(struct ts_sbt_reader *reader, const Ts__Rpc__GapsReport *report)
{
	ts_cleanup(ts_freep) struct neighbour *all = calloc(report->n_parts + 1, sizeof(*all));
	char figure[TS_OUT_FIGURE_BYTES];
	size_t n_own = 0, n = 0;
	ts_cleanup(ts_freep) uint32_t *own = own_tids(reader, &n_own);
	uint64_t ns = 0;

	if (!all || !own)
		return;
	for (size_t i = 0; i < report->n_parts; i++) {
		const Ts__Rpc__GapPart *part = report->parts[i];

		if (!is_neighbour(part, own, n_own))
			continue;
		all[n++] = (struct neighbour){part->waker, part->ns};
		ns += part->ns;
	}
	if (!n || (double)ns < LEAST_SHARE * (double)report->gaps_ns)
		return;
	printf("\n%sOther processes%s had the CPU for %s of the gaps, %.1f %%\n",
	       ts_term_style(stdout, TS_STYLE_BOLD), ts_term_style(stdout, TS_STYLE_PLAIN),
	       ts_out_duration(figure, ns), 100.0 * (double)ns / (double)report->gaps_ns);
	print_names(all, sum_up(all, n));
}
