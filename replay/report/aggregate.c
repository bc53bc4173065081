/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of rows by name, in a hash table of as many names as there are. Rows of one name come in runs, so the
 * last one found is tried first.
 */
#include "replay/report/aggregate.h"

#include "proto/abi/base.h"
#include "proto/rpc/json.h"

struct aggregate {
	char *name; /* NULL: a free slot */
	uint64_t count, total_ns, min_ns, max_ns, bytes;
};

struct ts_aggregates {
	struct aggregate *slots;
	size_t n_slots, n; /* a power of two; at most half of them taken */
	struct aggregate *last;
};

int ts_aggregates_new(struct ts_aggregates **ret_aggregates)
{
	struct ts_aggregates *aggregates = calloc(1, sizeof(*aggregates));

	if (!aggregates)
		return -ENOMEM;
	aggregates->n_slots = 256;
	aggregates->slots = calloc(aggregates->n_slots, sizeof(*aggregates->slots));
	if (!aggregates->slots) {
		free(aggregates);
		return -ENOMEM;
	}
	*ret_aggregates = aggregates;
	return 0;
}

void ts_aggregates_free(struct ts_aggregates *aggregates)
{
	if (!aggregates)
		return;
	for (size_t i = 0; i < aggregates->n_slots; i++)
		free(aggregates->slots[i].name);
	free(aggregates->slots);
	free(aggregates);
}

void ts_aggregates_freep(struct ts_aggregates **aggregates)
{
	ts_aggregates_free(*aggregates);
}

static struct aggregate *find(struct aggregate *slots, size_t n_slots, const char *name)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (const char *at = name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * UINT64_C(1099511628211);
	for (;; hash++) {
		struct aggregate *slot = &slots[hash & (n_slots - 1)];

		if (!slot->name || !strcmp(slot->name, name))
			return slot;
	}
}

static int grow(struct ts_aggregates *aggregates)
{
	size_t n_slots = 2 * aggregates->n_slots;
	struct aggregate *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < aggregates->n_slots; i++)
		if (aggregates->slots[i].name)
			*find(slots, n_slots, aggregates->slots[i].name) = aggregates->slots[i];
	free(aggregates->slots);
	aggregates->slots = slots;
	aggregates->n_slots = n_slots;
	aggregates->last = NULL;
	return 0;
}

static int add(struct ts_aggregates *aggregates, const char *name, const struct aggregate *more)
{
	struct aggregate *slot = aggregates->last;

	if (!slot || strcmp(slot->name, name)) {
		if (2 * aggregates->n >= aggregates->n_slots && grow(aggregates))
			return -ENOMEM;
		slot = find(aggregates->slots, aggregates->n_slots, name);
		if (!slot->name) {
			slot->name = strdup(name);
			if (!slot->name)
				return -ENOMEM;
			slot->min_ns = UINT64_MAX;
			aggregates->n++;
		}
		aggregates->last = slot;
	}
	slot->count += more->count;
	slot->total_ns += more->total_ns;
	slot->bytes += more->bytes;
	if (more->min_ns < slot->min_ns)
		slot->min_ns = more->min_ns;
	if (more->max_ns > slot->max_ns)
		slot->max_ns = more->max_ns;
	return 0;
}

int ts_aggregates_add(struct ts_aggregates *aggregates, const char *name, uint64_t duration_ns,
		      uint64_t bytes)
{
	struct aggregate one = {NULL, 1, duration_ns, duration_ns, duration_ns, bytes};

	return add(aggregates, name, &one);
}

int ts_aggregates_add_total(struct ts_aggregates *aggregates, struct ts_resolver *resolver,
			    const struct ts_sbt_total *total, const char *name)
{
	struct aggregate more = {NULL,		total->count,  total->duration_ns,
				 total->min_ns, total->max_ns, total->bytes};
	_Alignas(uint64_t) uint8_t row[TS_ROW_MAX_BYTES];
	struct ts_sbt_row named = {.type = total->type,
				   .schema = ts_row_schema(total->type),
				   .any = row};
	char buffer[TS_RESOLVER_NAME_BYTES];

	ts_sbt_total_row(total, row);
	return add(aggregates, name ? name : ts_resolver_name(resolver, &named, buffer), &more);
}

uint64_t ts_aggregates_total_ns(const struct ts_aggregates *aggregates)
{
	uint64_t total_ns = 0;

	for (size_t i = 0; i < aggregates->n_slots; i++)
		if (aggregates->slots[i].name)
			total_ns += aggregates->slots[i].total_ns;
	return total_ns;
}

/* By total time, then by count, then by name: the order does not depend on the hash. */
static int compare(const void *a, const void *b)
{
	const struct aggregate *x = *(const struct aggregate *const *)a;
	const struct aggregate *y = *(const struct aggregate *const *)b;

	if (x->total_ns != y->total_ns)
		return x->total_ns < y->total_ns ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

void ts_aggregates_messages(const struct ts_aggregates *aggregates, struct ts_pool *pool,
			    size_t max, size_t *ret_n, Ts__Rpc__Aggregate ***ret_messages)
{
	const struct aggregate **sorted = ts_pool_alloc(pool, aggregates->n + 1, sizeof(*sorted));
	Ts__Rpc__Aggregate **messages;
	size_t n = 0;

	for (size_t i = 0; i < aggregates->n_slots; i++)
		if (aggregates->slots[i].name)
			sorted[n++] = &aggregates->slots[i];
	qsort(sorted, n, sizeof(*sorted), compare);
	if (max && n > max)
		n = max;
	messages = ts_pool_alloc(pool, n + 1, sizeof(*messages));
	for (size_t i = 0; i < n; i++) {
		Ts__Rpc__Aggregate *message = ts_pool_alloc(pool, 1, sizeof(*message));

		ts__rpc__aggregate__init(message);
		message->name = ts_pool_copy(pool, sorted[i]->name);
		TS_RPC_SET(message, count, sorted[i]->count);
		TS_RPC_SET(message, total_ns, sorted[i]->total_ns);
		TS_RPC_SET(message, mean_ns, sorted[i]->total_ns / sorted[i]->count);
		TS_RPC_SET(message, min_ns, sorted[i]->min_ns);
		TS_RPC_SET(message, max_ns, sorted[i]->max_ns);
		if (sorted[i]->bytes)
			TS_RPC_SET(message, bytes, sorted[i]->bytes);
		messages[i] = message;
	}
	*ret_n = n;
	*ret_messages = messages;
}
