/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the rows of an export's pass, and goes on after damage. The exporters of rows and of sums
 * call this file.
 */
#pragma once

#include "sbt/error.h"
#include "sbt/reader.h"
#include "tools/export/export.h"

/*
 * Reads the next row. Skips damaged blocks, and records the first damage in the report. Returns 0,
 * TS_SBT_E_END, or an error that ends the pass.
 */
static inline int ts_export_next_row(struct ts_sbt_reader *reader, struct ts_sbt_cursor *cursor,
				     struct ts_export_report *report, struct ts_sbt_row *ret_row)
{
	int r;

	while ((r = ts_sbt_cursor_next(cursor, ret_row)) == TS_SBT_E_CORRUPT) {
		if (!report->damaged)
			report->damage = *ts_sbt_reader_error(reader);
		report->damaged = true;
	}
	return r;
}
