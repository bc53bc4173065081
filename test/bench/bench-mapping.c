/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces mmap(), mremap() and munmap() in a program that runs under valgrind; instructions.py
 * preloads it. The shim maps more of its memfd by mremap() with an old length of 0
 * (inject/ring/unlocked.h), which valgrind refuses. This library maps the whole file at once, and
 * answers from that mapping. It calls the kernel.
 */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT	 __attribute__((visibility("default")))
#define MAX_MAPS 16

/* A shared mapping of a part of a file, and the mapping of the whole file. */
struct mapped {
	uintptr_t part, whole;
	size_t n_part, n_whole, off;
};

static struct mapped mapped[MAX_MAPS];
static unsigned n_mapped;

/* With offsets of 64 bits, the headers name this function mmap64(), as they do in the shim. */
EXPORT void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t off)
{
	const long part = syscall(SYS_mmap, at, n, protection, flags, fd, off);
	struct stat status;
	long whole;

	if (part == -1 || !(flags & MAP_SHARED) || fd < 0 || n_mapped == MAX_MAPS ||
	    fstat(fd, &status) || (size_t)status.st_size <= n + (size_t)off)
		return (void *)part;
	whole = syscall(SYS_mmap, NULL, status.st_size, protection, flags, fd, 0);
	if (whole != -1)
		mapped[n_mapped++] = (struct mapped){(uintptr_t)part, (uintptr_t)whole, n,
						     (size_t)status.st_size, (size_t)off};
	return (void *)part;
}

EXPORT void *mremap(void *at, size_t n_old, size_t n_new, int flags, ...)
{
	const uintptr_t address = (uintptr_t)at;

	for (unsigned i = 0; !n_old && i < n_mapped; i++) {
		if (address - mapped[i].whole < mapped[i].n_whole)
			return at;
		if (address - mapped[i].part < mapped[i].n_part)
			return (void *)(mapped[i].whole + mapped[i].off +
					(address - mapped[i].part));
	}
	return (void *)syscall(SYS_mremap, at, n_old, n_new, flags, NULL);
}

/* A part of the mapping of a whole file stays: another part of the shim may use it. */
EXPORT int munmap(void *at, size_t n)
{
	for (unsigned i = 0; i < n_mapped; i++)
		if ((uintptr_t)at - mapped[i].whole < mapped[i].n_whole)
			return 0;
	return (int)syscall(SYS_munmap, at, n);
}
