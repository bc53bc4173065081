/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests probes: the table of functions, their offsets in a file, probes on functions of this
 * program, and processes that map libraries.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "test/unit/harness.h"

#include "daemon/bpf/mappings.h"
#include "daemon/bpf/system.h"
#include "daemon/worker/offsets.h"

/* ---- the table of functions ------------------------------------------------------------------ */

static size_t number_of(const char *symbol)
{
	size_t n;
	const struct ts_call_function *functions = ts_call_functions(&n);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(functions[i].symbol, symbol))
			return i;
	fprintf(stderr, "no function %s\n", symbol);
	exit(1);
}

static const struct ts_call_function *function_of(const char *symbol)
{
	size_t n;

	return &ts_call_functions(&n)[number_of(symbol)];
}

TS_TEST(functions)
{
	size_t n;
	const struct ts_call_function *functions = ts_call_functions(&n);

	ts_check(n > 200 && n < 512);
	for (size_t i = 0; i < n; i++) {
		ts_check_int(TS_CALL_NUMBER(functions[i].cookie), i);
		ts_check_int(functions[i].domain != 0,
			     TS_CALL_ROLE(functions[i].cookie) == TS_CALL_PLAIN);
		for (size_t j = 0; j < i; j++)
			ts_check(strcmp(functions[i].symbol, functions[j].symbol));
	}
	ts_check_int(function_of("cudaLaunchKernel")->cbid, 211);
	ts_check_int(function_of("cudaLaunchKernel")->domain, TS_API_CUDA_RUNTIME);
	ts_check_int(TS_CALL_HANDLE(function_of("cudaLaunchKernelExC_ptsz")->cookie), 1);
	ts_check_int(TS_CALL_BYTES(function_of("cuMemcpyHtoD_v2_ptds")->cookie), 2);
	ts_check_int(TS_CALL_BYTES(function_of("cuMemcpyHtoD")->cookie), TS_CALL_NONE);
	ts_check_int(TS_CALL_SHIFT(function_of("cuMemsetD32_v2")->cookie), 2);
	ts_check_int(TS_CALL_TIMES(function_of("cudaMemcpy2D")->cookie), 5);
	ts_check_int(function_of("hipMalloc")->domain, TS_API_HIP);
	ts_check_int(TS_CALL_ROLE(function_of("cuModuleGetFunction")->cookie), TS_CALL_NAMES);
	ts_check(function_of("cuModuleGetFunction")->cookie & TS_CALL_INDIRECT);
}

TS_TEST(libraries)
{
	static const char *const are[] = {"libcuda.so.1",	  "libcuda.so.580.65.06",
					  "libcudart.so.13",	  "libcudart-d0da41ae.so.11.0",
					  "libamdhip64.so.6.2.0", "libtsinject.so"};
	static const char *const are_not[] = {"libc.so.6",     "libcudadebugger.so.1",
					      "libcuda",       "",
					      "xlibcuda.so.1", "libcudart_static.a"};

	for (size_t i = 0; i < TS_ARRAY_LEN(are); i++)
		ts_check(ts_call_is_library(are[i]));
	for (size_t i = 0; i < TS_ARRAY_LEN(are_not); i++)
		ts_check(!ts_call_is_library(are_not[i]));
}

/* ---- where a file has them ------------------------------------------------------------------- */

struct place {
	uintptr_t address;
	uint64_t offset; /* offset in the file */
};

static int find_place(struct dl_phdr_info *info, size_t n_bytes, void *data)
{
	struct place *place = data;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && place->address >= start &&
		    place->address - start < segment->p_filesz)
			place->offset = place->address - start + segment->p_offset;
	}
	return place->offset != 0;
}

static uint64_t offset_of(uintptr_t address)
{
	struct place place = {.address = address};

	dl_iterate_phdr(find_place, &place);
	ts_check(place.offset != 0);
	return place.offset;
}

TS_TEST(places)
{
	char name[] = "strlcpy_is_not_there", getpid_name[] = "getpid", empty[] = "";
	char *const names[] = {name, getpid_name, empty, getpid_name};
	uint64_t places[TS_ARRAY_LEN(names)];
	void *self = dlsym(RTLD_DEFAULT, "getpid");
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], path[256] = "";

	/* Reads the path of the C library, which contains getpid(). */
	while (maps && !*path && fgets(line, sizeof(line), maps))
		if (strstr(line, "/libc.so.6") || strstr(line, "/libc-2"))
			sscanf(strchr(line, '/'), "%255s", path);
	if (maps)
		fclose(maps);
	if (!*path)
		ts_skip("no C library of that name");
