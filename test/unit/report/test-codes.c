/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the frame that names a stack, and the function for which samples count. */
#include "test/unit/harness.h"

#include "replay/report/stacks/codeplace.h"
#include "replay/report/stacks/codes.h"
#include "test/unit/tools/sampled.h"

#include <sys/mman.h>

struct opened {
	int fd;
	struct ts_sbt_reader *reader;
	struct ts_resolver *resolver;
};

static struct opened open_sampled(void)
{
	struct ts_resolver_options options = {.mangled = true};
	struct opened opened = {.fd = memfd_create("trace", MFD_CLOEXEC)};

	ts_check_int(sampled_write(dup(opened.fd), false), 0);
	ts_check_int(ts_sbt_reader_open(opened.fd, &opened.reader, NULL), 0);
	ts_check_int(ts_resolver_new(opened.reader, &options, &opened.resolver), 0);
	return opened;
}

static void close_sampled(struct opened *opened)
{
	ts_resolver_free(opened->resolver);
	ts_sbt_reader_free(opened->reader);
	close(opened->fd);
}

static void check_place(struct opened *opened, uint32_t stack, const char *want)
{
	char text[TS_CODEPLACE_BYTES];
	struct ts_codeplace place;

	ts_check(ts_codeplace_of(opened->resolver, SAMPLED_SESSION, stack, SAMPLED_START_NS + 1,
				 NULL, &place));
	ts_codeplace_text(&place, text);
	ts_check_str(text, want);
}

TS_TEST(a_frame_names_the_stack)
{
	struct opened opened = open_sampled();
	struct ts_codeplace place;

	/* A Python program's own function is preferred to that of an installed package. */
	check_place(&opened, SAMPLED_PREPROCESS, "preprocess (data.py:31)");
	check_place(&opened, SAMPLED_LOAD, "load (data.py:12)");
	/* The place is in the caller of the C library, with or without symbols. */
	check_place(&opened, SAMPLED_NATIVE, "resample (resample.c:88)");
	check_place(&opened, SAMPLED_NO_SYMBOLS, "libstrange.so.2+0x30");
	/* The stack has no such caller. */
	check_place(&opened, SAMPLED_LIBC_ALONE, "libc.so.6+0x100");
	check_place(&opened, SAMPLED_NOWHERE, "0x10");
	/* Frames of the shim and the interpreter are skipped. */
	check_place(&opened, SAMPLED_LAUNCH, "step (train.py:7)");
	ts_check(
		!ts_codeplace_of(opened.resolver, SAMPLED_SESSION, TS_ID_UNKNOWN, 1, NULL, &place));
	ts_check(!ts_codeplace_of(opened.resolver, SAMPLED_SESSION, 1000, 1, NULL, &place));
	close_sampled(&opened);
}

static uint32_t number_of(struct ts_codes *codes, uint32_t stack)
{
	const struct ts_gaps_code *code = ts_codes_find(codes);
	uint32_t number = UINT32_MAX;

	ts_check_int(code->find(code->data, SAMPLED_SESSION, stack, SAMPLED_START_NS + 1, &number),
		     0);
	return number;
}

static void check_code(const struct ts_codes *codes, uint32_t number, const char *want)
{
	struct ts_code code;
	char text[256];
	size_t n;

	ts_check(ts_codes_at(codes, number, &code));
	n = ts_code_text(code.function, code.file, code.line, text, sizeof(text));
	ts_check_str(text, want);
	ts_check_int(n, strlen(want));
}

TS_TEST(functions_are_counted)
{
	struct opened opened = open_sampled();
	uint32_t preprocess, load, native, strange;
	struct ts_codes *codes;
	struct ts_code code;

	ts_check_int(ts_codes_new(opened.resolver, &codes), 0);
	preprocess = number_of(codes, SAMPLED_PREPROCESS);
	ts_check_int(number_of(codes, SAMPLED_PREPROCESS_NEXT), preprocess);
	load = number_of(codes, SAMPLED_LOAD);
	native = number_of(codes, SAMPLED_NATIVE);
	strange = number_of(codes, SAMPLED_NO_SYMBOLS);
	ts_check(preprocess && load && native && strange);
	ts_check(load != preprocess && native != load && strange != native);
	ts_check_int(number_of(codes, SAMPLED_NOWHERE), 0);
	ts_check_int(number_of(codes, TS_ID_UNKNOWN), 0);
	/*
	 * A function has the line with the most samples. If several lines have as many, it has the
	 * first.
	 */
	check_code(codes, preprocess, "preprocess (data.py:31)");
	number_of(codes, SAMPLED_PREPROCESS_NEXT);
	check_code(codes, preprocess, "preprocess (data.py:32)");
	check_code(codes, load, "load (data.py:12)");
	check_code(codes, native, "resample (resample.c:88)");
	check_code(codes, strange, "libstrange.so.2");
	ts_check(!ts_codes_at(codes, 0, &code));
	ts_check(!ts_codes_at(codes, 5, &code));
	ts_codes_free(codes);
	close_sampled(&opened);
}
