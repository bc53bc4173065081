/* SPDX-License-Identifier: Apache-2.0 */
/* A table from numbers, of pages of addresses mostly, to what is kept of each. One thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TS_CHECK_PAGE_SHIFT 12u
#define TS_CHECK_PAGE_BYTES (1u << TS_CHECK_PAGE_SHIFT)

struct ts_check_page_slot {
	uint64_t key;
	void *page; /* NULL: a free slot, but for the one that was just made */
};

/* All zero is an empty one. */
struct ts_check_pages {
	struct ts_check_page_slot *slots;
	size_t n_slots, n;
};

/* NULL: it is not there. */
void *ts_check_pages_find(const struct ts_check_pages *pages, uint64_t key);
/* Where it is kept: NULL there is the caller's to fill before the next call. NULL: no memory. */
void **ts_check_pages_get(struct ts_check_pages *pages, uint64_t key);
/* Frees each by `done`, and the table. */
void ts_check_pages_deinit(struct ts_check_pages *pages, void (*done)(void *page));

#ifdef __cplusplus
}
#endif
