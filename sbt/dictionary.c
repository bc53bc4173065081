/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches repeat: of the dozen fields that say what was launched how, a block has a few hundred combinations.
 * They are found while a row is in the cache: mostly as what followed the same one before, else by a hash over the
 * run of bytes that the fields take in a row.
 */

#include "sbt/dictionary.h"
#include "sbt/wide.h"

#define MIN_SLOTS  1024u
#define MAX_PROBES 32u

/* How far the contexts of two look-ups lie apart: what came three look-ups before is forgotten. */
#define CONTEXT_SHIFT 6

void ts_dictionary_deinit(struct ts_dictionary *dictionary)
{
	free(dictionary->slots);
	ts_buffer_deinit(&dictionary->items);
	dictionary->slots = NULL;
	dictionary->n_slots = 0;
	ts_dictionary_clear(dictionary);
}

void ts_dictionary_clear(struct ts_dictionary *dictionary)
{
	if (dictionary->n_slots)
		memset(dictionary->slots, 0, dictionary->n_slots * sizeof(*dictionary->slots));
	if (dictionary->n_items)
		memset(dictionary->followers, 0, sizeof(dictionary->followers));
	dictionary->items.n = 0;
	dictionary->n_items = dictionary->context = dictionary->last = 0;
}

/* Of independent products: none waits for another. */
static inline uint32_t hash_item(const uint8_t *item, uint32_t n)
{
	static const uint64_t multipliers[] = {
		UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd6e8feb86659fd93),
		UINT64_C(0xc2b2ae3d27d4eb4f), UINT64_C(0x165667b19e3779f9),
		UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db),
		UINT64_C(0x8ebc6af09c88c6e3), UINT64_C(0x589965cc75374cc3),
	};
	uint64_t hash = n, word;
	unsigned i = 0;

	for (; n >= 8; n -= 8, item += 8, i++) {
		memcpy(&word, item, 8);
		hash += (word ^ word >> 32) * multipliers[i % TS_ARRAY_LEN(multipliers)];
	}
	if (n) {
		word = 0;
		memcpy(&word, item, n);
		hash += word * multipliers[i % TS_ARRAY_LEN(multipliers)];
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
static TS_ALWAYS_INLINE bool same(const uint8_t *a, const uint8_t *b, uint32_t n)
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
	int r = ts_buffer_append(&dictionary->items, item, dictionary->item_bytes);

	if (r)
		return r;
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

/* What was looked up before, to where what followed it is remembered. */
static inline uint32_t follow(uint32_t context, uint32_t number)
{
	return (context << CONTEXT_SHIFT ^ number) & (TS_DICTIONARY_CONTEXTS - 1);
}

static TS_ALWAYS_INLINE int look_up(struct ts_dictionary *dictionary, const uint8_t *item,
				    size_t stride, uint32_t n, uint16_t *ret_numbers,
				    uint32_t item_bytes)
{
	const uint8_t *items = dictionary->items.bytes;
	uint16_t *followers = dictionary->followers;
	uint32_t context = dictionary->context, number;

	for (uint32_t i = 0; i < n; i++, item += stride) {
		/* Whoever brings many rows goes on behind these; asking for memory that is not there does no harm. */
		__builtin_prefetch(item + n * stride - 64);
		__builtin_prefetch(item + n * stride);
		number = followers[context];
		if (ts_unlikely(!same(items + (size_t)number * item_bytes, item, item_bytes))) {
			int r = search(dictionary, item, &number);

			if (r) {
				dictionary->context = context;
				return r;
			}
			items = dictionary->items.bytes;
			followers[context] = (uint16_t)number;
		}
		ret_numbers[i] = (uint16_t)number;
		context = follow(context, number);
	}
	dictionary->context = context;
	return 0;
}

/* The same where an item mostly is what the one before was. */
static TS_ALWAYS_INLINE int look_up_steady(struct ts_dictionary *dictionary, const uint8_t *item,
					   size_t stride, uint32_t n, uint16_t *ret_numbers,
					   uint32_t item_bytes)
{
	const uint8_t *last = dictionary->items.bytes + (size_t)dictionary->last * item_bytes;
	uint16_t number = (uint16_t)dictionary->last;

	for (uint32_t i = 0; i < n; i++, item += stride) {
		if (ts_unlikely(!same(last, item, item_bytes))) {
			int r = look_up(dictionary, item, 0, 1, &number, item_bytes);

			if (r)
				return r;
			dictionary->last = number;
			last = dictionary->items.bytes + (size_t)number * item_bytes;
		}
		ret_numbers[i] = number;
	}
	return 0;
}

int ts_dictionary_look_up(struct ts_dictionary *dictionary, const uint8_t *item, size_t stride,
			  uint32_t n, uint16_t *ret_numbers)
{
	uint32_t number;
	int r;

	if (!n)
		return 0;
	if (!dictionary->n_items) {
		r = search(dictionary, item, &number);
		if (r)
			return r;
	}
	/* The runs of those rows that come by the million. */
	switch (dictionary->item_bytes) {
	case 4:
		return look_up_steady(dictionary, item, stride, n, ret_numbers, 4);
	case 12:
		return look_up_steady(dictionary, item, stride, n, ret_numbers, 12);
	case 20:
		return look_up(dictionary, item, stride, n, ret_numbers, 20);
	case 60:
		return look_up(dictionary, item, stride, n, ret_numbers, 60);
	default:
		return look_up(dictionary, item, stride, n, ret_numbers, dictionary->item_bytes);
	}
}
