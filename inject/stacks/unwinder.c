/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads libunwind and replaces some of its imports; unwind.c calls this file. stack-cache.c and
 * stack-python.c call ts_unwinder_can_read().
 *
 * Trap: libunwind reads some stack words that no unwind rule guarantees. Before it reads such a
 * word, it asks the kernel whether the word is mapped: it writes the word into a pipe and reads it
 * back. That pipe takes two descriptors of the application, at the lowest free numbers. An
 * application may close unknown descriptors and open its own files under these numbers. libunwind
 * would then write bytes into one file and read from the other.
 *
 * So this file replaces the functions that libunwind imports for the pipe, only in libunwind's own
 * table of imports. The replacements ask the kernel without a descriptor. libunwind's walk over the
 * loaded libraries uses ts_loader_iterate() for the same reason: a library inside another program
 * must leave no trace there.
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

/*
 * No descriptor has this number, and closing it does nothing. -1 would mean that the pipe does not
 * exist yet.
 */
#define NO_DESCRIPTOR (-2)

bool ts_unwinder_can_read(const void *address)
{
	const void *word = (const void *)((uintptr_t)address & ~(uintptr_t)7);

	/*
	 * The kernel first reads the mask, if it is mapped, and then rejects the request: EFAULT or
	 * EINVAL.
	 */
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

/*
 * libunwind empties its pipe byte by byte; this pipe is always empty. Any other read is from a file
 * of libunwind.
 */
static ssize_t replaced_read(int fd, void *bytes, size_t n_bytes)
{
	if (n_bytes != 1)
		return syscall(SYS_read, fd, bytes, n_bytes);
	/*
	 * On EINTR libunwind repeats both calls without checking the result, so errno is always
	 * set.
	 */
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
	/* relocations of the library: those of function calls, and all others */
	const ElfW(Rela) * tables[2];
	size_t n_bytes[2];
	struct {
		uintptr_t start, end;
	} relro;		  /* read-only after relocation */
	unsigned found, replaced; /* one bit per enum import */
};

static void read_dynamic(struct imports *imports)
{
	const ElfW(Dyn) * entry;

	for (entry = imports->map->l_ld; entry->d_tag != DT_NULL; entry++) {
		switch (entry->d_tag) {
		case DT_SYMTAB:
			imports->symbols = ts_loader_address(imports->map->l_addr, entry);
			break;
		case DT_STRTAB:
			imports->strings = ts_loader_address(imports->map->l_addr, entry);
			break;
		case DT_JMPREL:
			imports->tables[0] = ts_loader_address(imports->map->l_addr, entry);
			break;
		case DT_PLTRELSZ:
			imports->n_bytes[0] = entry->d_un.d_val;
			break;
		case DT_RELA:
			imports->tables[1] = ts_loader_address(imports->map->l_addr, entry);
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
 * Returns whether libunwind uses no pipe and its questions to the kernel go to the replacements. A
 * libunwind that imports no pipe is harmless. One whose imports cannot be read or replaced is not
 * used.
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
