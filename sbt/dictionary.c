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

static inline bool is_item(const struct ts_dictionary *dictionary, uint32_t number,
			   const uint8_t *item)
{
	uint32_t n = dictionary->item_bytes;
	const uint8_t *other = dictionary->items.bytes + (size_t)number * n;
	uint64_t a, b;

	for (; n >= 8; n -= 8, item += 8, other += 8) {
		memcpy(&a, item, 8);
		memcpy(&b, other, 8);
		if (a != b)
			return false;
	}
	return !n || !memcmp(item, other, n);
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
		if (is_item(dictionary, number - 1, item)) {
			*ret_number = number - 1;
			return 0;
		}
	}
	r = add(dictionary, item, at & (dictionary->n_slots - 1));
	if (!r)
		*ret_number = dictionary->n_items - 1;
	return r;
}

int ts_dictionary_look_up(struct ts_dictionary *dictionary, const uint8_t *item,
			  uint32_t *ret_number)
{
	uint32_t number;
	int r;

	if (ts_likely(dictionary->n_items)) {
		number = ((uint32_t *)(void *)dictionary->followers.bytes)[dictionary->last];
		if (ts_likely(is_item(dictionary, number, item))) {
			*ret_number = dictionary->last = number;
			return 0;
		}
	}
	r = search(dictionary, item, &number);
	if (r)
		return r;
	((uint32_t *)(void *)dictionary->followers.bytes)[dictionary->last] = number;
	*ret_number = dictionary->last = number;
	return 0;
}
