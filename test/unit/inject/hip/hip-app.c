/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HIP application of the shim's tests, over fake-hip.c. test-hip.c runs it with a word that
 * selects the work and a number. It exits 0 if all calls did what they should.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test/unit/inject/hip/fake-hip.h"

#define CHECK(condition)                                                   \
	do {                                                               \
		if (!(condition)) {                                        \
			fprintf(stderr, "%d: %s\n", __LINE__, #condition); \
			_exit(1);                                          \
		}                                                          \
	} while (0)

static const char kernel[] = "_Z5scalePffi";

static int32_t launch_kernel(const char *name, uint32_t n_blocks, void *stream)
{
	const struct ts_hip_dim3 grid = {n_blocks, 2, 1}, block = {256, 1, 1};
	int32_t result;

	errno = 77;
	result = hipLaunchKernel(name, grid, block, NULL, 1024, stream);
	CHECK(errno == 77);
	return result;
}

static int32_t launch(uint32_t n_blocks, void *stream)
{
	return launch_kernel(kernel, n_blocks, stream);
}

static void *launch_many(void *data)
{
	long n = *(long *)data;

	while (n--)
		CHECK(launch(3, NULL) == 0);
	return NULL;
}

/* Every kind of call once, and n launches in a stream of their own. */
static void all_kinds(long n)
{
	char host[64] = "bytes";
	void *memory, *stream, *none;

	CHECK(hipSetDevice(1) == 0);
	CHECK(hipMalloc(&memory, 64) == 0);
	CHECK(hipMalloc(&none, (size_t)-1) == 2);
	CHECK(hipMemcpy(memory, host, 64, TS_HIP_MEMCPY_HOST_TO_DEVICE) == 0);
	CHECK(hipStreamCreateWithFlags(&stream, TS_HIP_STREAM_NON_BLOCKING) == 0);
	CHECK(hipMemsetAsync(memory, 7, 32, stream) == 0);
	for (long i = 0; i < n; i++)
		CHECK(launch(5, stream) == 0);
	CHECK(launch(0, stream) == 1);
	CHECK(hipGetLastError() == 1);
	CHECK(hipGetLastError() == 0);
	CHECK(hipDeviceSynchronize() == 0);
	CHECK(hipMemcpy(host, memory, 64, TS_HIP_MEMCPY_DEVICE_TO_HOST) == 0);
	CHECK(host[0] == 7 && host[31] == 7 && host[32] == 0);
	CHECK(hipStreamDestroy(stream) == 0);
	CHECK(hipFree(memory) == 0);
}

static void threads(long n)
{
	pthread_t ids[8];

	for (int i = 0; i < 8; i++)
		CHECK(pthread_create(&ids[i], NULL, launch_many, &n) == 0);
	for (int i = 0; i < 8; i++)
		pthread_join(ids[i], NULL);
}

/* A child of the process has no session, and its calls pass through. */
static void forked(long n)
{
	int status;
	pid_t pid;

	launch_many(&n);
	CHECK(hipDeviceSynchronize() == 0);
	pid = fork();
	if (!pid) {
		void *memory;

		CHECK(hipMalloc(&memory, 16) == 0);
		CHECK(hipFree(memory) == 0);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	launch_many(&n);
}

static sigjmp_buf before;

static void leave_call(int signal)
{
	(void)signal;
	siglongjmp(before, 1);
}

/* Launches from frames below those of the call that was left, which they overwrite. */
static __attribute__((noinline)) void launch_deep(int depth)
{
	volatile char frame[256];

	memset((char *)frame, depth, sizeof(frame));
	if (depth)
		launch_deep(depth - 1);
	else
		CHECK(launch(3, NULL) == 0);
	CHECK(frame[0] == (char)depth);
}

/* A signal's handler leaves a call by longjmp(), so the call has no end. */
static void jumped(long n)
{
	CHECK(signal(SIGUSR1, leave_call) != SIG_ERR);
	if (!sigsetjmp(before, 1))
		hipSetDevice(FAKE_HIP_SIGNAL);
	while (n--)
		launch_deep(40);
}

/* Launches on the device of each context that becomes the current one. */
static void with_contexts(long n)
{
	void *contexts[2];

	for (int i = 0; i < 2; i++)
		CHECK(hipDevicePrimaryCtxRetain(&contexts[i], i) == 0);
	CHECK(hipCtxSetCurrent(contexts[1]) == 0);
	while (n--)
		CHECK(launch(3, NULL) == 0);
	CHECK(hipCtxPushCurrent(contexts[0]) == 0);
	CHECK(launch(3, NULL) == 0);
}

static void *reused_stream, *reused_memory;

static void *create_again(void *data)
{
	if (data)
		CHECK(hipMalloc(&reused_memory, 48) == 0);
	else
		CHECK(hipStreamCreateWithFlags(&reused_stream, 0) == 0);
	return NULL;
}

static void create_in_another_thread(bool memory)
{
	pthread_t id;

	fake_hip_destroyed = NULL;
	CHECK(pthread_create(&id, NULL, create_again, memory ? &memory : NULL) == 0);
	pthread_join(id, NULL);
}

static void stream_is_destroyed(void)
{
	create_in_another_thread(false);
}

static void memory_is_freed(void)
{
	create_in_another_thread(true);
}

/* Another thread gets the handle or the address before the call that destroyed it has returned. */
static void reused(long n)
{
	void *memory, *stream;

	CHECK(hipStreamCreateWithFlags(&stream, TS_HIP_STREAM_NON_BLOCKING) == 0);
	CHECK(hipMalloc(&memory, 16) == 0);
	fake_hip_destroyed = stream_is_destroyed;
	CHECK(hipStreamDestroy(stream) == 0);
	CHECK(reused_stream == stream);
	fake_hip_destroyed = memory_is_freed;
	CHECK(hipFree(memory) == 0);
	CHECK(reused_memory == memory);
	while (n--)
		CHECK(launch(3, stream) == 0);
	CHECK(hipFree(memory) == 0);
}

/* Launches that wait for each other on the device, then some on the idle device. */
static void timed(long n)
{
	launch_many(&n);
	CHECK(hipDeviceSynchronize() == 0);
	while (n--) {
		CHECK(launch(3, NULL) == 0);
		CHECK(hipDeviceSynchronize() == 0);
	}
}

/* The legacy stream waits for blocking streams, so an event in it would change their order. */
static void with_streams(long n)
{
	void *stream;

	launch_many(&n);
	CHECK(hipStreamCreateWithFlags(&stream, TS_HIP_STREAM_DEFAULT) == 0);
	launch_many(&n);
	for (long i = 0; i < n; i++)
		CHECK(launch(3, stream) == 0);
	CHECK(hipDeviceSynchronize() == 0);
	CHECK(hipStreamDestroy(stream) == 0);
}

/* A captured launch does no work; the pairs before the capture wait until it ends. */
static void captured(long n)
{
	void *stream, *graph;

	CHECK(hipStreamCreateWithFlags(&stream, TS_HIP_STREAM_NON_BLOCKING) == 0);
	launch_many(&n);
	CHECK(hipStreamBeginCapture(stream, 0) == 0);
	for (long i = 0; i < n; i++)
		CHECK(launch(3, stream) == 0);
	CHECK(hipDeviceSynchronize() == 0);
	CHECK(hipStreamEndCapture(stream, &graph) == 0);
	CHECK(hipDeviceReset() == 0);
	launch_many(&n);
}

/* A launch after a pause, and one whose times are wrong. */
static void with_a_wrong_time(void)
{
	const struct timespec pause = {.tv_sec = 1, .tv_nsec = 200000000};

	CHECK(launch(3, NULL) == 0);
	CHECK(hipDeviceSynchronize() == 0);
	nanosleep(&pause, NULL);
	CHECK(launch(3, NULL) == 0);
	CHECK(launch_kernel(FAKE_HIP_AHEAD, 3, NULL) == 0);
	CHECK(launch(3, NULL) == 0);
}

/* Before the first call: no thread of the default kind can be made. */
static void without_threads(void)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	CHECK(pthread_attr_setstacksize(&attributes, (size_t)1 << 48) == 0);
	CHECK(pthread_setattr_default_np(&attributes) == 0);
	pthread_attr_destroy(&attributes);
}

int main(int argc, char **argv)
{
	long n = argc > 2 ? atol(argv[2]) : 0;
	int32_t n_devices;

	CHECK(argc > 2);
	if (!strcmp(argv[1], "no-threads"))
		without_threads();
	CHECK(hipGetDeviceCount(&n_devices) == 0 && n_devices == 2);
	if (!strcmp(argv[1], "kinds"))
		all_kinds(n);
	else if (!strcmp(argv[1], "threads"))
		threads(n);
	else if (!strcmp(argv[1], "fork"))
		forked(n);
	else if (!strcmp(argv[1], "jump"))
		jumped(n);
	else if (!strcmp(argv[1], "reused"))
		reused(n);
	else if (!strcmp(argv[1], "timed"))
		timed(n);
	else if (!strcmp(argv[1], "streams"))
		with_streams(n);
	else if (!strcmp(argv[1], "captured"))
		captured(n);
	else if (!strcmp(argv[1], "contexts"))
		with_contexts(n);
	/* Ends with work on the device: no wait. */
	else if (!strcmp(argv[1], "launches") || !strcmp(argv[1], "no-threads"))
		launch_many(&n);
	else if (!strcmp(argv[1], "ahead"))
		with_a_wrong_time();
	/* Before any work, waits for a stream that no call created. */
	else if (!strcmp(argv[1], "idle-stream"))
		CHECK(hipStreamSynchronize(NULL) == 0);
	/* Uses the runtime, but submits nothing. */
	else
		CHECK(!strcmp(argv[1], "nothing"));
	return 0;
}
