/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the parser of command lines with a table of options: every kind of option, every error, the
 * order of words. Also tests the option tables of all commands: they fulfil the parser's
 * assumptions, and help lists each option.
 */
#include "test/unit/harness.h"
#include "tools/tsctl/options/help.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/tsctl.h"

#include "proto/abi/base.h"

#define MAX_WORDS 32

struct given {
	bool json, quiet, called;
	const char *text, *file, *session, *level, *last;
	uint64_t number, bytes, time_ns;
	struct ts_time at;
	unsigned int choice, n_parts;
	struct {
		int stream;
	} filter;
};

enum {
	COLOUR_RED,
	COLOUR_GREEN,
	COLOUR_BLUE,
	COLOUR_UNSET
};

static const char *const colours[] = {"red", "green", "blue", NULL};
static const char *const one_word[] = {"only", NULL};

static int add_part(void *to, const struct ts_option *option, const char *text)
{
	struct given *given = to;

	ts_check_str(option->name, "part");
	if (!*text)
		return ts_option_complain(option, text);
	given->n_parts++;
	given->last = text;
	return 0;
}

static int set_level(void *to, const struct ts_option *option, const char *text)
{
	struct given *given = to;

	given->level = text ? text : "all";
	return 0;
}

static bool is_level(const char *word)
{
	return !strcmp(word, "some");
}

static int set_stream(void *to, const struct ts_option *option, const char *text)
{
	*(int *)to = atoi(text);
	return 0;
}

static int call(void *to, const struct ts_option *option, const char *text)
{
	struct given *given = to;

	ts_check(!text);
	given->called = true;
	return 0;
}

static const struct ts_option command_options[] = {
	{"json", 'j', TS_OPTION_FLAG(struct given, json)},
	{"quiet", 'q', TS_OPTION_FLAG(struct given, quiet)},
	{"call", 'c', TS_OPTION_PARSED_FLAG(call)},
	{"text", 't', TS_OPTION_TEXT(struct given, text)},
	{"output", 'o', TS_OPTION_FILE(struct given, file)},
	{"session", 's', TS_OPTION_SESSION(struct given, session)},
	{"limit", 'n', TS_OPTION_NUMBER(struct given, number), .min = 1, .max = 100,
	 .expects = "expected a number, at most 100"},
	{NULL, 'N', TS_OPTION_NUMBER(struct given, number), .max = 9, .label = "-N",
	 .expects = "expected a digit"},
	{"size", TS_OPTION_LONG, TS_OPTION_BYTES(struct given, bytes), .min = 1024,
	 .max = UINT64_MAX, .expects = "expected a size of 1K at least"},
	{"least", TS_OPTION_LONG, TS_OPTION_TIME(struct given, time_ns), .min = 1000,
	 .max = 1000000, .expects = "expected a time from 1us to 1ms"},
	{"at", TS_OPTION_LONG, TS_OPTION_MOMENT(struct given, at)},
	{"colour", TS_OPTION_LONG, TS_OPTION_CHOICE(struct given, choice), .words = colours},
	{"one", TS_OPTION_LONG, TS_OPTION_CHOICE(struct given, choice), .words = one_word},
	{"part", 'p', TS_OPTION_PARSED(add_part), .expects = "expected a part"},
	{"level", TS_OPTION_LONG, TS_OPTION_PARSED(set_level), .is_optional = true},
	{"check", TS_OPTION_LONG, TS_OPTION_PARSED(set_level), .is_optional = true,
	 .takes = is_level},
	{"stream", TS_OPTION_LONG, TS_OPTION_PARSED_TO(struct given, filter, set_stream)},
	{"secret", TS_OPTION_LONG, TS_OPTION_FLAG(struct given, called), .is_hidden = true},
	{0},
};
static const struct ts_command command = {.name = "try", .options = command_options};
static const struct ts_command program = {.name = "try",
					  .options = command_options,
					  .operands = TS_OPERANDS_PROGRAM};
static const struct ts_command bare = {.name = "try"};

static struct given given;
static struct ts_operands operands;
static char *words[MAX_WORDS];
static char *complaint; /* the last line on stderr, without "tsctl try: " and the newline */

