/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream-ordered allocation from the device's pools. The allocation happens at the call, so that
 * its address can be returned. The memory is freed when the stream reaches the release. Programs
 * call this file through the functions of generated-cuda-pool.h; this file calls vgpu-pool.c.
 */
#include <stdio.h>
#include <string.h>

#include "tools/vgpu/cuda/work.h"

/*
 * Limit of a wait: the program itself may block the stream that frees memory, and the wait would
 * never end.
 */
#define MAX_WAIT_NS UINT64_C(10000000000)

struct pool {
	struct handle handle;
	uint32_t device;
	bool is_default;
	int32_t reuse_internal; /* if no other memory is left, the host waits for releases */
	struct ts_vgpu_pool *vpool;
	struct access access;
	struct pool *next; /* list of destroyed pools */
};

static struct {
	pthread_mutex_t lock;
	struct pool *defaults[TS_VGPU_MAX_DEVICES];
	struct pool *current[TS_VGPU_MAX_DEVICES];
	/*
	 * Pools destroyed while memory was in use; the handle is still an attribute of that memory.
	 */
	struct pool *destroyed;
} pools = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct pool *pool_new(uint32_t device)
{
	struct pool *pool = handle_new(HANDLE_POOL, sizeof(*pool));

	if (!pool)
		return NULL;
	if (ts_vgpu_pool_new(device_get((int32_t)device), pool, &pool->vpool)) {
		handle_free(pool, sizeof(*pool));
		return NULL;
	}
	pool->device = device;
	pool->access = (struct access){1u << device, 1u << device};
	pool->reuse_internal = 1;
	return pool;
}

static int pool_of_device(int32_t dev, bool current, void **ret_pool)
{
	int r = check_ready();

	if (r)
		return r;
	if (!device_get(dev))
		return TS_CU_ERROR_INVALID_DEVICE;
	if (!ret_pool)
		return TS_CU_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&pools.lock);
	if (!pools.defaults[dev]) {
		pools.defaults[dev] = pool_new((uint32_t)dev);
		if (pools.defaults[dev])
			pools.defaults[dev]->is_default = true;
	}
	*ret_pool = current && pools.current[dev] ? pools.current[dev] : pools.defaults[dev];
	pthread_mutex_unlock(&pools.lock);
	return *ret_pool ? 0 : TS_CU_ERROR_OUT_OF_MEMORY;
}

static int device_get_default_mem_pool(void **pool_out, int32_t dev)
{
	return pool_of_device(dev, false, pool_out);
}

static int device_get_mem_pool(void **pool, int32_t dev)
{
	return pool_of_device(dev, true, pool);
}

static int device_set_mem_pool(int32_t dev, void *pool)
{
	struct pool *p = pool;
	int r = check_ready();

	if (r)
		return r;
	if (!device_get(dev))
		return TS_CU_ERROR_INVALID_DEVICE;
	if (!handle_is(p, HANDLE_POOL) || p->device != (uint32_t)dev)
		return TS_CU_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&pools.lock);
	pools.current[dev] = p;
	pthread_mutex_unlock(&pools.lock);
	return 0;
}

static int pool_create(void **pool, const struct ts_cu_mem_pool_props *pool_props)
{
	struct ts_vgpu_pool_rules rules;
	struct pool *made;
	int r = check_ready();

	if (r)
		return r;
	if (!pool || !pool_props)
		return TS_CU_ERROR_INVALID_VALUE;
	if (pool_props->alloc_type != TS_CU_MEM_ALLOCATION_TYPE_PINNED ||
	    pool_props->location.type != TS_CU_MEM_LOCATION_TYPE_DEVICE ||
	    pool_props->handle_types != TS_CU_MEM_HANDLE_TYPE_NONE)
		return NOT_SERVED("memory pools of the host or of several processes",
				  "make the pool without handle types, in a device's memory");
	if (!device_get(pool_props->location.id))
		return TS_CU_ERROR_INVALID_DEVICE;
	made = pool_new((uint32_t)pool_props->location.id);
	if (!made)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	ts_vgpu_pool_ask(made->vpool, &rules, NULL);
	/* A pool holds whole granules. */
	rules.max_bytes = pool_props->max_size;
	if (rules.max_bytes && rules.max_bytes < UINT64_MAX - TS_VGPU_GRANULE_BYTES)
		rules.max_bytes +=
			TS_VGPU_GRANULE_BYTES - 1 - (rules.max_bytes - 1) % TS_VGPU_GRANULE_BYTES;
	ts_vgpu_pool_rule(made->vpool, &rules);
	*pool = made;
	return 0;
}