#if !defined(__x86_64__)
	ts_skip("only files for x86-64 have places of probes");
#endif
	ts_check_int(ts_elf_offsets(open(path, O_RDONLY | O_CLOEXEC), names, TS_ARRAY_LEN(names),
				    places),
		     0);
	ts_check_int(places[0], 0);
	ts_check_int(places[2], 0);
	ts_check(places[1] || places[3]);
	/* A sanitizer may have its own version of getpid(). */
	if (places[1] == offset_of((uintptr_t)self) || places[3] == offset_of((uintptr_t)self))
		return;
	ts_check(dlsym(RTLD_NEXT, "getpid") || places[1] || places[3]);
}

TS_TEST(places_of_no_file)
{
	char name[] = "main";
	char *const names[] = {name};
	uint64_t place;

	ts_check_int(ts_elf_offsets(-1, names, 1, &place), -ENOEXEC);
	ts_check_int(ts_elf_offsets(open("/proc/self/maps", O_RDONLY | O_CLOEXEC), names, 1,
				    &place),
		     -ENOEXEC);
	ts_check_int(ts_elf_offsets(open("/dev/null", O_RDONLY | O_CLOEXEC), names, 1, &place),
		     -ENOEXEC);
}

/* ---- probes on this program ------------------------------------------------------------------ */

#define FUNCTION __attribute__((noinline))

static volatile int sink;
static int thing;

FUNCTION static int copies(void *to, const void *from, size_t n)
{
	sink += n != 0;
	__asm__ volatile("" ::: "memory");
	return to == from ? 700 : 0;
}

/* Calls the driver like a runtime. */
FUNCTION static int launches(uint64_t handle)
{
	int r = copies(&thing, NULL, 3);

	__asm__ volatile("" ::: "memory");
	return r + (int)(handle & 0);
}

FUNCTION static int leaves(jmp_buf *to, int deeper)
{
	char space[64];

	__asm__ volatile("" : : "r"(space) : "memory");
	if (!to)
		return 0;
	if (deeper)
		return leaves(to, deeper - 1) + sink;
	longjmp(*to, 1);
}

FUNCTION static int names(uint64_t *ret_handle, void *module, const char *name)
{
	*ret_handle = 0x4711;
	__asm__ volatile("" ::: "memory");
	return module == name;
}

FUNCTION static int aliases(uint64_t *ret_handle, uint64_t other)
{
	*ret_handle = 0x4712;
	__asm__ volatile("" ::: "memory");
	return other == 0;
}

struct told {
	pid_t pid;
	size_t n_calls, n_over;
	struct ts_call_event last;
	uint64_t named, alias, alias_of, lost;
	char name[TS_CALL_NAME_BYTES];
};

static void take(void *data, const struct ts_call_event *event)
{
	struct told *told = data;

	if (event->pid != (uint32_t)told->pid)
		return;
	switch (event->type) {
	case TS_CALL_EVENT_CALL:
		ts_check(event->start_ns < event->end_ns);
		told->n_calls++;
		told->last = *event;
		break;
	case TS_CALL_EVENT_NAME:
		told->named = event->handle;
		snprintf(told->name, sizeof(told->name), "%s",
			 ((const struct ts_call_name *)(const void *)event)->text);
		break;
	case TS_CALL_EVENT_ALIAS:
		told->alias = event->handle;
		told->alias_of = event->bytes;
		break;
	case TS_CALL_EVENT_OVER:
		told->n_over++;
		told->lost = event->bytes;
		break;
	default:
		break;
	}
}

/* Returns the events of process `pid` since the last call. */
static struct told taken(struct ts_system *system, pid_t pid)
{
	struct told told = {.pid = pid};

	ts_system_take(system, take, &told);
	return told;
}

static void probe(bool pairs, struct ts_system **ret_system, struct ts_system_probes *ret_probes)
{
	char why[TS_SYSTEM_WHY_BYTES];
	uint64_t places[512] = {0};
	struct ts_system_programs programs;
	int fd, r = ts_system_new(pairs, ret_system, why);

	if (r) {
		ts_check(*why && !strchr(why, '\n'));
		ts_skip(why);
	}
	places[number_of("cudaMemcpy")] = offset_of((uintptr_t)copies);
	places[number_of("cudaLaunchKernel")] = offset_of((uintptr_t)launches);
	places[number_of("cuLaunchKernel")] = offset_of((uintptr_t)leaves);
	places[number_of("cuModuleGetFunction")] = offset_of((uintptr_t)names);
	places[number_of("cuKernelGetFunction")] = offset_of((uintptr_t)aliases);
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	programs = ts_system_programs(*ret_system);
	ts_check_int(ts_system_probe(&programs, fd, places, ret_probes), 0);
	close(fd);
}

