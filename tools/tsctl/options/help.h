/* SPDX-License-Identifier: Apache-2.0 */
/* A command's help: its text, a line or more for each option of its table, and its example. */
#pragma once

#include <stdio.h>

struct ts_command;

void ts_help_print(const struct ts_command *command, FILE *file);