/* Parses a line with single spaces between its words; two spaces mean an empty word between. */
static int parse(const struct ts_command *by, const char *line)
{
	static char copy[512];
	size_t n_bytes;
	FILE *screen = stderr;
	int n = 0, r;

	snprintf(copy, sizeof(copy), "try%s%s", *line ? " " : "", line);
	for (char *at = copy; at; n++) {
		assert(n < MAX_WORDS - 1);
		words[n] = strsep(&at, " ");
	}
	words[n] = NULL;
	given = (struct given){.choice = COLOUR_UNSET};
	operands = (struct ts_operands){0};
	free(complaint);
	stderr = open_memstream(&complaint, &n_bytes);
	ts_complain_as("try");
	r = ts_options_parse(by, n, words, &given, &operands);
	fclose(stderr);
	stderr = screen;
	if (n_bytes) {
		ts_check(!strncmp(complaint, "tsctl try: ", 11));
		memmove(complaint, complaint + 11, strlen(complaint + 11) + 1);
		complaint[strcspn(complaint, "\n")] = '\0';
	}
	return r;
}

static void check_good(const char *line, const char *want_operands)
{
	char got[512] = "";
	size_t n = 0;

	if (parse(&command, line))
		fprintf(stderr, "%s: %s\n", line, complaint);
	ts_check_str(complaint, "");
	for (size_t i = 0; i < operands.n; i++)
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%s", i ? " " : "",
				      operands.words[i]);
	ts_check_str(got, want_operands);
	ts_check(!operands.words[operands.n]);
}

static void check_bad(const char *line, const char *want)
{
	ts_check_int(parse(&command, line), -EINVAL);
	ts_check_str(complaint, want);
}

TS_TEST(nothing)
{
	check_good("", "");
	ts_check_int(operands.n, 0);
	check_good("a b", "a b");
	check_good("-", "-");
	check_good(" a", " a");
	ts_check_int(parse(&bare, "a"), 0);
	ts_check_int(parse(&bare, "--json"), -EINVAL);
	ts_check_str(complaint, "unknown option --json; `tsctl help try` lists the options");
	ts_check_int(parse(&bare, "-j"), -EINVAL);
	ts_check_str(complaint, "unknown option -j; `tsctl help try` lists the options");
}

TS_TEST(flags)
{
	check_good("--json", "");
	ts_check(given.json && !given.quiet);
	check_good("-q", "");
	ts_check(!given.json && given.quiet);
	check_good("-qj --json", "");
	ts_check(given.json && given.quiet);
	check_good("--call", "");
	ts_check(given.called);
	check_good("-cj", "");
	ts_check(given.called && given.json);
	check_bad("--json=1", "option --json takes no value");
	check_bad("--json=", "option --json takes no value");
	check_bad("--call=1", "option --call takes no value");
}

TS_TEST(texts)
{
	check_good("--text a --output b --session d", "");
	ts_check_str(given.text, "a");
	ts_check_str(given.file, "b");
	ts_check_str(given.session, "d");
	check_good("--text=a=b -ob -s d", "");
	ts_check_str(given.text, "a=b");
	ts_check_str(given.file, "b");
	ts_check_str(given.session, "d");
	check_good("--text=", "");
	ts_check_str(given.text, "");
	check_good("--text ", "");
	ts_check_str(given.text, "");
	check_good("-t ", "");
	ts_check_str(given.text, "");
	/* A value may look like an option. */
	check_good("--text --json x", "x");
	ts_check_str(given.text, "--json");
	ts_check(!given.json);
	check_good("-t -- --json", "");
	ts_check_str(given.text, "--");
	ts_check(given.json);
	check_good("--text --tex", "");
	ts_check_str(given.text, "--tex");
	check_good("-jqt x", "");
	ts_check_str(given.text, "x");
	check_good("-jtqx", "");
	ts_check_str(given.text, "qx");
	ts_check(given.json && !given.quiet);
	check_good("--text a --text b -tc", "");
	ts_check_str(given.text, "c");
}

TS_TEST(numbers)
{
	check_good("--limit 7", "");
	ts_check_int(given.number, 7);
	check_good("-n7", "");
	ts_check_int(given.number, 7);
	check_good("-n 100", "");
	ts_check_int(given.number, 100);
	check_good("-n 1 --limit=2", "");
	ts_check_int(given.number, 2);
	check_bad("-n 0", "--limit 0: expected a number, at most 100");
	check_bad("-n101", "--limit 101: expected a number, at most 100");
	check_bad("--limit=x", "--limit x: expected a number, at most 100");
	check_bad("--limit ", "--limit '': expected a number, at most 100");
	check_bad("--limit -1", "--limit -1: expected a number, at most 100");
	check_good("-N 9", "");
	check_bad("-N 10", "-N 10: expected a digit");
	check_bad("-jN", "option -jN needs a value");
}

