/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the reason for which a session's recording, and with it the capture, ended before the
 * program did.
 */
#pragma once

#include "replay/report/report-pool.h"
#include "sbt/reader.h"

/*
 * Returns the reason in words, from the session's last row and the file's state. Returns NULL if
 * the recording did not end early or still runs. Ignores the capture's own end mark
 * (TS_OPERATION_END). `is_closed`: the last capture window was closed earlier, so the program's
 * death or the recording's end lost no captured operation.
 */
char *ts_ended_early(struct ts_sbt_reader *reader, uint32_t session, bool is_closed,
		     struct ts_pool *pool);

/*
 * Returns the signal that ended a session's program, for example "killed by SIGKILL". Returns NULL
 * if no signal ended it, or if the program was not the recording's own command.
 */
const char *ts_ended_by(struct ts_sbt_reader *reader, const struct ts_row_session *row);
