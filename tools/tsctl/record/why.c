/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains an empty trace: see why.h. recordsummary.c, cmd-record.c and trace/traceinfo.c call this
 * file. An empty trace is the most common problem of first-time users of a profiler; each branch is
 * a known cause.
 */
#include "tools/tsctl/record/why.h"

#include "proto/abi/base.h"
#include "tools/tsctl/machine/paths.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>

/* Prefix of statements that hold only if no process reported anything. */
#define NOBODY "no process of the command"

static const char *advice(const char *reason)
{
	static const struct {
		const char *reason, *advice;
	} advices[] = {
		{"no_cupti",
		 "; install it (CUPTI comes with the CUDA toolkit) or name it in TRACESMITH_CUPTI"},
		{"cupti_held", "; end the other profiler and record again"},
		{"injection_held", "; unset CUDA_INJECTION64_PATH and record again"},
		{"cupti_too_old", "; install a newer CUPTI"},
		{"no_memory", "; a smaller --ring-size needs less"},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(advices); i++)
		if (!strcmp(advices[i].reason, reason))
			return advices[i].advice;
	return "";
}

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
			 NOBODY " initialised CUDA, or another tool (%.512s, from "
				"CUDA_INJECTION64_PATH) holds CUPTI: unset the variable and "
				"record again",
			 injection_path);
		return;
	}
	snprintf(
		text, TS_WHY_BYTES, NOBODY " initialised CUDA%s",
		vgpu || have_driver() ? ""
		: ts_path_has_vgpu()
			? "; there is no libcuda.so.1 here: `tsctl record --vgpu` uses the virtual GPU"
			: "; there is no libcuda.so.1 here");
}

void ts_why_empty(const struct ts_why *why, char text[TS_WHY_BYTES])
{
	if (why->reason && *why->reason) {
		bool said = why->reason_text && *why->reason_text;
		bool named = why->reason_program && *why->reason_program;

		snprintf(text, TS_WHY_BYTES, "%.64s%s%.512s%s", named ? why->reason_program : "",
			 named ? ": " : "", said ? why->reason_text : why->reason,
			 advice(why->reason));
	} else if (why->n_halves && why->n_halves == why->n_sessions) {
		snprintf(text, TS_WHY_BYTES,
			 "host half only: calls were recorded from outside, without the work of "
			 "the GPU; preload libtsinject.so to record both");
	} else if (why->n_unjoined) {
		snprintf(text, TS_WHY_BYTES,
			 "the GPU work of %" PRIu64 " call%s was not reported%s%.200s%s",
			 why->n_unjoined, why->n_unjoined == 1 ? "" : "s",
			 why->end ? ": the program was " : "", why->end ? why->end : "",
			 why->end ? " first" : "");
	} else if (why->n_annotations) {
		snprintf(text, TS_WHY_BYTES,
			 "nothing was launched, copied or set; the trace has the application's "
			 "marks, ranges and counters");
	} else if (why->n_sessions && why->stopped) {
		snprintf(text, TS_WHY_BYTES,
			 "nothing was launched, copied or set while recording was on; `tsctl "
			 "start` starts recording");
	} else if (why->n_sessions) {
		bool more = why->hint && *why->hint && strncmp(why->hint, NOBODY, strlen(NOBODY));

		snprintf(text, TS_WHY_BYTES,
			 "CUDA was initialised, but nothing was launched, copied or set%s%.900s",
			 more ? "; " : "", more ? why->hint : "");
	} else {
		snprintf(text, TS_WHY_BYTES, "%.1000s",
			 why->hint && *why->hint ? why->hint : "no process initialised CUDA");
	}
}
