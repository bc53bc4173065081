/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl timeline: prints a line per stream with its work in each column's time, and the sums.
 * main.c runs it; replay/state/overview computes the numbers.
 */
#include "proto/abi/base.h"
#include "proto/rpc/json.h"
#include "replay/report/pictures/picture.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/message-texts.h"
#include "tools/tsctl/screen/out.h"
#include "tools/tsctl/screen/term.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/trace/ask.h"
#include "tools/tsctl/trace/picturefile.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>

#define DEFAULT_WIDTH 100u
#define MIN_WIDTH     20u
#define MAX_WIDTH     10000
#define LABEL_COLUMNS 24u
#define RULER_COLUMNS 16u /* between two times */
/* Width of the share behind the columns: " 100.0 %". */
#define SHARE_COLUMNS 8u

struct asked {
	struct ts_asking asking;
	struct ts_time from, to;
	bool ascii;
	uint64_t width; /* 0: terminal width, or the default of a picture */
	unsigned int format;
	const char *output;
};

/* ---- for people ------------------------------------------------------------------------------ */

/*
 * Characters for a column's busy share, from little to all of its time. Compute and copies differ
 * without colours, too.
 */
static const char *const compute_blocks[] = {"\u2581", "\u2582", "\u2583", "\u2584",
					     "\u2585", "\u2586", "\u2587", "\u2588"};
static const char *const copy_blocks[] = {"\u2591", "\u2592", "\u2593"};
static const char *const compute_letters[] = {".", ":", "+", "#"};
static const char *const copy_letters[] = {"-", "=", "%"};

static const char *glyph(const char *const *glyphs, size_t n, uint64_t ns, uint64_t part_ns)
{
	/* The full time, or more than that in a malformed trace. */
	if (ns >= part_ns)
		return glyphs[n - 1];
	return glyphs[(size_t)((double)ns / (double)part_ns * (double)n) % n];
}

static void print_column(const struct asked *asked, const Ts__Rpc__TimelinePart *part,
			 uint64_t part_ns)
{
	bool is_copy = part->copy_ns > part->compute_ns;
	const char *text;

	if (!part->copy_ns && !part->compute_ns) {
		putchar(' ');
		return;
	}
	if (is_copy)
		text = asked->ascii ? glyph(copy_letters, TS_ARRAY_LEN(copy_letters), part->copy_ns,
					    part_ns)
				    : glyph(copy_blocks, TS_ARRAY_LEN(copy_blocks), part->copy_ns,
					    part_ns);
	else
		text = asked->ascii ? glyph(compute_letters, TS_ARRAY_LEN(compute_letters),
					    part->compute_ns, part_ns)
				    : glyph(compute_blocks, TS_ARRAY_LEN(compute_blocks),
					    part->compute_ns, part_ns);
	printf("%s%s%s", ts_term_style(stdout, is_copy ? TS_STYLE_YELLOW : TS_STYLE_GREEN), text,
	       ts_term_style(stdout, TS_STYLE_PLAIN));
}

static double percent(uint64_t ns, uint64_t of_ns)
{
	return of_ns ? 100.0 * (double)ns / (double)of_ns : 0;
}

static void print_stream(const struct asked *asked, const Ts__Rpc__TimelineReport *report,
			 const Ts__Rpc__TimelineStream *stream, bool many_sessions)
{
	char label[512];
	size_t columns;
	int n;

	if (stream->has_stream)
		n = snprintf(label, sizeof(label), "stream %" PRIu32, stream->stream);
	else
		n = snprintf(label, sizeof(label), "no stream");
	if (stream->name)
		n += snprintf(label + n, sizeof(label) - (size_t)n, " %.200s", stream->name);
	if (many_sessions)
		snprintf(label + n, sizeof(label) - (size_t)n, " (%" PRIu32 ")", stream->session);
	columns = ts_out_width(label);
	fputs("  ", stdout);
	ts_out_text_cut(stdout, label, LABEL_COLUMNS - 3);
	printf("%*s|", columns < LABEL_COLUMNS - 3 ? (int)(LABEL_COLUMNS - 3 - columns) : 0, "");
	for (size_t i = 0; i < stream->n_parts; i++)
		print_column(asked, stream->parts[i], report->part_ns);
	printf("|%5.1f %%\n", percent(stream->busy_ns, report->end_ns - report->start_ns));
}

/*
 * Prints, below the streams, the times of the first and last column and of every tenth of a line.
 */
