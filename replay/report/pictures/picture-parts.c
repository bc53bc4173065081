/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws the parts that several pictures have: see picture-parts.h. The pictures of this folder call
 * this file; this file calls svg.c and figures.c.
 */
#include "replay/report/pictures/picture-parts.h"

#include "replay/report/pictures/figures.h"

#include <math.h>

#define TICK_SPACE 96.0 /* least distance of ticks */

double ts_picture_width(const struct ts_picture_options *options)
{
	uint32_t width = options->width ? options->width : TS_PICTURE_DEFAULT_WIDTH;

	return width < TS_PICTURE_MIN_WIDTH   ? TS_PICTURE_MIN_WIDTH
	       : width > TS_PICTURE_MAX_WIDTH ? TS_PICTURE_MAX_WIDTH
					      : width;
}

uint32_t ts_picture_parts(uint32_t width)
{
	const struct ts_picture_options options = {.width = width};

	/* Two pixels for each part, without the margins: a column is seen and can be pointed at. */
	return (uint32_t)(ts_picture_width(&options) * 0.8 / 2);
}

void ts_picture_title(struct ts_svg *svg, const struct ts_picture_options *options,
		      const char *subtitle, bool is_damaged)
{
	double width = ts_picture_width(options) - 2 * TS_PICTURE_MARGIN;
	struct ts_svg_label label = {
		.css_class = "title", .x = TS_PICTURE_MARGIN, .y = 28, .width = width, .size = 17};
	const char *title = options->title ? options->title : "TraceSmith";

	ts_svg_label(svg, &label, title, strlen(title));
	label = (struct ts_svg_label){
		.css_class = "dim", .x = TS_PICTURE_MARGIN, .y = 47, .width = width, .size = 12};
	ts_svg_labelf(svg, &label, "%s%s", subtitle,
		      is_damaged ? "; rows are missing: the trace is damaged" : "");
}

/* Returns the smallest of 1, 2, 5, 10, 20, ... that is not below `least`. */
static uint64_t round_step(double least)
{
	uint64_t power = 1;

	while (power < UINT64_MAX / 100 && (double)power * 10 <= least)
		power *= 10;
	for (uint64_t factor = 1; factor < 10; factor += factor == 2 ? 3 : factor == 5 ? 5 : 1)
		if ((double)(power * factor) >= least)
			return power * factor;
	return power * 10;
}

static uint64_t relative(const struct ts_picture_axis *axis, uint64_t ns)
{
	return ns > axis->origin_ns ? ns - axis->origin_ns : 0;
}

/* Returns the time at which a column begins, at most UINT64_MAX. */
static uint64_t column_ns(const struct ts_picture_axis *axis, uint32_t column)
{
	uint64_t part = (uint64_t)column * axis->n_merged, ns;

	part = part < axis->n_parts ? part : axis->n_parts;
	if (__builtin_mul_overflow(part, axis->part_ns, &ns) ||
	    __builtin_add_overflow(axis->start_ns, ns, &ns))
		return UINT64_MAX;
	return ns;
}

void ts_picture_axis_init(struct ts_picture_axis *axis, uint64_t start_ns, uint64_t part_ns,
			  uint32_t n_parts, uint64_t origin_ns, uint32_t max_columns)
{
	uint64_t first_ns;

	axis->start_ns = start_ns;
	axis->part_ns = part_ns ? part_ns : 1;
	axis->n_parts = n_parts ? n_parts : 1;
	axis->origin_ns = origin_ns;
	axis->n_merged = 1;
	if (max_columns > axis->width)
		max_columns = (uint32_t)axis->width;
	if (max_columns < 1)
		max_columns = 1;
	axis->n_merged = axis->n_parts / max_columns + (axis->n_parts % max_columns != 0);
	axis->max_ns = relative(axis, column_ns(axis, ts_picture_columns(axis)));
	axis->step_ns =
		round_step((double)axis->part_ns * axis->n_parts * TICK_SPACE / axis->width);
	first_ns = relative(axis, start_ns);
	if (first_ns % axis->step_ns &&
	    __builtin_add_overflow(first_ns, axis->step_ns - first_ns % axis->step_ns, &first_ns))
		first_ns = UINT64_MAX;
	axis->first_tick_ns = first_ns;
	axis->n_ticks = first_ns > axis->max_ns
				? 0
				: (uint32_t)((axis->max_ns - first_ns) / axis->step_ns + 1);
}

