/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects recordings that end before their program. execjson.c and `tsctl info` call this file.
 *
 * A truncated capture looks complete: its operations are in order and none is missing. Only the
 * session's end row shows that the program had, or may have had, more operations.
 */
#include "replay/report/replay/ended.h"

#include "proto/abi/base.h"

#include <stdlib.h>

const char *ts_ended_by(struct ts_sbt_reader *reader, const struct ts_row_session *row)
{
	const char *pid = ts_sbt_reader_metadata(reader, TS_METADATA_COMMAND_PID);

	if (row->ended != TS_SESSION_END_DIED || !pid || strtoul(pid, NULL, 10) != row->pid)
		return NULL;
	return ts_sbt_reader_metadata(reader, TS_METADATA_COMMAND_END);
}

char *ts_ended_early(struct ts_sbt_reader *reader, uint32_t session, bool is_closed,
		     struct ts_pool *pool)
{
	static const char *const why[] = {
		[TS_SESSION_END_NONE] = "the recording has no end: the daemon is gone, or the file "
					"is cut off",
		[TS_SESSION_END_DIED] = "the program died",
		[TS_SESSION_END_STOPPED] = "the recording ended before the program",
		[TS_SESSION_END_BAD_DATA] = "the program's records were malformed",
		[TS_SESSION_END_DAEMON] = "the daemon could not continue the recording",
	};
	const struct ts_row_session *row = ts_sbt_reader_session(reader, session);
	const char *signal;

	if (!row || row->ended >= TS_ARRAY_LEN(why) || !why[row->ended] ||
	    (row->ended == TS_SESSION_END_NONE && ts_sbt_reader_state(reader) == TS_SBT_GROWING))
		return NULL;
	if (is_closed &&
	    (row->ended == TS_SESSION_END_DIED || row->ended == TS_SESSION_END_STOPPED))
		return NULL;
	signal = ts_ended_by(reader, row);
	return signal ? ts_pool_printf(pool, "the program was %s", signal)
		      : ts_pool_copy(pool, why[row->ended]);
}
