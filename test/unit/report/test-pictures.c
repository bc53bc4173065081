/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pictures: every text is escaped and in its box, the size is bounded, equal input gives equal
 * bytes, and messages with missing fields are accepted.
 */
#include "proto/rpc/json.h"
#include "replay/report/pictures/figures.h"
#include "replay/report/pictures/picture.h"
#include "replay/report/pictures/svg.h"
#include "test/unit/harness.h"

#include <string.h>

#define MAX_BYTES (3u << 20)

/* Returns the times that `part` is in `text`. */
static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text += strlen(part))
		n++;
	return n;
}

/* Checks that tags are balanced, and that text has no forbidden character. */
static void check_markup(const char *svg, size_t n_bytes)
{
	unsigned int depth = 0;

	ts_check_int(strlen(svg), n_bytes);
	for (const char *at = svg; *at; at++) {
		ts_check((unsigned char)*at >= 0x20 || *at == '\n');
		if (*at != '<')
			continue;
		if (at[1] == '/') {
			ts_check(depth > 0);
			depth--;
			continue;
		}
		depth++;
		for (; *at != '>'; at++) {
			ts_check(*at);
			if (at[0] == '/' && at[1] == '>')
				depth--;
		}
	}
	ts_check_int(depth, 0);
	ts_check(!strncmp(svg, "<svg ", 5));
}

/* ---- text ------------------------------------------------------------------------------------ */

static char *escape(const char *text, size_t n_bytes)
{
	struct ts_svg svg = {0};

	ts_svg_escaped(&svg, text, n_bytes);
	ts_check_int(ts_buffer_append(&svg.text, "", 1), 0);
	return (char *)svg.text.bytes;
}

