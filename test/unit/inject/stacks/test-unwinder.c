/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests libunwind in the shim: the shim answers libunwind's queries about memory correctly, and
 * without a descriptor.
 */
#include <dlfcn.h>
#include <sys/mman.h>

#include "inject/stacks/unwinder.h"
#include "test/unit/harness.h"

TS_TEST(what_can_be_read)
{
	uint8_t *pages =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	sigset_t before, after;

	ts_check(pages != MAP_FAILED);
	ts_check_int(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	memset(pages, 0xff, 4096);
	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	sigprocmask(SIG_SETMASK, NULL, &before);
	ts_check(ts_unwinder_can_read(pages));
	ts_check(ts_unwinder_can_read(pages + 4095));
	ts_check(!ts_unwinder_can_read(pages + 4096));
	ts_check(!ts_unwinder_can_read(NULL));
	/* The probe, a failing sigprocmask() call, must not have changed the signal mask. */
	sigprocmask(SIG_SETMASK, NULL, &after);
	ts_check(!memcmp(&before, &after, sizeof(before)));
	munmap(pages, 8192);
}

/* The harness counts descriptors. A stale errno must not cause an endless retry. */
TS_TEST(no_descriptor_and_no_loop)
{
	int (*backtrace)(void **frames, int n_frames);
	void *library = ts_unwinder_load(), *frames[64];

	if (!library)
		ts_skip("no libunwind");
	*(void **)&backtrace = dlsym(library, "unw_backtrace");
	ts_check(backtrace);
	errno = EINTR;
	ts_check(backtrace(frames, 64) > 2);
	errno = EINTR;
	ts_check(backtrace(frames, 64) > 2);
}
