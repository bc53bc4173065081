/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a command line by a command's table of options (option-table.h), as getopt_long() does. It
 * accepts options and operands in any order, `--` before operands that look like options,
 * `--name=value`, `-nVALUE`, and several letters behind one dash. Unlike getopt_long(), it does not
 * accept abbreviated names.
 */
#pragma once

#include "tools/tsctl/options/option-table.h"

struct ts_command;

struct ts_operands {
	size_t n;
	char **words; /* NULL ends them */
};

/*
 * Stores each option's value in its field of `asked`, the struct that the command's table names.
 * Values are stored in the order of the words, so the last one counts. `argv[0]` is the command's
 * name. The words in `argv` are moved, and the operands point into it. Returns 0, or -EINVAL after
 * a message about the first wrong word, which names the nearest option.
 */
int ts_options_parse(const struct ts_command *command, int argc, char **argv, void *asked,
		     struct ts_operands *ret_operands);

/* True if no help, suggestion or completion names the option. */
bool ts_option_is_concealed(const struct ts_option *option);

/*
 * Prints an error about a value of the option, from its `label` and `expects`, and returns -EINVAL.
 */
int ts_option_complain(const struct ts_option *option, const char *text);

/* If there is an operand, prints an error about the first one and returns -EINVAL; otherwise 0. */
int ts_no_operands(const struct ts_operands *operands);

/*
 * Checks that the command has either one file or the daemon's `session` (not NULL). Otherwise
 * prints an error and returns -EINVAL. `usage` is the command with its required words, `more` the
 * words behind the file.
 */
int ts_one_trace(const struct ts_operands *operands, const char *session, const char *usage,
		 const char *more);
