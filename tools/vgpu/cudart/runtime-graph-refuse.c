/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph nodes that are not served: those that allocate and those that decide. Programs may ask, so the functions are
 * there and refuse by the vendor's code.
 */
#include "tools/vgpu/cudart/runtime.h"
#include "tools/vgpu/refused.h"

static int refuse_node(const char *name, atomic_bool *said)
{
	ts_vgpu_say_refused(name, said);
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}

/* Each of these functions prints its line once. */
#define REFUSED_NODE(name)                 \
	({                                 \
		static atomic_bool said_;  \
		refuse_node(name, &said_); \
	})

#include "tools/vgpu/generated-cudart-graph-refuse.h"
