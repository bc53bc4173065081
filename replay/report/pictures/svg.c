/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes SVG: see svg.h. The pictures of this folder call this file. Every picture has the same
 * style sheet. Its rules name the class `ts-picture`, so they do not affect a page that contains
 * the picture. The colours differ in hue and in brightness.
 */
#include "replay/report/pictures/svg.h"

#include "proto/abi/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define MAX_FORMATTED_BYTES 512u
/* Limit of a name's bytes, and the limit in a picture that is already long. */
#define MAX_NAME_BYTES	     2048u
#define MAX_LATER_NAME_BYTES 192u
#define LONG_NAMES_BYTES     (1u << 20)
#define UNKNOWN		     "\xef\xbf\xbd" /* U+FFFD */
#define ELLIPSIS	     "\xe2\x80\xa6"

static const char style[] =
	".ts-picture{font-family:system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,"
	"\"DejaVu Sans\",sans-serif;font-size:12px;fill:#1f2328}\n"
	".ts-picture .bg{fill:#fff}\n"
	".ts-picture .title{font-size:16px;font-weight:600}\n"
	".ts-picture .head{font-size:13px;font-weight:600}\n"
	".ts-picture .dim{fill:#59636e}\n"
	".ts-picture .small{font-size:11px;fill:#59636e}\n"
	".ts-picture .lane{fill:#f0f2f5}\n"
	".ts-picture .lane,.ts-picture .bars rect{shape-rendering:crispEdges}\n"
	".ts-picture .grid{fill:none;stroke:#d1d9e0}\n"
	".ts-picture .axis{fill:none;stroke:#818b98}\n"
	".ts-picture .compute{fill:#2f6fd6}\n"
	".ts-picture .copy{fill:#e8882a}\n"
	".ts-picture .area{fill:#8250df;fill-opacity:.22}\n"
	".ts-picture .line{fill:none;stroke:#8250df;stroke-width:1.5}\n"
	".ts-picture .peak{fill:none;stroke:#cf222e;stroke-dasharray:4 3}\n"
	".ts-picture .dot{fill:#cf222e}\n"
	".ts-picture .limit{fill:none;stroke:#59636e;stroke-dasharray:1 3}\n"
	".ts-picture .hover rect{fill:#1f2328;fill-opacity:0}\n"
	".ts-picture .hover rect:hover{fill-opacity:.12}\n"
	".ts-picture .bars rect:hover,.ts-picture .flame rect:hover{fill-opacity:.7}\n"
	".ts-picture .flame{stroke:#fff;stroke-width:.5}\n"
	".ts-picture .flame text{stroke:none;pointer-events:none;fill:#1f2328}\n"
	".ts-picture .n0{fill:#f2b27a}.ts-picture .n1{fill:#f5c08c}.ts-picture .n2{fill:#f0a868}"
	".ts-picture .n3{fill:#f7cb9e}\n"
	".ts-picture .p0{fill:#9cc4f2}.ts-picture .p1{fill:#b0d0f5}.ts-picture .p2{fill:#8ab8ee}"
	".ts-picture .p3{fill:#c0daf8}\n"
	".ts-picture .o0{fill:#8fd19e}.ts-picture .o1{fill:#a5dbb1}.ts-picture .o2{fill:#7cc88d}"
	".ts-picture .o3{fill:#b6e3c0}\n"
	".ts-picture .x{fill:#d6dbe1}.ts-picture .all{fill:#c5ccd4}\n"
	"@media(prefers-color-scheme:dark){\n"
	".ts-picture{fill:#e6edf3}\n"
	".ts-picture .bg{fill:#0d1117}\n"
	".ts-picture .dim,.ts-picture .small{fill:#9198a1}\n"
	".ts-picture .lane{fill:#1a2029}\n"
	".ts-picture .grid{stroke:#2f3742}\n"
	".ts-picture .axis{stroke:#656c76}\n"
	".ts-picture .compute{fill:#5a9cf8}\n"
	".ts-picture .copy{fill:#f0a048}\n"
	".ts-picture .area{fill:#a98bf0;fill-opacity:.3}\n"
	".ts-picture .line{stroke:#b79df5}\n"
	".ts-picture .peak{stroke:#ff7b72}\n"
	".ts-picture .dot{fill:#ff7b72}\n"
	".ts-picture .limit{stroke:#9198a1}\n"
	".ts-picture .hover rect{fill:#fff}\n"
	".ts-picture .flame{stroke:#0d1117}\n"
	".ts-picture .flame text{fill:#f0f6fc}\n"
	".ts-picture .n0{fill:#8f5320}.ts-picture .n1{fill:#9c5f2a}.ts-picture .n2{fill:#834a19}"
	".ts-picture .n3{fill:#a66a35}\n"
	".ts-picture .p0{fill:#27599c}.ts-picture .p1{fill:#3266ab}.ts-picture .p2{fill:#1f4f90}"
	".ts-picture .p3{fill:#3d72b6}\n"
	".ts-picture .o0{fill:#1f6b3a}.ts-picture .o1{fill:#297845}.ts-picture .o2{fill:#185f31}"
	".ts-picture .o3{fill:#328450}\n"
	".ts-picture .x{fill:#3d444d}.ts-picture .all{fill:#4b535d}\n"
	"}\n";