uint32_t ts_picture_columns(const struct ts_picture_axis *axis)
{
	return axis->n_parts / axis->n_merged + (axis->n_parts % axis->n_merged != 0);
}

double ts_picture_column_x(const struct ts_picture_axis *axis, uint32_t column)
{
	double parts = (double)column * axis->n_merged;

	return axis->x + axis->width * fmin(parts, axis->n_parts) / axis->n_parts;
}

double ts_picture_time_x(const struct ts_picture_axis *axis, uint64_t ns)
{
	double parts =
		ns > axis->start_ns ? (double)(ns - axis->start_ns) / (double)axis->part_ns : 0;

	return axis->x + axis->width * fmin(parts / axis->n_parts, 1);
}

void ts_picture_span(struct ts_svg *svg, const struct ts_picture_axis *axis, uint32_t first,
		     uint32_t last)
{
	char from[TS_FIGURE_BYTES], to[TS_FIGURE_BYTES];

	ts_svg_rawf(svg, "%s to %s",
		    ts_figure_exact(from, relative(axis, column_ns(axis, first)), axis->max_ns),
		    ts_figure_exact(to, relative(axis, column_ns(axis, last)), axis->max_ns));
}

static double tick_x(const struct ts_picture_axis *axis, uint64_t ns)
{
	return ts_picture_time_x(axis, ns + axis->origin_ns);
}

void ts_picture_grid(struct ts_svg *svg, const struct ts_picture_axis *axis, double y,
		     double height)
{
	ts_svg_raw(svg, "<path class=\"grid\" d=\"");
	for (uint32_t i = 0; i < axis->n_ticks; i++) {
		ts_svg_raw(svg, "M");
		ts_svg_number(svg, tick_x(axis, axis->first_tick_ns + i * axis->step_ns));
		ts_svg_raw(svg, " ");
		ts_svg_number(svg, y);
		ts_svg_raw(svg, "v");
		ts_svg_number(svg, height);
	}
	ts_svg_raw(svg, "\"/>\n");
}

void ts_picture_ticks(struct ts_svg *svg, const struct ts_picture_axis *axis, double y)
{
	struct ts_svg_label label = {.css_class = "small",
				     .y = y,
				     .width = TICK_SPACE - 6,
				     .size = 11,
				     .anchor = TS_SVG_MIDDLE};
	const double end = axis->x + axis->width + TS_PICTURE_MARGIN;
	char text[TS_FIGURE_BYTES];

	for (uint32_t i = 0; i < axis->n_ticks; i++) {
		uint64_t ns = axis->first_tick_ns + i * axis->step_ns;

		ts_figure_exact(text, ns, axis->max_ns);
		label.x = tick_x(axis, ns);
		if (label.x + ts_svg_width(text, strlen(text), label.size) / 2 <= end)
			ts_svg_label(svg, &label, text, strlen(text));
	}
}

void ts_picture_legend(struct ts_svg *svg, const struct ts_picture_legend *entries, size_t n,
		       double y, double width)
{
	struct ts_svg_label label = {.css_class = "small", .y = y, .size = 11};
	double x = TS_PICTURE_MARGIN;

	for (size_t i = 0; i < n; i++) {
		size_t n_bytes = strlen(entries[i].text);
		double text_width = ts_svg_width(entries[i].text, n_bytes, label.size);

		if (x + 16 + text_width > width - TS_PICTURE_MARGIN)
			break;
		ts_svg_rect(svg, entries[i].class, x, y - 9, 10, 10);
		label.x = x + 16;
		label.width = text_width + 1;
		ts_svg_label(svg, &label, entries[i].text, n_bytes);
		x += text_width + 34;
	}
}
