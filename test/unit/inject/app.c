/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The application of the shim's tests. It loads the fake libcupti and calls InitializeInjection()
 * like a driver. Then it runs the scenario that its first argument names. The variable FAKE_CUPTI
 * names the fake libcupti. test-shim.c runs it.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "inject/include/tracesmith/annotate.h"
#include "proto/abi/vendor/cuda_runtime_params.h"
#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "test/unit/inject/fake-cupti.h"

/*
 * Limits of memory in KiB. SHARED: the session's resident memory, for two shards and some
 * definitions. MORE: the locked memory that the shim adds, with the libraries that the session
 * loads.
 */
#define LOCKED_SHARED_KIB 12288
#define LOCKED_MORE_KIB	  3072

#define RUNTIME		  TS_CUPTI_CB_DOMAIN_RUNTIME_API

static __typeof__(fake_cupti_launch) *launch;
static __typeof__(fake_cupti_call) *call;
static __typeof__(fake_cupti_enter) *enter;
static __typeof__(fake_cupti_leave) *leave;
static __typeof__(fake_cupti_stream) *stream;
static __typeof__(fake_cupti_n_subscribed) *n_subscribed;
static __typeof__(fake_cupti_is_enabled) *is_enabled;
static __typeof__(fake_cupti_order) *order;
static __typeof__(fake_cupti_n_clocks) *n_clocks;
static __typeof__(fake_cupti_n_flushes) *n_flushes;
static __typeof__(fake_cupti_fatal) *fatal;
static __typeof__(fake_cupti_forget) *forget;
static __typeof__(fake_cupti_n_stream_queries) *n_stream_queries;

/*
 * CUPTI's functions, as the linker resolves them for a program linked with CUPTI. Exception: the
 * last pointer is the function that dlsym() finds in CUPTI's own handle.
 */
static uint32_t (*subscribe)(void **subscriber, ts_cupti_callback_fn callback, void *userdata);
static uint32_t (*register_callbacks)(ts_cupti_buffer_requested_fn requested,
				      ts_cupti_buffer_completed_fn completed);
static uint32_t (*timestamp)(uint64_t *time);
static uint32_t (*enable)(uint32_t kind);
static uint32_t (*flush_all)(uint32_t flags);
static uint32_t (*unsubscribe)(void *subscriber);
static uint32_t (*subscribe_unseen)(void **subscriber, ts_cupti_callback_fn callback,
				    void *userdata);

static void load(void (*before)(void))
{
	void *cupti = dlopen(getenv("FAKE_CUPTI"), RTLD_NOW | RTLD_GLOBAL);
	int (*injection)(void) = NULL;
	void *injected;

	if (!cupti) {
		fprintf(stderr, "%s\n", dlerror());
		exit(99);
	}
	*(void **)&launch = dlsym(cupti, "fake_cupti_launch");
	*(void **)&call = dlsym(cupti, "fake_cupti_call");
	*(void **)&enter = dlsym(cupti, "fake_cupti_enter");
	*(void **)&leave = dlsym(cupti, "fake_cupti_leave");
	*(void **)&stream = dlsym(cupti, "fake_cupti_stream");
	*(void **)&n_subscribed = dlsym(cupti, "fake_cupti_n_subscribed");
	*(void **)&is_enabled = dlsym(cupti, "fake_cupti_is_enabled");
	*(void **)&order = dlsym(cupti, "fake_cupti_order");
	*(void **)&n_clocks = dlsym(cupti, "fake_cupti_n_clocks");
	*(void **)&n_flushes = dlsym(cupti, "fake_cupti_n_flushes");
	*(void **)&forget = dlsym(cupti, "fake_cupti_forget");
	*(void **)&n_stream_queries = dlsym(cupti, "fake_cupti_n_stream_queries");
	*(void **)&fatal = dlsym(cupti, "fake_cupti_fatal");
	*(void **)&subscribe = dlsym(RTLD_DEFAULT, "cuptiSubscribe");
	*(void **)&register_callbacks = dlsym(RTLD_DEFAULT, "cuptiActivityRegisterCallbacks");
	*(void **)&timestamp = dlsym(RTLD_DEFAULT, "cuptiGetTimestamp");
	*(void **)&enable = dlsym(RTLD_DEFAULT, "cuptiActivityEnable");
	*(void **)&flush_all = dlsym(RTLD_DEFAULT, "cuptiActivityFlushAll");
	*(void **)&unsubscribe = dlsym(RTLD_DEFAULT, "cuptiUnsubscribe");
	*(void **)&subscribe_unseen = dlsym(cupti, "cuptiSubscribe");
	if (before)
		before();
	injected = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
	if (injected)
		*(void **)&injection = dlsym(injected, "InitializeInjection");
	if (!injection || injection() != 1)
		exit(98);
	if (!order() || n_clocks() > 1)
		exit(97);
}

