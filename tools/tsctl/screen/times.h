/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times as a person gives them: nanoseconds from the trace's start, or a number with a unit; or, behind
 * an @, of CLOCK_MONOTONIC, as JSON gives them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * "1500", "12.5ms", "3s", "2m": a decimal number, then nothing (ns), ns, us, ms, s or m. Exact: no
 * floating point; what is finer than a nanosecond is cut off. Returns 0, -EINVAL where it is no such
 * thing, or -ERANGE where it does not fit in 64 bits.
 */
int ts_time_parse(const char *text, uint64_t *ret_ns);

/* A moment: of a trace, or of the clock. */
struct ts_time {
	uint64_t ns;
	bool is_absolute;
	bool is_given; /* false if nothing was parsed into it */
};

/* "12.5ms", "@81234567890": the same times, an @ before those that are absolute. Errors as above. */
int ts_time_parse_moment(const char *text, struct ts_time *ret_time);
/* As absolute time, at most UINT64_MAX. `origin_ns` is where the trace's time begins. */
uint64_t ts_time_absolute(const struct ts_time *time, uint64_t origin_ns);
