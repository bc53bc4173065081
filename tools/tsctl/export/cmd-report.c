/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl report: writes a page (HTML) about a trace, to read or to send without TraceSmith. main.c
 * runs it; tools/export/page writes the page.
 */
#include "replay/report/pictures/picture.h"
#include "tools/export/export.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/trace/outfile.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct asked {
	const char *session, *output;
	uint64_t width;
	bool mangled;
};

static const struct ts_option command_options[] = {
	{"output", 'o', TS_OPTION_FILE(struct asked, output), .metavar = "FILE",
	 .help = "write to FILE (default: stdout)"},
	{"width", 'w', TS_OPTION_NUMBER(struct asked, width), .min = TS_PICTURE_MIN_WIDTH,
	 .max = TS_PICTURE_MAX_WIDTH, .metavar = "N",
	 .expects = "expected a number of pixels, from 320 to 8192",
	 .help = "draw pictures with the details of N pixels (default: 1200)"},
	{"mangled", TS_OPTION_LONG, TS_OPTION_FLAG(struct asked, mangled),
	 .help = "print mangled kernel names in gaps and in the flame graph"},
	{"session", 's', TS_OPTION_SESSION(struct asked, session), .metavar = "N",
	 .help = "read a session of the daemon: its number or pid"},
	{0},
};

static const char *title_of(const char *path)
{
	const char *name = strrchr(path, '/');

	return name && name[1] ? name + 1 : path;
}

static int write_page(const struct asked *asked, struct ts_source *source, struct ts_outfile *out)
{
	const struct ts_export_options options = {
		.session = source->session,
		.weight = TS_EXPORT_GPU_TIME,
		.mangled = asked->mangled,
		.generator = "TraceSmith " TSCTL_VERSION,
		.width = (uint32_t)asked->width,
		.title = title_of(source->path),
		.no_memory = ts_no_memory,
	};
	struct ts_export_report report = {0};
	int r, status;

	if (out->file != stdout || !isatty(STDOUT_FILENO))
		ts_source_watch(source);
	r = ts_export(source->reader, TS_EXPORT_FORMAT_HTML, &options, out->file, &report);
	ts_source_unwatch(source);
	if (r) {
		ts_source_complain(source->path, r, ts_sbt_reader_error(source->reader));
		return TS_EXIT_BAD;
	}
	status = ts_outfile_finish(out);
	if (!status && report.damaged) {
		ts_source_complain(source->path, TS_SBT_E_CORRUPT, &report.damage);
		status = TS_EXIT_BAD;
	}
	return status;
}

static int run_report(int argc, char **argv)
{
	ts_cleanup(ts_source_deinit) struct ts_source source = {0};
	ts_cleanup(ts_outfile_deinit) struct ts_outfile out = {.fd = -1};
	struct asked asked = {0};
	struct ts_operands operands;

	if (ts_options_parse(&ts_command_report, argc, argv, &asked, &operands) ||
	    ts_one_trace(&operands, asked.session, "report", ""))
		return TS_EXIT_BAD;
	if (ts_source_open(&source, operands.words[0], asked.session) ||
	    ts_outfile_open(&out, asked.output))
		return TS_EXIT_BAD;
	return write_page(&asked, &source, &out);
}

const struct ts_command ts_command_report = {
	.name = "report",
	.summary = "write a page for a browser: answers, tables, pictures",
	.text = "usage: tsctl report [OPTION ...] FILE | --session N\n"
		"\n"
		"Write one page (HTML) with the answers of `tsctl analyze`, `gaps`, `memory` and\n"
		"`info`. It lists the slowest kernels and their launching stacks, findings, the\n"
		"causes of idle time, the holders of memory at the peak, failed calls and losses.\n"
		"Pictures show streams over time, memory over time, and GPU time by launching\n"
		"stack.\n"
		"The page needs no script and no other file, and makes no request.\n"
		"\n",
	.example = "report run.sbt -o report.html",
	.help_column = 19,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_report,
};