TS_TEST(bytes_and_times)
{
	check_good("--size 4k", "");
	ts_check_int(given.bytes, 4096);
	check_bad("--size 1", "--size 1: expected a size of 1K at least");
	check_bad("--size 1KB", "--size 1KB: expected a size of 1K at least");
	check_good("--least 20us", "");
	ts_check_int(given.time_ns, 20000);
	check_bad("--least 999", "--least 999: expected a time from 1us to 1ms");
	check_bad("--least 2ms", "--least 2ms: expected a time from 1us to 1ms");
	check_bad("--least soon", "--least soon: expected a time from 1us to 1ms");
	check_good("--at 1us", "");
	ts_check(given.at.is_given && !given.at.is_absolute);
	ts_check_int(given.at.ns, 1000);
	check_good("--at=@5", "");
	ts_check(given.at.is_given && given.at.is_absolute);
	check_good("", "");
	ts_check(!given.at.is_given);
	check_bad(
		"--at soon",
		"--at soon: expected a time from the trace's start, like 1500 (ns) or 12.5ms, or @ and "
		"a time of CLOCK_MONOTONIC, like @1500");
}

TS_TEST(choices)
{
	check_good("--colour green", "");
	ts_check_int(given.choice, COLOUR_GREEN);
	check_good("--colour green --colour=red", "");
	ts_check_int(given.choice, COLOUR_RED);
	check_good("", "");
	ts_check_int(given.choice, COLOUR_UNSET);
	check_bad("--colour pink", "--colour pink: expected `red`, `green` or `blue`");
	check_bad("--colour gree", "--colour gree: expected `red`, `green` or `blue`");
	check_bad("--one two", "--one two: expected `only`");
}

TS_TEST(values_of_their_own)
{
	check_good("--part a -p b -pc", "");
	ts_check_int(given.n_parts, 3);
	ts_check_str(given.last, "c");
	check_bad("--part ", "--part '': expected a part");
	check_bad("-p", "option -p needs a value");
	check_good("--stream 5", "");
	ts_check_int(given.filter.stream, 5);
}

TS_TEST(optional_values)
{
	check_good("--level x", "x");
	ts_check_str(given.level, "all");
	check_good("--level=x", "");
	ts_check_str(given.level, "x");
	check_good("--level=", "");
	ts_check_str(given.level, "");
	check_good("x --level", "x");
	ts_check_str(given.level, "all");
	/* The next word is the value if it looks like one. */
	check_good("--check some", "");
	ts_check_str(given.level, "some");
	check_good("--check none", "none");
	ts_check_str(given.level, "all");
	check_good("--check=none some", "some");
	ts_check_str(given.level, "none");
	check_good("--check", "");
	ts_check_str(given.level, "all");
}

TS_TEST(order_of_words)
{
	check_good("a --json b -n 5 c", "a b c");
	ts_check(given.json);
	ts_check_int(given.number, 5);
	check_good("a -- --json -n -- b", "a --json -n -- b");
	ts_check(!given.json);
	check_good("a -j --", "a");
	check_good("- -j -", "- -");
	ts_check(given.json);
	/* The error names the first wrong word; later words have no effect. */
	check_bad("--limit 0 --jsno --part", "--limit 0: expected a number, at most 100");
	check_bad("-jz --part a", "unknown option -z; `tsctl help try` lists the options");
	ts_check(given.json);
	ts_check_int(given.n_parts, 0);
}

TS_TEST(options_end_where_a_program_begins)
{
	ts_check_int(parse(&program, "-j ls --quiet -n"), 0);
	ts_check(given.json && !given.quiet);
	ts_check_int(operands.n, 3);
	ts_check_str(operands.words[0], "ls");
	ts_check_str(operands.words[1], "--quiet");
	ts_check_int(parse(&program, "-- -j --"), 0);
	ts_check_int(operands.n, 2);
	ts_check_str(operands.words[0], "-j");
	ts_check_str(operands.words[1], "--");
	ts_check(!operands.words[2]);
	/* With POSIXLY_CORRECT, options end at the first operand, as in other programs. */
	setenv("POSIXLY_CORRECT", "1", 1);
	check_good("a --json", "a --json");
	ts_check(!given.json);
}

