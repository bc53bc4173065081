/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names launch attributes that a replay cannot repeat. capture-calls.c and graphs.c call this file.
 * Attributes that affect only speed are dropped. Attributes that let a kernel begin early are
 * dropped too, because the kernel need not begin early. Clusters affect the results of a kernel. An
 * event in an attribute affects the work that waits for the event. A replay supports neither
 * clusters nor such events.
 */
#include "inject/capture/capture.h"

const char *ts_capture_launch_lacks(int32_t attribute,
				    const union ts_cu_launch_attribute_value *value)
{
	switch (attribute) {
	case TS_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		return (uint64_t)value->cluster_dim.x * value->cluster_dim.y *
					       value->cluster_dim.z >
				       1
			       ? "launches in clusters of blocks"
			       : NULL;
	case TS_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
	case TS_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
		return "launches that record an event";
	default:
		return NULL;
	}
}
