/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables indexed by callback id. callbacks.c, recorder.c and inject/capture call this file. The
 * classes come from proto/abi/vendor; this file adds the shim's choice of calls to watch. The
 * effects are generated from the tables of calls, hip.calls and its two neighbours.
 */
#include "inject/calls/call-table.h"
#include "inject/calls/call-facts.h"
#include "proto/abi/record.h"
#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cuda_runtime_params.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "proto/abi/vendor/hip_calls.h"
#include "proto/abi/vendor/hip_params.h"

/* Class plus 1; 0: unknown call. */
static const uint8_t runtime_classes[TS_CUPTI_RUNTIME_CBID_SIZE] = {
#define TS_CALL_(name, id, kind) [id] = TS_CUPTI_CLASS_##kind + 1,
	TS_CUPTI_RUNTIME_CBIDS(TS_CALL_)
#undef TS_CALL_
};

static const uint8_t driver_classes[TS_CUPTI_DRIVER_CBID_SIZE] = {
#define TS_CALL_(name, id, kind) [id] = TS_CUPTI_CLASS_##kind + 1,
	TS_CUPTI_DRIVER_CBIDS(TS_CALL_)
#undef TS_CALL_
};

static const uint8_t hip_classes[TS_HIP_CALL_SIZE] = {
#define TS_CALL_(name, id, kind) [id] = TS_CUPTI_CLASS_##kind + 1,
	TS_HIP_CALLS(TS_CALL_)
#undef TS_CALL_
};

enum effect_kind {
	EFFECT_NONE = 0,
	EFFECT_RECORD,
	EFFECT_WAIT,
	EFFECT_GRAPH,
	EFFECT_HOST,
	EFFECT_CREATE_STREAM,
	EFFECT_BEGIN_CAPTURE,
	EFFECT_END_CAPTURE,
};

/* Effects of a call beyond its class. Parameters are given as AT(); 0: the call has none. */
struct effect {
	uint8_t kind;
	bool per_thread; /* a NULL stream is the per-thread one */
	bool quiet;	 /* the call is frequent, and no effect of it is recorded */
	uint8_t stream, object, flags, priority;
	uint8_t amounts[2]; /* device rows are certain if all of these are above 0, */
	uint8_t direction;  /* and if this copy direction involves a device */
};

#define AT(structure, argument) (offsetof(struct structure, argument) + 1)

#include "inject/generated-effects.h"

#undef AT

#define DRIVER_TABLE                                                         \
	{                                                                    \
		driver_classes, driver_effects_of, TS_CUPTI_DRIVER_CBID_SIZE \
	}

const struct ts_call_facts_table ts_call_facts_tables[TS_API_HIP + 1] = {
	DRIVER_TABLE,
	[TS_API_CUDA_DRIVER] = DRIVER_TABLE,
	[TS_API_CUDA_RUNTIME] = {runtime_classes, runtime_effects_of, TS_CUPTI_RUNTIME_CBID_SIZE},
	[TS_API_HIP] = {hip_classes, hip_effects_of, TS_HIP_CALL_SIZE},
};

static const struct ts_call_facts_table *table_of(uint32_t domain)
{
	return &ts_call_facts_tables[domain <= TS_API_HIP ? domain : TS_API_CUDA_DRIVER];
}

static const struct effect *effects_of_interface(uint32_t domain)
{
	if (domain == TS_API_CUDA_RUNTIME)
		return runtime_effects;
	return domain == TS_API_HIP ? hip_effects : driver_effects;
}

static const struct effect *effect_of(uint32_t domain, uint32_t cbid)
{
	const struct ts_call_facts_table *table = table_of(domain);

	return &effects_of_interface(domain)[cbid < table->n ? table->effects_of[cbid] : 0];
}

static const void *argument(const void *params, uint8_t at)
{
	return (const char *)params + at - 1;
}

static void *pointer_argument(const void *params, uint8_t at)
{
	return at ? *(void *const *)argument(params, at) : NULL;
}

static uint32_t word_argument(const void *params, uint8_t at)
{
	return at ? *(const uint32_t *)argument(params, at) : 0;
}

uint32_t ts_call_table_n(uint32_t domain)
{
	return table_of(domain)->n;
}

unsigned ts_call_table_class(uint32_t domain, uint32_t cbid)
{
	return ts_call_facts_class(ts_call_facts(domain, cbid));
}

