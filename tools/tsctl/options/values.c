/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses values on a command line: numbers, bytes, times with a unit, operation ids. option-parse.c
 * calls this file for each kind of option; commands call this file for values of their own.
 */
#include "tools/tsctl/options/values.h"

#include "proto/abi/base.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/tsctl.h"

#include <ctype.h>

int ts_parse_number(const char *text, unsigned long long min, unsigned long long max,
		    unsigned long long *ret_number)
{
	unsigned long long number;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (*end)
		return -EINVAL;
	if (errno || number < min || number > max)
		return -ERANGE;
	*ret_number = number;
	return 0;
}

int ts_parse_bytes(const char *text, unsigned long long min, unsigned long long max,
		   unsigned long long *ret_bytes)
{
	static const char suffixes[] = "KMG";
	unsigned long long number;
	unsigned int shift = 0;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno)
		return -ERANGE;
	if (*end) {
		const char *suffix = strchr(suffixes, toupper((unsigned char)*end));

		if (!suffix || end[1])
			return -EINVAL;
		shift = 10 * (unsigned int)(suffix - suffixes + 1);
	}
	if (number > max >> shift || number << shift < min)
		return -ERANGE;
	*ret_bytes = number << shift;
	return 0;
}

int ts_parse_seconds(const char *text, uint64_t *ret_ns)
{
	char with_unit[64];
	size_t n = strlen(text);
	bool has_unit = !n || (!isdigit((unsigned char)text[n - 1]) && text[n - 1] != '.');

	snprintf(with_unit, sizeof(with_unit), "%.60s%s", text, has_unit ? "" : "s");
	return ts_time_parse(with_unit, ret_ns);
}

int ts_parse_time_with_unit(const char *text, uint64_t *ret_ns)
{
	size_t n = strlen(text);

	return n && !isdigit((unsigned char)text[n - 1]) ? ts_time_parse(text, ret_ns) : -EINVAL;
}

int ts_ops_parse(const char *text, uint64_t *ret_first, uint64_t *ret_last)
{
	const char *dots = strstr(text, "..");
	size_t n = dots ? (size_t)(dots - text) : strlen(text);
	unsigned long long from, to;
	char first[24];

	if (n < sizeof(first)) {
		memcpy(first, text, n);
		first[n] = '\0';
		if (!ts_parse_number(first, 0, UINT64_MAX, &from) &&
		    !ts_parse_number(dots ? dots + 2 : first, from, UINT64_MAX, &to)) {
			*ret_first = from;
			*ret_last = to;
			return 0;
		}
	}
	ts_complain(
		"--ops %s: expected an operation's number, as in `tsctl view`, or a range, like "
		"7..20",
		text);
	return -EINVAL;
}
