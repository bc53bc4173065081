/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the layouts of kernels' arguments that the capture of HIP reads from PTX: sizes,
 * alignments, arrays, comments, and text that ends anywhere or is malformed.
 */
#include "inject/capture/hip/hip-capture.h"
#include "test/unit/harness.h"

static struct ts_capture_argument arguments[TS_HIP_MAX_ARGUMENTS];

static int read_text(const char *text, const char *name)
{
	return ts_hip_ptx_arguments(text, strlen(text), name, arguments);
}

static void check_argument(int i, uint32_t offset, uint32_t bytes)
{
	ts_check_int(arguments[i].offset, offset);
	ts_check_int(arguments[i].bytes, bytes);
}

TS_TEST(natural_alignment)
{
	ts_check_int(
		read_text(".entry k(.param .u8 a, .param .f64 b, .param .b16 c, .param .s32 d)",
			  "k"),
		4);
	check_argument(0, 0, 1);
	check_argument(1, 8, 8);
	check_argument(2, 16, 2);
	check_argument(3, 20, 4);
}

TS_TEST(arrays_and_pointers)
{
	static const char text[] = ".visible .entry k (\n"
				   "	.param .u32 a, // a comment, with a comma\n"
				   "	.param .align 16 .b8 b[24],\n"
				   "	.param .u64 .ptr .global .align 4 c /* , */ ,\n"
				   "	.param .f16x2 d\n"
				   ") .maxntid 64 {}";

	ts_check_int(read_text(text, "k"), 4);
	check_argument(1, 16, 24);
	check_argument(2, 40, 8);
	check_argument(3, 48, 4);
}

TS_TEST(the_kernel_of_that_name)
{
	static const char text[] = ".entry scale_all(.param .u64 a) {}\n"
				   ".entry scale(.param .u8 a) {}\n"
				   ".entry none {}\n"
				   ".entry empty( ) {}\n";

	ts_check_int(read_text(text, "scale"), 1);
	check_argument(0, 0, 1);
	ts_check_int(read_text(text, "scale_all"), 1);
	check_argument(0, 0, 8);
	ts_check_int(read_text(text, "none"), 0);
	ts_check_int(read_text(text, "empty"), 0);
	ts_check_int(read_text(text, "other"), -1);
	ts_check_int(read_text(text, ""), -1);
}

TS_TEST(malformed)
{
	static const char *const texts[] = {
		".entry k(.param .u32)",
		".entry k(.param .v4 a)",
		".entry k(.param .align 3 .b8 a[4])",
		".entry k(.param .align 512 .b8 a[4])",
		".entry k(.param .b8 a[])",
		".entry k(.param .b8 a[0])",
		".entry k(.param .b64 a[9999])",
		".entry k(.param .b8 a[99999999999999999999])",
		".entry k(.param .b8 a[4)",
		".entry k(.reg .u32 a)",
		".entry k(.param .u32 .u32 a)",
		".entry k(.param .u32 a .param .u32 b)",
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(texts); i++)
		ts_check_int(read_text(texts[i], "k"), -1);
}

TS_TEST(text_that_ends_anywhere)
{
	static const char text[] =
		".entry k(.param .u32 a, /* b */ .param .align 8 .b8 b[16]) // end";

	for (size_t n = 0; n < strlen(text); n++) {
		/* A block of exactly that size, so that a sanitizer sees reads beyond it. */
		char *copy = malloc(n + !n);
		int found;

		ts_check(copy);
		memcpy(copy, text, n);
		found = ts_hip_ptx_arguments(copy, n, "k", arguments);
		ts_check(found == -1 || found == 2 || (found == 0 && n <= strlen(".entry k")));
		free(copy);
	}
}

TS_TEST(more_than_there_is_room_for)
{
	char text[32 * 1024] = ".entry k(.param .u8 a";

	for (size_t i = 1; i < TS_HIP_MAX_ARGUMENTS; i++)
		strcat(text, ",.param .u8 a");
	strcat(text, ")");
	ts_check_int(read_text(text, "k"), (int)TS_HIP_MAX_ARGUMENTS);
	text[strlen(text) - 1] = '\0';
	strcat(text, ",.param .u8 a)");
	ts_check_int(read_text(text, "k"), -1);
}
