/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a command's help. main.c and commands.c call this file. A line has an option's letter,
 * name and value on the left, and its description from the command's column on. If the table joins
 * options, they share a line.
 */
#include "tools/tsctl/options/help.h"

#include "tools/tsctl/machine/paths.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/tsctl.h"

#include <string.h>

#define LEFT_BYTES 128u

static size_t add(char left[LEFT_BYTES], size_t n, const char *before, const char *text)
{
	int added = snprintf(left + n, LEFT_BYTES - n, "%s%s", before, text);

	return added < 0 || n + (size_t)added >= LEFT_BYTES ? LEFT_BYTES - 1 : n + (size_t)added;
}

/* Appends "-n, --limit N". */
static size_t add_option(char left[LEFT_BYTES], size_t n, const struct ts_option *option)
{
	const char letter[] = {'-', option->letter, '\0'};
	bool has_letter = option->letter && !option->is_letter_unmentioned;

	if (has_letter)
		n = add(left, n, "", letter);
	if (option->name) {
		n = add(left, n, has_letter ? ", " : "", "--");
		n = add(left, n, "", option->name);
	}
	if (option->metavar && option->is_optional) {
		n = add(left, n, "[=", option->metavar);
		n = add(left, n, "]", "");
	} else if (option->metavar) {
		n = add(left, n, " ", option->metavar);
	}
	return n;
}

/* Continuation lines begin at the column. */
static void print_description(const char *text, unsigned int column, FILE *file)
{
	for (;; text++) {
		size_t n = strcspn(text, "\n");

		fwrite(text, 1, n, file);
		putc('\n', file);
		text += n;
		if (!*text)
			return;
		fprintf(file, "%*s", (int)column, "");
	}
}

static const struct ts_option *print_line(const struct ts_command *command,
					  const struct ts_option *option, FILE *file)
{
	bool has_letter = option->letter && !option->is_letter_unmentioned;
	char left[LEFT_BYTES] = "";
	size_t n = add(left, 0, "", has_letter || command->is_help_narrow ? "  " : "      ");

	for (; option->joint; option++) {
		n = add_option(left, n, option);
		n = add(left, n, option->joint, "");
	}
	n = add_option(left, n, option);
	fputs(left, file);
	/* If a description begins with a new line, the first line gets no trailing blanks. */
	if (option->help[0] != '\n')
		fprintf(file, "%*s", n < command->help_column ? (int)(command->help_column - n) : 3,
			"");
	print_description(option->help, command->help_column, file);
	return option;
}

/*
 * Returns the length of an example. In builds without the virtual GPU, the example's last word, the
 * option for it, is left out.
 */
static size_t example_bytes(const char *example)
{
	const char *vgpu = strstr(example, " --vgpu");

	return vgpu && !ts_path_has_vgpu() ? (size_t)(vgpu - example) : strlen(example);
}

void ts_help_print(const struct ts_command *command, FILE *file)
{
	fputs(command->text, file);
	for (const struct ts_option *option = command->options;
	     option && !ts_option_is_last(option); option++)
		if ((option->help || option->joint) && !ts_option_is_concealed(option))
			option = print_line(command, option, file);
	if (command->example)
		fprintf(file, "\nexample: tsctl %.*s\n", (int)example_bytes(command->example),
			command->example);
}
