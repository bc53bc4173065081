/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tsctl's commands share: the table of commands, the exit statuses, options, and the one line that
 * an error makes. One process, one thread; everything here prints or reads argv.
 */
#pragma once

#include <getopt.h>
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
	const char *help; /* a screen at most; one example */
	bool is_minor;	  /* the overview has its name alone */
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

/* Complains that there is no memory, and ends the program. For pools (replay/report/pool.h): TS_TSCTL_POOL is an empty one. */
void ts_no_memory(void) __attribute__((noreturn));
#define TS_TSCTL_POOL                     \
	{                                 \
		.no_memory = ts_no_memory \
	}

/*
 * getopt_long() that says what is wrong itself. Returns the option's value, -1 past the last option, or
 * '?' after a complaint (which names the nearest option).
 */
int ts_option_next(int argc, char **argv, const char *shorts, const struct option *longs);

/*
 * After the last option: what is read is a file, or the daemon's `session` where that is not NULL, not both. Complains and
 * returns -EINVAL; `usage` is the command with what it needs, `more` what follows the file.
 */
int ts_one_trace(int argc, const char *session, const char *usage, const char *more);

/* How many edits (insert, delete, replace, swap neighbours) turn a into b; SIZE_MAX past 64 bytes. */
size_t ts_edit_distance(const char *a, const char *b);

/* Operation ids: "7" is one, "7..20" from one to another. Complains of --ops and returns -EINVAL. */
int ts_ops_parse(const char *text, uint64_t *ret_first, uint64_t *ret_last);

/* Parses a decimal number of [min, max], nothing behind it. Returns 0, -EINVAL or -ERANGE. */
int ts_parse_number(const char *text, unsigned long long min, unsigned long long max,
		    unsigned long long *ret_number);
/* The same with an optional suffix K, M or G, powers of 1024. */
int ts_parse_bytes(const char *text, unsigned long long min, unsigned long long max,
		   unsigned long long *ret_bytes);

/* Flushes stdout; complains and returns TS_EXIT_BAD where that or an earlier write failed, else status. */
int ts_finish_output(int status);
