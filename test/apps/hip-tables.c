/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hip-tables WAY: registers one odd dispatch table, and prints the result and the number of slots
 * that changed. It then uses HIP, and counts that in the truth. The last slot of the table lies
 * before a page without access.
 *
 * WAY is null-tables, no-tables, null-table, no-name, another (a table of another library), or the
 * table's size word: a number of bytes. The table itself has room for 32 words.
 */
#include <dlfcn.h>

#include "test/apps/gpu.h"

#define N_WORDS	   32u
#define PAGE_BYTES 4096u
#define N_BYTES	   1024u
#define NONE_FOUND 99

typedef int (*register_fn)(const char *name, int (*import)(void), uint32_t version, void **tables,
			   uint64_t n_tables, uint64_t *ret_id);

static int import_version(void)
{
	return 60200;
}

static int function(void)
{
	return 0;
}

/* Returns a table whose end is the end of the accessible memory. */
static void **table_new(size_t size)
{
	char *pages = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void **table;

	if (pages == MAP_FAILED || mprotect(pages + PAGE_BYTES, PAGE_BYTES, PROT_NONE)) {
		perror("the table's memory");
		exit(9);
	}
	table = (void **)(pages + PAGE_BYTES) - N_WORDS;
	table[0] = (void *)size;
	for (size_t i = 1; i < N_WORDS; i++)
		table[i] = (void *)function;
	return table;
}

static int register_table(const char *way, void **table)
{
	const char *name = !strcmp(way, "no-name")   ? NULL
			   : !strcmp(way, "another") ? "hip_compiler"
						     : "hip";
	void *pointer = !strcmp(way, "null-table") ? NULL : table;
	void **tables = !strcmp(way, "null-tables") ? NULL : &pointer;
	register_fn registrar;
	uint64_t id = 0;

	*(void **)&registrar = dlsym(RTLD_DEFAULT, "rocprofiler_register_library_api_table");
	return registrar ? registrar(name, import_version, 60200, tables,
				     strcmp(way, "no-tables") != 0, &id)
			 : NONE_FOUND;
}

int main(int argc, char **argv)
{
	static char host[N_BYTES];
	size_t size = N_WORDS * sizeof(void *), n_changed = 0;
	void **table, *memory;
	int result;

	if (argc != 2) {
		fprintf(stderr, "usage: hip-tables WAY\n");
		return 2;
	}
	if (argv[1][0] >= '0' && argv[1][0] <= '9')
		size = strtoull(argv[1], NULL, 0);
	table = table_new(size);
	result = register_table(argv[1], table);
	for (size_t i = 1; i < N_WORDS; i++)
		n_changed += table[i] != (void *)function;
	printf("%d %zu\n", result, n_changed);
	fflush(stdout);
	gpu_open(NULL);
	memory = gpu_malloc(N_BYTES);
	gpu_h2d(memory, host, N_BYTES);
	gpu_d2h(host, memory, N_BYTES);
	gpu_device_sync();
	gpu_free(memory);
	gpu_truth()->finished = 1;
	return 0;
}
