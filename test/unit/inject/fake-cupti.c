/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small libcupti for the shim's tests: it needs no GPU and no driver, and the tests know all its
 * answers. Like CUPTI it is strict about the order of set-up, a second subscriber, and the threads
 * and callbacks from which a flush is allowed. A violation aborts.
 */
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "proto/abi/base.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "test/unit/inject/fake-cupti.h"

#define EXPORT	       __attribute__((visibility("default")))
#define FATAL_GRACE_US 20000u
#define FATAL_WATCH_US 250000u

/* A callback may run while the subscriber changes, so its subscription must stay unchanged. */
struct subscription {
	ts_cupti_callback_fn callback;
	void *userdata;
};

static struct subscription subscriptions[4096];

static struct {
	pthread_mutex_t lock;
	struct subscription *subscription; /* NULL: no subscriber */
	uint32_t n_subscriptions;
	bool enabled[8][1024];
	bool kinds[64];
	ts_cupti_buffer_requested_fn requested;
	ts_cupti_buffer_completed_fn completed;
	ts_cupti_timestamp_fn now;
	uint32_t n_clocks, n_flushes, n_stream_queries;
	bool misordered;
	uint8_t *buffer;
	size_t size, used;
	uint32_t correlation;
	bool dead;
	uint32_t n_forced; /* forced flushes since the last subscription */
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

static __thread uint32_t current_correlation;
static __thread uint32_t depth;
/* The thread has flushed complete buffers; since then other threads may have completed more. */
static __thread bool flushed;
static __thread bool inside_callback, inside_resource;

EXPORT uint32_t cuptiGetVersion(uint32_t *version);
EXPORT uint32_t cuptiSubscribe(void **subscriber, ts_cupti_callback_fn callback, void *userdata);
EXPORT uint32_t cuptiSubscribe_v2(void **subscriber, ts_cupti_callback_fn callback, void *userdata,
				  struct ts_cupti_subscriber_params *params);
EXPORT uint32_t cuptiUnsubscribe(void *subscriber);
EXPORT uint32_t cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain,
				    uint32_t cbid);
EXPORT uint32_t cuptiActivityEnable(uint32_t kind);
EXPORT uint32_t cuptiActivityDisable(uint32_t kind);
EXPORT uint32_t cuptiActivityRegisterCallbacks(ts_cupti_buffer_requested_fn requested,
					       ts_cupti_buffer_completed_fn completed);
EXPORT uint32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record);
EXPORT uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
EXPORT uint32_t cuptiActivityFlushAll(uint32_t flags);
EXPORT uint32_t cuptiGetTimestamp(uint64_t *time);
EXPORT uint32_t cuptiActivityRegisterTimestampCallback(ts_cupti_timestamp_fn now);
EXPORT uint32_t cuptiGetContextId(void *context, uint32_t *id);
EXPORT uint32_t cuptiGetDeviceId(void *context, uint32_t *id);
EXPORT uint32_t cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id);

/* This thread is in the callback that reports CUPTI's fatal error. */
static __thread bool fatal_callback;

/* Like the real CUPTI, takes long to run its destructor; calls during that time crash. */
__attribute__((destructor)) static void torn_down(void)
{
	const char *text = getenv("FAKE_CUPTI_SLOW_END");

	__atomic_store_n(&fake.dead, true, __ATOMIC_SEQ_CST);
	if (text)
		usleep((useconds_t)strtoul(text, NULL, 10));
}

static void check_alive(void)
{
	if (fatal_callback || __atomic_load_n(&fake.dead, __ATOMIC_SEQ_CST))
		abort();
}

uint32_t cuptiGetVersion(uint32_t *version)
{
	const char *text = getenv("FAKE_CUPTI_VERSION");

	*version = text ? (uint32_t)strtoul(text, NULL, 10) : TS_CUPTI_API_VERSION;
	return 0;
}

static const struct subscription *subscription(void)
{
	return __atomic_load_n(&fake.subscription, __ATOMIC_ACQUIRE);
}

