/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl watch` on a terminal: sessions in place, over and over. Nothing is written beyond the screen's lines and columns.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"

#include <stdbool.h>

struct ts_watchscreen {
	unsigned int width, height, line; /* lines that are written */
	bool is_cleared;
};

void ts_watchscreen_begin(struct ts_watchscreen *screen);
void ts_watchscreen_session(struct ts_watchscreen *screen, const Ts__Rpc__WatchLine *line);
/* Wipes what the last one left below. */
void ts_watchscreen_end(struct ts_watchscreen *screen);
