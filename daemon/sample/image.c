/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind.c asks for rules, python.c for symbols. A mapping of code keeps its file mapped here, whole and read-only, for as long as the process
 * maps it. Rules are looked up by proto/abi/cfi.h in the segment that holds .eh_frame_hdr.
 */
#include "daemon/sample/image.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "daemon/util/error.h"
#include "proto/abi/clock.h"

#define REFRESH_NS UINT64_C(100000000)
#define PATH_BYTES 4096u

/* A file, or the vDSO: its bytes here, and its own addresses. */
struct file {
	const uint8_t *bytes; /* NULL: it could not be read */
	size_t n_bytes;
	bool is_mapped;				      /* by us */
	uint64_t table;				      /* own address of .eh_frame_hdr; 0: none */
	uint64_t segment, segment_bytes, segment_off; /* that holds it */
	uint64_t dynamic, dynamic_bytes;	      /* place in the file */
};

struct mapping {
	uint64_t start, end;
	uint64_t bias; /* address in the process less the file's own */
	uint64_t device, inode, off;
	char *path;
	struct file file;
};

struct ts_images {
	pid_t pid;
	struct mapping *mappings; /* by address */
	size_t n_mappings;
	uint64_t generation, looked_ns;
};

/* ---- files -------------------------------------------------------------------------------------- */

static const Elf64_Phdr *headers_of(const struct file *file, size_t *ret_n)
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

static bool is_inside(const struct file *file, uint64_t off, uint64_t n_bytes)
{
	return off <= file->n_bytes && n_bytes <= file->n_bytes - off;
}

/* Finds the tables. The file's own address of the byte at `off`, which is code, goes to *ret_own. False: it is no such file. */
static bool look_into(struct file *file, uint64_t off, uint64_t *ret_own)
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
		/* A mapping begins at the page that holds the segment's beginning. */
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

static void file_deinit(struct file *file)
{
	if (file->is_mapped)
		munmap((void *)(uintptr_t)file->bytes, file->n_bytes);
	*file = (struct file){0};
}

static void read_file(struct file *file, pid_t pid, const char *path)
{
	char name[PATH_BYTES + 32];
	ts_cleanup(ts_closep) int fd = -1;
	struct stat status;
	void *bytes;

	snprintf(name, sizeof(name), "/proc/%d/root%s", pid, path);
	fd = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size <= 0)
		return;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return;
	file->bytes = bytes;
	file->n_bytes = (size_t)status.st_size;
	file->is_mapped = true;
}

static void open_mapping(struct mapping *mapping, pid_t pid)
{
	uint64_t own = 0;

	if (!strcmp(mapping->path, "[vdso]")) {
		mapping->file.bytes = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
		mapping->file.n_bytes = mapping->file.bytes ? mapping->end - mapping->start : 0;
	} else if (*mapping->path == '/') {
		read_file(&mapping->file, pid, mapping->path);
	}
	if (!mapping->file.bytes)
		return;
	if (look_into(&mapping->file, mapping->off, &own))
		mapping->bias = mapping->start - own;
	else
		file_deinit(&mapping->file);
}

/* ---- /proc/PID/maps ----------------------------------------------------------------------------- */

static void mapping_deinit(struct mapping *mapping)
{
	file_deinit(&mapping->file);
	free(mapping->path);
}

/* False: the line is not of code. */
static bool parse(const char *line, struct mapping *ret_mapping, const char **ret_path)
{
	unsigned long start, end, off, inode;
	unsigned major, minor;
	char rights[5];
	int n = 0;

	if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %n", &start, &end, rights, &off, &major, &minor,
		   &inode, &n) < 7 ||
	    rights[2] != 'x' || !n)
		return false;
	*ret_mapping = (struct mapping){.start = start,
					.end = end,
					.off = off,
					.device = (uint64_t)major << 32 | minor,
					.inode = inode};
	*ret_path = line + n;
	return true;
}

/* What was known of the same mapping is kept. */
static bool take_known(struct ts_images *images, struct mapping *mapping)
{
	for (size_t i = 0; i < images->n_mappings; i++) {
		struct mapping *known = &images->mappings[i];

		if (known->path && known->start == mapping->start && known->end == mapping->end &&
		    known->off == mapping->off && known->device == mapping->device &&
		    known->inode == mapping->inode && !strcmp(known->path, mapping->path)) {
			free(mapping->path);
			*mapping = *known;
			*known = (struct mapping){0};
			return true;
		}
	}
	return false;
}

static void look(struct ts_images *images)
{
	struct mapping *mappings = calloc(TS_IMAGES_MAX, sizeof(*mappings));
	size_t n = 0, n_allocated = 0;
	bool changed = false;
	char path[64], *line = NULL;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", images->pid);
	file = mappings ? fopen(path, "re") : NULL;
	while (file && n < TS_IMAGES_MAX && getline(&line, &n_allocated, file) > 0) {
		struct mapping *mapping = &mappings[n];
		const char *name;

		line[strcspn(line, "\n")] = '\0';
		if (!parse(line, mapping, &name) || strlen(name) >= PATH_BYTES)
			continue;
		mapping->path = strdup(name);
		if (!mapping->path)
			break;
		if (!take_known(images, mapping)) {
			open_mapping(mapping, images->pid);
			changed = true;
		}
		n++;
	}
	free(line);
	if (!file || !n) {
		/* The process is gone: what was known still explains its last samples. */
		free(mappings);
		if (file)
			fclose(file);
		return;
	}
	fclose(file);
	for (size_t i = 0; i < images->n_mappings; i++) {
		changed |= images->mappings[i].path != NULL;
		mapping_deinit(&images->mappings[i]);
	}
	free(images->mappings);
	images->mappings = mappings;
	images->n_mappings = n;
	images->generation += changed;
}

