// SPDX-License-Identifier: Apache-2.0
/*
 * Streams, events and stream captures. HIP's handles and numbers are CUDA's, so the calls go to the
 * runtime as they are. Programs call this file through the generated functions at its end.
 */
#include "tools/vgpu/hip/hip-face.h"

/* Flags that CUDA has. The others order caches, which the virtual GPU does not have. */
#define EVENT_FLAGS                                                            \
	~(TS_HIP_EVENT_DISABLE_SYSTEM_FENCE | TS_HIP_EVENT_RELEASE_TO_DEVICE | \
	  TS_HIP_EVENT_RELEASE_TO_SYSTEM)

static int stream_destroy(void *stream)
{
	if (!stream || stream == TS_HIP_STREAM_PER_THREAD)
		return TS_HIP_ERROR_INVALID_HANDLE;
	return ON_STREAM(cudaStreamDestroy(stream));
}

int32_t impl_hipGetStreamDeviceId(void *stream)
{
	int32_t device;

	return cudaStreamGetDevice(stream, &device) ? -1 : device;
}

#include "tools/vgpu/generated-hip-capture.h"
#include "tools/vgpu/generated-hip-event.h"
#include "tools/vgpu/generated-hip-stream.h"
