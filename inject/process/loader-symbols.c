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
#include <string.h>

#include "inject/process/loader-symbols.h"
#include "inject/process/loader.h"

/* A symbol of a version that is not the default one. */
#define HIDDEN_VERSION 0x8000u

struct image {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
	const uint16_t *versions; /* NULL: symbols have none */
};

struct search {
	const char *name;
	uint32_t gnu_hash, hash;
	void *found;
};

static void read_dynamic(struct image *image, const ElfW(Dyn) * entry)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		const void *at = ts_loader_address(image->base, entry);

		if (entry->d_tag == DT_SYMTAB)
			image->symbols = at;
		else if (entry->d_tag == DT_STRTAB)
			image->strings = at;
		else if (entry->d_tag == DT_GNU_HASH)
			image->gnu_hash = at;
		else if (entry->d_tag == DT_HASH)
			image->hash = at;
		else if (entry->d_tag == DT_VERSYM)
			image->versions = at;
	}
}

/* The address of a symbol if it has the name and can be used as it is; else NULL. */
static void *match(const struct image *image, uint32_t i, const char *name)
{
	const ElfW(Sym) *symbol = &image->symbols[i];
	const unsigned type = ELF64_ST_TYPE(symbol->st_info);

	/* An indirect function would have to be called for its address. */
	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value ||
	    ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
	    (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) ||
	    (image->versions && image->versions[i] & HIDDEN_VERSION) ||
	    strcmp(image->strings + symbol->st_name, name) != 0)
		return NULL;
	return (void *)(image->base + symbol->st_value);
}

/* Words: buckets, first symbol, words of the filter, shift; filter; buckets; chains. */
static void *find_by_gnu_hash(const struct image *image, const struct search *search)
{
	const uint32_t n_buckets = image->gnu_hash[0], first = image->gnu_hash[1];
	const uint32_t *buckets =
		image->gnu_hash + 4 + image->gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chains = buckets + n_buckets;
	uint32_t i = n_buckets ? buckets[search->gnu_hash % n_buckets] : 0;
	void *found;

	if (i < first)
		return NULL;
	for (;; i++) {
		/* The lowest bit marks the end of a chain. */
		if ((chains[i - first] | 1) == (search->gnu_hash | 1)) {
			found = match(image, i, search->name);
			if (found)
				return found;
		}
		if (chains[i - first] & 1)
			return NULL;
	}
}

static void *find_by_hash(const struct image *image, const struct search *search)
{
	const uint32_t n_buckets = image->hash[0], n_symbols = image->hash[1];
	const uint32_t *buckets = image->hash + 2, *chains = buckets + n_buckets;
	uint32_t i = n_buckets ? buckets[search->hash % n_buckets] : 0;
	void *found;

	for (uint32_t n = 0; i && i < n_symbols && n < n_symbols; n++, i = chains[i]) {
		found = match(image, i, search->name);
		if (found)
			return found;
	}
	return NULL;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	const uintptr_t here = (uintptr_t)visit;
	struct image image = {.base = info->dlpi_addr};
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
	read_dynamic(&image, entries);
	if (!image.symbols || !image.strings)
		return 0;
	if (image.gnu_hash)
		search->found = find_by_gnu_hash(&image, search);
	else if (image.hash)
		search->found = find_by_hash(&image, search);
	return search->found != NULL;
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
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
		.gnu_hash = gnu_hash_of(name),
		.hash = hash_of(name),
	};

	(void)ts_loader_iterate(visit, &search);
	return search.found;
}
