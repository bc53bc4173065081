/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows for people and for JSON.
 */
#include "replay/report/rowwalk.h"

#include "replay/report/openranges.h"

int ts_row_walk_init(struct ts_row_walk *walk, struct ts_sbt_reader *reader,
		     const struct ts_sbt_cursor_options *options, bool all_begins)
{
	struct ts_sbt_cursor_options rows = *options;
	int r;

	walk->reader = reader;
	if (rows.types & TS_ROW_BIT(TS_ROW_RANGE))
		rows.types |= TS_ROW_BIT(TS_ROW_RANGE_BEGIN);
	r = ts_sbt_cursor_new(reader, &rows, &walk->cursor);
	if (!r && !all_begins)
		r = ts_open_ranges_new(reader, rows.session, rows.from_ns, &walk->open_ranges);
	return r;
}

void ts_row_walk_deinit(struct ts_row_walk *walk)
{
	ts_open_ranges_free(walk->open_ranges);
	ts_sbt_cursor_free(walk->cursor);
}

int ts_row_walk_next(struct ts_row_walk *walk, struct ts_sbt_row *ret_row)
{
	int r;

	for (;;) {
		r = ts_sbt_cursor_next(walk->cursor, ret_row);
		if (!r && ret_row->type == TS_ROW_RANGE_BEGIN &&
		    !ts_open_ranges_is_open(walk->open_ranges, ret_row))
			continue;
		if (r != TS_SBT_E_CORRUPT)
			return r;
		if (!walk->is_damaged)
			walk->damage = *ts_sbt_reader_error(walk->reader);
		walk->is_damaged = true;
	}
}
