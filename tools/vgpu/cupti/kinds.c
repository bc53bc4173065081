// SPDX-License-Identifier: Apache-2.0
/*
 * Switches of the activity API: recorded kinds, global or of one context, recorded calls,
 * attributes, and each thread's external correlation ids. Threads that make calls read these
 * switches without locks. A kind that this device cannot record is rejected, not accepted and left
 * empty. activity-calls.c, cupti-record.c and clients call this file.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/cupti/api.h"
#include "tools/vgpu/cupti/cupti-internal.h"

#define BIT(kind) ((uint64_t)1 << (kind))

#define SUPPORTED_KINDS                                                                       \
	(BIT(TS_CUPTI_ACTIVITY_KIND_RUNTIME) | BIT(TS_CUPTI_ACTIVITY_KIND_DRIVER) |           \
	 BIT(TS_CUPTI_ACTIVITY_KIND_KERNEL) | BIT(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) | \
	 BIT(TS_CUPTI_ACTIVITY_KIND_MEMCPY) | BIT(TS_CUPTI_ACTIVITY_KIND_MEMCPY2) |           \
	 BIT(TS_CUPTI_ACTIVITY_KIND_MEMSET) | BIT(TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) |   \
	 BIT(TS_CUPTI_ACTIVITY_KIND_MEMORY2) | BIT(TS_CUPTI_ACTIVITY_KIND_OVERHEAD) |         \
	 BIT(TS_CUPTI_ACTIVITY_KIND_DEVICE) | BIT(TS_CUPTI_ACTIVITY_KIND_CONTEXT) |           \
	 BIT(TS_CUPTI_ACTIVITY_KIND_STREAM) | BIT(TS_CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))

/* Contexts with their own settings; contexts are few and their ids small. */
#define N_CONTEXTS 256

/* External ids: one stack per kind and thread. */
#define N_EXTERNAL_KINDS (TS_CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2 + 1)
#define EXTERNAL_DEPTH	 128

static struct {
	_Atomic uint64_t kinds;
	struct {
		_Atomic uint64_t decided; /* kinds with a setting of this context */
		_Atomic uint64_t enabled; /* enabled ones among them */
	} contexts[N_CONTEXTS];
	struct ts_cupti_set runtime;
	struct ts_cupti_set driver;
	_Atomic bool latency;
	_Atomic bool zeroed;
	_Atomic bool per_thread;
	_Atomic bool pinned;
	_Atomic uint64_t sizes[TS_CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS + 1];
} state = {
	/*
	 * Defaults of CUPTI 13.0. The sizes are for memory that this device does not need: stored,
	 * not used.
	 */
	.per_thread = true,
	.sizes = {[TS_CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE] = 3200000,
		  [TS_CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP] = 8388608,
		  [TS_CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT] = 250,
		  [TS_CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE] = 3,
		  [TS_CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS] = 16777216},
};

static __thread struct {
	uint32_t depth[N_EXTERNAL_KINDS];
	uint64_t ids[N_EXTERNAL_KINDS][EXTERNAL_DEPTH];
} * external;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

bool ts_cupti_kind_enabled(uint32_t kind, uint32_t context_id)
{
	uint64_t bit = BIT(kind);

	if (context_id < N_CONTEXTS &&
	    atomic_load_explicit(&state.contexts[context_id].decided, memory_order_relaxed) & bit)
		return atomic_load_explicit(&state.contexts[context_id].enabled,
					    memory_order_relaxed) &
		       bit;
	return atomic_load_explicit(&state.kinds, memory_order_relaxed) & bit;
}

bool ts_cupti_any_kind_enabled(void)
{
	if (atomic_load_explicit(&state.kinds, memory_order_relaxed))
		return true;
	for (size_t i = 0; i < TS_CUPTI_SET_WORDS; i++)
		if (atomic_load_explicit(&state.runtime.words[i], memory_order_relaxed) ||
		    atomic_load_explicit(&state.driver.words[i], memory_order_relaxed))
			return true;
	for (size_t i = 0; i < N_CONTEXTS; i++)
		if (atomic_load_explicit(&state.contexts[i].enabled, memory_order_relaxed))
			return true;
	return false;
}

