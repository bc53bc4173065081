/* SPDX-License-Identifier: Apache-2.0 */
/* Texts are unchanged, except bytes that readers of a format should not have to handle. */
#include "test/unit/harness.h"
#include "tools/export/export-text.h"

static void check_text(struct ts_texts *texts, const char *text, const char *want)
{
	uint32_t id, again;
	const char *got;
	size_t n;

	ts_check_int(ts_texts_add(texts, text, &id), 0);
	got = ts_texts_at(texts, id, &n);
	if (n != strlen(want) || memcmp(got, want, n)) {
		fprintf(stderr, "%.*s is not %s\n", (int)n, got, want);
		exit(1);
	}
	ts_check_int(ts_texts_add(texts, text, &again), 0);
	ts_check_int(again, id);
}

TS_TEST(what_is_clean_stays)
{
	struct ts_texts texts;

	ts_texts_init(&texts);
	check_text(&texts, "void f<int>(char const*, A::B)", "void f<int>(char const*, A::B)");
	check_text(&texts, "größe π \xf0\x9f\x8e\x89", "größe π \xf0\x9f\x8e\x89");
	check_text(&texts, "a;b c", "a;b c");
	check_text(&texts, "", "");
	check_text(&texts, NULL, "");
	ts_check_int(ts_texts_n(&texts), 4);
	ts_texts_deinit(&texts);
}

TS_TEST(what_is_not_is_escaped)
{
	struct ts_texts texts;

	ts_texts_init(&texts);
	check_text(&texts, "a\nb\tc\x1b[0m\x7f", "a\\x0ab\\x09c\\x1b[0m\\x7f");
	check_text(&texts, "\xff\xc0\x80\xed\xa0\x80", "\\xff\\xc0\\x80\\xed\\xa0\\x80");
	/* Cut within a character, and an overlong encoding. */
	check_text(&texts, "caf\xc3", "caf\\xc3");
	check_text(&texts, "\xe2\x80", "\\xe2\\x80");
	check_text(&texts, "\xe0\x80\xaf", "\\xe0\\x80\\xaf");
	check_text(&texts, "\xf5\x80\x80\x80", "\\xf5\\x80\\x80\\x80");
	/* Unicode's line breaks, and the controls above ASCII, are escaped. */
	check_text(&texts, "\xe2\x80\xa8\xc2\x85", "\\xe2\\x80\\xa8\\xc2\\x85");
	ts_texts_deinit(&texts);
}

TS_TEST(many)
{
	struct ts_texts texts;
	uint32_t ids[5000];

	ts_texts_init(&texts);
	for (uint32_t i = 0; i < TS_ARRAY_LEN(ids); i++)
		ts_check_int(ts_texts_addf(&texts, &ids[i], "text %u", i), 0);
	for (uint32_t i = 0; i < TS_ARRAY_LEN(ids); i++) {
		char want[32];

		ts_check_int(ids[i], i + 1);
		snprintf(want, sizeof(want), "text %u", i);
		check_text(&texts, want, want);
	}
	ts_check_int(ts_texts_n(&texts), TS_ARRAY_LEN(ids) + 1);
	ts_texts_deinit(&texts);
}
