/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with roctx. It is linked with libroctx64 or librocprofiler-sdk-roctx (`roctx-linked`,
 * `roctx-linked-sdk`), or finds the functions in a library's own handle (`roctx-loads FILE`).
 * Prints what the functions return, which is the same with and without a tool.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef LINKED
void roctxMarkA(const char *message);
int roctxRangePushA(const char *message);
int roctxRangePop(void);
uint64_t roctxRangeStartA(const char *message);
void roctxRangeStop(uint64_t id);
#define FIND(name) name
#else
#define FIND(name) dlsym(library, #name)
#endif

static struct {
	void (*mark)(const char *message);
	int (*push)(const char *message);
	int (*pop)(void);
	uint64_t (*start)(const char *message);
	void (*stop)(uint64_t id);
	int (*name_thread)(const char *name);
	int (*name_stream)(const char *name, const void *stream);
} roctx;

static void *stop_there(void *data)
{
	roctx.stop(*(uint64_t *)data);
	return NULL;
}

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	pthread_t thread;
	uint64_t id;
	int outer, inner, empty;

#ifndef LINKED
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
#endif
	*(void **)&roctx.mark = FIND(roctxMarkA);
	*(void **)&roctx.push = FIND(roctxRangePushA);
	*(void **)&roctx.pop = FIND(roctxRangePop);
	*(void **)&roctx.start = FIND(roctxRangeStartA);
	*(void **)&roctx.stop = FIND(roctxRangeStop);
	if (library) {
		*(void **)&roctx.name_thread = dlsym(library, "roctxNameOsThread");
		*(void **)&roctx.name_stream = dlsym(library, "roctxNameHipStream");
	}
	if (roctx.name_thread)
		printf("%d\n", roctx.name_thread("trainer"));
	if (roctx.name_stream)
		printf("%d\n", roctx.name_stream("copies", &roctx));
	roctx.mark("begin");
	outer = roctx.push("epoch");
	inner = roctx.push("batch 1");
	printf("%d %d\n", outer, inner);
	id = roctx.start("elsewhere");
	inner = roctx.pop();
	outer = roctx.pop();
	empty = roctx.pop();
	printf("%d %d %d\n", inner, outer, empty);
	pthread_create(&thread, NULL, stop_there, &id);
	pthread_join(thread, NULL);
	printf("%d\n", (int)id);
	return 0;
}