bool ts_cupti_api_recorded(uint32_t domain, uint32_t cbid)
{
	return ts_cupti_set_has(domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API ? &state.runtime
									 : &state.driver,
				cbid);
}

bool ts_cupti_latency_timestamps(void)
{
	return atomic_load_explicit(&state.latency, memory_order_relaxed);
}

bool ts_cupti_buffers_come_zeroed(void)
{
	return atomic_load_explicit(&state.zeroed, memory_order_relaxed);
}

bool ts_cupti_buffer_per_thread(void)
{
	return atomic_load_explicit(&state.per_thread, memory_order_relaxed);
}

static uint32_t check_kind(uint32_t kind)
{
	if (kind == TS_CUPTI_ACTIVITY_KIND_INVALID ||
	    kind > TS_CUPTI_ACTIVITY_KIND_CONFIDENTIAL_COMPUTE_ROTATION)
		return TS_CUPTI_ERROR_INVALID_KIND;
	if (!(SUPPORTED_KINDS & BIT(kind)) || !ts_cupti_face_bytes(kind))
		return TS_CUPTI_ERROR_NOT_COMPATIBLE;
	return TS_CUPTI_SUCCESS;
}

uint32_t ts_cupti_switch_kind(uint32_t kind, bool enable)
{
	uint32_t result = check_kind(kind);

	if (result)
		return result;
	if (!ts_cupti_hooks())
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	if (enable)
		atomic_fetch_or(&state.kinds, BIT(kind));
	else
		atomic_fetch_and(&state.kinds, ~BIT(kind));
	/* These two kinds override earlier settings of single calls. */
	if (kind == TS_CUPTI_ACTIVITY_KIND_RUNTIME)
		ts_cupti_set_fill(&state.runtime, enable);
	if (kind == TS_CUPTI_ACTIVITY_KIND_DRIVER)
		ts_cupti_set_fill(&state.driver, enable);
	return TS_CUPTI_SUCCESS;
}

uint32_t ts_cupti_switch_context(void *context, uint32_t kind, bool enable)
{
	struct ts_vgpu_context_info info;
	uint32_t result = check_kind(kind);

	if (result)
		return result;
	if (!ts_cupti_hooks())
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	/* Calls belong to threads; the current context of a call does not select it. */
	if (kind == TS_CUPTI_ACTIVITY_KIND_RUNTIME || kind == TS_CUPTI_ACTIVITY_KIND_DRIVER)
		return TS_CUPTI_ERROR_NOT_COMPATIBLE;
	if (ts_cupti_hooks()->queries->context(context, &info))
		return TS_CUPTI_ERROR_INVALID_CONTEXT;
	if (info.context_id >= N_CONTEXTS)
		return TS_CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (enable)
		atomic_fetch_or(&state.contexts[info.context_id].enabled, BIT(kind));
	else
		atomic_fetch_and(&state.contexts[info.context_id].enabled, ~BIT(kind));
	atomic_fetch_or(&state.contexts[info.context_id].decided, BIT(kind));
	return TS_CUPTI_SUCCESS;
}

