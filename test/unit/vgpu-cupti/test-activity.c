// SPDX-License-Identifier: Apache-2.0
/*
 * Tests the activity half of the CUPTI facade: contents of records, return of buffers, dropped
 * records.
 */
#include "test/unit/harness.h"
#include "test/unit/vgpu-cupti/fake.h"

#include <sched.h>

/* The client: supplies buffers of one size, and counts returned records. */
static struct {
	pthread_mutex_t lock;
	size_t buffer_bytes;
	size_t max_records;
	bool give_none;
	bool give_crooked;
	uint32_t n_given;
	uint32_t n_returned;
	uint32_t n_records;
	uint32_t n_by_kind[64];
	uint32_t n_endless; /* operations without an end */
	uint32_t kinds[256];
	struct ts_cupti_activity_kernel kernel; /* the last record of each kind */
	struct ts_cupti_activity_api api;
	struct ts_cupti_activity_external_correlation external;
	struct ts_cupti_activity_device device;
	struct ts_cupti_activity_stream stream;
	struct ts_cupti_activity_memory memory;
	struct ts_cupti_activity_synchronization wait;
	uint8_t seen[1 << 20]; /* by grid_x */
} client = {.lock = PTHREAD_MUTEX_INITIALIZER, .buffer_bytes = 8192};

static void requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	pthread_mutex_lock(&client.lock);
	*buffer = NULL;
	*size = client.buffer_bytes;
	*max_records = client.max_records;
	if (!client.give_none) {
		*buffer = malloc(client.buffer_bytes + 64);
		memset(*buffer, 0xa5, client.buffer_bytes);
		if (client.give_crooked)
			*buffer += 1;
		client.n_given++;
	}
	pthread_mutex_unlock(&client.lock);
}

static void tally(const struct ts_cupti_activity *record)
{
	const struct ts_cupti_activity_kernel *kernel = (const void *)record;

	if (client.n_records < 256)
		client.kinds[client.n_records] = record->kind;
	client.n_records++;
	ts_check(record->kind < 64);
	client.n_by_kind[record->kind]++;
	switch (record->kind) {
	case TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
	case TS_CUPTI_ACTIVITY_KIND_KERNEL:
		client.kernel = *kernel;
		client.n_endless += kernel->end == 0;
		ts_check_int(client.seen[kernel->grid_x]++, 0);
		break;
	case TS_CUPTI_ACTIVITY_KIND_RUNTIME:
	case TS_CUPTI_ACTIVITY_KIND_DRIVER:
		client.api = *(const struct ts_cupti_activity_api *)(const void *)record;
		break;
	case TS_CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		memcpy(&client.external, record, sizeof(client.external));
		break;
	case TS_CUPTI_ACTIVITY_KIND_DEVICE:
		memcpy(&client.device, record, sizeof(client.device));
		break;
	case TS_CUPTI_ACTIVITY_KIND_STREAM:
		memcpy(&client.stream, record, sizeof(client.stream));
		break;
	case TS_CUPTI_ACTIVITY_KIND_MEMORY2:
		memcpy(&client.memory, record, sizeof(client.memory));
		break;
	case TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		memcpy(&client.wait, record, sizeof(client.wait));
		break;
	default:
		break;
	}
}

static void completed(void *context, uint32_t stream_id, uint8_t *buffer, size_t size,
		      size_t valid_size)
{
	struct ts_cupti_activity *record = NULL;
	uint32_t result;

	pthread_mutex_lock(&client.lock);
	client.n_returned++;
	ts_check(!context && !stream_id);
	ts_check_int(size, client.buffer_bytes);
	if (valid_size) {
		while (!(result = cuptiActivityGetNextRecord(buffer, valid_size, &record)))
			tally(record);
		ts_check_int(result, TS_CUPTI_ERROR_MAX_LIMIT_REACHED);
	}
	free(client.give_crooked ? buffer - 1 : buffer);
	pthread_mutex_unlock(&client.lock);
}

