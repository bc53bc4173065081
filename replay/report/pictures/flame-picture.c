/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws sums by stack as an icicle: see picture.h. tools/export calls this file. A frame's width is
 * its share of the sum; the frames below it are those that it called. Frames that are too narrow to
 * see are joined with their neighbours to one grey frame.
 *
 * Frames are sorted by caller, then by sum. A caller has a smaller number than its callees, so one
 * pass over the sorted frames places each caller before its callees.
 */
#include "replay/report/pictures/picture.h"

#include "replay/report/pictures/figures.h"
#include "replay/report/pictures/picture-parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define MAX_DEPTH    200u
#define MAX_FRAMES   8000u
#define ROW	     19.0
#define MIN_FRAME    0.5 /* a narrower frame is joined with others */
#define LEGEND_SPACE 20.0
#define TEXT_SPACE   4.0
#define FONT	     11.5
#define N_SHADES     4u
#define JOINED_BYTES 64

struct node {
	uint64_t sum;
	uint32_t depth; /* 0: outermost; UINT32_MAX: not drawn */
	double x, width;
};

struct picture {
	struct ts_svg svg;
	const struct ts_picture_options *options;
	const struct ts_picture_frame *frames;
	uint32_t n_frames;
	const char *what;
	enum ts_picture_unit unit;
	struct node *nodes;
	uint32_t *order;
	uint64_t total;
	double width, least_width;
	uint32_t n_rows, n_drawn;
	uint64_t n_joined, n_too_deep;
};

static void picture_deinit(struct picture *picture)
{
	free(picture->nodes);
	free(picture->order);
	ts_svg_deinit(&picture->svg);
}

/* ---- sums and places ------------------------------------------------------------------------- */

static void add(uint64_t *sum, uint64_t value)
{
	if (__builtin_add_overflow(*sum, value, sum))
		*sum = UINT64_MAX;
}

static int sum_up(struct picture *picture)
{
	for (uint32_t i = picture->n_frames; i--;) {
		const struct ts_picture_frame *frame = &picture->frames[i];

		if (frame->parent > i)
			return -EINVAL;
		add(&picture->nodes[i].sum, frame->weight);
		add(frame->parent ? &picture->nodes[frame->parent - 1].sum : &picture->total,
		    picture->nodes[i].sum);
	}
	return 0;
}

static int compare(const void *a, const void *b, void *data)
{
	const struct picture *picture = data;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct ts_picture_frame *x = &picture->frames[i], *y = &picture->frames[j];
	size_t n = x->n_name_bytes < y->n_name_bytes ? x->n_name_bytes : y->n_name_bytes;
	int r;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (picture->nodes[i].sum != picture->nodes[j].sum)
		return picture->nodes[i].sum > picture->nodes[j].sum ? -1 : 1;
	r = n ? memcmp(x->name, y->name, n) : 0;
	if (r || x->n_name_bytes != y->n_name_bytes)
		return r ? r : x->n_name_bytes < y->n_name_bytes ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Returns the index in `order` behind the callees of one caller. */
static uint32_t group_end(const struct picture *picture, uint32_t first)
{
	uint32_t parent = picture->frames[picture->order[first]].parent, end = first;

	while (end < picture->n_frames && picture->frames[picture->order[end]].parent == parent)
		end++;
	return end;
}

static double width_of(const struct picture *picture, uint64_t sum)
{
	return picture->total ? (picture->width - 2 * TS_PICTURE_MARGIN) * (double)sum /
					(double)picture->total
			      : 0;
}

/* Places the frames that are at least least_width wide, and counts them. */
static void place(struct picture *picture)
{
	picture->n_rows = 1;
	picture->n_drawn = 0;
	for (uint32_t first = 0, end; first < picture->n_frames; first = end) {
		uint32_t parent = picture->frames[picture->order[first]].parent;
		const struct node *caller = parent ? &picture->nodes[parent - 1] : NULL;
		double x = caller ? caller->x : TS_PICTURE_MARGIN;
		uint32_t depth = caller ? caller->depth + 1 : 1;
		bool is_hidden = (caller && caller->depth == UINT32_MAX) || depth > MAX_DEPTH;

		end = group_end(picture, first);
		for (uint32_t i = first; i < end; i++) {
			struct node *node = &picture->nodes[picture->order[i]];

			node->x = x;
			node->width = width_of(picture, node->sum);
			node->depth = is_hidden || !node->sum || node->width < picture->least_width
					      ? UINT32_MAX
					      : depth;
			x += node->width;
			picture->n_drawn += node->depth != UINT32_MAX;
			/* A joined frame needs its row, too. */
			if (!is_hidden && node->sum && depth + 1 > picture->n_rows)
				picture->n_rows = depth + 1;
		}
	}
}

/* ---- drawing --------------------------------------------------------------------------------- */

static const char *weight_text(const struct picture *picture, uint64_t weight,
			       char text[2 * TS_FIGURE_BYTES])
{
	char short_text[TS_FIGURE_BYTES], count[TS_FIGURE_BYTES];

	ts_figure_count(count, weight);
	if (picture->unit == TS_PICTURE_NS)
		snprintf(text, 2 * TS_FIGURE_BYTES, "%s",
			 ts_figure_exact(short_text, weight, weight));
	else if (picture->unit == TS_PICTURE_BYTES)
		snprintf(text, 2 * TS_FIGURE_BYTES, "%s (%s bytes)",
			 ts_figure_bytes(short_text, weight), count);
	else
		snprintf(text, 2 * TS_FIGURE_BYTES, "%s", count);
	return text;
}

/* Neighbours differ in their shade; a function has the same shade everywhere. */
static unsigned int shade(const char *name, size_t n_bytes)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < n_bytes; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return (hash >> 16) % N_SHADES;
}

