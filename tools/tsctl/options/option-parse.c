/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses all command lines of tsctl by the tables of option-table.h. It visits the words once.
 * Values of options are stored at once, and operands move to the front of argv, where they form one
 * list. A message about a value names the option's label.
 */
#include "tools/tsctl/options/option-parse.h"

#include "proto/abi/base.h"
#include "tools/tsctl/machine/paths.h"
#include "tools/tsctl/options/near.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/tsctl.h"

#include <ctype.h>

#define NAME_BYTES	64u
#define COMPLAINT_BYTES 512u

struct parser {
	const struct ts_command *command;
	void *asked;
	char **words;
	int n, next; /* the words, and the next one to read */
};

/* ---- complaints ----------------------------------------------------------------------------- */

/* Lists the words of an option: "`a`, `b` or `c`". */
static void list_words(const struct ts_option *option, char text[COMPLAINT_BYTES])
{
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; option->words[i] && n < COMPLAINT_BYTES; i++)
		n += (size_t)snprintf(text + n, COMPLAINT_BYTES - n, "%s`%s`",
				      !i		     ? ""
				      : option->words[i + 1] ? ", "
							     : " or ",
				      option->words[i]);
}

bool ts_option_is_concealed(const struct ts_option *option)
{
	return option->is_hidden || (option->is_for_vgpu && !ts_path_has_vgpu());
}

int ts_option_complain(const struct ts_option *option, const char *text)
{
	char words[COMPLAINT_BYTES], label[NAME_BYTES];

	if (option->label)
		snprintf(label, sizeof(label), "%s", option->label);
	else
		snprintf(label, sizeof(label), "--%s", option->name);
	text = *text ? text : "''";
	if (option->expects) {
		ts_complain("%s %s: %s", label, text, option->expects);
	} else if (option->kind == TS_OPTION_IS_MOMENT) {
		ts_complain("%s %s: %s", label, text, TS_OPTION_MOMENT_EXPECTED);
	} else {
		list_words(option, words);
		ts_complain("%s %s: expected %s", label, text, words);
	}
	return -EINVAL;
}

static int complain_unknown(const struct parser *parser, const char *word)
{
	const struct ts_option *near = NULL;
	size_t least = TS_NEAR_EDITS + 1;
	char name[NAME_BYTES];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	for (const struct ts_option *option = parser->command->options;
	     option && !ts_option_is_last(option); option++) {
		size_t distance = option->name && !ts_option_is_concealed(option)
					  ? ts_edit_distance(name, option->name)
					  : SIZE_MAX;

		if (distance < least || (near && distance == least && option->rank < near->rank)) {
			least = distance;
			near = option;
		}
	}
	if (near)
		ts_complain("unknown option --%s; did you mean --%s?", name, near->name);
	else
		ts_complain("unknown option --%s; `tsctl help %s` lists the options", name,
			    parser->command->name);
	return -EINVAL;
}

/* ---- values --------------------------------------------------------------------------------- */

static int store_number(const struct ts_option *option, const char *text, uint64_t *to)
{
	unsigned long long number;
	uint64_t ns = 0;
	int r;

	if (option->kind == TS_OPTION_IS_TIME) {
		r = ts_time_parse(text, &ns);
		number = ns;
		if (!r && (number < option->min || number > option->max))
			r = -ERANGE;
	} else if (option->kind == TS_OPTION_IS_BYTES) {
		r = ts_parse_bytes(text, option->min, option->max, &number);
	} else {
		r = ts_parse_number(text, option->min, option->max, &number);
	}
	if (r)
		return ts_option_complain(option, text);
	*to = number;
	return 0;
}

static int store_choice(const struct ts_option *option, const char *text, unsigned int *to)
{
	for (unsigned int i = 0; option->words[i]; i++)
		if (!strcmp(text, option->words[i])) {
			*to = i;
			return 0;
		}
	return ts_option_complain(option, text);
}

