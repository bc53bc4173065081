/* SPDX-License-Identifier: Apache-2.0 */
/* In place of the debugger of kernels, where the virtual GPU is not built (-Dvgpu=disabled). */
#include "tools/tsctl/replay/replaydebug.h"

#include <errno.h>

#include "tools/tsctl/tsctl.h"

int ts_replaydebug_run(const struct ts_replay_asked *asked)
{
	ts_complain(
		"kernels are debugged on the virtual GPU, which this build has not (-Dvgpu=disabled)");
	return -EOPNOTSUPP;
}
