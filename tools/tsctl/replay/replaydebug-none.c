/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces the kernel debugger in builds without the virtual GPU (-Dvgpu=disabled). */
#include "tools/tsctl/replay/replaydebug.h"

#include <errno.h>

#include "tools/tsctl/tsctl.h"

int ts_replaydebug_run(const struct ts_replay_asked *asked)
{
	ts_complain("--debug requires the virtual GPU, which this build lacks (-Dvgpu=disabled)");
	return -EOPNOTSUPP;
}
