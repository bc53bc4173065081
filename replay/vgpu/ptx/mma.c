// SPDX-License-Identifier: Apache-2.0
/* Matrix instructions. */
#include "replay/vgpu/ptx/exec.h"

void ts_ptx_fill_mma(struct ts_ptx_optable *t)
{
	(void)t;
}
