/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-kernel [SWITCHES [MILLISECONDS [LIST]]]: the cost of kernel events (daemon/bpf) to the
 * process that they observe. Two threads on one CPU pass a token; one thread computes. Each is
 * measured alternately with and without a feed on this process, and the minimum counts. Then the
 * kernel's own statistics of BPF programs give the run time of each program, which a busy machine
 * changes little.
 *
 * The process runs as an ordinary user, because programs compare the user's credentials at each
 * event. It keeps the capabilities that it needs.
 */
#include <bpf/bpf.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "daemon/bpf/hub.h"
#include "daemon/util/identity.h"
#include "test/bench/bench.h"

#define REPEATS	     7
#define SKIPPED	     77
#define MAX_PROGRAMS 64
#define NOBODY	     65534u

static struct ts_kernel_hub *hub;
static uint32_t turn; /* the thread that has the token */
static uint64_t n_turns;
static uint64_t n_events, n_lost;

struct measured {
	double without_ns, with_ns; /* of one switch or round */
};

static int be_ordinary(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2];
	int r;

	r = syscall(SYS_capget, &header, data) || prctl(PR_SET_KEEPCAPS, 1) ||
	    setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    syscall(SYS_capset, &header, data) || prctl(PR_SET_DUMPABLE, 1);
	return r ? -errno : 0;
}

/* ---- two threads and a token ---------------------------------------------------------------- */

static void pass(uint32_t from)
{
	for (uint64_t i = 0; i < n_turns; i++) {
		while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != from)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, !from, NULL, NULL, 0);
		__atomic_store_n(&turn, !from, __ATOMIC_RELEASE);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

static void *partner(void *data)
{
	ts_bench_pin(0);
	pass(1);
	return NULL;
}

/* A turn of both threads is two switches. */
static double token_ns(uint64_t n_switches)
{
	uint64_t start_ns;
	pthread_t thread;

	n_turns = n_switches / 2;
	turn = 0;
	ts_bench_pin(0);
	start_ns = ts_clock_monotonic_ns();
	pthread_create(&thread, NULL, partner, NULL);
	pass(0);
	pthread_join(thread, NULL);
	return (double)(ts_clock_monotonic_ns() - start_ns) / (double)(2 * n_turns);
}

/* ---- one thread that computes --------------------------------------------------------------- */

static uint64_t processor_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Returns the ns of processor time per round, so that other processes do not change the result. */
static double compute_ns(uint64_t n_rounds)
{
	uint64_t start_ns = processor_ns();
	volatile uint64_t sum = 0;
	uint64_t x = n_rounds;

	for (uint64_t i = 0; i < n_rounds; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		sum = sum + x;
	}
	return (double)(processor_ns() - start_ns) / (double)n_rounds;
}

/* ---- with and without ----------------------------------------------------------------------- */

static struct ts_kernel_feed *feed_begin(void)
{
	struct ts_kernel_process self = {.pid = getpid(), .uid = getuid(), .gid = getgid()};
	struct ts_kernel_feed *feed = NULL;

	if (ts_identity_start_ticks(self.pid, &self.start_ticks) ||
	    ts_kernel_feed_new(hub, &self, &feed) || !feed) {
		fprintf(stderr, "bench-kernel: no kernel events: %s\n",
			ts_kernel_hub_missing(hub) ? ts_kernel_hub_missing(hub)
						   : "they cannot be attached");
		exit(SKIPPED);
	}
	return feed;
}

static void feed_finish(struct ts_kernel_feed *feed)
{
	uint64_t lost[TS_BPF_N_PROGRAMS];
	const void *events;
	size_t n_bytes;

	ts_kernel_feed_end(feed);
	ts_kernel_feed_losses(feed, lost);
	for (unsigned i = 0; i < TS_BPF_N_PROGRAMS; i++)
		n_lost += lost[i];
	while (ts_kernel_feed_take(feed, &events, &n_bytes)) {
		const uint8_t *at = events, *end = at + n_bytes;

		for (; at < end; n_events++)
			at += ts_kernel_event_bytes((const void *)at);
	}
	ts_kernel_feed_free(feed);
}

