/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tsctl's commands share: the table of commands, the exit statuses, and the one line that an
 * error makes. One process, one thread; everything here prints or reads argv.
 */
#pragma once

#include "tools/tsctl/options/option-table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A finding is what a command was asked to look for: a failed verification, a torn file. */
enum ts_exit {
	TS_EXIT_OK = 0,
	TS_EXIT_FINDING = 1,
	TS_EXIT_BAD = 2,	   /* bad usage or bad input */
	TS_EXIT_DIFFERS = 3,	   /* `replay`: from its capture */
	TS_EXIT_NOT_STARTED = 125, /* `record`: the command was not run */
	TS_EXIT_SIGNAL = 128,	   /* `record`: plus the signal that ended the command */
};

struct ts_command {
	const char *name;
	const char *alias; /* NULL: none */
	const char *summary;
	/* Help is a screen at most: the text, the options' lines, the example. */
	const char *text;
	const char *example;		 /* without "tsctl "; NULL: `text` has it */
	unsigned int help_column;	 /* of the options' descriptions */
	bool is_help_narrow;		 /* it has no room for letters where an option has none */
	bool is_minor;			 /* the overview has its name alone */
	const struct ts_option *options; /* NULL: none */
	enum ts_operands_kind operands;
	int (*run)(int argc, char **argv);
};

extern const struct ts_command ts_command_analyze;
extern const struct ts_command ts_command_benchmark;
extern const struct ts_command ts_command_cut;
extern const struct ts_command ts_command_devices;
extern const struct ts_command ts_command_diff;
extern const struct ts_command ts_command_dump;
extern const struct ts_command ts_command_export;
extern const struct ts_command ts_command_gaps;
extern const struct ts_command ts_command_graph;
extern const struct ts_command ts_command_help;
extern const struct ts_command ts_command_info;
extern const struct ts_command ts_command_memory;
extern const struct ts_command ts_command_merge;
extern const struct ts_command ts_command_record;
extern const struct ts_command ts_command_repair;
extern const struct ts_command ts_command_replay;
extern const struct ts_command ts_command_sessions;
extern const struct ts_command ts_command_start;
extern const struct ts_command ts_command_state;
extern const struct ts_command ts_command_status;
extern const struct ts_command ts_command_stop;
extern const struct ts_command ts_command_index;
extern const struct ts_command ts_command_symbolize;
extern const struct ts_command ts_command_timeline;
extern const struct ts_command ts_command_verify;
extern const struct ts_command ts_command_version;
extern const struct ts_command ts_command_view;
extern const struct ts_command ts_command_watch;

/* All of them, in the order that help lists them; NULL ends the list. */
extern const struct ts_command *const ts_commands[];

/* All commands in a line each. */
void ts_command_overview(FILE *file);

const struct ts_command *ts_command_find(const char *name);
/* The command meant by a mistyped name; NULL where none is near. */
const struct ts_command *ts_command_near(const char *name);

/* The command that runs, for messages: set by main() before run(). */
void ts_complain_as(const char *command);
/* "tsctl COMMAND: ..." and a newline on stderr; control characters in the text are escaped. */
void ts_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Complains that there is no memory, and ends the program. For pools (replay/report/report-pool.h):
 * TS_TSCTL_POOL is an empty one.
 */
void ts_no_memory(void) __attribute__((noreturn));
#define TS_TSCTL_POOL                     \
	{                                 \
		.no_memory = ts_no_memory \
	}

/*
 * Flushes stdout; complains and returns TS_EXIT_BAD where that or an earlier write failed, else
 * status.
 */
int ts_finish_output(int status);
