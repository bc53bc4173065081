/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterates over the process's libraries without leaving the loader's lock held in a forked child.
 * Notices without a lock that libraries were loaded or unloaded.
 */
#pragma once

#include <link.h>

#include "proto/abi/base.h"
#include "proto/abi/tablehash.h"

/*
 * dl_iterate_phdr(), except that a fork() waits until the iteration has ended. All iterations of
 * the shim and of the unwinder use this function. Thread-safe.
 */
int ts_loader_iterate(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data);

/* An address in a library's dynamic section. glibc relocates it; other loaders do not. */
static inline const void *ts_loader_address(uintptr_t base, const ElfW(Dyn) * entry)
{
	const uintptr_t value = entry->d_un.d_ptr;

	return (const void *)(value < base ? base + value : value);
}

/*
 * Keeps the library that contains `address` loaded to the process's end, so that its functions may
 * be kept. Takes the loader's lock, and replaces a pending dlerror(). Returns false if there is no
 * such library.
 */
bool ts_loader_pin(const void *address);

#define TS_LOADER_COUNTS_MAX 4u

/* Addresses of the loader's counts of libraries, to read them without its lock. */
struct ts_loader_watch {
	uint32_t works; /* 0: the counts were not found, so the generation means nothing */
	uint32_t n_added;
	const uint32_t *n_loaded; /* libraries loaded now */
	/*
	 * Candidates for the count of libraries ever loaded; at least one of them is that
	 * count.
	 */
	const uint64_t *added[TS_LOADER_COUNTS_MAX];
};

/*
 * Finds the counts. It calls `load`, which loads a library; the words that change are the counts.
 * If `load` loads nothing, the candidates may include too many words.
 */
void ts_loader_watch(struct ts_loader_watch *watch, void (*load)(void *data), void *data);

/*
 * Compares the counts with those that dl_iterate_phdr() reports under the loader's lock. If they
 * differ, the function sets `works` to 0, and nothing sets it again.
 */
void ts_loader_watch_check(struct ts_loader_watch *watch);

/*
 * Returns a number that changes whenever a library was loaded or unloaded. It changes before a new
 * library's code can run, and before another library can be mapped in the place of an unloaded one.
 * The function makes two loads and needs no lock or barrier: a thread with a new library's code on
 * its stack has already seen that library loaded.
 */
static inline uint64_t ts_loader_generation(const struct ts_loader_watch *watch)
{
	uint64_t generation = __atomic_load_n(watch->n_loaded, __ATOMIC_RELAXED);
	uint32_t i = 0;

	/* There is at least one candidate if the watch works. */
	do
		generation = ts_hash_key(generation) +
			     __atomic_load_n(watch->added[i], __ATOMIC_RELAXED);
	while (ts_unlikely(++i < watch->n_added));
	return generation;
}

/*
 * Returns how many libraries were unloaded so far, without a lock. If that count is unknown, it
 * returns a number that changes at each load or unload.
 */
static inline uint64_t ts_loader_gone(const struct ts_loader_watch *watch)
{
	if (watch->n_added != 1)
		return ts_loader_generation(watch);
	return __atomic_load_n(watch->added[0], __ATOMIC_RELAXED) -
	       __atomic_load_n(watch->n_loaded, __ATOMIC_RELAXED);
}
