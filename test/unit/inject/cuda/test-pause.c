/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests which operation ids are left out because recording is paused: several switches, late
 * records, and calls that begin before a switch and end after it.
 */
#include "inject/cuda/pause.h"
#include "test/unit/harness.h"

TS_TEST(nothing_is_left_out_that_nobody_asked_for)
{
	struct ts_pause pause = {0};

	ts_check(!ts_pause_leaves_out(&pause, 0) &&
		 !ts_pause_leaves_out(&pause, UINT64_C(1) << 40));
	ts_check(!ts_pause_drops(&pause, 1));
}

TS_TEST(a_switch_holds_from_its_id_on)
{
	struct ts_pause pause = {0};
	uint64_t id;

	/* Ids beyond 32 bits: CUPTI's ids wrap, and the shim's ids do not. */
	for (id = UINT64_C(0xfffffff0); id < UINT64_C(0x100000100); id += 16)
		ts_pause_publish(&pause, id, id / 16 % 2);
	for (id = UINT64_C(0xfffffff0); id < UINT64_C(0x100000100); id++)
		ts_check_int(ts_pause_leaves_out(&pause, id), id / 16 % 2);
	ts_check_int(ts_pause_leaves_out(&pause, 5), !(UINT64_C(0xfffffff0) / 16 % 2));
}

TS_TEST(the_oldest_are_forgotten)
{
	static struct ts_pause pause;
	/*
	 * A reader uses fewer switches than the table holds, because a writer may overwrite the
	 * oldest ones during the read.
	 */
	uint64_t i, n = 3 * TS_PAUSE_SWITCHES + 5, first = n - TS_PAUSE_SWITCHES + 16;

	for (i = 0; i < n; i++)
		ts_pause_publish(&pause, 100 * (i + 1), !(i % 2));
	for (i = first; i < n; i++) {
		ts_check_int(ts_pause_leaves_out(&pause, 100 * (i + 1)), !(i % 2));
		ts_check_int(ts_pause_leaves_out(&pause, 100 * (i + 1) + 99), !(i % 2));
	}
	/* Each switch alternates, so the first known switch also gives the state before it. */
	ts_check_int(ts_pause_leaves_out(&pause, 100 * first + 50), !((first - 1) % 2));
}

TS_TEST(a_session_begins_stopped)
{
	struct ts_pause pause = {0};

	ts_pause_begin(&pause);
	ts_check(pause.paused);
	ts_check(ts_pause_leaves_out(&pause, 0) && ts_pause_leaves_out(&pause, 1000));
	ts_pause_publish(&pause, 500, false);
	ts_check(!pause.paused);
	ts_check(ts_pause_leaves_out(&pause, 499) && !ts_pause_leaves_out(&pause, 500));
}

TS_TEST(what_is_made_across_a_switch_shares_its_callers_lot)
{
	struct ts_pause pause = {0};
	uint64_t i;

	ts_pause_publish(&pause, 1000, true);
	ts_pause_stray(&pause, 1003);
	ts_check(!ts_pause_drops(&pause, 999) && !ts_pause_drops(&pause, 1003));
	ts_check(ts_pause_drops(&pause, 1002) && ts_pause_drops(&pause, 1004));
	ts_pause_publish(&pause, 2000, false);
	ts_pause_stray(&pause, 2001);
	ts_check(ts_pause_drops(&pause, 2001) && !ts_pause_drops(&pause, 2002));
	ts_check(!ts_pause_drops(&pause, 1003) && ts_pause_drops(&pause, 1004));
	/* The table keeps TS_PAUSE_STRAYS stray ids. */
	for (i = 0; i < TS_PAUSE_STRAYS; i++)
		ts_pause_stray(&pause, 3000 + i);
	ts_check(ts_pause_drops(&pause, 3000) &&
		 ts_pause_drops(&pause, 3000 + TS_PAUSE_STRAYS - 1));
	ts_check(!ts_pause_drops(&pause, 2001));
}
