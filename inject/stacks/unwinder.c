/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trap: before libunwind reads a word of the stack that no unwinding rule vouches for, it asks the kernel whether the word is
 * there, by writing it into a pipe and reading it back. That pipe is two descriptors in the application's table, at the
 * lowest free numbers; an application that closes what it does not know and opens files of its own under these
 * numbers has bytes written into one and read from the other. So the functions that libunwind imports for it are
 * replaced, in its own table of imports alone, by ones that ask the kernel without a descriptor. Its walk over the
 * loaded libraries goes by ts_loader_iterate() for the same reason: what a library does inside somebody else's
 * program has to leave no trace there.
 */
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "inject/process/loader.h"
#include "inject/stacks/unwinder.h"
#include "proto/abi/base.h"

#if defined(__x86_64__)
#define RELOCATION_TABLE R_X86_64_GLOB_DAT
#define RELOCATION_CALL	 R_X86_64_JUMP_SLOT
#elif defined(__aarch64__)
#define RELOCATION_TABLE R_AARCH64_GLOB_DAT
#define RELOCATION_CALL	 R_AARCH64_JUMP_SLOT
#endif

/* No descriptor has this number, and closing it does nothing. -1 would mean that the pipe is yet to be made. */
#define NO_DESCRIPTOR (-2)

bool ts_unwinder_can_read(const void *address)
{
	const void *word = (const void *)((uintptr_t)address & ~(uintptr_t)7);

	/* The kernel reads the mask, if there is one, first and then finds that it cannot be asked for this: EFAULT or EINVAL. */
	return word && (syscall(SYS_rt_sigprocmask, ~0, word, NULL, 8) == 0 || errno != EFAULT);
}

static int replaced_pipe2(int *ret_ends, int flags)
{
	(void)flags;
	ret_ends[0] = ret_ends[1] = NO_DESCRIPTOR;
	return 0;
}

static int replaced_pipe(int *ret_ends)
{
	return replaced_pipe2(ret_ends, 0);
}

/* The pipe is emptied byte by byte, and is empty. What else is read is a file of libunwind's own. */
static ssize_t replaced_read(int fd, void *bytes, size_t n_bytes)
{
	if (n_bytes != 1)
		return syscall(SYS_read, fd, bytes, n_bytes);
	/* libunwind repeats both on EINTR without looking at the result: errno is always set. */
	errno = EAGAIN;
	return -1;
}

static ssize_t replaced_write(int fd, const void *bytes, size_t n_bytes)
{
	(void)fd;
	if (!ts_unwinder_can_read(bytes)) {
		errno = EFAULT;
		return -1;
	}
	errno = 0;
	return (ssize_t)n_bytes;
}

static long replaced_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	if (number == SYS_write)
		return replaced_write((int)a, (const void *)(uintptr_t)b, (size_t)c);
	return syscall(number, a, b, c, d, e, f);
}

enum import {
	IMPORT_PIPE2,
	IMPORT_PIPE,
	IMPORT_READ,
	IMPORT_WRITE,
	IMPORT_SYSCALL,
	IMPORT_WALK,
	IMPORT_COUNT,
};

struct imports {
	const struct link_map *map;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Rela) * tables[2]; /* of calls, and of everything else */
	size_t n_bytes[2];
	struct {
		uintptr_t start, end;
	} relro;		  /* is read-only once relocated */
	unsigned found, replaced; /* a bit for each enum import */
};

/* glibc makes these addresses; other loaders leave them as they are in the file. */
static const void *dynamic_pointer(const struct link_map *map, const ElfW(Dyn) * entry)
{
	return (const void *)(entry->d_un.d_ptr < map->l_addr ? map->l_addr + entry->d_un.d_ptr
							      : entry->d_un.d_ptr);
}

static void read_dynamic(struct imports *imports)
{
	const ElfW(Dyn) * entry;

	for (entry = imports->map->l_ld; entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			imports->symbols = dynamic_pointer(imports->map, entry);
			break;
		case DT_STRTAB:
			imports->strings = dynamic_pointer(imports->map, entry);
			break;
		case DT_JMPREL:
			imports->tables[0] = dynamic_pointer(imports->map, entry);
			break;
		case DT_PLTRELSZ:
			imports->n_bytes[0] = entry->d_un.d_val;
			break;
		case DT_RELA:
			imports->tables[1] = dynamic_pointer(imports->map, entry);
			break;
		case DT_RELASZ:
			imports->n_bytes[1] = entry->d_un.d_val;
			break;
		default:
			break;
		}
	}
}

