/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline comes first: threads of the whole trace rest, and questions leave a reader. */
#include "test/unit/harness.h"

#include "proto/abi/clock.h"
#include "tools/studio/server/studio.h"
#include "tools/tsctl/tsctl.h"

#define MS UINT64_C(1000000)

static bool never(void *data)
{
	return false;
}

static bool at_once(void *data)
{
	return true;
}

static uint64_t rest(struct ts_studio_pace *pace, bool (*is_over)(void *data))
{
	uint64_t start_ns = ts_clock_monotonic_ns();

	ts_studio_pace_rest(pace, is_over, NULL);
	return ts_clock_monotonic_ns() - start_ns;
}

TS_TEST(work_rests_while_a_page_asks)
{
	struct ts_studio_pace pace = {0};
	uint64_t end_ns;

	/* A page that asks without a pause stops nothing for ever. */
	ts_studio_pace_begin(&pace);
	ts_check(rest(&pace, never) >= 40 * MS);
	/* After the answer it draws, and may move on without asking. */
	end_ns = ts_clock_monotonic_ns();
	ts_studio_pace_end(&pace);
	ts_check(atomic_load(&pace.busy_until_ns) >= end_ns + 150 * MS);
	ts_studio_pace_rest(&pace, never, NULL);
	ts_check(ts_clock_monotonic_ns() - end_ns >= 20 * MS);
	/* A file of the page takes longer. A shorter time later does not end it. */
	end_ns = ts_clock_monotonic_ns();
	ts_studio_pace_load(&pace);
	ts_studio_pace_begin(&pace);
	ts_studio_pace_end(&pace);
	ts_check(atomic_load(&pace.busy_until_ns) >= end_ns + 250 * MS);
	ts_check(rest(&pace, never) >= 40 * MS);
}

TS_TEST(work_rests_while_a_browser_starts)
{
	struct ts_studio_pace pace = {0};
	uint64_t start_ns = ts_clock_monotonic_ns();

	ts_studio_pace_start(&pace);
	ts_studio_pace_load(&pace);
	ts_check(atomic_load(&pace.busy_until_ns) >= start_ns + 1000 * MS);
	/* It goes on, slowly. */
	ts_check(rest(&pace, never) < 1000 * MS);
	ts_check_int(rest(&pace, at_once) / (10 * MS), 0);
}

static bool count(void *data)
{
	return ++*(unsigned *)data == 2;
}

TS_TEST(an_end_is_noticed_in_a_rest)
{
	struct ts_studio_pace pace = {0};
	unsigned n = 0;

	ts_studio_pace_begin(&pace);
	ts_studio_pace_rest(&pace, count, &n);
	ts_check_int(n, 2);
}

TS_TEST(questions_leave_a_reader_for_the_timeline)
{
	struct ts_studio_reader *asked[TS_STUDIO_MAX_QUESTIONS], *reader;
	struct ts_studio_trace trace;

	ts_check_int(ts_studio_trace_open(&trace, TEST_GOLDEN "/pipeline.sbt", NULL), TS_EXIT_OK);
	for (size_t i = 0; i < TS_ARRAY_LEN(asked); i++) {
		asked[i] = ts_studio_reader_get(&trace, true, never, NULL);
		ts_check(asked[i]);
	}
	/* A further question waits until its client is gone. */
	ts_check(!ts_studio_reader_get(&trace, true, at_once, NULL));
	reader = ts_studio_reader_get(&trace, false, at_once, NULL);
	ts_check(reader);
	ts_check(!ts_studio_reader_get(&trace, false, at_once, NULL));
	/* The timeline's reader is free again, and still none for questions. */
	ts_studio_reader_put(&trace, reader);
	ts_check(!ts_studio_reader_get(&trace, true, at_once, NULL));
	ts_studio_reader_put(&trace, asked[0]);
	asked[0] = ts_studio_reader_get(&trace, true, at_once, NULL);
	ts_check(asked[0]);
	for (size_t i = 0; i < TS_ARRAY_LEN(asked); i++)
		ts_studio_reader_put(&trace, asked[i]);
	ts_studio_trace_close(&trace);
}
