/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking the libraries of the process without leaving a forked child with the loader's lock held, and noticing
 * without a lock that libraries came or went.
 */
#pragma once

#include <link.h>

#include "proto/abi/base.h"
#include "proto/abi/tablehash.h"

/*
 * dl_iterate_phdr(), which a fork() waits for to be over. Everything of ours walks by this, and so does the unwinder.
 * Thread-safe.
 */
int ts_loader_iterate(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data);

#define TS_LOADER_COUNTS_MAX 4u

/* Where the loader keeps its counts of libraries, for reading them without its lock. */
struct ts_loader_watch {
	uint32_t works; /* 0: not known; ts_loader_generation() says nothing */
	uint32_t n_added;
	const uint32_t *n_loaded; /* libraries that are loaded */
	const uint64_t *added
		[TS_LOADER_COUNTS_MAX]; /* counts of libraries ever loaded; one of them at least is */
};

/*
 * Finds the counts. `load` is called meanwhile, and loads a library: that shows which words count. It need not: then
 * there may be words too many among those watched.
 */
void ts_loader_watch(struct ts_loader_watch *watch, void (*load)(void *data), void *data);

/* Compares the counts with what the loader says under its lock; where they differ, `works` is 0 from then on. */
void ts_loader_watch_check(struct ts_loader_watch *watch);

/*
 * Another number whenever a library was loaded or unloaded, from before its code can run, or another's can in
 * its place. Two loads and no lock: whoever has a new library's code on its stack has seen that library loaded, by
 * what led it there, so that no barrier is called for.
 */
static inline uint64_t ts_loader_generation(const struct ts_loader_watch *watch)
{
	uint64_t generation = __atomic_load_n(watch->n_loaded, __ATOMIC_RELAXED);
	uint32_t i;

	for (i = 0; i < watch->n_added; i++)
		generation = ts_hash_key(generation) +
			     __atomic_load_n(watch->added[i], __ATOMIC_RELAXED);
	return generation;
}

/* How many libraries have gone so far; without a lock. Where that is not known, another number each time something changes. */
static inline uint64_t ts_loader_gone(const struct ts_loader_watch *watch)
{
	if (watch->n_added != 1)
		return ts_loader_generation(watch);
	return __atomic_load_n(watch->added[0], __ATOMIC_RELAXED) -
	       __atomic_load_n(watch->n_loaded, __ATOMIC_RELAXED);
}
