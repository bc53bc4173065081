/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times as a person gives them: nanoseconds from the trace's start, or a number with a unit.
 */
#pragma once

#include <stdint.h>

/*
 * "1500", "12.5ms", "3s", "2m": a decimal number, then nothing (ns), ns, us, ms, s or m. Exact: no
 * floating point; what is finer than a nanosecond is cut off. Returns 0, -EINVAL where it is no such
 * thing, or -ERANGE where it does not fit in 64 bits.
 */
int ts_time_parse(const char *text, uint64_t *ret_ns);
