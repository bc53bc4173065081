/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of network.c, in the order of both forms (network-driver.c, network-runtime.cu). */
#pragma once

#include "test/apps/gpu.h"

#define NETWORK_BLOCK 128u

enum network_kernel {
	NETWORK_FORWARD, /* y = x w', with or without tanh */
	NETWORK_LOSS,	 /* softmax and cross entropy, with the gradient of its input */
	NETWORK_MEAN,	 /* by one block */
	NETWORK_WEIGHTS, /* the gradient of a layer's weights */
	NETWORK_BACK,	 /* the gradient of a layer's input, through tanh */
	NETWORK_DESCEND,
};

#ifdef __cplusplus
extern "C"
#else
extern
#endif
	const struct gpu_code network_code;
