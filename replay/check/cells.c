/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the last accesses of each byte in pages of cells. check-kernel.c uses it for threads,
 * check-operations.c for operations.
 *
 * A cell covers a whole page while only whole pages are accessed (copies). The first access of
 * whole words splits the page into one cell per word (most kernels). Any other access splits it
 * into one cell per byte. Pages never merge cells again.
 */
#include "replay/check/cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD_SHIFT 2u

struct cell {
	struct ts_check_trail write, reads[2];
};

struct strong {
	struct ts_check_trail write, read;
};

struct page {
	uint32_t shift; /* a cell covers 1 << shift bytes */
	struct cell *cells;
	struct strong *strong; /* NULL: no strong accesses */
};

static uint32_t n_cells(uint32_t shift)
{
	return TS_CHECK_PAGE_BYTES >> shift;
}

static void free_page(void *at)
{
	struct page *page = at;

	free(page->cells);
	free(page->strong);
	free(page);
}

void ts_check_cells_deinit(struct ts_check_cells *cells)
{
	TS_MAP_EACH (&cells->pages, slot)
		free_page((void *)(uintptr_t)slot->value);
	ts_map_deinit(&cells->pages);
	cells->n_bytes = 0;
}

static struct page *new_page(struct ts_check_cells *cells, uint32_t shift)
{
	struct page *page = calloc(1, sizeof(*page));

	if (!page)
		return NULL;
	page->shift = shift;
	page->cells = calloc(n_cells(shift), sizeof(*page->cells));
	if (!page->cells) {
		free(page);
		return NULL;
	}
	cells->n_bytes += sizeof(*page) + n_cells(shift) * sizeof(*page->cells);
	return page;
}

/*
 * Splits the page into smaller cells. Each new cell starts as a copy of the old cell that covered
 * it.
 */
static int split(struct ts_check_cells *cells, struct page *page, uint32_t shift)
{
	uint32_t n = n_cells(shift), by = page->shift - shift;
	struct cell *smaller = malloc(n * sizeof(*smaller));
	struct strong *strong = page->strong ? malloc(n * sizeof(*strong)) : NULL;

	if (!smaller || (page->strong && !strong)) {
		free(smaller);
		free(strong);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		smaller[i] = page->cells[i >> by];
		if (strong)
			strong[i] = page->strong[i >> by];
	}
	cells->n_bytes +=
		(n - n_cells(page->shift)) * (sizeof(*smaller) + (strong ? sizeof(*strong) : 0));
	free(page->cells);
	free(page->strong);
	page->cells = smaller;
	page->strong = strong;
	page->shift = shift;
	return 0;
}

static int find_page(struct ts_check_cells *cells, uint64_t address, uint32_t bytes,
		     uint64_t max_bytes, bool is_strong, struct page **ret_page)
{
	uint32_t shift = bytes == TS_CHECK_PAGE_BYTES			? TS_CHECK_PAGE_SHIFT
			 : (address | bytes) & ((1u << WORD_SHIFT) - 1) ? 0
									: WORD_SHIFT;
	uint64_t number = address >> TS_CHECK_PAGE_SHIFT;
	struct page *page = ts_map_get_pointer(&cells->pages, number);

	if (!page) {
		if (cells->n_bytes >= max_bytes)
			return -E2BIG;
		page = ts_map_reserve(&cells->pages, 1) ? NULL : new_page(cells, shift);
		if (!page)
			return -ENOMEM;
		(void)ts_map_set_pointer(&cells->pages, number, page);
	}
	if (page->shift > shift && split(cells, page, shift))
		return -ENOMEM;
	if (is_strong && !page->strong) {
		page->strong = calloc(n_cells(page->shift), sizeof(*page->strong));
		if (!page->strong)
			return -ENOMEM;
		cells->n_bytes += n_cells(page->shift) * sizeof(*page->strong);
	}
	*ret_page = page;
	return 0;
}

static bool is_against(const struct ts_check_touch *touch, const struct ts_check_trail *earlier)
{
	return earlier->clock && earlier->who != touch->mine.who &&
	       !touch->is_ordered(touch->userdata, earlier);
}

