/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runtime has and the virtual GPU has not. Programs link against these names, so they exist; calling one fails with
 * the vendor's error and, the first time, says on stderr what was asked for.
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

/* Whatever the arguments are, the C calling convention lets a function ignore them. */
#define REFUSE(name)                         \
	API int name(void)                   \
	{                                    \
		static atomic_bool said;     \
		return refuse(#name, &said); \
	}
TS_CUDA_REFUSED(REFUSE)

/* A description alone needs no array: programs make one before they find that there are none. */
API struct ts_cuda_channel_format_desc cudaCreateChannelDesc(int32_t x, int32_t y, int32_t z,
							     int32_t w, int32_t f)
{
	return (struct ts_cuda_channel_format_desc){x, y, z, w, f};
}
