/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explains why the trace of a command may get no GPU rows, from facts about the command and the
 * machine that are collected before the command runs.
 */
#pragma once

#include "replay/report/info/why-empty.h"
#include "tools/tsctl/record/record-program.h"

#include <stdbool.h>

/*
 * Writes the text for the case that no process reports anything. `injection_path` is
 * CUDA_INJECTION64_PATH if it belongs to another tool, else NULL.
 */
void ts_why_hint(const struct ts_program *program, bool vgpu, const char *injection_path,
		 char text[TS_WHY_BYTES]);
