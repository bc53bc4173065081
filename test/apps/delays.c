/* SPDX-License-Identifier: Apache-2.0 */
/*
 * delays FILE [PAGES]: delays a thread between launches, by one cause after the other. The thread
 * sleeps; waits for a futex that another thread holds; is preempted by a real-time thread on its
 * own CPU; touches PAGES fresh pages; reads FILE in pieces, from the disk if possible; calls
 * ioctl() on a device; maps and unmaps memory; waits for a child that sleeps.
 * test/integration/test-kernel-events.py runs it.
 *
 * Prints one line of JSON for each cause, with the program's own measurement in nanoseconds of
 * CLOCK_MONOTONIC. The test compares these lines with a trace that has kernel events. With
 * TS_APP_WAIT, waits for a line of input before the first cause.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <linux/random.h>
#include <pthread.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "test/apps/gpu.h"

#define SLEEP_NS    30000000
#define PAGE_BYTES  4096
#define PIECE_BYTES 1048576
#define MAP_BYTES   0x123000
#define N_QUESTIONS 5
#define GAP_NS	    1000000
#define GIVE_UP_S   20

static uint64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void sleep_ns(long ns)
{
	struct timespec time = {.tv_nsec = ns};

	while (nanosleep(&time, &time))
		;
}

static int tid(void)
{
	return (int)syscall(SYS_gettid);
}

/* Prints the line of a step, then launches. `more` is empty or begins with a comma. */
static void tell(const char *what, uint64_t start_ns, uint64_t end_ns, const char *more)
{
	printf("{\"what\": \"%s\", \"tid\": %d, \"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64
	       "%s}\n",
	       what, tid(), start_ns, end_ns, more);
	gpu_nothing(gpu_default_stream(0));
	gpu_device_sync();
}

static void step_sleep(void)
{
	uint64_t start_ns = now_ns();

	sleep_ns(SLEEP_NS);
	tell("sleep", start_ns, now_ns(), "");
}

static uint32_t word; /* the futex */
static int partner_tid;
static bool partner_stops;

static void *holder_run(void *data)
{
	__atomic_store_n(&partner_tid, tid(), __ATOMIC_RELEASE);
	sleep_ns(SLEEP_NS);
	__atomic_store_n(&word, 0, __ATOMIC_RELEASE);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return NULL;
}

static void step_futex(void)
{
	pthread_t thread;
	uint64_t start_ns;
	char more[96];

	word = 1;
	pthread_create(&thread, NULL, holder_run, NULL);
	while (!__atomic_load_n(&partner_tid, __ATOMIC_ACQUIRE))
		sched_yield();
	start_ns = now_ns();
	while (__atomic_load_n(&word, __ATOMIC_ACQUIRE))
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
	snprintf(more, sizeof(more), ", \"partner\": %d, \"address\": %" PRIu64, partner_tid,
		 (uint64_t)(uintptr_t)&word);
	tell("futex", start_ns, now_ns(), more);
	pthread_join(thread, NULL);
}

static void pin(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static uint64_t busy_since_ns;

/* Occupies CPU 0 for 2 * GAP_NS at a time; step_preempted() gave the thread real-time priority. */
static void *busy_run(void *data)
{
	pin();
	__atomic_store_n(&partner_tid, tid(), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&partner_stops, __ATOMIC_RELAXED)) {
		uint64_t since_ns;

		sleep_ns(GAP_NS);
		since_ns = now_ns();
		__atomic_store_n(&busy_since_ns, since_ns, __ATOMIC_RELAXED);
		while (now_ns() - since_ns < 2 * GAP_NS)
			;
	}
	return NULL;
}

/*
 * Shares CPU 0 with busy_run() and reads the clock until a gap shows that busy_run() preempted it.
 */
static void step_preempted(void)
{
	const struct sched_param first = {.sched_priority = 1};
	uint64_t start_ns = now_ns(), last_ns, next_ns, since_ns;
	pthread_t thread;
	cpu_set_t before;
	char more[128];

	sched_getaffinity(0, sizeof(before), &before);
	partner_tid = 0;
	pthread_create(&thread, NULL, busy_run, NULL);
	if (pthread_setschedparam(thread, SCHED_FIFO, &first))
		exit(GPU_SKIPPED);
	pin();
	while (!__atomic_load_n(&partner_tid, __ATOMIC_ACQUIRE))
		;
	next_ns = now_ns();
	do {
		last_ns = next_ns;
		next_ns = now_ns();
		since_ns = __atomic_load_n(&busy_since_ns, __ATOMIC_RELAXED);
		/*
		 * The gap counts only if busy_run() began to compute at the gap's start, because
		 * other threads cause gaps as well.
		 */
	} while (next_ns - start_ns < GIVE_UP_S * UINT64_C(1000000000) &&
		 (next_ns - last_ns < GAP_NS || since_ns < last_ns ||
		  since_ns - last_ns > GAP_NS / 20));
	__atomic_store_n(&partner_stops, true, __ATOMIC_RELAXED);
	snprintf(more, sizeof(more),
		 ", \"partner\": %d, \"gap_start_ns\": %" PRIu64 ", \"gap_end_ns\": %" PRIu64,
		 partner_tid, last_ns, next_ns);
	sched_setaffinity(0, sizeof(before), &before);
	tell("preempted", start_ns, now_ns(), more);
	pthread_join(thread, NULL);
}