/*
 * Finds an earlier access that conflicts with this one and is not ordered before it. Returns the
 * earlier access's flags, or 0 if there is no such access.
 */
static uint32_t find_conflict(const struct ts_check_touch *touch, const struct cell *cell,
			      const struct strong *strong, struct ts_check_trail *ret_earlier)
{
	bool writes = touch->flags & TS_CHECK_WRITE, plain = !(touch->flags & TS_CHECK_STRONG);
	const struct {
		bool matters;
		const struct ts_check_trail *trail;
		uint32_t flags;
	} all[] = {
		{true, &cell->write, TS_CHECK_WRITE},
		{plain && strong, strong ? &strong->write : NULL, TS_CHECK_WRITE | TS_CHECK_STRONG},
		{writes, &cell->reads[0], TS_CHECK_READ},
		{writes, &cell->reads[1], TS_CHECK_READ},
		{writes && plain && strong, strong ? &strong->read : NULL,
		 TS_CHECK_READ | TS_CHECK_STRONG},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].matters && is_against(touch, all[i].trail)) {
			*ret_earlier = *all[i].trail;
			return all[i].flags;
		}
	return 0;
}

static void note(const struct ts_check_touch *touch, struct cell *cell, struct strong *strong)
{
	const struct ts_check_trail *mine = &touch->mine;

	if (touch->flags & TS_CHECK_STRONG) {
		if (touch->flags & TS_CHECK_WRITE)
			strong->write = *mine;
		else
			strong->read = *mine;
	} else if (touch->flags & TS_CHECK_WRITE) {
		*cell = (struct cell){.write = *mine};
	} else if (cell->reads[0].who == mine->who || !is_against(touch, &cell->reads[0])) {
		cell->reads[0] = *mine;
	} else {
		cell->reads[1] = *mine;
	}
}

int ts_check_cells_touch(struct ts_check_cells *cells, uint64_t address, uint64_t bytes,
			 uint64_t max_bytes, const struct ts_check_touch *touch)
{
	while (bytes) {
		uint32_t offset = address & (TS_CHECK_PAGE_BYTES - 1);
		uint32_t n = TS_CHECK_PAGE_BYTES - offset;
		struct ts_check_trail earlier;
		struct page *page;
		bool is_reported = false;
		int r;

		n = bytes < n ? (uint32_t)bytes : n;
		r = find_page(cells, address, n, max_bytes, touch->flags & TS_CHECK_STRONG, &page);
		if (r)
			return r;
		for (uint32_t i = offset >> page->shift; i <= (offset + n - 1) >> page->shift;
		     i++) {
			struct strong *strong = page->strong ? &page->strong[i] : NULL;
			uint32_t flags = is_reported ? 0
						     : find_conflict(touch, &page->cells[i], strong,
								     &earlier);

			if (flags) {
				uint64_t at = (address - offset) + ((uint64_t)i << page->shift);

				is_reported = true;
				touch->conflict(touch->userdata, &earlier, flags,
						at > address ? at : address);
			}
			note(touch, &page->cells[i], strong);
		}
		address += n;
		bytes -= n;
	}
	return 0;
}

int ts_check_cells_forget(struct ts_check_cells *cells, uint64_t address, uint64_t bytes)
{
	while (bytes) {
		uint32_t offset = address & (TS_CHECK_PAGE_BYTES - 1);
		uint32_t n = TS_CHECK_PAGE_BYTES - offset;
		struct page *page =
			ts_map_get_pointer(&cells->pages, address >> TS_CHECK_PAGE_SHIFT);

		n = bytes < n ? (uint32_t)bytes : n;
		if (page && n < TS_CHECK_PAGE_BYTES && page->shift && split(cells, page, 0))
			return -ENOMEM;
		if (page) {
			uint32_t first = offset >> page->shift;
			uint32_t count = ((offset + n - 1) >> page->shift) + 1 - first;

			memset(&page->cells[first], 0, count * sizeof(*page->cells));
			if (page->strong)
				memset(&page->strong[first], 0, count * sizeof(*page->strong));
		}
		address += n;
		bytes -= n;
	}
	return 0;
}
