/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the preloaded library in programs that use no GPU, and its needed libraries. It changes
 * nothing in a program but three environment variables. check-exports.py compares its exports.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "proto/abi/base.h"
#include "proto/abi/vendor/cupti_family.h"
#include "test/unit/harness.h"

static const char *run(const char *preload, const char *held, const char *script)
{
	static char output[65536];
	int ends[2], status;
	ssize_t n, used = 0;
	pid_t pid;

	ts_check_int(pipe(ends), 0);
	if (preload)
		ts_skip_emulated("shell for this machine, which the shim could be loaded into");
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(ends[1], 1);
		close(ends[0]);
		close(ends[1]);
		unsetenv("CUDA_INJECTION64_PATH");
		unsetenv("NVTX_INJECTION64_PATH");
		unsetenv("MUSA_INJECTION64_PATH");
		if (held) {
			setenv("CUDA_INJECTION64_PATH", held, 1);
			setenv("NVTX_INJECTION64_PATH", held, 1);
			setenv("MUSA_INJECTION64_PATH", held, 1);
		}
		if (preload)
			setenv("LD_PRELOAD", preload, 1);
		execl("/bin/sh", "sh", "-c", script, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while ((n = read(ends[0], output + used, sizeof(output) - 1 - (size_t)used)) > 0)
		used += n;
	output[used] = '\0';
	close(ends[0]);
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
	return output;
}

static void check_same(const char *script)
{
	char *without = strdup(run(NULL, NULL, script));

	ts_check_str(run(TEST_LIBRARY, NULL, script), without);
	free(without);
}

TS_TEST(no_thread_descriptor_or_child)
{
	/* `exec` starts a new program, into which the loader preloads the shim again. */
	check_same("exec ls /proc/self/task | wc -l");
	check_same("exec ls /proc/self/fd | wc -l");
	check_same("exec grep -E 'SigBlk|SigIgn|SigCgt|Threads' /proc/self/status");
	check_same("exec ls /proc/self/ns | wc -l");
}

TS_TEST(exit_statuses)
{
	check_same(
		"exec 2>/dev/null; sh -c 'exit 3'; echo $?; true; echo $?; sh -c 'kill -9 $$'; echo $?");
}

TS_TEST(sets_the_injection_path_where_it_is_free)
{
	ts_check_str(run(TEST_LIBRARY, NULL, "printenv CUDA_INJECTION64_PATH"), TEST_LIBRARY "\n");
	ts_check_str(run(TEST_LIBRARY, "/other/tool.so", "printenv CUDA_INJECTION64_PATH"),
		     "/other/tool.so\n");
	ts_check_str(run(TEST_LIBRARY, NULL, "printenv NVTX_INJECTION64_PATH"), TEST_LIBRARY "\n");
	ts_check_str(run(TEST_LIBRARY, "/other/tool.so", "printenv NVTX_INJECTION64_PATH"),
		     "/other/tool.so\n");
	ts_check_str(run(TEST_LIBRARY, NULL, "printenv MUSA_INJECTION64_PATH"), TEST_LIBRARY "\n");
	ts_check_str(run(TEST_LIBRARY, "/other/tool.so", "printenv MUSA_INJECTION64_PATH"),
		     "/other/tool.so\n");
}

/*
 * The library is preloaded by a relative path, and the program changes its directory before it
 * starts other programs. These programs get the absolute path.
 */
TS_TEST(the_injection_path_is_absolute)
{
	char directory[PATH_MAX], *slash;

	snprintf(directory, sizeof(directory), "%s", TEST_LIBRARY);
	slash = strrchr(directory, '/');
	*slash = '\0';
	ts_check_int(chdir(directory), 0);
	snprintf(directory, sizeof(directory), "./%s", strrchr(TEST_LIBRARY, '/') + 1);
	ts_check_str(run(directory, NULL, "printenv CUDA_INJECTION64_PATH"), TEST_LIBRARY "\n");
}

/*
 * Constructors run from the last library to the first: another library's constructor calls exec
 * before ours runs.
 */
TS_TEST(exec_before_our_constructor)
{
	ts_check_str(run(TEST_LIBRARY ":" TEST_EARLY, NULL, "echo not replaced"), "replaced\n");
}

/* The library's needed libraries, read from the file as the loader does. */
TS_TEST(needs_libc_only)
{
	int fd = open(TEST_LIBRARY, O_RDONLY | O_CLOEXEC);
	const uint8_t *file;
	const Elf64_Ehdr *header;
	const Elf64_Shdr *sections;
	struct stat status;
	int i, n_needed = 0;

	ts_check(fd >= 0 && !fstat(fd, &status));
	file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	ts_check(file != MAP_FAILED);
	close(fd);
	header = (const Elf64_Ehdr *)file;
	sections = (const Elf64_Shdr *)(file + header->e_shoff);
	for (i = 0; i < header->e_shnum; i++) {
		const Elf64_Shdr *section = &sections[i];
		const char *strings = (const char *)file + sections[section->sh_link].sh_offset;

		if (section->sh_type == SHT_DYNAMIC) {
			const Elf64_Dyn *entry = (const Elf64_Dyn *)(file + section->sh_offset);

			for (; entry->d_tag != DT_NULL; entry++)
				if (entry->d_tag == DT_NEEDED) {
					ts_check_str(strings + entry->d_un.d_val, "libc.so.6");
					n_needed++;
				}
		}
	}
	ts_check_int(n_needed, 1);
	munmap((void *)(uintptr_t)file, (size_t)status.st_size);
}
