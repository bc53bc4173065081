/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a command line by a command's table of options (option-table.h), as getopt_long() does:
 * options and operands in any order, `--` before operands that look like options, `--name=value`,
 * `-nVALUE`, letters together behind one dash. But names are whole.
 */
#pragma once

#include "tools/tsctl/options/option-table.h"

struct ts_command;

struct ts_operands {
	size_t n;
	char **words; /* NULL ends them */
};

/*
 * Stores each option's value in its field of `asked`, the struct that the command's table names: in
 * the order of the words, so the last one counts. `argv[0]` is the command's name; the words in
 * `argv` are moved, the operands point into it. Returns 0, or -EINVAL after a complaint about the
 * first word that is wrong, which names the nearest option.
 */
int ts_options_parse(const struct ts_command *command, int argc, char **argv, void *asked,
		     struct ts_operands *ret_operands);

/* True if no help, suggestion or completion names the option. */
bool ts_option_is_concealed(const struct ts_option *option);

/* Complains about a value of the option, by its `label` and `expects`, and returns -EINVAL. */
int ts_option_complain(const struct ts_option *option, const char *text);

/* Complains of the first operand, if there is one, and returns -EINVAL. */
int ts_no_operands(const struct ts_operands *operands);

/*
 * The command reads a file, or the daemon's `session` where that is not NULL, not both. Complains
 * and returns -EINVAL; `usage` is the command with what it needs, `more` what follows the file.
 */
int ts_one_trace(const struct ts_operands *operands, const char *session, const char *usage,
		 const char *more);