static int pool_get(void *pool, struct pool **ret_pool)
{
	int r = check_ready();

	if (r)
		return r;
	if (!handle_is(pool, HANDLE_POOL))
		return TS_CU_ERROR_INVALID_VALUE;
	*ret_pool = pool;
	return 0;
}

static int pool_destroy(void *pool)
{
	struct pool *p;
	int r = pool_get(pool, &p);

	if (r)
		return r;
	if (p->is_default)
		return TS_CU_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&pools.lock);
	if (pools.current[p->device] == p)
		pools.current[p->device] = NULL;
	/*
	 * Memory may refer to its pool while it is used. So the handle is kept until the process
	 * ends, and no later pool gets it.
	 */
	p->handle.kind = 0;
	p->next = pools.destroyed;
	pools.destroyed = p;
	pthread_mutex_unlock(&pools.lock);
	ts_vgpu_pool_free(p->vpool);
	return 0;
}

static int pool_trim_to(void *pool, size_t min_bytes_to_keep)
{
	struct pool *p;
	int r = pool_get(pool, &p);

	if (!r)
		ts_vgpu_pool_trim(p->vpool, min_bytes_to_keep);
	return r;
}

/* The caller holds the lock, so that concurrent changes of different attributes are all kept. */
static int attribute_set(struct pool *p, int32_t attr, const void *value)
{
	struct ts_vgpu_pool_rules rules;

	ts_vgpu_pool_ask(p->vpool, &rules, NULL);
	switch (attr) {
	case TS_CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
		rules.follow_events = *(const int32_t *)value;
		break;
	case TS_CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
		rules.opportunistic = *(const int32_t *)value;
		break;
	case TS_CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		p->reuse_internal = *(const int32_t *)value;
		break;
	case TS_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		rules.threshold_bytes = *(const uint64_t *)value;
		break;
	case TS_CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
	case TS_CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		if (*(const uint64_t *)value)
			return TS_CU_ERROR_INVALID_VALUE;
		ts_vgpu_pool_forget_high(p->vpool, attr == TS_CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH);
		return 0;
	default:
		return TS_CU_ERROR_INVALID_VALUE;
	}
	ts_vgpu_pool_rule(p->vpool, &rules);
	return 0;
}

static int pool_set_attribute(void *pool, int32_t attr, void *value)
{
	struct pool *p;
	int r = pool_get(pool, &p);

	if (r)
		return r;
	if (!value)
		return TS_CU_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&pools.lock);
	r = attribute_set(p, attr, value);
	pthread_mutex_unlock(&pools.lock);
	return r;
}

static int pool_get_attribute(void *pool, int32_t attr, void *value)
{
	struct ts_vgpu_pool_rules rules;
	struct ts_vgpu_pool_use use;
	struct pool *p;
	int r = pool_get(pool, &p);

	if (r)
		return r;
	if (!value)
		return TS_CU_ERROR_INVALID_VALUE;
	ts_vgpu_pool_ask(p->vpool, &rules, &use);
	switch (attr) {
	case TS_CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
		*(int32_t *)value = rules.follow_events;
		return 0;
	case TS_CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
		*(int32_t *)value = rules.opportunistic;
		return 0;
	case TS_CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		*(int32_t *)value = p->reuse_internal;
		return 0;
	case TS_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*(uint64_t *)value = rules.threshold_bytes;
		return 0;
	case TS_CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		*(uint64_t *)value = use.reserved_bytes;
		return 0;
	case TS_CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		*(uint64_t *)value = use.used_bytes;
		return 0;
	case TS_CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		*(uint64_t *)value = use.reserved_high_bytes;
		return 0;
	case TS_CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		*(uint64_t *)value = use.used_high_bytes;
		return 0;
	default:
		return TS_CU_ERROR_INVALID_VALUE;
	}
}

static int pool_set_access(void *pool, const struct ts_cu_mem_access_desc *map, size_t count)
{
	struct access access;
	struct pool *p;
	int r = pool_get(pool, &p);

	if (r)
		return r;
	if (!map && count)
		return TS_CU_ERROR_INVALID_VALUE;
	access = p->access;
	for (size_t i = 0; i < count && !r; i++)
		r = access_read(&map[i], &access);
	/* A pool's own device always has access. */
	if (!r && !(access.writers & 1u << p->device))
		r = TS_CU_ERROR_INVALID_VALUE;
	if (r)
		return r;
	p->access = access;
	ts_vgpu_share_all(driver.vgpu, p, access.readers, access.writers);
	return 0;
}

