/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal: whether there is one, how wide, whether it wants colour, and a progress line for work
 * that takes longer than a second. Everything degrades to plain text where output is not a terminal.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A terminal, TERM is not "dumb" and NO_COLOR (no-color.org) is unset or empty. */
bool ts_term_color(FILE *file);
/* Columns, or 0 where the file is no terminal: do not cut. */
unsigned int ts_term_width(FILE *file);

/* Lines, or 0 where the file is no terminal. */
unsigned int ts_term_height(FILE *file);

enum ts_style {
	TS_STYLE_PLAIN,
	TS_STYLE_BOLD,
	TS_STYLE_DIM,
	TS_STYLE_RED,
	TS_STYLE_GREEN,
	TS_STYLE_YELLOW,
};
/* The escape sequence that begins the style, or "" where the file takes none; PLAIN ends any. */
const char *ts_term_style(FILE *file, enum ts_style style);

/* Embed it, zeroed. `what` is borrowed. */
struct ts_progress {
	const char *what;
	uint64_t total; /* 0: not known */
	uint64_t start_ns;
	uint64_t shown_ns; /* 0: nothing is on the line */
	uint64_t done;	   /* of ts_progress_add() */
};

void ts_progress_init(struct ts_progress *progress, const char *what, uint64_t total);
/* Cheap enough for every few thousand rows. Shows at most ten times a second, on a terminal only. */
void ts_progress_step(struct ts_progress *progress, uint64_t done);
/* As ts_progress_step(), with the amount that was added. */
void ts_progress_add(struct ts_progress *progress, uint64_t more);
/* Wipes the line, if one was shown. */
void ts_progress_deinit(struct ts_progress *progress);
