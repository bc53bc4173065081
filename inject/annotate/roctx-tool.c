/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records the annotations of roctx. Two libraries have the same functions:
 *
 * - libroctx64.so.4 exports them. This library is preloaded, so programs that are linked with
 *   libroctx64 call the functions below.
 * - librocprofiler-sdk-roctx calls them by tables, and registers the tables (hip-register.c). The
 *   wrappers below see also the calls of programs that load the library with dlopen().
 *
 * Each function records by annotation.c, then calls the library's own function: another tool may
 * receive it there. If a call passes an exported function and a table, the first records it.
 *
 * Trap: a program that finds libroctx64's functions with dlsym() in the library's own handle calls
 * them directly.
 */
#include <sys/syscall.h>

#include "inject/annotate/annotation.h"
#include "inject/annotate/roctx-tool.h"
#include "inject/process/loader-symbols.h"
#include "inject/process/loader.h"

/* Ranges of roctx nest among themselves. NVTX's domains have smaller numbers. */
#define DOMAIN (UINT32_MAX - 1)

/* Started ranges by the library's id; a power of two. A later range replaces an older one. */
#define MAX_STARTED 16384u

/* Places in the tables, in pointers. */
enum core_slot {
	SLOT_MARK = 1,
	SLOT_PUSH,
	SLOT_POP,
	SLOT_START,
	SLOT_STOP,
	N_CORE
};
enum name_slot {
	SLOT_NAME_THREAD = 1,
	SLOT_NAME_AGENT,
	SLOT_NAME_DEVICE,
	SLOT_NAME_STREAM,
	N_NAME
};

/* The functions behind the exported ones, and behind the tables' wrappers. */
struct functions {
	void (*mark)(const char *message);
	int (*push)(const char *message);
	int (*pop)(void);
	uint64_t (*start)(const char *message);
	void (*stop)(uint64_t id);
	int (*name_thread)(const char *name);
	int (*name_device)(const char *name, int device);
	int (*name_stream)(const char *name, const void *stream);
};

static struct functions library, table;
static uint32_t searched, n_calls, wrapped;

static struct {
	uint64_t id;   /* the library's; 0: free */
	uint64_t ours; /* annotation.c's */
} started[MAX_STARTED];

/* ---- records ---- */

static void record_mark(const char *message)
{
	const struct ts_annotation annotation = {.text = message, .domain_key = DOMAIN};

	ts_annotation_mark(&annotation);
}

static int record_push(const char *message)
{
	const struct ts_annotation annotation = {.text = message, .domain_key = DOMAIN};

	return ts_annotation_push(&annotation);
}

static uint64_t record_start(const char *message)
{
	const struct ts_annotation annotation = {.text = message, .domain_key = DOMAIN};

	return ts_annotation_start(&annotation);
}

static void keep_started(uint64_t id, uint64_t ours)
{
	const uint64_t i = id % MAX_STARTED;

	__atomic_store_n(&started[i].ours, ours, __ATOMIC_RELAXED);
	/* Pairs with the acquire in take_started(). */
	__atomic_store_n(&started[i].id, id, __ATOMIC_RELEASE);
}

/* Returns annotation.c's id of a range; an id without a range is returned as it is. */
static uint64_t take_started(uint64_t id)
{
	const uint64_t i = id % MAX_STARTED;
	uint64_t expected = id, ours;

	if (!id || __atomic_load_n(&started[i].id, __ATOMIC_ACQUIRE) != id)
		return id;
	ours = __atomic_load_n(&started[i].ours, __ATOMIC_RELAXED);
	return __atomic_compare_exchange_n(&started[i].id, &expected, 0, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED)
		       ? ours
		       : id;
}

static void record_name(enum ts_name_kind kind, uint64_t object, const char *name)
{
	const size_t n = name ? strnlen(name, TS_ANNOTATION_MAX_BYTES) : 0;

	if (!n)
		return;
	if (n == TS_ANNOTATION_MAX_BYTES && name[n])
		ts_annotation_count(TS_LOSS_TEXT_CUT);
	ts_annotation_name(kind, NULL, object, name, n);
}

