/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mremap() for programs under ThreadSanitizer, which does not know that call. It would compare
 * accesses to the new mapping with accesses to an earlier one at the same address, such as a
 * library that dlclose() unmapped. This version therefore makes the place with mmap(), and frees
 * the old place with munmap(): ThreadSanitizer knows both. The loader may map a library there.
 */
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Makes ThreadSanitizer forget the place that a mapping has left, unless it is in use again. */
static void forget(void *at, size_t n)
{
	void *place =
		mmap(at, n, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (place != MAP_FAILED)
		munmap(place, n);
}

EXPORT void *mremap(void *at, size_t n_old, size_t n_new, int flags, ...)
{
	void *place =
		mmap(NULL, n_new, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	long r;

	if (place == MAP_FAILED)
		return MAP_FAILED;
	r = syscall(SYS_mremap, at, n_old, n_new, flags | MREMAP_FIXED, place);
	if (r == -1)
		munmap(place, n_new);
	else if (n_old)
		forget(at, n_old);
	return (void *)r;
}