void ts_images_refresh(struct ts_images *images)
{
	look(images);
	images->looked_ns = ts_clock_monotonic_ns();
}

int ts_images_new(pid_t pid, struct ts_images **ret_images)
{
	struct ts_images *images = calloc(1, sizeof(*images));

	if (!images)
		return ts_error_origin(-ENOMEM);
	images->pid = pid;
	ts_images_refresh(images);
	*ret_images = images;
	return 0;
}

void ts_images_free(struct ts_images *images)
{
	if (!images)
		return;
	for (size_t i = 0; i < images->n_mappings; i++)
		mapping_deinit(&images->mappings[i]);
	free(images->mappings);
	free(images);
}

uint64_t ts_images_generation(const struct ts_images *images)
{
	return images->generation;
}

/* ---- questions ---------------------------------------------------------------------------------- */

static const struct mapping *find(const struct ts_images *images, uint64_t address)
{
	size_t low = 0, high = images->n_mappings;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (images->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < images->n_mappings && images->mappings[low].start <= address
		       ? &images->mappings[low]
		       : NULL;
}

bool ts_images_is_code(const struct ts_images *images, uint64_t address)
{
	return find(images, address) != NULL;
}

struct ts_cfi_rule ts_images_rule(struct ts_images *images, uint64_t address, bool is_return)
{
	const struct mapping *mapping = find(images, address - is_return);
	struct ts_cfi_query query = {0};
	const struct file *file;
	uint64_t shift;

	if (!mapping && ts_clock_monotonic_ns() - images->looked_ns > REFRESH_NS) {
		ts_images_refresh(images);
		mapping = find(images, address - is_return);
	}
	if (!mapping || !mapping->file.table)
		return query.rule;
	file = &mapping->file;
	query.first = (uintptr_t)(file->bytes + file->segment_off);
	query.end = query.first + file->segment_bytes;
	shift = query.first - file->segment;
	query.address = (uintptr_t)(address - is_return - mapping->bias + shift);
	ts_cfi_search(&query, (uintptr_t)(file->table + shift));
	return query.rule;
}

bool ts_images_is_sigreturn(struct ts_images *images, uint64_t address)
{
	/* mov $__NR_rt_sigreturn, %rax; syscall */
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
	const struct mapping *mapping = find(images, address);
	uint64_t off;

	if (!mapping || !mapping->file.bytes)
		return false;
	off = address - mapping->start + mapping->off;
	return is_inside(&mapping->file, off, sizeof(code)) &&
	       !memcmp(mapping->file.bytes + off, code, sizeof(code));
}

/* ---- symbols ------------------------------------------------------------------------------------ */

/* The place in the file of one of its own addresses; false: none. */
static bool place_of(const struct file *file, uint64_t own, uint64_t *ret_off)
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

static const Elf64_Sym *find_symbol(const struct file *file, const char *name)
{
	const Elf64_Dyn *entries = (const void *)(file->bytes + file->dynamic);
	size_t n = file->dynamic_bytes / sizeof(*entries), n_name = strlen(name) + 1;
	uint64_t symbols = 0, strings = 0, n_strings = 0, off, strings_off;

	if (!n || file->dynamic % 8)
		return NULL;
	for (size_t i = 0; i < n && entries[i].d_tag != DT_NULL; i++) {
		if (entries[i].d_tag == DT_SYMTAB)
			symbols = entries[i].d_un.d_ptr;
		else if (entries[i].d_tag == DT_STRTAB)
			strings = entries[i].d_un.d_ptr;
		else if (entries[i].d_tag == DT_STRSZ)
			n_strings = entries[i].d_un.d_val;
	}
	/* Linkers put the strings right behind the symbols; nothing else says how many there are without a hash table. */
	if (!place_of(file, symbols, &off) || !place_of(file, strings, &strings_off) ||
	    !is_inside(file, strings_off, n_strings) || off % 8 || strings_off < off)
		return NULL;
	for (; off + sizeof(Elf64_Sym) <= strings_off; off += sizeof(Elf64_Sym)) {
		const Elf64_Sym *symbol = (const void *)(file->bytes + off);

		if (symbol->st_shndx != SHN_UNDEF && symbol->st_name < n_strings &&
		    n_name <= n_strings - symbol->st_name &&
		    !memcmp(file->bytes + strings_off + symbol->st_name, name, n_name))
			return symbol;
	}
	return NULL;
}

bool ts_images_symbol(struct ts_images *images, const char *in_path, const char *symbol,
		      uint64_t *ret_address, uint64_t *ret_bytes, const char **ret_path)
{
	for (size_t i = 0; i < images->n_mappings; i++) {
		const struct mapping *mapping = &images->mappings[i];
		const char *name = strrchr(mapping->path, '/');
		const Elf64_Sym *found;

		if (!mapping->file.bytes || !name || !strstr(name, in_path))
			continue;
		found = find_symbol(&mapping->file, symbol);
		if (!found)
			continue;
		*ret_address = mapping->bias + found->st_value;
		*ret_bytes = found->st_size;
		*ret_path = mapping->path;
		return true;
	}
	return false;
}
