/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the reports on a program before it runs, from ELF files that the test makes byte by byte.
 */
#include "test/unit/harness.h"
#include "tools/tsctl/record/record-program.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>

static void write_file(const char *path, const void *bytes, size_t n_bytes, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	ts_check(fd >= 0);
	ts_check_int(write(fd, bytes, n_bytes), (int64_t)n_bytes);
	ts_check_int(fchmod(fd, mode), 0);
	close(fd);
}

static char directory[32];

static void enter(void)
{
	strcpy(directory, "/tmp/ts-program-XXXXXX");
	ts_check(mkdtemp(directory));
	ts_check_int(chdir(directory), 0);
}

static void leave(void)
{
	ts_check_int(chdir("/"), 0);
	ts_check_int(rmdir(directory), 0);
}

static struct ts_program inspect_bytes(const void *bytes, size_t n_bytes, mode_t mode)
{
	struct ts_program program = {0};

	enter();
	write_file("program", bytes, n_bytes, mode);
	ts_check_int(ts_program_inspect("program", &program), 0);
	ts_check_int(unlink("program"), 0);
	leave();
	return program;
}

struct elf64 {
	Elf64_Ehdr header;
	Elf64_Phdr programs[2];
};

static struct elf64 make_elf(uint32_t second_type)
{
	struct elf64 elf = {
		.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			   .e_phoff = sizeof(Elf64_Ehdr),
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_phnum = 2},
		.programs = {{.p_type = PT_LOAD}, {.p_type = second_type}},
	};

	return elf;
}

TS_TEST(an_interpreter_makes_it_dynamic)
{
	struct elf64 elf = make_elf(PT_INTERP);
	struct ts_program program = inspect_bytes(&elf, sizeof(elf), 0755);

	ts_check(program.is_elf && !program.is_static && !program.is_privileged);
}

TS_TEST(none_makes_it_static)
{
	struct elf64 elf = make_elf(PT_DYNAMIC);
	struct ts_program program = inspect_bytes(&elf, sizeof(elf), 0755);

	ts_check(program.is_elf && program.is_static);
}

TS_TEST(set_user_id)
{
	struct elf64 elf = make_elf(PT_INTERP);
	struct ts_program program = inspect_bytes(&elf, sizeof(elf), 04755);

	ts_check(program.is_privileged);
}

TS_TEST(headers_that_lie_claim_nothing)
{
	struct elf64 elf = make_elf(PT_LOAD);
	struct ts_program program;

	elf.header.e_phoff = UINT64_MAX - 4;
	program = inspect_bytes(&elf, sizeof(elf), 0755);
	ts_check(program.is_elf && !program.is_static);
	elf.header.e_phoff = sizeof(elf);
	program = inspect_bytes(&elf, sizeof(elf), 0755);
	ts_check(!program.is_static);
	elf.header.e_phoff = sizeof(Elf64_Ehdr);
	elf.header.e_phnum = 0;
	program = inspect_bytes(&elf, sizeof(elf), 0755);
	ts_check(!program.is_static);
	elf.header.e_phnum = 2;
	elf.header.e_phentsize = 4;
	program = inspect_bytes(&elf, sizeof(elf), 0755);
	ts_check(!program.is_static);
	program = inspect_bytes(&elf, 20, 0755);
	ts_check(program.is_elf && !program.is_static);
}

/* nvcc's output: a section with device code, and the needed libraries. */
struct nvcc_elf {
	struct elf64 elf;
	Elf64_Shdr sections[4];
	Elf64_Dyn dynamic[3];
	char names[24];
	char needed[40];
};

static struct nvcc_elf make_nvcc_elf(const char *section, const char *library)
{
	struct nvcc_elf made = {.elf = make_elf(PT_INTERP)};

