// SPDX-License-Identifier: Apache-2.0
/*
 * Functions that libamdhip64 has and the virtual GPU lacks. Programs link against these names, so
 * they exist. A call fails with the vendor's error and prints one line on stderr the first time.
 */
#include "tools/vgpu/generated-hip-refused.h"
#include "tools/vgpu/hip/hip-face.h"

/*
 * Those whose arguments hip.calls does not have: they cannot call by the dispatch table. The C
 * calling convention lets a function ignore its arguments.
 */
#define REFUSE(name)                               \
	int32_t impl_##name(void)                  \
	{                                          \
		return hip_result(REFUSED(#name)); \
	}                                          \
	API int32_t name(void)                     \
	{                                          \
		return impl_##name();              \
	}
TS_HIP_REFUSED(REFUSE)

#include "tools/vgpu/generated-hip-array.h"
#include "tools/vgpu/generated-hip-external.h"
