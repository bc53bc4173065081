/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs and stream capture: the generated functions call the driver's function of the same name.
 * runtime-graph-node.c has the nodes.
 */
#include "tools/vgpu/cudart/runtime.h"

#include "tools/vgpu/generated-cudart-graph.h"
