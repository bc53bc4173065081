/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inspects a program before it runs: see record-program.h. cmd-record.c calls this file. The result
 * only explains an empty trace afterwards; it never prevents a command from running. The file is
 * untrusted: each offset is checked against the bytes that were read.
 */
#include "tools/tsctl/record/record-program.h"

#include "proto/abi/base.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define MAX_PROGRAM_HEADERS 256u
#define MAX_SECTIONS	    4096u
#define MAX_DYNAMIC_ENTRIES 4096u

/*
 * True if the file needs a loader. A file with PT_DYNAMIC but without PT_INTERP is a static-pie
 * program; or a library, which nobody runs.
 */
static bool elf_has_interpreter(int fd, uint64_t off, unsigned int n, unsigned int entry_bytes,
				bool is64)
{
	for (unsigned int i = 0; i < n; i++) {
		union {
			Elf64_Phdr h64;
			Elf32_Phdr h32;
		} header;
		size_t want = is64 ? sizeof(header.h64) : sizeof(header.h32);

		if (entry_bytes < want ||
		    pread(fd, &header, want, (off_t)(off + (uint64_t)i * entry_bytes)) !=
			    (ssize_t)want)
			return true;
		if ((is64 ? header.h64.p_type : header.h32.p_type) == PT_INTERP)
			return true;
	}
	return false;
}

static bool read_at(int fd, void *bytes, size_t n_bytes, uint64_t off)
{
	return off <= INT64_MAX - n_bytes &&
	       pread(fd, bytes, n_bytes, (off_t)off) == (ssize_t)n_bytes;
}

/* True if a string in a string table of the file begins with `prefix`. */
static bool string_begins(int fd, const Elf64_Shdr *strings, uint64_t at, const char *prefix)
{
	char text[32];
	size_t n = strlen(prefix);

	return at < strings->sh_size && strings->sh_offset <= INT64_MAX - strings->sh_size &&
	       n <= sizeof(text) && read_at(fd, text, n, strings->sh_offset + at) &&
	       !memcmp(text, prefix, n);
}

static bool needs_cudart(int fd, const Elf64_Shdr *dynamic, const Elf64_Shdr *strings)
{
	uint64_t n = dynamic->sh_size / sizeof(Elf64_Dyn);
	Elf64_Dyn entry;

	for (uint64_t i = 0; i < n && i < MAX_DYNAMIC_ENTRIES; i++) {
		if (!read_at(fd, &entry, sizeof(entry), dynamic->sh_offset + i * sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag == DT_NEEDED &&
		    string_begins(fd, strings, entry.d_un.d_val, "libcudart.so"))
			return true;
	}
	return false;
}

/*
 * True if the program contains a static cudart. nvcc puts device code into a separate section,
 * which a cudart must register. If the program does not need the shared libcudart, it contains a
 * static one.
 */
static bool has_static_cudart(int fd, const Elf64_Ehdr *header)
{
	unsigned int n = header->e_shnum;
	ts_cleanup(ts_freep) Elf64_Shdr *sections = NULL;
	bool has_fatbin = false, needs = false;

	if (!n || n > MAX_SECTIONS || header->e_shentsize != sizeof(*sections) ||
	    header->e_shstrndx >= n)
		return false;
	sections = calloc(n, sizeof(*sections));
	if (!sections || !read_at(fd, sections, n * sizeof(*sections), header->e_shoff))
		return false;
	for (unsigned int i = 0; i < n; i++) {
		if (sections[i].sh_type == SHT_DYNAMIC && sections[i].sh_link < n)
			needs |= needs_cudart(fd, &sections[i], &sections[sections[i].sh_link]);
		has_fatbin |= string_begins(fd, &sections[header->e_shstrndx], sections[i].sh_name,
					    ".nv_fatbin");
	}
	return has_fatbin && !needs;
}

static void inspect_elf(int fd, const unsigned char *bytes, size_t n_bytes,
			struct ts_program *program)
{
	bool is64 = bytes[EI_CLASS] == ELFCLASS64;
	Elf64_Ehdr h64 = {0};
	Elf32_Ehdr h32 = {0};
	unsigned int n;

	program->is_elf = true;
	if (n_bytes < (is64 ? sizeof(h64) : sizeof(h32)))
		return;
	memcpy(&h64, bytes, is64 ? sizeof(h64) : 0);
	memcpy(&h32, bytes, is64 ? 0 : sizeof(h32));
	n = is64 ? h64.e_phnum : h32.e_phnum;
	if (n && n <= MAX_PROGRAM_HEADERS)
		program->is_static =
			!elf_has_interpreter(fd, is64 ? h64.e_phoff : h32.e_phoff, n,
					     is64 ? h64.e_phentsize : h32.e_phentsize, is64);
	program->has_static_cudart = is64 && has_static_cudart(fd, &h64);
}

static void inspect_script(const char *bytes, struct ts_program *program)
{
	const char *start = bytes + 2 + strspn(bytes + 2, " \t");
	size_t n = strcspn(start, " \t\r\n");

	if (n < sizeof(program->script_interpreter))
		memcpy(program->script_interpreter, start, n);
}

int ts_program_inspect(const char *path, struct ts_program *program)
{
	ts_cleanup(ts_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	unsigned char bytes[512 + 1] = {0};
	struct stat status;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &status))
		return -errno;
	if (!S_ISREG(status.st_mode))
		return S_ISDIR(status.st_mode) ? -EISDIR : -EINVAL;
	program->is_privileged = (status.st_mode & (S_ISUID | S_ISGID)) ||
				 fgetxattr(fd, "security.capability", NULL, 0) > 0;
	n = pread(fd, bytes, sizeof(bytes) - 1, 0);
	if (n < 0)
		return -errno;
	if (n > EI_NIDENT && !memcmp(bytes, ELFMAG, SELFMAG))
		inspect_elf(fd, bytes, (size_t)n, program);
	else if (n > 2 && bytes[0] == '#' && bytes[1] == '!')
		inspect_script((const char *)bytes, program);
	return 0;
}

static int try_path(const char *path, struct ts_program *program)
{
	struct stat status;

	if (stat(path, &status))
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	if (access(path, X_OK))
		return -errno;
	if (snprintf(program->path, sizeof(program->path), "%s", path) >=
	    (int)sizeof(program->path))
		return -ENAMETOOLONG;
	return 0;
}

static int search_path(const char *command, struct ts_program *program)
{
	const char *path = secure_getenv("PATH"), *at;
	int worst = -ENOENT;

	if (!path || !*path)
		path = "/usr/local/bin:/usr/bin:/bin";
	for (at = path;;) {
		size_t n = strcspn(at, ":");
		char candidate[PATH_MAX];
		int r;

		r = snprintf(candidate, sizeof(candidate), "%.*s/%s", n ? (int)n : 1, n ? at : ".",
			     command);
		if (r < (int)sizeof(candidate)) {
			r = try_path(candidate, program);
			if (!r)
				return 0;
			if (r == -EACCES)
				worst = r;
		}
		if (!at[n])
			return worst;
		at += n + 1;
	}
}

int ts_program_find(const char *command, struct ts_program *ret_program)
{
	struct ts_program program = {0};
	int r;

	if (!*command)
		return -ENOENT;
	r = strchr(command, '/') ? try_path(command, &program) : search_path(command, &program);
	if (r)
		return r;
	/* An unreadable program may still run; then an empty trace stays unexplained. */
	ts_program_inspect(program.path, &program);
	*ret_program = program;
	return 0;
}
