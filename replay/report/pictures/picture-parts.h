/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts that several pictures have: the title, the axis of time, and samples that are merged into
 * columns. Private to replay/report/pictures.
 */
#pragma once

#include "replay/report/pictures/picture.h"
#include "replay/report/pictures/svg.h"

#define TS_PICTURE_MARGIN      16.0
#define TS_PICTURE_TITLE_SPACE 54.0 /* height of ts_picture_title(), with the margin above */
#define TS_PICTURE_AXIS_SPACE  20.0 /* height of the axis' labels */
#define TS_PICTURE_ELEMENTS    12000u

/* Returns the width in pixels. */
double ts_picture_width(const struct ts_picture_options *options);
/* Draws the title. `is_damaged`: the subtitle states that rows are missing. */
void ts_picture_title(struct ts_svg *svg, const struct ts_picture_options *options,
		      const char *subtitle, bool is_damaged);

/* Equal samples of time on the x axis. */
struct ts_picture_axis {
	double x, width;
	uint64_t start_ns, part_ns, origin_ns;
	uint32_t n_parts;
	uint32_t n_merged; /* parts in a column */
	uint64_t step_ns;  /* between ticks */
	uint64_t first_tick_ns;
	uint32_t n_ticks;
	uint64_t max_ns; /* largest time that is shown */
};

/*
 * Prepares an axis of n_parts samples, from axis->x and axis->width. A column is at least a pixel
 * wide, and there are at most max_columns.
 */
void ts_picture_axis_init(struct ts_picture_axis *axis, uint64_t start_ns, uint64_t part_ns,
			  uint32_t n_parts, uint64_t origin_ns, uint32_t max_columns);
uint32_t ts_picture_columns(const struct ts_picture_axis *axis);
/* Returns the position of a column's left edge. */
double ts_picture_column_x(const struct ts_picture_axis *axis, uint32_t column);
/* Appends "12.5 ms to 13 ms" for the columns from first to before last. */
void ts_picture_span(struct ts_svg *svg, const struct ts_picture_axis *axis, uint32_t first,
		     uint32_t last);
/* Draws vertical lines at the ticks. */
void ts_picture_grid(struct ts_svg *svg, const struct ts_picture_axis *axis, double y,
		     double height);
/* Draws the ticks' times; `y` is the baseline. */
void ts_picture_ticks(struct ts_svg *svg, const struct ts_picture_axis *axis, double y);
/* Returns a position on the axis. */
double ts_picture_time_x(const struct ts_picture_axis *axis, uint64_t ns);

struct ts_picture_legend {
	const char *class, *text;
};

/* Draws squares with their meanings in a line. */
void ts_picture_legend(struct ts_svg *svg, const struct ts_picture_legend *entries, size_t n,
		       double y, double width);
