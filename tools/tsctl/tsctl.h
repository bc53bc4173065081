/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by all commands of tsctl: the table of commands, the exit statuses and error messages.
 * tsctl has one thread.
 */
#pragma once

#include "tools/tsctl/options/option-table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A finding is a problem that the command was asked to find: a failed verification, a torn file. */
enum ts_exit {
	TS_EXIT_OK = 0,
	TS_EXIT_FINDING = 1,
	TS_EXIT_BAD = 2,	   /* bad usage or bad input */
	TS_EXIT_DIFFERS = 3,	   /* `replay`: differs from its capture */
	TS_EXIT_NOT_STARTED = 125, /* `record`: could not start the command */
	TS_EXIT_SIGNAL = 128,	   /* `record`: plus the signal that ended the command */
};

struct ts_command {
	const char *name;
	const char *alias; /* NULL: none */
	const char *summary;
	/* Help fits one screen: text, option lines, example. */
	const char *text;
	const char *example;		 /* without "tsctl "; NULL: part of `text` */
	unsigned int help_column;	 /* column of the descriptions */
	bool is_help_narrow;		 /* no column for missing letters */
	bool is_minor;			 /* the overview prints its name only */
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
extern const struct ts_command ts_command_mcp;
extern const struct ts_command ts_command_memory;
extern const struct ts_command ts_command_merge;
extern const struct ts_command ts_command_record;
extern const struct ts_command ts_command_repair;
extern const struct ts_command ts_command_replay;
extern const struct ts_command ts_command_report;
extern const struct ts_command ts_command_sessions;
extern const struct ts_command ts_command_start;
extern const struct ts_command ts_command_state;
extern const struct ts_command ts_command_status;
extern const struct ts_command ts_command_stop;
extern const struct ts_command ts_command_studio;
extern const struct ts_command ts_command_index;
extern const struct ts_command ts_command_symbolize;
extern const struct ts_command ts_command_timeline;
extern const struct ts_command ts_command_verify;
extern const struct ts_command ts_command_version;
extern const struct ts_command ts_command_view;
extern const struct ts_command ts_command_watch;

/* All commands in the order of help; NULL ends the list. */
extern const struct ts_command *const ts_commands[];

/* Prints all commands, one line each. */
void ts_command_overview(FILE *file);

const struct ts_command *ts_command_find(const char *name);
/* Returns the command nearest to a mistyped name, or NULL. */
const struct ts_command *ts_command_near(const char *name);

/* Sets the command's name for messages; main() calls it before run(). */
void ts_complain_as(const char *command);
/* Prints "tsctl COMMAND: ..." and a newline on stderr; escapes control characters in the text. */
void ts_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Prints that memory is short and ends the program. For pools (replay/report/report-pool.h):
 * TS_TSCTL_POOL is an empty pool.
 */
void ts_no_memory(void) __attribute__((noreturn));
#define TS_TSCTL_POOL                     \
	{                                 \
		.no_memory = ts_no_memory \
	}

/*
 * Flushes stdout. If that or an earlier write failed, prints a message and returns TS_EXIT_BAD;
 * otherwise returns `status`. A closed pipe is no failure.
 */
int ts_finish_output(int status);
