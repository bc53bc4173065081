/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures stacks; the CUDA callbacks (inject/cuda/callbacks.c) call this file. This file tries
 * three methods in this order:
 *
 * - the cache recognises the stack (stack-cache.h);
 * - the walk uses the cached rule of each return address;
 * - libunwind (unwind.h) unwinds the stack, because it handles every kind of frame.
 *
 * libunwind is used if a frame has no rule, or if the shim cannot notice that libraries are loaded
 * and unloaded.
 */
#include "inject/stacks/stack.h"
#include "inject/process/loader.h"

struct range_query {
	uintptr_t address;
	struct ts_stack_range range;
};

static int find_range(struct dl_phdr_info *info, size_t size, void *data)
{
	struct range_query *query = data;
	uintptr_t start = UINTPTR_MAX, end = 0;
	bool inside = false;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t from = info->dlpi_addr + segment->p_vaddr;
		uintptr_t to = from + segment->p_memsz;

		if (segment->p_type != PT_LOAD)
			continue;
		start = from < start ? from : start;
		end = to > end ? to : end;
		inside |= query->address >= from && query->address < to;
	}
	if (!inside)
		return 0;
	query->range = (struct ts_stack_range){start, end};
	return 1;
}

void ts_stack_skip(struct ts_stack_walker *walker, unsigned slot, const void *address)
{
	struct range_query query = {(uintptr_t)address, {0, 0}};

	if (address && ts_loader_iterate(find_range, &query) && slot < TS_ARRAY_LEN(walker->skip))
		walker->skip[slot] = query.range;
}

static void load_unwinder(void *data)
{
	ts_unwind_init(data);
}

void ts_stack_init(struct ts_stack_walker *walker, bool python, bool check)
{
	memset(walker, 0, sizeof(*walker));
	walker->python = python;
	walker->check = check;
	if (python)
		ts_python_look(&walker->interpreter);
	ts_loader_watch(&walker->watch, load_unwinder, &walker->unwind);
	if (walker->watch.works)
		walker->n_gone = ts_loader_gone(&walker->watch);
	ts_stack_skip(walker, 0, (const void *)(uintptr_t)&ts_stack_init);
}

static bool skipped(const struct ts_stack_walker *walker, uintptr_t frame)
{
	unsigned i;

	for (i = 0; i < TS_ARRAY_LEN(walker->skip); i++)
		if (frame >= walker->skip[i].start && frame < walker->skip[i].end)
			return true;
	return false;
}

/* Returns the id of a stack with these frames, without the skipped innermost ones. */
static uint32_t define(const struct ts_stack_walker *walker, struct ts_definitions *definitions,
		       const uint64_t *frames, uint32_t n_frames, bool truncated)
{
	uint32_t first;

	for (first = 0; first < n_frames && skipped(walker, frames[first]); first++)
		;
	/* User-space addresses stay as they are: the kind NATIVE is 0 in the top bits. */
	return ts_definitions_stack(definitions, frames + first, n_frames - first, truncated);
}

static struct ts_stack_cache *make_cache(struct ts_stack_walker *walker)
{
	struct ts_stack_cache *cache = ts_stack_cache_new(), **next;

	if (!cache)
		return NULL;
	next = ts_stack_cache_next(cache);
	*next = __atomic_load_n(&walker->caches, __ATOMIC_RELAXED);
	/* Release pairs with the acquire in ts_stack_counts(). */
	while (!__atomic_compare_exchange_n(&walker->caches, next, cache, true, __ATOMIC_RELEASE,
					    __ATOMIC_RELAXED))
		;
	return cache;
}

struct capture {
	struct ts_stack_walker *walker;
	struct ts_definitions *definitions;
	struct ts_stack_cache *cache;	    /* NULL: no memory for a cache */
	bool walks;			    /* else only libunwind works */
	const struct ts_stack_start *start; /* in the capturing function's frame */
	const void *caller;		    /* return address of the capturing function */
	uint32_t flags;			    /* TS_STACK_* */
};

static uint32_t define_unwound(struct capture *capture, const struct ts_unwound *unwound)
{
	capture->flags |= unwound->truncated ? TS_STACK_CUT : 0;
	return define(capture->walker, capture->definitions, unwound->frames, unwound->n,
		      unwound->truncated);
}

/* Returns the index of the first frame that differs, or one past the last. */
static uint32_t first_other(const struct ts_stack_walk *walk, const struct ts_unwound *unwound)
{
	uint32_t i = 0;

	while (i < walk->n_frames && i < unwound->n && walk->frames[i] == unwound->frames[i])
		i++;
	return i;
}

/*
 * Unwinds by libunwind. If it did not get past a function that signs its return address, takes the
 * frames of the walk, which are right and perhaps not all. `walk`: the one of this stack, or NULL.
 */
