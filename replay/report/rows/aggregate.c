/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums rows by name: count, time, bytes, call sites. rowsums.c and tsctl call this file; this file
 * calls durations.c. Memory grows with the number of names. Rows of one name come in runs, so a
 * look-up tries the last found name first.
 */
#include "replay/report/rows/aggregate.h"

#include "proto/abi/grow.h"
#include "proto/abi/map.h"
#include "proto/rpc/json.h"

#include <ctype.h>

#define MAX_SITES 3u   /* sites per name in the message */
#define ALL_SITES 256u /* limit of counted sites per name, because the search is linear */

/* A call site and its number of launches. */
struct site {
	char *frame, *callers[TS_LAUNCH_SITE_CALLERS];
	uint64_t count;
};

struct aggregate {
	char *name;
	/*
	 * The original name, if all rows so far have the same one; else NULL. If not NULL, it is
	 * printed instead of the name that has N in place of numbers.
	 */
	char *only;
	struct ts_row_sum sum;
	struct site *sites;
	size_t n_sites, n_sites_allocated;
};

struct ts_aggregates {
	struct aggregate *all;
	size_t n, n_allocated;
	struct ts_hashindex index; /* by name */
	size_t last;		   /* index of the last found name */
	bool durations;
	bool numbered; /* names that differ only in numbers are one name */
};

int ts_aggregates_new(bool durations, struct ts_aggregates **ret_aggregates)
{
	struct ts_aggregates *aggregates = calloc(1, sizeof(*aggregates));

	if (!aggregates)
		return -ENOMEM;
	aggregates->durations = durations;
	*ret_aggregates = aggregates;
	return 0;
}

static void site_deinit(struct site *site)
{
	for (size_t i = 0; i < TS_LAUNCH_SITE_CALLERS; i++)
		free(site->callers[i]);
	free(site->frame);
}

void ts_aggregates_free(struct ts_aggregates *aggregates)
{
	if (!aggregates)
		return;
	for (size_t i = 0; i < aggregates->n; i++) {
		struct aggregate *aggregate = &aggregates->all[i];

		for (size_t j = 0; j < aggregate->n_sites; j++)
			site_deinit(&aggregate->sites[j]);
		free(aggregate->sites);
		ts_durations_deinit(&aggregate->sum.durations);
		free(aggregate->name);
		free(aggregate->only);
	}
	free(aggregates->all);
	ts_hashindex_deinit(&aggregates->index);
	free(aggregates);
}

void ts_aggregates_freep(struct ts_aggregates **aggregates)
{
	ts_aggregates_free(*aggregates);
}

static int find(struct ts_aggregates *aggregates, const char *name, size_t *ret_i)
{
	uint64_t hash = ts_hash_seeded_text(ts_hashindex_seed(&aggregates->index), name);
	struct aggregate one = {.sum = {.min_ns = UINT64_MAX}};

	TS_HASHINDEX_EACH (&aggregates->index, hash, at)
		if (!strcmp(aggregates->all[at.number].name, name)) {
			*ret_i = at.number;
			return 0;
		}
	if (TS_GROW(aggregates->all, aggregates->n_allocated, aggregates->n + 1))
		return -ENOMEM;
	one.name = strdup(name);
	if (!one.name || ts_hashindex_add(&aggregates->index, hash, (uint32_t)aggregates->n)) {
		free(one.name);
		return -ENOMEM;
	}
	*ret_i = aggregates->n;
	aggregates->all[aggregates->n++] = one;
	return 0;
}

static int add(struct ts_aggregates *aggregates, const char *name, const struct ts_row_sum *more,
	       struct aggregate **ret_aggregate)
{
	struct ts_row_sum *sum;

