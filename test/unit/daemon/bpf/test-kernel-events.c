/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the values of --kernel-events that the daemon accepts, and a hub with feeds on any machine.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "test/unit/harness.h"

#include "daemon/bpf/hub.h"
#include "daemon/util/identity.h"
#include "proto/abi/clock.h"
#include "sbt/schema.h"

/* Begins a feed of this process. */
static void feed_self(struct ts_kernel_hub *hub, struct ts_kernel_feed **ret_feed)
{
	struct ts_kernel_process self = {.pid = getpid(), .uid = getuid(), .gid = getgid()};

	ts_check_int(ts_identity_start_ticks(self.pid, &self.start_ticks), 0);
	ts_check_int(ts_kernel_feed_new(hub, &self, ret_feed), 0);
}

static uint64_t count_lost(struct ts_kernel_feed *feed, unsigned program)
{
	uint64_t lost[TS_BPF_N_PROGRAMS];

	ts_kernel_feed_losses(feed, lost);
	return lost[program];
}

static void check_config(const char *text, uint32_t programs, uint64_t sched_ns)
{
	struct ts_kernel_config config;
	char why[192];

	ts_check_int(ts_kernel_config_parse(text, &config, why, sizeof(why)), 0);
	ts_check_int(config.programs, programs);
	ts_check_int(config.threshold_ns[TS_BPF_SCHED], sched_ns);
}

TS_TEST(configs)
{
	check_config("all", 255, 0);
	check_config("all:1us", 255, 1000);
	check_config("sched", 1, 0);
	check_config("faults,sched:500", 3, 500);
	check_config("stacks:5ms", 9, 0);
	check_config("syscalls,sched:2ms,faults:1s", 7, 2000000);
	check_config("all:1ms,sched:7ns", 255, 7);
	check_config("block:1ms", 16, 0);
	check_config("memory,driver:1us", 96, 0);
	check_config("samples", 128, 0);
}

TS_TEST(configs_that_count)
{
	struct ts_kernel_config config;
	char why[320];

	ts_check_int(ts_kernel_config_parse("sched:count,faults,syscalls:count,block", &config, why,
					    sizeof(why)),
		     0);
	ts_check_int(config.programs, 1 | 2 | 4 | 16);
	ts_check_int(config.counted, 1 | 4);
	/* If a program is named twice, the last word counts. */
	ts_check_int(ts_kernel_config_parse("sched:count,sched:1us", &config, why, sizeof(why)), 0);
	ts_check_int(config.counted, 0);
	ts_check_int(ts_kernel_config_parse("sched:count,stacks", &config, why, sizeof(why)),
		     -EINVAL);
	ts_check(strstr(why, "stacks"));
}

TS_TEST(mistakes)
{
	static const char *const texts[] = {
		"",	     "shed",	    "sched,",	   "sched:",
		"sched:x",   "sched:1h",    ":1us",	   "sched:99999999999",
		",",	     "sched:-1",    "sched:1us:",  "allx",
		"all:count", "block:count", "sched:counts"};

	for (size_t i = 0; i < TS_ARRAY_LEN(texts); i++) {
		struct ts_kernel_config config = {.programs = 42};
		char why[320] = "";

		ts_check_int(ts_kernel_config_parse(texts[i], &config, why, sizeof(why)), -EINVAL);
		ts_check_int(config.programs, 42);
		ts_check(*why && !strchr(why, '\n'));
	}
}

TS_TEST(names)
{
	char text[64];

	ts_kernel_config_names(5, text, sizeof(text));
	ts_check_str(text, "sched,syscalls");
	ts_kernel_config_names(0, text, sizeof(text));
	ts_check_str(text, "");
	ts_check(!ts_kernel_program_name(TS_BPF_N_PROGRAMS));
}

/*
 * The hub has every requested program, or one line names the missing ones. If the line has
 * "without", only a part of the requested program is missing, and the hub has the rest.
 */
TS_TEST(hub_has_or_says)
{
	for (unsigned i = 0; i < TS_BPF_N_PROGRAMS; i++) {
		const struct ts_kernel_config config = {.programs = 1u << i};
		struct ts_kernel_hub *hub;

		ts_check_int(ts_kernel_hub_new(&config, false, &hub), 0);
		if (ts_kernel_hub_missing(hub)) {
			ts_check_int(ts_kernel_hub_programs(hub),
				     strstr(ts_kernel_hub_missing(hub), " without ")
					     ? config.programs
					     : 0);
			ts_check(strstr(ts_kernel_hub_missing(hub), ts_kernel_program_name(i)));
			ts_check(!strchr(ts_kernel_hub_missing(hub), '\n'));
		} else {
			ts_check_int(ts_kernel_hub_programs(hub) & config.programs,
				     config.programs);
		}
		ts_kernel_hub_free(hub);
	}
}