static void step_faults(size_t n_pages)
{
	size_t n_bytes = n_pages * PAGE_BYTES;
	uint64_t start_ns;
	uint8_t *memory =
		mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char more[96];

	if (memory == MAP_FAILED)
		exit(1);
	madvise(memory, n_bytes, MADV_NOHUGEPAGE);
	start_ns = now_ns();
	for (size_t i = 0; i < n_pages; i++)
		((volatile uint8_t *)memory)[i * PAGE_BYTES] = 1;
	snprintf(more, sizeof(more), ", \"address\": %" PRIu64 ", \"pages\": %zu",
		 (uint64_t)(uintptr_t)memory, n_pages);
	tell("faults", start_ns, now_ns(), more);
	munmap(memory, n_bytes);
}

/*
 * Drops the file from the page cache. Returns true if no page remains; some file systems keep
 * pages.
 */
static bool make_cold(int fd)
{
	off_t n_bytes = lseek(fd, 0, SEEK_END);
	size_t n_pages = ((size_t)n_bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	unsigned char *there = calloc(n_pages + 1, 1);
	void *memory = mmap(NULL, (size_t)n_bytes, PROT_READ, MAP_SHARED, fd, 0);
	bool is_cold = memory != MAP_FAILED && there;

	fdatasync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	is_cold = is_cold && !mincore(memory, (size_t)n_bytes, there);
	for (size_t i = 0; is_cold && i < n_pages; i++)
		is_cold = !(there[i] & 1);
	if (memory != MAP_FAILED)
		munmap(memory, (size_t)n_bytes);
	free(there);
	return is_cold;
}

static void step_read(const char *path)
{
	static char piece[PIECE_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is_cold = make_cold(fd);
	uint64_t start_ns = now_ns(), inside_ns = 0, since_ns;
	off_t at = 0;
	ssize_t n;
	int pieces = -1;
	char more[128];

	do {
		since_ns = now_ns();
		n = syscall(SYS_pread64, fd, piece, sizeof(piece), at);
		inside_ns += now_ns() - since_ns;
		at += n;
		pieces++;
	} while (n > 0);
	snprintf(more, sizeof(more),
		 ", \"pieces\": %d, \"bytes\": %lld, \"cold\": %s, \"inside_ns\": %" PRIu64, pieces,
		 (long long)at, is_cold ? "true" : "false", inside_ns);
	tell("read", start_ns, now_ns(), more);
	close(fd);
}

static void step_ioctl(void)
{
	int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC), bits;
	uint64_t start_ns = now_ns();
	char more[64];

	for (int i = 0; i < N_QUESTIONS; i++)
		ioctl(fd, RNDGETENTCNT, &bits);
	snprintf(more, sizeof(more), ", \"request\": %u, \"count\": %d", (unsigned)RNDGETENTCNT,
		 N_QUESTIONS);
	tell("ioctl", start_ns, now_ns(), more);
	close(fd);
}

static void step_map(void)
{
	uint64_t start_ns = now_ns();
	void *memory = mmap(NULL, MAP_BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char more[96];

	munmap(memory, MAP_BYTES);
	snprintf(more, sizeof(more), ", \"address\": %" PRIu64 ", \"bytes\": %d",
		 (uint64_t)(uintptr_t)memory, MAP_BYTES);
	tell("map", start_ns, now_ns(), more);
}

static void step_child(void)
{
	pid_t child = fork();
	uint64_t start_ns;
	char more[32];

	if (!child) {
		sleep_ns(SLEEP_NS);
		_exit(0);
	}
	/*
	 * The time starts after fork(), because the duration of fork() grows with the memory of the
	 * process.
	 */
	start_ns = now_ns();
	waitpid(child, NULL, 0);
	snprintf(more, sizeof(more), ", \"child\": %d", child);
	tell("child", start_ns, now_ns(), more);
}

int main(int argc, char **argv)
{
	char line[16];

	if (argc < 2)
		return 2;
	/* Line buffering, so that the child's copy of the buffer is empty. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	gpu_open(NULL);
	gpu_set_device(0);
	gpu_nothing(gpu_default_stream(0));
	gpu_device_sync();
	/* The test writes the line when its recording is ready. */
	if (getenv("TS_APP_WAIT") && !fgets(line, sizeof(line), stdin))
		return 1;
	step_sleep();
	step_futex();
	step_preempted();
	step_faults(argc > 2 ? (size_t)atoi(argv[2]) : 100000);
	step_read(argv[1]);
	step_ioctl();
	step_map();
	step_child();
	return gpu_close();
}