/*
 * Makes the thread-local data larger than a small stack. It lies in the memory of each thread's
 * stack.
 */
static __thread char big[512 * 1024];

static void launches(long n)
{
	while (n--)
		launch();
}

static void *launching_thread(void *data)
{
	launches((long)data);
	return NULL;
}

static void threads(long n_threads, long n)
{
	pthread_t thread[64];

	for (long i = 0; i < n_threads; i++)
		pthread_create(&thread[i], NULL, launching_thread, (void *)n);
	for (long i = 0; i < n_threads; i++)
		pthread_join(thread[i], NULL);
}

static struct {
	uint32_t over;
	uint32_t n_done;
} sixty_four;

/*
 * Launches until `over` is set, and then sleeps until the process ends: a sanitizer cannot follow
 * libunwind's cleanup at a thread's end.
 */
static void *staying_thread(void *data)
{
	while (!__atomic_load_n(&sixty_four.over, __ATOMIC_RELAXED)) {
		launches((long)data);
		usleep(1000);
	}
	__atomic_fetch_add(&sixty_four.n_done, 1, __ATOMIC_RELEASE);
	for (;;)
		pause();
	return NULL;
}

static void nothing(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
}

/*
 * Until stdin is closed, 64 threads launch kernels. Meanwhile this thread loads and unloads the
 * library, and now and then takes CUPTI's one subscription from the shim for 2 ms.
 */
static void sixty_four_that_stay(long n, const char *library)
{
	struct pollfd input = {STDIN_FILENO, POLLIN, 0};
	pthread_t thread;
	void *handle;

	for (int i = 0; i < 64; i++)
		if (pthread_create(&thread, NULL, staying_thread, (void *)n) ||
		    pthread_detach(thread))
			exit(96);
	for (int i = 0; !poll(&input, 1, 2); i++) {
		void *subscriber;

		handle = dlopen(library, RTLD_NOW);
		if (!handle || dlclose(handle))
			exit(95);
		/* The interval is long enough for the shim to subscribe again in between. */
		if (i % 600 != 200 || !subscribe)
			continue;
		if (subscribe(&subscriber, nothing, NULL))
			exit(97);
		usleep(2000);
		if (unsubscribe(subscriber))
			exit(98);
	}
	__atomic_store_n(&sixty_four.over, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(&sixty_four.n_done, __ATOMIC_ACQUIRE) < 64)
		usleep(1000);
}

static void on_signal(int signal_number)
{
	exit(7);
}

static void streams_and_events(void)
{
	char handle[16];
	void *s = handle;
	struct ts_cuda_stream_create_with_priority_params create = {&s, 1, -2};
	struct ts_cuda_event_record_params record = {handle + 8, s};
	struct ts_cuda_stream_wait_event_params wait = {NULL, handle + 8, 0};
	struct ts_cuda_stream_destroy_params destroy = {s};

	enter(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaStreamCreateWithPriority_v5050, &create);
	stream(s, 1);
	leave(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaStreamCreateWithPriority_v5050, &create, 0);
	call(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaEventRecord_v3020, &record, 0);
	call(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaStreamWaitEvent_v3020, &wait, 0);
	call(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaEventRecord_v3020, &record, 400);
	enter(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaStreamDestroy_v5050, &destroy);
	stream(s, 0);
	leave(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaStreamDestroy_v5050, &destroy, 0);
}

/*
 * Forks a child that continues to launch. None of its records may reach the parent's session, and
 * neither process may crash.
 */
static void forked(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		launches(10);
		_exit(3);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 3)
		exit(96);
	pid = vfork();
	if (!pid)
		_exit(4);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 4)
		exit(95);
}

/* Launches through a frame without unwinding rules, like a just-in-time compiler's code. */
static void launch_through_unknown_code(void)
{
#if defined(__x86_64__)
	/* sub $8, %rsp; call *%rdi; add $8, %rsp; ret */
	static const unsigned char code[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd7,
					     0x48, 0x83, 0xc4, 0x08, 0xc3};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*through)(void (*)(void));

	if (page == MAP_FAILED)
		exit(91);
	memcpy(page, code, sizeof(code));
	*(void **)&through = page;
	through(launch);
