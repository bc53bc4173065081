/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings and queries of a context: limits, caches, priorities, peer access. Programs call this
 * file through the functions of generated-cuda-settings.h.
 */
#include "tools/vgpu/cuda/driver.h"

/*
 * A context stores the limits of enum CUlimit from 0 to CU_LIMIT_PERSISTING_L2_CACHE_SIZE (6). The
 * virtual GPU lacks the later ones.
 */
#define N_LIMITS 7

/*
 * Checks the number of a limit: returns "unsupported" for a limit that only the virtual GPU lacks,
 * and "invalid value" for an unknown number.
 */
static int check_limit(int32_t limit)
{
	if (limit < 0 || limit > TS_CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED)
		return TS_CU_ERROR_INVALID_VALUE;
	return limit >= N_LIMITS ? TS_CU_ERROR_UNSUPPORTED_LIMIT : 0;
}

/* Stack and heap limits apply to kernels; the other limits are only stored and returned. */
static int ctx_set_limit(int32_t limit, size_t value)
{
	struct context *context;
	int r = context_current(&context);

	if (!r)
		r = check_limit(limit);
	if (r)
		return r;
	/* Stack: no block has room for more, whatever the device's memory. */
	if (!limit && value > TS_PTX_MAX_LOCAL_BYTES)
		return TS_CU_ERROR_INVALID_VALUE;
	context->limits[limit] = value;
	ts_vgpu_context_set_limits(context->vctx,
				   context->limits[0] ? context->limits[0] : TS_VGPU_STACK_BYTES,
				   context->limits[2] ? context->limits[2] : TS_VGPU_HEAP_BYTES);
	return 0;
}

static int ctx_get_limit(size_t *pvalue, int32_t limit)
{
	/*
	 * Sizes of stack, printf buffer and malloc heap, nesting, pending launches, fetch
	 * granularity, persisting L2.
	 */
	static const size_t defaults[N_LIMITS] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
	struct context *context;
	int r = context_current(&context);

	if (r)
		return r;
	if (!pvalue)
		return TS_CU_ERROR_INVALID_VALUE;
	r = check_limit(limit);
	if (r)
		return r;
	*pvalue = context->limits[limit] ? context->limits[limit] : defaults[limit];
	return 0;
}

static int ctx_get_cache_config(int32_t *pconfig)
{
	struct context *context;
	int r = context_current(&context);

	if (r)
		return r;
	if (!pconfig)
		return TS_CU_ERROR_INVALID_VALUE;
	*pconfig = context->cache_config;
	return 0;
}

static int ctx_set_cache_config(int32_t config)
{
	struct context *context;
	int r = context_current(&context);

	if (r)
		return r;
	if (config < TS_CU_FUNC_CACHE_PREFER_NONE || config > TS_CU_FUNC_CACHE_PREFER_EQUAL)
		return TS_CU_ERROR_INVALID_VALUE;
	context->cache_config = config;
	return 0;
}

static int ctx_get_api_version(void *ctx, uint32_t *version)
{
	struct context *context;
	int r = context_get(ctx, &context);

	if (r)
		return r;
	if (!version)
		return TS_CU_ERROR_INVALID_VALUE;
	*version = 3020;
	return 0;
}

static int ctx_get_stream_priority_range(int32_t *least_priority, int32_t *greatest_priority)
{
	struct context *context;
	int r = context_current(&context);

	if (r)
		return r;
	if (least_priority)
		*least_priority = TS_VGPU_PRIORITY_LEAST;
	if (greatest_priority)
		*greatest_priority = TS_VGPU_PRIORITY_GREATEST;
	return 0;
}

/*
 * Each device can access every other. The enabled peers are still stored, so that a kernel that
 * accesses another peer faults.
 */
static int device_can_access_peer(int32_t *can_access_peer, int32_t dev, int32_t peer_dev)
{
	int r = check_ready();

	if (r)
		return r;
	if (!can_access_peer)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!device_get(dev) || !device_get(peer_dev))
		return TS_CU_ERROR_INVALID_DEVICE;
	*can_access_peer = dev != peer_dev;
	return 0;
}

static int ctx_enable_peer_access(void *peer_context, uint32_t flags)
{
	struct context *context, *peer = peer_context;
	int r = context_current(&context);

	if (r)
		return r;
	if (flags)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!handle_is(peer, HANDLE_CONTEXT))
		return TS_CU_ERROR_INVALID_CONTEXT;
	if (peer->device == context->device)
		return TS_CU_ERROR_PEER_ACCESS_UNSUPPORTED;
	if (context->peers & 1u << peer->device)
		return TS_CU_ERROR_PEER_ACCESS_ALREADY_ENABLED;
	context->peers |= 1u << peer->device;
	ts_vgpu_context_set_peers(context->vctx, context->peers);
	return 0;
}

static int ctx_disable_peer_access(void *peer_context)
{
	struct context *context, *peer = peer_context;
	int r = context_current(&context);

	if (r)
		return r;
	if (!handle_is(peer, HANDLE_CONTEXT))
		return TS_CU_ERROR_INVALID_CONTEXT;
	if (!(context->peers & 1u << peer->device))
		return TS_CU_ERROR_PEER_ACCESS_NOT_ENABLED;
	context->peers &= ~(1u << peer->device);
	ts_vgpu_context_set_peers(context->vctx, context->peers);
	return 0;
}

static int device_get_p2p_attribute(int32_t *value, int32_t attrib, int32_t src_device,
				    int32_t dst_device)
{
	int r = check_ready();

	if (r)
		return r;
	if (!device_get(src_device) || !device_get(dst_device) || src_device == dst_device)
		return TS_CU_ERROR_INVALID_DEVICE;
	if (!value)
		return TS_CU_ERROR_INVALID_VALUE;
	switch (attrib) {
	case TS_CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
		*value = 1;
		return 0;
	case TS_CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
	case TS_CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
	case TS_CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
		*value = 0;
		return 0;
	default:
		return TS_CU_ERROR_INVALID_VALUE;
	}
}

#include "tools/vgpu/generated-cuda-settings.h"
