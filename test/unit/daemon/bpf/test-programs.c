/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests eBPF programs on raw tracepoints. The kernel's own test (BPF_PROG_TEST_RUN) runs them on
 * made-up objects of kernels that this machine does not run. Loading programs needs a privilege;
 * without it the test is skipped.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stddef.h>
#include <sys/mman.h>

#include "test/unit/harness.h"

#include "daemon/bpf/bpf-event.h"
#include "daemon/bpf/bpf-objects.h"
#include "daemon/bpf/programs.h"
#include "proto/abi/base.h"
#include "sbt/schema.h"
#include "test/unit/daemon/bpf/fake-kernel.h"

#define SESSION	     7
#define MAX_TOLD     16
#define MAX_PROGRAMS 32

/* Made-up objects of the kernel. */
struct fakes {
	struct dma_fence fence;
	struct drm_gpu_scheduler scheduler;
	struct drm_sched_fence job_fence;
	struct amdgpu_job job;
	struct task_struct task, leader;
	struct cred cred;
	struct mm_struct memory;
	struct gendisk disk;
	struct request request;
	struct bio bio, piece;
	char name[16];
};

union told {
	struct ts_bpf_event event;
	struct ts_bpf_pressure pressure;
	struct ts_bpf_driver driver;
	struct ts_bpf_block_io io;
};

static struct bpf_object *fake;
static struct fakes *fakes;
static uint64_t fakes_address;
static int traced_fd = -1, events_fd = -1, lost_fd = -1, working_fd = -1;
static struct ring_buffer *ring;
static union told told[MAX_TOLD];
static size_t n_told;
static char ran[MAX_PROGRAMS][64];
static size_t n_ran;

/* Address of an object of `fakes` in the kernel. */
#define AT(object) ((void *)(uintptr_t)(fakes_address + ((uintptr_t)(object) - (uintptr_t)fakes)))

static int be_quiet(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return 0;
}

static int run_program(struct bpf_object *object, const char *name, uint64_t first, uint64_t second,
		       uint64_t third)
{
	uint64_t arguments[12] = {first, second, third};
	LIBBPF_OPTS(bpf_test_run_opts, options, .ctx_in = arguments,
		    .ctx_size_in = sizeof(arguments));
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	ts_check(program != NULL);
	return bpf_prog_test_run_opts(bpf_program__fd(program), &options);
}

static void run(struct bpf_object *object, const char *name, const void *first, uint64_t second,
		uint64_t third)
{
	size_t i = 0;

	ts_check_int(run_program(object, name, (uintptr_t)first, second, third), 0);
	while (i < n_ran && strcmp(ran[i], name))
		i++;
	if (i == n_ran) {
		ts_check(n_ran < MAX_PROGRAMS);
		snprintf(ran[n_ran++], sizeof(ran[0]), "%s", name);
	}
}

/* The BPF objects share this map, as in the daemon. */
static void share(struct bpf_object *object, const char *name, int *fd, bool after)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, name);

	if (map && after && *fd < 0)
		*fd = bpf_map__fd(map);
	else if (map && !after && *fd >= 0)
		ts_check_int(bpf_map__reuse_fd(map, *fd), 0);
}

static void share_all(struct bpf_object *object, bool after)
{
	share(object, "traced", &traced_fd, after);
	share(object, "events", &events_fd, after);
	share(object, "lost", &lost_fd, after);
	share(object, "working", &working_fd, after);
}

static const char *types_of(const char *environment)
{
	const char *path = getenv(environment);

	ts_check(path != NULL);
	return path;
}

/* Loads the object for a kernel whose types are in the file that the environment variable names. */
static struct bpf_object *load_for(const struct ts_bpf_object *bytes, const char *environment)
{
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = types_of(environment));
	struct bpf_object *object = bpf_object__open_mem(bytes->bytes, bytes->n_bytes, &options);

	ts_check(object != NULL);
	share_all(object, false);
	ts_check_int(bpf_object__load(object), 0);
	share_all(object, true);
	return object;
}

static struct bpf_object *load(const struct ts_bpf_object *bytes)
{
	return load_for(bytes, "FAKE_KERNEL");
}

