/* SPDX-License-Identifier: Apache-2.0 */
/*
 * References of libraries to the functions of hip-symbols.c. A process may have several copies of
 * HIP's runtime, each in the scope of the libraries that were linked with it. The loader binds all
 * their references to this library, and the function there does not see which library calls it:
 * a compiler may turn `return hipMalloc(p, n);` into a jump. So hip-symbols.c has each library's
 * reference rewritten, once, to the function in that library's own scope. hip-symbols.c calls this
 * file; it calls process/loader.c.
 *
 * Trap: the loader's functions that find symbols must not run inside dl_iterate_phdr(), whose lock
 * they need. So references are collected first, and rewritten afterwards.
 */
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inject/hip/hip-references.h"
#include "inject/process/loader.h"
#include "inject/ring/unlocked.h"

#if defined(__x86_64__)
#define RELOCATION_CALL	 R_X86_64_JUMP_SLOT
#define RELOCATION_TABLE R_X86_64_GLOB_DAT
#elif defined(__aarch64__)
#define RELOCATION_CALL	 R_AARCH64_JUMP_SLOT
#define RELOCATION_TABLE R_AARCH64_GLOB_DAT
#else
#error "no relocations are known of this machine"
#endif

/* Further references stay, and reach the function here. */
#define MAX_REFERENCES 8192u

struct reference {
	void **slot;
	const void *library; /* an address inside it */
	uint32_t index;
	bool is_read_only;
};

struct references {
	const struct ts_hip_rebind *rebind;
	uintptr_t own, own_end; /* this library */
	const void *runtime;	/* an address inside the first copy of the runtime; NULL: none */
	size_t n;
	struct reference *found; /* MAX_REFERENCES */
};

struct dynamic {
	const ElfW(Rela) * tables[2];
	size_t n_bytes[2];
	const ElfW(Sym) * symbols;
	const char *strings;
	bool is_runtime, has_runtime; /* it is libamdhip64; it was linked with it */
};

/* True for the name of HIP's runtime. A library may name it by its path. */
static bool is_runtime(const char *name)
{
	static const char prefix[] = "libamdhip64";
	const char *slash = strrchr(name, '/');

	return !strncmp(slash ? slash + 1 : name, prefix, sizeof(prefix) - 1);
}

static void read_dynamic(uintptr_t base, const ElfW(Dyn) * entries, struct dynamic *ret)
{
	const ElfW(Dyn) * entry;

	for (entry = entries; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_STRTAB)
			ret->strings = ts_loader_address(base, entry);
		else if (entry->d_tag == DT_SYMTAB)
			ret->symbols = ts_loader_address(base, entry);
		else if (entry->d_tag == DT_JMPREL)
			ret->tables[0] = ts_loader_address(base, entry);
		else if (entry->d_tag == DT_PLTRELSZ)
			ret->n_bytes[0] = entry->d_un.d_val;
		else if (entry->d_tag == DT_RELA)
			ret->tables[1] = ts_loader_address(base, entry);
		else if (entry->d_tag == DT_RELASZ)
			ret->n_bytes[1] = entry->d_un.d_val;
	}
	for (entry = entries; ret->strings && entry->d_tag != DT_NULL; entry++) {
		if ((entry->d_tag != DT_NEEDED && entry->d_tag != DT_SONAME) ||
		    !is_runtime(ret->strings + entry->d_un.d_val))
			continue;
		ret->has_runtime |= entry->d_tag == DT_NEEDED;
		ret->is_runtime |= entry->d_tag == DT_SONAME;
	}
}

/* The loader makes whole pages of this segment read-only after relocation. */
static bool is_read_only(const struct dl_phdr_info *info, uintptr_t slot)
{
	const uintptr_t mask = ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1);

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_GNU_RELRO)
			return slot >= (start & mask) && slot < ((start + segment->p_memsz) & mask);
	}
	return false;
}

/* Adds a reference if it is one to a function of this library. */
static void add_reference(struct references *references, const struct dl_phdr_info *info,
			  const struct dynamic *dynamic, const ElfW(Rela) * relocation,
			  const void *entries)
{
	const unsigned type = ELF64_R_TYPE(relocation->r_info);
	void **slot = (void **)(info->dlpi_addr + relocation->r_offset);
	uintptr_t function;
	size_t index;

	if (type != RELOCATION_CALL && type != RELOCATION_TABLE)
		return;
	function = (uintptr_t)__atomic_load_n(slot, __ATOMIC_RELAXED);
	if (function < references->own || function >= references->own_end)
		return;
	index = references->rebind->find(dynamic->strings +
					 dynamic->symbols[ELF64_R_SYM(relocation->r_info)].st_name);
	if (index != SIZE_MAX)
		references->found[references->n++] =
			(struct reference){slot, entries, (uint32_t)index,
					   is_read_only(info, (uintptr_t)slot)};
}

