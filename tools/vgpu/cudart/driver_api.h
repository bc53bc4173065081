/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares the driver's functions under the names that libcuda exports, generated from the table of
 * calls. The runtime calls them.
 */
#pragma once

#include "tools/vgpu/generated-cuda-functions.h"
