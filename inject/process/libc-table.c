/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds functions in libc's table of symbols; old-libc.c calls this file. A program without
 * libdl.so.2 has no dlsym() with glibc before 2.34, but its exec calls must reach libc. The search
 * uses the hash table of DT_GNU_HASH.
 */
#include "inject/process/libc-table.h"
#include "inject/process/loader.h"

/* The parts of libc's dynamic section that a search needs. */
struct tables {
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Half) * versions;
	const uint32_t *hash;
	uintptr_t base;
};

static int find_libc(struct dl_phdr_info *info, size_t size, void *data)
{
	static const char libc_name[] = "/libc.so.6";
	struct tables *tables = data;
	size_t n = info->dlpi_name ? strlen(info->dlpi_name) : 0;
	const ElfW(Dyn) *entry = NULL;
	size_t i;

	if (n < sizeof(libc_name) - 1 ||
	    strcmp(info->dlpi_name + n - (sizeof(libc_name) - 1), libc_name))
		return 0;
	tables->base = info->dlpi_addr;
	for (i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		const void *at = ts_loader_address(tables->base, entry);

		if (entry->d_tag == DT_SYMTAB)
			tables->symbols = at;
		else if (entry->d_tag == DT_STRTAB)
			tables->names = at;
		else if (entry->d_tag == DT_VERSYM)
			tables->versions = at;
		else if (entry->d_tag == DT_GNU_HASH)
			tables->hash = at;
	}
	return 1;
}

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* True if symbol i is the name's default version. The upper bit marks the other versions. */
static bool is_default(const struct tables *tables, uint32_t i, const char *name)
{
	const ElfW(Sym) *symbol = &tables->symbols[i];

	return symbol->st_shndx != SHN_UNDEF && !(tables->versions[i] & 0x8000u) &&
	       !strcmp(tables->names + symbol->st_name, name);
}

void *ts_libc_find(const char *name)
{
	const uint32_t hash = hash_of(name), *buckets, *chains;
	struct tables tables = {0};
	uint32_t n_buckets, first, n_filter_words, i;

	/*
	 * No other thread can be in fork() here: a process without libpthread.so.0 has one thread.
	 * So this call needs no ts_loader_iterate(), whose mutex needs that library.
	 */
	(void)dl_iterate_phdr(find_libc, &tables);
	if (!tables.symbols || !tables.names || !tables.versions || !tables.hash)
		return NULL;
	n_buckets = tables.hash[0];
	first = tables.hash[1];
	n_filter_words = tables.hash[2] * (uint32_t)(sizeof(ElfW(Addr)) / sizeof(uint32_t));
	buckets = tables.hash + 4 + n_filter_words;
	chains = buckets + n_buckets;
	i = n_buckets ? buckets[hash % n_buckets] : 0;
	if (i < first)
		return NULL;
	for (;; i++) {
		/* The lowest bit marks the end of a chain. */
		uint32_t word = chains[i - first];

		if ((word | 1u) == (hash | 1u) && is_default(&tables, i, name))
			return (void *)(tables.base + tables.symbols[i].st_value);
		if (word & 1u)
			return NULL;
	}
}
