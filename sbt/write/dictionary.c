/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dictionaries of the values in a run of fields; block-builder.c calls this module. Launches
 * repeat: for the dozen fields that describe a launch, a block has a few hundred combinations. An
 * item is found while its row is in the cache. The first guess is the item that followed the same
 * items before; the second is a hash over the run's bytes in the row. map.h is not used: the
 * numbers of items are stored in the file, and a search must end after MAX_PROBES other items.
 */

#include "sbt/write/dictionary.h"
#include "sbt/format/wide.h"

#define MIN_SLOTS  1024u
#define MAX_PROBES 32u

/* A context holds the last two items: the shift drops the third. */
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

/*
 * Returns the hash of an item: a sum of independent products, so no multiplication waits for
 * another.
 */
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
typedef uint64_t quad __attribute__((vector_size(32)));

/*
 * Compares two items of `n` bytes. If `n` is a constant, this is a few loads; the last two may
 * overlap.
 */
static TS_ALWAYS_INLINE bool same(const uint8_t *a, const uint8_t *b, uint32_t n)
{
	quad differs = {0}, f, g;
	pair differ = {0}, v, w;
	uint64_t x[2], y[2];
	uint32_t s[2], t[2];

	if (n >= 32) {
		for (uint32_t i = 0; i < n; i += 32) {
			uint32_t at = i + 32 <= n ? i : n - 32;

			memcpy(&f, a + at, 32);
			memcpy(&g, b + at, 32);
			differs |= f ^ g;
		}
		return !(differs[0] | differs[1] | differs[2] | differs[3]);
	}
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

/* Adds an item in a slot. Another item in the slot is lost for searches, but keeps its number. */
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

/* Returns the context after an item. */
static inline uint32_t follow(uint32_t context, uint32_t number)
{
	return (context << CONTEXT_SHIFT ^ number) & (TS_DICTIONARY_CONTEXTS - 1);
}

static TS_ALWAYS_INLINE void look_up(struct ts_dictionary *dictionary, const uint8_t *item,
				     size_t stride, uint32_t n, uint16_t *ret_numbers,
				     uint32_t item_bytes, int *ret_r)
{
	const uint8_t *items = dictionary->items.bytes;
	uint16_t *followers = dictionary->followers;
	uint32_t context = dictionary->context, number;
	int r = 0;

	for (uint32_t i = 0; i < n; i++, item += stride) {
		/*
		 * Callers with many rows pass them in arrays that follow each other, so this
		 * prefetches the next call's items. A prefetch of unmapped memory does no harm.
		 */
		__builtin_prefetch(item + n * stride - 64);
		__builtin_prefetch(item + n * stride);
		number = followers[context];
		if (ts_unlikely(!same(items + (size_t)number * item_bytes, item, item_bytes))) {
			r = search(dictionary, item, &number);
			if (r)
				break;
			items = dictionary->items.bytes;
			followers[context] = (uint16_t)number;
		}
		ret_numbers[i] = (uint16_t)number;
		context = follow(context, number);
	}
	dictionary->context = context;
	*ret_r = r;
}

/* Counts the leading items, in steps of 4, that equal `last`. */
static TS_ALWAYS_INLINE uint32_t count_same(const uint8_t *last, const uint8_t *item, size_t stride,
					    uint32_t n, uint32_t item_bytes)
{
	uint32_t i = 0;

	for (; i + 4 <= n; i += 4, item += 4 * stride) {
		unsigned n_same = 0;

		for (uint32_t j = 0; j < 4; j++)
			n_same += same(last, item + j * stride, item_bytes);
		if (n_same < 4)
			break;
	}
	return i;
}

/* Does the same as look_up(), but faster if the items of a run mostly equal the item before. */
static TS_ALWAYS_INLINE void look_up_steady(struct ts_dictionary *dictionary, const uint8_t *item,
					    size_t stride, uint32_t n, uint16_t *ret_numbers,
					    uint32_t item_bytes, int *ret_r)
{
	uint32_t i = 0;
	int r = 0;

	while (!r && i < n) {
		uint32_t number = dictionary->last;
		const uint8_t *last = dictionary->items.bytes + (size_t)number * item_bytes;
		uint32_t n_same = count_same(last, item, stride, n - i, item_bytes);

		for (uint32_t j = 0; j < n_same; j++)
			ret_numbers[i + j] = (uint16_t)number;
		i += n_same;
		item += n_same * stride;
		if (i == n)
			break;
		if (!same(last, item, item_bytes)) {
			look_up(dictionary, item, 0, 1, &ret_numbers[i], item_bytes, &r);
			if (!r)
				dictionary->last = ret_numbers[i];
		} else {
			ret_numbers[i] = (uint16_t)number;
		}
		i++;
		item += stride;
	}
	*ret_r = r;
}

/*
 * Looks items up. For the sizes of the runs of the most frequent rows, the compiler makes a
 * separate loop with a constant size.
 */
static TS_ALWAYS_INLINE void look_up_any(struct ts_dictionary *dictionary, const uint8_t *item,
					 size_t stride, uint32_t n, uint16_t *ret_numbers,
					 int *ret_r)
{
	switch (dictionary->item_bytes) {
	case 4:
		look_up_steady(dictionary, item, stride, n, ret_numbers, 4, ret_r);
		break;
	case 12:
		look_up_steady(dictionary, item, stride, n, ret_numbers, 12, ret_r);
		break;
	case 20:
		look_up(dictionary, item, stride, n, ret_numbers, 20, ret_r);
		break;
	case 60:
		look_up(dictionary, item, stride, n, ret_numbers, 60, ret_r);
		break;
	default:
		look_up(dictionary, item, stride, n, ret_numbers, dictionary->item_bytes, ret_r);
	}
}

TS_WIDE_OR_NOT(look_up_any,
	       (struct ts_dictionary * dictionary, const uint8_t *item, size_t stride, uint32_t n,
		uint16_t *ret_numbers, int *ret_r),
	       (dictionary, item, stride, n, ret_numbers, ret_r))

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
	look_up_any_fast(dictionary, item, stride, n, ret_numbers, &r);
	return r;
}
