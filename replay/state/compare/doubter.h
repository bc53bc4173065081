/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the doubts of a trace, for callers that need nothing else of the state machine. The
 * machine may work in a thread of its own. Private to compare/. Functions return 0, -ENOMEM,
 * TS_E_STREAMS or the errors of sbt/reader.h.
 */
#pragma once

#include "replay/state/doubts.h"
#include "sbt/reader.h"

struct ts_doubter;

/*
 * Makes a machine and feeds it the streams of the whole trace. The doubts are added to *doubts,
 * which belongs to the doubter until ts_doubter_finish() or ts_doubter_free().
 */
int ts_doubter_new(struct ts_sbt_reader *reader, struct ts_doubts *doubts,
		   struct ts_doubter **ret_doubter);

/* Feeds a row. An error may belong to an earlier row. */
int ts_doubter_feed(struct ts_doubter *doubter, const struct ts_sbt_row *row);

/* Adds the last doubts, after the last row. */
int ts_doubter_finish(struct ts_doubter *doubter);

void ts_doubter_free(struct ts_doubter *doubter); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_doubter *, ts_doubter_freep, ts_doubter_free)
