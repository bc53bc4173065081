/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program says of itself, for the trace that TraceSmith makes of it: marks, ranges, counters, and when to record. For C
 * and C++ on Linux, in this header alone: there is nothing to link with, and a program that is not traced does nothing
 * here but look once whether it is. Tracing is there where libtsinject.so was preloaded (`tsctl record` does that).
 *
 *	tracesmith_push("epoch");
 *	tracesmith_mark("data loaded");
 *	tracesmith_counter("loss", loss);
 *	tracesmith_pop();
 *
 * Ranges that are pushed nest within their thread, and so with what it launches on a GPU. Those that are begun have an id,
 * and may be ended by any thread. The first of these calls begins the trace, where no use of CUDA has.
 *
 * Names are copied when they are first seen; a name is any text in UTF-8 of at most 4096 bytes, best a constant. A
 * source that defines TRACESMITH_DOMAIN before it includes this has its names in that domain, told from others' of the
 * same name:
 *
 *	#define TRACESMITH_DOMAIN "my library"
 *	#include <tracesmith/annotate.h>
 *
 * Thread-safe; not for signal handlers. errno is kept. Nothing fails. With glibc before 2.34 link with -ldl, or these do
 * nothing.
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

/* What the tracing library exports as tracesmith_annotate_1. Only ever added to: n_bytes says how far it goes. */
struct tracesmith_functions {
	size_t n_bytes;
	void *(*domain)(
		const char *name); /* NULL: the default one, for NULL and where there is no room */
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

/* For a program that is not traced. */
static const struct tracesmith_functions tracesmith_none_
	__attribute__((unused)) = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

/* This source's own: looked up at its first call, and never again. */
static struct {
	const struct tracesmith_functions *functions; /* NULL: not looked up yet */
	void *domain;
} tracesmith_ __attribute__((unused));

__attribute__((unused, cold, noinline)) static const struct tracesmith_functions *
tracesmith_look_up_(void)
{
	const struct tracesmith_functions *found = NULL;

	/* NULL is RTLD_DEFAULT: what is preloaded is found. */
	if (tracesmith_dlsym_)
		found = (const struct tracesmith_functions *)
			tracesmith_dlsym_(NULL, "tracesmith_annotate_1");
	if (!found || found->n_bytes < sizeof(*found))
		found = &tracesmith_none_;
	else
		__atomic_store_n(&tracesmith_.domain, found->domain(TRACESMITH_DOMAIN),
				 __ATOMIC_RELAXED);
	/* Of threads that come here at once, all find the same; pairs with the acquire below. */
	__atomic_store_n(&tracesmith_.functions, found, __ATOMIC_RELEASE);
	return found;
}

/* NULL: not traced. */
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

/* Something happened now. */
static inline void tracesmith_mark(const char *name)
{
	const struct tracesmith_functions *functions = tracesmith_find_();

	if (functions)
		functions->mark(tracesmith_domain_(), name);
}

/* From here to the tracesmith_pop() that belongs to it, on this thread. */
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

/* From here to tracesmith_end() of what this returns, which any thread may call. 0 where nothing is recorded. */
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

/* The value of something from now on. */
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
 * From now on nothing of this process is recorded, whoever else wishes it; until tracesmith_start(). It may be called before
 * anything else: then there is no trace of what came before.
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
/* A range for as long as it lives. */
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