static bool is_on(uint32_t kind)
{
	return __atomic_load_n(&fake.kinds[kind], __ATOMIC_RELAXED);
}

uint32_t cuptiSubscribe(void **subscriber, ts_cupti_callback_fn callback, void *userdata)
{
	struct subscription *mine = &subscriptions[fake.n_subscriptions % 4096];

	if (getenv("FAKE_CUPTI_HOLDER") || subscription())
		return TS_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	fake.n_subscriptions++;
	*mine = (struct subscription){callback, userdata};
	pthread_mutex_lock(&fake.lock);
	fake.n_forced = 0;
	pthread_mutex_unlock(&fake.lock);
	__atomic_store_n(&fake.subscription, mine, __ATOMIC_RELEASE);
	*subscriber = &fake;
	return 0;
}

uint32_t cuptiSubscribe_v2(void **subscriber, ts_cupti_callback_fn callback, void *userdata,
			   struct ts_cupti_subscriber_params *params)
{
	uint32_t result = cuptiSubscribe(subscriber, callback, userdata);
	const char *holder = getenv("FAKE_CUPTI_HOLDER");

	if (result && holder && params->old_subscriber_name)
		snprintf(params->old_subscriber_name, params->old_subscriber_size, "%s", holder);
	return result;
}

uint32_t cuptiUnsubscribe(void *subscriber)
{
	check_alive();
	__atomic_store_n(&fake.subscription, NULL, __ATOMIC_RELEASE);
	return 0;
}

uint32_t cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t cbid)
{
	check_alive();
	if (subscriber != &fake || domain >= 8 || cbid >= 1024)
		return TS_CUPTI_ERROR_INVALID_PARAMETER;
	__atomic_store_n(&fake.enabled[domain][cbid], enable != 0, __ATOMIC_RELEASE);
	return 0;
}

uint32_t cuptiActivityEnable(uint32_t kind)
{
	check_alive();
	if (!subscription() || !fake.completed)
		fake.misordered = true;
	__atomic_store_n(&fake.kinds[kind], true, __ATOMIC_RELAXED);
	return 0;
}

uint32_t cuptiActivityDisable(uint32_t kind)
{
	check_alive();
	__atomic_store_n(&fake.kinds[kind], false, __ATOMIC_RELAXED);
	return 0;
}