static void done(struct ts_system *system, struct ts_system_probes *probes)
{
	ts_system_remove(probes);
	ts_system_free(system);
}

static void check_calls(bool pairs)
{
	struct ts_system_probes probes;
	struct ts_system *system;
	struct told told;
	uint64_t handle;

	probe(pairs, &system, &probes);
	for (int i = 0; i < 1000; i++)
		ts_check_int(copies(&handle, &thing, 4096), 0);
	told = taken(system, getpid());
	ts_check_int(told.n_calls, 1000);
	ts_check_int(told.last.bytes, 4096);
	ts_check_int(told.last.tid, gettid());
	ts_check_int(told.last.uid, getuid());
	ts_check_int(told.last.number, number_of("cudaMemcpy"));
	ts_check_int(told.last.result, 0);
	/* The copies() inside launches() belongs to the launch and is no call of its own. */
	launches(0x99);
	told = taken(system, getpid());
	ts_check_int(told.n_calls, 1);
	ts_check_int(told.last.number, number_of("cudaLaunchKernel"));
	ts_check_int(told.last.handle, 0x99);
	ts_check_int(copies(&thing, &thing, 5), 700);
	ts_check_int(taken(system, getpid()).last.result, 700);
	ts_check_int(names(&handle, NULL, "a kernel"), 0);
	ts_check_int(aliases(&handle, 0x4711), 0);
	told = taken(system, getpid());
	ts_check_int(told.n_calls, 0);
	ts_check_int(told.named, 0x4711);
	ts_check_str(told.name, "a kernel");
	ts_check_int(told.alias, 0x4712);
	ts_check_int(told.alias_of, 0x4711);
	ts_check_int(ts_system_unattributed(system), 0);
	/* After removal no call is reported. */
	ts_system_remove(&probes);
	ts_system_forget_calls(system);
	copies(&handle, &thing, 1);
	ts_check_int(taken(system, getpid()).n_calls, 0);
	done(system, &probes);
}

TS_TEST(calls)
{
	check_calls(false);
}

TS_TEST(calls_by_pairs)
{
	check_calls(true);
}

static void check_left(bool pairs)
{
	struct ts_system_probes probes;
	struct ts_system *system;
	jmp_buf back;
	uint64_t other;

	probe(pairs, &system, &probes);
	/* If longjmp() leaves a call, only this call's event is lost. */
	if (!setjmp(back))
		leaves(&back, 3);
	ts_check_int(taken(system, getpid()).n_calls, 0);
	if (!setjmp(back))
		leaves(&back, 0);
	for (int i = 0; i < 10; i++)
		copies(&other, &thing, 1);
	ts_check(taken(system, getpid()).n_calls <= 10);
	ts_system_forget_calls(system);
	copies(&other, &thing, 1);
	ts_check_int(taken(system, getpid()).n_calls, 1);
	done(system, &probes);
}

TS_TEST(calls_that_are_left)
{
	check_left(false);
	check_left(true);
}

/* Makes n calls and exits. */
static pid_t child(int n)
{
	int pipes[2], status;
	uint64_t other;
	pid_t pid;

	ts_check_int(pipe2(pipes, O_CLOEXEC), 0);
	pid = fork();
	ts_check(pid >= 0);
	if (!pid) {
		for (int i = 0; i < n; i++)
			copies(&other, &thing, 1);
		_exit(0);
	}
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
	close(pipes[0]);
	close(pipes[1]);
	return pid;
}

TS_TEST(processes)
{
	struct ts_system_probes probes;
	struct ts_system *system;
	struct told told;
	uint64_t other;
	pid_t pid;

	probe(false, &system, &probes);
	pid = child(77);
	told = taken(system, pid);
	ts_check_int(told.n_calls, 77);
	ts_check_int(told.n_over, 1);
	ts_check_int(told.lost, 0);
	ts_check_int(ts_system_exclude(system, getpid(), true), 0);
	copies(&other, &thing, 1);
	ts_check_int(taken(system, getpid()).n_calls, 0);
	/* The exclusion does not include the calls of the process's children. */
	pid = child(5);
	ts_check_int(taken(system, pid).n_calls, 5);
	ts_check_int(ts_system_exclude(system, getpid(), false), 0);
	copies(&other, &thing, 1);
	ts_check_int(taken(system, getpid()).n_calls, 1);
	done(system, &probes);
}