static void start(const uint32_t *kinds, size_t n)
{
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_ERROR_INVALID_OPERATION);
	ts_check_int(cuptiActivityRegisterCallbacks(requested, NULL),
		     TS_CUPTI_ERROR_INVALID_PARAMETER);
	ts_check_int(cuptiActivityRegisterCallbacks(requested, completed), TS_CUPTI_SUCCESS);
	for (size_t i = 0; i < n; i++)
		ts_check_int(cuptiActivityEnable(kinds[i]), TS_CUPTI_SUCCESS);
}

#define START(...) \
	start((const uint32_t[]){__VA_ARGS__}, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

static void finish(void)
{
	ts_check_int(cuptiFinalize(), TS_CUPTI_SUCCESS);
	ts_check(!ts_vgpu_armed());
	ts_check_int(client.n_given, client.n_returned);
}

TS_TEST(kinds)
{
	ts_check_int(cuptiActivityEnable(0), TS_CUPTI_ERROR_INVALID_KIND);
	ts_check_int(cuptiActivityEnable(56), TS_CUPTI_ERROR_INVALID_KIND);
	ts_check_int(cuptiActivityEnable(TS_CUPTI_ACTIVITY_KIND_PC_SAMPLING),
		     TS_CUPTI_ERROR_NOT_COMPATIBLE);
	ts_check(!ts_vgpu_armed());
	ts_check_int(cuptiActivityEnable(TS_CUPTI_ACTIVITY_KIND_MEMCPY), TS_CUPTI_SUCCESS);
	ts_check(ts_vgpu_armed());
	ts_check_int(cuptiActivityDisable(TS_CUPTI_ACTIVITY_KIND_MEMCPY), TS_CUPTI_SUCCESS);
	ts_check(!ts_vgpu_armed());
}

TS_TEST(a_launch)
{
	struct timespec before, after;
	struct ts_vgpu_operation op;
	uint32_t id;

	START(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, TS_CUPTI_ACTIVITY_KIND_RUNTIME);
	ts_check_int(cuptiSetThreadIdType(TS_CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM), 0);
	clock_gettime(CLOCK_REALTIME, &before);
	id = fake_launch(&op, 77);
	fake_complete(&op);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	clock_gettime(CLOCK_REALTIME, &after);

	ts_check_int(client.n_records, 2);
	ts_check_str(client.kernel.name, "_Z5saxpyv");
	ts_check_int(client.kernel.kind, TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	ts_check_int(client.kernel.grid_x, 77);
	ts_check_int(client.kernel.grid_z, 3);
	ts_check_int(client.kernel.block_x, 32);
	ts_check_int(client.kernel.stream_id, 7);
	ts_check_int(client.kernel.context_id, 1);
	ts_check_int(client.kernel.correlation_id, id);
	/* the client did not ask for it */
	ts_check_int(client.kernel.queued, 0);
	ts_check_int(client.kernel.access_policy_window != NULL, 0); /* the 0xa5 was overwritten */
	ts_check(llabs((long long)(client.kernel.end - client.kernel.start) - 1000) <= 2);
	ts_check(client.kernel.start >=
		 (uint64_t)before.tv_sec * 1000000000 + before.tv_nsec - 100000);
	ts_check(client.kernel.start <=
		 (uint64_t)after.tv_sec * 1000000000 + after.tv_nsec + 100000);
	ts_check_int(client.api.kind, TS_CUPTI_ACTIVITY_KIND_RUNTIME);
	ts_check_int(client.api.cbid, 211);
	ts_check_int(client.api.correlation_id, id);
	ts_check_int(client.api.thread_id, gettid());
	ts_check_int(client.api.process_id, getpid());
	ts_check(client.api.end >= client.api.start);
	finish();
}

TS_TEST(latency_and_other_kind)
{
	struct ts_vgpu_operation op;

	START(TS_CUPTI_ACTIVITY_KIND_KERNEL);
	ts_check_int(cuptiActivityEnableLatencyTimestamps(1), TS_CUPTI_SUCCESS);
	fake_launch(&op, 1);
	op.submitted_ns = op.queued_ns + 500;
	fake_complete(&op);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(client.kernel.kind, TS_CUPTI_ACTIVITY_KIND_KERNEL);
	ts_check(llabs((long long)(client.kernel.submitted - client.kernel.queued) - 500) <= 2);
	finish();
}

TS_TEST(flush)
{
	struct ts_vgpu_operation ops[2];

	START(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	fake_launch(&ops[0], 1);
	fake_launch(&ops[1], 2);
	fake_complete(&ops[0]);
	/* One record is complete, its buffer is not. */
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(client.n_records, 0);
	ops[1].start_ns = fake_now_ns();
	ts_vgpu_report_started(&ops[1]);
	ts_check_int(cuptiActivityFlushAll(TS_CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), TS_CUPTI_SUCCESS);
	ts_check_int(client.n_records, 2);
	ts_check_int(client.n_endless, 1);
	ts_check(client.kernel.start != 0); /* the kernel runs, and the record shows it */
	ops[1].end_ns = fake_now_ns();
	ts_vgpu_report_completed(&ops[1]);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiActivityFlushAll(TS_CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), TS_CUPTI_SUCCESS);
	ts_check_int(client.n_records, 2); /* no second record */
	finish();
}

TS_TEST(full_buffers_come_by_themselves)
{
	struct ts_vgpu_operation ops[8];

	client.buffer_bytes = 4 * 216 + 100;
	START(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	for (uint32_t i = 0; i < 5; i++)
		fake_launch(&ops[i], i);
	for (uint32_t i = 0; i < 4; i++) {
		ts_check_int(client.n_returned, 0);
		fake_complete(&ops[i]);
	}
	for (uint32_t n = 0; n == 0; sched_yield()) {
		pthread_mutex_lock(&client.lock);
		n = client.n_returned;
		pthread_mutex_unlock(&client.lock);
	}
	ts_check_int(client.n_records, 4);
	fake_complete(&ops[4]);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(client.n_records, 5);
	finish();
}

TS_TEST(drops)
{
	struct ts_vgpu_operation op;
	size_t n_dropped = 99;

	client.give_none = true;
	START(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	for (uint32_t i = 0; i < 3; i++) {
		fake_launch(&op, i);
		fake_complete(&op);
	}
	client.give_none = false;
	client.give_crooked = true; /* not 8-byte aligned: returned unused */
	fake_launch(&op, 4);
	fake_complete(&op);
	ts_check_int(client.n_returned, 1);
	client.give_crooked = false;
	client.buffer_bytes = 100; /* too small for a kernel */
	fake_launch(&op, 5);
	fake_complete(&op);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(client.n_records, 0);
	ts_check_int(cuptiActivityGetNumDroppedRecords(NULL, 0, &n_dropped), TS_CUPTI_SUCCESS);
	ts_check_int(n_dropped, 5);
	ts_check_int(cuptiActivityGetNumDroppedRecords(NULL, 0, &n_dropped), TS_CUPTI_SUCCESS);
	ts_check_int(n_dropped, 0);
	ts_check_int(cuptiActivityGetNumDroppedRecords(NULL, 0, NULL),
		     TS_CUPTI_ERROR_INVALID_PARAMETER);
	finish();
}

TS_TEST(max_records)
{
	struct ts_vgpu_operation op;

	client.max_records = 2;
	START(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	for (uint32_t i = 0; i < 5; i++) {
		fake_launch(&op, i);
		fake_complete(&op);
	}
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(client.n_records, 5);
	ts_check_int(client.n_given, 3);
	finish();
}

TS_TEST(external_correlation)
{
	struct ts_vgpu_operation op;
	uint64_t last;
	uint32_t id;

	START(TS_CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, TS_CUPTI_ACTIVITY_KIND_RUNTIME,
	      TS_CUPTI_ACTIVITY_KIND_DRIVER);
	ts_check_int(cuptiActivityPopExternalCorrelationId(3, &last), TS_CUPTI_ERROR_QUEUE_EMPTY);
	ts_check_int(cuptiActivityPushExternalCorrelationId(0, 1),
		     TS_CUPTI_ERROR_INVALID_PARAMETER);
	ts_check_int(cuptiActivityPushExternalCorrelationId(3, 41), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiActivityPushExternalCorrelationId(3, 42), TS_CUPTI_SUCCESS);
	id = fake_launch(&op, 1);
	ts_check_int(cuptiActivityPopExternalCorrelationId(3, &last), TS_CUPTI_SUCCESS);
	ts_check_int(last, 42);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	/*
	 * The external id has one record, for the outermost call and with the innermost id, before
	 * the call's own records.
	 */
	ts_check_int(client.n_records, 3);
	ts_check_int(client.kinds[0], TS_CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
	ts_check_int(client.kinds[1], TS_CUPTI_ACTIVITY_KIND_DRIVER);
	ts_check_int(client.kinds[2], TS_CUPTI_ACTIVITY_KIND_RUNTIME);
	ts_check_int(client.external.external_id, 42);
	ts_check_int(client.external.correlation_id, id);
	finish();
}

TS_TEST(single_calls)
{
	struct ts_vgpu_operation op;

	START(TS_CUPTI_ACTIVITY_KIND_RUNTIME);
	ts_check_int(cuptiActivityEnableRuntimeApi(211, 0), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiActivityEnableDriverApi(307, 1), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiActivityEnableDriverApi(807, 1), TS_CUPTI_ERROR_INVALID_PARAMETER);
	fake_launch(&op, 1);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(client.n_by_kind[TS_CUPTI_ACTIVITY_KIND_RUNTIME], 0);
	ts_check_int(client.n_by_kind[TS_CUPTI_ACTIVITY_KIND_DRIVER], 1);
	finish();
}

TS_TEST(contexts_decide_for_themselves)
{
	struct ts_vgpu_operation op;

	START(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	ts_check_int(cuptiActivityDisableContext((void *)4,
						 TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
		     TS_CUPTI_ERROR_INVALID_CONTEXT);
	ts_check_int(cuptiActivityDisableContext(FAKE_CONTEXT,
						 TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
		     TS_CUPTI_SUCCESS);
	fake_launch(&op, 1);
	fake_complete(&op);
	ts_check_int(cuptiActivityEnableContext(FAKE_CONTEXT,
						TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
		     TS_CUPTI_SUCCESS);
	fake_launch(&op, 2);
	fake_complete(&op);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(client.n_records, 1);
	ts_check_int(client.kernel.grid_x, 2);
	finish();
}

TS_TEST(dumps)
{
	struct ts_vgpu_resource_event event = {.cbid = TS_CUPTI_CBID_RESOURCE_STREAM_CREATED,
					       .correlation_id = 5};

	START(TS_CUPTI_ACTIVITY_KIND_OVERHEAD);
	ts_check_int(cuptiActivityEnableAndDump(TS_CUPTI_ACTIVITY_KIND_DEVICE), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiActivityEnableAndDump(TS_CUPTI_ACTIVITY_KIND_CONTEXT), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiActivityEnableAndDump(TS_CUPTI_ACTIVITY_KIND_STREAM), TS_CUPTI_SUCCESS);
	fake_stream(NULL, FAKE_STREAM, false, &event.stream);
	ts_check_int(cuptiActivityEnable(TS_CUPTI_ACTIVITY_KIND_MEMCPY), TS_CUPTI_SUCCESS);
	ts_vgpu_report_resource(&event);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(client.n_by_kind[TS_CUPTI_ACTIVITY_KIND_DEVICE], 2);
	ts_check_int(client.n_by_kind[TS_CUPTI_ACTIVITY_KIND_CONTEXT], 1);
	ts_check_int(client.n_by_kind[TS_CUPTI_ACTIVITY_KIND_STREAM], 3);
	ts_check_int(client.n_by_kind[TS_CUPTI_ACTIVITY_KIND_OVERHEAD], 1);
	ts_check_str(client.device.name, "Fake 1");
	ts_check_int(client.device.num_multiprocessors, 132);
	ts_check_int(client.stream.stream_id, 13);
	ts_check_int(client.stream.correlation_id, 5);
	finish();
}

TS_TEST(memory_and_waits)
{
	struct ts_vgpu_memory_event memory = {
		.operation = TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION,
		.memory_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
		.address = 0x7000,
		.bytes = 4096,
		.time_ns = fake_now_ns(),
		.context_id = 1};
	struct ts_vgpu_wait_event wait = {
		.type = TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
		.context_id = 1,
		.stream_id = 7,
		.start_ns = fake_now_ns()};

	START(TS_CUPTI_ACTIVITY_KIND_MEMORY2, TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	wait.end_ns = wait.start_ns + 5000;
	ts_vgpu_report_memory(&memory);
	ts_vgpu_report_wait(&wait);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(client.memory.bytes, 4096);
	ts_check_int(client.memory.process_id, getpid());
	ts_check(client.memory.timestamp != 0);
	ts_check_int(client.wait.stream_id, 7);
	ts_check(llabs((long long)(client.wait.end - client.wait.start) - 5000) <= 2);
	finish();
}

/* A clock of the client: it starts elsewhere and ticks three times as fast. */
static uint64_t fast_clock(void)
{
	return 1000000 + 3 * fake_now_ns();
}

TS_TEST(timestamp_callback)
{
	struct ts_vgpu_operation op;
	uint64_t now = 0;
	double ticks;

	ts_check_int(cuptiActivityRegisterTimestampCallback(NULL),
		     TS_CUPTI_ERROR_INVALID_PARAMETER);
	ts_check_int(cuptiActivityRegisterTimestampCallback(fast_clock), TS_CUPTI_SUCCESS);
	START(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, TS_CUPTI_ACTIVITY_KIND_RUNTIME);
	ts_check_int(cuptiGetTimestamp(&now), TS_CUPTI_SUCCESS);
	ts_check(now > 3 * (fake_now_ns() - 1000000000));
	fake_launch(&op, 1);
	op.start_ns = fake_now_ns();
	ts_vgpu_report_started(&op);
	op.end_ns = op.start_ns + 1000000;
	ts_vgpu_report_completed(&op);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ticks = (double)(client.kernel.end - client.kernel.start);
	ts_check(ticks > 2.9e6 && ticks < 3.1e6);
	ts_check(llabs((long long)(client.kernel.start - (1000000 + 3 * op.start_ns))) < 300000);
	ts_check(client.api.start >= now);
	finish();
}

TS_TEST(attributes)
{
	size_t size = sizeof(size_t), value = 0;
	uint8_t flag = 7;

	ts_check_int(cuptiActivityGetAttribute(0, &size, &value), TS_CUPTI_SUCCESS);
	ts_check_int(value, 3200000);
	size = 1;
	ts_check_int(cuptiActivityGetAttribute(9, &size, &flag), TS_CUPTI_SUCCESS);
	ts_check_int(flag, 1);
	ts_check_int(cuptiActivityGetAttribute(0, &size, &value),
		     TS_CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
	ts_check_int(cuptiActivityGetAttribute(99, &size, &value),
		     TS_CUPTI_ERROR_INVALID_PARAMETER);
	flag = 0;
	ts_check_int(cuptiActivitySetAttribute(9, &size, &flag), TS_CUPTI_SUCCESS);
	ts_check(!ts_cupti_buffer_per_thread());
}

#define N_THREADS 4
#define N_EACH	  20000
#define N_DEPTH	  32

static void *launch_many(void *first)
{
	static __thread struct ts_vgpu_operation ops[N_DEPTH];
	uint32_t base = (uint32_t)(uintptr_t)first;

	/* Completions lag behind submissions, as on a device. */
	for (uint32_t i = 0; i < N_EACH; i++) {
		if (i >= N_DEPTH)
			fake_complete(&ops[i % N_DEPTH]);
		fake_launch(&ops[i % N_DEPTH], base + i);
	}
	for (uint32_t i = N_EACH; i < N_EACH + N_DEPTH; i++)
		fake_complete(&ops[i % N_DEPTH]);
	return NULL;
}

static _Atomic int stop;

static void *flush_on(void *unused)
{
	while (!atomic_load(&stop)) {
		ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
		usleep(200);
	}
	return NULL;
}

static void run_many(bool per_thread)
{
	pthread_t threads[N_THREADS], flusher;
	uint8_t flag = per_thread;
	size_t size = sizeof(flag), n_dropped;

	ts_check_int(cuptiActivitySetAttribute(TS_CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER,
					       &size, &flag),
		     TS_CUPTI_SUCCESS);
	START(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, TS_CUPTI_ACTIVITY_KIND_RUNTIME);
	ts_check_int(pthread_create(&flusher, NULL, flush_on, NULL), 0);
	for (uint32_t i = 0; i < N_THREADS; i++)
		ts_check_int(pthread_create(&threads[i], NULL, launch_many,
					    (void *)(uintptr_t)(i * N_EACH)),
			     0);
	for (uint32_t i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&stop, 1);
	pthread_join(flusher, NULL);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(cuptiActivityGetNumDroppedRecords(NULL, 0, &n_dropped), TS_CUPTI_SUCCESS);
	/* Each record came exactly once (tally() checks this), with an end. */
	ts_check_int(n_dropped, 0);
	ts_check_int(client.n_by_kind[TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL],
		     N_THREADS * N_EACH);
	ts_check_int(client.n_by_kind[TS_CUPTI_ACTIVITY_KIND_RUNTIME], N_THREADS * N_EACH);
	ts_check_int(client.n_endless, 0);
	finish();
}

TS_TEST(many_threads)
{
	run_many(true);
}

TS_TEST(many_threads_one_buffer)
{
	run_many(false);
}

TS_TEST(completion_after_the_end)
{
	struct ts_vgpu_operation op;

	/*
	 * The client leaves while an operation runs. The operation's completion is then reported to
	 * no client.
	 */
	START(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	fake_launch(&op, 1);
	ts_check_int(cuptiActivityDisable(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL),
		     TS_CUPTI_SUCCESS);
	ts_check(ts_vgpu_armed()); /* the record is still pending */
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(client.n_records, 0);
	fake_complete(&op);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(client.n_records, 1);
	ts_check_int(client.n_endless, 0);
	ts_check(!ts_vgpu_armed());
	fake_complete(&op);
	finish();
}

TS_TEST(a_forked_child_is_left_alone)
{
	struct ts_vgpu_operation op;
	pid_t pid;
	int status;

	START(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, TS_CUPTI_ACTIVITY_KIND_RUNTIME);
	fake_launch(&op, 1);
	pid = fork();
	ts_check(pid >= 0);
	if (pid == 0) {
		struct ts_vgpu_operation other;

		alarm(TS_TEST_SECONDS); /* an error would be a hang */
		ts_check_int(fake_launch(&other, 2), 0);
		ts_check_int(cuptiActivityFlushAll(1), TS_CUPTI_ERROR_NOT_INITIALIZED);
		ts_check_int(cuptiFinalize(), TS_CUPTI_ERROR_NOT_INITIALIZED);
		_exit(0);
	}
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
	fake_complete(&op);
	ts_check_int(cuptiActivityFlushAll(0), TS_CUPTI_SUCCESS);
	ts_check_int(client.n_by_kind[TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL], 1);
	finish();
}

TS_TEST(walking_bad_bytes)
{
	struct ts_cupti_activity *record = NULL;
	uint64_t bytes[4] = {0};

	ts_check_int(cuptiActivityGetNextRecord(NULL, 8, &record),
		     TS_CUPTI_ERROR_INVALID_PARAMETER);
	ts_check_int(cuptiActivityGetNextRecord((uint8_t *)bytes, 0, &record),
		     TS_CUPTI_ERROR_MAX_LIMIT_REACHED);
	ts_check_int(cuptiActivityGetNextRecord((uint8_t *)bytes, sizeof(bytes), &record),
		     TS_CUPTI_ERROR_INVALID_KIND);
	bytes[0] = TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL; /* longer than the available bytes */
	ts_check_int(cuptiActivityGetNextRecord((uint8_t *)bytes, sizeof(bytes), &record),
		     TS_CUPTI_ERROR_INVALID_KIND);
}