static int keep(void *data, void *bytes, size_t n_bytes)
{
	ts_check(n_told < MAX_TOLD && n_bytes <= sizeof(told[0]));
	memcpy(&told[n_told++], bytes, n_bytes);
	return 0;
}

/* Returns the number of events since the last call. */
static size_t take(void)
{
	if (!ring)
		ring = ring_buffer__new(events_fd, keep, NULL, NULL);
	ts_check(ring != NULL);
	n_told = 0;
	ts_check(ring_buffer__consume(ring) >= 0);
	return n_told;
}

/*
 * Watches `pid` for a session of root, for which the programs compare no credentials. They would
 * read this thread's credentials with the layout of the fake kernel.
 */
static void watch(uint32_t pid, uint32_t program, uint64_t threshold_ns)
{
	struct ts_bpf_traced settings = {.session = SESSION,
					 .programs = 1u << program,
					 .start_span_ns = UINT64_MAX};

	settings.threshold_ns[program] = threshold_ns;
	ts_check_int(bpf_map_update_elem(traced_fd, &pid, &settings, BPF_ANY), 0);
}

static uint64_t n_lost(uint32_t program)
{
	uint32_t slot = SESSION % TS_BPF_SLOTS;
	struct ts_bpf_lost lost;

	ts_check_int(bpf_map_lookup_elem(lost_fd, &slot, &lost), 0);
	return lost.count[program];
}

static void begin(void)
{
	uint32_t zero = 0;

	libbpf_set_print(be_quiet);
	fake = bpf_object__open_file(types_of("FAKE_KERNEL"), NULL);
	ts_check(fake != NULL);
	if (bpf_object__load(fake))
		ts_skip("programs cannot be loaded here");
	if (run_program(fake, "find_memory", 0, 0, 0))
		ts_skip("this kernel runs no programs of raw tracepoints for a test");
	ts_check_int(bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(fake, "address"), &zero,
					 &fakes_address),
		     0);
	fakes = mmap(NULL, FAKE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
		     bpf_object__find_map_fd_by_name(fake, "memory"), 0);
	ts_check(fakes != MAP_FAILED && fakes_address);
}

/* Checks that each program of the object ran. */
static void end(struct bpf_object *object)
{
	struct bpf_program *program = NULL;

	while ((program = bpf_object__next_program(object, program))) {
		size_t i = 0;

		while (i < n_ran && strcmp(ran[i], bpf_program__name(program)))
			i++;
		if (i == n_ran)
			fprintf(stderr, "%s was not run\n", bpf_program__name(program));
		ts_check(i < n_ran);
	}
	bpf_object__close(object);
}

static void finish(void)
{
	ring_buffer__free(ring);
	munmap(fakes, FAKE_BYTES);
	bpf_object__close(fake);
}

