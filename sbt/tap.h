/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second reader of a cursor's rows, for callers inside this project that make several sums of one
 * walk. The sums that need no result of the caller's own work go into the tap, and are made by the
 * thread that reads ahead.
 */
#pragma once

#include "sbt/reader.h"

/*
 * Sees each row before ts_sbt_cursor_next() returns it, in the same order. Returns 0, or an error
 * that ts_sbt_cursor_next() returns in place of the row.
 */
typedef int (*ts_sbt_tap_fn)(const struct ts_sbt_row *row, void *data);

/*
 * Sets the tap of a cursor before its first row. A thread may call on_row() while the caller works
 * on earlier rows: the caller uses `data` again after TS_SBT_E_END or ts_sbt_cursor_free(). In
 * on_row() the reader may be asked for sessions, threads and devices, and for nothing else.
 */
void ts_sbt_cursor_tap(struct ts_sbt_cursor *cursor, ts_sbt_tap_fn on_row, void *data);