#else
	launch();
#endif
}

/* The application's own profiler, with buffers of its own. */
static uint8_t own_buffer[1024 * 1024];
static size_t n_own_bytes;

static void own_requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = own_buffer;
	*size = sizeof(own_buffer);
	*max_records = 0;
}

static void own_completed(void *context, uint32_t stream_id, uint8_t *buffer, size_t size,
			  size_t valid_bytes)
{
	if (buffer != own_buffer)
		exit(88);
	n_own_bytes += valid_bytes;
}

static void own_callback(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
}

/*
 * The application's profiler collects CUPTI's records with its own buffers, and with CUPTI's clock
 * instead of the shim's. With `stubborn`, the profiler continues although CUPTI refused its
 * subscription.
 */
static void profile_itself(bool stubborn, long n)
{
	struct timespec now;
	void *subscriber;
	uint64_t time;
	uint32_t result =
		(stubborn ? subscribe_unseen : subscribe)(&subscriber, own_callback, NULL);

	if (result != (stubborn ? TS_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED : 0))
		exit(87);
	if (register_callbacks(own_requested, own_completed) || enable(10))
		exit(86);
	launches(n);
	flush_all(0);
	clock_gettime(CLOCK_REALTIME, &now);
	timestamp(&time);
	if (time / 1000000000u - (uint64_t)now.tv_sec > 1 || n_own_bytes < (size_t)n * 100)
		exit(85);
}

static void *first_subscriber;

static void take_cupti(void)
{
	if (subscribe(&first_subscriber, own_callback, NULL))
		exit(84);
}

/*
 * The profiler has CUPTI since before the driver was initialised, unsubscribes, and waits until the
 * shim has subscribed.
 */
static void profile_first(long n)
{
	const struct timespec moment = {0, 10000000};

	launches(n);
	if (n_clocks() || unsubscribe(first_subscriber))
		exit(83);
	/*
	 * Wait until the shim has enabled this callback. The shim enables it after the callbacks of
	 * calls.
	 */
	for (int i = 0;
	     i < 3000 && !is_enabled(TS_CUPTI_CB_DOMAIN_STATE, TS_CUPTI_CBID_STATE_FATAL_ERROR);
	     i++)
		nanosleep(&moment, NULL);
	if (!order() || n_clocks() != 1)
		exit(82);
	launches(n);
}

/* CUPTI reports no exit of some calls: the shim must treat the next entry as a new call. */
static void missed_exits(long n)
{
	enter(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaLaunchKernel_v7000, NULL);
	enter(TS_CUPTI_CB_DOMAIN_DRIVER_API, TS_CUPTI_DRIVER_CBID_cuLaunchKernel, NULL);
	forget();
	launches(n);
	enter(TS_CUPTI_CB_DOMAIN_DRIVER_API, TS_CUPTI_DRIVER_CBID_cuMemAlloc_v2, NULL);
	forget();
	call(TS_CUPTI_CB_DOMAIN_DRIVER_API, TS_CUPTI_DRIVER_CBID_cuMemFree_v2, NULL, 0);
	launches(n);
}

/*
 * The test pauses and resumes recording while this function waits for input. The shim may query
 * CUPTI for a stream id only in the callback of a stream's creation or destruction.
 */
static void streams_in_a_pause(void)
{
	char handle[16];
	void *s = handle;
	struct ts_cuda_stream_create_with_priority_params create = {&s, 1, -2};
	struct ts_cuda_event_record_params record = {handle + 8, s};

	launches(1);
	setvbuf(stdin, NULL, _IONBF, 0);
	getchar();
	enter(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaStreamCreateWithPriority_v5050, &create);
	stream(s, 1);
	leave(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaStreamCreateWithPriority_v5050, &create, 0);
	call(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaStreamBeginCapture_v10000, NULL, 0);
	if (write(STDIN_FILENO, "", 1) != 1)
		exit(83);
	getchar();
	/* A launch into the graph that is being captured: the shim expects no kernel for it. */
	call(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaLaunchKernel_v7000, NULL, 0);
	call(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaStreamEndCapture_v10000, NULL, 0);
	call(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaEventRecord_v3020, &record, 0);
	if (n_stream_queries())
		exit(84);
}

