/* SPDX-License-Identifier: Apache-2.0 */
/*
 * roctx, the annotations of ROCm: calls of the exported functions, which this library defines
 * before libroctx64, and the tables of librocprofiler-sdk-roctx.
 */
#pragma once

#include <stdint.h>

/*
 * Wraps the functions of roctx's tables, as librocprofiler-sdk-roctx registers them: core, control,
 * names. Each table begins with its size in bytes. Wraps the first tables of the process.
 */
void ts_roctx_wrap(void **tables, uint64_t n_tables);
