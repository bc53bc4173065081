/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the executor on the virtual GPU, where that is not built (-Dvgpu=disabled): refuses each replay by name. */
#include <stdio.h>

#include "replay/exec/exec.h"

static int new_state(const struct ts_exec_program *program, const struct ts_exec_options *options,
		     const volatile int *cancel, char *text, void **ret_state)
{
	snprintf(text, TS_EXEC_TEXT_BYTES, "this build has no virtual GPU (-Dvgpu=disabled)");
	return TS_EXEC_E_REFUSED;
}

const struct ts_executor ts_exec_vgpu = {.name = "vgpu", .new_ = new_state};