static struct measured compare(double (*what)(uint64_t), uint64_t n)
{
	struct measured least = {1e18, 1e18};

	for (unsigned i = 0; i < REPEATS; i++) {
		double without_ns = what(n), with_ns;
		struct ts_kernel_feed *feed = feed_begin();

		with_ns = what(n);
		feed_finish(feed);
		least.without_ns = without_ns < least.without_ns ? without_ns : least.without_ns;
		least.with_ns = with_ns < least.with_ns ? with_ns : least.with_ns;
	}
	return least;
}

/* ---- the kernel's statistics ---------------------------------------------------------------- */

struct program {
	uint32_t id;
	uint64_t runs, ns;
	char name[BPF_OBJ_NAME_LEN];
};

static size_t read_programs(struct program *programs)
{
	uint32_t id = 0;
	size_t n = 0;

	while (n < MAX_PROGRAMS && !bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info = {0};
		uint32_t n_bytes = sizeof(info);
		int fd = bpf_prog_get_fd_by_id(id);

		if (fd < 0)
			continue;
		if (!bpf_obj_get_info_by_fd(fd, &info, &n_bytes)) {
			programs[n].id = id;
			programs[n].runs = info.run_cnt;
			programs[n].ns = info.run_time_ns;
			memcpy(programs[n++].name, info.name, sizeof(info.name));
		}
		close(fd);
	}
	return n;
}

/*
 * Prints the BPF programs that ran during the context switches. Leaves out programs that did not
 * exist at the start, or that ran for fewer than half of the switches.
 */
static void print_programs(uint64_t n_switches)
{
	static struct program before[MAX_PROGRAMS], after[MAX_PROGRAMS];
	int fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	struct ts_kernel_feed *feed = feed_begin();
	size_t n_before = read_programs(before), n_after;
	const char *comma = "";

	(void)token_ns(n_switches);
	n_after = read_programs(after);
	feed_finish(feed);
	printf(", \"programs\": {");
	for (size_t i = 0; i < n_after && fd >= 0; i++)
		for (size_t j = 0; j < n_before; j++) {
			uint64_t runs = after[i].runs - before[j].runs;

			if (after[i].id != before[j].id || runs < n_switches / 2)
				continue;
			printf("%s\"%s\": {\"runs\": %" PRIu64 ", \"ns\": %.1f}", comma,
			       after[i].name, runs,
			       (double)(after[i].ns - before[j].ns) / (double)runs);
			comma = ", ";
		}
	printf("}");
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	uint64_t n_switches = ts_bench_count(argc, argv, 200000);
	uint64_t n_ms = argc > 2 ? strtoull(argv[2], NULL, 10) : 200;
	struct measured token, compute;
	struct ts_kernel_config config;
	char why[256];
	double one_ns;

	if (ts_kernel_config_parse(argc > 3 ? argv[3] : "sched", &config, why, sizeof(why))) {
		fprintf(stderr, "bench-kernel: %s\n", why);
		return 2;
	}
	if (ts_kernel_hub_new(&config, false, &hub))
		return 1;
	if (!geteuid() && be_ordinary()) {
		perror("bench-kernel: cannot become an ordinary user");
		return 1;
	}
	one_ns = compute_ns(1000000);
	token = compare(token_ns, n_switches);
	compute = compare(compute_ns, (uint64_t)((double)n_ms * 1e6 / one_ns) + 1);
	printf("{\"switch_ns\": %.1f, \"switch_with_ns\": %.1f, \"compute_ratio\": %.5f",
	       token.without_ns, token.with_ns, compute.with_ns / compute.without_ns);
	print_programs(n_switches);
	printf(", \"events\": %" PRIu64 ", \"lost\": %" PRIu64 "}\n", n_events, n_lost);
	ts_kernel_hub_free(hub);
	return 0;
}