static uint64_t thread_number(void)
{
	return (uint64_t)syscall(SYS_gettid);
}

static uint64_t device_number(int device)
{
	return ts_shim.hip.first_device + (uint64_t)(uint32_t)device;
}

/* ---- wrappers of the tables ---- */

static void table_mark(const char *message)
{
	if (!ts_tls.in_roctx)
		record_mark(message);
	table.mark(message);
}

static int table_push(const char *message)
{
	if (!ts_tls.in_roctx)
		(void)record_push(message);
	return table.push(message);
}

static int table_pop(void)
{
	if (!ts_tls.in_roctx)
		(void)ts_annotation_pop(DOMAIN);
	return table.pop();
}

static uint64_t table_start(const char *message)
{
	uint64_t ours, id;

	if (ts_tls.in_roctx)
		return table.start(message);
	ours = record_start(message);
	id = table.start(message);
	keep_started(id, ours);
	return id;
}

static void table_stop(uint64_t id)
{
	if (!ts_tls.in_roctx)
		ts_annotation_end(take_started(id));
	table.stop(id);
}

static int table_name_thread(const char *name)
{
	if (!ts_tls.in_roctx)
		record_name(TS_NAME_THREAD, thread_number(), name);
	return table.name_thread(name);
}

static int table_name_device(const char *name, int device)
{
	if (!ts_tls.in_roctx)
		record_name(TS_NAME_DEVICE, device_number(device), name);
	return table.name_device(name, device);
}

static int table_name_stream(const char *name, const void *stream)
{
	if (!ts_tls.in_roctx)
		record_name(TS_NAME_STREAM, (uint64_t)(uintptr_t)stream, name);
	return table.name_stream(name, stream);
}

/* Replaces one place, and keeps its function. */
static void replace(void **slot, void *next, void *wrapper)
{
	memcpy(next, slot, sizeof(*slot));
	if (*slot)
		*slot = wrapper;
}

static bool has_slots(void *const *slots, uint64_t n_slots)
{
	uint64_t n_bytes;

	if (!slots)
		return false;
	memcpy(&n_bytes, slots, sizeof(n_bytes));
	return n_bytes >= n_slots * sizeof(void *);
}

void ts_roctx_wrap(void **tables, uint64_t n_tables)
{
	uint32_t none = 0;
	void **core = tables[0], **names = n_tables > 2 ? tables[2] : NULL;

	if (!__atomic_compare_exchange_n(&wrapped, &none, 1, false, __ATOMIC_RELAXED,
					 __ATOMIC_RELAXED))
		return;
	if (has_slots(core, N_CORE)) {
		replace(&core[SLOT_MARK], &table.mark, (void *)table_mark);
		replace(&core[SLOT_PUSH], &table.push, (void *)table_push);
		replace(&core[SLOT_POP], &table.pop, (void *)table_pop);
		replace(&core[SLOT_START], &table.start, (void *)table_start);
		replace(&core[SLOT_STOP], &table.stop, (void *)table_stop);
	}
	if (has_slots(names, N_NAME)) {
		replace(&names[SLOT_NAME_THREAD], &table.name_thread, (void *)table_name_thread);
		replace(&names[SLOT_NAME_DEVICE], &table.name_device, (void *)table_name_device);
		replace(&names[SLOT_NAME_STREAM], &table.name_stream, (void *)table_name_stream);
	}
}

/* ---- exported functions ---- */

/*
 * Returns the library's functions; NULL without a library. A missing library is searched again
 * after twice as many calls.
 */