bool ts_call_table_watched(uint32_t domain, uint32_t cbid)
{
	/*
	 * Trap: the runtime makes some calls millions of times within its own, and these calls have
	 * no effect. Their callbacks alone slow programs down. Queries (cudaGetDevice,
	 * cuCtxGetCurrent, cuKernelGetAttribute, cuDevicePrimaryCtxGetState, ...) are a class of
	 * their own.
	 */
	if (effect_of(domain, cbid)->quiet)
		return false;
	switch (ts_call_table_class(domain, cbid)) {
	case TS_CUPTI_CLASS_QUERY:
	case TS_CUPTI_CLASS_OTHER:
		return false;
	default:
		return true;
	}
}

static bool copy_is_certain(int32_t kind)
{
	return kind == TS_CUDA_MEMCPY_HOST_TO_DEVICE || kind == TS_CUDA_MEMCPY_DEVICE_TO_HOST ||
	       kind == TS_CUDA_MEMCPY_DEVICE_TO_DEVICE;
}

bool ts_call_table_expect_device(uint32_t domain, uint32_t cbid, const void *params)
{
	const struct effect *effect = effect_of(domain, cbid);

	/* A graph may consist of host nodes only, so GRAPH_LAUNCH is not certain. */
	if (ts_call_table_class(domain, cbid) == TS_CUPTI_CLASS_LAUNCH)
		return true;
	if (!params || !effect->amounts[0])
		return false;
	for (size_t i = 0; i < 2 && effect->amounts[i]; i++)
		if (!*(const size_t *)argument(params, effect->amounts[i]))
			return false;
	return !effect->direction ||
	       copy_is_certain((int32_t)word_argument(params, effect->direction));
}

static bool has_early_begin(const struct ts_cu_launch_attribute *attributes, uint32_t n)
{
	for (uint32_t i = 0; attributes && i < n; i++)
		if (attributes[i].id == TS_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
			return attributes[i].value.programmatic_stream_serialization_allowed;
	return false;
}

bool ts_call_table_may_begin_early(uint32_t domain, uint32_t cbid, const void *params)
{
	const struct ts_cuda_launch_kernel_ex_c_params *runtime = params;
	const struct ts_cu_launch_kernel_ex_params *driver = params;

	if (!params || !ts_call_has_attributes(domain, cbid))
		return false;
	if (domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API)
		return runtime->config &&
		       has_early_begin(runtime->config->attrs, runtime->config->num_attrs);
	return driver->config && has_early_begin(driver->config->attrs, driver->config->num_attrs);
}

int ts_call_table_stream_capture(uint32_t domain, uint32_t cbid)
{
	switch (effect_of(domain, cbid)->kind) {
	case EFFECT_BEGIN_CAPTURE:
		return 1;
	case EFFECT_END_CAPTURE:
		return -1;
	default:
		return 0;
	}
}

void *ts_call_table_captured_stream(uint32_t domain, uint32_t cbid, const void *params,
				    bool *ret_per_thread)
{
	const struct effect *effect = effect_of(domain, cbid);

	*ret_per_thread = effect->per_thread;
	return params ? pointer_argument(params, effect->stream) : NULL;
}

/*
 * Returns the stream operation of a call. A batch of memory operations counts as TS_STREAM_OP_HOST,
 * even if it contains no wait.
 */
struct ts_stream_op ts_call_table_stream_op(uint32_t domain, uint32_t cbid, const void *params)
{
	static const uint8_t kinds[] = {
		[EFFECT_RECORD] = TS_STREAM_OP_EVENT,
		[EFFECT_WAIT] = TS_STREAM_OP_WAIT,
		[EFFECT_GRAPH] = TS_STREAM_OP_GRAPH,
		[EFFECT_HOST] = TS_STREAM_OP_HOST,
	};
	const struct effect *effect = effect_of(domain, cbid);

	if (!params || effect->kind >= sizeof(kinds) || !kinds[effect->kind])
		return (struct ts_stream_op){TS_STREAM_OP_NONE, NULL, false, NULL, 0};
	return (struct ts_stream_op){kinds[effect->kind], pointer_argument(params, effect->stream),
				     effect->per_thread, pointer_argument(params, effect->object),
				     word_argument(params, effect->flags)};
}

bool ts_call_table_stream_create(uint32_t domain, uint32_t cbid, const void *params,
				 uint32_t *ret_flags, int32_t *ret_priority)
{
	const struct effect *effect = effect_of(domain, cbid);

	if (!params || effect->kind != EFFECT_CREATE_STREAM)
		return false;
	*ret_flags = word_argument(params, effect->flags);
	*ret_priority = (int32_t)word_argument(params, effect->priority);
	return true;
}

bool ts_call_table_followed(uint32_t domain, uint32_t cbid)
{
	return ts_call_table_stream_capture(domain, cbid) ||
	       effect_of(domain, cbid)->kind == EFFECT_CREATE_STREAM;
}
