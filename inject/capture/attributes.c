/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attributes of launches. Those that say how fast it is are dropped, and those that let a kernel begin early: it need not. What a
 * kernel computes depends on its cluster, and what waits for an event on who records it.
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
