/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints candidates for the word that is being typed: see complete.h. main.c calls this file. This
 * file reads the other words by the tables of option-parse.c, but stores nothing and ignores
 * unknown words. Sessions come from the daemons that answer, names from the trace on the line
 * (complete-names.c).
 */
#include "tools/tsctl/options/complete.h"

#include "proto/abi/base.h"
#include "replay/emulate/emulate.h"
#include "tools/tsctl/machine/live.h"
#include "tools/tsctl/options/complete-names.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/tsctl.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

/* Time limit for all daemons together. */
#define PATIENCE_US 300000

struct typed {
	const struct ts_command *command;
	const char *word; /* being typed */
	/* the option whose value the word is or may be; NULL: the word is no value */
	const struct ts_option *option;
	size_t n_operands; /* before the word */
	const char *file;  /* the first operand of the line; NULL: none */
	/* All words before `word` begin with a dash: main.c then accepts --help. */
	bool is_help_possible;
	bool is_over; /* no more options */
};

/* ---- candidates ----------------------------------------------------------------------------- */

/* True: records for a shell's script end with a NUL, and candidates have descriptions. */
static bool is_for_script;

static void end_record(void)
{
	putchar(is_for_script ? '\0' : '\n');
}

/* True if the candidate, of three parts, begins as the word does. */
static bool continues(const char *word, const char *head, const char *name, const char *tail)
{
	const char *const parts[] = {head, name, tail};

	for (size_t i = 0; i < TS_ARRAY_LEN(parts); i++) {
		size_t n = strlen(parts[i]);

		if (strlen(word) <= n)
			return !strncmp(word, parts[i], strlen(word));
		if (strncmp(word, parts[i], n) != 0)
			return false;
		word += n;
	}
	return false;
}

/*
 * Prints the candidate, of two parts, if it begins as the word does. The first line of `about`
 * describes it; NULL: none.
 */
static void offer_about(const char *word, const char *head, const char *tail, const char *about)
{
	if (!continues(word, head, tail, ""))
		return;
	printf("%s%s", head, tail);
	if (is_for_script && about)
		printf("\t%.*s", (int)strcspn(about, "\n"), about);
	end_record();
}

static void offer(const char *word, const char *head, const char *tail)
{
	offer_about(word, head, tail, NULL);
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			return true;
	return false;
}

/*
 * Prints a candidate from a trace, which the shell has to quote. Its parts are `head`, `name` and
 * `tail`. With a tail the user continues the word.
 */
static void offer_name(const char *word, const char *head, const char *name, const char *tail)
{
	if (!continues(word, head, name, tail))
		return;
	if (is_for_script)
		printf(":%s %s%s%s", *tail ? "part" : "name", head, name, tail);
	else if (!has_control(name))
		printf("%s%s%s", head, name, tail);
	else
		return;
	end_record();
}

static void request(const char *what, const char *prefix)
{
	printf("%s%s", what, prefix);
	end_record();
}

static void offer_commands(const char *word)
{
	for (size_t i = 0; ts_commands[i]; i++)
		offer_about(word, "", ts_commands[i]->name, ts_commands[i]->summary);
}

static void give_up(int number)
{
	_exit(TS_EXIT_OK);
}

static void offer_sessions(const char *word, const char *head)
{
	ts_cleanup(ts_live_freep) struct ts_live *live = NULL;
	const struct itimerval patience = {.it_value = {.tv_usec = PATIENCE_US}};
	char pid[16];

	/* The shell waits: after the limit, the candidates so far are final. */
	fflush(stdout);
	signal(SIGALRM, give_up);
	setitimer(ITIMER_REAL, &patience, NULL);
	if (ts_live_new(&live) || ts_live_list(live))
		return;
	for (size_t i = 0; i < live->n_sessions; i++) {
		snprintf(pid, sizeof(pid), "%" PRIu32, live->sessions[i]->pid);
		offer(word, head, pid);
	}
}

struct parts {
	const char *word, *head, *tail;
};

static void take_name(const char *name, void *data)
{
	const struct parts *parts = data;

	offer_name(parts->word, parts->head, name, parts->tail);
}

static void offer_names_of(const struct typed *typed, enum ts_option_names kind, const char *head,
			   const char *tail)
{
	struct parts parts = {.word = typed->word, .head = head, .tail = tail};

	if (typed->file && kind != TS_NAMES_NONE)
		ts_complete_names(typed->file, kind, take_name, &parts);
}

