/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the unprivileged worker: its restrictions, the ways it ends, the errors that its caller
 * gets, and the symbols that it finds in this program. $TRACESMITH_WORKER is the worker's program.
 */
#include "test/unit/harness.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "daemon/worker/confine.h"
#include "daemon/worker/worker-client.h"
#include "daemon/worker/worker-demangle.h"
#include "proto/abi/clock.h"

#define WAIT_MS 60000u

/* ---- restrictions ---- */

static void confine(uint64_t memory_bytes)
{
	struct ts_confine_options options = {.memory_bytes = memory_bytes, .cpu_seconds = 5};
	struct ts_confined confined;
	const char *what;

	if (ts_confine(&options, &confined, &what))
		_exit(100);
}

static void try_open(void)
{
	_exit(open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES &&
			      open(".", O_RDONLY | O_DIRECTORY) < 0 && errno == EACCES &&
			      open("/tmp/tracesmith-worker-test", O_WRONLY | O_CREAT, 0600) < 0
		      ? 0
		      : 1);
}

static void try_connect(void)
{
	_exit(socket(AF_INET, SOCK_STREAM, 0) >= 0);
}

static void try_unix(void)
{
	_exit(socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
}

static void try_exec(void)
{
	char path[] = "/bin/true";
	char *argv[] = {path, NULL};

	execv(path, argv);
	_exit(1);
}

static void try_fork(void)
{
	_exit(fork() < 0);
}

static void try_code(void)
{
	_exit(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
	      MAP_FAILED);
}

static void try_trace(void)
{
	_exit(syscall(SYS_ptrace, 0, 0, 0, 0) < 0);
}

static void try_kill(void)
{
	_exit(kill(getppid(), 0) < 0);
}

static void try_memory(void)
{
	volatile char *bytes = malloc(80u << 20);

	if (!bytes)
		_exit(0);
	bytes[0] = 1;
	_exit(1);
}

static void try_spin(void)
{
	for (volatile uint64_t i = 0;; i++)
		;
}

/* Returns the exit status of a confined child that calls `attempt`. */
static int status_of(void (*attempt)(void), uint64_t memory_bytes)
{
	int status;
	pid_t pid = fork();

	ts_check(pid >= 0);
	if (!pid) {
		confine(memory_bytes);
		attempt();
	}
	ts_check_int(waitpid(pid, &status, 0), pid);
	return status;
}

TS_TEST(walls)
{
	static void (*const fatal[])(void) = {try_connect, try_unix,  try_exec, try_fork,
					      try_code,	   try_trace, try_kill};

	ts_skip_emulated("seccomp()");
	if (TS_TEST_SANITIZED)
		ts_skip("a sanitizer's runtime does not live inside the walls");
	ts_check_int(status_of(try_open, 256u << 20), 0);
	ts_check_int(status_of(try_memory, 64u << 20), 0);
	for (size_t i = 0; i < TS_ARRAY_LEN(fatal); i++) {
		int status = status_of(fatal[i], 256u << 20);

		ts_check(WIFSIGNALED(status));
		ts_check_int(WTERMSIG(status), SIGSYS);
	}
}

static void spin_confined(void)
{
	struct ts_confine_options options = {.memory_bytes = 64u << 20, .cpu_seconds = 1};
	struct ts_confined confined;
	const char *what;

	if (ts_confine(&options, &confined, &what))
		_exit(100);
	try_spin();
}

TS_TEST(time)
{
	int status;
	pid_t pid;

	if (TS_TEST_SANITIZED)
		ts_skip("a sanitizer's runtime does not live inside the walls");
	pid = fork();
	ts_check(pid >= 0);
	if (!pid)
		spin_confined();
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check(WIFSIGNALED(status));
	ts_check(WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
}

/* ---- the worker ---- */

static struct ts_worker *new_worker(uint64_t memory_bytes)
{
	struct ts_worker_options options = {.path = getenv("TRACESMITH_WORKER"),
					    .memory_bytes = memory_bytes};
	struct ts_worker *worker;

	if (!options.path)
		ts_skip("TRACESMITH_WORKER is not set");
	ts_check_int(ts_worker_new(&options, &worker), 0);
	return worker;
}

static int ask_map(struct ts_worker *worker, int fd, uint64_t *addresses, size_t n,
		   uint32_t deadline_ms, Ts__Rpc__WorkerAnswer **ret_answer)
{
	Ts__Rpc__WorkerRequest request = TS__RPC__WORKER_REQUEST__INIT;
	Ts__Rpc__WorkerRequest__PerfMap map = TS__RPC__WORKER_REQUEST__PERF_MAP__INIT;

	map.addresses = addresses;
	map.n_addresses = n;
	request.body_case = TS__RPC__WORKER_REQUEST__BODY_PERF_MAP;
	request.perf_map = &map;
	return ts_worker_call(worker, &request, &fd, 1, deadline_ms, ret_answer);
}

static int ask_elf(struct ts_worker *worker, int fd, uint64_t *addresses, size_t n,
		   const uint8_t *build_id, size_t n_build_id, Ts__Rpc__WorkerAnswer **ret_answer)
{
	Ts__Rpc__WorkerRequest request = TS__RPC__WORKER_REQUEST__INIT;
	Ts__Rpc__WorkerRequest__Elf elf = TS__RPC__WORKER_REQUEST__ELF__INIT;

	elf.addresses = addresses;
	elf.n_addresses = n;
	elf.has_build_id = n_build_id != 0;
	elf.build_id.data = (uint8_t *)(uintptr_t)build_id;
	elf.build_id.len = n_build_id;
	request.body_case = TS__RPC__WORKER_REQUEST__BODY_ELF;
	request.elf = &elf;
	return ts_worker_call(worker, &request, &fd, 1, WAIT_MS, ret_answer);
}

static int memory_file(const void *bytes, size_t n)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	ts_check(fd >= 0);
	ts_check_int(write(fd, bytes, n), n);
	return fd;
}

static void text_of(const Ts__Rpc__WorkerSymbols *symbols, uint32_t number, char to[256])
{
	size_t at = 0;

	ts_check(number && number <= symbols->n_lengths);
	for (uint32_t i = 1; i < number; i++)
		at += symbols->lengths[i - 1];
	ts_check(at + symbols->lengths[number - 1] <= symbols->text.len);
	snprintf(to, 256, "%.*s", (int)symbols->lengths[number - 1],
		 (const char *)symbols->text.data + at);
}

static int ask_small(struct ts_worker *worker)
{
	static const char map[] = "1000 10 one\n2000 20 two\n";
	uint64_t addresses[] = {0x1008, 0x2000, 0x3000};
	int fd = memory_file(map, sizeof(map) - 1), r;
	Ts__Rpc__WorkerAnswer *answer;
	char name[256];

	r = ask_map(worker, fd, addresses, 3, WAIT_MS, &answer);
	close(fd);
	if (r)
		return r;
	ts_check_int(answer->symbols->n_n_frames, 3);
	ts_check_int(answer->symbols->n_functions, 2);
	text_of(answer->symbols, answer->symbols->functions[1], name);
	ts_check_str(name, "two");
	ts_check_int(answer->symbols->n_frames[2], 0);
	ts__rpc__worker_answer__free_unpacked(answer, NULL);
	return 0;
}

/* Returns a number in a process's status file, read as base 16. */
static uint64_t status_number(pid_t pid, const char *key)
{
	char path[64], line[256];
	uint64_t number = UINT64_MAX;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	ts_check(f);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, key, strlen(key)) && line[strlen(key)] == ':')
			number = strtoull(line + strlen(key) + 1, NULL, 16);
	fclose(f);
	return number;
}

