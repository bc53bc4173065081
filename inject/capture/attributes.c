/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the attributes of launches. capture-calls.c, graphs.c and the calls of HIP call this file.
 * Clusters and cooperation affect a kernel's results, and become part of the operation. Attributes
 * that affect only speed are dropped. Attributes that let a kernel begin early are dropped too,
 * because the kernel need not begin early. An event in an attribute affects the work that waits for
 * the event; a replay does not support such events.
 */
#include "inject/capture/capture.h"

#define MAX_CLUSTER 16u /* the largest cluster of any device has fewer blocks along each axis */

/* A cluster of one block is like none. */
static const char *put_cluster(const union ts_cu_launch_attribute_value *value,
			       struct ts_record_operation *launch)
{
	const uint64_t x = value->cluster_dim.x, y = value->cluster_dim.y, z = value->cluster_dim.z;

	if (x > MAX_CLUSTER || y > MAX_CLUSTER || z > MAX_CLUSTER)
		return "clusters of more than 16 blocks along an axis";
	launch->value = x * y * z > 1 ? TS_OPERATION_CLUSTER(x, y, z) : 0;
	return NULL;
}

const char *ts_capture_launch_attribute(int32_t attribute,
					const union ts_cu_launch_attribute_value *value,
					struct ts_record_operation *launch)
{
	switch (attribute) {
	case TS_CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		if (value->cooperative)
			launch->operation_flags |= TS_OPERATION_COOPERATIVE;
		return NULL;
	case TS_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		return put_cluster(value, launch);
	case TS_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
	case TS_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
		return "launches that record an event";
	default:
		return NULL;
	}
}
