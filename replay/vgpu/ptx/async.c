// SPDX-License-Identifier: Apache-2.0
/* Asynchronous copies. */
#include "replay/vgpu/ptx/exec.h"

void ts_ptx_fill_async(struct ts_ptx_optable *t)
{
	(void)t;
}