uint32_t cuptiActivityRegisterCallbacks(ts_cupti_buffer_requested_fn requested,
					ts_cupti_buffer_completed_fn completed)
{
	if (!subscription())
		fake.misordered = true;
	pthread_mutex_lock(&fake.lock);
	fake.requested = requested;
	__atomic_store_n(&fake.completed, completed, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

uint32_t cuptiActivityRegisterTimestampCallback(ts_cupti_timestamp_fn now)
{
	if (!subscription() || is_on(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		fake.misordered = true;
	fake.now = now;
	fake.n_clocks++;
	return 0;
}

uint32_t cuptiGetTimestamp(uint64_t *time)
{
	struct timespec t;

	check_alive();
	clock_gettime(CLOCK_REALTIME, &t);
	*time = fake.now ? fake.now() : (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return 0;
}

/* The length of a record depends on the version. */
static size_t record_bytes(const void *record)
{
	uint32_t version;

	cuptiGetVersion(&version);
	return ts_cupti_record_bytes(((const struct ts_cupti_activity *)record)->kind, version);
}

uint32_t cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record)
{
	uint8_t *next = *record ? (uint8_t *)*record + record_bytes(*record) : buffer;

	if (next >= buffer + valid_bytes)
		return TS_CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = next;
	return 0;
}

uint32_t cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	check_alive();
	*dropped = 0;
	return 0;
}

static void deliver(uint8_t *buffer, size_t size, size_t used)
{
	if (buffer)
		__atomic_load_n(&fake.completed, __ATOMIC_ACQUIRE)(NULL, 0, buffer, size, used);
}

uint32_t cuptiActivityFlushAll(uint32_t flags)
{
	/* Uses much stack, like the real function. */
	uint8_t stack[1024 * 1024];
	uint8_t *buffer;
	size_t size, used;

	memset(stack, 0, sizeof(stack));
	__asm__ volatile("" : : "r"(stack) : "memory");
	check_alive();
	if (inside_callback)
		abort();
	pthread_mutex_lock(&fake.lock);
	/*
	 * A forced flush loses the records of running operations. So the shim may force only one
	 * flush, and only after it has flushed complete buffers.
	 */
	if (flags & TS_CUPTI_ACTIVITY_FLAG_FLUSH_FORCED && (!flushed || fake.n_forced++))
		abort();
	flushed = !(flags & TS_CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	buffer = fake.buffer;
	size = fake.size;
	used = fake.used;
	fake.buffer = NULL;
	fake.n_flushes++;
	pthread_mutex_unlock(&fake.lock);
	deliver(buffer, size, used);
	return 0;
}

uint32_t cuptiGetContextId(void *context, uint32_t *id)
{
	*id = 1;
	return 0;
}

uint32_t cuptiGetDeviceId(void *context, uint32_t *id)
{
	*id = 0;
	return 0;
}

uint32_t cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *id)
{
	fake.n_stream_queries += !inside_resource;
	*id = per_thread ? 8 : stream ? (uint32_t)(uintptr_t)stream & 0xffff : 7;
	return 0;
}

EXPORT void fake_cupti_record(const void *record, size_t n_bytes)
{
	uint8_t *full = NULL;
	size_t full_size = 0, full_used = 0, max_records = 0;

	pthread_mutex_lock(&fake.lock);
	if (fake.buffer && fake.used + n_bytes > fake.size) {
		full = fake.buffer;
		full_size = fake.size;
		full_used = fake.used;
		fake.buffer = NULL;
	}
	if (!fake.buffer) {
		fake.requested(&fake.buffer, &fake.size, &max_records);
		fake.used = 0;
	}
	memcpy(fake.buffer + fake.used, record, n_bytes);
	fake.used += n_bytes;
	if (max_records == 1) {
		deliver(fake.buffer, fake.size, fake.used);
		fake.buffer = NULL;
	}
	pthread_mutex_unlock(&fake.lock);
	deliver(full, full_size, full_used);
}

static void call_back(uint32_t site, uint32_t domain, uint32_t cbid, const void *params,
		      int32_t result)
{
	struct ts_cupti_callback_data data = {
		.callback_site = site,
		.function_name = "fake",
		.function_params = params,
		.function_return_value = site == TS_CUPTI_API_EXIT ? &result : NULL,
		.context = &fake,
		.context_uid = 1,
		.correlation_id = current_correlation,
	};
	const struct subscription *mine = subscription();
	bool was_inside = inside_callback;

	if (!mine || !__atomic_load_n(&fake.enabled[domain][cbid], __ATOMIC_ACQUIRE))
		return;
	inside_callback = true;
	mine->callback(mine->userdata, domain, cbid, &data);
	inside_callback = was_inside;
}

EXPORT void fake_cupti_enter(uint32_t domain, uint32_t cbid, const void *params)
{
	if (!depth++)
		current_correlation = __atomic_add_fetch(&fake.correlation, 1, __ATOMIC_RELAXED);
	call_back(TS_CUPTI_API_ENTER, domain, cbid, params, 0);
}

EXPORT void fake_cupti_leave(uint32_t domain, uint32_t cbid, const void *params, int32_t result)
{
	call_back(TS_CUPTI_API_EXIT, domain, cbid, params, result);
	depth--;
}

EXPORT void fake_cupti_forget(void)
{
	depth = 0;
}

EXPORT void fake_cupti_call(uint32_t domain, uint32_t cbid, const void *params, int32_t result)
{
	fake_cupti_enter(domain, cbid, params);
	fake_cupti_leave(domain, cbid, params, result);
}

EXPORT void fake_cupti_stream(void *stream, int created)
{
	struct ts_cupti_resource_data data = {.context = &fake, .resource_handle.stream = stream};
	uint32_t cbid = created ? TS_CUPTI_CBID_RESOURCE_STREAM_CREATED
				: TS_CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING;

	const struct subscription *mine = subscription();

	if (!mine ||
	    !__atomic_load_n(&fake.enabled[TS_CUPTI_CB_DOMAIN_RESOURCE][cbid], __ATOMIC_ACQUIRE))
		return;
	inside_callback = inside_resource = true;
	mine->callback(mine->userdata, TS_CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
	inside_callback = inside_resource = false;
}

EXPORT void fake_cupti_launch(void)
{
	struct ts_cupti_activity_kernel kernel = {
		.kind = TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.context_id = 1,
		.stream_id = 7,
		.grid_x = 1,
		.grid_y = 1,
		.grid_z = 1,
		.block_x = 32,
		.block_y = 1,
		.block_z = 1,
		.name = "_Z5saxpyifPKfPf",
	};

	fake_cupti_enter(TS_CUPTI_CB_DOMAIN_RUNTIME_API,
			 TS_CUPTI_RUNTIME_CBID_cudaLaunchKernel_v7000, NULL);
	fake_cupti_enter(TS_CUPTI_CB_DOMAIN_DRIVER_API, TS_CUPTI_DRIVER_CBID_cuLaunchKernel, NULL);
	kernel.correlation_id = current_correlation;
	cuptiGetTimestamp(&kernel.start);
	kernel.end = kernel.start + 1000;
	fake_cupti_leave(TS_CUPTI_CB_DOMAIN_DRIVER_API, TS_CUPTI_DRIVER_CBID_cuLaunchKernel, NULL,
			 0);
	fake_cupti_leave(TS_CUPTI_CB_DOMAIN_RUNTIME_API,
			 TS_CUPTI_RUNTIME_CBID_cudaLaunchKernel_v7000, NULL, 0);
	if (is_on(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL))
		fake_cupti_record(&kernel, record_bytes(&kernel));
}

EXPORT void fake_cupti_fatal(void)
{
	struct ts_cupti_state_data data = {TS_CUPTI_ERROR_UNKNOWN, "out of cheese"};

	fatal_callback = true;
	fake.subscription->callback(fake.subscription->userdata, TS_CUPTI_CB_DOMAIN_STATE,
				    TS_CUPTI_CBID_STATE_FATAL_ERROR, &data);
	fatal_callback = false;
	/*
	 * Wait a moment: another thread may have begun a call to CUPTI before the callback, which
	 * is allowed.
	 */
	usleep(FATAL_GRACE_US);
	__atomic_store_n(&fake.dead, true, __ATOMIC_SEQ_CST);
	/*
	 * Wait longer than the shim's flush thread sleeps, so that a faulty shim would call CUPTI
	 * during this time.
	 */
	usleep(FATAL_WATCH_US);
}

EXPORT uint32_t fake_cupti_n_enabled(void)
{
	uint32_t n = 0;

	for (uint32_t domain = 0; domain < 8; domain++)
		for (uint32_t cbid = 0; cbid < 1024; cbid++)
			n += fake.enabled[domain][cbid];
	return n;
}

EXPORT uint32_t fake_cupti_n_flushes(void)
{
	return fake.n_flushes;
}

EXPORT uint32_t fake_cupti_n_stream_queries(void)
{
	return fake.n_stream_queries;
}

EXPORT uint32_t fake_cupti_n_subscribed(void)
{
	return subscription() ? 1 : 0;
}

EXPORT uint32_t fake_cupti_is_enabled(uint32_t domain, uint32_t cbid)
{
	return subscription() && __atomic_load_n(&fake.enabled[domain][cbid], __ATOMIC_ACQUIRE);
}

EXPORT uint32_t fake_cupti_n_clocks(void)
{
	return fake.n_clocks;
}

EXPORT uint32_t fake_cupti_order(void)
{
	return !fake.misordered;
}
