/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tsctl version: prints the versions of this build and of its formats and protocols. main.c runs
 * it.
 */
#include "proto/abi/record.h"
#include "proto/rpc/frame.h"
#include "sbt/reader.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/screen/jsonout.h"
#include "tools/tsctl/tsctl.h"

#include <stdio.h>

struct asked {
	bool json;
};

static const struct ts_option command_options[] = {
	{"json", 'j', TS_OPTION_FLAG(struct asked, json), .is_letter_unmentioned = true,
	 .help = "print one JSON object"},
	{0},
};

static int run_version(int argc, char **argv)
{
	Ts__Rpc__Version version = TS__RPC__VERSION__INIT;
	char format[32], abi[32];
	struct ts_operands operands;
	struct asked asked = {0};

	if (ts_options_parse(&ts_command_version, argc, argv, &asked, &operands) ||
	    ts_no_operands(&operands))
		return TS_EXIT_BAD;
	snprintf(format, sizeof(format), "SBT %u.%u", TS_SBT_MAJOR, TS_SBT_MINOR);
	snprintf(abi, sizeof(abi), "%u.%u", TS_ABI_MAJOR, TS_ABI_MINOR);
	version.version = (char *)TSCTL_VERSION;
	version.format = format;
	version.abi = abi;
	TS_RPC_SET(&version, rpc, TS_FRAME_VERSION);
	if (asked.json)
		return ts_json_print(&version.base);
	printf("TraceSmith %s\ntrace format  %s\nring abi      %s\ncontrol rpc   %u\n",
	       version.version, format, abi, version.rpc);
	return ts_finish_output(TS_EXIT_OK);
}

const struct ts_command ts_command_version = {
	.name = "version",
	.summary = "print the versions of tsctl, the trace format and the protocols",
	.is_minor = true,
	.text = "usage: tsctl version [--json]\n"
		"\n"
		"Print the versions of this build, of the trace format, of the shared-memory\n"
		"interface and of the control protocol.\n"
		"\n",
	.example = "version --json",
	.help_column = 10,
	.is_help_narrow = true,
	.options = command_options,
	.run = run_version,
};
