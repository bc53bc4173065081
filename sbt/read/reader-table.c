/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of items of equal size with a key. Items are added as blocks are read, then sorted once
 * and searched. reader-definitions.c and reader-blob.c use them.
 */

#include "sbt/read/reader-internal.h"

#include "proto/abi/grow.h"

void *ts_sbt_table_add(struct ts_table *table)
{
	if (ts_grow(&table->items, &table->capacity, table->n + 1, table->item_bytes))
		return NULL;
	return memset(table->items + table->n++ * table->item_bytes, 0, table->item_bytes);
}

struct order {
	uint64_t key;
	uint64_t i;
};

static int compare_order(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

int ts_sbt_table_order(struct ts_table *table)
{
	ts_cleanup(ts_freep) struct order *order = NULL;
	size_t n = 0, bytes = table->item_bytes;
	uint8_t *items;

	if (table->n_ordered == table->n)
		return 0;
	order = calloc(table->n, sizeof(*order));
	items = malloc(table->n * bytes);
	if (!order || !items) {
		free(items);
		return -ENOMEM;
	}
	for (size_t i = 0; i < table->n; i++)
		order[i] = (struct order){table->key(table->items + i * bytes), i};
	qsort(order, table->n, sizeof(*order), compare_order);
	for (size_t i = 0; i < table->n; i++) {
		if (!table->keep_all && i + 1 < table->n && order[i].key == order[i + 1].key)
			continue;
		memcpy(items + n++ * bytes, table->items + order[i].i * bytes, bytes);
	}
	free(table->items);
	table->items = items;
	table->capacity = table->n;
	table->n = table->n_ordered = n;
	return 0;
}

size_t ts_sbt_table_count_to(const struct ts_table *table, uint64_t key)
{
	size_t low = 0, high = table->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->key(table->items + middle * table->item_bytes) <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void *ts_sbt_table_floor(const struct ts_table *table, uint64_t key)
{
	size_t n = ts_sbt_table_count_to(table, key);

	return n ? table->items + (n - 1) * table->item_bytes : NULL;
}

const void *ts_sbt_table_find(const struct ts_table *table, uint64_t key)
{
	const void *item = ts_sbt_table_floor(table, key);

	return item && table->key(item) == key ? item : NULL;
}