	made.elf.header.e_shoff = offsetof(struct nvcc_elf, sections);
	made.elf.header.e_shentsize = sizeof(Elf64_Shdr);
	made.elf.header.e_shnum = 4;
	made.elf.header.e_shstrndx = 3;
	snprintf(made.names + 1, sizeof(made.names) - 1, "%s", section);
	snprintf(made.needed + 1, sizeof(made.needed) - 1, "%s", library);
	made.dynamic[0] = (Elf64_Dyn){.d_tag = DT_SONAME, .d_un.d_val = 1};
	made.dynamic[1] = (Elf64_Dyn){.d_tag = DT_NEEDED, .d_un.d_val = 1};
	made.sections[0] = (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_name = 1};
	made.sections[1] = (Elf64_Shdr){.sh_type = SHT_DYNAMIC,
					.sh_link = 2,
					.sh_offset = offsetof(struct nvcc_elf, dynamic),
					.sh_size = sizeof(made.dynamic)};
	made.sections[2] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
					.sh_offset = offsetof(struct nvcc_elf, needed),
					.sh_size = sizeof(made.needed)};
	made.sections[3] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
					.sh_offset = offsetof(struct nvcc_elf, names),
					.sh_size = sizeof(made.names)};
	return made;
}

static bool is_static_cudart(const struct nvcc_elf *elf)
{
	return inspect_bytes(elf, sizeof(*elf), 0755).has_static_cudart;
}

TS_TEST(device_code_without_a_runtime_library_has_it_linked_in)
{
	struct nvcc_elf elf = make_nvcc_elf(".nv_fatbin", "libc.so.6");

	ts_check(is_static_cudart(&elf));
	elf = make_nvcc_elf(".nv_fatbin", "libcudart.so.13");
	ts_check(!is_static_cudart(&elf));
	elf = make_nvcc_elf(".text", "libc.so.6");
	ts_check(!is_static_cudart(&elf));
}

TS_TEST(sections_that_lie_claim_nothing)
{
	struct nvcc_elf elf = make_nvcc_elf(".nv_fatbin", "libc.so.6");

	elf.elf.header.e_shoff = UINT64_MAX - 8;
	ts_check(!is_static_cudart(&elf));
	elf.elf.header.e_shoff = sizeof(elf);
	ts_check(!is_static_cudart(&elf));
	elf = make_nvcc_elf(".nv_fatbin", "libc.so.6");
	elf.elf.header.e_shstrndx = 4;
	ts_check(!is_static_cudart(&elf));
	elf.elf.header.e_shstrndx = 3;
	elf.sections[3].sh_offset = UINT64_MAX - 8;
	ts_check(!is_static_cudart(&elf));
	elf.sections[3].sh_offset = sizeof(elf) - 4;
	elf.sections[3].sh_size = 4;
	ts_check(!is_static_cudart(&elf));
	elf = make_nvcc_elf(".nv_fatbin", "libcudart.so.13");
	elf.sections[1].sh_link = 9;
	ts_check(is_static_cudart(&elf));
	elf.sections[1].sh_link = 2;
	elf.dynamic[1].d_un.d_val = UINT64_MAX;
	ts_check(is_static_cudart(&elf));
}

TS_TEST(scripts_name_their_interpreter)
{
	static const char script[] = "#! /usr/bin/env python3\nprint()\n";
	struct ts_program program = inspect_bytes(script, sizeof(script) - 1, 0755);

	ts_check(!program.is_elf);
	ts_check_str(program.script_interpreter, "/usr/bin/env");
	program = inspect_bytes("#!", 2, 0755);
	ts_check_str(program.script_interpreter, "");
	program = inspect_bytes("", 0, 0755);
	ts_check(!program.is_elf);
}

TS_TEST(found_as_exec_would)
{
	struct ts_program program = {0};

	enter();
	write_file("here", "#!/bin/sh\n", 10, 0755);
	write_file("not-executable", "#!/bin/sh\n", 10, 0644);
	setenv("PATH", "/nowhere:/usr/bin:/bin", 1);
	ts_check_int(ts_program_find("sh", &program), 0);
	ts_check(program.path[0] == '/');
	ts_check_int(ts_program_find("here", &program), -ENOENT);
	ts_check_int(ts_program_find("./here", &program), 0);
	ts_check_int(ts_program_find("./nowhere", &program), -ENOENT);
	ts_check_int(ts_program_find("/tmp", &program), -EISDIR);
	ts_check_int(ts_program_find("", &program), -ENOENT);
	/* An empty entry of PATH is the working directory. */
	setenv("PATH", "/nowhere:", 1);
	ts_check_int(ts_program_find("here", &program), 0);
	ts_check_str(program.path, "./here");
	if (getuid())
		ts_check_int(ts_program_find("./not-executable", &program), -EACCES);
	unlink("here");
	unlink("not-executable");
	leave();
}
