/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far `tsctl replay` is: a line on a terminal's stderr that changes in place, wiped before anything else is printed; or, where it
 * was asked for and stderr is none, a line every few seconds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "replay/report/replay/progress.h"

struct ts_progressline {
	bool is_asked; /* --progress */
	bool is_terminal, is_shown;
	uint64_t start_ns; /* of the replay that is under way */
	uint64_t said_ns;  /* the last line, where there is no terminal */
	uint32_t replay;
	const char *doing; /* a constant */
};

void ts_progressline_init(struct ts_progressline *progress, bool is_asked);
/* Whether anything will be shown: else nobody need tell. */
bool ts_progressline_is_wanted(const struct ts_progressline *progress);
/* As ts_replay_progress_new() takes it. */
void ts_progressline_draw(void *progress, const struct ts_replay_progress_now *now);
/* Before anything else is printed. */
void ts_progressline_wipe(struct ts_progressline *progress);
