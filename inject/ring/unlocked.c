/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unlocked memory; all parts of the shim that need memory call this file. See unlocked.h.
 *
 * mremap() copies the flags of the old mapping, so it leaves out the lock that mlockall(MCL_FUTURE)
 * adds to new mappings. With an old length of 0, mremap() maps the pages of a shared mapping a
 * second time (mremap(2)). The new mapping may extend behind the old pages. A thread thus maps more
 * of a memfd whose descriptor only the link thread has.
 */
#include "inject/ring/unlocked.h"

#include <stdint.h>
#include <sys/mman.h>

#include "proto/abi/base.h"

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

void ts_unlocked_release(void *at, size_t n_bytes)
{
	/* A failure is harmless: pages that stay locked only cost memory. */
	(void)munlock(at, n_bytes);
}

void *ts_unlocked_grow(void *at, size_t n_old, size_t n_new)
{
	void *grown;

	/* mlockall(MCL_CURRENT) may have locked the mapping since its creation. */
	ts_unlocked_release(at, n_old);
	grown = mremap(at, n_old, n_new, MREMAP_MAYMOVE);
	return grown == MAP_FAILED ? NULL : grown;
}

void *ts_unlocked_map(size_t n_bytes)
{
	const size_t n_first = n_bytes < page_bytes() ? n_bytes : page_bytes();
	void *first = mmap(NULL, n_first, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *pages;

	if (first == MAP_FAILED)
		return NULL;
	pages = ts_unlocked_grow(first, n_first, n_bytes);
	if (!pages)
		munmap(first, n_first);
	return pages;
}

/*
 * Returns the number of bytes from the start of a page to `end`. The page is the one that contains
 * the byte before `end`.
 */
static size_t before(const void *end)
{
	return ((uintptr_t)end - 1) % page_bytes() + 1;
}

void *ts_unlocked_map_behind(const void *end, size_t n_bytes)
{
	uint8_t *from = (uint8_t *)(uintptr_t)end - before(end);
	void *pages;

	ts_unlocked_release(from, page_bytes());
	pages = mremap(from, 0, before(end) + n_bytes, MREMAP_MAYMOVE);
	return pages == MAP_FAILED ? NULL : (uint8_t *)pages + before(end);
}

void ts_unlocked_unmap_behind(void *at, size_t n_bytes)
{
	munmap((uint8_t *)at - before(at), before(at) + n_bytes);
}