static void ignore_signal(int number)
{
}

/*
 * A process that receives a signal every 0.1 ms gets the same programs, and the same line about
 * missing ones.
 */
TS_TEST(signals_do_not_keep_programs_away)
{
	const struct sigaction action = {.sa_handler = ignore_signal, .sa_flags = SA_RESTART};
	const struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	struct ts_kernel_hub *quiet, *hub;
	struct ts_kernel_config config;
	char why[320];

	ts_check_int(ts_kernel_config_parse("all", &config, why, sizeof(why)), 0);
	ts_check_int(ts_kernel_hub_new(&config, false, &quiet), 0);
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	ts_check_int(ts_kernel_hub_new(&config, false, &hub), 0);
	setitimer(ITIMER_REAL, &never, NULL);
	ts_check_int(ts_kernel_hub_programs(hub), ts_kernel_hub_programs(quiet));
	ts_check_str(ts_kernel_hub_missing(hub) ?: "", ts_kernel_hub_missing(quiet) ?: "");
	ts_kernel_hub_free(hub);
	ts_kernel_hub_free(quiet);
}

#define TASK_INTERRUPTIBLE 1 /* the kernel's value; a stopped task does not sleep */
#define TRIES		   20

/*
 * True if the thread slept for `ns`. On a busy machine the thread waits for a processor after its
 * sleep. It also waits between setting its timer and sleeping, which shortens the sleep.
 */
static bool slept(const struct ts_bpf_off_cpu *interval, uint64_t ns)
{
	return !interval->preempted && interval->state & TASK_INTERRUPTIBLE &&
	       interval->event.end_ns && interval->woken_ns >= interval->event.start_ns + ns / 2;
}

/*
 * Sleeps once; returns the number of events that record this sleep. -1: this machine has no such
 * events.
 */
static int told_of_a_sleep(void)
{
	const struct ts_kernel_config config = {.programs = 1u << TS_BPF_SCHED,
						.threshold_ns = {[TS_BPF_SCHED] = 20000000}};
	struct timespec time = {.tv_nsec = 30000000};
	struct ts_kernel_feed *feed;
	struct ts_kernel_hub *hub;
	const void *events;
	size_t n_bytes;
	int n = 0;

	ts_check_int(ts_kernel_hub_new(&config, false, &hub), 0);
	feed_self(hub, &feed);
	if (!feed) {
		ts_check(ts_kernel_hub_missing(hub) != NULL);
		ts_kernel_hub_free(hub);
		return -1;
	}
	while (nanosleep(&time, &time))
		;
	ts_kernel_feed_end(feed);
	ts_check(ts_kernel_feed_take(feed, &events, &n_bytes));
	for (size_t off = 0; off < n_bytes; off += sizeof(struct ts_bpf_off_cpu)) {
		const struct ts_bpf_off_cpu *event = (const void *)((const uint8_t *)events + off);

		ts_check_int(event->event.program, TS_BPF_SCHED);
		n += event->event.tid == (uint32_t)getpid() && slept(event, 30000000);
	}
	ts_check_int(n_bytes % sizeof(struct ts_bpf_off_cpu), 0);
	ts_check(!ts_kernel_feed_take(feed, &events, &n_bytes));
	ts_check_int(count_lost(feed, TS_BPF_SCHED), 0);
	ts_kernel_feed_free(feed);
	ts_kernel_hub_free(hub);
	return n;
}

/* A feed of this process itself records one sleep of one of its threads once. */
TS_TEST(a_feed_tells_of_a_sleep)
{
	int n = told_of_a_sleep();

	/*
	 * A busy machine may delay the thread until its timer has expired, so that it does not
	 * sleep.
	 */
	for (unsigned i = 1; i < TRIES && !n; i++)
		n = told_of_a_sleep();
	ts_check(n == 1 || n == -1);
}

/* ---- events that the session of the only feed reads itself ---- */

/* Waits of this process for a futex, in order, by their `address`. */
struct in_place {
	uint64_t n, n_most; /* events that were taken, and at most */
	bool is_ordered;
};

