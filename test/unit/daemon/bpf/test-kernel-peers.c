/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests that a feed reports kernel events only of threads with the right credentials. A process of
 * an ordinary user, the owner of a feed, executes kernel-peer.c, which makes one event of each
 * kind. The test runs that program set-user-id and set-group-id, in the process itself and in a
 * child of it. The test also runs the program with memory that is not dumpable, and in a process
 * that reuses the first process's pid. Events of memory and of drivers come from the kernel's test
 * of the attached programs (BPF_PROG_TEST_RUN), because the test cannot produce their causes.
 */
#include <bpf/bpf.h>
#include <dirent.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>

#include "test/unit/harness.h"

#include "daemon/bpf/hub.h"
#include "daemon/util/identity.h"
#include "proto/abi/base.h"
#include "proto/abi/clock.h"
#include "test/unit/daemon/bpf/kernel-peer.h"

#define USER	     4100123u /* no account has this uid */
#define GROUP	     4100124u
#define OTHER_USER   4100125u
#define ALL_PROGRAMS ((1u << TS_BPF_N_PROGRAMS) - 1)

static const char *const program_names[PEER_N_PROGRAMS] = {
	[PEER_RECLAIM_BEGUN] = "direct_begun",	[PEER_RECLAIM_OVER] = "direct_over",
	[PEER_FENCE_MADE] = "fence_made",	[PEER_FENCE_SIGNALED] = "fence_signaled",
	[PEER_WAIT_BEGUN] = "fence_wait_begun", [PEER_WAIT_OVER] = "fence_wait_over",
};

/*
 * The folder with copies of kernel-peer, and the descriptors that processes inherit from the test.
 */
static struct {
	char folder[32];
	int folder_fd, shared_fd, plain_fd, setuid_fd, setgid_fd;
	struct peer_shared *shared;
	struct ts_kernel_hub *hub;
	int program_fds[PEER_N_PROGRAMS]; /* -1: the hub does not have the program */
	bool on_disk;
} setup;

/* ---- setting up ------------------------------------------------------------------------------ */

