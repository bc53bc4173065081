/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces `tsctl record` and `tsctl benchmark` in builds of the readers alone
 * (-Drecorder=disabled). main.c runs the commands; they print that the build has no recorder.
 */
#include "tools/tsctl/tsctl.h"

static int run_none(int status)
{
	ts_complain("this build has readers only (-Drecorder=disabled); record with a complete "
		    "TraceSmith on Linux, and read the trace here");
	return status;
}

static int run_record(int argc, char **argv)
{
	return run_none(TS_EXIT_NOT_STARTED);
}

static int run_benchmark(int argc, char **argv)
{
	return run_none(TS_EXIT_BAD);
}

const struct ts_command ts_command_record = {
	.name = "record",
	.alias = "profile",
	.summary = "not in this build, which has readers only",
	.text = "usage: tsctl record\n"
		"\n"
		"This build has readers only (-Drecorder=disabled).\n",
	.example = "info train.sbt",
	.is_minor = true,
	.run = run_record,
};

const struct ts_command ts_command_benchmark = {
	.name = "benchmark",
	.summary = "not in this build, which has readers only",
	.text = "usage: tsctl benchmark\n"
		"\n"
		"This build has readers only (-Drecorder=disabled).\n",
	.example = "info train.sbt",
	.is_minor = true,
	.run = run_benchmark,
};
