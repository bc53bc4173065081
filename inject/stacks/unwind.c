/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls libunwind; stack.c and flush.c call this file.
 *
 * unw_backtrace() caches how it unwound each return address, and then takes about 8 ns a frame.
 * Trap: it never forgets. Its cache is per thread and by address alone, and flushing libunwind's
 * caches does not flush it. If another library takes the place of an unloaded one, unw_backtrace()
 * returns frames that never existed. So after an unload this file does not use it any more and
 * unwinds step by step; the caches of that method can be flushed.
 *
 * libunwind is loaded at the first use of the GPU, with RTLD_LOCAL. Its exports include backtrace()
 * and the C++ unwinder's functions. If a preloaded library needed it, these functions would replace
 * the usual ones in the whole process.
 */
#include <dlfcn.h>
#include <ucontext.h>

#include "inject/stacks/unwind.h"
#include "inject/stacks/unwinder.h"

#if defined(__aarch64__)
#define MACHINE	    "aarch64"
#define REGISTER_SP 31
#define REGISTER_IP 30
#else
#define MACHINE	    "x86_64"
#define REGISTER_SP 7
#define REGISTER_IP 16
#endif
#define CURSOR_WORDS 256 /* libunwind's cursor has 127 on x86-64 and 250 on aarch64 */
/* Limit of the shim's frames between the requested function and libunwind. */
#define OWN_FRAMES_MAX 8u

void ts_unwind_init(struct ts_unwind *unwind)
{
	void *library = ts_unwinder_load();
	void **space;

	memset(unwind, 0, sizeof(*unwind));
	if (!library)
		return;
	/*
	 * ISO C has no conversion between object and function pointers; POSIX has one for dlsym().
	 */
	*(void **)&unwind->backtrace = dlsym(library, "unw_backtrace");
	*(void **)&unwind->get_context = dlsym(library, "_U" MACHINE "_getcontext");
	*(void **)&unwind->init_local = dlsym(library, "_UL" MACHINE "_init_local");
	*(void **)&unwind->step = dlsym(library, "_UL" MACHINE "_step");
	*(void **)&unwind->get_register = dlsym(library, "_UL" MACHINE "_get_reg");
	*(void **)&unwind->flush_cache = dlsym(library, "_U" MACHINE "_flush_cache");
	space = dlsym(library, "_UL" MACHINE "_local_addr_space");
	unwind->address_space = space ? *space : NULL;
}

void ts_unwind_forget(struct ts_unwind *unwind)
{
	__atomic_store_n(&unwind->stale, 1, __ATOMIC_RELAXED);
	if (unwind->flush_cache && unwind->address_space)
		unwind->flush_cache(unwind->address_space, 0, 0);
}

#if defined(__aarch64__)
/*
 * Stores the registers that an unwind needs: those that a function preserves. libunwind has a macro
 * in its header instead of a function. Always inlined, so that the frame still exists afterwards.
 */
static inline __attribute__((always_inline)) int get_context(const struct ts_unwind *unwind,
							     ucontext_t *context)
{
	uint64_t pc, sp;

	(void)unwind;
	__asm__ volatile("stp x19, x20, [%2, #152]\n\t"
			 "stp x21, x22, [%2, #168]\n\t"
			 "stp x23, x24, [%2, #184]\n\t"
			 "stp x25, x26, [%2, #200]\n\t"
			 "stp x27, x28, [%2, #216]\n\t"
			 "stp x29, x30, [%2, #232]\n\t"
			 "mov %1, sp\n\t"
			 "adr %0, ."
			 : "=&r"(pc), "=&r"(sp)
			 : "r"(context->uc_mcontext.regs)
			 : "memory");
	context->uc_mcontext.sp = sp;
	context->uc_mcontext.pc = pc;
	return 0;
}
#else
static inline int get_context(const struct ts_unwind *unwind, ucontext_t *context)
{
	return unwind->get_context ? unwind->get_context(context) : -1;
}
#endif

static uint32_t go_by_steps(const struct ts_unwind *unwind, uint64_t *frames, uintptr_t *at,
			    uint32_t n_max)
{
	uint64_t cursor[CURSOR_WORDS];
	ucontext_t context;
	uint32_t n = 0;
	uintptr_t ip, sp;

	if (!unwind->init_local || !unwind->step || !unwind->get_register ||
	    get_context(unwind, &context) || unwind->init_local(cursor, &context))
		return 0;
	while (n < n_max && unwind->step(cursor) > 0) {
		if (unwind->get_register(cursor, REGISTER_IP, &ip) ||
		    unwind->get_register(cursor, REGISTER_SP, &sp))
			break;
		at[n] = sp - sizeof(uintptr_t);
		frames[n++] = ip;
	}
	return n;
}

/*
 * Returns the return address that libunwind means. On aarch64, unw_backtrace() returns the address
 * before it (seen in 1.6), but every return address is a multiple of 4.
 */
static inline uint64_t correct(uint64_t frame)
{
#if defined(__aarch64__)
	return (ts_unwind_strip(frame) + 3) & ~UINT64_C(3);
#else
	return frame;
#endif
}

void ts_unwind_full(const struct ts_unwind *unwind, const void *caller, bool by_steps,
		    struct ts_unwound *ret_unwound)
{
	uint64_t frames[TS_STACK_DEPTH_MAX + OWN_FRAMES_MAX];
	uintptr_t at[TS_STACK_DEPTH_MAX + OWN_FRAMES_MAX] = {0};
	uint32_t n, i, first = 0;

	TS_STATIC_ASSERT(sizeof(void *) == sizeof(frames[0]), "an address fills a frame");
	if (by_steps || __atomic_load_n(&unwind->stale, __ATOMIC_RELAXED)) {
		n = go_by_steps(unwind, frames, at, TS_ARRAY_LEN(frames));
	} else {
		int r = unwind->backtrace((void **)frames, TS_ARRAY_LEN(frames));

		n = r > 0 ? (uint32_t)r : 0;
	}
	for (i = 0; i < n; i++)
		frames[i] = correct(frames[i]);
	while (first < n && first < OWN_FRAMES_MAX && frames[first] != (uintptr_t)caller)
		first++;
	/* The caller of _start is 0, which is no frame. */
	while (n > first && !frames[n - 1])
		n--;
	n -= first;
	ret_unwound->truncated = n >= TS_STACK_DEPTH_MAX;
	ret_unwound->n = n < TS_STACK_DEPTH_MAX ? n : TS_STACK_DEPTH_MAX;
	memcpy(ret_unwound->frames, frames + first, ret_unwound->n * sizeof(frames[0]));
	memcpy(ret_unwound->at, at + first, ret_unwound->n * sizeof(at[0]));
}
