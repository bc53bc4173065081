/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unsupported graph nodes: memory nodes and conditional nodes. Programs may call their functions,
 * which return the vendor's error. Programs call this file through the functions of
 * generated-cuda-graph-refuse.h.
 */
#include "tools/vgpu/cuda/graph/graph.h"

static int refuse_node(void *graph, const char *name, atomic_bool *said)
{
	struct graph *g;
	int r = graph_get(graph, &g);

	if (r)
		return r;
	ts_vgpu_say_refused(name, said);
	return TS_CU_ERROR_NOT_SUPPORTED;
}

/* Each of these functions prints its line once. */
#define REFUSED_NODE(graph, name)                 \
	({                                        \
		static atomic_bool said_;         \
		refuse_node(graph, name, &said_); \
	})

#include "tools/vgpu/generated-cuda-graph-refuse.h"