/* Offers the first words of all edits, from the lines of their help: "kernel ", "set=", "graph". */
static void offer_edits(const struct typed *typed, const char *head)
{
	char before[32] = "", word[32];

	for (const char *line = ts_emulate_edit_help; *line; line += strcspn(line, "\n") + 1) {
		const char *form = line + strspn(line, " ");
		size_t n = strcspn(form, " =");
		bool ends = form[n] == ' ' && form[n + 1] == ' ';

		/* Other lines continue a description. */
		if (form - line != 2)
			continue;
		snprintf(word, sizeof(word), "%.*s", (int)(ends ? n : n + 1), form);
		if (strcmp(word, before) != 0)
			offer_name(typed->word, head, ends ? word : "", ends ? "" : word);
		snprintf(before, sizeof(before), "%s", word);
	}
}

/* Offers edits of `tsctl replay --what-if`, and names in them. */
static void offer_edit(const struct typed *typed, const char *head)
{
	static const struct {
		const char *word, *tail;
		enum ts_option_names names;
	} named[] = {
		{"kernel ", "=", TS_NAMES_KERNELS},
		{"call ", "=", TS_NAMES_CALLS},
		{"no-sync ", "", TS_NAMES_CALLS},
	};
	static const char *const copies[] = {"htod=", "dtoh=", "dtod=", "ptop="};
	const char *value = typed->word + strlen(head);
	char begun[128];

	for (size_t i = 0; i < TS_ARRAY_LEN(named); i++)
		if (!strncmp(value, named[i].word, strlen(named[i].word))) {
			snprintf(begun, sizeof(begun), "%s%s", head, named[i].word);
			offer_names_of(typed, named[i].names, begun, named[i].tail);
			return;
		}
	if (!strncmp(value, "copy ", 5)) {
		snprintf(begun, sizeof(begun), "%scopy ", head);
		for (size_t i = 0; i < TS_ARRAY_LEN(copies); i++)
			offer_name(typed->word, begun, "", copies[i]);
		return;
	}
	offer_edits(typed, head);
}

/*
 * Offers completions of an option's value. The value begins after the first `n_head` bytes of the
 * word.
 */
static void offer_value(const struct typed *typed, const struct ts_option *option, size_t n_head)
{
	const char *word = typed->word;
	const char *comma = option->is_list ? strrchr(word + n_head, ',') : NULL;
	ts_cleanup(ts_freep) char *head = strndup(word, n_head);
	ts_cleanup(ts_freep) char *listed =
		strndup(word, comma ? (size_t)(comma + 1 - word) : n_head);

	if (!head || !listed)
		return;
	for (size_t i = 0; option->words && option->words[i]; i++)
		offer(word, listed, option->words[i]);
	for (size_t i = 0; option->word_at && option->word_at(i); i++)
		offer(word, listed, option->word_at(i));
	if (option->kind == TS_OPTION_IS_FILE)
		request(":files ", head);
	else if (option->kind == TS_OPTION_IS_SESSION)
		offer_sessions(word, head);
	else if (option->names == TS_NAMES_EDIT)
		offer_edit(typed, head);
	else
		offer_names_of(typed, option->names, head, "");
}

/* The line of help of an option is behind the options that share the line. */
static const char *about_option(const struct ts_option *option)
{
	while (option->joint && !option->help)
		option++;
	return option->help;
}

static void offer_options(const struct typed *typed)
{
	const char *word = typed->word;

	for (const struct ts_option *option = typed->command->options;
	     option && !ts_option_is_last(option); option++) {
		const char letter[] = {option->letter, '\0'};

		if (ts_option_is_concealed(option))
			continue;
		if (option->letter && !option->is_letter_unmentioned)
			offer_about(word, "-", letter, about_option(option));
		if (option->name)
			offer_about(word, "--", option->name, about_option(option));
	}
	if (typed->is_help_possible)
		offer_about(word, "--", "help", "print the help of this command");
}

static void offer_operands(const struct typed *typed)
{
	switch (typed->command->operands) {
	case TS_OPERANDS_NONE:
		break;
	case TS_OPERANDS_FILES:
		request(":files ", "");
		break;
	case TS_OPERANDS_PIDS:
		offer_sessions(typed->word, "");
		break;
	case TS_OPERANDS_SESSION_OR_FILE:
		offer_sessions(typed->word, "");
		request(":files ", "");
		break;
	case TS_OPERANDS_PROGRAM:
		request(typed->n_operands ? ":files " : ":programs", "");
		break;
	case TS_OPERANDS_COMMAND:
		if (!typed->n_operands)
			offer_commands(typed->word);
		break;
	}
}

/* ---- words ---------------------------------------------------------------------------------- */

static const struct ts_option *find_name(const struct ts_command *command, const char *name,
					 size_t n)
{
	for (const struct ts_option *option = command->options;
	     option && !ts_option_is_last(option); option++)
		if (option->name && !strncmp(option->name, name, n) && !option->name[n])
			return option;
	return NULL;
}

