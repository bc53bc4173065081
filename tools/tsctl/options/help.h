/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a command's help: its text, one or more lines per option, and its example. */
#pragma once

#include <stdio.h>

struct ts_command;

void ts_help_print(const struct ts_command *command, FILE *file);