static void unwind(const struct capture *capture, const struct ts_stack_walk *walk, bool by_steps,
		   struct ts_unwound *ret_unwound)
{
	ts_unwind_full(&capture->walker->unwind, capture->caller, by_steps, ret_unwound);
	if (!walk || !walk->is_signed || first_other(walk, ret_unwound) == walk->n_frames)
		return;
	ret_unwound->n = walk->n_frames;
	ret_unwound->truncated = !walk->complete || walk->truncated;
	memcpy(ret_unwound->frames, walk->frames, walk->n_frames * sizeof(walk->frames[0]));
	memcpy(ret_unwound->at, walk->at, walk->n_frames * sizeof(walk->at[0]));
}

static uint32_t capture_unwound(struct capture *capture, const struct ts_stack_walk *walk)
{
	struct ts_unwound unwound;

	unwind(capture, walk, false, &unwound);
	return define_unwound(capture, &unwound);
}

/*
 * Returns whether libunwind finds the same frames as the walk, up to a function that signs its
 * return address. A first difference may come from libunwind's own outdated cache, so an unwind by
 * steps decides. If the walk is wrong, its rule is not used again.
 */
static bool confirm(struct capture *capture, const struct ts_stack_walk *walk)
{
	const uint32_t n = walk->is_signed ? walk->n_unsigned : walk->n_frames;
	struct ts_unwound unwound;
	bool by_steps = false;
	uint32_t i;

	for (;;) {
		ts_unwind_full(&capture->walker->unwind, capture->caller, by_steps, &unwound);
		i = first_other(walk, &unwound);
		if (i >= n && (walk->is_signed || !walk->complete || i == unwound.n)) {
			if (by_steps)
				ts_unwind_forget(&capture->walker->unwind);
			return true;
		}
		if (by_steps)
			break;
		by_steps = true;
	}
	ts_stack_cache_distrust(capture->cache, capture->start, i);
	return false;
}

/*
 * Walks the stack if each frame has a rule; else calls libunwind. The result of new rules is
 * compared with libunwind.
 */
static uint32_t capture_walked(struct capture *capture)
{
	struct ts_stack_counts *counts = ts_stack_cache_counts(capture->cache);
	const struct ts_stack_walk *walk = ts_stack_cache_walk(capture->cache, capture->start);
	uint32_t id;

	if ((ts_unlikely(walk->learned) && !confirm(capture, walk)) || !walk->complete) {
		ts_stack_count(&counts->n_unwound);
		return capture_unwound(capture, walk);
	}
	ts_stack_count(&counts->n_walked);
	capture->flags |= walk->truncated ? TS_STACK_CUT : 0;
	id = define(capture->walker, capture->definitions, walk->frames, walk->n_frames,
		    walk->truncated);
	if (id != TS_ID_UNKNOWN)
		ts_stack_cache_add(capture->cache, capture->start, id);
	return id;
}

/* Defines the native frames, merged with the Python functions. */
static uint32_t define_python(struct capture *capture, struct ts_python_stack *python,
			      const uint64_t *frames, const uintptr_t *at, uint32_t n_frames,
			      bool truncated)
{
	uint32_t n = ts_python_merge(&capture->walker->interpreter, python, frames, at, n_frames);

	if (n) {
		ts_stack_count(&ts_stack_cache_counts(capture->cache)->n_python);
		frames = python->merged;
		truncated |= python->truncated;
	} else {
		capture->flags |= TS_STACK_NO_PYTHON;
		n = n_frames;
	}
	capture->flags |= truncated ? TS_STACK_CUT : 0;
	return define(capture->walker, capture->definitions, frames, n, truncated);
}

/*
 * Captures a stack with Python functions. Such a stack is always walked, never recognised as a
 * whole: equal native frames may run different Python functions.
 */
static __attribute__((noinline)) uint32_t capture_python(struct capture *capture,
							 struct ts_python_stack *python)
{
	struct ts_stack_counts *counts = ts_stack_cache_counts(capture->cache);
	const struct ts_stack_walk *walk = ts_stack_cache_walk(capture->cache, capture->start);
	struct ts_unwound unwound;

	if ((walk->learned && !confirm(capture, walk)) || !walk->complete) {
		ts_stack_count(&counts->n_unwound);
		unwind(capture, walk, true, &unwound);
		return define_python(capture, python, unwound.frames, unwound.at, unwound.n,
				     unwound.truncated);
	}
	ts_stack_count(&counts->n_walked);
	if (capture->walker->check && !confirm(capture, walk))
		ts_stack_count(&counts->n_differ);
	return define_python(capture, python, walk->frames, walk->at, walk->n_frames,
			     walk->truncated);
}

