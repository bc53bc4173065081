/* SPDX-License-Identifier: Apache-2.0 */
/* Tests tables: widths of columns, and the parts that a terminal of a given width cuts. */
#include "proto/abi/base.h"
#include "test/unit/harness.h"
#include "tools/tsctl/screen/table.h"

#include <pty.h>
#include <termios.h>

TS_TEST(tables_are_as_wide_as_what_is_in_them)
{
	char buffer[256] = {0};
	FILE *file = fmemopen(buffer, sizeof(buffer), "w");
	struct ts_table *table = NULL;

	ts_check_int(ts_table_new("rl", &table), 0);
	ts_check_int(ts_table_add(table, "N"), 0);
	ts_check_int(ts_table_add(table, "NAME"), 0);
	ts_check_int(ts_table_addf(table, "%d", 1000), 0);
	ts_check_int(ts_table_add(table, "x"), 0);
	ts_table_print(table, file, 1, false);
	fclose(file);
	ts_table_free(table);
	ts_check_str(buffer, "    N  NAME\n 1000  x\n");
}

/* Returns the table's text on a terminal of that many columns. */
static char *on_terminal(const struct ts_table *table, unsigned short columns, bool wide)
{
	struct winsize size = {.ws_row = 24, .ws_col = columns};
	static char text[4096];
	struct termios modes;
	size_t n = 0;
	int reader, writer;
	ssize_t got;
	FILE *file;

	setenv("TERM", "dumb", 1);
	ts_check_int(openpty(&reader, &writer, NULL, NULL, &size), 0);
	ts_check_int(tcgetattr(writer, &modes), 0);
	modes.c_oflag &= ~(tcflag_t)OPOST;
	ts_check_int(tcsetattr(writer, TCSANOW, &modes), 0);
	file = fdopen(writer, "w");
	ts_table_print(table, file, 2, wide);
	fclose(file);
	while (n + 1 < sizeof(text) && (got = read(reader, text + n, sizeof(text) - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	close(reader);
	return text;
}

static struct ts_table *make_table(const char *columns, const char *const *cells, size_t n)
{
	struct ts_table *table = NULL;

	ts_check_int(ts_table_new(columns, &table), 0);
	for (size_t i = 0; i < n; i++)
		ts_check_int(ts_table_add(table, cells[i]), 0);
	return table;
}

TS_TEST(narrow_terminals_lose_columns_before_names)
{
	static const char *const cells[] = {"N",	"MEAN",
					    "MAX",	"NAME",
					    "1",	"2.000 us",
					    "3.000 us", "cuDevicePrimaryCtxRetain"};
	struct ts_table *table = make_table("rRRl", cells, TS_ARRAY_LEN(cells));

	ts_check_str(on_terminal(table, 80, false),
		     "  N      MEAN       MAX  NAME\n"
		     "  1  2.000 us  3.000 us  cuDevicePrimaryCtxRetain\n");
	ts_check_str(on_terminal(table, 40, false), "  N      MEAN  NAME\n"
						    "  1  2.000 us  cuDevicePrimaryCtxRetain\n");
	ts_check_str(on_terminal(table, 30, false), "  N  NAME\n"
						    "  1  cuDevicePrimaryCtxRetain\n");
	ts_check_str(on_terminal(table, 24, false), "  N  NAME\n"
						    "  1  cuDevice...txRetain\n");
	ts_check_str(on_terminal(table, 24, true),
		     "  N      MEAN       MAX  NAME\n"
		     "  1  2.000 us  3.000 us  cuDevicePrimaryCtxRetain\n");
	ts_table_free(table);
}

TS_TEST(no_line_ends_with_a_blank)
{
	static const char *const cells[] = {"A", "B", "C", "long", "", "", "x", "", "z"};
	struct ts_table *table = make_table("lrl", cells, TS_ARRAY_LEN(cells));

	ts_check_str(on_terminal(table, 80, false), "  A     B  C\n"
						    "  long\n"
						    "  x        z\n");
	ts_table_free(table);
}

TS_TEST(notes_break_between_callers)
{
	static const char *const cells[] = {"N", "NAME", "1", "saxpy"};
	struct ts_table *table = make_table("rl", cells, TS_ARRAY_LEN(cells));

	ts_check_int(ts_table_note(table, "by launch (a.c:1) < step (b.c:22) < main (c.c:3)"), 0);
	ts_check_str(on_terminal(table, 80, false),
		     "  N  NAME\n"
		     "  1  saxpy\n"
		     "      by launch (a.c:1) < step (b.c:22) < main (c.c:3)\n");
	ts_check_str(on_terminal(table, 44, false), "  N  NAME\n"
						    "  1  saxpy\n"
						    "      by launch (a.c:1) < step (b.c:22)\n"
						    "      < main (c.c:3)\n");
	ts_table_free(table);
}

TS_TEST(two_columns_share_what_is_left)
{
	static const char *const cells[] = {"BY", "NAME", "launch_of_a_kernel (gpu-driver.c:422)",
					    "saxpy"};
	struct ts_table *table = make_table("sl", cells, TS_ARRAY_LEN(cells));

	ts_check_str(on_terminal(table, 34, false), "  BY                         NAME\n"
						    "  launch_of_a...iver.c:422)  saxpy\n");
	ts_table_free(table);
}