static double row_y(uint32_t depth)
{
	return TS_PICTURE_TITLE_SPACE + LEGEND_SPACE + 8 + depth * ROW;
}

static void draw_frame(struct picture *picture, const char *class, const char *name,
		       size_t n_name_bytes, double x, double width, uint32_t depth, uint64_t sum)
{
	struct ts_svg_label label = {.css_class = "f",
				     .x = x + TEXT_SPACE,
				     .y = row_y(depth) + ROW - 6,
				     .width = width - 2 * TEXT_SPACE,
				     .size = FONT,
				     .cuts_middle = true,
				     .no_tooltip = true};
	char weight[2 * TS_FIGURE_BYTES], share[TS_FIGURE_BYTES];

	ts_svg_rect_begin(&picture->svg, class, x, row_y(depth), width, ROW - 1);
	ts_svg_name(&picture->svg, name, n_name_bytes);
	ts_svg_rawf(&picture->svg, "\n%s, %s", weight_text(picture, sum, weight),
		    ts_figure_percent(share, sum, picture->total));
	ts_svg_rect_end(&picture->svg);
	if (label.width > 0)
		ts_svg_label(&picture->svg, &label, name, n_name_bytes);
}

/* Draws the frames from `first` to before `end`, which are all too narrow, as one. */
static void draw_joined(struct picture *picture, uint32_t first, uint32_t end, uint32_t depth)
{
	double x = picture->nodes[picture->order[first]].x;
	char text[JOINED_BYTES], count[TS_FIGURE_BYTES];
	uint64_t sum = 0;

	for (uint32_t i = first; i < end; i++)
		add(&sum, picture->nodes[picture->order[i]].sum);
	if (width_of(picture, sum) < MIN_FRAME)
		return;
	snprintf(text, sizeof(text), "%s smaller frames", ts_figure_count(count, end - first));
	draw_frame(picture, "x", text, strlen(text), x, width_of(picture, sum), depth, sum);
}

static void draw_group(struct picture *picture, uint32_t first, uint32_t end)
{
	static const char kinds[TS_PICTURE_N_KINDS] = {'n', 'p', 'o', 'x'};
	uint32_t parent = picture->frames[picture->order[first]].parent;
	uint32_t depth = parent ? picture->nodes[parent - 1].depth : 0;
	uint32_t i = first;

	/* The callees of a joined frame are inside it. */
	if (depth == UINT32_MAX)
		return;
	for (; i < end; i++) {
		const struct ts_picture_frame *frame = &picture->frames[picture->order[i]];
		const struct node *node = &picture->nodes[picture->order[i]];
		char class[3] = {'x', 0, 0};

		if (node->depth == UINT32_MAX)
			break;
		if (frame->kind < TS_PICTURE_OTHER) {
			class[0] = kinds[frame->kind];
			class[1] = (char)('0' + shade(frame->name, frame->n_name_bytes));
		}
		draw_frame(picture, class, frame->name, frame->n_name_bytes, node->x, node->width,
			   node->depth, node->sum);
	}
	/* The callees are sorted by sum, so the narrow ones are the last ones. */
	while (end > i && !picture->nodes[picture->order[end - 1]].sum)
		end--;
	if (i == end)
		return;
	if (depth == MAX_DEPTH)
		picture->n_too_deep += end - i;
	else
		picture->n_joined += end - i;
	if (depth < MAX_DEPTH)
		draw_joined(picture, i, end, depth + 1);
}

