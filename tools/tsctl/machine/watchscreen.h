/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl watch` on a terminal: redraws the sessions in place, within the screen's lines and
 * columns.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"

#include <stdbool.h>

struct ts_watchscreen {
	unsigned int width, height, line; /* `line`: lines written */
	bool is_cleared;
};

void ts_watchscreen_begin(struct ts_watchscreen *screen);
void ts_watchscreen_session(struct ts_watchscreen *screen, const Ts__Rpc__WatchLine *line);
/* Clears the rest of the previous screen. */
void ts_watchscreen_end(struct ts_watchscreen *screen);
