// SPDX-License-Identifier: Apache-2.0
/*
 * The dispatch tables of libamdhip64. Each exported function calls through one of them. At the
 * first such call this file fills the table and passes it to
 * rocprofiler_register_library_api_table(), if the process has that function, so that a tool can
 * replace pointers. AMD's library links librocprofiler-register for it; this one asks the loader.
 * Releases before 6.2 register no table, and call by it all the same. hip-library.c names the
 * functions.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "tools/vgpu/hip/hip-face.h"

/* Room for more places than any release has; hip-library.c names fewer functions. */
#define MAX_PLACES 640

struct table {
	const char *name;
	const size_t *end; /* places that the release registers; 0: none */
	void *const *functions;
	size_t n_functions;
	union {
		size_t size;
		void *slots[MAX_PLACES];
	};
	atomic_bool registered;
	bool registering;
};

/* 10000 * major + 100 * minor: AMD's library passes no patch. */
static int import_version(void)
{
	return (int)(release.major * 10000 + release.minor * 100);
}

static struct table runtime = {
	.name = TS_HIP_TABLE_NAME,
	.end = &release.runtime_end,
};
static struct table compiler = {
	.name = TS_HIP_COMPILER_TABLE_NAME,
	.end = &release.compiler_end,
};

static void fill(struct table *table, void *const *functions, size_t n_functions)
{
	assert(n_functions <= MAX_PLACES);
	table->functions = functions;
	table->n_functions = n_functions;
}

void tables_fill(void *const *runtime_functions, size_t n_runtime, void *const *compiler_functions,
		 size_t n_compiler)
{
	fill(&runtime, runtime_functions, n_runtime);
	fill(&compiler, compiler_functions, n_compiler);
}

static void register_table(struct table *table)
{
	int (*registrar)(const char *name, int (*import)(void), uint32_t version, void **tables,
			 uint64_t n_tables, uint64_t *ret_id);
	void *pointer = &table->size;
	uint64_t id = 0;

	for (size_t place = 1; place < table->n_functions; place++)
		table->slots[place] = table->functions[place];
	if (!*table->end)
		return;
	table->size = *table->end * sizeof(void *);
	*(void **)&registrar = dlsym(RTLD_DEFAULT, "rocprofiler_register_library_api_table");
	if (registrar)
		(void)registrar(table->name, import_version, (uint32_t)import_version(), &pointer,
				1, &id);
}

/* Slow path: one thread registers, and others wait. The tool itself may call HIP meanwhile. */
static void register_once(struct table *table)
{
	static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

	pthread_mutex_lock(&lock);
	if (!table->registering) {
		table->registering = true;
		register_table(table);
		/* Release, paired with the acquire of slot_of(). */
		atomic_store_explicit(&table->registered, true, memory_order_release);
	}
	pthread_mutex_unlock(&lock);
}

static inline void *slot_of(struct table *table, size_t place)
{
	if (__builtin_expect(!atomic_load_explicit(&table->registered, memory_order_acquire), 0))
		register_once(table);
	return table->slots[place];
}

void *runtime_slot(size_t place)
{
	return slot_of(&runtime, place);
}

void *compiler_slot(size_t place)
{
	return slot_of(&compiler, place);
}
