/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws live memory over time: see picture.h. tsctl and other programs call this file with an
 * answer of query.c. Each device has a panel with its own scale. A step is the largest live memory
 * in its column.
 */
#include "replay/report/pictures/picture.h"

#include "replay/report/pictures/figures.h"
#include "replay/report/pictures/picture-parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define MAX_PANELS   64u
#define SCALE_SPACE  74.0 /* labels of the y axis */
#define HEADER_SPACE 40.0
#define PEAK_SPACE   18.0 /* label of the peak */
#define PANEL_HEIGHT 130.0
#define PANEL_GAP    16.0
#define MORE_SPACE   18.0
#define MAX_TICKS    5u
#define NAME_BYTES   300u

struct picture {
	struct ts_svg svg;
	const struct ts_picture_options *options;
	struct ts_picture_axis axis;
	double width, y;
};

struct panel {
	const Ts__Rpc__MemoryCurve *curve;
	double top, bottom;
	uint64_t max_bytes; /* at the top */
};

static double height_of(const struct panel *panel, uint64_t bytes)
{
	double share = panel->max_bytes ? (double)bytes / (double)panel->max_bytes : 0;

	return panel->bottom - fmin(share, 1) * (panel->bottom - panel->top);
}

/* Returns the largest live memory in a column. */
static uint64_t column_bytes(const struct picture *picture, const Ts__Rpc__MemoryCurve *curve,
			     uint32_t column)
{
	uint64_t first = (uint64_t)column * picture->axis.n_merged, bytes = 0;

	for (uint64_t i = first; i < first + picture->axis.n_merged && i < curve->n_points; i++)
		if (curve->points[i]->bytes > bytes)
			bytes = curve->points[i]->bytes;
	return bytes;
}

static void draw_scale(struct picture *picture, struct panel *panel)
{
	const struct ts_picture_axis *axis = &picture->axis;
	struct ts_svg_label label = {.css_class = "small",
				     .x = axis->x - 8,
				     .width = SCALE_SPACE - 10,
				     .size = 11,
				     .anchor = TS_SVG_END};
	uint64_t step = 1;
	char text[TS_FIGURE_BYTES];

	while (step < UINT64_MAX / 4 && panel->max_bytes / step >= MAX_TICKS)
		step *= 2;
	ts_svg_rect(&picture->svg, "lane", axis->x, panel->top, axis->width,
		    panel->bottom - panel->top);
	ts_picture_grid(&picture->svg, axis, panel->top, panel->bottom - panel->top);
	ts_svg_raw(&picture->svg, "<path class=\"grid\" d=\"");
	for (uint64_t i = 0; i <= panel->max_bytes / step; i++) {
		ts_svg_raw(&picture->svg, "M");
		ts_svg_number(&picture->svg, axis->x);
		ts_svg_raw(&picture->svg, " ");
		ts_svg_number(&picture->svg, height_of(panel, i * step));
		ts_svg_raw(&picture->svg, "h");
		ts_svg_number(&picture->svg, axis->width);
	}
	ts_svg_raw(&picture->svg, "\"/>\n");
	for (uint64_t i = 0; i <= panel->max_bytes / step; i++) {
		label.y = height_of(panel, i * step) + 4;
		ts_figure_round_bytes(text, i * step);
		ts_svg_label(&picture->svg, &label, text, strlen(text));
	}
}

/* Appends the steps of the curve, from the left to the right edge. */
static void append_steps(struct picture *picture, const struct panel *panel)
{
	uint32_t n_columns = ts_picture_columns(&picture->axis);
	uint64_t last = 0;

	for (uint32_t i = 0; i < n_columns; i++) {
		uint64_t bytes = column_bytes(picture, panel->curve, i);

		if (i && bytes == last)
			continue;
		if (i) {
			ts_svg_raw(&picture->svg, "H");
			ts_svg_number(&picture->svg, ts_picture_column_x(&picture->axis, i));
			ts_svg_raw(&picture->svg, "V");
		}
		ts_svg_number(&picture->svg, height_of(panel, bytes));
		last = bytes;
	}
	ts_svg_raw(&picture->svg, "H");
	ts_svg_number(&picture->svg, picture->axis.x + picture->axis.width);
}