TS_TEST(confined)
{
	struct ts_worker *worker = new_worker(0);
	pid_t pid;

	ts_skip_emulated("seccomp()");
	ts_check_int(ask_small(worker), 0);
	pid = ts_worker_pid(worker);
	ts_check(pid > 0);
	ts_check_int(status_number(pid, "Seccomp"), 2);
	ts_check_int(status_number(pid, "NoNewPrivs"), 1);
	ts_check_int(status_number(pid, "CapEff"), 0);
	ts_check_int(status_number(pid, "CapPrm"), 0);
	ts_check_int(status_number(pid, "CapAmb"), 0);
	if (!geteuid() && !ts_worker_ready(worker)->missing) {
		ts_check(ts_worker_ready(worker)->other_user);
		ts_check(ts_worker_ready(worker)->no_files);
		/* In base 16: 65534. */
		ts_check_int(status_number(pid, "Uid"), 0x65534);
	}
	/* One process serves many requests. */
	ts_check_int(ask_small(worker), 0);
	ts_check_int(ts_worker_n_starts(worker), 1);
	ts_worker_free(worker);
}

struct asker {
	pid_t worker;
	pid_t tid; /* 0: it does not ask yet */
};

/* Kills the worker after the request was sent, while the asker waits for the answer. */
static void *kill_while_asked(void *data)
{
	struct asker *asker = data;
	char path[64], state[256] = "";
	pid_t tid;

	while (!(tid = __atomic_load_n(&asker->tid, __ATOMIC_ACQUIRE)))
		usleep(1000);
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	while (!strstr(state, ") S ")) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		usleep(10000);
		ts_check(fd >= 0 && read(fd, state, sizeof(state) - 1) > 0);
		close(fd);
	}
	kill(asker->worker, SIGKILL);
	return NULL;
}