static int copy_program(const char *name, mode_t mode)
{
	int from = open(getenv("KERNEL_PEER"), O_RDONLY | O_CLOEXEC), to;
	struct stat status;
	off_t off = 0;

	ts_check(from >= 0);
	ts_check_int(fstat(from, &status), 0);
	to = openat(setup.folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	ts_check(to >= 0);
	while (off < status.st_size)
		ts_check(copy_file_range(from, &off, to, NULL, (size_t)(status.st_size - off), 0) >
			 0);
	ts_check_int(fchown(to, 0, 0), 0);
	ts_check_int(fchmod(to, mode), 0);
	close(from);
	close(to);
	to = openat(setup.folder_fd, name, O_RDONLY | O_CLOEXEC);
	ts_check(to >= 0);
	return to;
}

static void make_file(const char *name, size_t n_bytes)
{
	uint8_t *bytes = calloc(1, n_bytes);
	int fd = openat(setup.folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	ts_check(fd >= 0 && bytes);
	ts_check_int(fchmod(fd, 0644), 0);
	ts_check_int(write(fd, bytes, n_bytes), (int64_t)n_bytes);
	ts_check_int(fsync(fd), 0);
	close(fd);
	free(bytes);
}

static void begin_hub(const struct ts_kernel_config *config)
{
	ts_check_int(ts_kernel_hub_new(config, false, &setup.hub), 0);
	if (ts_kernel_hub_programs(setup.hub))
		return;
	fprintf(stderr, "%s\n", ts_kernel_hub_missing(setup.hub));
	ts_kernel_hub_free(setup.hub);
	ts_skip("kernel events cannot be had here");
}

static void begin(const struct ts_kernel_config *config)
{
	struct statvfs file_system;
	struct stat status;

	if (geteuid())
		ts_skip("processes of other users take root");
	begin_hub(config);
	snprintf(setup.folder, sizeof(setup.folder), "kernel-peers-XXXXXX");
	ts_check(mkdtemp(setup.folder) != NULL);
	ts_check_int(chmod(setup.folder, 0755), 0);
	setup.folder_fd = open(setup.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ts_check(setup.folder_fd >= 0);
	ts_check_int(fstatvfs(setup.folder_fd, &file_system), 0);
	ts_check_int(fstat(setup.folder_fd, &status), 0);
	if (file_system.f_flag & ST_NOSUID) {
		rmdir(setup.folder);
		ts_kernel_hub_free(setup.hub);
		ts_skip("this file system has no set-user-id programs");
	}
	setup.on_disk = major(status.st_dev) != 0;
	make_file(PEER_MARKER, 1);
	make_file(PEER_DATA, PEER_DATA_BYTES);
	setup.plain_fd = copy_program("plain", 0755);
	setup.setuid_fd = copy_program("setuid", 04755);
	setup.setgid_fd = copy_program("setgid", 02755);
	setup.shared_fd = memfd_create("shared", MFD_CLOEXEC);
	ts_check_int(ftruncate(setup.shared_fd, sizeof(*setup.shared)), 0);
	setup.shared = mmap(NULL, sizeof(*setup.shared), PROT_READ | PROT_WRITE, MAP_SHARED,
			    setup.shared_fd, 0);
	ts_check(setup.shared != MAP_FAILED);
}

static void finish(void)
{
	static const char *const files[] = {PEER_MARKER, PEER_DATA, "plain", "setuid", "setgid"};

	for (size_t i = 0; i < TS_ARRAY_LEN(files); i++)
		ts_check_int(unlinkat(setup.folder_fd, files[i], 0), 0);
	ts_check_int(rmdir(setup.folder), 0);
	munmap(setup.shared, sizeof(*setup.shared));
	close(setup.folder_fd);
	close(setup.shared_fd);
	close(setup.plain_fd);
	close(setup.setuid_fd);
	close(setup.setgid_fd);
	ts_kernel_hub_free(setup.hub);
}

/* ---- processes of the user ------------------------------------------------------------------- */

/* Finds a BPF program of the hub by name, among the descriptors of this process. */
static int find_program(const char *name)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -1;

	ts_check(folder != NULL);
	while (found < 0 && (entry = readdir(folder))) {
		struct bpf_prog_info info = {0};
		uint32_t n_info = sizeof(info);
		char path[64], target[64] = "";

		snprintf(path, sizeof(path), "/proc/self/fd/%.16s", entry->d_name);
		if (readlink(path, target, sizeof(target) - 1) < 0 || !strstr(target, "bpf-prog"))
			continue;
		/* The kernel keeps 15 characters of a program's name. */
		if (!bpf_obj_get_info_by_fd(atoi(entry->d_name), &info, &n_info) &&
		    !strncmp(info.name, name, sizeof(info.name) - 1))
			found = atoi(entry->d_name);
	}
	closedir(folder);
	return found;
}

static void inherit(int fd, int as)
{
	if (fd >= 0 && dup2(fd, as) != as)
		_exit(10);
}

/*
 * Sets the six user and group ids. This process, and a program that it executes, keep the
 * capabilities to run eBPF programs, unless the program is set-id.
 */
static void become(uid_t uid)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	const unsigned kept[] = {CAP_SYS_ADMIN, 38 /* CAP_PERFMON */, 39 /* CAP_BPF */};

	for (size_t i = 0; i < TS_ARRAY_LEN(kept); i++) {
		data[kept[i] / 32].permitted |= 1u << kept[i] % 32;
		data[kept[i] / 32].effective |= 1u << kept[i] % 32;
		data[kept[i] / 32].inheritable |= 1u << kept[i] % 32;
	}
	if (prctl(PR_SET_KEEPCAPS, 1) || setresgid(GROUP, GROUP, GROUP) ||
	    setresuid(uid, uid, uid) || syscall(SYS_capset, &header, data))
		_exit(11);
	for (size_t i = 0; i < TS_ARRAY_LEN(kept); i++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, kept[i], 0, 0))
			_exit(12);
	if (prctl(PR_SET_DUMPABLE, 1))
		_exit(13);
}

struct peer {
	int program_fd; /* the program that the process executes */
	const char *mode;
	bool in_child; /* a child executes the program, not the process itself */
	bool set_pid;  /* the process gets `pid` as its pid */
	pid_t pid;
	void (*body)(void); /* runs instead of a program */
	uid_t uid;	    /* 0: USER */
};