/* True if every other thread has the default scheduling, whatever this thread has. */
static bool others_are_ordinary(void)
{
	DIR *directory = opendir("/proc/self/task");
	struct dirent *entry;
	int n = 0;

	while (directory && (entry = readdir(directory))) {
		int tid = atoi(entry->d_name);

		if (tid && tid != getpid()) {
			n++;
			if (sched_getscheduler(tid) != SCHED_OTHER)
				return false;
		}
	}
	closedir(directory);
	return n == 2;
}

static void launch_at_the_end(void)
{
	launches(50);
}

static long n_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	long n = 0;

	while (directory && readdir(directory))
		n++;
	closedir(directory);
	return n;
}

/* Waits for it, because a thread of the shim may read a file of /proc at this moment. */
static bool has_descriptors(long n)
{
	for (unsigned i = 0; i < 5000 && n_descriptors() != n; i++)
		usleep(1000);
	return n_descriptors() == n;
}

/*
 * Shared state of 16 threads that annotate at once, before the session exists and while the shim
 * adds CUPTI to it.
 */
static struct {
	const struct tracesmith_functions *functions;
	pthread_barrier_t barrier;
	uint64_t crossing[16];
	long n;
} annotating;

static void *annotating_thread(void *data)
{
	const struct tracesmith_functions *functions = annotating.functions;
	const uintptr_t own = (uintptr_t)data;
	uint64_t taken;
	char name[32];
	void *domain;

	pthread_barrier_wait(&annotating.barrier);
	for (long i = 0; i < annotating.n; i++) {
		snprintf(name, sizeof(name), "name %ld", i % 100);
		domain = functions->domain(i % 2 ? "one" : "another");
		functions->push(domain, name);
		functions->counter_i64(NULL, "count", i);
		/* The thread that takes a range ends it. */
		taken = __atomic_exchange_n(&annotating.crossing[(own + (uintptr_t)i) % 16],
					    functions->begin(domain, "crossing"), __ATOMIC_ACQ_REL);
		functions->end(taken);
		functions->mark(NULL, "mark");
		functions->pop(domain);
	}
	return NULL;
}

static void *joining_thread(void *data)
{
	pthread_barrier_wait(&annotating.barrier);
	load(NULL);
	launches(100);
	return NULL;
}

static void annotate(long n)
{
	void *library = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
	pthread_t threads[17];

	annotating.functions = library ? dlsym(library, "tracesmith_annotate_1") : NULL;
	annotating.n = n;
	if (!annotating.functions)
		exit(96);
	pthread_barrier_init(&annotating.barrier, NULL, 17);
	for (uintptr_t i = 0; i < 16; i++)
		pthread_create(&threads[i], NULL, annotating_thread, (void *)i);
	pthread_create(&threads[16], NULL, joining_thread, NULL);
	for (int i = 0; i < 17; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 16; i++)
		annotating.functions->end(annotating.crossing[i]);
	annotating.functions->record(0);
	launches(5);
	annotating.functions->record(1);
}

static long status_kib(const char *field)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, field, strlen(field)))
			kib = atol(line + strlen(field));
	if (status)
		fclose(status);
	return kib;
}

/* Drops the privilege to lock memory, so that the limit binds. */
static void limit_locked(long mib)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{0}};
	struct rlimit limit = {(rlim_t)mib << 20, (rlim_t)mib << 20};

	if (syscall(SYS_capget, &header, data))
		exit(79);
	data[0].effective &= ~(1u << CAP_IPC_LOCK);
	data[0].permitted &= ~(1u << CAP_IPC_LOCK);
	if (syscall(SYS_capset, &header, data) || setrlimit(RLIMIT_MEMLOCK, &limit))
		exit(79);
}

/*
 * A program that calls mlockall(), before its first GPU call or after its launches. If limit_mib is
 * given, it is the limit of locked memory, and the program itself locks nearly all of it. The
 * session's unused memory must not become resident.
 */
