/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches repeat: of the dozen fields that say what was launched how, a block has a few hundred combinations.
 * They are found while a row is in the cache: mostly as what followed the same one before, else by a hash over the
 * run of bytes that the fields take in a row.
 */

#include "sbt/dictionary.h"

#define MIN_SLOTS  1024u
#define MAX_PROBES 32u
#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)

void ts_dictionary_deinit(struct ts_dictionary *dictionary)
{
	free(dictionary->slots);
	ts_buffer_deinit(&dictionary->items);
	ts_buffer_deinit(&dictionary->followers);
	dictionary->slots = NULL;
	dictionary->n_slots = dictionary->n_items = dictionary->last = 0;
}

void ts_dictionary_clear(struct ts_dictionary *dictionary)
{
	if (dictionary->n_items)
		memset(dictionary->slots, 0, dictionary->n_slots * sizeof(*dictionary->slots));
	dictionary->items.n = dictionary->followers.n = 0;
	dictionary->n_items = dictionary->last = 0;
}

static inline uint32_t hash_item(const uint8_t *item, uint32_t n)
{
	uint64_t hash = n, word = 0;

	for (; n >= 8; n -= 8, item += 8) {
		memcpy(&word, item, 8);
		hash = (hash ^ word) * MULTIPLIER;
		hash ^= hash >> 32;
	}
	if (n) {
		word = 0;
		memcpy(&word, item, n);
		hash = (hash ^ word) * MULTIPLIER;
	}
	return (uint32_t)(hash >> 32);
}

static int grow(struct ts_dictionary *dictionary)
{
	uint32_t n = dictionary->n_slots ? dictionary->n_slots * 2 : MIN_SLOTS;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < dictionary->n_items; i++) {
		uint32_t at =
			hash_item(dictionary->items.bytes + (size_t)i * dictionary->item_bytes,
				  dictionary->item_bytes);

		for (unsigned probe = 0; probe < MAX_PROBES && slots[at & (n - 1)]; probe++)
			at++;
		slots[at & (n - 1)] = i + 1;
	}
	free(dictionary->slots);
	dictionary->slots = slots;
	dictionary->n_slots = n;
	return 0;
}

typedef uint64_t pair __attribute__((vector_size(16)));

/* Whether two items of n bytes are the same. Where n is a constant, it is a few loads; the last ones may overlap. */
static inline __attribute__((always_inline)) bool same(const uint8_t *a, const uint8_t *b,
						       uint32_t n)
{
	pair differ = {0}, v, w;
	uint64_t x[2], y[2];
	uint32_t s[2], t[2];

	if (n >= 16) {
		for (uint32_t i = 0; i < n; i += 16) {
			uint32_t at = i + 16 <= n ? i : n - 16;

			memcpy(&v, a + at, 16);
			memcpy(&w, b + at, 16);
			differ |= v ^ w;
		}
		return !(differ[0] | differ[1]);
	}
	if (n >= 8) {
		memcpy(&x[0], a, 8);
		memcpy(&x[1], a + n - 8, 8);
		memcpy(&y[0], b, 8);
		memcpy(&y[1], b + n - 8, 8);
		return x[0] == y[0] && x[1] == y[1];
	}
	if (n >= 4) {
		memcpy(&s[0], a, 4);
		memcpy(&s[1], a + n - 4, 4);
		memcpy(&t[0], b, 4);
		memcpy(&t[1], b + n - 4, 4);
		return s[0] == t[0] && s[1] == t[1];
	}
	return !memcmp(a, b, n);
}

/* Adds an item; it takes the slot, whatever was there. */
static int add(struct ts_dictionary *dictionary, const uint8_t *item, uint32_t slot)
{
	uint32_t follower = dictionary->n_items;
	int r = ts_buffer_append(&dictionary->followers, &follower, sizeof(follower));

	if (r)
		return r;
	r = ts_buffer_append(&dictionary->items, item, dictionary->item_bytes);
	if (r) {
		dictionary->followers.n -= sizeof(follower);
		return r;
	}
	dictionary->slots[slot] = ++dictionary->n_items;
	return 0;
}

static int search(struct ts_dictionary *dictionary, const uint8_t *item, uint32_t *ret_number)
{
	uint32_t at;
	int r;

	if (ts_unlikely(dictionary->n_items * 2 >= dictionary->n_slots)) {
		r = grow(dictionary);
		if (r)
			return r;
	}
	at = hash_item(item, dictionary->item_bytes);
	for (unsigned probe = 0; probe < MAX_PROBES; probe++, at++) {
		uint32_t number = dictionary->slots[at & (dictionary->n_slots - 1)];

		if (!number)
			break;
		if (same(dictionary->items.bytes + (number - 1ul) * dictionary->item_bytes, item,
			 dictionary->item_bytes)) {
			*ret_number = number - 1;
			return 0;
		}
	}
	r = add(dictionary, item, at & (dictionary->n_slots - 1));
	if (!r)
		*ret_number = dictionary->n_items - 1;
	return r;
}

static inline __attribute__((always_inline)) int look_up(struct ts_dictionary *dictionary,
							 const uint8_t *item, size_t stride,
							 uint32_t n, uint16_t *ret_numbers,
							 uint32_t item_bytes)
{
	const uint32_t *followers = (const uint32_t *)(void *)dictionary->followers.bytes;
	const uint8_t *items = dictionary->items.bytes;
	uint32_t last = dictionary->last, number;

	for (uint32_t i = 0; i < n; i++, item += stride) {
		/* Whoever brings many rows goes on behind these; asking for memory that is not there does no harm. */
		__builtin_prefetch(item + n * stride);
		if (ts_likely(dictionary->n_items)) {
			number = followers[last];
			if (ts_likely(
				    same(items + (size_t)number * item_bytes, item, item_bytes))) {
				ret_numbers[i] = (uint16_t)(last = number);
				continue;
			}
		}
		int r = search(dictionary, item, &number);

		if (r) {
			dictionary->last = last;
			return r;
		}
		items = dictionary->items.bytes;
		followers = (const uint32_t *)(void *)dictionary->followers.bytes;
		((uint32_t *)(void *)dictionary->followers.bytes)[last] = number;
		ret_numbers[i] = (uint16_t)(last = number);
	}
	dictionary->last = last;
	return 0;
}

int ts_dictionary_look_up(struct ts_dictionary *dictionary, const uint8_t *item, size_t stride,
			  uint32_t n, uint16_t *ret_numbers)
{
	/* The runs of those rows that come by the million. */
	switch (dictionary->item_bytes) {
	case 4:
		return look_up(dictionary, item, stride, n, ret_numbers, 4);
	case 12:
		return look_up(dictionary, item, stride, n, ret_numbers, 12);
	case 20:
		return look_up(dictionary, item, stride, n, ret_numbers, 20);
	case 60:
		return look_up(dictionary, item, stride, n, ret_numbers, 60);
	default:
		return look_up(dictionary, item, stride, n, ret_numbers, dictionary->item_bytes);
	}
}