static void execute(const struct peer *peer)
{
	char *arguments[] = {(char *)"kernel-peer", (char *)peer->mode, NULL};

	/*
	 * These first calls fault in the memory that they touch, so that no such fault happens
	 * after exec_ns.
	 */
	setup.shared->exec_ns = ts_clock_monotonic_ns();
	syscall(SYS_execveat, -1, "", arguments, environ, AT_EMPTY_PATH);
	setup.shared->exec_ns = ts_clock_monotonic_ns();
	syscall(SYS_execveat, peer->program_fd, "", arguments, environ, AT_EMPTY_PATH);
	_exit(14);
}

static void run_peer(const struct peer *peer)
{
	int status;
	pid_t child;

	inherit(setup.shared_fd, PEER_FD_SHARED);
	inherit(setup.folder_fd, PEER_FD_FOLDER);
	inherit(setup.plain_fd, PEER_FD_PLAIN);
	for (int i = 0; i < PEER_N_PROGRAMS; i++)
		inherit(setup.program_fds[i], PEER_FD_PROGRAMS + i);
	become(peer->uid ? peer->uid : USER);
	setup.shared->pid = (uint32_t)getpid();
	while (!__atomic_load_n(&setup.shared->go, __ATOMIC_ACQUIRE))
		poll(NULL, 0, 1); /* poll() and not nanosleep(): the test counts sleeps */
	if (peer->body) {
		peer->body();
		_exit(0);
	}
	if (!peer->in_child)
		execute(peer);
	child = fork();
	if (!child)
		execute(peer);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		_exit(15);
	_exit(0);
}

/*
 * Forks by the system call, without the C library's knowledge. The child must not call functions
 * that allocate.
 */
static pid_t fork_as(pid_t pid)
{
	struct clone_args arguments = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};

	return (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
}

/*
 * Starts a process that waits for `go`. Returns -1 if the kernel does not give it the requested
 * pid.
 */
static pid_t start_peer(const struct peer *peer)
{
	pid_t pid;

	memset(setup.shared, 0, sizeof(*setup.shared));
	for (int i = 0; i < PEER_N_PROGRAMS; i++)
		setup.program_fds[i] = find_program(program_names[i]);
	pid = peer->set_pid ? fork_as(peer->pid) : fork();
	if (!pid)
		run_peer(peer);
	if (pid < 0 && peer->set_pid)
		return -1;
	ts_check(pid > 0);
	while (!__atomic_load_n(&setup.shared->pid, __ATOMIC_ACQUIRE)) {
		ts_check_int(waitpid(pid, NULL, WNOHANG), 0);
		usleep(1000);
	}
	return pid;
}

static void finish_peer(pid_t pid)
{
	int status;

	__atomic_store_n(&setup.shared->go, 1, __ATOMIC_RELEASE);
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
}

static struct ts_kernel_process process_of(pid_t pid)
{
	struct ts_kernel_process process = {.pid = pid, .uid = USER, .gid = GROUP};

	ts_check_int(ts_identity_start_ticks(pid, &process.start_ticks), 0);
	return process;
}

/* ---- events that came ----------------------------------------------------------------------- */

struct seen {
	uint64_t events[TS_BPF_N_PROGRAMS]; /* events of the program since its start_ns */
	/* is_early() events between exec_ns and start_ns */
	uint64_t early;
	uint64_t stacks_of_exec; /* frames of the program's memory in the intervals of its execve */
	uint64_t n_sleeps, n_opens, n_faults; /* from counts */
};

/*
 * True if the kernel can cause such an event only after it has changed the credentials. Before the
 * change, the process is off its CPU, and reads its program and arguments in kernel code. A fault
 * of this program is not one: ThreadSanitizer's memory can fault just before execveat().
 */
static bool is_early(const struct ts_bpf_event *event)
{
	const struct ts_bpf_fault *fault = (const void *)event;

	return event->program == TS_BPF_SYSCALLS ||
	       (event->program == TS_BPF_FAULTS && fault->instruction &&
		strncmp(event->name, program_invocation_short_name, sizeof(event->name) - 1) != 0);
}

