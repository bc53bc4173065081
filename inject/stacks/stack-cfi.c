/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the library that contains an address, and reads from its call frame information
 * (proto/abi/cfi.h) the rule there, or the bounds of the function there. The stack walker
 * (stack-cache.c) asks for rules, stack-python.c for bounds. This file calls the loader's list of
 * libraries.
 */
#include "inject/stacks/stack-cfi.h"
#include "inject/process/loader.h"

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	struct ts_cfi_query *query = data;
	const ElfW(Phdr) *table = NULL;
	bool inside = false;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_GNU_EH_FRAME)
			table = segment;
		else if (segment->p_type == PT_LOAD && query->address >= from &&
			 query->address - from < segment->p_memsz)
			inside = true;
	}
	if (!inside)
		return 0;
	for (i = 0; table && i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		/* The table and the descriptions must lie in one segment; others are not read. */
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R) ||
		    table->p_vaddr < segment->p_vaddr ||
		    table->p_vaddr - segment->p_vaddr >= segment->p_filesz)
			continue;
		query->first = info->dlpi_addr + segment->p_vaddr;
		query->end = query->first + segment->p_filesz;
		ts_cfi_search(query, info->dlpi_addr + table->p_vaddr);
		break;
	}
	return 1;
}

struct ts_cfi_rule ts_cfi_find(uintptr_t return_address)
{
	/*
	 * Look up the call before the return address. After a call that never returns, another
	 * function may begin.
	 */
	struct ts_cfi_query query = {.machine = TS_CFI_HERE, .address = return_address - 1};

	(void)ts_loader_iterate(visit, &query);
	return query.rule;
}

bool ts_cfi_function(uintptr_t address, uintptr_t *ret_start, uintptr_t *ret_end)
{
	struct ts_cfi_query query = {.machine = TS_CFI_HERE, .address = address};

	(void)ts_loader_iterate(visit, &query);
	if (!query.function_end)
		return false;
	*ret_start = query.function_start;
	*ret_end = query.function_end;
	return true;
}
