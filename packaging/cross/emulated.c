/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded into programs under qemu-user, for calls that QEMU 7.2 refuses. setup.sh builds this
 * library, and run.sh names it to the loader; nothing is installed.
 *
 * mremap() with an old length of 0: the shim maps more of its memfd by it (inject/ring/unlocked.c).
 * The virtual GPU maps shared anonymous memory again by it (replay/vgpu/vgpu-map.c). Here mmap() of
 * the same file does it. The file is found by its descriptor in the thread that made it, because
 * the shim's link thread has descriptors of its own. The thread must still exist, or be of a forked
 * parent, and the descriptor must be open. So shared anonymous memory gets a memfd here, whose
 * descriptor stays open until munmap() of the memory.
 *
 * mremap() to 8 GiB and more: the virtual GPU reserves its devices' memory by it. QEMU 7.2 has a
 * structure for each page of a mapping, so a reservation took minutes and gigabytes. Here only the
 * first 4 GiB are mapped. They have a place where mmap() puts nothing, so the addresses after them
 * stay free. For the same reason mmap() of more than 1 TiB fails here.
 *
 * clone() with CLONE_VM and CLONE_VFORK, and another signal than SIGCHLD at the end: the shim
 * starts a private daemon by it (inject/process/spawn-detached.c). Here fork() does it, so the
 * caller does not get the child's error.
 *
 * seccomp_init() and seccomp_load() of libseccomp: the daemon's worker does not run without a
 * filter. Here the filter is left out, so an emulated worker is not confined.
 *
 * process_vm_readv() of the own process: the shim and the daemon's sampler read memory by it that
 * may be unmapped. Here /proc/self/mem does it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT	  __attribute__((visibility("default")))
#define N_KEPT	  256u
#define MAPS_LINE 512
#define HUGE	  ((size_t)1 << 40)
#define LARGE	  ((size_t)8 << 30)
#define LARGE_MAP ((size_t)4 << 30)
#define LARGE_GAP ((uintptr_t)1 << 38)
#define LARGE_AT  ((uintptr_t)1 << 45)
#define N_LARGE	  256u

struct file {
	long tid;
	int fd;
	ino_t inode;
	void *at; /* shared anonymous memory, or NULL */
};

EXPORT void *mmap64(void *at, size_t n_bytes, int protection, int flags, int fd, off_t off);
EXPORT void *seccomp_init(uint32_t action);
EXPORT int seccomp_load(const void *filter);

static struct file files[N_KEPT]; /* the last ones */
static unsigned n_files;
static uint8_t is_large[N_LARGE]; /* a large mapping is at the place of this number */

static void keep(int fd, void *at)
{
	struct stat status;

	if (!fstat(fd, &status)) {
		unsigned i = __atomic_fetch_add(&n_files, 1, __ATOMIC_RELAXED) % N_KEPT;

		files[i] = (struct file){syscall(SYS_gettid), fd, status.st_ino, at};
	}
}

EXPORT int memfd_create(const char *name, unsigned flags)
{
	int fd = (int)syscall(SYS_memfd_create, name, flags);

	if (fd >= 0)
		keep(fd, NULL);
	return fd;
}

EXPORT void *mmap(void *at, size_t n_bytes, int protection, int flags, int fd, off_t off)
{
	const int kinds = MAP_SHARED | MAP_ANONYMOUS;
	void *mapped;

	if (n_bytes > HUGE) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	if ((flags & kinds) != kinds || (flags & MAP_PRIVATE))
		return (void *)syscall(SYS_mmap, at, n_bytes, protection, flags, fd, off);
	fd = (int)syscall(SYS_memfd_create, "anonymous", MFD_CLOEXEC);
	if (fd < 0)
		return MAP_FAILED;
	mapped = ftruncate(fd, (off_t)n_bytes) ? MAP_FAILED
					       : (void *)syscall(SYS_mmap, at, n_bytes, protection,
								 flags & ~MAP_ANONYMOUS, fd, 0);
	if (mapped == MAP_FAILED)
		close(fd);
	else
		keep(fd, mapped);
	return mapped;
}

EXPORT void *mmap64(void *at, size_t n_bytes, int protection, int flags, int fd, off_t off)
{
	return mmap(at, n_bytes, protection, flags, fd, off);
}

static void *map_large(void *at, size_t n_old)
{
	void *place, *mapped;

	for (unsigned i = 0; i < N_LARGE; i++) {
		if (__atomic_exchange_n(&is_large[i], 1, __ATOMIC_ACQ_REL))
			continue;
		place = (void *)(LARGE_AT + i * LARGE_GAP);
		mapped = (void *)syscall(SYS_mremap, at, n_old, LARGE_MAP,
					 MREMAP_MAYMOVE | MREMAP_FIXED, place);
		if (mapped == MAP_FAILED)
			__atomic_store_n(&is_large[i], 0, __ATOMIC_RELEASE);
		return mapped;
	}
	errno = ENOMEM;
	return MAP_FAILED;
}

static int unmap_large(void *at)
{
	unsigned i = (unsigned)(((uintptr_t)at - LARGE_AT) / LARGE_GAP);
	int r = (int)syscall(SYS_munmap, at, LARGE_MAP);

	if (!r)
		__atomic_store_n(&is_large[i], 0, __ATOMIC_RELEASE);
	return r;
}

