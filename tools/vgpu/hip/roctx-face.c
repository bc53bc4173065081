// SPDX-License-Identifier: Apache-2.0
/*
 * ROCm's annotations, which go to tools alone: each function does nothing but count levels and ids,
 * as AMD's does. meson builds two libraries from this file:
 *
 * - libroctx64.so.4 exports the functions.
 * - librocprofiler-sdk-roctx.so.0 (ROCTX_TABLES) calls them by tables, and registers the tables at
 *   its first call with rocprofiler_register_library_api_table(), if the process has it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static __thread int level;
static atomic_uint_fast64_t last_id;

static void mark(const char *message)
{
}

static int push(const char *message)
{
	return level++;
}

static int pop(void)
{
	return level ? --level : -1;
}

static uint64_t start(const char *message)
{
	return atomic_fetch_add(&last_id, 1) + 1;
}

static void stop(uint64_t id)
{
}

#ifdef ROCTX_TABLES

/* AMD's library numbers its version so: 10000 * major + 100 * minor + patch. */
#define VERSION 100

static int get_thread_id(uint64_t *tid)
{
	*tid = (uint64_t)syscall(SYS_gettid);
	return 0;
}

static int profile(uint64_t tid)
{
	return 0;
}

static int name_thread(const char *name)
{
	return 0;
}

static int name_device(const char *name, int device)
{
	return 0;
}

static int name_object(const char *name, const void *object)
{
	return 0;
}

static struct {
	uint64_t size;
	void (*mark)(const char *message);
	int (*push)(const char *message);
	int (*pop)(void);
	uint64_t (*start)(const char *message);
	void (*stop)(uint64_t id);
	int (*get_thread_id)(uint64_t *tid);
} core = {sizeof(core), mark, push, pop, start, stop, get_thread_id};

static struct {
	uint64_t size;
	int (*pause)(uint64_t tid);
	int (*resume)(uint64_t tid);
} control = {sizeof(control), profile, profile};

static struct {
	uint64_t size;
	int (*name_thread)(const char *name);
	int (*name_agent)(const char *name, const void *agent);
	int (*name_device)(const char *name, int device);
	int (*name_stream)(const char *name, const void *stream);
} names = {sizeof(names), name_thread, name_object, name_device, name_object};

static int import_version(void)
{
	return VERSION;
}

static void register_tables(void)
{
	int (*registrar)(const char *name, int (*import)(void), uint32_t version, void **tables,
			 uint64_t n_tables, uint64_t *ret_id);
	void *tables[] = {&core, &control, &names};
	uint64_t id = 0;

	*(void **)&registrar = dlsym(RTLD_DEFAULT, "rocprofiler_register_library_api_table");
	if (registrar)
		(void)registrar("roctx", import_version, VERSION, tables, 3, &id);
}

static void ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_tables);
}

#define CALL(table, function, ...) (ready(), (table).function(__VA_ARGS__))
#else
#define CALL(table, function, ...) function(__VA_ARGS__)
#endif

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void roctxMarkA(const char *message);
EXPORTED int roctxRangePushA(const char *message);
EXPORTED int roctxRangePop(void);
EXPORTED uint64_t roctxRangeStartA(const char *message);
EXPORTED void roctxRangeStop(uint64_t id);
EXPORTED uint32_t roctx_version_major(void);
EXPORTED uint32_t roctx_version_minor(void);
EXPORTED void roctxRegisterTracerCallback(const void *callback);
EXPORTED int roctxGetThreadId(uint64_t *tid);
EXPORTED int roctxProfilerPause(uint64_t tid);
EXPORTED int roctxProfilerResume(uint64_t tid);
EXPORTED int roctxNameOsThread(const char *name);
EXPORTED int roctxNameHsaAgent(const char *name, const void *agent);
EXPORTED int roctxNameHipDevice(const char *name, int device);
EXPORTED int roctxNameHipStream(const char *name, const void *stream);

void roctxMarkA(const char *message)
{
	CALL(core, mark, message);
}

int roctxRangePushA(const char *message)
{
	return CALL(core, push, message);
}

int roctxRangePop(void)
{
	return CALL(core, pop);
}

uint64_t roctxRangeStartA(const char *message)
{
	return CALL(core, start, message);
}

void roctxRangeStop(uint64_t id)
{
	CALL(core, stop, id);
}

#ifdef ROCTX_TABLES
int roctxGetThreadId(uint64_t *tid)
{
	return CALL(core, get_thread_id, tid);
}

int roctxProfilerPause(uint64_t tid)
{
	return CALL(control, pause, tid);
}

int roctxProfilerResume(uint64_t tid)
{
	return CALL(control, resume, tid);
}

int roctxNameOsThread(const char *name)
{
	return CALL(names, name_thread, name);
}

int roctxNameHsaAgent(const char *name, const void *agent)
{
	return CALL(names, name_agent, name, agent);
}

int roctxNameHipDevice(const char *name, int device)
{
	return CALL(names, name_device, name, device);
}

int roctxNameHipStream(const char *name, const void *stream)
{
	return CALL(names, name_stream, name, stream);
}
#else
uint32_t roctx_version_major(void)
{
	return 4;
}

uint32_t roctx_version_minor(void)
{
	return 1;
}

/* A tool of roctracer: the functions do not call it. */
void roctxRegisterTracerCallback(const void *callback)
{
}
#endif