static int locked(bool after, long n, long limit_mib)
{
	long before, used, shared, own;

	if (limit_mib)
		limit_locked(limit_mib);
	if (!after && mlockall(MCL_CURRENT | MCL_FUTURE))
		return 79;
	before = status_kib("VmLck:");
	load(NULL);
	launches(n);
	if (after && mlockall(MCL_CURRENT | MCL_FUTURE))
		return 78;
	used = status_kib("VmLck:") - before;
	shared = status_kib("RssShmem:");
	fprintf(stderr, "locked %ld KiB more, shared %ld KiB\n", used, shared);
	if (shared > LOCKED_SHARED_KIB || (!after && used > LOCKED_MORE_KIB))
		return 77;
	own = (limit_mib << 10) - before - LOCKED_MORE_KIB;
	if (limit_mib && mmap(NULL, (size_t)own << 10, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		return 76;
	launches(n);
	return 0;
}

/*
 * Runs a scenario that itself decides when to load the shim. Returns the exit status, or -1 if
 * `what` is no such scenario.
 */
static int without_load(const char *what, long n)
{
	if (!strcmp(what, "annotate")) {
		annotate(n);
		return 0;
	}
	if (!strncmp(what, "locked", 6))
		return locked(!strcmp(what, "locked-after"), n,
			      !strcmp(what, "locked-limited") ? 8 : 0);
	return -1;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0;
	int status;

	const struct sched_param batch = {0};
	long n_before = n_descriptors();
	char byte;

	big[0] = 1;
	if (!strcmp(what, "batch") && sched_setscheduler(0, SCHED_BATCH, &batch))
		return 82;
	/* Register an exit handler that runs after the shim's. */
	if (!strcmp(what, "late"))
		atexit(launch_at_the_end);
	status = without_load(what, n);
	if (status >= 0)
		return status;
	load(!strcmp(what, "profiler-first") ? take_cupti : NULL);
	if (!strcmp(what, "launch")) {
		launches(n);
	} else if (!strcmp(what, "threads")) {
		threads(4, n);
	} else if (!strcmp(what, "sixty-four-threads")) {
		threads(64, n);
	} else if (!strcmp(what, "sixty-four-that-stay") && argc > 3) {
		sixty_four_that_stay(n, argv[3]);
	} else if (!strcmp(what, "many-threads")) {
		for (int i = 0; i < 20; i++) {
			threads(16, n);
			/* Wait until the test has drained the rings of these threads. */
			if (write(STDIN_FILENO, "", 1) != 1 || read(STDIN_FILENO, &byte, 1) != 1)
				exit(80);
		}
	} else if (!strcmp(what, "_exit")) {
		launches(n);
		_exit(5);
	} else if (!strcmp(what, "quick_exit")) {
		launches(n);
		quick_exit(6);
	} else if (!strcmp(what, "signal")) {
		launches(n);
		signal(SIGUSR1, on_signal);
		raise(SIGUSR1);
	} else if (!strcmp(what, "exit-inside-call")) {
		launches(n);
		enter(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaLaunchKernel_v7000, NULL);
		exit(8);
	} else if (!strcmp(what, "streams")) {
		streams_and_events();
	} else if (!strcmp(what, "fork")) {
		launches(n);
		forked();
		launches(n);
	} else if (!strcmp(what, "idle")) {
		/* The shim is initialised, but there was no GPU work: it must not have flushed. */
		return n_flushes() ? 94 : 0;
	} else if (!strcmp(what, "paced")) {
		/* Launches until the recording is stopped from outside, at most for a minute. */
		for (int i = 0; i < 6000 && n_subscribed(); i++) {
			launches(1);
			usleep(10000);
		}
		return n_subscribed() ? 93 : 0;
	} else if (!strcmp(what, "batch")) {
		return others_are_ordinary() ? 0 : 81;
	} else if (!strcmp(what, "set-device")) {
		while (n--)
			call(RUNTIME, TS_CUPTI_RUNTIME_CBID_cudaSetDevice_v3020, NULL, 0);
		usleep(500000);
		return n_flushes() ? 83 : 0;
	} else if (!strcmp(what, "missed-exits")) {
		missed_exits(n);
	} else if (!strcmp(what, "pause")) {
		streams_in_a_pause();
	} else if (!strcmp(what, "late")) {
		launches(n);
	} else if (!strcmp(what, "fatal")) {
		launches(n);
		fatal();
	} else if (!strcmp(what, "profiler")) {
		launches(n);
		profile_itself(false, n);
	} else if (!strcmp(what, "profiler-first")) {
		profile_first(n);
	} else if (!strcmp(what, "stubborn-profiler")) {
		launches(n);
		profile_itself(true, n);
	} else if (!strcmp(what, "descriptors")) {
		launches(1);
		launch_through_unknown_code();
		return has_descriptors(n_before) ? 0 : 89;
	} else if (!strcmp(what, "kill")) {
		launches(n);
		kill(getpid(), SIGKILL);
	} else {
		return 92;
	}
	return 0;
}
