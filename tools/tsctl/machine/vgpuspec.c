/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks the spec of a virtual GPU for `record` and `benchmark` before a process starts.
 * replay/vgpu defines the grammar.
 */
#include "tools/tsctl/machine/vgpuspec.h"

#include "proto/abi/base.h"
#include "replay/vgpu/vgpu.h"
#include "tools/tsctl/machine/paths.h"
#include "tools/tsctl/tsctl.h"

int ts_vgpuspec_parse(void *to, const struct ts_option *option, const char *text)
{
	const char **spec_text = to;
	struct ts_vgpu_spec spec;
	char message[256];

	*spec_text = text ? text : TS_VGPU_SPEC_DEFAULT;
	if (!ts_vgpu_spec_parse(*spec_text, &spec, message, sizeof(message)))
		return 0;
	ts_complain("--%s=%s: %s%s", option->name, *spec_text, message,
		    ts_path_has_vgpu() ? "; `tsctl devices` lists the shapes and settings" : "");
	return -EINVAL;
}

const char *ts_vgpuspec_shape_at(size_t i)
{
	const struct ts_vgpu_shape *shape = ts_vgpu_shape_at(i);

	return shape ? shape->key : NULL;
}