/* Maps a page whose fault waits for userfaultfd. */
static char *page_that_waits(int *ret_fd)
{
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register wish = {.mode = UFFDIO_REGISTER_MODE_MISSING};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ts_check(page != MAP_FAILED);
	*ret_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	wish.range.start = (uintptr_t)page;
	wish.range.len = 4096;
	if (*ret_fd < 0 || ioctl(*ret_fd, UFFDIO_API, &api) ||
	    ioctl(*ret_fd, UFFDIO_REGISTER, &wish))
		ts_skip("this kernel hands no faults to programs");
	return page;
}

static void *name_slowly(void *page)
{
	uint64_t handle;

	names(&handle, NULL, page);
	return NULL;
}

/*
 * A page with a name that a thread passes may fault for any time. The calls of other threads do not
 * wait for the page.
 */
TS_TEST(slow_names)
{
	struct ts_system_probes probes;
	struct ts_system *system;
	struct uffdio_copy copy = {.len = 4096};
	static char text[4096] = "slow";
	struct told told;
	struct pollfd fault = {.events = POLLIN};
	pthread_t thread;
	uint64_t other;
	char *page;

	page = page_that_waits(&fault.fd);
	probe(false, &system, &probes);
	ts_check_int(pthread_create(&thread, NULL, name_slowly, page), 0);
	ts_check_int(poll(&fault, 1, 60000), 1);
	copies(&other, &thing, 1);
	ts_check_int(taken(system, getpid()).n_calls, 1);
	copy.dst = (uintptr_t)page;
	copy.src = (uintptr_t)text;
	ts_check_int(ioctl(fault.fd, UFFDIO_COPY, &copy), 0);
	pthread_join(thread, NULL);
	/* The call may be reported or not; if it is, its name is right. */
	told = taken(system, getpid());
	ts_check_str(told.name, told.named ? "slow" : "");
	close(fault.fd);
	munmap(page, 4096);
	done(system, &probes);
}

/*
 * No reader empties the ring: events without room are counted as lost, and the end of the process
 * is not lost.
 */
TS_TEST(losses)
{
	const int n = 230000; /* more than the ring holds */
	struct ts_system_probes probes;
	struct ts_system *system;
	struct told told;
	uint64_t other, lost;

	probe(false, &system, &probes);
	for (int i = 0; i < n; i++)
		copies(&other, &thing, 1);
	lost = ts_system_lost(system, getpid());
	ts_check(lost > 0);
	told = taken(system, getpid());
	ts_check_int(told.n_calls + lost, n);
	done(system, &probes);
}

/* ---- processes and their mapped files ------------------------------------------------------- */

struct found {
	pid_t pid;
	char path[256];
	size_t n;
};

static void find(void *data, const struct ts_mapping *mapping)
{
	struct found *found = data;
	struct stat status;

	if (mapping->pid != found->pid || strcmp(mapping->path, found->path))
		return;
	found->n++;
	ts_check_int(stat(found->path, &status), 0);
	ts_check_int(mapping->inode, status.st_ino);
}

static void *map_library(struct found *found)
{
	char directory[] = "/tmp/ts-test-XXXXXX";
	void *mapping;
	int fd;

	ts_check(mkdtemp(directory) != NULL);
	found->pid = getpid();
	snprintf(found->path, sizeof(found->path), "%s/libcuda.so.1", directory);
	fd = open(found->path, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	ts_check_int(ftruncate(fd, 4096), 0);
	mapping = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ts_check(mapping != MAP_FAILED);
	close(fd);
	return mapping;
}

static void unmap_library(struct found *found, void *mapping)
{
	munmap(mapping, 4096);
	unlink(found->path);
	*strrchr(found->path, '/') = '\0';
	rmdir(found->path);
}

TS_TEST(mapped_before)
{
	struct found found = {0};
	void *mapping = map_library(&found);

	ts_mappings_of(getpid(), find, &found);
	ts_check_int(found.n, 1);
	ts_check_int(ts_mappings_has(getpid(), "/libcuda.so.1"), 1);
	ts_check_int(ts_mappings_has(getpid(), "/memfd:tracesmith-session"), 0);
	ts_check(ts_mappings_has(INT32_MAX, "/libcuda.so.1") < 0);
	unmap_library(&found, mapping);
}

TS_TEST(mapped_since)
{
	struct ts_mappings *mappings;
	struct found found = {0};
	void *mapping;
	int r = ts_mappings_new(&mappings);

	if (r)
		ts_skip(strerror(-r));
	mapping = map_library(&found);
	/* Returns false if the ring had no room for all mappings. */
	if (ts_mappings_take(mappings, find, &found))
		ts_check_int(found.n, 1);
	unmap_library(&found, mapping);
	ts_mappings_free(mappings);
}