/* Captures a stack without Python functions. */
static uint32_t capture_native(struct capture *capture, uint64_t generation)
{
	struct ts_stack_counts *counts;
	const struct ts_stack_run *run;
	uint32_t id, full;

	if (!capture->cache)
		return capture_unwound(capture, NULL);
	counts = ts_stack_cache_counts(capture->cache);
	if (!capture->walks) {
		ts_stack_count(&counts->n_unwound);
		return capture_unwound(capture, NULL);
	}
	run = ts_stack_cache_find(capture->cache, generation, capture->start->sp);
	id = run ? run->id : capture_walked(capture);
	if (!capture->walker->check)
		return id;
	/* Equal ids mean equal stacks. */
	full = capture_unwound(capture, ts_stack_cache_walk(capture->cache, capture->start));
	if (full != id)
		ts_stack_count(&counts->n_differ);
	return full;
}

/* Handles a change of libraries. If one was unloaded, libunwind must forget its cache. */
static void notice_gone(struct ts_stack_walker *walker)
{
	uint64_t n_gone = ts_loader_gone(&walker->watch);

	if (__atomic_exchange_n(&walker->n_gone, n_gone, __ATOMIC_RELAXED) != n_gone)
		ts_unwind_forget(&walker->unwind);
	if (walker->python)
		ts_python_look(&walker->interpreter);
}

/*
 * Captures a stack in all cases but the usual one, a known stack. Not inlined, so that the frame of
 * the capturing function stays small. Keeps errno.
 */
static __attribute__((noinline)) uint32_t capture_otherwise(struct capture *capture,
							    struct ts_stack_cache **cache)
{
	struct ts_stack_walker *walker = capture->walker;
	struct ts_python_stack *python;
	const int saved_errno = errno;
	uint64_t generation = 0;
	uint32_t id;

	if (!ts_stack_works(walker)) {
		capture->flags |= TS_STACK_NONE;
		return TS_ID_UNKNOWN;
	}
	if (!*cache)
		*cache = make_cache(walker);
	capture->cache = *cache;
	capture->walks =
		TS_STACK_WALKS && *cache && __atomic_load_n(&walker->watch.works, __ATOMIC_RELAXED);
	if (capture->walks) {
		generation = ts_loader_generation(&walker->watch);
		if (ts_stack_cache_renew(*cache, generation))
			notice_gone(walker);
	}
	if (capture->walks && ts_python_is_there(&walker->interpreter) &&
	    ts_python_read(&walker->interpreter, capture->definitions,
			   ts_stack_cache_python(*cache), &python))
		id = capture_python(capture, python);
	else
		id = capture_native(capture, generation);
	errno = saved_errno;
	return id;
}

#if defined(__clang__)
#define TS_NOCLONE
#else
#define TS_NOCLONE __attribute__((noclone))
#endif

/*
 * Neither inlined nor cloned: its frame, with `start` in it, must lie at the same place for the
 * same stack pointer. A sanitizer would move it.
 */
__attribute__((noinline, no_sanitize("address"))) TS_NOCLONE uint32_t
ts_stack_capture(struct ts_stack_walker *walker, struct ts_definitions *definitions,
		 struct ts_stack_cache **cache, uint32_t *ret_flags)
{
	const struct ts_stack_run *run;
	struct ts_stack_start start;
	struct capture capture;
	uint32_t id;

	TS_STACK_HERE(&start);
	/* Force `start` into memory: its words are among the slots. */
	__asm__ volatile("" : : "r"(&start) : "memory");
	/* Python's state is NOT_FOUND if the settings exclude Python. */
	if (ts_likely(TS_STACK_WALKS && *cache && !walker->check &&
		      __atomic_load_n(&walker->watch.works, __ATOMIC_RELAXED) &&
		      !ts_python_is_there(&walker->interpreter))) {
		run = ts_stack_cache_find(*cache, ts_loader_generation(&walker->watch), start.sp);
		if (ts_likely(run != NULL)) {
			if (ts_unlikely(run->truncated))
				*ret_flags |= TS_STACK_CUT;
			return run->id;
		}
	}
	capture = (struct capture){
		.walker = walker,
		.definitions = definitions,
		.start = &start,
		.caller = __builtin_return_address(0),
	};
	id = capture_otherwise(&capture, cache);
	*ret_flags |= capture.flags;
	return id;
}

struct ts_stack_counts ts_stack_counts(const struct ts_stack_walker *walker)
{
	struct ts_stack_counts sum = {0};
	/* Acquire pairs with the release in make_cache(). */
	struct ts_stack_cache *cache = __atomic_load_n(&walker->caches, __ATOMIC_ACQUIRE);

	for (; cache; cache = *ts_stack_cache_next(cache)) {
		const struct ts_stack_counts *counts = ts_stack_cache_counts(cache);

		sum.n_cached += __atomic_load_n(&counts->n_cached, __ATOMIC_RELAXED);
		sum.n_walked += __atomic_load_n(&counts->n_walked, __ATOMIC_RELAXED);
		sum.n_unwound += __atomic_load_n(&counts->n_unwound, __ATOMIC_RELAXED);
		sum.n_python += __atomic_load_n(&counts->n_python, __ATOMIC_RELAXED);
		sum.n_differ += __atomic_load_n(&counts->n_differ, __ATOMIC_RELAXED);
	}
	return sum;
}
