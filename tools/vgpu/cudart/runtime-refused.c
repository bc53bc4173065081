/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the runtime has and the virtual GPU lacks. Programs link against these names, so
 * they exist. A call fails with the vendor's error and prints one line on stderr the first time.
 */
#include "tools/vgpu/cudart/runtime.h"
#include "tools/vgpu/generated-cudart-refused.h"
#include "tools/vgpu/refused.h"

static int refuse(const char *name, atomic_bool *said)
{
	ts_vgpu_say_refused(name, said);
	error_keep(TS_CUDA_ERROR_NOT_SUPPORTED);
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}

/* The C calling convention lets a function ignore its arguments. */
#define REFUSE(name)                         \
	API int name(void)                   \
	{                                    \
		static atomic_bool said;     \
		return refuse(#name, &said); \
	}
TS_CUDA_REFUSED(REFUSE)

/* A descriptor needs no array: programs create one before they find that arrays are unsupported. */
API struct ts_cuda_channel_format_desc cudaCreateChannelDesc(int32_t x, int32_t y, int32_t z,
							     int32_t w, int32_t f)
{
	return (struct ts_cuda_channel_format_desc){x, y, z, w, f};
}
