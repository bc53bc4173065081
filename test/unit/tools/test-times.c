/* SPDX-License-Identifier: Apache-2.0 */
/* Parses times as a user writes them: exact to the nanosecond, and rejected if they are no time. */
#include "test/unit/harness.h"
#include "tools/tsctl/screen/times.h"

static void check_ns(const char *text, uint64_t want)
{
	uint64_t got = 0;

	ts_check_int(ts_time_parse(text, &got), 0);
	ts_check_int(got, want);
}

static void check_refused(const char *text, int error)
{
	uint64_t got = 42;

	ts_check_int(ts_time_parse(text, &got), error);
	ts_check_int(got, 42);
}

TS_TEST(plain_numbers_are_nanoseconds)
{
	check_ns("0", 0);
	check_ns("1500", 1500);
	check_ns("18446744073709551615", UINT64_MAX);
}

TS_TEST(units)
{
	check_ns("7ns", 7);
	check_ns("7us", 7000);
	check_ns("7ms", 7000000);
	check_ns("7s", UINT64_C(7000000000));
	check_ns("7m", UINT64_C(420000000000));
}

TS_TEST(fractions_are_exact)
{
	check_ns("12.5ms", 12500000);
	check_ns("0.000000001s", 1);
	check_ns(".5us", 500);
	check_ns("1.s", UINT64_C(1000000000));
	/* A double would give ...992. */
	check_ns("9007199.254740993s", UINT64_C(9007199254740993));
	/* Digits below a nanosecond are cut, not rounded. */
	check_ns("1.9", 1);
	check_ns("0.99999999999999999999999999999999s", 999999999);
}

TS_TEST(what_is_no_time_is_refused)
{
	check_refused("", -EINVAL);
	check_refused(".", -EINVAL);
	check_refused("ms", -EINVAL);
	check_refused("-1", -EINVAL);
	check_refused("+1", -EINVAL);
	check_refused(" 1", -EINVAL);
	check_refused("1 ms", -EINVAL);
	check_refused("1h", -EINVAL);
	check_refused("1.2.3s", -EINVAL);
	check_refused("0x10", -EINVAL);
	check_refused("1e3", -EINVAL);
}

TS_TEST(what_does_not_fit_is_refused)
{
	check_refused("18446744073709551616", -ERANGE);
	check_refused("18446744074s", -ERANGE);
	check_refused("99999999999999999999999", -ERANGE);
}

TS_TEST(moments)
{
	struct ts_time time = {7, false};

	ts_check_int(ts_time_parse_moment("12.5ms", &time), 0);
	ts_check(!time.is_absolute);
	ts_check_int(ts_time_absolute(&time, 1000), 12501000);
	ts_check_int(ts_time_parse_moment("@12500", &time), 0);
	ts_check(time.is_absolute);
	ts_check_int(ts_time_absolute(&time, 1000), 12500);
	ts_check_int(ts_time_parse_moment("@", &time), -EINVAL);
	ts_check_int(ts_time_parse_moment("@@1", &time), -EINVAL);
	ts_check_int(ts_time_parse_moment("1@", &time), -EINVAL);
	ts_check_int(time.ns, 12500);
	time = (struct ts_time){UINT64_MAX, false};
	ts_check(ts_time_absolute(&time, 1000) == UINT64_MAX);
}