EXPORT int munmap(void *at, size_t n_bytes)
{
	if ((uintptr_t)at - LARGE_AT < N_LARGE * LARGE_GAP && n_bytes >= LARGE)
		return unmap_large(at);
	for (unsigned i = 0; at && i < N_KEPT; i++) {
		if (files[i].at == at) {
			close(files[i].fd);
			files[i] = (struct file){0};
		}
	}
	return (int)syscall(SYS_munmap, at, n_bytes);
}

/* Finds the mapping that contains the address: its file's inode and the address's offset there. */
static int find_mapping(uintptr_t at, ino_t *ret_inode, off_t *ret_off)
{
	uintptr_t start, end, off;
	unsigned long inode;
	char line[MAPS_LINE];
	FILE *maps = fopen("/proc/self/maps", "re");
	int found = 0;

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*s %" SCNxPTR " %*s %lu", &start, &end,
			   &off, &inode) == 4 &&
		    at >= start && at < end) {
			*ret_inode = inode;
			*ret_off = (off_t)(off + (at - start));
			found = 1;
		}
	}
	if (maps)
		fclose(maps);
	return found;
}

static int open_file(ino_t inode)
{
	struct stat status;
	char path[64];
	unsigned i;
	int fd;

	for (i = 0; i < N_KEPT; i++) {
		if (!files[i].tid || files[i].inode != inode)
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%ld/fd/%d", files[i].tid,
			 files[i].fd);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			snprintf(path, sizeof(path), "/proc/self/fd/%d", files[i].fd);
			fd = open(path, O_RDWR | O_CLOEXEC);
		}
		if (fd >= 0 && !fstat(fd, &status) && status.st_ino == inode)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -1;
}

static void *map_again(const void *at, size_t n_bytes, int flags, void *place)
{
	int fixed = flags & MREMAP_FIXED ? MAP_FIXED : 0;
	void *mapped = MAP_FAILED;
	ino_t inode;
	off_t off;
	int fd;

	if (!find_mapping((uintptr_t)at, &inode, &off)) {
		errno = EFAULT;
		return MAP_FAILED;
	}
	fd = open_file(inode);
	if (fd < 0)
		return MAP_FAILED;
	mapped = mmap(place, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, fd, off);
	close(fd);
	if (mapped != MAP_FAILED)
		madvise(mapped, n_bytes, MADV_DONTFORK);
	return mapped;
}

EXPORT void *mremap(void *at, size_t n_old, size_t n_new, int flags, ...)
{
	void *place = NULL;
	va_list rest;

	va_start(rest, flags);
	if (flags & MREMAP_FIXED)
		place = va_arg(rest, void *);
	va_end(rest);
	if (!n_old)
		return map_again(at, n_new, flags, place);
	if (n_new >= LARGE && flags == MREMAP_MAYMOVE)
		return map_large(at, n_old);
	return (void *)syscall(SYS_mremap, at, n_old, n_new, flags, place);
}

EXPORT int clone(int (*run)(void *), void *stack, int flags, void *data, ...)
{
	const int vfork_flags = CLONE_VM | CLONE_VFORK;
	int (*next)(int (*)(void *), void *, int, void *, ...);
	pid_t pid;

	if ((flags & ~(vfork_flags | SIGCHLD)) || (flags & vfork_flags) != vfork_flags) {
		*(void **)&next = dlsym(RTLD_NEXT, "clone");
		return next(run, stack, flags, data);
	}
	pid = fork();
	if (!pid)
		_exit(run(data));
	return pid;
}

EXPORT void *seccomp_init(uint32_t action)
{
	void *(*next)(uint32_t);
	int (*set_level)(unsigned);

	*(void **)&next = dlsym(RTLD_NEXT, "seccomp_init");
	*(void **)&set_level = dlsym(RTLD_NEXT, "seccomp_api_set");
	/* The library itself would find that the kernel knows no action of a filter. */
	if (set_level)
		set_level(3);
	return next ? next(action) : NULL;
}

EXPORT int seccomp_load(const void *filter)
{
	(void)filter;
	return 0;
}

/* As the kernel does, reads up to the first address that is not mapped. */
EXPORT ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long n_local,
				const struct iovec *remote, unsigned long n_remote,
				unsigned long flags)
{
	size_t local_off = 0, remote_off = 0, total = 0;
	int fd;

	if (pid != getpid() || flags) {
		errno = ENOSYS;
		return -1;
	}
	fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	while (n_local && n_remote) {
		size_t n_local_bytes = local->iov_len - local_off;
		size_t n_remote_bytes = remote->iov_len - remote_off;
		size_t n_bytes = n_local_bytes < n_remote_bytes ? n_local_bytes : n_remote_bytes;
		ssize_t n = n_bytes ? pread(fd, (char *)local->iov_base + local_off, n_bytes,
					    (off_t)((uintptr_t)remote->iov_base + remote_off))
				    : 0;

		if (n < 0 || (n == 0 && n_bytes))
			break;
		total += (size_t)n;
		if ((size_t)n < n_bytes)
			break;
		local_off += n_bytes;
		remote_off += n_bytes;
		if (local_off == local->iov_len) {
			local++;
			n_local--;
			local_off = 0;
		}
		if (remote_off == remote->iov_len) {
			remote++;
			n_remote--;
			remote_off = 0;
		}
	}
	close(fd);
	if (!total && n_local && n_remote) {
		errno = EFAULT;
		return -1;
	}
	return (ssize_t)total;
}
