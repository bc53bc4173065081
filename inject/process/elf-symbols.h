/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of a loaded library, found by its table DT_GNU_HASH, which the loader uses too (its form:
 * the source of binutils). libc-table.c and loader-symbols.c search by it. Calls no function but
 * strcmp(), so it works without libpthread.so.0 and without libdl.so.2.
 */
#pragma once

#include <string.h>

#include "inject/process/loader.h"

/* A symbol of a version that is not the default one. */
#define TS_ELF_HIDDEN_VERSION 0x8000u

struct ts_elf_image {
	uintptr_t base;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash, *hash;
	const uint16_t *versions; /* NULL: symbols have none */
};

/* Reads the tables' addresses from the dynamic section. `image->base` is set. */
static inline void ts_elf_read_dynamic(struct ts_elf_image *image, const ElfW(Dyn) * entry)
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

/* Returns the address of symbol i if it has the name and can be used as it is; else NULL. */
static inline void *ts_elf_match(const struct ts_elf_image *image, uint32_t i, const char *name)
{
	const ElfW(Sym) *symbol = &image->symbols[i];
	const unsigned type = ELF64_ST_TYPE(symbol->st_info);

	/* An indirect function would have to be called for its address. */
	if (symbol->st_shndx == SHN_UNDEF || !symbol->st_value ||
	    ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
	    (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) ||
	    (image->versions && image->versions[i] & TS_ELF_HIDDEN_VERSION) ||
	    strcmp(image->strings + symbol->st_name, name) != 0)
		return NULL;
	return (void *)(image->base + symbol->st_value);
}

static inline uint32_t ts_elf_gnu_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (uint8_t)*name;
	return hash;
}

/*
 * Returns the address of the name with this hash, or NULL. The image has DT_GNU_HASH, symbols and
 * strings. Words of the table: buckets, first symbol, words of the filter, shift; filter; buckets;
 * chains.
 */
static inline void *ts_elf_find(const struct ts_elf_image *image, const char *name, uint32_t hash)
{
	const uint32_t n_buckets = image->gnu_hash[0], first = image->gnu_hash[1];
	const uint32_t *buckets =
		image->gnu_hash + 4 + image->gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chains = buckets + n_buckets;
	uint32_t i = n_buckets ? buckets[hash % n_buckets] : 0;
	void *found;

	if (i < first)
		return NULL;
	for (;; i++) {
		/* The lowest bit marks the end of a chain. */
		if ((chains[i - first] | 1) == (hash | 1)) {
			found = ts_elf_match(image, i, name);
			if (found)
				return found;
		}
		if (chains[i - first] & 1)
			return NULL;
	}
}