static void see_event(const struct ts_bpf_event *event, struct seen *seen)
{
	const struct ts_bpf_off_cpu_stack *stack = (const void *)event;

	if (event->pid != setup.shared->pid)
		return;
	if (event->program == TS_BPF_STACKS && stack->interval.syscall == SYS_execveat)
		seen->stacks_of_exec += stack->n_frames;
	/* An interval with a stack is an event of sched, too. */
	if (event->start_ns >= setup.shared->start_ns && event->program == TS_BPF_STACKS)
		seen->events[TS_BPF_SCHED]++;
	if (event->start_ns >= setup.shared->start_ns)
		seen->events[event->program]++;
	else if (event->start_ns >= setup.shared->exec_ns && is_early(event))
		seen->early++;
}

static void see_tally(const struct ts_kernel_tally *tally, struct seen *seen)
{
	if (tally->key.tid != setup.shared->pid)
		return;
	if (tally->key.program == TS_BPF_SCHED && tally->key.what == SYS_clock_nanosleep)
		seen->n_sleeps += tally->sum.count;
	if (tally->key.program == TS_BPF_SYSCALLS && tally->key.what == SYS_openat)
		seen->n_opens += tally->sum.count;
	if (tally->key.program == TS_BPF_FAULTS)
		seen->n_faults += tally->sum.count;
}

/* Ends the feed and counts its events. */
static struct seen see(struct ts_kernel_feed *feed)
{
	const struct ts_kernel_tally *tallies;
	struct seen seen = {{0}};
	const void *events;
	size_t n_bytes, n;

	ts_kernel_feed_end(feed);
	if (ts_kernel_feed_take(feed, &events, &n_bytes)) {
		const uint8_t *at = events, *end = at + n_bytes;

		while (at < end) {
			const struct ts_bpf_event *event = (const void *)at;

			see_event(event, &seen);
			at += ts_kernel_event_bytes(event);
		}
	}
	ts_check_int(ts_kernel_feed_tallies(feed, &tallies, &n), 0);
	for (size_t i = 0; i < n; i++)
		see_tally(&tallies[i], &seen);
	ts_kernel_feed_free(feed);
	return seen;
}

/* Returns the kinds of events that the program made and that this machine has. */
static uint32_t kinds_made(void)
{
	/* Samples come from the sampler, not from a feed. */
	uint32_t kinds = ts_kernel_hub_programs(setup.hub) & ALL_PROGRAMS & ~(1u << TS_BPF_SAMPLES);

	if (!setup.shared->has_disk || !setup.on_disk)
		kinds &= ~(1u << TS_BPF_BLOCK);
	if (setup.shared->n_runs != PEER_N_PROGRAMS)
		kinds &= ~(1u << TS_BPF_MEMORY | 1u << TS_BPF_DRIVER);
	return kinds;
}

static void check_all_reported(const struct seen *seen, uint32_t kinds)
{
	for (unsigned i = 0; i < TS_BPF_N_PROGRAMS; i++) {
		if (!(kinds & 1u << i))
			continue;
		if (!seen->events[i])
			fprintf(stderr, "no event of %s\n", ts_kernel_program_name(i));
		ts_check(seen->events[i] > 0);
	}
}

static void check_none_reported(const struct seen *seen)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < TS_BPF_N_PROGRAMS; i++) {
		if (seen->events[i])
			fprintf(stderr, "%" PRIu64 " events of %s\n", seen->events[i],
				ts_kernel_program_name(i));
		n += seen->events[i];
	}
	ts_check_int(n, 0);
}