TS_TEST(falls)
{
	struct ts_worker *worker = new_worker(0);
	struct asker asker = {0};
	pthread_t thread;
	pid_t pid;

	ts_check_int(ask_small(worker), 0);
	pid = asker.worker = ts_worker_pid(worker);
	/* The worker is stopped, so it has not answered the request when the thread kills it. */
	kill(pid, SIGSTOP);
	ts_check_int(pthread_create(&thread, NULL, kill_while_asked, &asker), 0);
	__atomic_store_n(&asker.tid, gettid(), __ATOMIC_RELEASE);
	ts_check_int(ask_small(worker), -ECONNRESET);
	pthread_join(thread, NULL);
	ts_check_str(ts_worker_why(worker), "a signal ended the worker: Killed");
	ts_check_int(ask_small(worker), 0);
	ts_check_int(ts_worker_n_starts(worker), 2);
	ts_check(ts_worker_pid(worker) != pid);
	ts_worker_free(worker);
}

TS_TEST(too_slow)
{
	struct ts_worker *worker = new_worker(0);
	Ts__Rpc__WorkerAnswer *answer;
	uint64_t address = 1, start_ns;
	int fd = memfd_create("test", MFD_CLOEXEC);

	ts_check_int(ask_small(worker), 0);
	ts_check(fd >= 0);
	kill(ts_worker_pid(worker), SIGSTOP);
	start_ns = ts_clock_monotonic_ns();
	ts_check_int(ask_map(worker, fd, &address, 1, 50, &answer), -ETIMEDOUT);
	ts_check(ts_clock_monotonic_ns() - start_ns < WAIT_MS * UINT64_C(1000000));
	ts_check_str(ts_worker_why(worker), "the worker did not answer in time");
	ts_check_int(ts_worker_pid(worker), -1);
	ts_check_int(ask_small(worker), 0);
	close(fd);
	ts_worker_free(worker);
}

TS_TEST(too_large)
{
	/* A full request needs more memory than this. */
	struct ts_worker *worker = new_worker(400u << 10);
	uint64_t *addresses = calloc(TS_WORKER_MAX_ADDRESSES, sizeof(*addresses));
	Ts__Rpc__WorkerAnswer *answer;
	int fd = memory_file("1 1 x\n", 6);

	ts_skip_emulated("limit of memory");
	for (uint32_t i = 0; i < TS_WORKER_MAX_ADDRESSES; i++)
		addresses[i] = (UINT64_C(1) << 60) + i;
	ts_check_int(ask_map(worker, fd, addresses, TS_WORKER_MAX_ADDRESSES, WAIT_MS, &answer),
		     -ECONNRESET);
	ts_check_str(ts_worker_why(worker), "the worker reached its memory limit");
	free(addresses);
	close(fd);
	ts_worker_free(worker);
}

/* A request above the limit is not sent. The worker answers the next one. */
TS_TEST(request_too_long)
{
	struct ts_worker *worker = new_worker(0);
	size_t n = TS_WORKER_REQUEST_MAX_BYTES / 8;
	uint64_t *addresses = calloc(n, sizeof(*addresses));
	Ts__Rpc__WorkerAnswer *answer;
	int fd = memory_file("1 1 x\n", 6);
	pid_t pid;

	ts_check(addresses != NULL);
	for (size_t i = 0; i < n; i++)
		addresses[i] = (UINT64_C(1) << 60) + i;
	ts_check_int(ask_small(worker), 0);
	pid = ts_worker_pid(worker);
	ts_check_int(ask_map(worker, fd, addresses, n, WAIT_MS, &answer), -E2BIG);
	ts_check_str(ts_worker_why(worker), "the request to the worker is larger than 1 MiB");
	ts_check_int(ts_worker_pid(worker), pid);
	ts_check_int(ask_small(worker), 0);
	free(addresses);
	close(fd);
	ts_worker_free(worker);
}

TS_TEST(absent)
{
	struct ts_worker_options options = {.path = "/nonexistent/tracesmith-worker"};
	struct ts_worker *worker;

	ts_skip_emulated("vfork() that shares memory");
	ts_check_int(ts_worker_new(&options, &worker), 0);
	ts_check_int(ask_small(worker), -ENOENT);
	ts_check_str(ts_worker_why(worker), "No such file or directory");
	ts_worker_free(worker);
}

