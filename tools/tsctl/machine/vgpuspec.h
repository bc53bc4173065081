/* SPDX-License-Identifier: Apache-2.0 */
/* The value of --vgpu[=SPEC], for tables of options. */
#pragma once

#include "tools/tsctl/options/option-table.h"

/*
 * Stores the spec, or the default one if there is no text, in `to`, a const char *. Complains and
 * returns -EINVAL if it is none.
 */
int ts_vgpuspec_parse(void *to, const struct ts_option *option, const char *text);
/* The name of the i-th shape; NULL past the last one. */
const char *ts_vgpuspec_shape_at(size_t i);