static void check_counted(const struct seen *seen, bool is_counted)
{
	const uint32_t programs = ts_kernel_hub_programs(setup.hub);

	if (programs & 1u << TS_BPF_SCHED)
		ts_check_int(seen->n_sleeps > 0, is_counted);
	if (programs & 1u << TS_BPF_SYSCALLS)
		ts_check_int(seen->n_opens >= PEER_OPENS, is_counted);
	if (programs & 1u << TS_BPF_FAULTS)
		ts_check_int(seen->n_faults >= PEER_PAGES, is_counted);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static const struct ts_kernel_config config_all = {.programs = ALL_PROGRAMS};
static const struct ts_kernel_config config_counted = {.programs = TS_BPF_COUNTABLE,
						       .counted = TS_BPF_COUNTABLE};

/* Runs the program in a process that has a feed of `uid`. */
static struct seen watch(const struct peer *peer, uid_t uid)
{
	struct ts_kernel_process process;
	struct ts_kernel_feed *feed;
	pid_t pid = start_peer(peer);

	process = process_of(pid);
	if (!uid)
		process.uid = process.gid = 0;
	ts_check_int(ts_kernel_feed_new(setup.hub, &process, &feed), 0);
	finish_peer(pid);
	ts_check(setup.shared->end_ns != 0);
	return see(feed);
}

static void check_peer(const struct peer *peer, bool is_shown)
{
	struct seen seen = watch(peer, USER);

	if (ts_kernel_hub_config(setup.hub)->counted)
		check_counted(&seen, is_shown);
	else if (is_shown)
		check_all_reported(&seen, kinds_made());
	else
		check_none_reported(&seen);
	if (!is_shown && peer->program_fd != setup.plain_fd) {
		ts_check_int(seen.early, 0);
		ts_check_int(seen.stacks_of_exec, 0);
	}
}

/* Checks the events if the feed's process, or a child of it, executes the program. */
static void check_program(const struct ts_kernel_config *config, bool in_child)
{
	const uint32_t both = 1u << TS_BPF_MEMORY | 1u << TS_BPF_DRIVER;

	begin(config);
	check_peer(&(struct peer){setup.plain_fd, "plain", in_child}, true);
	if (!config->counted && !(both & ~ts_kernel_hub_programs(setup.hub)))
		ts_check_int(setup.shared->n_runs, PEER_N_PROGRAMS);
	check_peer(&(struct peer){setup.setuid_fd, "plain", in_child}, false);
	check_peer(&(struct peer){setup.setgid_fd, "plain", in_child}, false);
	check_peer(&(struct peer){setup.plain_fd, "undumpable", in_child}, false);
	finish();
}

TS_TEST(a_setuid_exec_is_not_reported)
{
	check_program(&config_all, false);
}

TS_TEST(a_setuid_exec_is_not_counted)
{
	check_program(&config_counted, false);
}

TS_TEST(a_setuid_child_is_not_reported)
{
	check_program(&config_all, true);
}

TS_TEST(a_setuid_child_is_not_counted)
{
	check_program(&config_counted, true);
}

/* Checks that a feed of root gets the events of all processes. */
static void check_root(const struct ts_kernel_config *config, bool is_counted)
{
	struct seen seen;

	begin(config);
	seen = watch(&(struct peer){setup.setuid_fd, "plain"}, 0);
	if (is_counted)
		check_counted(&seen, true);
	else
		check_all_reported(&seen, kinds_made());
	finish();
}

TS_TEST(root_learns_of_a_setuid_exec)
{
	check_root(&config_all, false);
}

TS_TEST(root_has_a_setuid_exec_counted)
{
	check_root(&config_counted, true);
}

/* Checks that events begin again once a process has its old credentials and dumpable memory. */
static void check_drop(const struct ts_kernel_config *config)
{
	begin(config);
	check_peer(&(struct peer){setup.setuid_fd, "drop"}, true);
	ts_check_int(setup.shared->is_dumpable, 1);
	finish();
}

TS_TEST(credentials_that_come_back_are_reported)
{
	check_drop(&config_all);
}

TS_TEST(credentials_that_come_back_are_counted)
{
	check_drop(&config_counted);
}

/* Returns the pid and the start time of a process that has ended. */
static struct ts_kernel_process process_gone(void)
{
	struct ts_kernel_process process;
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	ts_check(pid > 0);
	process = process_of(pid);
	ts_check_int(kill(pid, SIGKILL), 0);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	return process;
}

/*
 * Checks a feed for a process that has ended, if another process of the same user has got its pid
 * before the feed begins.
 */
static void check_reused(const struct ts_kernel_config *config)
{
	struct peer peer = {.mode = "plain", .set_pid = true};
	struct ts_kernel_process process;
	struct ts_kernel_feed *feed;
	struct seen seen;
	pid_t pid;

	begin(config);
	peer.program_fd = setup.plain_fd;
	process = process_gone();
	peer.pid = process.pid;
	/* The kernel reports starts in units of 10 ms. */
	usleep(30000);
	pid = start_peer(&peer);
	if (pid < 0) {
		finish();
		ts_skip("this kernel gives no process a number that is asked for");
	}
	ts_check_int(pid, process.pid);
	ts_check_int(ts_kernel_feed_new(setup.hub, &process, &feed), 0);
	finish_peer(pid);
	ts_check(setup.shared->end_ns != 0);
	ts_check_int(setup.shared->pid, process.pid);
	seen = see(feed);
	if (config->counted)
		check_counted(&seen, false);
	else
		check_none_reported(&seen);
	finish();
}

TS_TEST(a_reused_pid_is_not_reported)
{
	check_reused(&config_all);
}

TS_TEST(a_reused_pid_is_not_counted)
{
	check_reused(&config_counted);
}

/* ---- state of threads that ended ------------------------------------------------------------ */

static void run_inherited(enum peer_program program)
{
	uint64_t arguments[12] = {0};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments,
		    .ctx_size_in = sizeof(arguments));

	if (setup.program_fds[program] >= 0 &&
	    bpf_prog_test_run_opts(PEER_FD_PROGRAMS + (int)program, &options))
		_exit(16);
}