static int collect(struct dl_phdr_info *info, size_t size, void *data)
{
	struct references *references = data;
	const ElfW(Dyn) *entries = NULL;
	struct dynamic dynamic = {0};

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entries = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	if (!entries)
		return 0;
	read_dynamic(info->dlpi_addr, entries, &dynamic);
	if (dynamic.is_runtime && !references->runtime)
		references->runtime = entries;
	/* The runtime may call its own functions by such references. */
	if ((!dynamic.is_runtime && !dynamic.has_runtime) || !dynamic.symbols || !dynamic.strings)
		return 0;
	for (size_t table = 0; table < 2; table++) {
		const ElfW(Rela) *relocation = dynamic.tables[table];
		size_t n = relocation ? dynamic.n_bytes[table] / sizeof(*relocation) : 0;

		for (size_t i = 0; i < n && references->n < MAX_REFERENCES; i++)
			add_reference(references, info, &dynamic, &relocation[i], entries);
	}
	return 0;
}

/*
 * One thread at a time, as it changes the protection of a page. If another thread is at it, or
 * without the right to write, the reference stays until its next call.
 */
static void store(const struct reference *reference, void *function)
{
	const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page = (void *)((uintptr_t)reference->slot & ~(page_bytes - 1));

	static uint32_t is_busy;

	/* Acquire: pairs with the release below. */
	if (__atomic_exchange_n(&is_busy, 1, __ATOMIC_ACQUIRE))
		return;
	if (!reference->is_read_only || mprotect(page, page_bytes, PROT_READ | PROT_WRITE) == 0) {
		/* Relaxed, without a pair: both values are functions. */
		__atomic_store_n(reference->slot, function, __ATOMIC_RELAXED);
		if (reference->is_read_only)
			(void)mprotect(page, page_bytes, PROT_READ);
	}
	__atomic_store_n(&is_busy, 0, __ATOMIC_RELEASE);
}

static void *open_library(const void *address, void **ret_base)
{
	Dl_info info;

	if (!address || !dladdr(address, &info) || !info.dli_fname)
		return NULL;
	*ret_base = info.dli_fbase;
	return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/* Finds the place of this library, whose functions the references have. */
static int find_own(struct dl_phdr_info *info, size_t size, void *data)
{
	struct references *references = data;
	const uintptr_t here = (uintptr_t)find_own;
	uintptr_t end = 0;
	bool is_own = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		const uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		is_own |= here >= start && here < start + segment->p_memsz;
		end = start + segment->p_memsz;
	}
	if (is_own) {
		references->own = info->dlpi_addr;
		references->own_end = end;
	}
	return is_own;
}

/* The library of the references that are handled now. */
struct opened {
	const void *address;
	void *library, *base;
};

static void *open_next(struct opened *opened, const void *address)
{
	if (opened->library && opened->address == address)
		return opened->library;
	if (opened->library)
		dlclose(opened->library);
	opened->address = address;
	opened->library = open_library(address, &opened->base);
	return opened->library;
}

/* Rewrites the references to one function, or to all others. Returns the caller's. */
static void *rewrite(const struct references *references, const void *caller_base, size_t index,
		     bool others)
{
	struct opened opened = {NULL};
	void *result = NULL, *function;
	bool keep;

	for (size_t i = 0; i < references->n; i++) {
		const struct reference *reference = &references->found[i];

		/* A rewritten reference has a wrapper, which lies in this library, too. */
		if ((reference->index != index) != others ||
		    __atomic_load_n(reference->slot, __ATOMIC_RELAXED) !=
			    references->rebind->own(reference->index) ||
		    !open_next(&opened, reference->library))
			continue;
		function = references->rebind->choose(opened.library, reference->index, &keep);
		if (function && keep)
			store(reference, function);
		if (function && (!result || opened.base == caller_base))
			result = function;
	}
	if (opened.library)
		dlclose(opened.library);
	return result;
}

void *ts_hip_rebind(const struct ts_hip_rebind *rebind, const void *caller, size_t index)
{
	const size_t n_bytes = MAX_REFERENCES * sizeof(struct reference);
	struct references references = {.rebind = rebind};
	void *result = NULL, *library, *base;
	bool keep;
	Dl_info of_caller = {0};

	references.found = ts_unlocked_map(n_bytes);
	if (!references.found)
		return NULL;
	(void)dladdr(caller, &of_caller);
	(void)ts_loader_iterate(find_own, &references);
	(void)ts_loader_iterate(collect, &references);
	result = rewrite(&references, of_caller.dli_fbase, index, false);
	if (result)
		(void)rewrite(&references, NULL, index, true);
	munmap(references.found, n_bytes);
	/* The library that calls was not linked with the runtime: it relies on another library. */
	library = result ? NULL : open_library(references.runtime, &base);
	if (library) {
		result = rebind->choose(library, index, &keep);
		dlclose(library);
	}
	return result;
}
