// SPDX-License-Identifier: Apache-2.0
/* Decodes matrix instructions and asynchronous copies. */
#include "replay/vgpu/ptx/decode.h"

const struct ts_ptx_mnemonic ts_ptx_mnemonics_tensor[] = {
	{NULL, NULL},
};
