/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the effect of launch attributes on a captured launch. */
#include "inject/capture/capture.h"
#include "test/unit/harness.h"

static const char *put(int32_t attribute, union ts_cu_launch_attribute_value value,
		       struct ts_record_operation *launch)
{
	return ts_capture_launch_attribute(attribute, &value, launch);
}

static const char *put_cluster(uint32_t x, uint32_t y, uint32_t z,
			       struct ts_record_operation *launch)
{
	return put(TS_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
		   (union ts_cu_launch_attribute_value){.cluster_dim = {x, y, z}}, launch);
}

TS_TEST(clusters)
{
	struct ts_record_operation launch = {0};

	ts_check(!put_cluster(2, 4, 1, &launch));
	ts_check_int(TS_OPERATION_CLUSTER_AT(launch.value, 0), 2);
	ts_check_int(TS_OPERATION_CLUSTER_AT(launch.value, 1), 4);
	ts_check_int(TS_OPERATION_CLUSTER_AT(launch.value, 2), 1);
	ts_check(!put_cluster(1, 1, 16, &launch));
	ts_check_int(launch.value, TS_OPERATION_CLUSTER(1, 1, 16));
	ts_check(!put_cluster(1, 1, 1, &launch));
	ts_check_int(launch.value, 0);
	ts_check(!put_cluster(0, 0, 0, &launch));
	ts_check_int(launch.value, 0);
	ts_check(strstr(put_cluster(17, 1, 1, &launch), "clusters of more than 16 blocks"));
	ts_check(put_cluster(1, 65536, 1, &launch));
	ts_check(put_cluster(1, 1, UINT32_MAX, &launch));
}

TS_TEST(what_changes_no_result_is_dropped)
{
	const union ts_cu_launch_attribute_value on = {.programmatic_stream_serialization_allowed =
							       1};
	struct ts_record_operation launch = {0}, none = {0};

	ts_check(!put(TS_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, on, &launch));
	ts_check(!put(TS_CU_LAUNCH_ATTRIBUTE_PRIORITY, on, &launch));
	ts_check(!put(TS_CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, on, &launch));
	ts_check(!put(TS_CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION, on, &launch));
	ts_check(!memcmp(&launch, &none, sizeof(launch)));
}

TS_TEST(cooperation_and_events)
{
	struct ts_record_operation launch = {0};

	ts_check(!put(TS_CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
		      (union ts_cu_launch_attribute_value){.cooperative = 0}, &launch));
	ts_check_int(launch.operation_flags, 0);
	ts_check(!put(TS_CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
		      (union ts_cu_launch_attribute_value){.cooperative = 1}, &launch));
	ts_check_int(launch.operation_flags, TS_OPERATION_COOPERATIVE);
	ts_check_str(put(TS_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
			 (union ts_cu_launch_attribute_value){0}, &launch),
		     "launches that record an event");
	ts_check_str(put(TS_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
			 (union ts_cu_launch_attribute_value){0}, &launch),
		     "launches that record an event");
}
