/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unsupported graph nodes: memory nodes and conditional nodes. Programs may call their functions,
 * which return the vendor's error. Programs call this file through the functions of
 * generated-cudart-graph-refuse.h.
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
