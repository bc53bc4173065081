/* SPDX-License-Identifier: Apache-2.0 */
/* Shortened names stay distinct. */
#include "proto/abi/base.h"
#include "test/unit/harness.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/shorten.h"

static void free_all(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
}

TS_TEST(what_fits_is_left_alone)
{
	const char *texts[] = {"void saxpy(int)", "cuLaunchKernel"};
	char *shown[2];

	ts_check_int(ts_shorten(texts, 2, 15, shown), 0);
	ts_check_str(shown[0], "void saxpy(int)");
	ts_check_str(shown[1], "cuLaunchKernel");
	free_all(shown, 2);
}

TS_TEST(the_middle_goes_first)
{
	const char *texts[] = {"cuDevicePrimaryCtxRetain", "void reduce<128, float, 4>(float)"};
	char *shown[2];

	ts_check_int(ts_shorten(texts, 2, 20, shown), 0);
	ts_check_str(shown[0], "cuDeviceP...txRetain");
	ts_check_str(shown[1], "reduce<12...>(float)");
	free_all(shown, 2);
}

TS_TEST(names_that_differ_in_the_middle_show_it)
{
	const char *texts[] = {
		"at::vectorized_kernel<4, BinaryFunctor<AddFunctor<float>>, std::array>",
		"at::vectorized_kernel<4, BinaryFunctor<MulFunctor<float>>, std::array>",
		"at::vectorized_kernel<4, BinaryFunctor<AddFunctor<float>>, std::array>"};
	char *shown[3];

	ts_check_int(ts_shorten(texts, 3, 32, shown), 0);
	ts_check(strstr(shown[0], "AddFunctor"));
	ts_check(strstr(shown[1], "MulFunctor"));
	ts_check_str(shown[0], shown[2]);
	for (int i = 0; i < 3; i++)
		ts_check(ts_out_width(shown[i]) <= 32);
	free_all(shown, 3);
}

/*
 * If no cut to `columns` keeps two names distinct, their shortened forms are wider than `columns`.
 */
TS_TEST(different_names_are_never_the_same)
{
	static char names[256][96];
	const char *texts[TS_ARRAY_LEN(names)];
	char *shown[TS_ARRAY_LEN(names)];

	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++) {
		texts[i] = names[i];
		memset(names[i], 'x', 80);
		/* Puts the bits of i into the name, some of them far apart. */
		for (size_t bit = 0; bit < 8; bit++)
			names[i][bit * 9 + 4] = i >> bit & 1 ? 'y' : 'x';
		names[i][80] = '\0';
	}
	for (size_t columns = 1; columns < 90; columns += 8) {
		ts_check_int(ts_shorten(texts, TS_ARRAY_LEN(names), columns, shown), 0);
		for (size_t i = 0; i < TS_ARRAY_LEN(names); i++)
			for (size_t j = 0; j < i; j++)
				ts_check(strcmp(shown[i], shown[j]));
		free_all(shown, TS_ARRAY_LEN(names));
	}
}

TS_TEST(pieces_are_not_torn)
{
	const char *texts[] = {
		"\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc"
		"\xc3\xa4",
		"\x1b[31mred\x1b[0m and more of it"};
	char *shown[2];

	ts_check_int(ts_shorten(texts, 2, 9, shown), 0);
	ts_check_str(shown[0], "\xc3\xa4\xc3\xb6\xc3\xbc...\xc3\xb6\xc3\xbc\xc3\xa4");
	ts_check(ts_out_width(shown[1]) <= 9);
	free_all(shown, 2);
}