static uint32_t futexes[4096];

static bool take_wait(void *data, const struct ts_bpf_event *event)
{
	const struct ts_bpf_syscall *call = (const void *)event;
	struct in_place *in_place = data;
	uintptr_t number = (call->address - (uintptr_t)futexes) / sizeof(*futexes);

	if (event->program != TS_BPF_SYSCALLS || number >= TS_ARRAY_LEN(futexes))
		return true;
	if (in_place->n == in_place->n_most)
		return false;
	in_place->is_ordered &= number == in_place->n++;
	return true;
}

/* Waits for futexes that have another value: calls that end at once. */
static void wait_for(size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++)
		syscall(SYS_futex, &futexes[i], FUTEX_WAIT_PRIVATE, 1, NULL, NULL, 0);
}

/* Takes the events that were copied. Returns the number of waits among them. */
static size_t take_copied_waits(struct ts_kernel_feed *feed, struct in_place *in_place)
{
	uint64_t n = in_place->n, n_most = in_place->n_most;
	const void *events;
	size_t n_bytes;

	in_place->n_most = UINT64_MAX;
	if (ts_kernel_feed_take(feed, &events, &n_bytes))
		for (size_t off = 0; off < n_bytes;) {
			const void *event = (const uint8_t *)events + off;

			ts_check(take_wait(in_place, event));
			off += ts_kernel_event_bytes(event);
		}
	in_place->n_most = n_most;
	return (size_t)(in_place->n - n);
}

TS_TEST(a_session_alone_reads_its_events)
{
	const struct ts_kernel_config config = {.programs = 1u << TS_BPF_SYSCALLS};
	struct in_place in_place = {.n_most = 1000, .is_ordered = true};
	struct ts_kernel_feed *feed;
	struct ts_kernel_hub *hub;

	ts_check_int(ts_kernel_hub_new(&config, false, &hub), 0);
	feed_self(hub, &feed);
	if (!feed) {
		ts_kernel_hub_free(hub);
		return;
	}
	/* The hub's thread leaves the events of the next 60 ms to this thread. */
	(void)ts_kernel_feed_read(feed, take_wait, &in_place);
	(void)take_copied_waits(feed, &in_place);
	wait_for(0, 3000);
	while (in_place.n < 1000) {
		(void)take_copied_waits(feed, &in_place);
		(void)ts_kernel_feed_read(feed, take_wait, &in_place);
	}
	/* The event that is not taken comes as a copy, and no event is read before it was taken. */
	if (in_place.n == 1000) {
		ts_check(ts_kernel_feed_read(feed, take_wait, &in_place));
		in_place.n_most = UINT64_MAX;
		ts_check(ts_kernel_feed_read(feed, take_wait, &in_place));
		ts_check_int(in_place.n, 1000);
		ts_check(take_copied_waits(feed, &in_place) > 0);
	}
	in_place.n_most = UINT64_MAX;
	while (ts_kernel_feed_read(feed, take_wait, &in_place))
		(void)take_copied_waits(feed, &in_place);
	wait_for(3000, 1096);
	ts_kernel_feed_end(feed);
	ts_check(!ts_kernel_feed_read(feed, take_wait, &in_place));
	ts_check(take_copied_waits(feed, &in_place) > 0);
	ts_check_int(in_place.n, 4096);
	ts_check(in_place.is_ordered);
	ts_check_int(count_lost(feed, TS_BPF_SYSCALLS), 0);
	ts_kernel_feed_free(feed);
	ts_kernel_hub_free(hub);
}

