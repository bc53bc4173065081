/* SPDX-License-Identifier: Apache-2.0 */
/* The entry of libtsinject-capture.so: capture-link.c calls ts_capture_open(). */
#include "inject/capture/capture-interface.h"

__attribute__((visibility("default"))) const struct ts_capture_library *ts_capture_open(
	const struct ts_capture_host *from);

const struct ts_capture_library *ts_capture_open(const struct ts_capture_host *from)
{
	static const struct ts_capture_build build = TS_CAPTURE_BUILD;
	static const struct ts_capture_library library = {
		.start = ts_capture_start,
		.wants = ts_capture_wants,
		.handle = ts_capture_handle,
		.hip_start = ts_hip_capture_start,
		.hip_enter = ts_hip_capture_enter,
		.hip_leave = ts_hip_capture_leave,
	};

	if (memcmp(&from->build, &build, sizeof(build)) != 0)
		return NULL;
	ts_capture_use_host(from);
	return &library;
}
