// SPDX-License-Identifier: Apache-2.0
/*
 * Our declarations of CUPTI, compared with NVIDIA's header. Each line names one of our declarations
 * and the vendor's; check-coverage.py fails if one of ours has no line.
 */
#include <cupti.h>

#include "proto/abi/vendor/cupti_functions.h"
#include "test/unit/harness.h"
#include "test/unit/vendor/same.h"

TS_TEST(values)
{
#define CHECK(suffix, value) SAME(TS_CUPTI_##suffix, CUPTI_##suffix);
	TS_CUPTI_RESULTS(CHECK)
#undef CHECK
	SAME_AS(CUPTI_API_VERSION);
	SAME(TS_CUPTI_API_VERSION_CUDA_11_0, 13);
	SAME(TS_CUPTI_API_VERSION_CUDA_11_6, 17);
	SAME(TS_CUPTI_API_VERSION_CUDA_12_0, 19);
	SAME(TS_CUPTI_API_VERSION_CUDA_13_0, 130000);
	SAME_AS(CUPTI_API_ENTER);
	SAME_AS(CUPTI_API_EXIT);
	SAME_AS(CUPTI_CB_DOMAIN_INVALID);
	SAME_AS(CUPTI_CB_DOMAIN_DRIVER_API);
	SAME_AS(CUPTI_CB_DOMAIN_RUNTIME_API);
	SAME_AS(CUPTI_CB_DOMAIN_RESOURCE);
	SAME_AS(CUPTI_CB_DOMAIN_SYNCHRONIZE);
	SAME_AS(CUPTI_CB_DOMAIN_NVTX);
	SAME_AS(CUPTI_CB_DOMAIN_STATE);
	SAME_AS(CUPTI_CBID_RESOURCE_INVALID);
	SAME_AS(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
	SAME_AS(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
	SAME_AS(CUPTI_CBID_RESOURCE_STREAM_CREATED);
	SAME_AS(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING);
	SAME_AS(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED);
	SAME_AS(CUPTI_CBID_RESOURCE_MODULE_LOADED);
	SAME_AS(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
	SAME_AS(CUPTI_CBID_RESOURCE_MODULE_PROFILED);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPH_CREATED);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPH_CLONED);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
	SAME_AS(CUPTI_CBID_RESOURCE_STREAM_ATTRIBUTE_CHANGED);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED);
	SAME_AS(CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS);
	SAME_AS(CUPTI_CBID_SYNCHRONIZE_INVALID);
	SAME_AS(CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED);
	SAME_AS(CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED);
	SAME_AS(CUPTI_CBID_STATE_INVALID);
	SAME_AS(CUPTI_CBID_STATE_FATAL_ERROR);
	SAME_AS(CUPTI_CBID_STATE_ERROR);
	SAME_AS(CUPTI_CBID_STATE_WARNING);
	SAME_AS(CUPTI_SUBSCRIBER_NAME_MAX_LEN);
	SAME_AS(CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
	SAME_AS(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE);
	SAME_AS(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP);
	SAME_AS(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT);
	SAME_AS(CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE);
	SAME_AS(CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT);
	SAME_AS(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
	SAME_AS(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE);
	SAME_AS(CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE);
	SAME_AS(CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED);
	SAME_AS(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
	SAME_AS(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS);
	SAME_AS(CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
	SAME_AS(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
}

TS_TEST(layouts)
{
	SAME_SIZE(struct ts_cupti_callback_data, CUpti_CallbackData);
	SAME_FIELDS(struct ts_cupti_callback_data, CUpti_CallbackData, callback_site, callbackSite,
		    function_name, functionName, function_params, functionParams,
		    function_return_value, functionReturnValue, symbol_name, symbolName, context,
		    context, context_uid, contextUid, correlation_data, correlationData,
		    correlation_id, correlationId);
	SAME_SIZE(struct ts_cupti_resource_data, CUpti_ResourceData);
	SAME_FIELDS(struct ts_cupti_resource_data, CUpti_ResourceData, context, context,
		    resource_handle, resourceHandle, resource_handle.stream, resourceHandle.stream,
		    resource_descriptor, resourceDescriptor);
	SAME_SIZE(struct ts_cupti_module_data, CUpti_ModuleResourceData);
	SAME_FIELDS(struct ts_cupti_module_data, CUpti_ModuleResourceData, module_id, moduleId,
		    cubin_size, cubinSize, cubin, pCubin);
	SAME_SIZE(struct ts_cupti_graph_data, CUpti_GraphData);
	SAME_FIELDS(struct ts_cupti_graph_data, CUpti_GraphData, graph, graph, original_graph,
		    originalGraph, node, node, original_node, originalNode, node_type, nodeType,
		    dependency, dependency, graph_exec, graphExec);
	SAME_SIZE(struct ts_cupti_synchronize_data, CUpti_SynchronizeData);
	SAME_FIELDS(struct ts_cupti_synchronize_data, CUpti_SynchronizeData, context, context,
		    stream, stream);
	SAME_SIZE(struct ts_cupti_state_data, CUpti_StateData);
	SAME_FIELDS(struct ts_cupti_state_data, CUpti_StateData, result, notification.result,
		    message, notification.message);
	SAME_SIZE(struct ts_cupti_subscriber_params, CUpti_SubscriberParams);
	SAME_FIELDS(struct ts_cupti_subscriber_params, CUpti_SubscriberParams, struct_size,
		    structSize, subscriber_name, subscriberName, old_subscriber_name,
		    oldSubscriberName, old_subscriber_size, oldSubscriberSize);
}

/* CUPTI declares each function of the list: another name does not compile. */
TS_TEST(functions)
{
	size_t n = 0;

#define CHECK(name, arguments) n += sizeof(&name) / sizeof(void *);
	TS_CUPTI_FUNCTIONS(CHECK)
#undef CHECK
	ts_check_int(n, 44);
}
