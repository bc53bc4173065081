/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints tsctl's tables of commands and options (tools/tsctl/options/option-table.h) and the edits
 * of `tsctl replay --what-if` as JSON. The build runs this program for the man pages, and tests
 * compare its output with help and pages. It calls nothing of tsctl but the tables. It is not
 * installed.
 */
#include "replay/emulate/emulate.h"
#include "tools/tsctl/tsctl.h"

#include <json.h>
#include <stdlib.h>

static struct json_object *checked(struct json_object *value)
{
	if (!value) {
		fputs("option-tables: no memory\n", stderr);
		exit(1);
	}
	return value;
}

static void add(struct json_object *object, const char *key, struct json_object *value)
{
	if (json_object_object_add(object, key, value)) {
		fputs("option-tables: no memory\n", stderr);
		exit(1);
	}
}

static void add_text(struct json_object *object, const char *key, const char *text)
{
	if (text)
		add(object, key, checked(json_object_new_string(text)));
}

static void add_flag(struct json_object *object, const char *key, bool flag)
{
	add(object, key, checked(json_object_new_boolean(flag)));
}

static void add_words(struct json_object *object, const struct ts_option *option)
{
	struct json_object *words = checked(json_object_new_array());

	for (size_t i = 0; option->words && option->words[i]; i++)
		json_object_array_add(words, checked(json_object_new_string(option->words[i])));
	for (size_t i = 0; option->word_at && option->word_at(i); i++)
		json_object_array_add(words, checked(json_object_new_string(option->word_at(i))));
	add(object, "words", words);
}

static struct json_object *option_object(const struct ts_option *option)
{
	struct json_object *object = checked(json_object_new_object());
	const char letter[] = {option->letter, '\0'};

	add_text(object, "name", option->name);
	add_text(object, "letter", option->letter ? letter : NULL);
	add_text(object, "metavar", option->metavar);
	add_text(object, "help", option->help);
	add_text(object, "joint", option->joint);
	add_flag(object, "has_value", ts_option_has_value(option));
	add_flag(object, "is_optional", option->is_optional);
	add_flag(object, "is_list", option->is_list);
	add_flag(object, "is_letter_unmentioned", option->is_letter_unmentioned);
	add_flag(object, "is_for_vgpu", option->is_for_vgpu);
	add_flag(object, "is_hidden", option->is_hidden);
	add_words(object, option);
	return object;
}

static struct json_object *command_object(const struct ts_command *command)
{
	struct json_object *object = checked(json_object_new_object());
	struct json_object *options = checked(json_object_new_array());

	add_text(object, "name", command->name);
	add_text(object, "alias", command->alias);
	add_text(object, "summary", command->summary);
	add_text(object, "text", command->text);
	add_text(object, "example", command->example);
	add_flag(object, "is_minor", command->is_minor);
	for (const struct ts_option *option = command->options;
	     option && !ts_option_is_last(option); option++)
		json_object_array_add(options, option_object(option));
	add(object, "options", options);
	return object;
}

int main(void)
{
	struct json_object *tables = checked(json_object_new_object());
	struct json_object *commands = checked(json_object_new_array());
	bool is_printed;

	for (size_t i = 0; ts_commands[i]; i++)
		json_object_array_add(commands, command_object(ts_commands[i]));
	add(tables, "commands", commands);
	add_text(tables, "edits", ts_emulate_edit_help);
	is_printed = puts(json_object_to_json_string_ext(tables, JSON_C_TO_STRING_PRETTY)) >= 0;
	json_object_put(tables);
	return is_printed && !fflush(stdout) ? 0 : 1;
}
