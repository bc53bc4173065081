/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Annotations of a program for its TraceSmith trace: marks, ranges and counters. Also stops and
 * starts the recording. For C and C++ on Linux. The header is complete: there is nothing to link. A
 * program that is not traced only checks once whether it is traced. A program is traced if
 * libtsinject.so is preloaded (`tsctl record` does that).
 *
 * 	tracesmith_push("epoch");
 * 	tracesmith_mark("data loaded");
 * 	tracesmith_counter("loss", loss);
 * 	tracesmith_pop();
 *
 * Pushed ranges nest within their thread and thus enclose the GPU work that the thread launches. A
 * range from tracesmith_begin() has an id, and any thread may end it. The first of these calls
 * begins the trace, unless the use of CUDA has begun it.
 *
 * Names are copied at their first use. A name is UTF-8 text of at most 4096 bytes, preferably a
 * constant. A source that defines TRACESMITH_DOMAIN before it includes this header puts its names
 * into that domain. Equal names in different domains stay apart:
 *
 * 	#define TRACESMITH_DOMAIN "my library"
 * 	#include <tracesmith/annotate.h>
 *
 * Thread-safe; not for signal handlers. errno is preserved. No call fails. With glibc before 2.34,
 * link with -ldl; otherwise the calls do nothing.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifndef TRACESMITH_DOMAIN
#define TRACESMITH_DOMAIN NULL
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Exported by the tracing library as tracesmith_annotate_1. New versions only append fields;
 * n_bytes is the size.
 */
struct tracesmith_functions {
	size_t n_bytes;
	/*
	 * Returns the domain of this name. NULL: the default domain, for name NULL or if the tables
	 * could not be made.
	 */
	void *(*domain)(const char *name);
	void (*mark)(void *domain, const char *name);
	void (*push)(void *domain, const char *name);
	void (*pop)(void *domain);
	uint64_t (*begin)(void *domain, const char *name);
	void (*end)(uint64_t id);
	void (*counter)(void *domain, const char *name, double value);
	void (*counter_i64)(void *domain, const char *name, int64_t value);
	void (*record)(int on);
};

extern void *tracesmith_dlsym_(void *handle, const char *name) __asm__("dlsym")
	__attribute__((weak));

/* Functions that do nothing, for a program that is not traced. */
static const struct tracesmith_functions tracesmith_none_
	__attribute__((unused)) = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

/* State of this source file, looked up once at its first call. */
static struct {
	const struct tracesmith_functions *functions; /* NULL: not looked up yet */
	void *domain;
} tracesmith_ __attribute__((unused));

__attribute__((unused, cold, noinline)) static const struct tracesmith_functions *
tracesmith_look_up_(void)
{
	const struct tracesmith_functions *found = NULL;

	/* NULL is RTLD_DEFAULT, which finds preloaded libraries. */
	if (tracesmith_dlsym_)
		found = (const struct tracesmith_functions *)
			tracesmith_dlsym_(NULL, "tracesmith_annotate_1");
	if (!found || found->n_bytes < sizeof(*found))
		found = &tracesmith_none_;
	else
		__atomic_store_n(&tracesmith_.domain, found->domain(TRACESMITH_DOMAIN),
				 __ATOMIC_RELAXED);
	/*
	 * Threads that get here at the same time all find the same table. Release pairs with the
	 * acquire below.
	 */
	__atomic_store_n(&tracesmith_.functions, found, __ATOMIC_RELEASE);
	return found;
}

/* Returns the functions; NULL: not traced. */
__attribute__((unused)) static inline const struct tracesmith_functions *tracesmith_find_(void)
{
	const struct tracesmith_functions *functions =
		__atomic_load_n(&tracesmith_.functions, __ATOMIC_ACQUIRE);

	if (__builtin_expect(!functions, 0))
		functions = tracesmith_look_up_();
	return functions == &tracesmith_none_ ? NULL : functions;
}

__attribute__((unused)) static inline void *tracesmith_domain_(void)
{
	return __atomic_load_n(&tracesmith_.domain, __ATOMIC_RELAXED);
}

/* Records that something happened now. */
static inline void tracesmith_mark(const char *name)
{
	const struct tracesmith_functions *functions = tracesmith_find_();

	if (functions)
		functions->mark(tracesmith_domain_(), name);
}

/* Begins a range that ends at the matching tracesmith_pop() on this thread. */
static inline void tracesmith_push(const char *name)
{
	const struct tracesmith_functions *functions = tracesmith_find_();

	if (functions)
		functions->push(tracesmith_domain_(), name);
}

static inline void tracesmith_pop(void)
{
	const struct tracesmith_functions *functions = tracesmith_find_();

	if (functions)
		functions->pop(tracesmith_domain_());
}

/*
 * Begins a range and returns its id for tracesmith_end(), which any thread may call. 0: not
 * recorded.
 */
static inline uint64_t tracesmith_begin(const char *name)
{
	const struct tracesmith_functions *functions = tracesmith_find_();

	return functions ? functions->begin(tracesmith_domain_(), name) : 0;
}

static inline void tracesmith_end(uint64_t id)
{
	const struct tracesmith_functions *functions = tracesmith_find_();

	if (functions && id)
		functions->end(id);
}

/* Records a counter's new value. */
static inline void tracesmith_counter(const char *name, double value)
{
	const struct tracesmith_functions *functions = tracesmith_find_();

	if (functions)
		functions->counter(tracesmith_domain_(), name, value);
}

static inline void tracesmith_counter_i64(const char *name, int64_t value)
{
	const struct tracesmith_functions *functions = tracesmith_find_();

	if (functions)
		functions->counter_i64(tracesmith_domain_(), name, value);
}

/*
 * Stops the recording of this process until tracesmith_start(), regardless of the daemon's
 * settings. If the program calls this function first of all, nothing before tracesmith_start() is
 * recorded.
 */
static inline void tracesmith_stop(void)
{
	const struct tracesmith_functions *functions = tracesmith_find_();

	if (functions)
		functions->record(0);
}

static inline void tracesmith_start(void)
{
	const struct tracesmith_functions *functions = tracesmith_find_();

	if (functions)
		functions->record(1);
}

#ifdef __cplusplus
}

namespace tracesmith
{
/* A range for the lifetime of the object. */
class range
{
      public:
	explicit range(const char *name)
	{
		tracesmith_push(name);
	}
	~range()
	{
		tracesmith_pop();
	}
	range(const range &) = delete;
	range &operator=(const range &) = delete;
};
} // namespace tracesmith
#endif
