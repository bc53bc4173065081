/* SPDX-License-Identifier: Apache-2.0 */
/* The value of --vgpu[=SPEC], for option tables. */
#pragma once

#include "tools/tsctl/options/option-table.h"

/*
 * Stores the spec, or the default one if there is no text, in `to`, a const char *. Prints an error
 * and returns -EINVAL if the spec is wrong.
 */
int ts_vgpuspec_parse(void *to, const struct ts_option *option, const char *text);
/* Returns the name of the i-th shape, or NULL past the last one. */
const char *ts_vgpuspec_shape_at(size_t i);
