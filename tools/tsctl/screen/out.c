/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output for people: see out.h. All commands call this file. Names in a trace are untrusted, and a
 * terminal would obey an escape sequence in a name. So each name is printed through ts_out_text().
 */
#include "tools/tsctl/screen/out.h"

#include "proto/abi/base.h"

#include <inttypes.h>

/*
 * True for line separators and bidirectional controls: with them a name could rewrite its whole
 * line.
 */
static bool moves_text(uint32_t point)
{
	return (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

/*
 * Returns the length of the UTF-8 sequence at `text`, which is terminated. Returns 0 if it is
 * malformed or controls the terminal.
 */
static size_t utf8_length(const unsigned char *text)
{
	uint32_t point;
	size_t n;

	if (text[0] < 0x80)
		return 1;
	n = text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
	if (text[0] < 0xc2 || text[0] > 0xf4)
		return 0;
	point = text[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		point = point << 6 | (text[i] & 0x3fu);
	}
	if (point < 0xa0 || (n == 3 && point < 0x800) || (n == 4 && point < 0x10000) ||
	    (point >= 0xd800 && point < 0xe000) || point > 0x10ffff || moves_text(point))
		return 0;
	return n;
}

size_t ts_out_piece(const char *text, char shown[8], size_t *ret_columns)
{
	const unsigned char *bytes = (const unsigned char *)text;
	size_t n = utf8_length(bytes);

	if (n == 0 || bytes[0] < 0x20 || bytes[0] == 0x7f) {
		snprintf(shown, 8, "\\x%02x", bytes[0]);
		*ret_columns = 4;
		return 1;
	}
	memcpy(shown, text, n);
	shown[n] = 0;
	*ret_columns = 1;
	return n;
}

size_t ts_out_width(const char *text)
{
	size_t width = 0, columns;
	char shown[8];

	while (text && *text) {
		text += ts_out_piece(text, shown, &columns);
		width += columns;
	}
	return width;
}

/* Prints the part that fits into `columns_left` columns; returns the rest. */
static const char *print_pieces(FILE *file, const char *text, size_t columns_left)
{
	char shown[8];
	size_t taken;

	while (text && *text) {
		size_t n = ts_out_piece(text, shown, &taken);

		if (taken > columns_left)
			break;
		columns_left -= taken;
		text += n;
		fputs(shown, file);
	}
	return text;
}

void ts_out_text_cut(FILE *file, const char *text, size_t columns)
{
	size_t width = columns ? ts_out_width(text) : 0, columns_left, taken;
	char shown[8];

	if (width <= columns) {
		print_pieces(file, text, SIZE_MAX);
		return;
	}
	columns_left = columns > 3 ? columns - 3 : 0;
	text = print_pieces(file, text, columns_left - columns_left / 2);
	fputs("...", file);
	for (width = ts_out_width(text); width > columns_left / 2; width -= taken)
		text += ts_out_piece(text, shown, &taken);
	print_pieces(file, text, SIZE_MAX);
}

void ts_out_text(FILE *file, const char *text)
{
	print_pieces(file, text, SIZE_MAX);
}

char *ts_out_thread(char *buffer, const char *name, uint32_t tid)
{
	if (tid)
		snprintf(buffer, TS_OUT_THREAD_BYTES, "%.48s/%" PRIu32, name ? name : "?", tid);
	else
		snprintf(buffer, TS_OUT_THREAD_BYTES, "%.48s", name ? name : "");
	return buffer;
}

char *ts_out_duration(char *buffer, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {{UINT64_C(1000000000), "s"}, {1000000, "ms"}, {1000, "us"}};

	for (size_t i = 0; i < TS_ARRAY_LEN(units); i++) {
		double value = (double)ns / (double)units[i].ns;

		if (ns >= units[i].ns) {
			snprintf(buffer, TS_OUT_FIGURE_BYTES, "%.*f %s",
				 value < 9.9995	  ? 3
				 : value < 99.995 ? 2
						  : 1,
				 value, units[i].unit);
			return buffer;
		}
	}
	snprintf(buffer, TS_OUT_FIGURE_BYTES, "%" PRIu64 " ns", ns);
	return buffer;
}

char *ts_out_bytes(char *buffer, uint64_t bytes)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1024 && unit + 1 < TS_ARRAY_LEN(units)) {
		value /= 1024;
		unit++;
	}
	if (!unit)
		snprintf(buffer, TS_OUT_FIGURE_BYTES, "%" PRIu64 " B", bytes);
	else
		snprintf(buffer, TS_OUT_FIGURE_BYTES, "%.*f %s", value < 99.95 ? 2 : 1, value,
			 units[unit]);
	return buffer;
}

char *ts_out_count(char *buffer, uint64_t count)
{
	char digits[24];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), at = 0;

	for (size_t i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buffer[at++] = ',';
		buffer[at++] = digits[i];
	}
	buffer[at] = 0;
	return buffer;
}

char *ts_out_counted(char *buffer, uint64_t count, const char *noun)
{
	size_t n = strlen(noun);
	const char *plural = "s";
	char figure[TS_OUT_FIGURE_BYTES];

	if (count == 1) {
		plural = "";
	} else if (n && noun[n - 1] == 'y') {
		n--;
		plural = "ies";
	} else if (n > 1 && !strcmp(noun + n - 2, "ch")) {
		plural = "es";
	}
	snprintf(buffer, TS_OUT_COUNTED_BYTES, "%s %.*s%s", ts_out_count(figure, count), (int)n,
		 noun, plural);
	return buffer;
}

char *ts_out_seconds(char *buffer, uint64_t ns)
{
	snprintf(buffer, TS_OUT_FIGURE_BYTES, "%" PRIu64 ".%09" PRIu64, ns / UINT64_C(1000000000),
		 ns % UINT64_C(1000000000));
	return buffer;
}
