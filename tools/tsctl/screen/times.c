/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses times: see times.h. options/ and commands call this file. Arithmetic is in integers: a
 * double cannot hold each nanosecond of a day, and two tools that differ by one nanosecond would
 * print different rows.
 */
#include "tools/tsctl/screen/times.h"

#include "proto/abi/base.h"

#include <ctype.h>

static const struct {
	const char *name;
	uint64_t ns;
} units[] = {
	{"", 1},
	{"ns", 1},
	{"us", 1000},
	{"ms", 1000000},
	{"s", UINT64_C(1000000000)},
	{"m", UINT64_C(60000000000)},
};

int ts_time_parse(const char *text, uint64_t *ret_ns)
{
	const char *at = text, *fraction;
	uint64_t whole = 0, ns, unit = 0;
	unsigned __int128 part = 0, scale = 1;
	bool digits = false;

	for (; isdigit((unsigned char)*at); at++, digits = true)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, (uint64_t)(*at - '0'), &whole))
			return -ERANGE;
	if (*at == '.') {
		for (fraction = ++at; isdigit((unsigned char)*at); at++, digits = true) {
			/* Later digits are below a nanosecond even for minutes. */
			if (at - fraction >= 15)
				continue;
			part = part * 10 + (unsigned int)(*at - '0');
			scale *= 10;
		}
	}
	if (!digits)
		return -EINVAL;
	for (size_t i = 0; i < TS_ARRAY_LEN(units); i++)
		if (!strcmp(at, units[i].name))
			unit = units[i].ns;
	if (!unit)
		return -EINVAL;
	if (__builtin_mul_overflow(whole, unit, &ns) ||
	    __builtin_add_overflow(ns, (uint64_t)(part * unit / scale), &ns))
		return -ERANGE;
	*ret_ns = ns;
	return 0;
}

int ts_time_parse_moment(const char *text, struct ts_time *ret_time)
{
	struct ts_time time = {.is_absolute = *text == '@', .is_given = true};
	int r = ts_time_parse(text + time.is_absolute, &time.ns);

	if (!r)
		*ret_time = time;
	return r;
}

uint64_t ts_time_absolute(const struct ts_time *time, uint64_t origin_ns)
{
	uint64_t ns;

	if (time->is_absolute)
		return time->ns;
	return __builtin_add_overflow(origin_ns, time->ns, &ns) ? UINT64_MAX : ns;
}