static void print_ruler(const Ts__Rpc__TimelineReport *report, size_t n_columns, uint64_t origin_ns)
{
	size_t at = 0;

	printf("%*s", (int)LABEL_COLUMNS, "");
	while (at < n_columns) {
		uint64_t ns = report->start_ns + at * report->part_ns;
		char mark[TS_OUT_FIGURE_BYTES + 1] = "|";
		size_t n;

		ts_out_duration(mark + 1, ns > origin_ns ? ns - origin_ns : 0);
		n = strlen(mark);
		if (at + n > n_columns)
			break;
		at += n;
		fputs(mark, stdout);
		n = at % RULER_COLUMNS ? RULER_COLUMNS - at % RULER_COLUMNS : 0;
		if (at + n < n_columns)
			printf("%*s", (int)n, "");
		at += n;
	}
	putchar('\n');
}

static void print_device(const struct asked *asked, const Ts__Rpc__TimelineReport *report,
			 const Ts__Rpc__TimelineDevice *device, uint64_t origin_ns,
			 bool many_sessions)
{
	uint64_t all_ns = report->end_ns - report->start_ns;
	char figure[TS_OUT_FIGURE_BYTES];

	if (device->has_device)
		printf("GPU %" PRIu32, device->device);
	else
		printf("unknown GPU");
	if (device->name) {
		fputs(": ", stdout);
		ts_out_text(stdout, device->name);
	}
	putchar('\n');
	for (size_t i = 0; i < device->n_streams; i++)
		print_stream(asked, report, device->streams[i], many_sessions);
	if (device->n_streams)
		print_ruler(report, device->streams[0]->n_parts, origin_ns);
	printf("  busy %.1f %% (%s): compute %.1f %%", percent(device->busy_ns, all_ns),
	       ts_out_duration(figure, device->busy_ns), percent(device->compute_ns, all_ns));
	printf(", copies %.1f %%, both at once %.1f %%\n", percent(device->copy_ns, all_ns),
	       percent(device->overlap_ns, all_ns));
	printf("  operations at once while busy: %.2f on average, %" PRIu32 " at most\n",
	       device->mean_at_once, device->max_at_once);
	if (device->occupancy) {
		printf("  occupancy at most %.1f %% on average; limited mostly by: ",
		       100 * device->occupancy->share);
		ts_out_text(stdout, device->occupancy->limit);
		putchar('\n');
	}
	printf("  idle %.1f %% (%s)", percent(device->idle_ns, all_ns),
	       ts_out_duration(figure, device->idle_ns));
	for (size_t i = 0; i < device->n_idle; i++) {
		fputs(i ? ", " : ": ", stdout);
		ts_out_text(stdout, device->idle[i]->cause);
		printf(" %.1f %%", percent(device->idle[i]->ns, all_ns));
	}
	putchar('\n');
}

static void print_report(const void *data, const struct ts_about *about,
			 const ProtobufCMessage *body)
{
	const Ts__Rpc__TimelineReport *report = (const void *)body;
	const struct asked *asked = data;
	uint64_t origin_ns = about->origin_ns;
	bool many_sessions = about->many_sessions;
	char from[TS_OUT_FIGURE_BYTES], to[TS_OUT_FIGURE_BYTES], part[TS_OUT_FIGURE_BYTES];

	fputs(ts_term_style(stdout, TS_STYLE_BOLD), stdout);
	ts_out_text(stdout, about->path);
	fputs(ts_term_style(stdout, TS_STYLE_PLAIN), stdout);
	if (!report->n_devices) {
		puts(": no GPU operation in this window.");
		return;
	}
	printf(": %s s to %s s, a column is %s\n",
	       ts_out_seconds(from,
			      report->start_ns > origin_ns ? report->start_ns - origin_ns : 0),
	       ts_out_seconds(to, report->end_ns > origin_ns ? report->end_ns - origin_ns : 0),
	       ts_out_duration(part, report->part_ns));
	for (size_t i = 0; i < report->n_devices; i++)
		print_device(asked, report, report->devices[i], origin_ns, many_sessions);
	if (asked->ascii)
		puts("Part of a column's time: compute .:+#  copies -=%");
	else
		puts("Part of a column's time: compute \u2581\u2582\u2583\u2584\u2585\u2586\u2587"
		     "\u2588  copies \u2591\u2592\u2593");
	puts("Idle: host (before the launch), call (in the launch), dispatch (operation on\n"
	     "      the way to the device), dependency (waiting for an operation), end (no\n"
	     "      more launch). `tsctl gaps` lists the causes.");
	ts_text_clocks(report->clocks);
	ts_text_doubts(stdout, "", report->doubts);
}

/* ---- pictures -------------------------------------------------------------------------------- */

static int draw(void *data, const struct ts_about *about, const ProtobufCMessage *body)
{
	const struct asked *asked = data;
	struct ts_picture_options options;
	char *svg = NULL;
	size_t n_bytes = 0;
	int r;

	ts_picture_file_options(about, asked->width, &options);
	r = ts_picture_timeline((const void *)body, &options, &svg, &n_bytes);
	return ts_picture_file_write(asked->output, asked->format, r, svg, n_bytes);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/*
 * Returns whether the locale is UTF-8, by the rules of the C library. tsctl has no other use for
 * setlocale().
 */
static bool is_utf8_locale(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < TS_ARRAY_LEN(variables); i++) {
		const char *value = secure_getenv(variables[i]);

		if (value && *value)
			return strstr(value, "UTF-8") || strstr(value, "utf8") ||
			       strstr(value, "utf-8");
	}
	return false;
}

