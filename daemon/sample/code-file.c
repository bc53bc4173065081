/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the tables and symbols of an ELF file with code, for the sampler. sample-image.c maps the
 * file and calls this module; ts_cfi_search() (proto/abi/cfi.h) searches the rules. Each offset and
 * count in the file is checked before its use; the fuzz target is test/fuzz/fuzz-code-file.c.
 */
#include "daemon/sample/code-file.h"

#include <elf.h>

static const Elf64_Phdr *headers_of(const struct ts_code_file *file, size_t *ret_n)
{
	const Elf64_Ehdr *header = (const void *)file->bytes;

	*ret_n = 0;
	if (file->n_bytes < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) ||
	    header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64 ||
	    header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phoff % 8 ||
	    header->e_phoff > file->n_bytes ||
	    header->e_phnum > (file->n_bytes - header->e_phoff) / sizeof(Elf64_Phdr))
		return NULL;
	*ret_n = header->e_phnum;
	return (const void *)(file->bytes + header->e_phoff);
}

static bool is_inside(const struct ts_code_file *file, uint64_t off, uint64_t n_bytes)
{
	return off <= file->n_bytes && n_bytes <= file->n_bytes - off;
}

bool ts_code_file_look(struct ts_code_file *file, uint64_t off, uint64_t *ret_own)
{
	const Elf64_Phdr *headers, *table = NULL;
	bool has_own = false;
	size_t n;

	headers = headers_of(file, &n);
	for (size_t i = 0; i < n; i++) {
		const Elf64_Phdr *header = &headers[i];

		if (header->p_type == PT_GNU_EH_FRAME)
			table = header;
		if (header->p_type == PT_DYNAMIC &&
		    is_inside(file, header->p_offset, header->p_filesz)) {
			file->dynamic = header->p_offset;
			file->dynamic_bytes = header->p_filesz;
		}
		/* A mapping begins at the page that holds the start of the segment. */
		if (header->p_type == PT_LOAD && header->p_flags & PF_X && !has_own &&
		    off + 4096 > header->p_offset && off < header->p_offset + header->p_filesz) {
			*ret_own = header->p_vaddr + off - header->p_offset;
			has_own = true;
		}
	}
	for (size_t i = 0; table && i < n; i++) {
		const Elf64_Phdr *header = &headers[i];

		if (header->p_type != PT_LOAD || table->p_vaddr < header->p_vaddr ||
		    table->p_vaddr - header->p_vaddr >= header->p_filesz ||
		    !is_inside(file, header->p_offset, header->p_filesz))
			continue;
		file->table = table->p_vaddr;
		file->segment = header->p_vaddr;
		file->segment_bytes = header->p_filesz;
		file->segment_off = header->p_offset;
	}
	return has_own;
}

/* Finds the offset in the file of one of its own addresses. False: no segment has it. */
static bool place_of(const struct ts_code_file *file, uint64_t own, uint64_t *ret_off)
{
	const Elf64_Phdr *headers;
	size_t n;

	headers = headers_of(file, &n);
	for (size_t i = 0; i < n; i++)
		if (headers[i].p_type == PT_LOAD && own >= headers[i].p_vaddr &&
		    own - headers[i].p_vaddr < headers[i].p_filesz) {
			*ret_off = headers[i].p_offset + (own - headers[i].p_vaddr);
			return true;
		}
	return false;
}

bool ts_code_file_symbol(const struct ts_code_file *file, const char *name, uint64_t *ret_own,
			 uint64_t *ret_bytes)
{
	const Elf64_Dyn *entries = (const void *)(file->bytes + file->dynamic);
	size_t n = file->dynamic_bytes / sizeof(*entries), n_name = strlen(name) + 1;
	uint64_t symbols = 0, strings = 0, n_strings = 0, off, strings_off;

	if (!n || file->dynamic % 8)
		return false;
	for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++) {
		if (entries[i].d_tag == DT_SYMTAB)
			symbols = entries[i].d_un.d_ptr;
		else if (entries[i].d_tag == DT_STRTAB)
			strings = entries[i].d_un.d_ptr;
		else if (entries[i].d_tag == DT_STRSZ)
			n_strings = entries[i].d_un.d_val;
	}
	/*
	 * Linkers put the strings right after the symbols. Without a hash table, the distance is
	 * the only source for the number of symbols.
	 */
	if (!place_of(file, symbols, &off) || !place_of(file, strings, &strings_off) ||
	    !is_inside(file, strings_off, n_strings) || off % 8 || strings_off < off)
		return false;
	for (; off + sizeof(Elf64_Sym) <= strings_off; off += sizeof(Elf64_Sym)) {
		const Elf64_Sym *symbol = (const void *)(file->bytes + off);

		if (symbol->st_shndx != SHN_UNDEF && symbol->st_name < n_strings &&
		    n_name <= n_strings - symbol->st_name &&
		    !memcmp(file->bytes + strings_off + symbol->st_name, name, n_name)) {
			*ret_own = symbol->st_value;
			*ret_bytes = symbol->st_size;
			return true;
		}
	}
	return false;
}

struct ts_cfi_rule ts_code_file_rule(const struct ts_code_file *file, uint64_t own)
{
	struct ts_cfi_query query = {0};
	uint64_t shift;

	if (!file->table)
		return query.rule;
	query.first = (uintptr_t)(file->bytes + file->segment_off);
	query.end = query.first + file->segment_bytes;
	shift = query.first - file->segment;
	query.address = (uintptr_t)(own + shift);
	ts_cfi_search(&query, (uintptr_t)(file->table + shift));
	return query.rule;
}

bool ts_code_file_has(const struct ts_code_file *file, uint64_t off, const void *bytes, size_t n)
{
	return is_inside(file, off, n) && !memcmp(file->bytes + off, bytes, n);
}
