/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds a blamer with slices of a trace, in threads (sbt/slices.h). Private to replay/state.
 */
#pragma once

#include "replay/state/gaps/blamer.h"

/* The sums are not valid: one thread has to compute them. Differs from the codes of sbt/error.h. */
#define TS_BLAME_SLICES_FAILED 261

/*
 * Feeds the rows of these options, with the result of ts_blamer_feed(). *ret_is_done is false if
 * nothing was fed: threads do not pay, or the rows of a thread are not independent of each other.
 * Returns 0, -ENOMEM, TS_BLAME_SLICES_FAILED, or the errors of sbt/reader.h.
 */
int ts_blame_slices(struct ts_blamer *blamer, const struct ts_sbt_cursor_options *options,
		    bool *ret_is_done);