static int pool_get_access(int32_t *flags, void *pool, const struct ts_cu_mem_location *location)
{
	struct pool *p;
	int r = pool_get(pool, &p);

	if (r)
		return r;
	if (!flags || !location || location->type != TS_CU_MEM_LOCATION_TYPE_DEVICE ||
	    !device_get(location->id))
		return TS_CU_ERROR_INVALID_VALUE;
	*flags = access_of(&p->access, location->id);
	return 0;
}

static void report_pool_operation(uint32_t operation, const struct context *context, uint64_t where,
				  uint64_t bytes, const struct ts_vgpu_stream *vstream,
				  const struct pool *pool)
{
	struct ts_vgpu_pool_rules rules = {0};
	struct ts_vgpu_pool_use use = {0};
	struct report_pool p = {.address = (uint64_t)(uintptr_t)pool};

	if (pool)
		ts_vgpu_pool_ask(pool->vpool, &rules, &use);
	p.threshold = rules.threshold_bytes;
	p.size = use.reserved_bytes;
	p.used = use.used_bytes;
	report_pool_memory(operation, context, where, bytes, ts_vgpu_stream_id(vstream), &p);
}

/*
 * Finds the stream of a stream-ordered allocation or free. Refuses a captured stream, because there
 * the call would become a node of the graph.
 */
static int stream_of_memory(void *stream, struct context **ret_context,
			    struct ts_vgpu_stream **ret_stream)
{
	int r = stream_uncaptured(stream, ret_context, ret_stream);

	if (r == TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED)
		(void)NOT_SERVED("memory nodes in graphs (cuMemAllocAsync or cuMemFreeAsync while "
				 "the stream is captured)",
				 "allocate before the capture and free after the launches");
	return r;
}

static int alloc_from(struct context *context, struct ts_vgpu_stream *vstream, struct pool *pool,
		      size_t bytes, uint64_t *dev_ptr)
{
	int r;

	if (!dev_ptr || !bytes)
		return TS_CU_ERROR_INVALID_VALUE;
	r = ts_vgpu_pool_alloc(pool->vpool, vstream, bytes, dev_ptr);
	/* If no other memory is left, wait for memory whose release is queued. */
	if (r == TS_VGPU_E_OUT_OF_MEMORY && pool->reuse_internal)
		r = ts_vgpu_pool_alloc_wait(pool->vpool, vstream, bytes, MAX_WAIT_NS, dev_ptr);
	if (r == TS_VGPU_E_NOT_READY) {
		fprintf(stderr,
			"tracesmith: virtual GPU: no memory for %zu bytes in stream order: the "
			"queued frees did not run in 10 s (a GPU makes this stream wait instead of "
			"the host)\n",
			bytes);
		r = TS_VGPU_E_OUT_OF_MEMORY;
	}
	if (r)
		return result_of(r);
	ts_vgpu_share(driver.vgpu, *dev_ptr, pool->access.readers, pool->access.writers);
	report_pool_operation(TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, context, *dev_ptr,
			      bytes, vstream, pool);
	return 0;
}

static int alloc_async(uint64_t *dev_ptr, size_t byte_size, void *stream)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	void *pool;
	int r = stream_of_memory(stream, &context, &vstream);

	if (!r)
		r = pool_of_device((int32_t)context->device, true, &pool);
	return r ? r : alloc_from(context, vstream, pool, byte_size, dev_ptr);
}

static int alloc_from_pool_async(uint64_t *dev_ptr, size_t byte_size, void *pool, void *stream)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct pool *p;
	int r = stream_of_memory(stream, &context, &vstream);

	if (!r)
		r = pool_get(pool, &p);
	return r ? r : alloc_from(context, vstream, p, byte_size, dev_ptr);
}

static int free_async(uint64_t dev_ptr, void *stream)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct ts_vgpu_range range;
	struct pool *pool;
	int r = stream_of_memory(stream, &context, &vstream);

	if (r)
		return r;
	if (!dev_ptr)
		return 0;
	if (ts_vgpu_range_of(driver.vgpu, dev_ptr, &range))
		return TS_CU_ERROR_INVALID_VALUE;
	pool = (struct pool *)(uintptr_t)range.user;
	r = result_of(ts_vgpu_free_async(vstream, dev_ptr, 0));
	if (r)
		return r;
	if (!range.block || !handle_is(pool, HANDLE_POOL))
		pool = NULL; /* none, or destroyed before its memory */
	report_pool_operation(TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, context, dev_ptr,
			      range.bytes, vstream, pool);
	return 0;
}

#include "tools/vgpu/generated-cuda-pool.h"
