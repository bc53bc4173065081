/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws a timeline: see picture.h. tsctl and other programs call this file with an answer of
 * query.c. Each device has a header, lanes of its own and a lane for each stream. The height of a
 * bar is the busy share of its column. Columns of equal height are one rectangle.
 */
#include "replay/report/pictures/picture.h"

#include "replay/report/pictures/figures.h"
#include "replay/report/pictures/picture-parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define MAX_DEVICES  64u
#define MAX_LANES    160u
#define SHARE_SPACE  58.0
#define DEVICE_SPACE 38.0 /* name and figures of a device */
#define STREAM_LANE  18.0
#define DEVICE_LANE  26.0
#define LANE_GAP     3.0
#define DEVICE_GAP   14.0
#define MORE_SPACE   18.0
#define LEGEND_SPACE 20.0
#define MIN_BAR	     1.0
/* With this number of columns, no picture has more than TS_PICTURE_ELEMENTS bars. */
#define MIN_COLUMNS  30u
#define NAME_BYTES   300u
#define WITH_COMPUTE 1u
#define WITH_COPIES  2u

struct picture {
	struct ts_svg svg;
	const Ts__Rpc__TimelineReport *report;
	const struct ts_picture_options *options;
	struct ts_picture_axis axis;
	size_t n_devices;
	size_t max_streams; /* lanes of streams of one device */
	bool many_sessions;
	size_t n_bars;
	double width, label_width, y;
};

static size_t n_device_parts(const Ts__Rpc__TimelineDevice *device)
{
	return device->parts ? device->parts->n_parts : 0;
}

static uint64_t window_ns(const struct picture *picture)
{
	const Ts__Rpc__TimelineReport *report = picture->report;

	return report->end_ns > report->start_ns ? report->end_ns - report->start_ns : 0;
}

/* ---- bars ------------------------------------------------------------------------------------ */

/* A column of a lane: the work, and the heights of its bars in tenths of a pixel. */
struct column {
	uint64_t ns[2]; /* compute, copies */
	uint64_t whole_ns;
	int64_t height[2];
};

static void fill_column(const struct ts_picture_axis *axis, Ts__Rpc__TimelinePart *const *parts,
			size_t n_parts, uint32_t at, unsigned int works, double height,
			struct column *ret_column)
{
	uint64_t first = (uint64_t)at * axis->n_merged;
	double scale = height * 10;

	*ret_column = (struct column){0};
	for (uint64_t i = first; i < first + axis->n_merged && i < n_parts; i++) {
		if (works & WITH_COMPUTE)
			ret_column->ns[0] += parts[i]->compute_ns;
		if (works & WITH_COPIES)
			ret_column->ns[1] += parts[i]->copy_ns;
	}
	for (uint64_t i = first; i < first + axis->n_merged && i < axis->n_parts; i++)
		ret_column->whole_ns += axis->part_ns;
	for (int i = 0; i < 2; i++) {
		double share = ret_column->whole_ns
				       ? (double)ret_column->ns[i] / (double)ret_column->whole_ns
				       : 0;

		ret_column->height[i] = llround(fmin(share, 1) * scale);
		if (ret_column->ns[i] && ret_column->height[i] < (int64_t)(MIN_BAR * 10))
			ret_column->height[i] = (int64_t)(MIN_BAR * 10);
	}
}

struct run {
	uint32_t first, last; /* columns; `last` is behind the run */
	uint64_t ns[2], whole_ns;
	int64_t height[2];
};

static void draw_bar(struct picture *picture, const struct run *run, unsigned int works, int work,
		     double y, double lane_height)
{
	static const char *const names[] = {"kernels", "copies"};
	double x = ts_picture_column_x(&picture->axis, run->first);
	double height = (double)run->height[work] / 10;
	double below = work && (works & WITH_COMPUTE) ? (double)run->height[0] / 10 : 0;
	char share[TS_FIGURE_BYTES];

	/* If there are too many bars, the picture is drawn again with wider columns. */
	if (picture->n_bars++ >= TS_PICTURE_ELEMENTS)
		return;
	/* Copies are above kernels, or over them where both ran all the time. */
	below = fmin(below, lane_height - height);
	ts_svg_rect_begin(&picture->svg, NULL, x, y + lane_height - below - height,
			  ts_picture_column_x(&picture->axis, run->last) - x, height);
	ts_picture_span(&picture->svg, &picture->axis, run->first, run->last);
	for (int i = 0; i < 2; i++)
		if (run->ns[i])
			ts_svg_rawf(&picture->svg, ", %s %s", names[i],
				    ts_figure_percent(share, run->ns[i], run->whole_ns));
	ts_svg_rect_end(&picture->svg);
}

