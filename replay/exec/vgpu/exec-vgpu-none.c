/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces the virtual GPU's executor in builds without it (-Dvgpu=disabled): refuses each replay
 * with this reason.
 */
#include <stdio.h>

#include "replay/exec/exec.h"

static int new_state(const struct ts_exec_program *program, const struct ts_exec_options *options,
		     const volatile int *cancel, char *text, void **ret_state)
{
	snprintf(text, TS_EXEC_TEXT_BYTES, "this build has no virtual GPU (-Dvgpu=disabled)");
	return TS_EXEC_E_REFUSED;
}

const struct ts_executor ts_exec_vgpu = {.name = "vgpu", .new_ = new_state};