static void draw_curve(struct picture *picture, const struct panel *panel)
{
	ts_svg_raw(&picture->svg, "<path class=\"area\" d=\"M");
	ts_svg_number(&picture->svg, picture->axis.x);
	ts_svg_raw(&picture->svg, " ");
	ts_svg_number(&picture->svg, panel->bottom);
	ts_svg_raw(&picture->svg, "V");
	append_steps(picture, panel);
	ts_svg_raw(&picture->svg, "V");
	ts_svg_number(&picture->svg, panel->bottom);
	ts_svg_raw(&picture->svg, "z\"/>\n<path class=\"line\" d=\"M");
	ts_svg_number(&picture->svg, picture->axis.x);
	ts_svg_raw(&picture->svg, " ");
	append_steps(picture, panel);
	ts_svg_raw(&picture->svg, "\"/>\n");
}

/* Draws invisible rectangles with the bytes of each step. */
static void draw_tooltips(struct picture *picture, const struct panel *panel)
{
	uint32_t n_columns = ts_picture_columns(&picture->axis), first = 0;
	uint64_t last = column_bytes(picture, panel->curve, 0);
	char text[TS_FIGURE_BYTES], count[TS_FIGURE_BYTES];

	ts_svg_raw(&picture->svg, "<g class=\"hover\">\n");
	for (uint32_t i = 1; i <= n_columns; i++) {
		uint64_t bytes = i < n_columns ? column_bytes(picture, panel->curve, i) : 0;
		double x = ts_picture_column_x(&picture->axis, first);

		if (i < n_columns && bytes == last)
			continue;
		ts_svg_rect_begin(&picture->svg, NULL, x, panel->top,
				  ts_picture_column_x(&picture->axis, i) - x,
				  panel->bottom - panel->top);
		ts_picture_span(&picture->svg, &picture->axis, first, i);
		ts_svg_rawf(&picture->svg, ": at most %s (%s bytes)", ts_figure_bytes(text, last),
			    ts_figure_count(count, last));
		ts_svg_rect_end(&picture->svg);
		first = i;
		last = bytes;
	}
	ts_svg_raw(&picture->svg, "</g>\n");
}

/* Draws a horizontal line. */
static void draw_level(struct picture *picture, const struct panel *panel, const char *class,
		       uint64_t bytes)
{
	ts_svg_rawf(&picture->svg, "<path class=\"%s\" d=\"M", class);
	ts_svg_number(&picture->svg, picture->axis.x);
	ts_svg_raw(&picture->svg, " ");
	ts_svg_number(&picture->svg, height_of(panel, bytes));
	ts_svg_raw(&picture->svg, "h");
	ts_svg_number(&picture->svg, picture->axis.width);
	ts_svg_raw(&picture->svg, "\"/>\n");
}

static void draw_peak(struct picture *picture, const struct panel *panel)
{
	const struct ts_picture_axis *axis = &picture->axis;
	const Ts__Rpc__MemoryCurve *curve = panel->curve;
	uint64_t origin_ns = picture->options->origin_ns;
	uint64_t at_ns = curve->peak_ns > origin_ns ? curve->peak_ns - origin_ns : 0;
	double x = ts_picture_time_x(axis, curve->peak_ns), y = height_of(panel, curve->peak_bytes);
	struct ts_svg_label label = {.css_class = "small", .y = y - 6, .width = 230, .size = 11};
	char text[TS_FIGURE_BYTES], time[TS_FIGURE_BYTES];

	draw_level(picture, panel, "peak", curve->peak_bytes);
	ts_svg_raw(&picture->svg, "<circle class=\"dot\" cx=\"");
	ts_svg_number(&picture->svg, x);
	ts_svg_raw(&picture->svg, "\" cy=\"");
	ts_svg_number(&picture->svg, y);
	ts_svg_raw(&picture->svg, "\" r=\"3.5\"/>\n");
	label.anchor = x > axis->x + axis->width / 2 ? TS_SVG_END : TS_SVG_START;
	label.x = label.anchor == TS_SVG_END ? fmin(x + 4, axis->x + axis->width)
					     : fmax(x - 4, axis->x);
	label.width =
		fmin(label.width, label.anchor == TS_SVG_END ? label.x - axis->x
							     : axis->x + axis->width - label.x);
	ts_svg_labelf(&picture->svg, &label, "peak %s at %s",
		      ts_figure_bytes(text, curve->peak_bytes),
		      ts_figure_exact(time, at_ns, axis->max_ns));
}