/* Draws the bars of one kind of work. */
static void draw_bars(struct picture *picture, Ts__Rpc__TimelinePart *const *parts, size_t n_parts,
		      unsigned int works, int work, double y, double height)
{
	static const char *const classes[] = {"compute", "copy"};
	uint32_t n_columns = ts_picture_columns(&picture->axis);
	struct run run = {0};

	ts_svg_rawf(&picture->svg, "<g class=\"bars %s\">\n", classes[work]);
	for (uint32_t i = 0; i <= n_columns; i++) {
		struct column column = {0};

		if (i < n_columns)
			fill_column(&picture->axis, parts, n_parts, i, works, height, &column);
		if (i == n_columns || column.height[0] != run.height[0] ||
		    column.height[1] != run.height[1]) {
			run.last = i;
			if (run.height[work])
				draw_bar(picture, &run, works, work, y, height);
			run = (struct run){.first = i,
					   .height = {column.height[0], column.height[1]}};
		}
		run.ns[0] += column.ns[0];
		run.ns[1] += column.ns[1];
		run.whole_ns += column.whole_ns;
	}
	ts_svg_raw(&picture->svg, "</g>\n");
}

static void draw_lane(struct picture *picture, const char *name, bool is_of_device,
		      Ts__Rpc__TimelinePart *const *parts, size_t n_parts, unsigned int works,
		      uint64_t busy_ns, double height)
{
	const struct ts_picture_axis *axis = &picture->axis;
	struct ts_svg_label label = {.css_class = is_of_device ? "head" : "label",
				     .x = axis->x - 8,
				     .y = picture->y + height / 2 + 4,
				     .width = picture->label_width - 8,
				     .size = is_of_device ? 14 : 12,
				     .anchor = TS_SVG_END,
				     .cuts_middle = true};
	char share[TS_FIGURE_BYTES];

	ts_svg_label(&picture->svg, &label, name, strlen(name));
	ts_svg_rect(&picture->svg, "lane", axis->x, picture->y, axis->width, height);
	ts_picture_grid(&picture->svg, axis, picture->y, height);
	for (int work = 0; work < 2; work++)
		if (works & (1u << work))
			draw_bars(picture, parts, n_parts, works, work, picture->y, height);
	label.css_class = "small";
	label.size = 11;
	label.x = picture->width - TS_PICTURE_MARGIN;
	label.width = SHARE_SPACE - 6;
	ts_figure_percent(share, busy_ns, window_ns(picture));
	ts_svg_label(&picture->svg, &label, share, strlen(share));
	picture->y += height + LANE_GAP;
}

/* ---- devices --------------------------------------------------------------------------------- */

static void draw_stream(struct picture *picture, const Ts__Rpc__TimelineStream *stream)
{
	char name[NAME_BYTES];
	int n;

	if (stream->has_stream)
		n = snprintf(name, sizeof(name), "stream %" PRIu32, stream->stream);
	else
		n = snprintf(name, sizeof(name), "no stream");
	if (stream->name)
		n += snprintf(name + n, sizeof(name) - (size_t)n, " %.200s", stream->name);
	if (picture->many_sessions)
		snprintf(name + n, sizeof(name) - (size_t)n, " (%" PRIu32 ")", stream->session);
	draw_lane(picture, name, false, stream->parts, stream->n_parts, WITH_COMPUTE | WITH_COPIES,
		  stream->busy_ns, STREAM_LANE);
}

static void draw_header(struct picture *picture, const Ts__Rpc__TimelineDevice *device)
{
	double width = picture->width - 2 * TS_PICTURE_MARGIN;
	struct ts_svg_label label = {.css_class = "head",
				     .x = TS_PICTURE_MARGIN,
				     .y = picture->y + 13,
				     .width = width,
				     .size = 14};
	uint64_t all_ns = window_ns(picture);
	char busy[TS_FIGURE_BYTES], time[TS_FIGURE_BYTES], compute[TS_FIGURE_BYTES];
	char copies[TS_FIGURE_BYTES], both[TS_FIGURE_BYTES], name[NAME_BYTES];

	if (device->has_device)
		snprintf(name, sizeof(name), "GPU %" PRIu32 "%s%.200s", device->device,
			 device->name ? ": " : "", device->name ? device->name : "");
	else
		snprintf(name, sizeof(name), "unknown GPU");
	ts_svg_label(&picture->svg, &label, name, strlen(name));
	label = (struct ts_svg_label){.css_class = "dim",
				      .x = TS_PICTURE_MARGIN,
				      .y = picture->y + 30,
				      .width = width,
				      .size = 12};
	ts_svg_labelf(&picture->svg, &label, "busy %s (%s), compute %s, copies %s, both at once %s",
		      ts_figure_percent(busy, device->busy_ns, all_ns),
		      ts_figure_duration(time, device->busy_ns),
		      ts_figure_percent(compute, device->compute_ns, all_ns),
		      ts_figure_percent(copies, device->copy_ns, all_ns),
		      ts_figure_percent(both, device->overlap_ns, all_ns));
	picture->y += DEVICE_SPACE;
}

