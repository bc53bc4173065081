/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dictionary of the distinct values (items) that a run of fields has in a block, numbered in
 * order of arrival. Private to sbt/. Not thread-safe.
 */
#pragma once

#include "sbt/buffer.h"

#define TS_DICTIONARY_CONTEXTS 4096u

/*
 * A zero-initialised struct is empty. The caller sets `item_bytes` before the first look-up and
 * never changes it.
 */
struct ts_dictionary {
	uint32_t *slots;  /* number + 1 of an item; 0: empty */
	uint32_t n_slots; /* a power of two, or 0 */
	uint32_t n_items;
	uint32_t item_bytes;
	uint32_t last;	  /* the item found last; used if items mostly repeat */
	uint32_t context; /* index in `followers`, computed from the last two items found */
	struct ts_buffer items;
	/* for each context, the item that last followed it */
	uint16_t followers[TS_DICTIONARY_CONTEXTS];
};

/* Frees all memory. The dictionary is empty afterwards. */
void ts_dictionary_deinit(struct ts_dictionary *dictionary);

/* Removes all items and keeps the memory. */
void ts_dictionary_clear(struct ts_dictionary *dictionary);

/*
 * Finds the numbers of `n` items. The first item lies at `item`, each next one `stride` bytes
 * later. Unknown items are added; the caller ensures that there are never more than 65,536. A
 * search is bounded: if untrusted rows are built so that their hashes collide, an item may be added
 * twice. Returns 0 or -ENOMEM.
 */
int ts_dictionary_look_up(struct ts_dictionary *dictionary, const uint8_t *item, size_t stride,
			  uint32_t n, uint16_t *ret_numbers);
