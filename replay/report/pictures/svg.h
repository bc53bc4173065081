/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the elements of an SVG picture into memory. Private to replay/report/pictures. Lengths are
 * pixels and are written with at most two decimals, independent of the locale. The first failure is
 * kept; after it, functions do nothing, and ts_svg_finish() returns it.
 *
 * Text is placed by estimated widths, which are upper bounds for common fonts without serifs. Text
 * that has characters of unknown width is squeezed to its estimate by the viewer (textLength).
 */
#pragma once

#include "sbt/buffer.h"

#include <stdarg.h>
#include <stdint.h>

struct ts_svg {
	struct ts_buffer text;
	int error; /* 0 or -ENOMEM */
};

/* Begins a picture with its background. `description` is for readers that cannot see it. */
void ts_svg_begin(struct ts_svg *svg, double width, double height, const char *description);
/* Ends the picture, and passes its text to the caller. Returns 0 or the first failure. */
int ts_svg_finish(struct ts_svg *svg, char **ret_text, size_t *ret_n_bytes);
void ts_svg_deinit(struct ts_svg *svg);

/* Appends markup. No argument may be a text of a trace. */
void ts_svg_raw(struct ts_svg *svg, const char *markup);
void ts_svg_rawf(struct ts_svg *svg, const char *format, ...) __attribute__((format(printf, 2, 3)));
void ts_svg_number(struct ts_svg *svg, double number);
/* Appends text of n_bytes, escaped; controls and invalid UTF-8 become U+FFFD. */
void ts_svg_escaped(struct ts_svg *svg, const char *text, size_t n_bytes);
void ts_svg_escapedf(struct ts_svg *svg, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends a name, escaped; a very long one is cut. */
void ts_svg_name(struct ts_svg *svg, const char *name, size_t n_bytes);

/*
 * Begins a rectangle; the caller may append a tooltip's text with the functions above, and ends the
 * rectangle with ts_svg_rect_end(). `css_class` NULL: none.
 */
void ts_svg_rect_begin(struct ts_svg *svg, const char *css_class, double x, double y, double width,
		       double height);
void ts_svg_rect_end(struct ts_svg *svg);
/* A rectangle without a tooltip. */
void ts_svg_rect(struct ts_svg *svg, const char *css_class, double x, double y, double width,
		 double height);

enum ts_svg_anchor {
	TS_SVG_START,
	TS_SVG_MIDDLE,
	TS_SVG_END
};

struct ts_svg_label {
	const char *css_class;
	double x, y;  /* of the baseline */
	double width; /* longer text is cut */
	double size;  /* of the font */
	enum ts_svg_anchor anchor;
	bool cuts_middle; /* cut the middle: ends of names differ more often */
	bool no_tooltip;  /* else cut text has the whole text as its tooltip */
};

/* Places text. Text that does not fit at all is left out. */
void ts_svg_label(struct ts_svg *svg, const struct ts_svg_label *label, const char *text,
		  size_t n_bytes);
void ts_svg_labelf(struct ts_svg *svg, const struct ts_svg_label *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Returns the estimated width of text. */
double ts_svg_width(const char *text, size_t n_bytes, double size);
