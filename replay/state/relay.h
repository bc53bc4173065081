/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands items from the thread that reads a trace to passes in threads of their own. Each pass gets
 * all items in order. Only a pass with `is_first` changes an item. Without threads, and for the
 * first items of a trace, the passes work in the caller's thread. Private to replay/state.
 *
 * 	item = ts_relay_item(relay);
 * 	... fill it ...
 * 	r = ts_relay_put(relay);
 *
 * All functions are called by one thread. Between ts_relay_new() and ts_relay_end() the passes
 * belong to the relay.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "proto/abi/base.h"

struct ts_relay_pass {
	int (*take)(void *pass, void *item); /* returns 0 or an error */
	void *pass;
	/*
	 * The pass completes the item: the later passes get the item after it. If the pass fails,
	 * they do not get that item, and no later one.
	 */
	bool is_first;
};

#define TS_RELAY_MAX_PASSES 3u

struct ts_relay;

/* Returns 0 or -ENOMEM. `passes` is copied. */
int ts_relay_new(size_t item_bytes, const struct ts_relay_pass *passes, unsigned n_passes,
		 struct ts_relay **ret_relay);

/* Sets the number of threads in all, before the first item (default: ts_sbt_max_threads()). */
void ts_relay_limit_threads(struct ts_relay *relay, unsigned n_threads);

/*
 * Returns true if the passes get the next item after ts_relay_put() has returned. Then the item
 * must not refer to a row of a cursor.
 */
bool ts_relay_has_threads(const struct ts_relay *relay);

/* Returns the memory of the next item. */
void *ts_relay_item(struct ts_relay *relay);

/*
 * Hands the item of ts_relay_item() to the passes. Returns an error of a pass, perhaps of an
 * earlier item. After an error, the passes get no more items.
 */
int ts_relay_put(struct ts_relay *relay);

/*
 * Waits until the passes have all items, and ends the threads. Returns the error of the earliest
 * item; of two passes, the first one's. Further calls return the same.
 */
int ts_relay_end(struct ts_relay *relay);

/* Ends the threads, if ts_relay_end() was not called. Accepts NULL. */
void ts_relay_free(struct ts_relay *relay);
TS_DEFINE_CLEANUP(struct ts_relay *, ts_relay_freep, ts_relay_free)
