/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches the hash tables of the loaded libraries for an exported symbol. inject/stacks,
 * inject/annotate and inject/hip call this file, which calls loader.c.
 *
 * Trap: dlsym() takes the lock that dlopen() holds while it runs constructors. dl_iterate_phdr()
 * takes another one, which dlopen() holds only while it changes the list of libraries.
 *
 * The tables are those that the loader itself uses: DT_GNU_HASH, else DT_HASH (System V ABI,
 * chapter 5; for DT_GNU_HASH the source of binutils).
 */
#include "inject/process/loader-symbols.h"
#include "inject/process/elf-symbols.h"
#include "inject/process/loader.h"

struct search {
	const char *name;
	uint32_t gnu_hash, hash;
	void *found;
};

static void *find_by_hash(const struct ts_elf_image *image, const struct search *search)
{
	const uint32_t n_buckets = image->hash[0], n_symbols = image->hash[1];
	const uint32_t *buckets = image->hash + 2, *chains = buckets + n_buckets;
	uint32_t i = n_buckets ? buckets[search->hash % n_buckets] : 0;
	void *found;

	for (uint32_t n = 0; i && i < n_symbols && n < n_symbols; n++, i = chains[i]) {
		found = ts_elf_match(image, i, search->name);
		if (found)
			return found;
	}
	return NULL;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	const uintptr_t here = (uintptr_t)visit;
	struct ts_elf_image image = {.base = info->dlpi_addr};
	const ElfW(Dyn) *entries = NULL;
	struct search *search = data;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_DYNAMIC)
			entries = (const void *)start;
		else if (segment->p_type == PT_LOAD && here >= start &&
			 here < start + segment->p_memsz)
			return 0;
	}
	if (!entries)
		return 0;
	ts_elf_read_dynamic(&image, entries);
	if (!image.symbols || !image.strings)
		return 0;
	if (image.gnu_hash)
		search->found = ts_elf_find(&image, search->name, search->gnu_hash);
	else if (image.hash)
		search->found = find_by_hash(&image, search);
	return search->found != NULL;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 0, high;

	for (; *name; name++) {
		hash = (hash << 4) + (uint8_t)*name;
		high = hash & 0xf0000000u;
		hash = (hash ^ high >> 24) & ~high;
	}
	return hash;
}

void *ts_loader_find(const char *name)
{
	struct search search = {
		.name = name,
		.gnu_hash = ts_elf_gnu_hash(name),
		.hash = hash_of(name),
	};

	(void)ts_loader_iterate(visit, &search);
	return search.found;
}