TS_TEST(missing_values)
{
	check_bad("--limit", "option --limit needs a value");
	check_bad("a --text", "option --text needs a value");
	check_bad("-n", "option -n needs a value");
	check_bad("-jn", "option -jn needs a value");
	check_bad("--lim", "option --lim needs a value");
}

TS_TEST(names_are_whole)
{
	check_bad("--lim 5", "option --lim: did you mean --limit? options are not abbreviated");
	check_bad("--lim=5", "option --lim: did you mean --limit? options are not abbreviated");
	check_bad("--js", "option --js: did you mean --json? options are not abbreviated");
	check_bad("--js=5", "option --js takes no value");
	/* A prefix of two names matches none. */
	check_bad("--s", "unknown option --s; did you mean --at?");
	check_bad("--le=5", "unknown option --le; did you mean --at?");
	check_bad("--=5", "unknown option --; did you mean --at?");
}

TS_TEST(unknown_options)
{
	char line[256], want[256];

	check_bad("--jsno", "unknown option --jsno; did you mean --json?");
	check_bad("--jsno=5", "unknown option --jsno; did you mean --json?");
	check_bad("--nonsense", "unknown option --nonsense; `tsctl help try` lists the options");
	check_bad("-z", "unknown option -z; `tsctl help try` lists the options");
	check_bad("-zf", "unknown option -z; `tsctl help try` lists the options");
	check_bad("--json -zf", "unknown option -z; `tsctl help try` lists the options");
	check_bad("-jzf", "unknown option -z; `tsctl help try` lists the options");
	check_bad("-:", "unknown option -:; `tsctl help try` lists the options");
	check_bad("-=", "unknown option -=; `tsctl help try` lists the options");
	check_bad("x -\xc3\xa9", "unknown option -\xc3\xa9; `tsctl help try` lists the options");
	/* A long name is cut, and has no similar names. */
	snprintf(line, sizeof(line), "--%0100d", 0);
	snprintf(want, sizeof(want), "unknown option --%063d; `tsctl help try` lists the options",
		 0);
	check_bad(line, want);
}

TS_TEST(equally_near_names)
{
	static const struct ts_option some[] = {
		{"stacks", TS_OPTION_LONG, TS_OPTION_FLAG(struct given, json), .rank = 1},
		{"stats", TS_OPTION_LONG, TS_OPTION_FLAG(struct given, json)},
		{"stamps", TS_OPTION_LONG, TS_OPTION_FLAG(struct given, json)},
		{0},
	};
	static const struct ts_command of = {.name = "try", .options = some};

	parse(&of, "--stacs");
	ts_check_str(complaint, "unknown option --stacs; did you mean --stats?");
	parse(&of, "--stas");
	ts_check_str(complaint, "unknown option --stas; did you mean --stats?");
	parse(&of, "--stackz");
	ts_check_str(complaint, "unknown option --stackz; did you mean --stacks?");
	parse(&of, "--stams");
	ts_check_str(complaint, "unknown option --stams; did you mean --stats?");
}

TS_TEST(hidden_options_are_known_and_not_suggested)
{
	check_good("--secret", "");
	ts_check(given.called);
	check_bad("--secre", "unknown option --secre; `tsctl help try` lists the options");
	check_bad("--secert", "unknown option --secert; `tsctl help try` lists the options");
	/* `--secret` begins with --se, too, but is hidden. So --session is the only candidate. */
	check_bad("--se", "option --se needs a value");
	check_bad("--se 3", "option --se: did you mean --session? options are not abbreviated");
}

TS_TEST(operands_of_a_trace)
{
	parse(&command, "a");
	ts_check_int(ts_one_trace(&operands, NULL, "try", ""), 0);
	ts_check_int(ts_one_trace(&operands, "3", "try", ""), -EINVAL);
	ts_check_int(ts_no_operands(&operands), -EINVAL);
	parse(&command, "");
	ts_check_int(ts_one_trace(&operands, NULL, "try", ""), -EINVAL);
	ts_check_int(ts_one_trace(&operands, "3", "try", ""), 0);
	ts_check_int(ts_no_operands(&operands), 0);
	ts_check(!operands.words[0]);
}

