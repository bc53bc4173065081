/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives devices and contexts in CUPTI's activity records the numbers that they have in the trace.
 * activity.c calls it before it decodes a record, in the rare process that used HIP first.
 */
#include "inject/cuda/renumber.h"

#include "proto/abi/vendor/cupti_activity.h"

/* Applies to every kind of record with a device and a context. */
#define RENUMBER(record, first_device)                                                            \
	do {                                                                                      \
		(record)->device_id = ts_renumbered_device((record)->device_id, first_device);    \
		(record)->context_id = ts_renumbered_context((record)->context_id, first_device); \
	} while (0)

static void renumber_overhead(struct ts_cupti_activity_overhead *overhead, uint32_t first_device)
{
	if (overhead->object_kind == TS_CUPTI_ACTIVITY_OBJECT_DEVICE)
		overhead->object_id.dcs.device_id =
			ts_renumbered_device(overhead->object_id.dcs.device_id, first_device);
	else if (overhead->object_kind == TS_CUPTI_ACTIVITY_OBJECT_CONTEXT)
		overhead->object_id.dcs.context_id =
			ts_renumbered_context(overhead->object_id.dcs.context_id, first_device);
}

void ts_renumber(void *record, uint32_t first_device)
{
	switch (((const struct ts_cupti_activity *)record)->kind) {
	case TS_CUPTI_ACTIVITY_KIND_KERNEL:
	case TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		RENUMBER((struct ts_cupti_activity_kernel *)record, first_device);
		break;
	case TS_CUPTI_ACTIVITY_KIND_MEMCPY:
		RENUMBER((struct ts_cupti_activity_memcpy *)record, first_device);
		break;
	case TS_CUPTI_ACTIVITY_KIND_MEMCPY2: {
		struct ts_cupti_activity_memcpy_ptop *copy = record;

		RENUMBER(copy, first_device);
		copy->src_device_id = ts_renumbered_device(copy->src_device_id, first_device);
		copy->dst_device_id = ts_renumbered_device(copy->dst_device_id, first_device);
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_MEMSET:
		RENUMBER((struct ts_cupti_activity_memset *)record, first_device);
		break;
	case TS_CUPTI_ACTIVITY_KIND_MEMORY2:
		RENUMBER((struct ts_cupti_activity_memory *)record, first_device);
		break;
	case TS_CUPTI_ACTIVITY_KIND_CONTEXT:
		RENUMBER((struct ts_cupti_activity_context *)record, first_device);
		break;
	case TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
		struct ts_cupti_activity_synchronization *sync = record;

		sync->context_id = ts_renumbered_context(sync->context_id, first_device);
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_STREAM: {
		struct ts_cupti_activity_stream *stream = record;

		stream->context_id = ts_renumbered_context(stream->context_id, first_device);
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_DEVICE: {
		struct ts_cupti_activity_device *device = record;

		device->id = ts_renumbered_device(device->id, first_device);
		break;
	}
	case TS_CUPTI_ACTIVITY_KIND_OVERHEAD:
		renumber_overhead(record, first_device);
		break;
	default:
		break;
	}
}
