/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and names on a command line.
 */
#include "test/unit/harness.h"
#include "tools/tsctl/options/help.h"
#include "tools/tsctl/options/near.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/tsctl.h"

TS_TEST(numbers)
{
	unsigned long long got = 0;

	ts_check_int(ts_parse_number("17", 1, 100, &got), 0);
	ts_check_int(got, 17);
	ts_check_int(ts_parse_number("0", 1, 100, &got), -ERANGE);
	ts_check_int(ts_parse_number("101", 1, 100, &got), -ERANGE);
	ts_check_int(ts_parse_number("99999999999999999999", 1, UINT64_MAX, &got), -ERANGE);
	ts_check_int(ts_parse_number("", 1, 100, &got), -EINVAL);
	ts_check_int(ts_parse_number("-1", 1, 100, &got), -EINVAL);
	ts_check_int(ts_parse_number("7x", 1, 100, &got), -EINVAL);
	ts_check_int(got, 17);
}

TS_TEST(bytes)
{
	unsigned long long got = 0;

	ts_check_int(ts_parse_bytes("65536", 65536, UINT64_MAX, &got), 0);
	ts_check_int(got, 65536);
	ts_check_int(ts_parse_bytes("64K", 65536, UINT64_MAX, &got), 0);
	ts_check_int(got, 65536);
	ts_check_int(ts_parse_bytes("4m", 65536, UINT64_MAX, &got), 0);
	ts_check_int(got, 4 << 20);
	ts_check_int(ts_parse_bytes("1G", 0, UINT64_MAX, &got), 0);
	ts_check_int(got, 1 << 30);
	ts_check_int(ts_parse_bytes("1KB", 0, UINT64_MAX, &got), -EINVAL);
	ts_check_int(ts_parse_bytes("K", 0, UINT64_MAX, &got), -EINVAL);
	ts_check_int(ts_parse_bytes("18446744073709551615G", 0, UINT64_MAX, &got), -ERANGE);
	ts_check_int(ts_parse_bytes("1K", 2048, UINT64_MAX, &got), -ERANGE);
}

TS_TEST(times_with_a_unit)
{
	uint64_t got = 0;

	ts_check_int(ts_parse_time_with_unit("10s", &got), 0);
	ts_check_int(got, UINT64_C(10000000000));
	ts_check_int(ts_parse_time_with_unit("10", &got), -EINVAL);
	ts_check_int(ts_parse_time_with_unit("", &got), -EINVAL);
	ts_check_int(ts_parse_time_with_unit("10x", &got), -EINVAL);
	ts_check_int(got, UINT64_C(10000000000));
}

TS_TEST(operations)
{
	uint64_t first = 0, last = 0;

	ts_check_int(ts_ops_parse("7", &first, &last), 0);
	ts_check(first == 7 && last == 7);
	ts_check_int(ts_ops_parse("7..20", &first, &last), 0);
	ts_check(first == 7 && last == 20);
	ts_check_int(ts_ops_parse("20..7", &first, &last), -EINVAL);
	ts_check_int(ts_ops_parse("..", &first, &last), -EINVAL);
	ts_check_int(ts_ops_parse("", &first, &last), -EINVAL);
	ts_check(first == 7 && last == 20);
}

TS_TEST(distances)
{
	char long_name[80] = {0};

	ts_check_int(ts_edit_distance("record", "record"), 0);
	ts_check_int(ts_edit_distance("recrod", "record"), 1);
	ts_check_int(ts_edit_distance("recod", "record"), 1);
	ts_check_int(ts_edit_distance("", "abc"), 3);
	ts_check_int(ts_edit_distance("kitten", "sitting"), 3);
	memset(long_name, 'x', sizeof(long_name) - 1);
	ts_check(ts_edit_distance(long_name, "record") == SIZE_MAX);
}

TS_TEST(commands_are_found_by_name_and_alias)
{
	ts_check(ts_command_find("record") == &ts_command_record);
	ts_check(ts_command_find("profile") == &ts_command_record);
	ts_check(!ts_command_find("recrod"));
	ts_check(ts_command_near("recrod") == &ts_command_record);
	ts_check(!ts_command_near("nonsense"));
}

TS_TEST(help_fits_a_screen)
{
	for (size_t i = 0; ts_commands[i]; i++) {
		size_t n_lines = 0, n_bytes;
		char *help, *line;
		FILE *file = open_memstream(&help, &n_bytes);

		ts_check(file);
		ts_help_print(ts_commands[i], file);
		fclose(file);
		line = help;
		ts_check(strstr(line, "example: tsctl "));
		while (*line) {
			size_t n = strcspn(line, "\n");

			ts_check(n <= 80);
			ts_check(line[n] == '\n');
			line += n + 1;
			n_lines++;
		}
		ts_check(n_lines <= 24);
		free(help);
	}
}