static void draw_header(struct picture *picture, const Ts__Rpc__MemoryCurve *curve, bool is_sum)
{
	double width = picture->width - 2 * TS_PICTURE_MARGIN;
	struct ts_svg_label label = {.css_class = "head",
				     .x = TS_PICTURE_MARGIN,
				     .y = picture->y + 13,
				     .width = width,
				     .size = 14};
	char name[NAME_BYTES], text[NAME_BYTES], peak[TS_FIGURE_BYTES], figure[TS_FIGURE_BYTES];
	char share[TS_FIGURE_BYTES];
	int n;

	if (is_sum)
		snprintf(name, sizeof(name), "All GPUs");
	else if (curve->has_device)
		snprintf(name, sizeof(name), "GPU %" PRIu32 "%s%.200s", curve->device,
			 curve->name ? ": " : "", curve->name ? curve->name : "");
	else
		snprintf(name, sizeof(name), "unknown GPU");
	ts_svg_label(&picture->svg, &label, name, strlen(name));
	n = snprintf(text, sizeof(text), "at most %s", ts_figure_bytes(peak, curve->peak_bytes));
	if (curve->has_capacity_bytes)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " of %s (%s)",
			      ts_figure_bytes(figure, curve->capacity_bytes),
			      ts_figure_percent(share, curve->peak_bytes, curve->capacity_bytes));
	if (curve->has_live_bytes)
		snprintf(text + n, sizeof(text) - (size_t)n, ", %s at the end",
			 ts_figure_bytes(figure, curve->live_bytes));
	label = (struct ts_svg_label){.css_class = "dim",
				      .x = TS_PICTURE_MARGIN,
				      .y = picture->y + 30,
				      .width = width,
				      .size = 12};
	ts_svg_label(&picture->svg, &label, text, strlen(text));
	picture->y += HEADER_SPACE;
}

static void draw_panel(struct picture *picture, const Ts__Rpc__MemoryCurve *curve, bool is_sum)
{
	struct panel panel = {.curve = curve, .max_bytes = curve->peak_bytes};
	bool is_near = curve->has_capacity_bytes && curve->peak_bytes >= curve->capacity_bytes / 3;

	draw_header(picture, curve, is_sum);
	panel.top = picture->y + PEAK_SPACE;
	panel.bottom = panel.top + PANEL_HEIGHT;
	if (is_near && curve->capacity_bytes > panel.max_bytes)
		panel.max_bytes = curve->capacity_bytes;
	panel.max_bytes = panel.max_bytes ? panel.max_bytes : 1;
	draw_scale(picture, &panel);
	draw_curve(picture, &panel);
	if (is_near)
		draw_level(picture, &panel, "limit", curve->capacity_bytes);
	if (curve->peak_bytes)
		draw_peak(picture, &panel);
	draw_tooltips(picture, &panel);
	ts_picture_ticks(&picture->svg, &picture->axis, panel.bottom + 15);
	picture->y = panel.bottom + TS_PICTURE_AXIS_SPACE + PANEL_GAP;
}

/* Makes a curve of the points that every answer has. */
static Ts__Rpc__MemoryCurve sum_of(const Ts__Rpc__MemoryReport *report)
{
	Ts__Rpc__MemoryCurve sum = TS__RPC__MEMORY_CURVE__INIT;

	sum.has_capacity_bytes = report->has_capacity_bytes;
	sum.capacity_bytes = report->capacity_bytes;
	sum.peak_bytes = report->peak_bytes;
	sum.peak_ns = report->peak_ns;
	sum.n_points = report->n_points;
	sum.points = report->points;
	return sum;
}