/*
 * Returns the least busy time of a drawn stream, and *ret_n_equal: the number of drawn streams with
 * just that time. The busiest streams are drawn.
 */
static uint64_t least_drawn(const Ts__Rpc__TimelineDevice *device, size_t max, size_t *ret_n_equal)
{
	uint64_t low = 0, high = UINT64_MAX;
	size_t n_above = 0;

	/* The largest time that at least `max` streams reach. */
	while (low < high) {
		uint64_t middle = high - (high - low) / 2;
		size_t n = 0;

		for (size_t i = 0; i < device->n_streams; i++)
			n += device->streams[i]->busy_ns >= middle;
		if (n >= max)
			low = middle;
		else
			high = middle - 1;
	}
	for (size_t i = 0; i < device->n_streams; i++)
		n_above += device->streams[i]->busy_ns > low;
	*ret_n_equal = max - n_above;
	return low;
}

static void draw_device(struct picture *picture, const Ts__Rpc__TimelineDevice *device)
{
	size_t n_equal = 0, n_drawn = 0;
	uint64_t least_ns = 0;
	char count[TS_FIGURE_BYTES];

	draw_header(picture, device);
	if (n_device_parts(device)) {
		draw_lane(picture, "compute", true, device->parts->parts, device->parts->n_parts,
			  WITH_COMPUTE, device->compute_ns, DEVICE_LANE);
		draw_lane(picture, "copies", true, device->parts->parts, device->parts->n_parts,
			  WITH_COPIES, device->copy_ns, DEVICE_LANE);
	}
	if (device->n_streams > picture->max_streams)
		least_ns = least_drawn(device, picture->max_streams, &n_equal);
	for (size_t i = 0; i < device->n_streams; i++) {
		const Ts__Rpc__TimelineStream *stream = device->streams[i];

		if (stream->busy_ns < least_ns)
			continue;
		if (device->n_streams > picture->max_streams && stream->busy_ns == least_ns) {
			if (!n_equal)
				continue;
			n_equal--;
		}
		draw_stream(picture, stream);
		n_drawn++;
	}
	if (n_drawn < device->n_streams) {
		struct ts_svg_label label = {.css_class = "small",
					     .x = picture->axis.x,
					     .y = picture->y + 11,
					     .width = picture->axis.width,
					     .size = 11};

		ts_svg_labelf(&picture->svg, &label, "%s streams with less work are not shown",
			      ts_figure_count(count, device->n_streams - n_drawn));
		picture->y += MORE_SPACE;
	}
	ts_picture_ticks(&picture->svg, &picture->axis, picture->y + 11);
	picture->y += TS_PICTURE_AXIS_SPACE + DEVICE_GAP;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static double device_height(const struct picture *picture, const Ts__Rpc__TimelineDevice *device)
{
	size_t n =
		device->n_streams < picture->max_streams ? device->n_streams : picture->max_streams;

	return DEVICE_SPACE + (n_device_parts(device) ? 2 * (DEVICE_LANE + LANE_GAP) : 0) +
	       (double)n * (STREAM_LANE + LANE_GAP) + (n < device->n_streams ? MORE_SPACE : 0) +
	       TS_PICTURE_AXIS_SPACE + DEVICE_GAP;
}

/*
 * Places the columns: finds the parts of the longest lane, and divides the picture's width into at
 * most max_columns columns.
 */
static void measure(struct picture *picture, uint32_t max_columns)
{
	const Ts__Rpc__TimelineReport *report = picture->report;
	size_t n_parts = 1;

	picture->width = ts_picture_width(picture->options);
	picture->n_devices = report->n_devices < MAX_DEVICES ? report->n_devices : MAX_DEVICES;
	picture->max_streams = picture->n_devices ? MAX_LANES / picture->n_devices : 0;
	for (size_t i = 0; i < picture->n_devices; i++) {
		const Ts__Rpc__TimelineDevice *device = report->devices[i];

		if (n_device_parts(device) > n_parts)
			n_parts = device->parts->n_parts;
		for (size_t j = 0; j < device->n_streams; j++) {
			size_t of_stream = device->streams[j]->n_parts;

			n_parts = of_stream > n_parts ? of_stream : n_parts;
			picture->many_sessions |=
				device->streams[j]->session != report->devices[0]->session;
		}
	}
	picture->label_width = fmax(96, fmin(190, picture->width * 0.2));
	picture->axis.x = TS_PICTURE_MARGIN + picture->label_width;
	picture->axis.width = picture->width - picture->axis.x - SHARE_SPACE - TS_PICTURE_MARGIN;
	ts_picture_axis_init(&picture->axis, report->start_ns, report->part_ns,
			     n_parts < UINT32_MAX ? (uint32_t)n_parts : UINT32_MAX,
			     picture->options->origin_ns, max_columns);
}

static void draw_title(struct picture *picture)
{
	const Ts__Rpc__TimelineReport *report = picture->report;
	uint64_t origin_ns = picture->options->origin_ns, column_ns;
	uint64_t from_ns = report->start_ns > origin_ns ? report->start_ns - origin_ns : 0;
	uint64_t to_ns = report->end_ns > origin_ns ? report->end_ns - origin_ns : 0;
	char from[TS_FIGURE_BYTES], to[TS_FIGURE_BYTES], all[TS_FIGURE_BYTES];
	char column[TS_FIGURE_BYTES], text[6 * TS_FIGURE_BYTES];

	if (__builtin_mul_overflow(picture->axis.part_ns, picture->axis.n_merged, &column_ns))
		column_ns = UINT64_MAX;
	if (picture->n_devices)
		snprintf(text, sizeof(text), "GPU timeline, %s to %s (%s); a column is %s",
			 ts_figure_exact(from, from_ns, to_ns), ts_figure_exact(to, to_ns, to_ns),
			 ts_figure_duration(all, window_ns(picture)),
			 ts_figure_duration(column, column_ns));
	else
		snprintf(text, sizeof(text), "GPU timeline: no GPU operation in this window");
	ts_picture_title(&picture->svg, picture->options, text, report->damaged);
}

static void draw(struct picture *picture)
{
	static const struct ts_picture_legend legend[] = {
		{"compute", "kernels and sets"},
		{"copy", "copies"},
		{"lane", "idle; a bar's height is the busy share of its column"},
	};
	const Ts__Rpc__TimelineReport *report = picture->report;
	double height = TS_PICTURE_TITLE_SPACE;
	size_t n_left_out = report->n_devices - picture->n_devices;
	char count[TS_FIGURE_BYTES];

	if (picture->n_devices)
		height += LEGEND_SPACE + 6;
	for (size_t i = 0; i < picture->n_devices; i++)
		height += device_height(picture, report->devices[i]);
	height += n_left_out ? MORE_SPACE : 0;
	ts_svg_begin(&picture->svg, picture->width, height, "Timeline of GPUs and streams");
	draw_title(picture);
	if (!picture->n_devices)
		return;
	ts_picture_legend(&picture->svg, legend, sizeof(legend) / sizeof(*legend),
			  TS_PICTURE_TITLE_SPACE + 10, picture->width);
	picture->y = TS_PICTURE_TITLE_SPACE + LEGEND_SPACE + 6;
	for (size_t i = 0; i < picture->n_devices; i++)
		draw_device(picture, report->devices[i]);
	if (n_left_out) {
		struct ts_svg_label label = {.css_class = "small",
					     .x = TS_PICTURE_MARGIN,
					     .y = picture->y + 6,
					     .width = picture->width - 2 * TS_PICTURE_MARGIN,
					     .size = 11};

		ts_svg_labelf(&picture->svg, &label, "%s more GPUs are not shown",
			      ts_figure_count(count, n_left_out));
	}
}

int ts_picture_timeline(const Ts__Rpc__TimelineReport *report,
			const struct ts_picture_options *options, char **ret_svg,
			size_t *ret_n_bytes)
{
	struct picture picture = {.report = report, .options = options};
	uint32_t n_columns = UINT32_MAX;
	int r;

	for (;;) {
		measure(&picture, n_columns);
		draw(&picture);
		n_columns = ts_picture_columns(&picture.axis);
		if (picture.n_bars <= TS_PICTURE_ELEMENTS || n_columns <= MIN_COLUMNS)
			break;
		n_columns = n_columns / 2 > MIN_COLUMNS ? n_columns / 2 : MIN_COLUMNS;
		ts_svg_deinit(&picture.svg);
		picture.n_bars = 0;
	}
	r = ts_svg_finish(&picture.svg, ret_svg, ret_n_bytes);
	if (r)
		ts_svg_deinit(&picture.svg);
	return r;
}
