/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the offsets of functions in a file, for probes. main.c calls this module. The dynamic
 * symbol table is read once for all names; the segments give the offset of an address.
 */
#include "daemon/worker/offsets.h"

#include <gelf.h>

struct wanted {
	const char *name;
	size_t at;
};

static int compare(const void *a, const void *b)
{
	const struct wanted *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Returns the offset in the file of an address; 0: the file has no code there. */
static uint64_t place_of(Elf *elf, size_t n_segments, uint64_t address)
{
	GElf_Phdr segment;

	for (size_t i = 0; i < n_segments; i++)
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_flags & PF_X && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz)
			return address - segment.p_vaddr + segment.p_offset;
	return 0;
}

static void read_symbols(Elf *elf, Elf_Data *data, size_t strings, const struct wanted *wanted,
			 size_t n, uint64_t *ret_offsets)
{
	size_t n_segments = 0;
	GElf_Sym symbol;

	if (elf_getphdrnum(elf, &n_segments))
		return;
	for (int i = 1; gelf_getsym(data, i, &symbol); i++) {
		struct wanted key = {0};
		const struct wanted *found;

		if (symbol.st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
			continue;
		key.name = elf_strptr(elf, strings, symbol.st_name);
		found = key.name ? bsearch(&key, wanted, n, sizeof(*wanted), compare) : NULL;
		if (found)
			ret_offsets[found->at] = place_of(elf, n_segments, symbol.st_value);
	}
}

static int find(Elf *elf, const struct wanted *wanted, size_t n, uint64_t *ret_offsets)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Ehdr head;

	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &head) ||
	    head.e_machine != EM_X86_64)
		return -ENOEXEC;
	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_DYNSYM ||
		    !header.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		if (data && data->d_buf)
			read_symbols(elf, data, header.sh_link, wanted, n, ret_offsets);
	}
	return 0;
}

int ts_elf_offsets(int fd, char *const *names, size_t n, uint64_t *ret_offsets)
{
	ts_cleanup(ts_freep) struct wanted *wanted = calloc(n + 1, sizeof(*wanted));
	Elf *elf;
	int r;

	if (!wanted) {
		ts_closep(&fd);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		wanted[i] = (struct wanted){names[i], i};
	qsort(wanted, n, sizeof(*wanted), compare);
	memset(ret_offsets, 0, n * sizeof(*ret_offsets));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	r = find(elf, wanted, n, ret_offsets);
	elf_end(elf);
	ts_closep(&fd);
	return r;
}