uint32_t ts_cupti_switch_api(uint32_t domain, uint32_t cbid, bool enable)
{
	if (cbid == 0 || cbid >= ts_cupti_domain_size(domain))
		return TS_CUPTI_ERROR_INVALID_PARAMETER;
	if (!ts_cupti_hooks())
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	ts_cupti_set_put(domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API ? &state.runtime : &state.driver,
			 cbid, enable);
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	atomic_store(&state.latency, enable != 0);
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	/* Queries create no synchronization records here, so there are none to omit. */
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiActivityRegisterTimestampCallback(ts_cupti_timestamp_fn callback)
{
	if (!callback)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (!ts_cupti_hooks())
		return ts_cupti_result(TS_CUPTI_ERROR_NOT_INITIALIZED);
	ts_cupti_clock_set(callback);
	return TS_CUPTI_SUCCESS;
}

/* Attributes that are flags of one byte; the others are size_t. */
static _Atomic bool *flag_attribute(uint32_t attribute)
{
	switch (attribute) {
	case TS_CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER:
		return &state.zeroed;
	case TS_CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER:
		return &state.per_thread;
	case TS_CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED:
		return &state.pinned;
	default:
		return NULL;
	}
}

static uint32_t check_attribute(uint32_t attribute, const size_t *value_size, const void *value)
{
	size_t needed = flag_attribute(attribute) ? sizeof(uint8_t) : sizeof(size_t);

	if (!value_size || !value ||
	    attribute > TS_CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS)
		return TS_CUPTI_ERROR_INVALID_PARAMETER;
	/* CUDA 12.3 removed the semaphore pools. */
	if (attribute == TS_CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE ||
	    attribute == TS_CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT ||
	    attribute == TS_CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE)
		return TS_CUPTI_ERROR_NOT_SUPPORTED;
	return *value_size < needed ? TS_CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT
				    : TS_CUPTI_SUCCESS;
}

uint32_t cuptiActivityGetAttribute(uint32_t attribute, size_t *value_size, void *value)
{
	uint32_t result = check_attribute(attribute, value_size, value);
	_Atomic bool *flag = flag_attribute(attribute);

	if (result)
		return ts_cupti_result(result);
	if (flag) {
		uint8_t byte = atomic_load(flag);

		memcpy(value, &byte, sizeof(byte));
		*value_size = sizeof(byte);
	} else {
		size_t size = atomic_load(&state.sizes[attribute]);

		memcpy(value, &size, sizeof(size));
		*value_size = sizeof(size);
	}
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiActivitySetAttribute(uint32_t attribute, size_t *value_size, void *value)
{
	uint32_t result = check_attribute(attribute, value_size, value);
	_Atomic bool *flag = flag_attribute(attribute);

	if (result)
		return ts_cupti_result(result);
	if (flag) {
		atomic_store(flag, *(const uint8_t *)value != 0);
	} else {
		size_t size;

		memcpy(&size, value, sizeof(size));
		atomic_store(&state.sizes[attribute], size);
	}
	return TS_CUPTI_SUCCESS;
}

static void make_key(void)
{
	pthread_key_create(&key, free);
}

uint32_t cuptiActivityPushExternalCorrelationId(uint32_t kind, uint64_t id)
{
	if (kind == TS_CUPTI_EXTERNAL_CORRELATION_KIND_INVALID || kind >= N_EXTERNAL_KINDS)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (!external) {
		pthread_once(&key_once, make_key);
		external = calloc(1, sizeof(*external));
		if (!external)
			return ts_cupti_result(TS_CUPTI_ERROR_OUT_OF_MEMORY);
		pthread_setspecific(key, external);
	}
	if (external->depth[kind] == EXTERNAL_DEPTH)
		return ts_cupti_result(TS_CUPTI_ERROR_MAX_LIMIT_REACHED);
	external->ids[kind][external->depth[kind]++] = id;
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiActivityPopExternalCorrelationId(uint32_t kind, uint64_t *ret_last_id)
{
	if (kind == TS_CUPTI_EXTERNAL_CORRELATION_KIND_INVALID || kind >= N_EXTERNAL_KINDS)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (!external || external->depth[kind] == 0)
		return ts_cupti_result(TS_CUPTI_ERROR_QUEUE_EMPTY);
	external->depth[kind]--;
	if (ret_last_id)
		*ret_last_id = external->ids[kind][external->depth[kind]];
	return TS_CUPTI_SUCCESS;
}

void ts_cupti_each_external_id(void (*fn)(uint32_t kind, uint64_t id, uint32_t correlation_id),
			       uint32_t correlation_id)
{
	if (!external)
		return;
	for (uint32_t kind = 1; kind < N_EXTERNAL_KINDS; kind++)
		if (external->depth[kind])
			fn(kind, external->ids[kind][external->depth[kind] - 1], correlation_id);
}

void ts_cupti_activity_reset(void)
{
	atomic_store(&state.kinds, 0);
	for (size_t i = 0; i < N_CONTEXTS; i++) {
		atomic_store(&state.contexts[i].enabled, 0);
		atomic_store(&state.contexts[i].decided, 0);
	}
	ts_cupti_set_fill(&state.runtime, false);
	ts_cupti_set_fill(&state.driver, false);
	atomic_store(&state.latency, false);
}