static void init_axis(struct picture *picture, const Ts__Rpc__MemoryReport *report,
		      const Ts__Rpc__MemoryCurve *const *curves, size_t n_curves)
{
	size_t n_points = 1;
	uint64_t start_ns = 0, part_ns = 1;

	for (size_t i = 0; i < n_curves; i++)
		if (curves[i]->n_points > n_points)
			n_points = curves[i]->n_points;
	if (n_curves && curves[0]->n_points) {
		const Ts__Rpc__MemoryCurve *curve = curves[0];

		start_ns = curve->points[0]->start_ns;
		if (curve->n_points > 1 && curve->points[1]->start_ns > start_ns)
			part_ns = curve->points[1]->start_ns - start_ns;
		else if (report->curves && report->curves->end_ns > start_ns)
			part_ns = report->curves->end_ns - start_ns;
	}
	picture->axis.x = TS_PICTURE_MARGIN + SCALE_SPACE;
	picture->axis.width = picture->width - picture->axis.x - TS_PICTURE_MARGIN;
	ts_picture_axis_init(&picture->axis, start_ns, part_ns,
			     n_points < UINT32_MAX ? (uint32_t)n_points : UINT32_MAX,
			     picture->options->origin_ns,
			     (uint32_t)(TS_PICTURE_ELEMENTS / (n_curves ? n_curves : 1)));
}

/* Orders the panels by device: the answer has the device first that allocated first. */
static void sort_by_device(const Ts__Rpc__MemoryCurve **curves, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		const Ts__Rpc__MemoryCurve *curve = curves[i];
		size_t j = i;

		for (; j && curves[j - 1]->device > curve->device; j--)
			curves[j] = curves[j - 1];
		curves[j] = curve;
	}
}

static void draw(struct picture *picture, const Ts__Rpc__MemoryReport *report)
{
	const Ts__Rpc__MemoryCurve *curves[MAX_PANELS];
	Ts__Rpc__MemoryCurve sum = sum_of(report);
	size_t n_curves = report->curves ? report->curves->n_devices : 0;
	bool is_sum = !n_curves && report->n_points;
	size_t n = is_sum ? 1 : n_curves < MAX_PANELS ? n_curves : MAX_PANELS;
	uint64_t n_omitted = report->curves ? report->curves->omitted : 0;
	char peak[TS_FIGURE_BYTES], text[2 * TS_FIGURE_BYTES];

	for (size_t i = 0; i < n; i++)
		curves[i] = is_sum ? &sum : report->curves->devices[i];
	sort_by_device(curves, n);
	picture->width = ts_picture_width(picture->options);
	init_axis(picture, report, curves, n);
	ts_svg_begin(&picture->svg, picture->width,
		     TS_PICTURE_TITLE_SPACE + 6 + (n_omitted ? MORE_SPACE : 0) +
			     (double)n * (HEADER_SPACE + PEAK_SPACE + PANEL_HEIGHT +
					  TS_PICTURE_AXIS_SPACE + PANEL_GAP),
		     "Live memory of GPUs over time");
	if (n)
		snprintf(text, sizeof(text), "Live GPU memory over time, at most %s in all",
			 ts_figure_bytes(peak, report->peak_bytes));
	else
		snprintf(text, sizeof(text), "Live GPU memory: no GPU memory was allocated");
	ts_picture_title(&picture->svg, picture->options, text, report->damaged);
	picture->y = TS_PICTURE_TITLE_SPACE + 6;
	for (size_t i = 0; i < n; i++)
		draw_panel(picture, curves[i], is_sum);
	if (n_omitted) {
		struct ts_svg_label label = {.css_class = "small",
					     .x = TS_PICTURE_MARGIN,
					     .y = picture->y + 6,
					     .width = picture->width - 2 * TS_PICTURE_MARGIN,
					     .size = 11};

		ts_svg_labelf(&picture->svg, &label,
			      "%s allocations and frees on further GPUs are not shown",
			      ts_figure_count(text, n_omitted));
	}
}

int ts_picture_memory(const Ts__Rpc__MemoryReport *report, const struct ts_picture_options *options,
		      char **ret_svg, size_t *ret_n_bytes)
{
	struct picture picture = {.options = options};
	int r;

	draw(&picture, report);
	r = ts_svg_finish(&picture.svg, ret_svg, ret_n_bytes);
	if (r)
		ts_svg_deinit(&picture.svg);
	return r;
}