/* ---- text ------------------------------------------------------------------------------------ */

static void append(struct ts_svg *svg, const void *bytes, size_t n_bytes)
{
	if (!svg->error)
		svg->error = ts_buffer_append(&svg->text, bytes, n_bytes);
}

void ts_svg_raw(struct ts_svg *svg, const char *markup)
{
	append(svg, markup, strlen(markup));
}

void ts_svg_rawf(struct ts_svg *svg, const char *format, ...)
{
	char text[MAX_FORMATTED_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	ts_svg_raw(svg, text);
}

void ts_svg_number(struct ts_svg *svg, double number)
{
	int64_t hundredths = number > -1e9 && number < 1e9 ? (int64_t)llround(number * 100) : 0;
	uint64_t size = (uint64_t)(hundredths < 0 ? -hundredths : hundredths);

	ts_svg_rawf(svg, "%s%" PRIu64, hundredths < 0 ? "-" : "", size / 100);
	if (size % 100)
		ts_svg_rawf(svg, size % 10 ? ".%02" PRIu64 : ".%" PRIu64,
			    size % 10 ? size % 100 : size % 100 / 10);
}

static uint32_t decode(const unsigned char *text, size_t length)
{
	uint32_t c = text[0];

	if (length == 1)
		return c;
	c &= 0xffu >> (length + 1);
	for (size_t i = 1; i < length; i++)
		c = c << 6 | (text[i] & 0x3f);
	return c;
}

/*
 * True for characters that a picture must not contain: those that XML forbids, those that change
 * the direction of text or have no width, and marks that are drawn over other characters.
 */
static bool is_bad(uint32_t c)
{
	static const uint32_t ranges[][2] = {
		{0, 0x1f},	  {0x7f, 0x9f},		 {0xad, 0xad},	   {0x300, 0x36f},
		{0x483, 0x489},	  {0x591, 0x5bd},	 {0x610, 0x61c},   {0x64b, 0x65f},
		{0x115f, 0x1160}, {0x180b, 0x180f},	 {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
		{0x200b, 0x200f}, {0x2028, 0x202e},	 {0x2060, 0x206f}, {0x20d0, 0x20ff},
		{0x3164, 0x3164}, {0xd800, 0xf8ff},	 {0xfe00, 0xfe2f}, {0xfeff, 0xfeff},
		{0xfff0, 0xffff}, {0xe0000, UINT32_MAX},
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (c >= ranges[i][0] && c <= ranges[i][1])
			return true;
	return false;
}

/* Returns the bytes of the next character; *ret_c is U+FFFD for a bad one. */
static size_t next_character(const char *text, size_t n_bytes, uint32_t *ret_c)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t length = ts_utf8_length(at, n_bytes);
	uint32_t c = length ? decode(at, length) : 0;

	*ret_c = is_bad(c) ? 0xfffd : c;
	return length ? length : 1;
}

void ts_svg_escaped(struct ts_svg *svg, const char *text, size_t n_bytes)
{
	uint32_t c;

	for (size_t at = 0, length; at < n_bytes; at += length) {
		length = next_character(text + at, n_bytes - at, &c);
		if (c == 0xfffd)
			ts_svg_raw(svg, UNKNOWN);
		else if (c == '<')
			ts_svg_raw(svg, "&lt;");
		else if (c == '>')
			ts_svg_raw(svg, "&gt;");
		else if (c == '&')
			ts_svg_raw(svg, "&amp;");
		else if (c == '"')
			ts_svg_raw(svg, "&quot;");
		else
			append(svg, text + at, length);
	}
}

void ts_svg_escapedf(struct ts_svg *svg, const char *format, ...)
{
	char text[MAX_FORMATTED_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	ts_svg_escaped(svg, text, strlen(text));
}

/* Returns the width of a character in thousandths of the font's size: the widest common font's. */
static unsigned int advance(uint32_t c)
{
	if (c == 0x2026) /* an ellipsis */
		return 1000;
	if (c >= 0x80)
		return c < 0x530 ? 1100 : 1250;
	if (strchr("mMWw@%", (int)c))
		return 1000;
	if (strchr("&#+=<>~^QOGDNHUCRBAVXYZKT", (int)c))
		return 840;
	if (strchr("ijlI.,:;'|!()[]/\\-` tfr", (int)c))
		return 430;
	return c >= 'A' && c <= 'Z' ? 760 : 650;
}

double ts_svg_width(const char *text, size_t n_bytes, double size)
{
	uint64_t thousandths = 0;
	uint32_t c;

	for (size_t at = 0; at < n_bytes;) {
		at += next_character(text + at, n_bytes - at, &c);
		thousandths += advance(c);
	}
	return (double)thousandths / 1000 * size;
}

/* ---- elements -------------------------------------------------------------------------------- */

static void attribute(struct ts_svg *svg, const char *name, double number)
{
	ts_svg_rawf(svg, " %s=\"", name);
	ts_svg_number(svg, number);
	ts_svg_raw(svg, "\"");
}

static void open_rect(struct ts_svg *svg, const char *css_class, double x, double y, double width,
		      double height)
{
	ts_svg_raw(svg, "<rect");
	if (css_class)
		ts_svg_rawf(svg, " class=\"%s\"", css_class);
	attribute(svg, "x", x);
	attribute(svg, "y", y);
	attribute(svg, "width", width);
	attribute(svg, "height", height);
}

void ts_svg_rect(struct ts_svg *svg, const char *css_class, double x, double y, double width,
		 double height)
{
	open_rect(svg, css_class, x, y, width, height);
	ts_svg_raw(svg, "/>\n");
}

void ts_svg_rect_begin(struct ts_svg *svg, const char *css_class, double x, double y, double width,
		       double height)
{
	open_rect(svg, css_class, x, y, width, height);
	ts_svg_raw(svg, "><title>");
}

void ts_svg_rect_end(struct ts_svg *svg)
{
	ts_svg_raw(svg, "</title></rect>\n");
}

/* The shown parts of a text: its beginning and, behind an ellipsis, its end. */
struct shown {
	size_t n_first, n_last; /* bytes; n_last is 0 unless the middle is cut */
	double width;
	bool is_whole, is_common; /* all of the text; only characters of known width */
};

/* Returns the bytes of the longest beginning that is at most `width` wide. */
static size_t fit_first(const char *text, size_t n_bytes, double width, double size,
			size_t *ret_n_characters)
{
	double so_far = 0;
	size_t at = 0, n = 0;
	uint32_t c;

	while (at < n_bytes) {
		size_t length = next_character(text + at, n_bytes - at, &c);

		so_far += advance(c) * size / 1000;
		if (so_far > width)
			break;
		at += length;
		n++;
	}
	*ret_n_characters = n;
	return at;
}

/* Returns the bytes of the longest end that is at most `width` wide. */
static size_t fit_last(const char *text, size_t n_bytes, double width, double size)
{
	double rest = ts_svg_width(text, n_bytes, size);
	size_t at = 0;
	uint32_t c;

	while (at < n_bytes && rest > width) {
		at += next_character(text + at, n_bytes - at, &c);
		rest -= advance(c) * size / 1000;
	}
	return n_bytes - at;
}

static bool is_common(const char *text, size_t n_bytes)
{
	uint32_t c;

	for (size_t at = 0; at < n_bytes;) {
		at += next_character(text + at, n_bytes - at, &c);
		if (c >= 0x250 && c != 0x2026)
			return false;
	}
	return true;
}

/* Chooses the shown parts. Returns false if no part fits that could be recognised. */
static bool fit(const struct ts_svg_label *label, const char *text, size_t n_bytes,
		struct shown *ret_shown)
{
	double width = ts_svg_width(text, n_bytes, label->size), space = label->width - label->size;
	size_t n_characters;

	*ret_shown = (struct shown){.n_first = n_bytes, .width = width, .is_whole = true};
	ret_shown->is_common = is_common(text, n_bytes);
	if (width <= label->width)
		return n_bytes != 0;
	ret_shown->is_whole = false;
	ret_shown->n_first = fit_first(text, n_bytes, label->cuts_middle ? space * 0.6 : space,
				       label->size, &n_characters);
	width = ts_svg_width(text, ret_shown->n_first, label->size);
	if (label->cuts_middle && n_characters > 1) {
		ret_shown->n_last = fit_last(text, n_bytes, space - width, label->size);
		width += ts_svg_width(text + n_bytes - ret_shown->n_last, ret_shown->n_last,
				      label->size);
	}
	ret_shown->width = width + label->size;
	return n_characters > 1;
}

/* Returns a limit for the bytes of a name, so that long names cannot make a huge picture. */
static size_t limit_name(const struct ts_svg *svg, const char *name, size_t n_bytes)
{
	size_t max = svg->text.n < LONG_NAMES_BYTES ? MAX_NAME_BYTES : MAX_LATER_NAME_BYTES;

	if (n_bytes <= max)
		return n_bytes;
	while (max && ((unsigned char)name[max] & 0xc0) == 0x80)
		max--;
	return max;
}

void ts_svg_name(struct ts_svg *svg, const char *name, size_t n_bytes)
{
	size_t n = limit_name(svg, name, n_bytes);

	ts_svg_escaped(svg, name, n);
	if (n < n_bytes)
		ts_svg_raw(svg, ELLIPSIS);
}

void ts_svg_label(struct ts_svg *svg, const struct ts_svg_label *label, const char *text,
		  size_t n_bytes)
{
	static const char *const anchors[] = {"", " text-anchor=\"middle\"",
					      " text-anchor=\"end\""};
	struct shown shown;

	/* A longer name fits in no picture. */
	if (n_bytes > MAX_NAME_BYTES)
		n_bytes = limit_name(svg, text, n_bytes);
	if (!fit(label, text, n_bytes, &shown))
		return;
	ts_svg_rawf(svg, "<text class=\"%s\"", label->css_class);
	attribute(svg, "x", label->x);
	attribute(svg, "y", label->y);
	ts_svg_raw(svg, anchors[label->anchor]);
	if (!shown.is_common) {
		attribute(svg, "textLength", shown.width);
		ts_svg_raw(svg, " lengthAdjust=\"spacingAndGlyphs\"");
	}
	ts_svg_raw(svg, ">");
	if (!shown.is_whole && !label->no_tooltip) {
		ts_svg_raw(svg, "<title>");
		ts_svg_name(svg, text, n_bytes);
		ts_svg_raw(svg, "</title>");
	}
	ts_svg_escaped(svg, text, shown.n_first);
	if (!shown.is_whole)
		ts_svg_raw(svg, ELLIPSIS);
	ts_svg_escaped(svg, text + n_bytes - shown.n_last, shown.n_last);
	ts_svg_raw(svg, "</text>\n");
}

void ts_svg_labelf(struct ts_svg *svg, const struct ts_svg_label *label, const char *format, ...)
{
	char text[MAX_FORMATTED_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	ts_svg_label(svg, label, text, strlen(text));
}

/* ---- the whole ------------------------------------------------------------------------------- */

void ts_svg_begin(struct ts_svg *svg, double width, double height, const char *description)
{
	*svg = (struct ts_svg){0};
	ts_svg_raw(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ts-picture\"");
	attribute(svg, "width", width);
	attribute(svg, "height", height);
	ts_svg_raw(svg, " viewBox=\"0 0 ");
	ts_svg_number(svg, width);
	ts_svg_raw(svg, " ");
	ts_svg_number(svg, height);
	ts_svg_rawf(svg, "\" role=\"img\" aria-label=\"%s\">\n<style>\n", description);
	ts_svg_raw(svg, style);
	ts_svg_raw(svg, "</style>\n");
	ts_svg_rect(svg, "bg", 0, 0, width, height);
}

int ts_svg_finish(struct ts_svg *svg, char **ret_text, size_t *ret_n_bytes)
{
	ts_svg_raw(svg, "</svg>\n");
	append(svg, "", 1);
	if (svg->error)
		return svg->error;
	*ret_n_bytes = svg->text.n - 1;
	*ret_text = (char *)ts_take_ptr(svg->text.bytes);
	ts_svg_deinit(svg);
	return 0;
}

void ts_svg_deinit(struct ts_svg *svg)
{
	ts_buffer_deinit(&svg->text);
}
