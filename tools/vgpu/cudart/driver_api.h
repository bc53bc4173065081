/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's functions, which the runtime calls under the names that libcuda exports: made from the table of calls. */
#pragma once

#include "tools/vgpu/generated-cuda-functions.h"