/* If the caller is killed, its worker ends, too. */
TS_TEST(ends_with_its_caller)
{
	struct ts_worker *worker = new_worker(0);
	int fds[2], status;
	pid_t pid, child;

	ts_check_int(pipe2(fds, O_CLOEXEC), 0);
	child = fork();
	ts_check(child >= 0);
	if (!child) {
		if (ask_small(worker))
			_exit(1);
		pid = ts_worker_pid(worker);
		/*
		 * A stopped worker stands for a busy one, which would not notice that its socket
		 * ended.
		 */
		kill(pid, SIGSTOP);
		if (write(fds[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		pause();
	}
	ts_check_int(read(fds[0], &pid, sizeof(pid)), sizeof(pid));
	kill(child, SIGKILL);
	ts_check_int(waitpid(child, &status, 0), child);
	for (unsigned i = 0; i < 6000 && !kill(pid, 0); i++) {
		char path[64], state[64] = "";
		int fd;

		/*
		 * The worker is dead but a zombie: this process is not its parent and cannot reap
		 * it.
		 */
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && read(fd, state, sizeof(state) - 1) > 0 && strstr(state, ") Z"))
			i = 6000;
		if (fd >= 0)
			close(fd);
		usleep(10000);
		ts_check(i != 5999);
	}
	close(fds[0]);
	close(fds[1]);
	ts_worker_free(worker);
}

/* ---- this program ---- */

struct own {
	uint64_t bias;
	uint8_t build_id[64];
	size_t n_build_id;
};

static int find_own(struct dl_phdr_info *info, size_t size, void *data)
{
	struct own *own = data;

	own->bias = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const uint8_t *at = (const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
		const uint8_t *end = at + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_NOTE)
			continue;
		while (at + sizeof(ElfW(Nhdr)) <= end) {
			const ElfW(Nhdr) *note = (const void *)at;

			if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4) {
				own->n_build_id = note->n_descsz;
				memcpy(own->build_id, at + sizeof(*note) + 4, note->n_descsz);
			}
			at += sizeof(*note) + ((note->n_namesz + 3u) & ~3u) +
			      ((note->n_descsz + 3u) & ~3u);
		}
	}
	return 1; /* the first is the program */
}

static struct own own_file(void)
{
	struct own own = {0};

	dl_iterate_phdr(find_own, &own);
	return own;
}

#if defined(__aarch64__)
#define READ_PC "adr %0, . + 4"
#else
#define READ_PC "lea 0(%%rip), %0"
#endif

static volatile int seen;
static int here_line, inner_line, middle_line;

static inline __attribute__((always_inline)) uint64_t inner(void)
{
	uint64_t pc;

	inner_line = __LINE__ + 1;
	__asm__ volatile(READ_PC : "=r"(pc));
	return pc;
}

static inline __attribute__((always_inline)) uint64_t middle(void)
{
	uint64_t pc;

	middle_line = __LINE__ + 1;
	pc = inner();
	seen++;
	return pc;
}

static __attribute__((noinline)) uint64_t outer(void)
{
	uint64_t pc;

	here_line = __LINE__ + 1;
	pc = middle();
	seen++;
	return pc;
}

TS_TEST(inlined_frames)
{
	static const char *const names[] = {"inner", "middle", "outer"};
	struct ts_worker *worker = new_worker(0);
	struct own own = own_file();
	/* The address of the call instruction, not of the next one. */
	uint64_t address = outer() - 1 - own.bias;
	const int lines[] = {inner_line, middle_line, here_line};
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const Ts__Rpc__WorkerSymbols *symbols;
	Ts__Rpc__WorkerAnswer *answer;
	char text[256];

	ts_check(fd >= 0);
	ts_check_int(ask_elf(worker, fd, &address, 1, own.build_id, own.n_build_id, &answer), 0);
	symbols = answer->symbols;
	if (!symbols->has_debug_info)
		ts_skip("built without debug information");
	ts_check(!symbols->has_lies);
	ts_check_int(symbols->build_id.len, own.n_build_id);
	ts_check_int(symbols->n_n_frames, 1);
	ts_check_int(symbols->n_frames[0], 3);
	for (int i = 0; i < 3; i++) {
		text_of(symbols, symbols->functions[i], text);
		ts_check_str(text, names[i]);
		text_of(symbols, symbols->files[i], text);
		ts_check(strstr(text, "test-worker.c"));
		ts_check_int(symbols->lines[i], lines[i]);
	}
	ts__rpc__worker_answer__free_unpacked(answer, NULL);
	close(fd);
	ts_worker_free(worker);
}

