/* SPDX-License-Identifier: Apache-2.0 */
/* The different values of a run of fields that a block's rows have, numbered as they come. Private to sbt/. */
#pragma once

#include "sbt/buffer.h"

#define TS_DICTIONARY_CONTEXTS 4096u

/* Zero-initialised is empty; `item_bytes` is set before the first look-up and stays. */
struct ts_dictionary {
	uint32_t *slots;  /* number + 1 of an item; 0: none */
	uint32_t n_slots; /* a power of two, or 0 */
	uint32_t n_items;
	uint32_t item_bytes;
	uint32_t last;	  /* what was looked up last; kept where items mostly stay the same */
	uint32_t context; /* what was looked up last, and before that */
	struct ts_buffer items;
	uint16_t followers[TS_DICTIONARY_CONTEXTS]; /* what was looked up in that context */
};

void ts_dictionary_deinit(struct ts_dictionary *dictionary);

/* Forgets the items, keeps the memory. */
void ts_dictionary_clear(struct ts_dictionary *dictionary);

/*
 * The numbers of n items, the first one at `item`, each `stride` bytes behind the one before. Items that are not found are
 * added; there must never be more than 65,536. Whoever makes up rows so that their hashes collide gets one item twice, not a
 * long search. 0 or -ENOMEM.
 */
int ts_dictionary_look_up(struct ts_dictionary *dictionary, const uint8_t *item, size_t stride,
			  uint32_t n, uint16_t *ret_numbers);