static int store(const struct parser *parser, const struct ts_option *option, const char *text)
{
	void *to = (char *)parser->asked + option->offset;

	if (option->parse)
		return option->parse(to, option, text);
	switch (option->kind) {
	case TS_OPTION_IS_FLAG:
		*(bool *)to = true;
		return 0;
	case TS_OPTION_IS_TEXT:
	case TS_OPTION_IS_FILE:
	case TS_OPTION_IS_SESSION:
		*(const char **)to = text;
		return 0;
	case TS_OPTION_IS_NUMBER:
	case TS_OPTION_IS_BYTES:
	case TS_OPTION_IS_TIME:
		return store_number(option, text, to);
	case TS_OPTION_IS_MOMENT:
		return ts_time_parse_moment(text, to) ? ts_option_complain(option, text) : 0;
	case TS_OPTION_IS_CHOICE:
		return store_choice(option, text, to);
	case TS_OPTION_IS_PARSED:
	case TS_OPTION_IS_PARSED_FLAG:
		break;
	}
	return -EINVAL;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* Returns the option with that name, or the only option whose name begins with it. */
static const struct ts_option *find_name(const struct parser *parser, const char *name, size_t n)
{
	const struct ts_option *found = NULL;
	size_t n_found = 0;

	for (const struct ts_option *option = parser->command->options;
	     option && !ts_option_is_last(option); option++) {
		if (!option->name || strncmp(option->name, name, n))
			continue;
		if (!option->name[n])
			return option;
		if (ts_option_is_concealed(option))
			continue;
		found = option;
		n_found++;
	}
	return n_found == 1 ? found : NULL;
}

static int parse_name(struct parser *parser, const char *word)
{
	size_t n = strcspn(word, "=");
	const struct ts_option *option = find_name(parser, word + 2, n - 2);
	const char *text = word[n] ? word + n + 1 : NULL;

	if (!option)
		return complain_unknown(parser, word);
	if (text && !ts_option_has_value(option)) {
		ts_complain("option %.*s takes no value", (int)n, word);
		return -EINVAL;
	}
	if (!text && ts_option_has_value(option) && !option->is_optional) {
		if (parser->next == parser->n) {
			ts_complain("option %s needs a value", word);
			return -EINVAL;
		}
		text = parser->words[parser->next++];
	}
	/*
	 * Abbreviations are rejected: with a new option, an abbreviation could mean another one, or
	 * none.
	 */
	if (option->name[n - 2]) {
		ts_complain("option %.*s: did you mean --%s? options are not abbreviated", (int)n,
			    word, option->name);
		return -EINVAL;
	}
	if (!text && option->takes && parser->next < parser->n &&
	    option->takes(parser->words[parser->next]))
		text = parser->words[parser->next++];
	return store(parser, option, text);
}

static int complain_letter(const struct parser *parser, const char *word, char letter)
{
	if (isprint((unsigned char)letter))
		ts_complain("unknown option -%c; `tsctl help %s` lists the options", letter,
			    parser->command->name);
	else
		ts_complain("unknown option %s; `tsctl help %s` lists the options", word,
			    parser->command->name);
	return -EINVAL;
}

/* Parses the letters behind one dash: flags, and as the last letter also an option with a value. */
static int parse_letters(struct parser *parser, const char *word)
{
	int r = 0;

	for (const char *at = word + 1; *at && !r; at++) {
		const struct ts_option *option = parser->command->options;

		while (option && !ts_option_is_last(option) && option->letter != *at)
			option++;
		if (!option || ts_option_is_last(option))
			return complain_letter(parser, word, *at);
		if (!ts_option_has_value(option)) {
			r = store(parser, option, NULL);
			continue;
		}
		if (at[1])
			return store(parser, option, at + 1);
		if (parser->next == parser->n) {
			ts_complain("option %s needs a value", word);
			return -EINVAL;
		}
		return store(parser, option, parser->words[parser->next++]);
	}
	return r;
}

int ts_options_parse(const struct ts_command *command, int argc, char **argv, void *asked,
		     struct ts_operands *ret_operands)
{
	struct parser parser = {
		.command = command, .asked = asked, .words = argv, .n = argc, .next = 1};
	bool in_order =
		command->operands == TS_OPERANDS_PROGRAM || secure_getenv("POSIXLY_CORRECT");
	bool is_over = false;
	int n = 1, r = 0;

	while (parser.next < parser.n) {
		char *word = parser.words[parser.next++];

		if (is_over || word[0] != '-' || !word[1]) {
			argv[n++] = word;
			is_over = is_over || in_order;
		} else if (!strcmp(word, "--")) {
			is_over = true;
		} else {
			r = word[1] == '-' ? parse_name(&parser, word)
					   : parse_letters(&parser, word);
		}
		if (r)
			return r;
	}
	argv[n] = NULL;
	ret_operands->n = (size_t)n - 1;
	ret_operands->words = argv + 1;
	return 0;
}

/* ---- operands ------------------------------------------------------------------------------- */

int ts_no_operands(const struct ts_operands *operands)
{
	if (!operands->n)
		return 0;
	ts_complain("takes no argument: `%s`", operands->words[0]);
	return -EINVAL;
}

int ts_one_trace(const struct ts_operands *operands, const char *session, const char *usage,
		 const char *more)
{
	if (operands->n == (session ? 0 : 1))
		return 0;
	ts_complain("takes one trace file or one session: `tsctl %s run.sbt%s`, "
		    "`tsctl %s --session 3%s`",
		    usage, more, usage, more);
	return -EINVAL;
}