TS_TEST(hostile_text_is_escaped)
{
	static const struct {
		const char *text;
		size_t n_bytes;
		const char *escaped;
	} texts[] = {
		{"a<b>&\"c", 7, "a&lt;b&gt;&amp;&quot;c"},
		{"]]></svg>", 9, "]]&gt;&lt;/svg&gt;"},
		{"a\0b\x1b[1m\n", 8,
		 "a\xef\xbf\xbd"
		 "b\xef\xbf\xbd[1m\xef\xbf\xbd"},
		{"\xff\xc0\xaf", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{"\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* a surrogate */
		{"\xe2\x80\xae"
		 "evil",
		 7,
		 "\xef\xbf\xbd"
		 "evil"},			     /* right to left */
		{"e\xcc\x81", 3, "e\xef\xbf\xbd"},   /* a combining mark */
		{"\xef\xbf\xbf", 3, "\xef\xbf\xbd"}, /* U+FFFF */
		{"\xc3\xa9\xe6\xbc\xa2", 5, "\xc3\xa9\xe6\xbc\xa2"},
		{"\xe6\xbc", 2, "\xef\xbf\xbd\xef\xbf\xbd"}, /* cut off */
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char *escaped = escape(texts[i].text, texts[i].n_bytes);

		ts_check_str(escaped, texts[i].escaped);
		free(escaped);
	}
}

TS_TEST(labels_stay_in_their_boxes)
{
	static const char *const names[] = {
		"saxpy",
		"void at::native::vectorized_elementwise_kernel(int, float)",
		"WWWWWWWWWWWW",
		"iiiiiiiiiiiiiiiiiiiiiiiiii",
		"\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		size_t n_bytes = strlen(names[i]);

		for (double width = 0; width < 400; width += 7) {
			struct ts_svg svg = {0};
			const struct ts_svg_label label = {.css_class = "f",
							   .width = width,
							   .size = 12,
							   .cuts_middle = (int)width % 2};
			const char *text, *end, *shown;

			ts_svg_label(&svg, &label, names[i], n_bytes);
			ts_check_int(svg.error, 0);
			if (!svg.text.n) {
				ts_check(ts_svg_width(names[i], n_bytes, 12) > width);
				continue;
			}
			ts_check_int(ts_buffer_append(&svg.text, "", 1), 0);
			text = (const char *)svg.text.bytes;
			end = strstr(text, "</text>");
			shown = strstr(text, "</title>");
			/* A cut name has the whole name as its tooltip. */
			ts_check(!shown == (ts_svg_width(names[i], n_bytes, 12) <= width));
			shown = shown ? shown + strlen("</title>") : strchr(text, '>') + 1;
			ts_check(ts_svg_width(shown, (size_t)(end - shown), 12) <= width);
			ts_svg_deinit(&svg);
		}
	}
}

TS_TEST(the_first_failure_is_returned)
{
	struct ts_svg svg = {0};
	size_t n_bytes = 7;
	char *text = NULL;

	ts_svg_begin(&svg, 100, 100, "test");
	svg.error = -ENOMEM;
	ts_svg_rect(&svg, NULL, 1, 2, 3, 4);
	ts_svg_escapedf(&svg, "%s", "text");
	ts_check_int(ts_svg_finish(&svg, &text, &n_bytes), -ENOMEM);
	ts_check(!text && n_bytes == 7);
	ts_svg_deinit(&svg);
}

TS_TEST(figures_have_four_digits)
{
	char text[TS_FIGURE_BYTES];

	ts_check_str(ts_figure_duration(text, 999), "999 ns");
	ts_check_str(ts_figure_duration(text, 1500), "1.500 us");
	ts_check_str(ts_figure_duration(text, UINT64_C(12345678901)), "12.35 s");
	ts_check_str(ts_figure_exact(text, 12500000, 13000000), "12.5 ms");
	ts_check_str(ts_figure_exact(text, 12000000, 13000000), "12 ms");
	ts_check_str(ts_figure_exact(text, 0, 13000000), "0 ms");
	ts_check_str(ts_figure_exact(text, 7, 9), "7 ns");
	ts_check_str(ts_figure_exact(text, UINT64_MAX, UINT64_MAX), "18446744073.709551615 s");
	ts_check_str(ts_figure_bytes(text, 1023), "1023 B");
	ts_check_str(ts_figure_bytes(text, 512 * 1024), "512.0 KiB");
	ts_check_str(ts_figure_bytes(text, UINT64_MAX), "16.00 EiB");
	ts_check_str(ts_figure_round_bytes(text, UINT64_C(8) << 30), "8 GiB");
	ts_check_str(ts_figure_round_bytes(text, 1536), "1.5 KiB");
	ts_check_str(ts_figure_round_bytes(text, 100), "100 B");
	ts_check_str(ts_figure_round_bytes(text, 100 << 10), "100 KiB");
	ts_check_str(ts_figure_count(text, 1234567), "1,234,567");
	ts_check_str(ts_figure_percent(text, 1, 3), "33.3 %");
	ts_check_str(ts_figure_percent(text, 1, 0), "0.0 %");
}

/* ---- timelines ------------------------------------------------------------------------------- */

static char hostile_name[] = "GPU <&\xff>";

struct timeline {
	Ts__Rpc__TimelineReport report;
	Ts__Rpc__TimelineDevice *devices, **device_list;
	Ts__Rpc__TimelineStream *streams, **stream_list;
	Ts__Rpc__TimelinePart *parts, **part_list;
	Ts__Rpc__TimelineParts of_device; /* the same for each */
};

/* Makes a timeline in which streams and parts differ. */
static void make_timeline(struct timeline *timeline, size_t n_devices, size_t n_streams,
			  size_t n_parts)
{
	size_t n = n_devices * n_streams;

	*timeline = (struct timeline){
		.devices = calloc(n_devices, sizeof(*timeline->devices)),
		.device_list = calloc(n_devices, sizeof(*timeline->device_list)),
		.streams = calloc(n, sizeof(*timeline->streams)),
		.stream_list = calloc(n, sizeof(*timeline->stream_list)),
		.parts = calloc(n_parts, sizeof(*timeline->parts)),
		.part_list = calloc(n_parts, sizeof(*timeline->part_list)),
	};
	ts__rpc__timeline_report__init(&timeline->report);
	TS_RPC_SET(&timeline->report, start_ns, 1000000);
	TS_RPC_SET(&timeline->report, end_ns, 1000000 + 1000 * n_parts);
	TS_RPC_SET(&timeline->report, part_ns, 1000);
	for (size_t i = 0; i < n_parts; i++) {
		ts__rpc__timeline_part__init(&timeline->parts[i]);
		TS_RPC_SET(&timeline->parts[i], compute_ns, i * 37 % 900);
		TS_RPC_SET(&timeline->parts[i], copy_ns, i * 53 % 101);
		timeline->part_list[i] = &timeline->parts[i];
	}
	ts__rpc__timeline_parts__init(&timeline->of_device);
	timeline->of_device.parts = timeline->part_list;
	timeline->of_device.n_parts = n_parts;
	for (size_t i = 0; i < n; i++) {
		Ts__Rpc__TimelineStream *stream = &timeline->streams[i];

		ts__rpc__timeline_stream__init(stream);
		TS_RPC_SET(stream, stream, (uint32_t)i);
		TS_RPC_SET(stream, busy_ns, i);
		stream->parts = timeline->part_list;
		stream->n_parts = n_parts;
		timeline->stream_list[i] = stream;
	}
	for (size_t i = 0; i < n_devices; i++) {
		Ts__Rpc__TimelineDevice *device = &timeline->devices[i];

		ts__rpc__timeline_device__init(device);
		TS_RPC_SET(device, device, (uint32_t)i);
		device->name = hostile_name;
		device->streams = timeline->stream_list + i * n_streams;
		device->n_streams = n_streams;
		device->parts = &timeline->of_device;
		timeline->device_list[i] = device;
	}
	timeline->report.devices = timeline->device_list;
	timeline->report.n_devices = n_devices;
}

static void free_timeline(struct timeline *timeline)
{
	free(timeline->devices);
	free(timeline->device_list);
	free(timeline->streams);
	free(timeline->stream_list);
	free(timeline->parts);
	free(timeline->part_list);
}

/* A second picture must be the same, so its markup is not checked again. */
static char *draw_timeline(const Ts__Rpc__TimelineReport *report, uint32_t width)
{
	const struct ts_picture_options options = {.width = width,
						   .title = "a<b>.sbt",
						   .origin_ns = 1000};
	char *svg, *again;
	size_t n_bytes;

	ts_check_int(ts_picture_timeline(report, &options, &svg, &n_bytes), 0);
	check_markup(svg, n_bytes);
	ts_check(n_bytes < MAX_BYTES);
	ts_check_int(ts_picture_timeline(report, &options, &again, &n_bytes), 0);
	ts_check_str(again, svg);
	free(again);
	ts_check(strstr(svg, "a&lt;b&gt;.sbt"));
	return svg;
}

TS_TEST(timelines_of_any_size_are_bounded_and_equal)
{
	static const size_t sizes[][3] = {
		{1, 1, 1},	{1, 3, 480},	{64, 2, 480},	 {100, 1, 480},
		{1, 1000, 480}, {1, 2, 100000}, {2, 100, 10000},
	};
	static const uint32_t widths[] = {0, 1, 320, 777, 1200, UINT32_MAX};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct timeline timeline;

		make_timeline(&timeline, sizes[i][0], sizes[i][1], sizes[i][2]);
		/* A sanitizer sees each size in one width, and each width. */
		size_t step =
			TS_TEST_SANITIZED && !ts_soak() ? sizeof(widths) / sizeof(*widths) : 1;

		for (size_t j = step > 1 ? i % step : 0; j < sizeof(widths) / sizeof(*widths);
		     j += step) {
			char *svg = draw_timeline(&timeline.report, widths[j]);

			ts_check(strstr(svg, "GPU &lt;&amp;\xef\xbf\xbd&gt;"));
			ts_check(!strstr(svg, "not shown") ==
				 (sizes[i][0] <= 64 && sizes[i][1] <= 160 / sizes[i][0]));
			free(svg);
		}
		free_timeline(&timeline);
	}
}

TS_TEST(the_busiest_streams_are_drawn)
{
	struct timeline timeline;
	char *svg;

	make_timeline(&timeline, 1, 1000, 10);
	svg = draw_timeline(&timeline.report, 0);
	ts_check(strstr(svg, ">stream 999<") && strstr(svg, ">stream 840<"));
	ts_check(!strstr(svg, ">stream 839<"));
	ts_check(strstr(svg, "840 streams with less work are not shown"));
	free(svg);
	/* Equal streams: the first ones. */
	for (size_t i = 0; i < 1000; i++)
		timeline.streams[i].busy_ns = 5;
	svg = draw_timeline(&timeline.report, 0);
	ts_check(strstr(svg, ">stream 0<") && strstr(svg, ">stream 159<"));
	ts_check(!strstr(svg, ">stream 160<"));
	free(svg);
	free_timeline(&timeline);
}

TS_TEST(equal_columns_are_one_bar)
{
	struct timeline timeline;
	char *svg;

	make_timeline(&timeline, 1, 1, 400);
	timeline.devices[0].parts = NULL;
	for (size_t i = 0; i < 400; i++) {
		timeline.parts[i].compute_ns = i < 100 ? 500 : 0;
		timeline.parts[i].copy_ns = i == 300 ? 1000 : 0;
	}
	svg = draw_timeline(&timeline.report, 0);
	ts_check_int(count(svg, "<rect x="), 2);
	ts_check(strstr(svg, ">0.999 ms to 1.099 ms, kernels 50.0 %<"));
	ts_check(strstr(svg, ">1.299 ms to 1.3 ms, copies 100.0 %<"));
	free(svg);
	free_timeline(&timeline);
}

TS_TEST(timelines_without_fields_are_drawn)
{
	Ts__Rpc__TimelineReport report = TS__RPC__TIMELINE_REPORT__INIT;
	struct timeline timeline;
	char *svg = draw_timeline(&report, 0);

	ts_check(strstr(svg, "no GPU operation in this window"));
	free(svg);
	make_timeline(&timeline, 2, 2, 5);
	/* One instant; times beyond 64 bits; a window that ends before it begins. */
	for (int i = 0; i < 3; i++) {
		timeline.report.start_ns = i == 1 ? UINT64_MAX - 3 : 5;
		timeline.report.end_ns = i == 1 ? UINT64_MAX : i ? 2 : 5;
		timeline.report.part_ns = i == 1 ? UINT64_MAX : 0;
		free(draw_timeline(&timeline.report, 500));
	}
	timeline.report.damaged = 1;
	svg = draw_timeline(&timeline.report, 0);
	ts_check(strstr(svg, "rows are missing: the trace is damaged"));
	free(svg);
	timeline.devices[0].n_streams = 0;
	timeline.devices[1].has_device = 0;
	timeline.devices[1].name = NULL;
	timeline.streams[2].n_parts = 0;
	timeline.streams[3].has_stream = 0;
	free(draw_timeline(&timeline.report, 0));
	free_timeline(&timeline);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static char *draw_memory(const Ts__Rpc__MemoryReport *report, uint32_t width)
{
	const struct ts_picture_options options = {.width = width};
	char *svg;
	size_t n_bytes;

	ts_check_int(ts_picture_memory(report, &options, &svg, &n_bytes), 0);
	check_markup(svg, n_bytes);
	ts_check(n_bytes < MAX_BYTES);
	return svg;
}

TS_TEST(memory_of_many_devices_is_bounded)
{
	enum {
		DEVICES = 64,
		POINTS = 10000
	};
	Ts__Rpc__MemoryReport report = TS__RPC__MEMORY_REPORT__INIT;
	static Ts__Rpc__MemoryPoint points[POINTS], *point_list[POINTS];
	static Ts__Rpc__MemoryCurve curves[DEVICES], *curve_list[DEVICES];
	Ts__Rpc__MemoryCurves list = TS__RPC__MEMORY_CURVES__INIT;
	static char name[] = "\x1b]0;<evil>";
	char *svg, *again;

	for (uint32_t i = 0; i < POINTS; i++) {
		ts__rpc__memory_point__init(&points[i]);
		TS_RPC_SET(&points[i], start_ns, 1000 + i * UINT64_C(1000));
		TS_RPC_SET(&points[i], bytes, i * UINT64_C(7919) % 100003 << 20);
		point_list[i] = &points[i];
	}
	for (uint32_t i = 0; i < DEVICES; i++) {
		ts__rpc__memory_curve__init(&curves[i]);
		TS_RPC_SET(&curves[i], device, i);
		TS_RPC_SET(&curves[i], peak_bytes, UINT64_C(100003) << 20);
		TS_RPC_SET(&curves[i], peak_ns, 5000000);
		TS_RPC_SET(&curves[i], capacity_bytes, i ? UINT64_C(1) << 37 : UINT64_MAX);
		curves[i].name = i % 2 ? name : NULL;
		curves[i].points = point_list;
		curves[i].n_points = POINTS;
		curve_list[i] = &curves[i];
	}
	list.devices = curve_list;
	list.n_devices = DEVICES;
	TS_RPC_SET(&list, omitted, 1234);
	report.curves = &list;
	svg = draw_memory(&report, 0);
	again = draw_memory(&report, 0);
	ts_check_str(svg, again);
	ts_check_int(count(svg, "class=\"dot\""), DEVICES);
	ts_check(!strstr(svg, "<evil>"));
	ts_check(strstr(svg, "1,234 allocations and frees on further GPUs are not shown"));
	free(svg);
	free(again);
	free(draw_memory(&report, 320));
}

TS_TEST(memory_without_curves_is_the_sum)
{
	Ts__Rpc__MemoryReport report = TS__RPC__MEMORY_REPORT__INIT;
	Ts__Rpc__MemoryPoint points[2] = {TS__RPC__MEMORY_POINT__INIT, TS__RPC__MEMORY_POINT__INIT};
	Ts__Rpc__MemoryPoint *list[2] = {&points[0], &points[1]};
	char *svg = draw_memory(&report, 0);

	ts_check(strstr(svg, "no GPU memory was allocated"));
	free(svg);
	points[1].start_ns = 1000;
	points[1].bytes = 4096;
	report.points = list;
	report.n_points = 2;
	report.peak_bytes = 4096;
	svg = draw_memory(&report, 0);
	ts_check(strstr(svg, "All GPUs"));
	ts_check(strstr(svg, "1 us to 2 us: at most 4.000 KiB (4,096 bytes)"));
	free(svg);
	/* Points without times, and bytes above the peak. */
	points[1].start_ns = 0;
	points[0].bytes = UINT64_MAX;
	free(draw_memory(&report, 0));
	report.n_points = 1;
	free(draw_memory(&report, 0));
}

/* ---- flame graphs ---------------------------------------------------------------------------- */

static char *draw_flame(const struct ts_picture_frame *frames, uint32_t n_frames)
{
	const struct ts_picture_options options = {0};
	char *svg;
	size_t n_bytes;

	ts_check_int(ts_picture_flame(frames, n_frames, "GPU time by launching stack",
				      TS_PICTURE_NS, &options, &svg, &n_bytes),
		     0);
	check_markup(svg, n_bytes);
	ts_check(n_bytes < MAX_BYTES);
	return svg;
}

TS_TEST(a_flame_graph_has_sums)
{
	static const struct ts_picture_frame frames[] = {
		{0, TS_PICTURE_NATIVE, "main", 4, 10},
		{1, TS_PICTURE_PYTHON, "small", 5, 10},
		{1, TS_PICTURE_PYTHON, "large", 5, 30},
		{3, TS_PICTURE_OPERATION, "k<int>", 6, 50},
	};
	char *svg = draw_flame(frames, 4), *large, *small;

	ts_check(strstr(svg, "GPU time by launching stack, 100 ns in all"));
	ts_check(strstr(svg, ">main\n100 ns, 100.0 %<"));
	large = strstr(svg, ">large\n80 ns, 80.0 %<");
	small = strstr(svg, ">small\n10 ns, 10.0 %<");
	ts_check(large && small && large < small);
	ts_check(strstr(svg, ">k&lt;int&gt;\n50 ns, 50.0 %<"));
	/* A tenth of 1168 pixels, behind the larger callee. */
	ts_check(strstr(svg, "x=\"950.4\" y=\"120\" width=\"116.8\""));
	free(svg);
}

TS_TEST(flame_graphs_of_any_size_are_bounded)
{
	enum {
		FRAMES = 100000
	};
	struct ts_picture_frame *frames = calloc(FRAMES, sizeof(*frames));
	char *svg, *again;

	/* Many stacks; one stack, which is deep; many small callees of one caller. */
	for (int form = 0; form < 3; form++) {
		for (uint32_t i = 0; i < FRAMES; i++)
			frames[i] = (struct ts_picture_frame){
				.parent = form == 0   ? i / 3
					  : form == 1 ? i
					  : i	      ? 1
						      : 0,
				.kind = i % TS_PICTURE_N_KINDS,
				.name = "void kernel<\"x\", &y>(float*)",
				.n_name_bytes = 5 + i % 24,
				.weight = form == 1 ? 1 : i % 97,
			};
		svg = draw_flame(frames, FRAMES);
		again = draw_flame(frames, FRAMES);
		ts_check_str(svg, again);
		ts_check(strstr(svg, "too narrow"));
		ts_check(form == 1 || strstr(svg, "smaller frames"));
		free(svg);
		free(again);
	}
	free(frames);
}

TS_TEST(long_names_are_cut)
{
	enum {
		FRAMES = 2000,
		BYTES = 100000
	};
	struct ts_picture_frame *frames = calloc(FRAMES, sizeof(*frames));
	char *name = malloc(BYTES), *svg;

	/* 0xc3 0xa9 is one character: no name is cut within a character. */
	for (size_t i = 0; i < BYTES; i++)
		name[i] = i % 2 ? '\xa9' : '\xc3';
	for (uint32_t i = 0; i < FRAMES; i++)
		frames[i] = (struct ts_picture_frame){.name = name,
						      .n_name_bytes = BYTES - i * 2,
						      .weight = 1};
	svg = draw_flame(frames, FRAMES);
	ts_check(strstr(svg, "\xe2\x80\xa6") && !strstr(svg, "\xef\xbf\xbd"));
	free(svg);
	frames[0].name = "void kernel_with_a_long_name<1, float, 3>(float*)";
	frames[0].n_name_bytes = strlen(frames[0].name);
	frames[0].weight = frames[1].weight = 300;
	frames[1].name = "x";
	frames[1].n_name_bytes = 1;
	frames[2].weight = 600;
	svg = draw_flame(frames, 3);
	ts_check(strstr(svg, ">void kernel_with_a_long\xe2\x80\xa6, float, 3&gt;(float*)</text>"));
	free(svg);
	free(name);
	free(frames);
}

TS_TEST(a_flame_graph_without_weights_is_drawn)
{
	struct ts_picture_frame frames[] = {{0, TS_PICTURE_NATIVE, "main", 4, 0},
					    {1, TS_PICTURE_OTHER, "", 0, 0}};
	const struct ts_picture_options options = {0};
	char *svg = draw_flame(NULL, 0);
	size_t n_bytes;

	ts_check(strstr(svg, "nothing was recorded"));
	free(svg);
	free(draw_flame(frames, 2));
	/* Sums beyond 64 bits are kept at the largest one. */
	frames[0].weight = frames[1].weight = UINT64_MAX;
	free(draw_flame(frames, 2));
	/* A caller that follows its callee. */
	frames[0].parent = 2;
	svg = NULL;
	ts_check_int(ts_picture_flame(frames, 2, "GPU time by launching stack", TS_PICTURE_NS,
				      &options, &svg, &n_bytes),
		     -EINVAL);
	ts_check(!svg);
}