static void check_event(const struct ts_bpf_event *event, uint32_t program)
{
	ts_check_int(event->session, SESSION);
	ts_check_int(event->program, program);
	ts_check_int(event->pid, getpid());
	ts_check_int(event->tid, getpid());
	ts_check(event->start_ns && event->end_ns >= event->start_ns);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void check_reclaim(struct bpf_object *object, const char *begun, const char *over,
			  uint32_t kind)
{
	run(object, begun, NULL, 0, 0);
	ts_check_int(take(), 0);
	run(object, over, (void *)(uintptr_t)(100 + kind), 0, 0);
	ts_check_int(take(), 1);
	check_event(&told[0].event, TS_BPF_MEMORY);
	ts_check_int(told[0].pressure.kind, kind);
	ts_check_int(told[0].pressure.pages, 100 + kind);
	ts_check_int(told[0].pressure.by_tid, 0);
	/* An event that is over is not reported again. */
	run(object, over, NULL, 0, 0);
	ts_check_int(take(), 0);
}

static void check_kill(struct bpf_object *object, const char *program, const void *argument,
		       uint32_t pid, uint32_t tid)
{
	watch(pid, TS_BPF_MEMORY, 0);
	run(object, program, argument, 0, 0);
	ts_check_int(take(), 1);
	ts_check_int(told[0].event.pid, pid);
	ts_check_int(told[0].event.tid, tid);
	ts_check_int(told[0].event.start_ns, told[0].event.end_ns);
	ts_check_int(told[0].pressure.kind, TS_PRESSURE_OOM_KILL);
	ts_check_int(told[0].pressure.by_pid, getpid());
	ts_check_int(told[0].pressure.by_tid, getpid());
	ts_check(told[0].pressure.by[0]);
	/* The kernel may report the kill for each thread; the victim has one event. */
	run(object, program, argument, 0, 0);
	ts_check_int(take(), 0);
}

TS_TEST(memory)
{
	struct bpf_object *object;

	begin();
	object = load(&ts_bpf_object_memory);
	run(object, "direct_begun", NULL, 0, 0);
	run(object, "direct_over", NULL, 0, 0);
	ts_check_int(take(), 0);
	watch((uint32_t)getpid(), TS_BPF_MEMORY, 0);
	check_reclaim(object, "direct_begun", "direct_over", TS_PRESSURE_DIRECT);
	check_reclaim(object, "limit_begun", "limit_over", TS_PRESSURE_LIMIT);
	check_reclaim(object, "node_begun", "node_over", TS_PRESSURE_NODE);
	run(object, "node_begun", NULL, 0, 0);
	run(object, "limit_over", NULL, 0, 0);
	ts_check_int(take(), 0);
	watch((uint32_t)getpid(), TS_BPF_MEMORY, UINT64_C(1) << 50);
	run(object, "direct_begun", NULL, 0, 0);
	run(object, "direct_over", NULL, 0, 0);
	ts_check_int(take(), 0);

	fakes->task = (struct task_struct){.comm = "eater", .tgid = 4100001, .pid = 4100002};
	run(object, "victim_marked", AT(&fakes->task), 0, 0);
	ts_check_int(take(), 0);
	check_kill(object, "victim_marked", AT(&fakes->task), 4100001, 4100002);
	ts_check_str(told[0].event.name, "eater");
	check_kill(object, "victim_marked_before_6_9", (void *)4100003, 4100003, 4100003);
	ts_check_int(n_lost(TS_BPF_MEMORY), 0);
	end(object);
	finish();
}

/* ---- credentials ----------------------------------------------------------------------------- */

#define VICTIM	 4200001u
#define OWNER	 1001u
#define GROUP	 1002u
#define START_NS UINT64_C(5000000000)
#define SPAN_NS	 UINT64_C(10000000)

/*
 * Makes a process with user id OWNER and group id GROUP, and lets a session of the user OWNER watch
 * it.
 */
static void make_victim(uint32_t pid)
{
	struct ts_bpf_traced settings = {
		.session = SESSION,
		.programs = 1u << TS_BPF_MEMORY,
		.uid = OWNER,
		.gid = GROUP,
		.start_ns = START_NS,
		.start_span_ns = SPAN_NS,
	};

	ts_check_int(bpf_map_update_elem(traced_fd, &pid, &settings, BPF_ANY), 0);
	fakes->cred = (struct cred){
		.uid = {OWNER},
		.euid = {OWNER},
		.suid = {OWNER},
		.gid = {GROUP},
		.egid = {GROUP},
		.sgid = {GROUP},
	};
	fakes->memory = (struct mm_struct){.flags = 1};
	fakes->leader = (struct task_struct){.start_boottime = START_NS};
	fakes->task = (struct task_struct){
		.comm = "victim",
		.tgid = (int)pid,
		.pid = (int)pid + 1,
		.mm = AT(&fakes->memory),
		.real_cred = AT(&fakes->cred),
		.group_leader = AT(&fakes->leader),
	};
}

static size_t n_told_of_victim(struct bpf_object *object)
{
	run(object, "victim_marked", AT(&fakes->task), 0, 0);
	return take();
}

/*
 * Changes each of the six ids, the memory and the start in turn. A process has at most one event of
 * its kill, so the next step after an event uses the next pid.
 */
static uint32_t check_differences(struct bpf_object *object, uint32_t pid)
{
	unsigned *const ids[] = {&fakes->cred.uid.val,	&fakes->cred.euid.val,
				 &fakes->cred.suid.val, &fakes->cred.gid.val,
				 &fakes->cred.egid.val, &fakes->cred.sgid.val};

	for (size_t i = 0; i < TS_ARRAY_LEN(ids); i++) {
		make_victim(pid);
		*ids[i] = 0;
		ts_check_int(n_told_of_victim(object), 0);
	}
	for (unsigned long flags = 0; flags < 8; flags++) {
		make_victim(pid);
		fakes->memory.flags = flags;
		ts_check_int(n_told_of_victim(object), (flags & 3) == 1);
		pid += (flags & 3) == 1;
	}
	make_victim(pid);
	fakes->task.mm = NULL;
	ts_check_int(n_told_of_victim(object), 0);
	make_victim(pid);
	fakes->leader.start_boottime = START_NS - 1;
	ts_check_int(n_told_of_victim(object), 0);
	fakes->leader.start_boottime = START_NS + SPAN_NS;
	ts_check_int(n_told_of_victim(object), 0);
	fakes->leader.start_boottime = START_NS + SPAN_NS - 1;
	ts_check_int(n_told_of_victim(object), 1);
	ts_check_int(told[0].pressure.by_tid, TS_BPF_HIDDEN);
	ts_check_int(told[0].pressure.by_pid, 0);
	ts_check_str(told[0].pressure.by, "");
	return pid + 1;
}

TS_TEST(credentials)
{
	struct bpf_object *before_6_18, *since, *nothing;
	uint32_t pid = VICTIM;

	begin();
	before_6_18 = load(&ts_bpf_object_memory);
	since = load_for(&ts_bpf_object_memory, "FAKE_KERNEL_6_18");
	nothing = load_for(&ts_bpf_object_memory, "FAKE_KERNEL_WITHOUT");
	pid = check_differences(before_6_18, pid);
	pid = check_differences(since, pid);
	/* A kernel whose types do not name the flags gives no event. */
	make_victim(pid);
	ts_check_int(n_told_of_victim(nothing), 0);
	/*
	 * Before Linux 6.9 the tracepoint has only the pid of the victim, so the program reports no
	 * event.
	 */
	run(since, "victim_marked_before_6_9", (void *)(uintptr_t)pid, 0, 0);
	ts_check_int(take(), 0);
	bpf_object__close(before_6_18);
	bpf_object__close(since);
	bpf_object__close(nothing);
	finish();
}

static void check_obstacle(const char *environment, const char *missing)
{
	struct btf *types = btf__parse(types_of(environment), NULL);
	const char *why;

	ts_check(types != NULL);
	why = ts_bpf_credentials_obstacle(types);
	if (missing)
		ts_check(why && strstr(why, missing) && !strchr(why, '\n'));
	else
		ts_check(!why);
	btf__free(types);
}

TS_TEST(obstacles)
{
	check_obstacle("FAKE_KERNEL", NULL);
	check_obstacle("FAKE_KERNEL_6_18", NULL);
	check_obstacle("FAKE_KERNEL_WITHOUT", "mm_struct.flags");
}

/* ---- drivers --------------------------------------------------------------------------------- */

static void check_fence(uint32_t kind, int32_t error)
{
	ts_check_int(take(), 1);
	check_event(&told[0].event, TS_BPF_DRIVER);
	ts_check_int(told[0].driver.kind, kind);
	ts_check_int(told[0].driver.context, 31);
	ts_check_int(told[0].driver.number, 5);
	ts_check_int(told[0].driver.error, error);
	ts_check_int(told[0].driver.issued_ns, 0);
	ts_check_str(told[0].driver.ring, "");
}

static void check_fences(struct bpf_object *object)
{
	const void *fence = AT(&fakes->fence);

	fakes->fence = (struct dma_fence){.context = 31, .seqno = 5};
	run(object, "fence_made", fence, 0, 0);
	run(object, "fence_signaled", fence, 0, 0);
	run(object, "fence_wait_begun", fence, 0, 0);
	run(object, "fence_wait_over", fence, 0, 0);
	ts_check_int(take(), 0);
	watch((uint32_t)getpid(), TS_BPF_DRIVER, 0);
	/*
	 * The thread waits for a fence of another thread. The end of a wait for a third fence does
	 * not end this wait.
	 */
	run(object, "fence_wait_begun", fence, 0, 0);
	run(object, "fence_wait_over", AT(&fakes->job_fence), 0, 0);
	ts_check_int(take(), 0);
	run(object, "fence_wait_over", fence, 0, 0);
	check_fence(TS_DRIVER_FENCE_WAIT, 0);
	run(object, "fence_wait_over", fence, 0, 0);
	run(object, "fence_signaled", fence, 0, 0);
	ts_check_int(take(), 0);
	run(object, "fence_made", fence, 0, 0);
	fakes->fence.error = -ETIMEDOUT;
	run(object, "fence_signaled", fence, 0, 0);
	check_fence(TS_DRIVER_FENCE, -ETIMEDOUT);
	run(object, "fence_made", fence, 0, 0);
	run(object, "fence_gone", fence, 0, 0);
	run(object, "fence_signaled", fence, 0, 0);
	ts_check_int(take(), 0);
	watch((uint32_t)getpid(), TS_BPF_DRIVER, UINT64_C(1) << 50);
	run(object, "fence_made", fence, 0, 0);
	run(object, "fence_signaled", fence, 0, 0);
	run(object, "fence_wait_begun", fence, 0, 0);
	run(object, "fence_wait_over", fence, 0, 0);
	ts_check_int(take(), 0);
	watch((uint32_t)getpid(), TS_BPF_DRIVER, 0);
}

/* Names of the programs for one kernel. */
struct job_names {
	const char *queued, *issued, *done;
};

/*
 * Checks the one event of a job. The driver makes the job's fences before it queues the job. With
 * `amdgpu`, the driver's own tracepoint precedes the scheduler's.
 */
static void check_job(struct bpf_object *fences, struct bpf_object *jobs,
		      const struct job_names *names, bool amdgpu, bool is_issued)
{
	const void *job = AT(&fakes->job.base), *fence = AT(&fakes->job_fence);

	run(fences, "fence_made", fence, 0, 0);
	run(fences, "fence_made", AT(&fakes->job_fence.finished), 0, 0);
	if (amdgpu)
		run(jobs, "amdgpu_job_queued", AT(&fakes->job), 0, 0);
	run(jobs, names->queued, job, 0, 0);
	if (is_issued && amdgpu)
		run(jobs, "amdgpu_job_issued", AT(&fakes->job), 0, 0);
	if (is_issued)
		run(jobs, names->issued, job, 0, 0);
	run(fences, "fence_signaled", fence, 0, 0);
	ts_check_int(take(), 0);
	run(jobs, names->done, fence, 0, 0);
	run(fences, "fence_signaled", AT(&fakes->job_fence.finished), 0, 0);
	run(jobs, names->done, fence, 0, 0);
	ts_check_int(take(), 1);
	check_event(&told[0].event, TS_BPF_DRIVER);
	ts_check_int(told[0].driver.kind, TS_DRIVER_JOB);
	ts_check_int(told[0].driver.context, 41);
	ts_check_int(told[0].driver.number, fakes->job_fence.finished.seqno);
	ts_check_int(told[0].driver.error, -ECANCELED);
	ts_check_str(told[0].driver.ring, "gfx_0.0.0");
	if (is_issued)
		ts_check(told[0].driver.issued_ns >= told[0].event.start_ns &&
			 told[0].driver.issued_ns <= told[0].event.end_ns);
	else
		ts_check_int(told[0].driver.issued_ns, 0);
}

TS_TEST(drivers)
{
	static const struct job_names now = {"job_queued", "job_issued", "job_done"};
	static const struct job_names before = {"job_queued_before_6_16", "job_issued_before_6_16",
						"job_done_before_6_16"};
	struct bpf_object *fences, *jobs;

	begin();
	fences = load(&ts_bpf_object_driver);
	jobs = load(&ts_bpf_object_jobs);
	check_fences(fences);
	strcpy(fakes->name, "gfx_0.0.0");
	fakes->scheduler.name = AT(fakes->name);
	fakes->job_fence.scheduled = (struct dma_fence){.context = 40, .seqno = 9};
	fakes->job_fence.finished =
		(struct dma_fence){.context = 41, .seqno = 9, .error = -ECANCELED};
	fakes->job.base.s_fence = AT(&fakes->job_fence);
	fakes->job.base.sched = AT(&fakes->scheduler);
	check_job(fences, jobs, &now, false, true);
	check_job(fences, jobs, &before, false, true);
	check_job(fences, jobs, &now, true, true);
	check_job(fences, jobs, &before, true, false);
	ts_check_int(n_lost(TS_BPF_DRIVER), 0);
	/*
	 * No program saw the end of this job. The next job at the same address counts it as lost.
	 */
	run(jobs, "job_queued", AT(&fakes->job.base), 0, 0);
	fakes->job_fence.finished.seqno++;
	check_job(fences, jobs, &now, false, true);
	ts_check_int(n_lost(TS_BPF_DRIVER), 1);
	end(fences);
	end(jobs);
	finish();
}

/* ---- disks ----------------------------------------------------------------------------------- */

/* Before Linux 5.11 the disk's queue was the first argument of these tracepoints. */
static void run_queue(struct bpf_object *object, bool before, const char *name, const void *what)
{
	char program[64];

	snprintf(program, sizeof(program), "%s%s", name, before ? "_before_5_11" : "");
	run(object, program, before ? NULL : what, (uintptr_t)what, 0);
}

static void check_request(struct bpf_object *object, bool before)
{
	fakes->bio = (struct bio){.bi_disk = AT(&fakes->disk),
				  .bi_iter = {.bi_size = 8192, .bi_sector = 77},
				  .bi_opf = 1 | 1u << __REQ_SYNC | 1u << __REQ_META};
	fakes->piece = (struct bio){.bi_private = AT(&fakes->bio), .bi_iter = {.bi_size = 4096}};
	run_queue(object, before, "block_queued", AT(&fakes->bio));
	/* The block layer splits off the first half, which completes alone and makes no event. */
	fakes->request = (struct request){.bio = AT(&fakes->piece)};
	run_queue(object, before, "block_issued", AT(&fakes->request));
	run(object, "block_done", AT(&fakes->request), 0, 4096);
	ts_check_int(take(), 0);
	fakes->bio.bi_iter.bi_size = 4096;
	fakes->request.bio = AT(&fakes->bio);
	run_queue(object, before, "block_issued", AT(&fakes->request));
	run(object, "block_done", AT(&fakes->request), (uint64_t)-EIO, 4096);
	ts_check_int(take(), 1);
	check_event(&told[0].event, TS_BPF_BLOCK);
	ts_check_int(told[0].io.sector, 77);
	ts_check_int(told[0].io.bytes, 8192);
	ts_check_int(told[0].io.done_bytes, 8192);
	ts_check_int(told[0].io.operation, TS_BLOCK_WRITE);
	ts_check_int(told[0].io.flags, TS_BLOCK_IO_SYNC | TS_BLOCK_IO_METADATA);
	ts_check_int(told[0].io.error, -EIO);
	ts_check(told[0].io.issued_ns >= told[0].event.start_ns);
	ts_check_str(told[0].io.disk, "fake7");
}

TS_TEST(disks)
{
	struct bpf_object *object;

	begin();
	object = load(&ts_bpf_object_block);
	strcpy(fakes->disk.disk_name, "fake7");
	run(object, "block_queued", AT(&fakes->bio), 0, 0);
	run(object, "block_bio_done", NULL, (uintptr_t)AT(&fakes->bio), 0);
	ts_check_int(take(), 0);
	watch((uint32_t)getpid(), TS_BPF_BLOCK, 0);
	check_request(object, false);
	check_request(object, true);
	/* A disk without requests completes bios directly. */
	fakes->bio = (struct bio){.bi_disk = AT(&fakes->disk), .bi_opf = 1u << __REQ_RAHEAD};
	run(object, "block_queued", AT(&fakes->bio), 0, 0);
	fakes->bio.bi_status = 10;
	run(object, "block_bio_done", NULL, (uintptr_t)AT(&fakes->bio), 0);
	ts_check_int(take(), 1);
	ts_check_int(told[0].io.operation, TS_BLOCK_READ);
	ts_check_int(told[0].io.flags, TS_BLOCK_IO_READAHEAD);
	ts_check_int(told[0].io.error, 10);
	ts_check_int(told[0].io.issued_ns, 0);
	/* A bio whose end no program saw is counted as lost. */
	run(object, "block_queued", AT(&fakes->bio), 0, 0);
	run(object, "block_queued", AT(&fakes->bio), 0, 0);
	ts_check_int(n_lost(TS_BPF_BLOCK), 1);
	end(object);
	finish();
}