	if ((!aggregates->n || strcmp(aggregates->all[aggregates->last].name, name)) &&
	    find(aggregates, name, &aggregates->last))
		return -ENOMEM;
	*ret_aggregate = &aggregates->all[aggregates->last];
	sum = &(*ret_aggregate)->sum;
	sum->count += more->count;
	sum->total_ns += more->total_ns;
	sum->bytes += more->bytes;
	if (more->min_ns < sum->min_ns)
		sum->min_ns = more->min_ns;
	if (more->max_ns > sum->max_ns)
		sum->max_ns = more->max_ns;
	return aggregates->durations ? ts_durations_merge(&sum->durations, &more->durations) : 0;
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static bool is_site(const struct site *a, const struct ts_launch_site *b)
{
	if (strcmp(a->frame, b->frame) != 0)
		return false;
	for (size_t i = 0; i < TS_LAUNCH_SITE_CALLERS; i++)
		if (compare_text(a->callers[i], b->callers[i]))
			return false;
	return true;
}

static int copy_site(struct site *site, const struct ts_launch_site *from, uint64_t n)
{
	bool is_whole;

	*site = (struct site){.frame = strdup(from->frame), .count = n};
	is_whole = site->frame != NULL;
	for (size_t i = 0; i < TS_LAUNCH_SITE_CALLERS && from->callers[i]; i++) {
		site->callers[i] = strdup(from->callers[i]);
		is_whole = is_whole && site->callers[i];
	}
	if (is_whole)
		return 0;
	site_deinit(site);
	return -ENOMEM;
}

/* Counts `n` launches from a site. */
static int add_site(struct aggregate *aggregate, const struct ts_launch_site *site, uint64_t n)
{
	int r;

	for (size_t i = 0; i < aggregate->n_sites; i++) {
		if (!is_site(&aggregate->sites[i], site))
			continue;
		aggregate->sites[i].count += n;
		return 0;
	}
	if (aggregate->n_sites == ALL_SITES)
		return 0;
	if (TS_GROW(aggregate->sites, aggregate->n_sites_allocated, aggregate->n_sites + 1))
		return -ENOMEM;
	r = copy_site(&aggregate->sites[aggregate->n_sites], site, n);
	aggregate->n_sites += !r;
	return r;
}

int ts_aggregates_add_sum(struct ts_aggregates *aggregates, const char *name,
			  const struct ts_row_sum *sum)
{
	struct aggregate *slot;

	return add(aggregates, name, sum, &slot);
}

int ts_aggregates_add_launches(struct ts_aggregates *aggregates, const char *name,
			       const struct ts_launch_site *site, uint64_t n)
{
	const struct ts_row_sum more = {.count = n, .min_ns = UINT64_MAX};
	struct aggregate *slot;
	int r = add(aggregates, name, &more, &slot);

	return !r && site ? add_site(slot, site, n) : r;
}

int ts_aggregates_add_site(struct ts_aggregates *aggregates, const char *name,
			   const struct ts_launch_site *site, uint64_t n)
{
	const struct ts_row_sum none = {.min_ns = UINT64_MAX};
	struct aggregate *slot;
	int r = add(aggregates, name, &none, &slot);

	return r ? r : add_site(slot, site, n);
}

/*
 * Replaces numbers that are words by N: "epoch 3, step 12" becomes "epoch N, step N"; "conv2d"
 * stays.
 */
static void replace_numbers(const char *name, char ret_name[TS_RESOLVER_NAME_BYTES])
{
	size_t n = 0;

	for (const char *at = name; *at && n + 1 < TS_RESOLVER_NAME_BYTES;) {
		size_t n_digits = strspn(at, "0123456789");
		bool begins = at == name || !isalnum((unsigned char)at[-1]);

		if (n_digits && begins && !isalpha((unsigned char)at[n_digits])) {
			ret_name[n++] = 'N';
			at += n_digits;
		} else {
			ret_name[n++] = *at++;
		}
	}
	ret_name[n] = 0;
}

int ts_aggregates_add_numbered(struct ts_aggregates *aggregates, const char *name,
			       const struct ts_row_sum *sum)
{
	char merged[TS_RESOLVER_NAME_BYTES];
	struct aggregate *slot;
	int r;

	replace_numbers(name, merged);
	aggregates->numbered = true;
	r = add(aggregates, merged, sum, &slot);
	if (r)
		return r;
	if (slot->sum.count == sum->count) {
		slot->only = strdup(name);
		return slot->only ? 0 : -ENOMEM;
	}
	if (slot->only && strcmp(slot->only, name)) {
		free(slot->only);
		slot->only = NULL;
	}
	return 0;
}

int ts_aggregates_add(struct ts_aggregates *aggregates, const char *name, uint64_t duration_ns,
		      uint64_t bytes)
{
	struct ts_row_sum one = {.count = 1,
				 .total_ns = duration_ns,
				 .min_ns = duration_ns,
				 .max_ns = duration_ns,
				 .bytes = bytes};
	int r = aggregates->durations ? ts_durations_add(&one.durations, duration_ns) : 0;

	r = r ? r : ts_aggregates_add_sum(aggregates, name, &one);
	ts_durations_deinit(&one.durations);
	return r;
}

int ts_aggregates_add_total(struct ts_aggregates *aggregates, struct ts_resolver *resolver,
			    const struct ts_sbt_total *total, const char *name)
{
	struct ts_row_sum more = {.count = total->count,
				  .total_ns = total->duration_ns,
				  .min_ns = total->min_ns,
				  .max_ns = total->max_ns,
				  .bytes = total->bytes};
	_Alignas(uint64_t) uint8_t row[TS_ROW_MAX_BYTES];
	struct ts_sbt_row named = {.type = total->type,
				   .schema = ts_row_schema(total->type),
				   .any = row};
	char buffer[TS_RESOLVER_NAME_BYTES];

	ts_sbt_total_row(total, row);
	return ts_aggregates_add_sum(aggregates,
				     name ? name : ts_resolver_name(resolver, &named, buffer),
				     &more);
}

uint64_t ts_aggregates_total_ns(const struct ts_aggregates *aggregates)
{
	uint64_t total_ns = 0;

	for (size_t i = 0; i < aggregates->n; i++)
		total_ns += aggregates->all[i].sum.total_ns;
	return total_ns;
}

/* Orders by total time, then by count, then by name. */
static int compare(const void *a, const void *b)
{
	const struct aggregate *x = *(const struct aggregate *const *)a;
	const struct aggregate *y = *(const struct aggregate *const *)b;

	if (x->sum.total_ns != y->sum.total_ns)
		return x->sum.total_ns < y->sum.total_ns ? 1 : -1;
	if (x->sum.count != y->sum.count)
		return x->sum.count < y->sum.count ? 1 : -1;
	return strcmp(x->name, y->name);
}

/*
 * Returns a percentile. It is limited to the real minimum and maximum, because the middle of a
 * histogram part may lie outside of them.
 */
static uint64_t percentile(const struct ts_row_sum *sum, double percent)
{
	uint64_t ns = ts_durations_at(&sum->durations, percent);

	return ns < sum->min_ns ? sum->min_ns : ns > sum->max_ns ? sum->max_ns : ns;
}

static int compare_sites(const void *a, const void *b)
{
	const struct site *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (strcmp(x->frame, y->frame) != 0)
		return strcmp(x->frame, y->frame);
	for (size_t i = 0; i < TS_LAUNCH_SITE_CALLERS; i++)
		if (compare_text(x->callers[i], y->callers[i]))
			return compare_text(x->callers[i], y->callers[i]);
	return 0;
}

static void set_sites(const struct aggregate *aggregate, struct ts_pool *pool,
		      Ts__Rpc__Aggregate *message)
{
	size_t n = aggregate->n_sites < MAX_SITES ? aggregate->n_sites : MAX_SITES;

	if (!aggregate->n_sites)
		return;
	qsort(aggregate->sites, aggregate->n_sites, sizeof(*aggregate->sites), compare_sites);
	TS_RPC_SET(message, launch_sites, aggregate->n_sites);
	message->launched_by = ts_pool_alloc(pool, n, sizeof(*message->launched_by));
	for (size_t i = 0; i < n; i++) {
		Ts__Rpc__LaunchSite *site = ts_pool_alloc(pool, 1, sizeof(*site));

		ts__rpc__launch_site__init(site);
		site->frame = ts_pool_copy(pool, aggregate->sites[i].frame);
		TS_RPC_SET(site, count, aggregate->sites[i].count);
		site->callers = ts_pool_alloc(pool, TS_LAUNCH_SITE_CALLERS, sizeof(char *));
		for (; site->n_callers < TS_LAUNCH_SITE_CALLERS &&
		       aggregate->sites[i].callers[site->n_callers];
		     site->n_callers++)
			site->callers[site->n_callers] =
				ts_pool_copy(pool, aggregate->sites[i].callers[site->n_callers]);
		message->launched_by[message->n_launched_by++] = site;
	}
}

void ts_aggregates_messages(const struct ts_aggregates *aggregates, struct ts_pool *pool,
			    size_t max, size_t *ret_n, Ts__Rpc__Aggregate ***ret_messages)
{
	const struct aggregate **sorted = ts_pool_alloc(pool, aggregates->n + 1, sizeof(*sorted));
	Ts__Rpc__Aggregate **messages;
	size_t n = 0;

	while (n < aggregates->n) {
		sorted[n] = &aggregates->all[n];
		n++;
	}
	qsort(sorted, n, sizeof(*sorted), compare);
	if (max && n > max)
		n = max;
	messages = ts_pool_alloc(pool, n + 1, sizeof(*messages));
	for (size_t i = 0; i < n; i++) {
		Ts__Rpc__Aggregate *message = ts_pool_alloc(pool, 1, sizeof(*message));
		const struct ts_row_sum *sum = &sorted[i]->sum;

		ts__rpc__aggregate__init(message);
		message->name =
			ts_pool_copy(pool, sorted[i]->only ? sorted[i]->only : sorted[i]->name);
		if (aggregates->numbered && !sorted[i]->only)
			TS_RPC_SET(message, numbered, true);
		TS_RPC_SET(message, count, sum->count);
		TS_RPC_SET(message, total_ns, sum->total_ns);
		TS_RPC_SET(message, mean_ns, sum->total_ns / sum->count);
		TS_RPC_SET(message, min_ns, sum->min_ns);
		TS_RPC_SET(message, max_ns, sum->max_ns);
		if (sum->bytes)
			TS_RPC_SET(message, bytes, sum->bytes);
		if (aggregates->durations) {
			TS_RPC_SET(message, median_ns, percentile(sum, 50));
			TS_RPC_SET(message, p95_ns, percentile(sum, 95));
			TS_RPC_SET(message, p99_ns, percentile(sum, 99));
		}
		set_sites(sorted[i], pool, message);
		messages[i] = message;
	}
	*ret_n = n;
	*ret_messages = messages;
}