static void check_demangled(const char *mangled, const char *want)
{
	char *name = ts_worker_demangle(mangled);

	if (want)
		ts_check_str(name ? name : "", want);
	else
		ts_check(!name);
	free(name);
}

TS_TEST(demangled_names)
{
	check_demangled("_ZN6shapes8in_spaceEi", "shapes::in_space(int)");
	/* The two manglings of Rust names, without the hash at the end of the older one. */
	check_demangled("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
			"core::fmt::Formatter::pad");
	check_demangled("_RINvMNtCsd2986VS0pFC_4rust5innerNtB3_5Shape4areamEB5_",
			"<rust::inner::Shape>::area::<u32>");
	check_demangled("main", NULL);
	check_demangled("_Zgarbage", NULL);
	check_demangled("_Rgarbage", NULL);
}

TS_TEST(lying_build_id)
{
	struct ts_worker *worker = new_worker(0);
	struct own own = own_file();
	uint64_t address = outer() - own.bias;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Ts__Rpc__WorkerAnswer *answer;

	ts_check(fd >= 0);
	own.build_id[3] ^= 1;
	ts_check_int(ask_elf(worker, fd, &address, 1, own.build_id, own.n_build_id, &answer), 0);
	ts_check(answer->symbols->has_lies && answer->symbols->lies);
	ts_check_int(answer->symbols->n_functions, 0);
	ts__rpc__worker_answer__free_unpacked(answer, NULL);
	close(fd);
	ts_worker_free(worker);
}

/* ---- invalid files ---- */

static uint8_t *own_bytes(size_t *ret_n)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	off_t n = lseek(fd, 0, SEEK_END);
	uint8_t *bytes = malloc((size_t)n);

	ts_check(bytes);
	ts_check_int(pread(fd, bytes, (size_t)n, 0), n);
	close(fd);
	*ret_n = (size_t)n;
	return bytes;
}

/* Asks about a damaged file. Accepts any result that comes in time and has a reason. */
static void ask_damaged(struct ts_worker *worker, const uint8_t *bytes, size_t n, uint64_t address)
{
	Ts__Rpc__WorkerAnswer *answer = NULL;
	int fd = memory_file(bytes, n);
	int r = ask_elf(worker, fd, &address, 1, NULL, 0, &answer);

	if (!r)
		ts__rpc__worker_answer__free_unpacked(answer, NULL);
	else
		ts_check(r != -EPROTO && r != -EPERM && *ts_worker_why(worker));
	close(fd);
}

TS_TEST(damaged_files)
{
	struct ts_worker *worker = new_worker(0);
	struct own own = own_file();
	uint64_t address = outer() - own.bias, random = 1;
	uint8_t junk[4096];
	size_t n;
	uint8_t *bytes = own_bytes(&n), *copy = malloc(n);

	ts_check(copy);
	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (uint8_t)(i * 131 + 7);
	ask_damaged(worker, junk, sizeof(junk), address);
	memcpy(junk, bytes, 64);
	ask_damaged(worker, junk, sizeof(junk), address);
	for (unsigned i = 1; i < 8; i++)
		ask_damaged(worker, bytes, n / 8 * i, address);
	for (unsigned i = 0; i < 40; i++) {
		memcpy(copy, bytes, n);
		for (unsigned j = 0; j < 64; j++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			copy[(random >> 20) % n] = (uint8_t)(random >> 56);
		}
		ask_damaged(worker, copy, n, address);
	}
	ts_check_int(ask_small(worker), 0);
	free(copy);
	free(bytes);
	ts_worker_free(worker);
}

TS_TEST(gigabyte_of_perf_map)
{
	struct ts_worker *worker = new_worker(0);
	static const char first[] = "1000 10 one\n";
	int fd = memory_file(first, sizeof(first) - 1);
	uint64_t address = 0x1000, start_ns = ts_clock_monotonic_ns();
	Ts__Rpc__WorkerAnswer *answer;
	int r;

	ts_check_int(ftruncate(fd, (off_t)1 << 30), 0);
	r = ask_map(worker, fd, &address, 1, WAIT_MS, &answer);
	if (r == -ETIMEDOUT)
		ts_skip("too slow a machine to read 256 MiB");
	ts_check_int(r, 0);
	ts_check_str(answer->symbols->why, "larger than 256 MiB: the rest was not read");
	ts_check_int(answer->symbols->n_functions, 1);
	ts_check(ts_clock_monotonic_ns() - start_ns < WAIT_MS * UINT64_C(1000000));
	ts__rpc__worker_answer__free_unpacked(answer, NULL);
	close(fd);
	ts_worker_free(worker);
}