/*
 * The thread begins to reclaim memory and to wait for a fence, and then waits in a system call
 * until the test kills it.
 */
static void begin_all(void)
{
	run_inherited(PEER_RECLAIM_BEGUN);
	run_inherited(PEER_WAIT_BEGUN);
	__atomic_store_n(&setup.shared->start_ns, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &setup.shared->reserved, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static void end_all(void)
{
	usleep(1000);
	run_inherited(PEER_RECLAIM_OVER);
	run_inherited(PEER_WAIT_OVER);
}

static size_t count_since(struct ts_kernel_feed *feed, uint64_t since_ns)
{
	const uint8_t *at, *end;
	const void *events;
	size_t n_bytes, n = 0;

	ts_kernel_feed_end(feed);
	if (!ts_kernel_feed_take(feed, &events, &n_bytes))
		return 0;
	at = events;
	for (end = at + n_bytes; at < end;) {
		const struct ts_bpf_event *event = (const void *)at;

		if (event->end_ns >= since_ns) {
			fprintf(stderr, "an event of %s\n", ts_kernel_program_name(event->program));
			n++;
		}
		at += ts_kernel_event_bytes(event);
	}
	return n;
}

/*
 * A thread of another user, with its own session, gets the tid of a killed thread. Its events do
 * not end the killed thread's reclaim and wait.
 */
TS_TEST(a_reused_tid_does_not_end_what_another_began)
{
	struct peer other = {.set_pid = true, .body = end_all, .uid = OTHER_USER};
	struct ts_kernel_feed *feed, *others_feed;
	struct ts_kernel_process process;
	uint64_t since_ns;
	pid_t pid;

	begin(&config_all);
	pid = start_peer(&(struct peer){.body = begin_all});
	process = process_of(pid);
	ts_check_int(ts_kernel_feed_new(setup.hub, &process, &feed), 0);
	__atomic_store_n(&setup.shared->go, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&setup.shared->start_ns, __ATOMIC_ACQUIRE))
		usleep(1000);
	usleep(50000);
	ts_check_int(kill(pid, SIGKILL), 0);
	ts_check_int(waitpid(pid, NULL, 0), pid);
	since_ns = ts_clock_monotonic_ns();
	other.pid = pid;
	if (start_peer(&other) < 0) {
		ts_kernel_feed_free(feed);
		finish();
		ts_skip("this kernel gives no process a number that is asked for");
	}
	process = process_of(pid);
	process.uid = OTHER_USER;
	ts_check_int(ts_kernel_feed_new(setup.hub, &process, &others_feed), 0);
	finish_peer(pid);
	ts_check_int(count_since(feed, since_ns), 0);
	ts_kernel_feed_free(feed);
	ts_kernel_feed_free(others_feed);
	finish();
}

/* ---- other threads that events name ---------------------------------------------------------- */

#define N_WAKES	 20
#define WAKE_NS	 5000000u
#define SHARE_NS 300000000u /* two processes share one CPU for this time */

static int wake_pipe[2];

static void compute(uint64_t ns)
{
	uint64_t until_ns = ts_clock_monotonic_ns() + ns;

	while (ts_clock_monotonic_ns() < until_ns)
		;
}

static void pin(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		_exit(20);
}

/* A neighbour, a process of another user, wakes this process and shares its CPU. */
static void be_woken(void)
{
	uint8_t byte;

	pin();
	for (unsigned i = 0; i < N_WAKES; i++)
		if (read(wake_pipe[0], &byte, 1) != 1)
			_exit(21);
	compute(SHARE_NS);
}

static pid_t start_neighbour(bool as_user)
{
	pid_t pid = fork();

	ts_check(pid >= 0);
	if (pid)
		return pid;
	if (as_user)
		become(USER);
	pin();
	while (!__atomic_load_n(&setup.shared->go, __ATOMIC_ACQUIRE))
		usleep(1000);
	for (unsigned i = 0; i < N_WAKES; i++) {
		compute(WAKE_NS);
		if (write(wake_pipe[1], "x", 1) != 1)
			_exit(22);
	}
	compute(SHARE_NS);
	_exit(0);
}

/*
 * Checks the events of the user's process: each other thread in them is the neighbour, or its name
 * is hidden.
 */
static void check_named(struct ts_kernel_feed *feed, pid_t pid, pid_t neighbour, bool is_named)
{
	size_t n_bytes, n_next = 0, n_woken = 0;
	const void *events;

	ts_kernel_feed_end(feed);
	ts_check(ts_kernel_feed_take(feed, &events, &n_bytes));
	for (size_t off = 0; off < n_bytes; off += sizeof(struct ts_bpf_off_cpu)) {
		const struct ts_bpf_off_cpu *event = (const void *)((const uint8_t *)events + off);
		const uint32_t wanted = is_named ? (uint32_t)neighbour : TS_BPF_HIDDEN;

		ts_check_int(event->event.tid, pid);
		n_next += event->next_tid == wanted;
		n_woken +=
			event->waker_tid == wanted && event->waker_context == TS_BPF_WAKER_THREAD;
		if (event->next_tid == TS_BPF_HIDDEN)
			ts_check(!event->next_pid && !event->next[0]);
		else if (event->next_tid && event->next_tid != (uint32_t)pid)
			ts_check(is_named && event->next_tid == (uint32_t)neighbour &&
				 event->next[0]);
		if (event->waker_tid == TS_BPF_HIDDEN)
			ts_check(!event->waker_pid && !event->waker[0]);
		else if (event->waker_tid && event->waker_tid != (uint32_t)pid)
			ts_check(is_named && event->waker_tid == (uint32_t)neighbour &&
				 event->waker[0]);
	}
	ts_check(n_next > 0);
	ts_check(n_woken > 0);
	ts_kernel_feed_free(feed);
}

static void check_neighbour(bool as_user)
{
	const struct ts_kernel_config config = {.programs = 1u << TS_BPF_SCHED};
	struct ts_kernel_process process;
	struct ts_kernel_feed *feed;
	pid_t pid, neighbour;

	begin(&config);
	ts_check_int(pipe2(wake_pipe, O_CLOEXEC), 0);
	pid = start_peer(&(struct peer){.body = be_woken});
	neighbour = start_neighbour(as_user);
	process = process_of(pid);
	ts_check_int(ts_kernel_feed_new(setup.hub, &process, &feed), 0);
	finish_peer(pid);
	ts_check_int(waitpid(neighbour, NULL, 0), neighbour);
	check_named(feed, pid, neighbour, as_user);
	close(wake_pipe[0]);
	close(wake_pipe[1]);
	finish();
}

TS_TEST(threads_of_other_users_are_not_named)
{
	check_neighbour(false);
}

TS_TEST(threads_of_the_same_user_are_named)
{
	check_neighbour(true);
}
