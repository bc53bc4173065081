/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks by libunwind's unw_backtrace(), which remembers how each return address was unwound and takes
 * about 8 ns a frame once it does. The library is loaded when the GPU is first used and RTLD_LOCAL:
 * its exports include backtrace() and the C++ unwinder's, and would capture those of the whole
 * process were it a needed library of something preloaded.
 */
#include <dlfcn.h>

#include "inject/loader.h"
#include "inject/stack.h"
#include "inject/unwinder.h"

struct range_query {
	uintptr_t address;
	struct ts_stack_range range;
};

static int find_range(struct dl_phdr_info *info, size_t size, void *data)
{
	struct range_query *query = data;
	uintptr_t start = UINTPTR_MAX, end = 0;
	bool inside = false;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + segment->p_vaddr;
		uintptr_t to = from + segment->p_memsz;

		if (segment->p_type != PT_LOAD)
			continue;
		start = from < start ? from : start;
		end = to > end ? to : end;
		inside |= query->address >= from && query->address < to;
	}
	if (!inside)
		return 0;
	query->range = (struct ts_stack_range){start, end};
	return 1;
}

void ts_stack_skip(struct ts_stack_walker *walker, unsigned slot, const void *address)
{
	struct range_query query = {(uintptr_t)address, {0, 0}};

	if (address && ts_loader_iterate(find_range, &query) && slot < TS_ARRAY_LEN(walker->skip))
		walker->skip[slot] = query.range;
}

void ts_stack_init(struct ts_stack_walker *walker)
{
	void *library = ts_unwinder_load();
	void **space;

	memset(walker, 0, sizeof(*walker));
	if (!library)
		return;
	/* ISO C has no conversion between object and function pointers; POSIX's dlsym() has. */
	*(void **)&walker->backtrace = dlsym(library, "unw_backtrace");
#if defined(__x86_64__)
	*(void **)&walker->flush_cache = dlsym(library, "_Ux86_64_flush_cache");
	space = dlsym(library, "_ULx86_64_local_addr_space");
#else
	space = NULL;
#endif
	walker->address_space = space ? *space : NULL;
	ts_stack_skip(walker, 0, (const void *)(uintptr_t)&ts_stack_init);
}

void ts_stack_forget(struct ts_stack_walker *walker)
{
	if (walker->flush_cache && walker->address_space)
		walker->flush_cache(walker->address_space, 0, 0);
}

static bool skipped(const struct ts_stack_walker *walker, uintptr_t frame)
{
	unsigned i;

	for (i = 0; i < TS_ARRAY_LEN(walker->skip); i++)
		if (frame >= walker->skip[i].start && frame < walker->skip[i].end)
			return true;
	return false;
}

uint32_t ts_stack_capture(const struct ts_stack_walker *walker, struct ts_definitions *definitions,
			  bool *ret_truncated)
{
	uint64_t frames[TS_STACK_DEPTH_MAX];
	int n, first;
	bool truncated;

	TS_STATIC_ASSERT(sizeof(void *) == sizeof(frames[0]), "an address fills a frame");

	if (!walker->backtrace)
		return TS_ID_UNKNOWN;
	n = walker->backtrace((void **)frames, TS_STACK_DEPTH_MAX);
	truncated = n == TS_STACK_DEPTH_MAX;
	for (first = 0; first < n && skipped(walker, frames[first]); first++)
		;
	/* _start's caller is 0: no frame. */
	while (n > first && !frames[n - 1])
		n--;
	if (truncated)
		*ret_truncated = true;
	/* User-space addresses as they are: the kind NATIVE is 0 in the top bits. */
	return ts_definitions_stack(definitions, frames + first,
				    (uint32_t)(n > first ? n - first : 0), truncated);
}
