/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unw_backtrace() remembers how each return address was unwound and takes about 8 ns a frame once it does.
 *
 * Trap: it never forgets. What it remembers is each thread's own and by address alone: flushing libunwind's caches is
 * not for it, and where a library took the place of another it gives frames that were never there. So once a library has
 * gone it is not believed any more, and stacks are gone through step by step, whose caches can be flushed.
 *
 * libunwind is loaded when the GPU is first used and RTLD_LOCAL: its exports include backtrace() and the C++ unwinder's,
 * and would capture those of the whole process were it a needed library of something preloaded.
 */
#include <dlfcn.h>
#include <ucontext.h>

#include "inject/stacks/unwind.h"
#include "inject/stacks/unwinder.h"

#define REGISTER_SP  7
#define REGISTER_IP  16
#define CURSOR_WORDS 256 /* libunwind's own has 127 */
/* Frames of ours between the one asked for and libunwind's. */
#define OWN_FRAMES_MAX 8u

void ts_unwind_init(struct ts_unwind *unwind)
{
	void *library = ts_unwinder_load();
#if defined(__x86_64__)
	void **space;
#endif

	memset(unwind, 0, sizeof(*unwind));
	if (!library)
		return;
	/* ISO C has no conversion between object and function pointers; POSIX's dlsym() has. */
	*(void **)&unwind->backtrace = dlsym(library, "unw_backtrace");
#if defined(__x86_64__)
	*(void **)&unwind->get_context = dlsym(library, "_Ux86_64_getcontext");
	*(void **)&unwind->init_local = dlsym(library, "_ULx86_64_init_local");
	*(void **)&unwind->step = dlsym(library, "_ULx86_64_step");
	*(void **)&unwind->get_register = dlsym(library, "_ULx86_64_get_reg");
	*(void **)&unwind->flush_cache = dlsym(library, "_Ux86_64_flush_cache");
	space = dlsym(library, "_ULx86_64_local_addr_space");
	unwind->address_space = space ? *space : NULL;
#endif
}

void ts_unwind_forget(struct ts_unwind *unwind)
{
	__atomic_store_n(&unwind->stale, 1, __ATOMIC_RELAXED);
	if (unwind->flush_cache && unwind->address_space)
		unwind->flush_cache(unwind->address_space, 0, 0);
}

static uint32_t go_by_steps(const struct ts_unwind *unwind, uint64_t *frames, uintptr_t *at,
			    uint32_t n_max)
{
	uint64_t cursor[CURSOR_WORDS];
	ucontext_t context;
	uint32_t n = 0;
	uintptr_t ip, sp;

	if (!unwind->get_context || !unwind->init_local || !unwind->step || !unwind->get_register ||
	    unwind->get_context(&context) || unwind->init_local(cursor, &context))
		return 0;
	while (n < n_max && unwind->step(cursor) > 0) {
		if (unwind->get_register(cursor, REGISTER_IP, &ip) ||
		    unwind->get_register(cursor, REGISTER_SP, &sp))
			break;
		/* A callee's frame ends where its return address does. */
		at[n] = sp - sizeof(uintptr_t);
		frames[n++] = ip;
	}
	return n;
}

void ts_unwind_full(const struct ts_unwind *unwind, const void *caller, bool by_steps,
		    struct ts_unwound *ret_unwound)
{
	uint64_t frames[TS_STACK_DEPTH_MAX + OWN_FRAMES_MAX];
	uintptr_t at[TS_STACK_DEPTH_MAX + OWN_FRAMES_MAX] = {0};
	uint32_t n, first = 0;

	TS_STATIC_ASSERT(sizeof(void *) == sizeof(frames[0]), "an address fills a frame");
	if (by_steps || __atomic_load_n(&unwind->stale, __ATOMIC_RELAXED)) {
		n = go_by_steps(unwind, frames, at, TS_ARRAY_LEN(frames));
	} else {
		int r = unwind->backtrace((void **)frames, TS_ARRAY_LEN(frames));

		n = r > 0 ? (uint32_t)r : 0;
	}
	while (first < n && first < OWN_FRAMES_MAX && frames[first] != (uintptr_t)caller)
		first++;
	/* _start's caller is 0: no frame. */
	while (n > first && !frames[n - 1])
		n--;
	n -= first;
	ret_unwound->truncated = n >= TS_STACK_DEPTH_MAX;
	ret_unwound->n = n < TS_STACK_DEPTH_MAX ? n : TS_STACK_DEPTH_MAX;
	memcpy(ret_unwound->frames, frames + first, ret_unwound->n * sizeof(frames[0]));
	memcpy(ret_unwound->at, at + first, ret_unwound->n * sizeof(at[0]));
}
