/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The progress of `tsctl replay`. On a terminal, stderr has a line that changes in place; it is
 * wiped before other output. With --progress and no terminal, a new line is printed every few
 * seconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "replay/report/replay/progress.h"

struct ts_progressline {
	bool is_asked; /* --progress */
	bool is_terminal, is_shown;
	uint64_t start_ns; /* of the current replay */
	uint64_t said_ns;  /* time of the last line, without a terminal */
	uint32_t replay;
	const char *doing; /* a constant string */
};

void ts_progressline_init(struct ts_progressline *progress, bool is_asked);
/* True if progress is shown. Otherwise the replay need not report it. */
bool ts_progressline_is_wanted(const struct ts_progressline *progress);
/* A callback for ts_replay_progress_new(). */
void ts_progressline_draw(void *progress, const struct ts_replay_progress_now *now);
/* Call it before any other output. */
void ts_progressline_wipe(struct ts_progressline *progress);
