// SPDX-License-Identifier: Apache-2.0
/*
 * The releases of ROCm that one library stands for. The build compiles this file once for each
 * soname, with HIP_MAJOR; all other objects are the same. hip-library.c selects the release at the
 * load, and the other files read `release`.
 *
 * Sources: the headers hip_prof_api.h and hip_prof_str.h (size of the call record),
 * hip_api_trace.hpp (tables) and driver_types.h of ROCm/hipamd, ROCm/clr, ROCm/HIP and
 * ROCm/rocm-systems; HIP's page "HIP API 7.0 changes" (last error).
 */
#include <stdlib.h>

#include "replay/vgpu/vgpu.h"
#include "tools/vgpu/generated-hip-slots.h"
#include "tools/vgpu/hip/hip-face.h"

enum {
#define END(step, end) RUNTIME_END_##step = (end),
	TS_HIP_SLOT_STEPS(END)
#undef END
#define END(step, end) COMPILER_END_##step = (end),
	TS_HIP_COMPILER_SLOT_STEPS(END)
#undef END
};

/* The last release of a major version is the default one. */
static const struct hip_release releases[] = {
#if HIP_MAJOR == 5 && defined(HIP_MINOR)
	{
		.major = 5,
		.minor = HIP_MINOR,
		.has_old_memory = true,
		.has_old_tracer = true,
	},
#elif HIP_MAJOR == 5
	{
		.major = 5,
		.minor = 7,
		.phases_off = TS_HIP_API_PHASES_OFF_5,
		.has_old_memory = true,
	},
#elif HIP_MAJOR == 6
	{
		.major = 6,
		.minor = 1,
		.phases_off = TS_HIP_API_PHASES_OFF_6,
	},
	{
		.major = 6,
		.minor = 2,
		.runtime_end = RUNTIME_END_3,
		.compiler_end = COMPILER_END_0,
		.phases_off = TS_HIP_API_PHASES_OFF_6,
		.asks_at_end = true,
	},
#elif HIP_MAJOR == 7
	{
		.major = 7,
		.minor = 1,
		.runtime_end = RUNTIME_END_14,
		.compiler_end = COMPILER_END_0,
		.phases_off = TS_HIP_API_PHASES_OFF_6,
		.asks_at_end = true,
		.keeps_error = true,
	},
#endif
};

struct hip_release release;

void release_select(void)
{
	const size_t n = sizeof(releases) / sizeof(releases[0]);
	struct ts_vgpu_spec spec;
	char message[256];

	release = releases[n - 1];
	if (ts_vgpu_spec_parse(secure_getenv("TRACESMITH_VGPU"), &spec, message, sizeof(message)))
		return;
	for (size_t i = 0; i < n; i++)
		if (spec.hip_major == releases[i].major && spec.hip_minor == releases[i].minor)
			release = releases[i];
}
