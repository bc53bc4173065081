/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterates over libraries and watches the loader; inject/stacks, inject/cuda and flush.c call this
 * file.
 *
 * Trap: fork() copies the loader's lock in its current state, and glibc before 2.37 does not reset
 * it in the child. If another thread of the parent was iterating over the libraries, no thread in
 * the child releases the lock. The child then hangs in its first dlopen(). So the shim's iterations
 * and fork() exclude each other. The application's own iterations are unchanged.
 *
 * The watch reads the loader's counts without the loader's lock. dl_iterate_phdr() holds the lock
 * and passes two counts to its callback: libraries ever loaded (dlpi_adds) and libraries ever
 * unloaded (dlpi_subs). glibc has a list of the loaded libraries at the start of _rtld_global, and
 * the list's length behind it. _rtld_global also has the count of libraries ever loaded, at an
 * offset that differs between versions. ts_loader_watch() loads a library and finds the word that
 * equals dlpi_adds before and after. If this word is not the count, ts_loader_watch_check() detects
 * the error later and ends the watch.
 *
 * Other C libraries have no such word, so the watch does not work with them. The list has the
 * libraries of one namespace, and the callback's counts have those of all namespaces. So
 * ts_loader_watch_check() also ends the watch if a library is in another namespace (dlmopen()).
 */
#include <dlfcn.h>
#include <pthread.h>

#include "inject/process/loader.h"

/*
 * Recursive, because a signal handler may fork() on the thread that it interrupted in an iteration.
 * The mutex belongs to the process, not to the session, because fork handlers cannot be removed.
 */
static pthread_mutex_t walking = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
	pthread_mutex_lock(&walking);
}

static void in_parent(void)
{
	pthread_mutex_unlock(&walking);
}

/*
 * Called in a forked child. Initialises the mutex again, because its owner may be a thread that
 * only the parent has.
 */
static void in_child(void)
{
	walking = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
}

static void watch_forks(void)
{
	(void)pthread_atfork(before_fork, in_parent, in_child);
}

int ts_loader_iterate(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data)
{
	int r;

	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&walking);
	r = dl_iterate_phdr(visit, data);
	pthread_mutex_unlock(&walking);
	return r;
}

bool ts_loader_pin(const void *address)
{
	const struct link_map *map = NULL;
	Dl_info info;
	void *library;

	/* The loader's own name: info.dli_fname of the program is not one. */
	if (!dladdr1(address, &info, (void **)(void *)&map, RTLD_DL_LINKMAP) || !map)
		return false;
	/* The program has an empty name, and stays. */
	if (!map->l_name || !*map->l_name)
		return true;
	library = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
	if (library)
		dlclose(library);
	return library != NULL;
}

struct counts {
	uint64_t added, removed;
};

static int take_counts(struct dl_phdr_info *info, size_t size, void *data)
{
	struct counts *counts = data;

	if (size >= offsetof(struct dl_phdr_info, dlpi_tls_modid))
		*counts = (struct counts){info->dlpi_adds, info->dlpi_subs};
	return 1;
}

/* The first fields of glibc's _rtld_global: the list of libraries and its length. */
struct global {
	const struct link_map *first;
	uint32_t n_loaded;
};

#define GLOBAL_MAX_BYTES 8192u

static const struct global *find_global(size_t *ret_bytes)
{
	const struct global *global = dlvsym(RTLD_DEFAULT, "_rtld_global", "GLIBC_PRIVATE");
	ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!global || !dladdr1(global, &info, (void **)(void *)&symbol, RTLD_DL_SYMENT) ||
	    !symbol || symbol->st_size < sizeof(*global))
		return NULL;
	*ret_bytes = symbol->st_size < GLOBAL_MAX_BYTES ? symbol->st_size : GLOBAL_MAX_BYTES;
	return global;
}

void ts_loader_watch(struct ts_loader_watch *watch, void (*load)(void *data), void *data)
{
	uint64_t words[GLOBAL_MAX_BYTES / sizeof(uint64_t)];
	struct counts before = {0, 0}, after = {0, 0};
	const struct r_debug *debug = dlsym(RTLD_DEFAULT, "_r_debug");
	const struct global *global;
	size_t n_bytes = 0, i;

	memset(watch, 0, sizeof(*watch));
	global = find_global(&n_bytes);
	if (global)
		memcpy(words, global, n_bytes);
	(void)ts_loader_iterate(take_counts, &before);
	load(data);
	(void)ts_loader_iterate(take_counts, &after);
	if (!global || !before.added || !debug || global->first != debug->r_map ||
	    __atomic_load_n(&global->n_loaded, __ATOMIC_RELAXED) != after.added - after.removed)
		return;
	for (i = sizeof(*global) / sizeof(words[0]); i < n_bytes / sizeof(words[0]); i++) {
		const uint64_t *word = (const uint64_t *)(const void *)global + i;

		if (words[i] != before.added ||
		    __atomic_load_n(word, __ATOMIC_RELAXED) != after.added)
			continue;
		if (watch->n_added == TS_LOADER_COUNTS_MAX)
			return;
		watch->added[watch->n_added++] = word;
	}
	watch->n_loaded = &global->n_loaded;
	watch->works = watch->n_added > 0;
}

/* The caller holds the loader's lock, so the counts do not change. */
static int compare_counts(struct dl_phdr_info *info, size_t size, void *data)
{
	struct ts_loader_watch *watch = data;
	bool one_matches = false;
	uint32_t i;

	(void)size;
	for (i = 0; i < watch->n_added; i++)
		one_matches |=
			__atomic_load_n(watch->added[i], __ATOMIC_RELAXED) == info->dlpi_adds;
	if (!one_matches ||
	    __atomic_load_n(watch->n_loaded, __ATOMIC_RELAXED) != info->dlpi_adds - info->dlpi_subs)
		__atomic_store_n(&watch->works, 0, __ATOMIC_RELAXED);
	return 1;
}

void ts_loader_watch_check(struct ts_loader_watch *watch)
{
	if (__atomic_load_n(&watch->works, __ATOMIC_RELAXED))
		(void)ts_loader_iterate(compare_counts, watch);
}
