// SPDX-License-Identifier: Apache-2.0
/*
 * The dispatch tables of libamdhip64. Each exported function calls through one of them. At the
 * first such call this file fills the table and passes it to
 * rocprofiler_register_library_api_table(), if the process has that function, so that a tool can
 * replace pointers. AMD's library links librocprofiler-register for it; this one asks the loader.
 * hip-library.c names the functions.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "tools/vgpu/generated-hip-slots.h"
#include "tools/vgpu/hip/hip-face.h"

/* The tables of ROCm 6.2.2. */
#define RUNTIME_STEP  3
#define COMPILER_STEP 0

/* 10000 * major + 100 * minor: AMD's library passes no patch. */
#define TABLE_VERSION 60200

enum {
#define END(step, end) RUNTIME_END_##step = (end),
	TS_HIP_SLOT_STEPS(END)
#undef END
#define END(step, end) COMPILER_END_##step = (end),
	TS_HIP_COMPILER_SLOT_STEPS(END)
#undef END
};
#define END_OF_(kind, step) kind##_END_##step
#define END_OF(kind, step)  END_OF_(kind, step)

struct table {
	const char *name;
	void *const *functions;
	size_t end;
	union {
		size_t size;
		void *slots[END_OF(RUNTIME, RUNTIME_STEP)];
	};
	atomic_bool registered;
	bool registering;
};

static int import_version(void)
{
	return TABLE_VERSION;
}

static struct table runtime = {
	.name = TS_HIP_TABLE_NAME,
	.end = END_OF(RUNTIME, RUNTIME_STEP),
};
static struct table compiler = {
	.name = TS_HIP_COMPILER_TABLE_NAME,
	.end = END_OF(COMPILER, COMPILER_STEP),
};

void tables_fill(void *const *runtime_functions, void *const *compiler_functions)
{
	runtime.functions = runtime_functions;
	compiler.functions = compiler_functions;
}

static void register_table(struct table *table)
{
	int (*registrar)(const char *name, int (*import)(void), uint32_t version, void **tables,
			 uint64_t n_tables, uint64_t *ret_id);
	void *pointer = &table->size;
	uint64_t id = 0;

	table->size = table->end * sizeof(void *);
	for (size_t place = 1; place < table->end; place++)
		table->slots[place] = table->functions[place];
	*(void **)&registrar = dlsym(RTLD_DEFAULT, "rocprofiler_register_library_api_table");
	if (registrar)
		(void)registrar(table->name, import_version, TABLE_VERSION, &pointer, 1, &id);
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
