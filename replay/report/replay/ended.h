/* SPDX-License-Identifier: Apache-2.0 */
/* Why a session's recording, and what was captured with it, ends before its program did. */
#pragma once

#include "replay/report/report-pool.h"
#include "sbt/reader.h"

/*
 * In words, as the session's last row and the file's state tell; NULL: it does not, or it is being recorded yet. What the capture
 * itself says of its end (TS_OPERATION_END) is not looked at. `is_closed`: its last window was closed before; then a program that died,
 * and a recording that ended, took nothing of it.
 */
char *ts_ended_early(struct ts_sbt_reader *reader, uint32_t session, bool is_closed,
		     struct ts_pool *pool);

/* The signal that ended a session's program, "killed by SIGKILL", where it was the recording's own command; else NULL. */
const char *ts_ended_by(struct ts_sbt_reader *reader, const struct ts_row_session *row);
