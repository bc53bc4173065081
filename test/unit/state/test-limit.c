/* SPDX-License-Identifier: Apache-2.0 */
/* Each limit has a message that names the limit and the remedy. */
#include "test/unit/harness.h"

#include "replay/state/limit.h"

TS_TEST(each_has_a_text)
{
	char text[TS_LIMIT_TEXT_BYTES];

	for (int r = TS_E_STREAMS; r < TS_E_LIMIT_UNKNOWN; r++) {
		ts_check(ts_limit_text(r, NULL, text));
		ts_check(!strncmp(text, "holds more than ", 16));
		ts_check(strstr(text, ", which is the limit; `tsctl cut` writes ") != NULL);
	}
	ts_check(ts_limit_text(TS_E_STREAMS, NULL, text));
	ts_check(strstr(text, " 262,144 streams,") != NULL);
	ts_check(ts_limit_text(TS_E_LIVE, NULL, text));
	ts_check(strstr(text, " 16,777,216 allocations,") != NULL);
}

TS_TEST(a_readers_limit)
{
	struct ts_sbt_error error = {.code = TS_SBT_E_LIMIT, .text = "more than 5 blocks"};
	char text[TS_LIMIT_TEXT_BYTES];

	ts_check(ts_limit_text(TS_SBT_E_LIMIT, &error, text));
	ts_check_str(text, "is too large to read: more than 5 blocks; `tsctl cut` writes "
			   "a trace of a part of it");
	/* The text of another error does not mention this limit. */
	error.code = TS_SBT_E_CORRUPT;
	ts_check(ts_limit_text(TS_SBT_E_LIMIT, &error, text));
	ts_check(!strstr(text, "blocks"));
}

TS_TEST(others_are_none)
{
	char text[TS_LIMIT_TEXT_BYTES];

	ts_check(!ts_limit_text(0, NULL, text));
	ts_check(!ts_limit_text(-ENOMEM, NULL, text));
	ts_check(!ts_limit_text(TS_SBT_E_CORRUPT, NULL, text));
	ts_check(!ts_limit_text(TS_E_LIMIT_UNKNOWN, NULL, text));
}
