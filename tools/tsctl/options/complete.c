/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints candidates for the word that is being typed: see complete.h. main.c calls this file. This
 * file reads the earlier words by the tables of option-parse.c, but stores nothing and ignores
 * unknown words. Sessions come from the daemons that answer.
 */
#include "tools/tsctl/options/complete.h"

#include "proto/abi/base.h"
#include "tools/tsctl/machine/live.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
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
	/* All words before `word` begin with a dash: main.c then accepts --help. */
	bool is_help_possible;
	bool is_over; /* no more options */
};

/* ---- candidates ----------------------------------------------------------------------------- */

/* Prints the candidate, of two parts, if it begins as the word does. */
static void offer(const char *word, const char *head, const char *tail)
{
	size_t n_head = strlen(head), n = strlen(word);

	if (n <= n_head ? !strncmp(word, head, n)
			: !strncmp(word, head, n_head) && !strncmp(word + n_head, tail, n - n_head))
		printf("%s%s\n", head, tail);
}

static void offer_commands(const char *word)
{
	for (size_t i = 0; ts_commands[i]; i++)
		offer(word, "", ts_commands[i]->name);
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

/*
 * Offers completions of an option's value. The value begins after the first `n_head` bytes of the
 * word.
 */
static void offer_value(const struct ts_option *option, const char *word, size_t n_head)
{
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
		printf(":files %s\n", head);
	else if (option->kind == TS_OPTION_IS_SESSION)
		offer_sessions(word, head);
}

static void offer_names(const struct typed *typed)
{
	const char *word = typed->word;

	for (const struct ts_option *option = typed->command->options;
	     option && !ts_option_is_last(option); option++) {
		const char letter[] = {option->letter, '\0'};

		if (ts_option_is_concealed(option))
			continue;
		if (option->letter && !option->is_letter_unmentioned)
			offer(word, "-", letter);
		if (option->name)
			offer(word, "--", option->name);
	}
	if (typed->is_help_possible)
		offer(word, "--", "help");
}

static void offer_operands(const struct typed *typed)
{
	switch (typed->command->operands) {
	case TS_OPERANDS_NONE:
		break;
	case TS_OPERANDS_FILES:
		puts(":files ");
		break;
	case TS_OPERANDS_PIDS:
		offer_sessions(typed->word, "");
		break;
	case TS_OPERANDS_SESSION_OR_FILE:
		offer_sessions(typed->word, "");
		puts(":files ");
		break;
	case TS_OPERANDS_PROGRAM:
		puts(typed->n_operands ? ":files " : ":programs");
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

static void read_words(int n, char **words, struct typed *typed)
{
	for (int i = 1; i < n - 1; i++) {
		const char *word = words[i];
		const struct ts_option *option;

		typed->is_help_possible = typed->is_help_possible && word[0] == '-';
		if (typed->is_over || word[0] != '-' || !word[1]) {
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
		if (option && i == n - 2) {
			typed->option = option;
		} else if (option && (!option->takes || option->takes(words[i + 1]))) {
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
		offer_value(typed->option, word, 0);
	if (typed->option && !typed->option->is_optional)
		return;
	if (typed->is_over || word[0] != '-') {
		offer_operands(typed);
		if (!word[0] && !typed->is_over && typed->command->operands == TS_OPERANDS_NONE)
			offer_names(typed);
	} else if (word[1] == '-' && word[n]) {
		option = find_name(typed->command, word + 2, n - 2);
		if (option && !ts_option_is_concealed(option) && ts_option_has_value(option))
			offer_value(option, word, n + 1);
	} else {
		offer_names(typed);
		n = word[1] == '-' ? 0 : find_letter(typed->command, word, &option);
		if (n && word[n])
			offer_value(option, word, n);
	}
}

int ts_complete(int n, char **words)
{
	struct typed typed = {.word = n ? words[n - 1] : "", .is_help_possible = true};

	if (n < 2) {
		offer_commands(typed.word);
		if (typed.word[0] == '-') {
			offer(typed.word, "--", "help");
			offer(typed.word, "--", "version");
		}
	} else {
		typed.command = ts_command_find(words[0]);
		if (!typed.command)
			return ts_finish_output(TS_EXIT_OK);
		read_words(n, words, &typed);
		offer_all(&typed);
	}
	return ts_finish_output(TS_EXIT_OK);
}
