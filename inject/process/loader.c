/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trap: fork() copies the loader's lock as it is. glibc before 2.37 does not make it anew in the child, where nobody is left
 * to release it when another thread of the parent was walking the libraries: the child hangs in its first dlopen(). So a
 * walk of ours and a fork() exclude each other. The application's own walks are as they ever were.
 *
 * What the loader tells a walk under its lock, how many libraries were ever loaded and unloaded, glibc keeps in
 * _rtld_global: first the list of libraries, then how many are in it, and further on the number ever loaded, whose place
 * differs between versions. It is found by what it holds, before and after a library was loaded. Should that find
 * the wrong word, every later walk shows it (ts_loader_watch_check()). Another C library has no such thing; there
 * nothing is watched. Libraries in further namespaces make the counts disagree, which ends the watching too.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "inject/process/loader.h"

/*
 * Recursive, for a signal handler may fork() on the very thread that it interrupted while walking. Of the process, not
 * of the session: fork handlers cannot be taken back.
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

/* The owner that the mutex remembers is a thread of the parent's: it is made anew. */
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

/* glibc's own: a list of libraries with its length, and what else the loader keeps. */
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

/* Under the loader's lock the counts stand still. */
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
