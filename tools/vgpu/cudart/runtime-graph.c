/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs and stream capture: each call is the driver's of the same name. Nodes are in runtime-graph-node.c. */
#include "tools/vgpu/cudart/runtime.h"

#include "tools/vgpu/generated-cudart-graph.h"
