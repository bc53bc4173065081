/* SPDX-License-Identifier: Apache-2.0 */
/* The table of commands, and the commands help and version. main.c looks commands up here. */
#include "tools/tsctl/tsctl.h"

#include "proto/abi/base.h"
#include "tools/tsctl/options/help.h"
#include "tools/tsctl/options/near.h"

/* One line each. */
/* clang-format off */
const struct ts_command *const ts_commands[] = {
	&ts_command_record,  &ts_command_info,	    &ts_command_view,
	&ts_command_analyze, &ts_command_timeline,  &ts_command_state,
	&ts_command_gaps,    &ts_command_graph,	    &ts_command_diff,
	&ts_command_memory,  &ts_command_report,    &ts_command_studio,
	&ts_command_replay,  &ts_command_symbolize, &ts_command_export,
	&ts_command_verify,  &ts_command_repair,    &ts_command_cut,
	&ts_command_merge,   &ts_command_dump,	    &ts_command_devices,
	&ts_command_status,  &ts_command_sessions,  &ts_command_start,
	&ts_command_stop,    &ts_command_watch,	    &ts_command_benchmark,
	&ts_command_index,   &ts_command_mcp,	    &ts_command_version,
	&ts_command_help,
	NULL,
};
/* clang-format on */

const struct ts_command *ts_command_find(const char *name)
{
	for (size_t i = 0; ts_commands[i]; i++)
		if (!strcmp(ts_commands[i]->name, name) ||
		    (ts_commands[i]->alias && !strcmp(ts_commands[i]->alias, name)))
			return ts_commands[i];
	return NULL;
}

const struct ts_command *ts_command_near(const char *name)
{
	const struct ts_command *near = NULL;
	size_t least = TS_NEAR_EDITS + 1;

	for (size_t i = 0; ts_commands[i]; i++) {
		size_t distance = ts_edit_distance(name, ts_commands[i]->name);

		if (distance < least) {
			least = distance;
			near = ts_commands[i];
		}
	}
	return near;
}

void ts_command_overview(FILE *file)
{
	const char *before = " also: ";

	/* Must fit one screen with all commands. */
	fputs("usage: tsctl COMMAND [OPTION ...] [ARG ...]; `tsctl help COMMAND` prints options\n",
	      file);
	for (size_t i = 0; ts_commands[i]; i++)
		if (!ts_commands[i]->is_minor)
			fprintf(file, "  %-9s %s\n", ts_commands[i]->name, ts_commands[i]->summary);
	for (size_t i = 0; ts_commands[i]; i++)
		if (ts_commands[i]->is_minor) {
			fprintf(file, "%s%s", before, ts_commands[i]->name);
			before = " ";
		}
	/* Builds of the readers alone have no recorder to begin with. */
	fprintf(file, "\nTo begin: %s`tsctl info run.sbt`.\n",
		ts_command_record.options ? "`tsctl record -o run.sbt -- ./app`, then " : "");
}

static int run_help(int argc, char **argv)
{
	const struct ts_command *command, *near;

	if (argc > 2) {
		ts_complain("takes one command at most: `tsctl help [COMMAND]`");
		return TS_EXIT_BAD;
	}
	if (argc == 2) {
		command = ts_command_find(argv[1]);
		if (!command) {
			near = ts_command_near(argv[1]);
			ts_complain("unknown command `%s`; %s%s%s", argv[1],
				    near ? "did you mean `" : "`tsctl help` lists the commands",
				    near ? near->name : "", near ? "`?" : "");
			return TS_EXIT_BAD;
		}
		ts_help_print(command, stdout);
		return ts_finish_output(TS_EXIT_OK);
	}
	ts_command_overview(stdout);
	return ts_finish_output(TS_EXIT_OK);
}

const struct ts_command ts_command_help = {
	.name = "help",
	.summary = "list the commands, or print the help of one",
	.is_minor = true,
	.text = "usage: tsctl help [COMMAND]\n"
		"\n"
		"List the commands, or print the help of one.\n",
	.example = "help record",
	.operands = TS_OPERANDS_COMMAND,
	.run = run_help,
};
