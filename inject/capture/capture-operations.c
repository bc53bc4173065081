/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts operations into the lane that have several sources. Fills, event records and event waits
 * come from calls and from nodes of graphs. Variables come from calls and from a window that opens.
 * capture-calls.c, graphs.c and window.c call this file.
 */
#include "inject/capture/capture.h"
#include "inject/context.h"

void ts_capture_variable(struct ts_capture *capture, const struct ts_record_operation *model,
			 uint64_t address, size_t bytes, const void *module, const char *name)
{
	struct ts_record_operation operation = *model;

	operation.kind = TS_OPERATION_VARIABLE;
	operation.parent = (uint64_t)(uintptr_t)module;
	operation.dst = address;
	operation.bytes = bytes;
	operation.name = ts_definitions_string(&capture->shim->definitions, name, strlen(name));
	(void)ts_lane_put(&capture->lane, &operation);
	(void)ts_memory_map_add(&capture->memory, address, bytes ?: 1, 0, operation.context);
}

void ts_capture_fill(struct ts_capture *capture, const struct ts_record_operation *model,
		     const struct ts_cu_memset_node_params *fill)
{
	struct ts_record_operation operation = *model;

	if (!fill->width || !fill->height || ts_capture_is_captured(capture, model->stream))
		return;
	operation.kind = TS_OPERATION_FILL;
	operation.dst = fill->dst;
	operation.dst_pitch = fill->pitch;
	operation.value = fill->value;
	operation.src = fill->element_size;
	operation.bytes = fill->width;
	operation.height = fill->height;
	(void)ts_lane_put(&capture->lane, &operation);
}

void ts_capture_event_record(struct ts_capture *capture, const struct ts_record_operation *model,
			     uint64_t event)
{
	struct ts_record_operation operation = *model;

	operation.kind = TS_OPERATION_EVENT_RECORD;
	operation.object = event;
	if (ts_capture_is_captured(capture, operation.stream))
		return;
	if (ts_lane_put(&capture->lane, &operation))
		ts_capture_event(capture, &operation);
}

void ts_capture_event_wait(struct ts_capture *capture, const struct ts_record_operation *model,
			   uint64_t event)
{
	struct ts_record_operation operation = *model;

	operation.kind = TS_OPERATION_STREAM_WAIT;
	operation.object = event;
	if (!ts_capture_is_captured(capture, operation.stream))
		(void)ts_lane_put(&capture->lane, &operation);
}
