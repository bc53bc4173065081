/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel of tensor.c: c += a b for row-major halves a and b and floats c; one block computes a
 * tile of 64 by 64. Rows and columns are multiples of 64, the summed dimension is a multiple of 32.
 */
#pragma once

#include "test/apps/gpu.h"

#define TENSOR_TILE    64
#define TENSOR_THREADS 128u

#ifdef __cplusplus
extern "C"
#else
extern
#endif
	const struct gpu_code tensor_code;
