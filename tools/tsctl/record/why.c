/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains, before a command runs, why its trace may be empty: see why.h. cmd-record.c calls this
 * file. The other half is replay/report/info/why-empty.c.
 */
#include "tools/tsctl/record/why.h"

#include "proto/abi/base.h"
#include "tools/tsctl/machine/paths.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

static bool have_driver(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);

	if (driver)
		dlclose(driver);
	return driver != NULL;
}

void ts_why_hint(const struct ts_program *program, bool vgpu, const char *injection_path,
		 char text[TS_WHY_BYTES])
{
	struct ts_program interpreter = {0};

	if (program->is_privileged) {
		snprintf(text, TS_WHY_BYTES,
			 "%.512s runs with other privileges than its caller, so the loader "
			 "ignores LD_PRELOAD: record the program that it starts instead",
			 program->path);
		return;
	}
	if (program->script_interpreter[0])
		ts_program_inspect(program->script_interpreter, &interpreter);
	if (program->is_static || interpreter.is_static) {
		snprintf(
			text, TS_WHY_BYTES,
			"%.512s is statically linked, so preloading cannot reach it: link it dynamically",
			program->is_static ? program->path : program->script_interpreter);
		return;
	}
	if (vgpu && program->has_static_cudart) {
		snprintf(
			text, TS_WHY_BYTES,
			"%.512s has the CUDA runtime linked in (nvcc's default), which the virtual "
			"GPU does not serve: relink it with `nvcc -cudart shared`",
			program->path);
		return;
	}
	if (injection_path) {
		snprintf(text, TS_WHY_BYTES,
			 TS_WHY_NOBODY " initialised CUDA, or another tool (%.512s, from "
				       "CUDA_INJECTION64_PATH) holds CUPTI: unset the variable and "
				       "record again",
			 injection_path);
		return;
	}
	snprintf(
		text, TS_WHY_BYTES, TS_WHY_NOBODY " initialised CUDA%s",
		vgpu || have_driver() ? ""
		: ts_path_has_vgpu()
			? "; there is no libcuda.so.1 here: `tsctl record --vgpu` uses the virtual GPU"
			: "; there is no libcuda.so.1 here");
}
