/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal: its presence, size and colours, and a progress line for work that takes longer than
 * a second. Without a terminal, output is plain text.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * True if the file is a terminal, TERM is not "dumb", and NO_COLOR (no-color.org) is unset or
 * empty.
 */
bool ts_term_color(FILE *file);
/* Returns the number of columns; 0 if the file is no terminal, and lines must not be cut. */
unsigned int ts_term_width(FILE *file);

/* Returns the number of lines; 0 if the file is no terminal. */
unsigned int ts_term_height(FILE *file);

enum ts_style {
	TS_STYLE_PLAIN,
	TS_STYLE_BOLD,
	TS_STYLE_DIM,
	TS_STYLE_RED,
	TS_STYLE_GREEN,
	TS_STYLE_YELLOW,
};
/*
 * Returns the escape sequence that begins the style, or "" if the file has no colours. PLAIN ends
 * any style.
 */
const char *ts_term_style(FILE *file, enum ts_style style);

/* Embed it, zeroed. `what` is borrowed. */
struct ts_progress {
	const char *what;
	uint64_t total;	  /* 0: unknown */
	bool is_terminal; /* stderr is one: else nothing is shown */
	uint64_t start_ns;
	uint64_t shown_ns; /* 0: nothing is shown */
	uint64_t done;	   /* sum of ts_progress_add() */
};

void ts_progress_init(struct ts_progress *progress, const char *what, uint64_t total);
/*
 * Updates the progress line, at most ten times per second, on a terminal only. Cheap enough to call
 * every few thousand rows.
 */
void ts_progress_step(struct ts_progress *progress, uint64_t done);
/* As ts_progress_step(), with an increment. */
void ts_progress_add(struct ts_progress *progress, uint64_t more);
/* Returns the number of lines of a text of whole lines, for ts_progress_add(). */
uint64_t ts_count_lines(const char *lines, size_t n_bytes);
/* Wipes the line, if one was shown. */
void ts_progress_deinit(struct ts_progress *progress);