static int find_relro(struct dl_phdr_info *info, size_t size, void *data)
{
	struct imports *imports = data;
	int i;

	(void)size;
	if (info->dlpi_addr != imports->map->l_addr ||
	    strcmp(info->dlpi_name, imports->map->l_name))
		return 0;
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

		if (segment->p_type == PT_GNU_RELRO) {
			imports->relro.start = info->dlpi_addr + segment->p_vaddr;
			imports->relro.end = imports->relro.start + segment->p_memsz;
		}
	}
	return 1;
}

static bool store(const struct imports *imports, uintptr_t slot, void *function)
{
	const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)(slot & ~(page_bytes - 1));
	const bool guarded = slot >= imports->relro.start && slot < imports->relro.end;

	if (guarded && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) < 0)
		return false;
	__atomic_store_n((void **)slot, function, __ATOMIC_RELEASE);
	if (guarded)
		(void)mprotect(page, page_bytes, PROT_READ);
	return true;
}

static void replace_one(struct imports *imports, const ElfW(Rela) * relocation)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} replacements[IMPORT_COUNT] = {
		[IMPORT_PIPE2] = {"pipe2", (void (*)(void))replaced_pipe2},
		[IMPORT_PIPE] = {"pipe", (void (*)(void))replaced_pipe},
		[IMPORT_READ] = {"read", (void (*)(void))replaced_read},
		[IMPORT_WRITE] = {"write", (void (*)(void))replaced_write},
		[IMPORT_SYSCALL] = {"syscall", (void (*)(void))replaced_syscall},
		[IMPORT_WALK] = {"dl_iterate_phdr", (void (*)(void))ts_loader_iterate},
	};
	const char *name =
		imports->strings + imports->symbols[ELF64_R_SYM(relocation->r_info)].st_name;
	unsigned i;

	for (i = 0; i < IMPORT_COUNT; i++) {
		if (strcmp(name, replacements[i].name))
			continue;
		imports->found |= 1u << i;
		if (store(imports, imports->map->l_addr + relocation->r_offset,
			  (void *)(uintptr_t)replacements[i].function))
			imports->replaced |= 1u << i;
	}
}

static void replace_all(struct imports *imports)
{
#if defined(RELOCATION_CALL)
	size_t table, i;

	read_dynamic(imports);
	if (!imports->symbols || !imports->strings)
		return;
	(void)ts_loader_iterate(find_relro, imports);
	for (table = 0; table < TS_ARRAY_LEN(imports->tables); table++) {
		const ElfW(Rela) *relocations = imports->tables[table];

		for (i = 0; relocations && i < imports->n_bytes[table] / sizeof(*relocations);
		     i++) {
			unsigned type = ELF64_R_TYPE(relocations[i].r_info);

			if (type == RELOCATION_CALL || type == RELOCATION_TABLE)
				replace_one(imports, &relocations[i]);
		}
	}
#endif
}

/*
 * Harmless: without a pipe, and with its questions to the kernel answered by ours. One that imports no pipe has none;
 * one whose imports cannot be read, or not be replaced, is not used.
 */
static bool is_harmless(const struct imports *imports)
{
	const unsigned asks = 1u << IMPORT_WRITE | 1u << IMPORT_SYSCALL;

	return imports->found && imports->found == imports->replaced &&
	       (!(imports->found & (1u << IMPORT_PIPE2 | 1u << IMPORT_PIPE)) ||
		((imports->found & 1u << IMPORT_READ) && imports->found & asks));
}

void *ts_unwinder_load(void)
{
	void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	struct imports imports = {NULL};
	struct link_map *map = NULL;

	if (!library || dlinfo(library, RTLD_DI_LINKMAP, &map) < 0 || !map)
		return NULL;
	imports.map = map;
	replace_all(&imports);
	return is_harmless(&imports) ? library : NULL;
}