static const struct functions *behind(void)
{
	const uint32_t n = __atomic_add_fetch(&n_calls, 1, __ATOMIC_RELAXED);
	int saved_errno = errno;
	struct functions found;

	/* Acquire: pairs with the release below. */
	if (__atomic_load_n(&searched, __ATOMIC_ACQUIRE) == 1)
		return &library;
	if (n & (n - 1))
		return NULL;
	*(void **)&found.mark = ts_loader_find("roctxMarkA");
	*(void **)&found.push = ts_loader_find("roctxRangePushA");
	*(void **)&found.pop = ts_loader_find("roctxRangePop");
	*(void **)&found.start = ts_loader_find("roctxRangeStartA");
	*(void **)&found.stop = ts_loader_find("roctxRangeStop");
	/* Only the newer library has these. */
	*(void **)&found.name_thread = ts_loader_find("roctxNameOsThread");
	*(void **)&found.name_device = ts_loader_find("roctxNameHipDevice");
	*(void **)&found.name_stream = ts_loader_find("roctxNameHipStream");
	errno = saved_errno;
	if (!found.mark || !found.push || !found.pop || !found.start || !found.stop ||
	    !ts_loader_pin((const void *)found.mark))
		return NULL;
	/* Two threads find the same functions. */
	library = found;
	__atomic_store_n(&searched, 1, __ATOMIC_RELEASE);
	return &library;
}

#define EXPORTED __attribute__((visibility("default")))

EXPORTED void roctxMarkA(const char *message);
EXPORTED int roctxRangePushA(const char *message);
EXPORTED int roctxRangePop(void);
EXPORTED uint64_t roctxRangeStartA(const char *message);
EXPORTED void roctxRangeStop(uint64_t id);
EXPORTED int roctxNameOsThread(const char *name);
EXPORTED int roctxNameHipDevice(const char *name, int device);
EXPORTED int roctxNameHipStream(const char *name, const void *stream);

void roctxMarkA(const char *message)
{
	const struct functions *next = behind();

	record_mark(message);
	if (!next)
		return;
	ts_tls.in_roctx++;
	next->mark(message);
	ts_tls.in_roctx--;
}

int roctxRangePushA(const char *message)
{
	const struct functions *next = behind();
	int level = record_push(message);

	if (!next)
		return level;
	ts_tls.in_roctx++;
	level = next->push(message);
	ts_tls.in_roctx--;
	return level;
}

int roctxRangePop(void)
{
	const struct functions *next = behind();
	int level = ts_annotation_pop(DOMAIN);

	if (!next)
		return level;
	ts_tls.in_roctx++;
	level = next->pop();
	ts_tls.in_roctx--;
	return level;
}

uint64_t roctxRangeStartA(const char *message)
{
	const struct functions *next = behind();
	uint64_t ours = record_start(message), id;

	if (!next)
		return ours;
	ts_tls.in_roctx++;
	id = next->start(message);
	ts_tls.in_roctx--;
	keep_started(id, ours);
	return id;
}

void roctxRangeStop(uint64_t id)
{
	const struct functions *next = behind();

	ts_annotation_end(take_started(id));
	if (!next)
		return;
	ts_tls.in_roctx++;
	next->stop(id);
	ts_tls.in_roctx--;
}

int roctxNameOsThread(const char *name)
{
	const struct functions *next = behind();
	int r = 0;

	record_name(TS_NAME_THREAD, thread_number(), name);
	ts_tls.in_roctx++;
	if (next && next->name_thread)
		r = next->name_thread(name);
	ts_tls.in_roctx--;
	return r;
}

int roctxNameHipDevice(const char *name, int device)
{
	const struct functions *next = behind();
	int r = 0;

	record_name(TS_NAME_DEVICE, device_number(device), name);
	ts_tls.in_roctx++;
	if (next && next->name_device)
		r = next->name_device(name, device);
	ts_tls.in_roctx--;
	return r;
}

int roctxNameHipStream(const char *name, const void *stream)
{
	const struct functions *next = behind();
	int r = 0;

	record_name(TS_NAME_STREAM, (uint64_t)(uintptr_t)stream, name);
	ts_tls.in_roctx++;
	if (next && next->name_stream)
		r = next->name_stream(name, stream);
	ts_tls.in_roctx--;
	return r;
}
