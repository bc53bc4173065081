/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times in a user's notation: nanoseconds from the trace's start, or a number with a unit. Behind
 * an @: a time of CLOCK_MONOTONIC, as in JSON.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Parses "1500", "12.5ms", "3s", "2m": a decimal number, then nothing (ns), ns, us, ms, s or m.
 * Exact, without floating point; fractions of a nanosecond are cut off. Returns 0, -EINVAL if the
 * text is malformed, or -ERANGE if the time exceeds 64 bits.
 */
int ts_time_parse(const char *text, uint64_t *ret_ns);

/* A time relative to a trace, or of the clock. */
struct ts_time {
	uint64_t ns;
	bool is_absolute;
	bool is_given; /* false if nothing was parsed into it */
};

/*
 * Parses "12.5ms" or "@81234567890": a relative time, or an absolute one behind an @. Errors as in
 * ts_time_parse().
 */
int ts_time_parse_moment(const char *text, struct ts_time *ret_time);
/* Returns the absolute time, at most UINT64_MAX. `origin_ns` is the origin of the trace's times. */
uint64_t ts_time_absolute(const struct ts_time *time, uint64_t origin_ns);