/*
 * Finds the first option with a value among the letters behind a dash. Returns the number of bytes
 * up to its letter; 0: none.
 */
static size_t find_letter(const struct ts_command *command, const char *word,
			  const struct ts_option **ret_option)
{
	for (size_t i = 1; word[i]; i++)
		for (const struct ts_option *option = command->options;
		     option && !ts_option_is_last(option); option++)
			if (option->letter == word[i] && ts_option_has_value(option)) {
				*ret_option = option;
				return i + 1;
			}
	return 0;
}

/* Returns the option whose value the next word is, or may be. */
static const struct ts_option *option_before_value(const struct ts_command *command,
						   const char *word)
{
	const struct ts_option *option = NULL;
	size_t n;

	if (word[1] == '-') {
		option = find_name(command, word + 2, strlen(word + 2));
		return option && ts_option_has_value(option) &&
				       (!option->is_optional || option->takes)
			       ? option
			       : NULL;
	}
	n = find_letter(command, word, &option);
	return n && !word[n] ? option : NULL;
}

/*
 * Reads the words from `from` on, up to `to`. `n_before` words precede the word that is being
 * typed.
 */
static void read_words(int from, int to, int n_before, char **words, struct typed *typed)
{
	for (int i = from; i < to; i++) {
		const char *word = words[i];
		const struct ts_option *option;

		typed->is_help_possible = typed->is_help_possible && word[0] == '-';
		if (typed->is_over || word[0] != '-' || !word[1]) {
			if (!typed->file)
				typed->file = word;
			typed->n_operands++;
			typed->is_over =
				typed->is_over || typed->command->operands == TS_OPERANDS_PROGRAM;
			continue;
		}
		if (!strcmp(word, "--")) {
			typed->is_over = true;
			continue;
		}
		option = option_before_value(typed->command, word);
		if (option && i == n_before - 1) {
			typed->option = option;
		} else if (option && i + 1 < to &&
			   (!option->takes || option->takes(words[i + 1]))) {
			i++;
			typed->is_help_possible = typed->is_help_possible && words[i][0] == '-';
		}
	}
}

static void offer_all(const struct typed *typed)
{
	const struct ts_option *option;
	const char *word = typed->word;
	size_t n = strcspn(word, "=");

	if (typed->option)
		offer_value(typed, typed->option, 0);
	if (typed->option && !typed->option->is_optional)
		return;
	if (typed->is_over || word[0] != '-') {
		offer_operands(typed);
		if (!word[0] && !typed->is_over && typed->command->operands == TS_OPERANDS_NONE)
			offer_options(typed);
	} else if (word[1] == '-' && word[n]) {
		option = find_name(typed->command, word + 2, n - 2);
		if (option && !ts_option_is_concealed(option) && ts_option_has_value(option))
			offer_value(typed, option, n + 1);
	} else {
		offer_options(typed);
		n = word[1] == '-' ? 0 : find_letter(typed->command, word, &option);
		if (n && word[n])
			offer_value(typed, option, n);
	}
}

/* Returns the place of the word that is being typed, or -1; moves on to the line's words. */
static int find_cursor(int *n, char ***words)
{
	static const char option[] = "--cursor=";
	unsigned long long cursor;

	if (!*n || strncmp((*words)[0], option, strlen(option)) != 0)
		return *n - 1;
	if (ts_parse_number((*words)[0] + strlen(option), 0, INT_MAX, &cursor) ||
	    cursor + 1 >= (unsigned long long)*n)
		return -1;
	is_for_script = true;
	++*words;
	--*n;
	return (int)cursor;
}

int ts_complete(int n, char **words)
{
	int cursor = find_cursor(&n, &words);
	struct typed typed = {.word = cursor < 0 ? "" : words[cursor], .is_help_possible = true};
	struct typed after;

	if (n && cursor < 0)
		return ts_finish_output(TS_EXIT_BAD);
	if (cursor < 1) {
		offer_commands(typed.word);
		if (typed.word[0] == '-') {
			offer_about(typed.word, "--", "help", "list the commands");
			offer_about(typed.word, "--", "version", "print the version");
		}
		return ts_finish_output(TS_EXIT_OK);
	}
	typed.command = ts_command_find(words[0]);
	if (!typed.command)
		return ts_finish_output(TS_EXIT_OK);
	read_words(1, cursor, cursor, words, &typed);
	/* The trace may also stand behind the word that is being typed. */
	after = typed;
	read_words(cursor + 1, n, 0, words, &after);
	typed.file = after.file;
	offer_all(&typed);
	return ts_finish_output(TS_EXIT_OK);
}
