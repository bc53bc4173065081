/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl studio: checks the command line and replaces itself by tracesmith-studio, which serves the
 * page (tools/studio). tsctl itself needs no HTTP library. main.c runs it.
 */
#include "proto/abi/base.h"
#include "tools/tsctl/machine/paths.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/studio/studio-options.h"
#include "tools/tsctl/tsctl.h"

static const struct ts_option command_options[] = {
	{"no-browser", TS_OPTION_LONG, TS_OPTION_FLAG(struct ts_studio_options, no_browser),
	 .help = "open no browser; print the page's address on a line"},
	{"port", TS_OPTION_LONG, TS_OPTION_NUMBER(struct ts_studio_options, port), .min = 1,
	 .max = 65535, .metavar = "N", .expects = "expected a port from 1 to 65535",
	 .help = "listen at this port of 127.0.0.1 (default: a free one)"},
	{"socket", TS_OPTION_LONG, TS_OPTION_FILE(struct ts_studio_options, socket),
	 .metavar = "PATH", .help = "listen at a Unix socket, behind a proxy"},
	{"session", 's', TS_OPTION_SESSION(struct ts_studio_options, session), .metavar = "N",
	 .help = "show a session of the daemon: its number or pid"},
	{0},
};

static int run_studio(int argc, char **argv)
{
	struct ts_studio_options asked = {0};
	char path[PATH_MAX];
	char **words = calloc((size_t)argc + 1, sizeof(*words));
	struct ts_operands operands;

	if (!words)
		ts_no_memory();
	/* Parsing moves the words; the program gets them as they are. */
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	if (ts_options_parse(&ts_command_studio, argc, argv, &asked, &operands))
		goto bad;
	if (asked.session && operands.n) {
		ts_complain("takes FILE or --session N, not both");
		goto bad;
	}
	if (!asked.session && (operands.n < 1 || operands.n > 2)) {
		ts_complain("takes one trace file, or two to compare: `tsctl studio run.sbt`");
		goto bad;
	}
	if (asked.port && asked.socket) {
		ts_complain("takes --port or --socket, not both");
		goto bad;
	}
	if (ts_path_studio(path)) {
		ts_complain("studio is not installed: there is no %s; install the package "
			    "tracesmith-studio, or build with libmicrohttpd, esbuild, "
			    "d3-hierarchy and d3-shape",
			    path);
		goto bad;
	}
	words[0] = path;
	execv(path, words);
	ts_complain("cannot run %s: %s", path, strerror(errno));
bad:
	free(words);
	return TS_EXIT_BAD;
}

const struct ts_command ts_command_studio = {
	.name = "studio",
	.summary = "look at a trace in a browser",
	.text = "usage: tsctl studio [OPTION ...] FILE [FILE] | --session N\n"
		"\n"
		"Open a browser on the timeline of FILE, or of two traces to compare. A server on\n"
		"this machine reads the trace for the browser. The page's address has a secret\n"
		"token; other users of the machine cannot read the trace. The server runs until\n"
		"Ctrl-C.\n"
		"\n",
	.example = "studio run.sbt",
	.help_column = 17,
	.options = command_options,
	.operands = TS_OPERANDS_FILES,
	.run = run_studio,
};
