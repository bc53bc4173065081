/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formats figures: see figures.h. The pictures call this file. It uses integers only, because
 * printf() writes fractions with the locale's decimal separator.
 */
#include "replay/report/pictures/figures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Writes value / unit with four digits: "1.235", "12.35", "123.5", "1235". */
static void four_digits(char text[TS_FIGURE_BYTES], uint64_t value, uint64_t unit, const char *name)
{
	static const unsigned int powers[] = {1, 10, 100, 1000};
	uint64_t whole = value / unit;
	int decimals = whole < 10 ? 3 : whole < 100 ? 2 : whole < 1000 ? 1 : 0;
	uint64_t power = powers[decimals];
	uint64_t fraction = (uint64_t)((double)(value % unit) / (double)unit * (double)power + 0.5);

	if (fraction >= power) {
		whole++;
		fraction = 0;
	}
	if (decimals)
		snprintf(text, TS_FIGURE_BYTES, "%" PRIu64 ".%0*" PRIu64 " %s", whole, decimals,
			 fraction, name);
	else
		snprintf(text, TS_FIGURE_BYTES, "%" PRIu64 " %s", whole, name);
}

static const struct {
	uint64_t ns;
	const char *name;
	int decimals;
} time_units[] = {
	{1000000000, "s", 9},
	{1000000, "ms", 6},
	{1000, "us", 3},
	{1, "ns", 0},
};

static unsigned int time_unit(uint64_t ns)
{
	unsigned int i = 0;

	while (time_units[i].ns > 1 && ns < time_units[i].ns)
		i++;
	return i;
}

char *ts_figure_duration(char text[TS_FIGURE_BYTES], uint64_t ns)
{
	unsigned int unit = time_unit(ns);

	if (time_units[unit].ns == 1)
		snprintf(text, TS_FIGURE_BYTES, "%" PRIu64 " ns", ns);
	else
		four_digits(text, ns, time_units[unit].ns, time_units[unit].name);
	return text;
}

char *ts_figure_exact(char text[TS_FIGURE_BYTES], uint64_t ns, uint64_t max_ns)
{
	unsigned int unit = time_unit(max_ns);
	char fraction[16];
	size_t n;

	snprintf(fraction, sizeof(fraction), ".%0*" PRIu64, time_units[unit].decimals,
		 ns % time_units[unit].ns);
	if (time_units[unit].ns == 1)
		fraction[0] = 0;
	n = strlen(fraction);
	while (n && (fraction[n - 1] == '0' || fraction[n - 1] == '.'))
		if (fraction[--n] == '.')
			break;
	snprintf(text, TS_FIGURE_BYTES, "%" PRIu64 "%.*s %s", ns / time_units[unit].ns, (int)n,
		 fraction, time_units[unit].name);
	return text;
}

char *ts_figure_bytes(char text[TS_FIGURE_BYTES], uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	unsigned int unit = 0;

	while (unit + 1 < sizeof(units) / sizeof(*units) && bytes >> (10 * unit) >= 1024)
		unit++;
	if (!unit)
		snprintf(text, TS_FIGURE_BYTES, "%" PRIu64 " B", bytes);
	else
		four_digits(text, bytes, UINT64_C(1) << (10 * unit), units[unit]);
	return text;
}

char *ts_figure_round_bytes(char text[TS_FIGURE_BYTES], uint64_t bytes)
{
	char *unit, *end, *point;

	ts_figure_bytes(text, bytes);
	unit = end = strchr(text, ' ');
	point = strchr(text, '.');
	while (point && end > point && (end[-1] == '0' || end == point + 1))
		end--;
	memmove(end, unit, strlen(unit) + 1);
	return text;
}

char *ts_figure_count(char text[TS_FIGURE_BYTES], uint64_t count)
{
	char digits[24];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), at = 0;

	for (size_t i = 0; i < n; i++) {
		text[at++] = digits[i];
		if (i + 1 < n && (n - i - 1) % 3 == 0)
			text[at++] = ',';
	}
	text[at] = 0;
	return text;
}

char *ts_figure_percent(char text[TS_FIGURE_BYTES], uint64_t part, uint64_t whole)
{
	double share = whole ? (double)part / (double)whole : 0;
	uint64_t tenths = share < 1e9 ? (uint64_t)(share * 1000 + 0.5) : UINT64_C(1000000000000);

	snprintf(text, TS_FIGURE_BYTES, "%" PRIu64 ".%" PRIu64 " %%", tenths / 10, tenths % 10);
	return text;
}
