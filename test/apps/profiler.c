/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profiler WAY [ROUNDS]: an application with its own profiler, like PyTorch's. In the middle of its
 * work it subscribes to CUPTI, gathers records, releases CUPTI, and works on. It prints the
 * gathered counts. They must be the same with and without TraceSmith:
 * test/integration/test-profiler.py compares them.
 *
 * WAY is one of:
 *
 *     subscribe   subscribes and unsubscribes
 *     activity    activity buffers only, no subscriber
 *     clock       with its own timestamp callback
 *     finalize    ends by cuptiFinalize()
 *     keep        never releases CUPTI
 *     first       subscribes before the driver's initialization
 *     first-keep  like first, and never releases CUPTI
 *
 * It launches `scale` while it does not profile, and `nothing` while it profiles. A trace so shows
 * which tool saw which launch.
 */
#include <time.h>

#include "test/apps/gpu.h"
#include "tools/vgpu/cupti/api.h"

#define N	     64u
#define BUFFER_BYTES (64u * 1024)
#define OUTSIDE	     100 /* launches before and after */
#define WITHIN	     60
#define CLOCK_AHEAD  UINT64_C(1000000000000000)
/* Initial content of buffers: a reader that expects zeros fails. */
#define GARBAGE 0xa5

/* Another vendor's library has no records of calls, and a clock of its own. */
#ifdef GPU_MACA
#define DOMAIN TS_CUPTI_CB_DOMAIN_RUNTIME_API
static const uint32_t kinds[] = {TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
				 TS_CUPTI_ACTIVITY_KIND_MEMCPY, TS_CUPTI_ACTIVITY_KIND_MEMSET};
#else
#define DOMAIN TS_CUPTI_CB_DOMAIN_DRIVER_API
static const uint32_t kinds[] = {TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
				 TS_CUPTI_ACTIVITY_KIND_MEMCPY, TS_CUPTI_ACTIVITY_KIND_MEMSET,
				 TS_CUPTI_ACTIVITY_KIND_DRIVER};
#endif

static bool own_clock;
static void *subscriber;
static uint64_t began, n_buffers_out;
static struct {
	uint64_t callbacks, kernels, others_kernels, copies, copied, sets, calls, bad_times,
		dropped;
} seen;

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t my_clock(void)
{
	return clock_ns(CLOCK_MONOTONIC) + CLOCK_AHEAD;
}

static uint64_t now(void)
{
	uint64_t time = clock_ns(CLOCK_REALTIME);

#ifdef GPU_MACA
	(void)cuptiGetTimestamp(&time);
#endif
	return own_clock ? my_clock() : time;
}

static void check(uint32_t result, const char *what)
{
	if (!result)
		return;
	printf("profiler: %s: %u\n", what, result);
	exit(GPU_FAILED);
}

static void on_call(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	const struct ts_cupti_callback_data *call = data;

	(void)userdata;
	(void)cbid;
	if (domain == DOMAIN && call->callback_site == TS_CUPTI_API_ENTER)
		__atomic_fetch_add(&seen.callbacks, 1, __ATOMIC_RELAXED);
}

static void requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	memset(*buffer, GARBAGE, BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*max_records = 0;
	__atomic_fetch_add(&n_buffers_out, 1, __ATOMIC_RELAXED);
}

static void look_at_times(uint64_t start, uint64_t end)
{
	const uint64_t slack = 1000000;

	seen.bad_times += start + slack < began || end < start || end > now() + slack;
}

static void look_at(const struct ts_cupti_activity *record)
{
	const struct ts_cupti_activity_kernel *kernel = (const void *)record;
	const struct ts_cupti_activity_memcpy *copy = (const void *)record;

	switch (record->kind) {
	case TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		seen.kernels += !strcmp(kernel->name, "nothing");
		seen.others_kernels += !!strcmp(kernel->name, "nothing");
		look_at_times(kernel->start, kernel->end);
		break;
	case TS_CUPTI_ACTIVITY_KIND_MEMCPY:
		seen.copies++;
		seen.copied += copy->bytes;
		look_at_times(copy->start, copy->end);
		break;
	case TS_CUPTI_ACTIVITY_KIND_MEMSET:
		seen.sets++;
		break;
	case TS_CUPTI_ACTIVITY_KIND_DRIVER:
		seen.calls++;
		break;
	default:
		break;
	}
}