/* With a second feed, the hub's thread copies the events of both. */
TS_TEST(sessions_do_not_read_for_others)
{
	const struct ts_kernel_config config = {.programs = 1u << TS_BPF_SYSCALLS};
	struct in_place in_place = {.n_most = UINT64_MAX, .is_ordered = true};
	struct ts_kernel_feed *feed, *other;
	struct ts_kernel_process process;
	struct ts_kernel_hub *hub;
	pid_t child;

	ts_check_int(ts_kernel_hub_new(&config, false, &hub), 0);
	child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	process = (struct ts_kernel_process){.pid = child, .uid = getuid(), .gid = getgid()};
	ts_check_int(ts_identity_start_ticks(child, &process.start_ticks), 0);
	ts_check_int(ts_kernel_feed_new(hub, &process, &other), 0);
	if (other) {
		feed_self(hub, &feed);
		ts_check(feed != NULL);
		wait_for(0, 100);
		ts_check(!ts_kernel_feed_read(feed, take_wait, &in_place));
		ts_check_int(in_place.n, 0);
		for (unsigned i = 0; i < 1000 && in_place.n < 100; i++) {
			usleep(10000);
			(void)take_copied_waits(feed, &in_place);
		}
		ts_check_int(in_place.n, 100);
		/* A session that is alone again reads. */
		ts_kernel_feed_end(other);
		wait_for(100, 100);
		while (in_place.n < 200) {
			(void)ts_kernel_feed_read(feed, take_wait, &in_place);
			(void)take_copied_waits(feed, &in_place);
		}
		ts_check(in_place.is_ordered);
		ts_kernel_feed_free(feed);
		ts_kernel_feed_free(other);
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ts_kernel_hub_free(hub);
}

#define SLEEP_NS 150000000u

/*
 * Counts the sleeps of this thread that began at since_ns or later. *ret_frames: frames in the
 * stack of the last sleep.
 */
static size_t take_sleeps(struct ts_kernel_feed *feed, uint64_t since_ns, uint32_t *ret_frames)
{
	const uint8_t *at, *end;
	const void *events;
	size_t n_bytes, n = 0;

	*ret_frames = 0;
	while (ts_kernel_feed_take(feed, &events, &n_bytes)) {
		at = events;
		for (end = at + n_bytes; at < end;) {
			const struct ts_bpf_off_cpu_stack *told = (const void *)at;
			const struct ts_bpf_event *event = &told->interval.event;

			at += ts_kernel_event_bytes(event);
			if (event->tid != (uint32_t)gettid() || event->start_ns < since_ns ||
			    !slept(&told->interval, SLEEP_NS))
				continue;
			n++;
			*ret_frames = event->program == TS_BPF_STACKS ? told->n_frames : 0;
		}
	}
	return n;
}

/*
 * Sleeps, and counts the events of these sleeps. Events arrive with a delay. When a feed has been
 * changed and the ring has been read, all events of earlier sleeps have arrived.
 */
static size_t count_sleeps(struct ts_kernel_feed *feed, size_t n_wanted, uint32_t *ret_frames)
{
	size_t n = 0;

	for (unsigned i = 0; i < (n_wanted ? TRIES : 1) && !n; i++) {
		struct timespec time = {.tv_nsec = SLEEP_NS};
		uint64_t since_ns = i ? ts_clock_monotonic_ns() : 0;

		while (nanosleep(&time, &time))
			;
		/*
		 * The hub reads its ring every 50 ms. If no event is expected, the loop waits for
		 * 200 ms.
		 */
		for (unsigned j = 0; j < (n_wanted ? 200 : 20) && !n; j++) {
			time = (struct timespec){.tv_nsec = 10000000};
			nanosleep(&time, NULL);
			n = take_sleeps(feed, since_ns, ret_frames);
		}
	}
	return n;
}

TS_TEST(a_feed_is_changed)
{
	struct ts_kernel_config config = {.programs = 1u << TS_BPF_SCHED | 1u << TS_BPF_STACKS,
					  .threshold_ns = {[TS_BPF_SCHED] = 20000000}};
	const struct ts_kernel_config none = {0};
	struct ts_kernel_feed *feed;
	struct ts_kernel_hub *hub;
	uint32_t n_frames;

	ts_check_int(ts_kernel_hub_new(&config, false, &hub), 0);
	ts_check_int(ts_kernel_hub_config(hub)->programs, config.programs);
	feed_self(hub, &feed);
	if (!feed) {
		ts_kernel_hub_free(hub);
		return;
	}
	ts_check_int(count_sleeps(feed, 1, &n_frames), 1);
	ts_check(n_frames > 0);
	ts_check_int(ts_kernel_feed_change(feed, &none), 0);
	ts_check_int(count_sleeps(feed, 0, &n_frames), 0);
	/* The time while the feed was off is not reported as one long interval. */
	config.programs = 1u << TS_BPF_SCHED;
	ts_check_int(ts_kernel_feed_change(feed, &config), 0);
	ts_check_int(count_sleeps(feed, 1, &n_frames), 1);
	ts_check_int(n_frames, 0);
	config.threshold_ns[TS_BPF_SCHED] = UINT64_C(1000000000000);
	ts_check_int(ts_kernel_feed_change(feed, &config), 0);
	ts_check_int(count_sleeps(feed, 0, &n_frames), 0);
	ts_kernel_feed_free(feed);
	ts_kernel_hub_free(hub);
}

/* ---- each program, attached: the kernel's test runs accept none of their types ---- */

/*
 * Begins a feed of this process with one program. Returns false, and prints the reason, if the
 * program is unavailable here.
 */
static bool watch(enum ts_bpf_program program, struct ts_kernel_hub **ret_hub,
		  struct ts_kernel_feed **ret_feed)
{
	const struct ts_kernel_config config = {.programs = 1u << program};

	ts_check_int(ts_kernel_hub_new(&config, false, ret_hub), 0);
	feed_self(*ret_hub, ret_feed);
	if (*ret_feed)
		return true;
	ts_check(ts_kernel_hub_missing(*ret_hub) != NULL);
	ts_kernel_hub_free(*ret_hub);
	return false;
}

/*
 * Returns the next event of `program` after `after`. If `after` is NULL, first ends the feed, so
 * that all its events have arrived, and returns the first event of `program`.
 */
static const struct ts_bpf_event *next_event(struct ts_kernel_feed *feed, uint32_t program,
					     const struct ts_bpf_event *after)
{
	static const uint8_t *at, *end;
	const struct ts_bpf_event *event;
	const void *events;
	size_t n_bytes;

	if (!after) {
		ts_kernel_feed_end(feed);
		ts_kernel_feed_take(feed, &events, &n_bytes);
		at = events;
		end = at + n_bytes;
	}
	while (at < end) {
		event = (const void *)at;
		at += ts_kernel_event_bytes(event);
		if (event->program == program)
			return event;
	}
	return NULL;
}

#define PAGES	   1000
#define PAGE_BYTES 4096

TS_TEST(faults_are_told)
{
	const struct ts_bpf_event *event = NULL;
	struct ts_kernel_feed *feed;
	struct ts_kernel_hub *hub;
	uint8_t *memory;
	size_t n = 0;

	if (!watch(TS_BPF_FAULTS, &hub, &feed))
		return;
	memory = mmap(NULL, PAGES * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	ts_check(memory != MAP_FAILED);
	madvise(memory, PAGES * PAGE_BYTES, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		((volatile uint8_t *)memory)[i * PAGE_BYTES] = 1;
	while ((event = next_event(feed, TS_BPF_FAULTS, event))) {
		const struct ts_bpf_fault *fault = (const void *)event;

		if (fault->address - (uintptr_t)memory >= PAGES * PAGE_BYTES)
			continue;
		ts_check_int(fault->address - (uintptr_t)memory, n * PAGE_BYTES);
		ts_check_int(fault->fault, 1);
		ts_check_int(fault->event.tid, getpid());
		ts_check(fault->event.end_ns >= fault->event.start_ns);
		n++;
	}
	ts_check_int(n, PAGES);
	ts_check_int(count_lost(feed, TS_BPF_FAULTS), 0);
	munmap(memory, PAGES * PAGE_BYTES);
	ts_kernel_feed_free(feed);
	ts_kernel_hub_free(hub);
}

TS_TEST(system_calls_are_told)
{
	const struct ts_bpf_event *event = NULL;
	struct ts_kernel_feed *feed;
	struct ts_kernel_hub *hub;
	char bytes[100];
	size_t n = 0;
	int fd;

	if (!watch(TS_BPF_SYSCALLS, &hub, &feed))
		return;
	fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < 10; i++)
		ts_check_int(pread(fd, bytes, sizeof(bytes), 16 * i), sizeof(bytes));
	ts_check_int(pread(-1, bytes, sizeof(bytes), 0), -1);
	while ((event = next_event(feed, TS_BPF_SYSCALLS, event))) {
		const struct ts_bpf_syscall *call = (const void *)event;

		if (call->syscall != SYS_pread64)
			continue;
		ts_check_int(call->fd, fd);
		ts_check_int(call->result, sizeof(bytes));
		ts_check_int(call->bytes, sizeof(bytes));
		ts_check_int(call->offset, 16 * n++);
		ts_check_int(call->address, (uintptr_t)bytes);
		ts_check(!strncmp(call->file, "test-kernel-events", 18));
	}
	ts_check_int(n, 10);
	close(fd);
	ts_kernel_feed_free(feed);
	ts_kernel_hub_free(hub);
}

#define PIECES	    10
#define PIECE_BYTES (8u << 20) /* more than one request to a disk can carry: the kernel splits it */

/* Opens a file whose data must come from a disk; -1: this file system has no disk. */
static int open_on_disk(uint8_t *bytes)
{
	char path[] = "kernel-events-XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC), direct;
	struct stat status;

	ts_check(fd >= 0);
	direct = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	unlink(path);
	for (int i = 0; i < PIECES; i++)
		ts_check_int(write(fd, bytes, PIECE_BYTES), PIECE_BYTES);
	ts_check_int(fsync(fd), 0);
	ts_check_int(fstat(fd, &status), 0);
	close(fd);
	if (direct >= 0 && major(status.st_dev))
		return direct;
	if (direct >= 0)
		close(direct);
	return -1;
}

TS_TEST(disks_are_told)
{
	const struct ts_bpf_event *event = NULL;
	struct ts_kernel_feed *feed;
	struct ts_kernel_hub *hub;
	uint64_t n_bytes = 0, n_done = 0;
	uint8_t *bytes = aligned_alloc(4096, PIECE_BYTES);
	int fd;

	memset(bytes, 7, PIECE_BYTES);
	fd = open_on_disk(bytes);
	if (fd < 0 || !watch(TS_BPF_BLOCK, &hub, &feed)) {
		if (fd >= 0)
			close(fd);
		free(bytes);
		return;
	}
	for (int i = 0; i < PIECES; i++)
		ts_check_int(pread(fd, bytes, PIECE_BYTES, (off_t)i * PIECE_BYTES), PIECE_BYTES);
	while ((event = next_event(feed, TS_BPF_BLOCK, event))) {
		const struct ts_bpf_block_io *io = (const void *)event;

		/* The file system itself reads metadata to find the data. */
		if (io->operation != TS_BLOCK_READ || io->flags & TS_BLOCK_IO_METADATA)
			continue;
		ts_check_int(event->tid, gettid());
		ts_check_int(event->pid, getpid());
		ts_check(io->disk[0] && strnlen(io->disk, sizeof(io->disk)) < sizeof(io->disk));
		ts_check_int(io->error, 0);
		ts_check(!io->issued_ns || io->issued_ns >= event->start_ns);
		n_bytes += io->bytes;
		if (!event->end_ns)
			continue;
		ts_check(io->issued_ns <= event->end_ns && event->start_ns < event->end_ns);
		ts_check_int(io->done_bytes, io->bytes);
		n_done++;
	}
	ts_check(n_done > 0);
	/*
	 * On some machines an eBPF program does not see I/O that ends in an interrupt. Such events
	 * are counted as lost.
	 */
	if (!count_lost(feed, TS_BPF_BLOCK))
		ts_check_int(n_bytes, (uint64_t)PIECES * PIECE_BYTES);
	close(fd);
	free(bytes);
	ts_kernel_feed_free(feed);
	ts_kernel_hub_free(hub);
}

/*
 * Runs a child of this process that sleeps once and is woken by its timer. Returns the number of
 * events that record this sleep; -1: this machine has no such events.
 */
static int told_of_a_child(void)
{
	const struct ts_bpf_event *event = NULL;
	struct ts_kernel_feed *feed;
	struct ts_kernel_hub *hub;
	pid_t child;
	int n = 0;

	if (!watch(TS_BPF_SCHED, &hub, &feed))
		return -1;
	child = fork();
	if (!child) {
		usleep(SLEEP_NS / 1000);
		_exit(0);
	}
	ts_check_int(waitpid(child, NULL, 0), child);
	while ((event = next_event(feed, TS_BPF_SCHED, event))) {
		const struct ts_bpf_off_cpu *interval = (const void *)event;

		n += event->pid == (uint32_t)child && event->tid == (uint32_t)child &&
		     slept(interval, SLEEP_NS) && interval->waker_context == TS_BPF_WAKER_INTERRUPT;
	}
	ts_kernel_feed_free(feed);
	ts_kernel_hub_free(hub);
	return n;
}

TS_TEST(children_are_followed)
{
	int n = told_of_a_child();

	/*
	 * A busy machine may delay the child until its timer has expired, so that it does not
	 * sleep.
	 */
	for (unsigned i = 1; i < TRIES && !n; i++)
		n = told_of_a_child();
	ts_check(n == 1 || n == -1);
}