static uint32_t n_columns(const struct asked *asked)
{
	unsigned int width = ts_term_width(stdout);

	if (asked->width)
		return (uint32_t)asked->width;
	if (!width)
		return DEFAULT_WIDTH;
	return width > LABEL_COLUMNS + SHARE_COLUMNS + MIN_WIDTH + 1
		       ? width - LABEL_COLUMNS - SHARE_COLUMNS - 1
		       : MIN_WIDTH;
}

static int ask(struct asked *asked)
{
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	Ts__Rpc__Query__Timeline timeline = TS__RPC__QUERY__TIMELINE__INIT;
	Ts__Rpc__Moment from, to;

	if (asked->from.is_given)
		timeline.from = ts_ask_moment(&asked->from, &from);
	if (asked->to.is_given)
		timeline.to = ts_ask_moment(&asked->to, &to);
	if (ts_picture_file_is_drawn(asked->format)) {
		TS_RPC_SET(&timeline, parts, ts_picture_parts((uint32_t)asked->width));
		TS_RPC_SET(&timeline, device_parts, true);
	} else {
		TS_RPC_SET(&timeline, parts, n_columns(asked));
	}
	query.body_case = TS__RPC__QUERY__BODY_TIMELINE;
	query.timeline = &timeline;
	asked->asking.is_one = true;
	if (ts_picture_file_is_drawn(asked->format))
		asked->asking.take = draw;
	else
		asked->asking.print = print_report;
	asked->asking.data = asked;
	return ts_ask(&asked->asking, &query);
}

static const struct ts_option command_options[] = {
	{"from", TS_OPTION_LONG, TS_OPTION_MOMENT(struct asked, from), .metavar = "TIME",
	 .joint = ", "},
	{"to", TS_OPTION_LONG, TS_OPTION_MOMENT(struct asked, to), .metavar = "TIME",
	 .help = "\n"
		 "draw this window, as with `tsctl view` (default: from the\n"
		 "first operation to the end of the last)"},
	{"width", 'w', TS_OPTION_NUMBER(struct asked, width), .min = 1, .max = MAX_WIDTH,
	 .metavar = "N",
	 .expects = "expected a number of columns, at most " TS_OPTION_DIGITS(MAX_WIDTH),
	 .help = "draw N columns (default: the terminal's width); with svg,\n"
		 "N pixels (default: 1200)"},
	{"format", TS_OPTION_LONG, TS_OPTION_CHOICE(struct asked, format),
	 .words = ts_picture_file_formats, .metavar = "FORMAT", .expects = TS_PICTURE_FILE_EXPECTS,
	 .joint = ", "},
	{"output", 'o', TS_OPTION_FILE(struct asked, output), .metavar = "FILE",
	 .help = "\n"
		 "print text (default), json, or a picture (svg, png) to FILE"},
	{"ascii", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, ascii),
	 .help = "draw in ASCII (default: blocks if the locale is UTF-8)"},
	{"session", 's', TS_OPTION_SESSION(struct asked, asking.session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid"},
	{"served", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, asking.served),
	 .help = "have the daemon answer"},
	{"json", 'j', TS_OPTION_FLAG(struct asked, asking.json), .is_letter_unmentioned = true,
	 .help = "print one JSON object, with the columns' times"},
	{0},
};

static int run_timeline(int argc, char **argv)
{
	struct asked asked = {.ascii = !is_utf8_locale()};
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_timeline, argc, argv, &asked, &operands))
		return TS_EXIT_BAD;
	if (ts_one_trace(&operands, asked.asking.session, "timeline", ""))
		return TS_EXIT_BAD;
	asked.asking.file = operands.words[0];
	if (ts_picture_file_check(asked.format, asked.output, &asked.asking.json))
		return TS_EXIT_BAD;
	return ask(&asked);
}

const struct ts_command ts_command_timeline = {
	.name = "timeline",
	.summary = "draw the work of streams and the load of GPUs over time",
	.text = "usage: tsctl timeline [OPTION ...] FILE | --session N\n"
		"\n"
		"Draw a line for each stream: a column shows the share of its time in kernels or\n"
		"copies. Below each GPU, print its busy time, its operations at once, the\n"
		"occupancy of its kernels, and the causes of idle time. Occupancy is an upper\n"
		"bound, computed from grid, registers, shared memory and blocks.\n"
		"\n",
	.example = "timeline --from 1.2s --to 1.3s run.sbt",
	.help_column = 21,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_timeline,
};