static void draw_title(struct picture *picture)
{
	char weight[2 * TS_FIGURE_BYTES], text[6 * TS_FIGURE_BYTES];

	if (picture->total)
		snprintf(text, sizeof(text), "%s, %s in all", picture->what,
			 weight_text(picture, picture->total, weight));
	else
		snprintf(text, sizeof(text), "%s: nothing was recorded", picture->what);
	ts_picture_title(&picture->svg, picture->options, text, false);
}

static void draw(struct picture *picture)
{
	static const struct ts_picture_legend legend[] = {
		{"p0", "Python"},
		{"n0", "native code"},
		{"o0", "kernels, copies and sets"},
		{"x", "other"},
	};
	char joined[TS_FIGURE_BYTES], deep[TS_FIGURE_BYTES];
	struct ts_svg_label label = {.css_class = "small",
				     .x = TS_PICTURE_MARGIN,
				     .y = row_y(picture->n_rows) + 14,
				     .width = picture->width - 2 * TS_PICTURE_MARGIN,
				     .size = 11};

	ts_svg_begin(&picture->svg, picture->width,
		     picture->total ? row_y(picture->n_rows) + 24 : TS_PICTURE_TITLE_SPACE,
		     "Flame graph of sums by stack");
	draw_title(picture);
	if (!picture->total)
		return;
	ts_picture_legend(&picture->svg, legend, sizeof(legend) / sizeof(*legend),
			  TS_PICTURE_TITLE_SPACE + 10, picture->width);
	ts_svg_raw(&picture->svg, "<g class=\"flame\">\n");
	draw_frame(picture, "all", "all", 3, TS_PICTURE_MARGIN,
		   picture->width - 2 * TS_PICTURE_MARGIN, 0, picture->total);
	for (uint32_t first = 0, end; first < picture->n_frames; first = end) {
		end = group_end(picture, first);
		draw_group(picture, first, end);
	}
	ts_svg_raw(&picture->svg, "</g>\n");
	if (picture->n_joined || picture->n_too_deep)
		ts_svg_labelf(&picture->svg, &label,
			      "%s frames are too narrow and %s too deep to be shown alone",
			      ts_figure_count(joined, picture->n_joined),
			      ts_figure_count(deep, picture->n_too_deep));
}

int ts_picture_flame(const struct ts_picture_frame *frames, uint32_t n_frames, const char *what,
		     enum ts_picture_unit unit, const struct ts_picture_options *options,
		     char **ret_svg, size_t *ret_n_bytes)
{
	ts_cleanup(picture_deinit) struct picture picture = {
		.options = options,
		.frames = frames,
		.n_frames = n_frames,
		.what = what,
		.unit = unit,
		.width = ts_picture_width(options),
		.least_width = MIN_FRAME,
		.nodes = calloc(n_frames + (size_t)1, sizeof(struct node)),
		.order = calloc(n_frames + (size_t)1, sizeof(uint32_t)),
	};
	int r = picture.nodes && picture.order ? sum_up(&picture) : -ENOMEM;

	if (r)
		return r;
	for (uint32_t i = 0; i < n_frames; i++)
		picture.order[i] = i;
	qsort_r(picture.order, n_frames, sizeof(*picture.order), compare, &picture);
	place(&picture);
	/* A joined frame may follow each drawn one. */
	while (picture.n_drawn > MAX_FRAMES) {
		picture.least_width *= 1.5;
		place(&picture);
	}
	draw(&picture);
	return ts_svg_finish(&picture.svg, ret_svg, ret_n_bytes);
}