static void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	size_t n_dropped = 0;
	struct ts_cupti_activity *record = NULL;

	if (size != BUFFER_BYTES) {
		printf("profiler: a buffer of %zu bytes is a stranger's\n", size);
		exit(1);
	}
	while (!cuptiActivityGetNextRecord(buffer, valid, &record))
		look_at(record);
	if (!cuptiActivityGetNumDroppedRecords(context, stream, &n_dropped))
		seen.dropped += n_dropped;
	free(buffer);
	__atomic_fetch_sub(&n_buffers_out, 1, __ATOMIC_RELAXED);
}

static void take(const char *way)
{
	began = now();
	if (strcmp(way, "activity")) {
		check(cuptiSubscribe(&subscriber, on_call, NULL), "cuptiSubscribe");
		check(cuptiEnableDomain(1, subscriber, DOMAIN), "cuptiEnableDomain");
	}
	if (own_clock)
		check(cuptiActivityRegisterTimestampCallback(my_clock),
		      "cuptiActivityRegisterTimestampCallback");
	check(cuptiActivityRegisterCallbacks(requested, completed),
	      "cuptiActivityRegisterCallbacks");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		check(cuptiActivityEnable(kinds[i]), "cuptiActivityEnable");
	began = now();
}

static void let_go(const char *way)
{
	check(cuptiActivityFlushAll(0), "cuptiActivityFlushAll");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		check(cuptiActivityDisable(kinds[i]), "cuptiActivityDisable");
	if (!strcmp(way, "finalize"))
		check(cuptiFinalize(), "cuptiFinalize");
	else if (strcmp(way, "activity"))
		check(cuptiUnsubscribe(subscriber), "cuptiUnsubscribe");
	/*
	 * Some profilers flush once more after unsubscribing. After cuptiFinalize() CUPTI cannot
	 * flush.
	 */
	if (strcmp(way, "finalize"))
		check(cuptiActivityFlushAll(TS_CUPTI_ACTIVITY_FLAG_FLUSH_FORCED),
		      "cuptiActivityFlushAll");
}

static void tell(int round)
{
	printf("round %d: %lu callbacks, %lu kernels, %lu others, %lu copies of %lu bytes, %lu sets, "
	       "%lu calls, %lu times wrong, %lu dropped, %lu buffers out\n",
	       round, seen.callbacks, seen.kernels, seen.others_kernels, seen.copies, seen.copied,
	       seen.sets, seen.calls, seen.bad_times, seen.dropped, n_buffers_out);
	memset(&seen, 0, sizeof(seen));
}

static void work_outside(float *memory)
{
	for (int i = 0; i < OUTSIDE; i++)
		gpu_scale(N, 1, memory, gpu_default_stream(0));
	gpu_device_sync();
}

static void work_within(float *memory)
{
	float values[N] = {0};

	gpu_h2d(memory, values, sizeof(values));
	for (int i = 0; i < WITHIN; i++)
		gpu_nothing(gpu_default_stream(0));
	gpu_set(memory, 0, sizeof(values));
	gpu_d2h(values, memory, sizeof(values));
	gpu_device_sync();
}

/*
 * With TS_APP_WAIT, waits for a line. The test writes it when the recorder has noticed the end of
 * profiling.
 */
static void pause_for(void)
{
	char line[16];

	if (getenv("TS_APP_WAIT") && !fgets(line, sizeof(line), stdin))
		exit(2);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "subscribe";
	int rounds = argc > 2 ? atoi(argv[2]) : 1;
	float *memory;

	own_clock = !strcmp(way, "clock");
	if (!strncmp(way, "first", 5))
		take(way);
	gpu_open(NULL);
	memory = gpu_malloc(N * sizeof(*memory));
	if (!strncmp(way, "first", 5)) {
		work_within(memory);
		if (!strcmp(way, "first"))
			let_go(way);
		else
			check(cuptiActivityFlushAll(0), "cuptiActivityFlushAll");
		memset(&seen.callbacks, 0, sizeof(seen.callbacks));
		seen.calls = 0;
		tell(0);
		if (!strcmp(way, "first")) {
			pause_for();
			work_outside(memory);
		}
		return gpu_close();
	}
	for (int round = 0; round < rounds; round++) {
		work_outside(memory);
		take(way);
		work_within(memory);
		if (!strcmp(way, "keep")) {
			check(cuptiActivityFlushAll(0), "cuptiActivityFlushAll");
			tell(round);
			return gpu_close();
		}
		let_go(way);
		tell(round);
		pause_for();
	}
	work_outside(memory);
	gpu_free(memory);
	return gpu_close();
}