static char *help_of(const struct ts_command *of)
{
	size_t n_bytes;
	char *help = NULL;
	FILE *file = open_memstream(&help, &n_bytes);

	assert(file);
	ts_help_print(of, file);
	fclose(file);
	return help;
}

static bool has_name(const char *help, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = strstr(help, name); at; at = strstr(at + 1, name))
		if (at[n] != '-' && !(at[n] >= 'a' && at[n] <= 'z'))
			return true;
	return false;
}

static void check_option(const struct ts_command *of, const struct ts_option *option,
			 const char *help)
{
	bool is_number = option->kind >= TS_OPTION_IS_NUMBER && option->kind <= TS_OPTION_IS_TIME;
	char name[64];

	snprintf(name, sizeof(name), "--%s", option->name ? option->name : "");
	if (!option->name)
		snprintf(name, sizeof(name), "-%c", option->letter);
	if (has_name(help, name) == option->is_hidden)
		fprintf(stderr, "help %s: %s\n", of->name, name);
	ts_check(has_name(help, name) != ts_option_is_concealed(option));
	for (const struct ts_option *other = of->options; other < option; other++) {
		ts_check(!option->letter || option->letter != other->letter);
		ts_check(!option->name || !other->name || strcmp(option->name, other->name));
	}
	/* The error for a bad value needs these fields. */
	ts_check(!is_number || (option->expects && option->max > option->min));
	ts_check(option->kind != TS_OPTION_IS_CHOICE || option->words);
	ts_check(option->name || option->label);
	ts_check(
		(option->kind != TS_OPTION_IS_PARSED && option->kind != TS_OPTION_IS_PARSED_FLAG) ||
		option->parse);
	ts_check(!option->takes || option->is_optional);
	ts_check(!option->is_optional || option->parse);
	/* An option that shares its line is followed by the option with the description. */
	ts_check(!option->joint || (!option->help && (option[1].joint || option[1].help)));
	ts_check(!option->help || of->help_column);
}

TS_TEST(tables_of_all_commands)
{
	for (size_t i = 0; ts_commands[i]; i++) {
		char *help = help_of(ts_commands[i]);

		for (const struct ts_option *option = ts_commands[i]->options;
		     option && !ts_option_is_last(option); option++)
			check_option(ts_commands[i], option, help);
		free(help);
	}
}

TS_TEST(help_has_lines_of_options)
{
	static const struct ts_option some[] = {
		{"limit", 'n', TS_OPTION_NUMBER(struct given, number), .metavar = "N",
		 .help = "at most N\nlines"},
		{"from", TS_OPTION_LONG, TS_OPTION_TEXT(struct given, text), .metavar = "T",
		 .joint = ", "},
		{"to", TS_OPTION_LONG, TS_OPTION_TEXT(struct given, text), .metavar = "T",
		 .help = "\nthis part"},
		{"level", TS_OPTION_LONG, TS_OPTION_PARSED(set_level), .is_optional = true,
		 .metavar = "VERY-LONG", .help = "how much"},
		{"json", 'j', TS_OPTION_FLAG(struct given, json), .is_letter_unmentioned = true,
		 .help = "one object"},
		{"secret", TS_OPTION_LONG, TS_OPTION_FLAG(struct given, quiet), .is_hidden = true},
		{0},
	};
	struct ts_command of = {.name = "try",
				.text = "usage: tsctl try\n\n",
				.example = "try -n 5",
				.help_column = 19,
				.options = some};
	char *help = help_of(&of);

	ts_check_str(help, "usage: tsctl try\n"
			   "\n"
			   "  -n, --limit N    at most N\n"
			   "                   lines\n"
			   "      --from T, --to T\n"
			   "                   this part\n"
			   "      --level[=VERY-LONG]   how much\n"
			   "      --json       one object\n"
			   "\n"
			   "example: tsctl try -n 5\n");
	free(help);
	of.is_help_narrow = true;
	of.options = some + 4;
	of.help_column = 10;
	of.example = NULL;
	help = help_of(&of);
	ts_check_str(help, "usage: tsctl try\n\n  --json  one object\n");
	free(help);
}
