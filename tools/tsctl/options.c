/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options and messages. getopt_long() does the parsing, but its messages neither name the command nor
 * suggest what was meant, so they are made here.
 */
#include "tools/tsctl/tsctl.h"

#include "proto/abi/base.h"
#include "tools/tsctl/screen/out.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#define EDIT_MAX_BYTES 64u
#define EDIT_NEAR      2u

static const char *complain_command;

void ts_complain_as(const char *command)
{
	complain_command = command;
}

void ts_complain(const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* Standard output comes first where both are one terminal or one file. */
	fflush(stdout);
	fputs("tsctl", stderr);
	if (complain_command)
		fprintf(stderr, " %s", complain_command);
	fputs(": ", stderr);
	ts_out_text(stderr, text);
	fputc('\n', stderr);
}

void ts_no_memory(void)
{
	ts_complain("out of memory");
	exit(TS_EXIT_BAD);
}

size_t ts_edit_distance(const char *a, const char *b)
{
	size_t n_a = strlen(a), n_b = strlen(b);
	size_t rows[3][EDIT_MAX_BYTES + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	if (n_a > EDIT_MAX_BYTES || n_b > EDIT_MAX_BYTES)
		return SIZE_MAX;
	for (size_t j = 0; j <= n_b; j++)
		last[j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		size_t *spare = before;

		now[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			size_t best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			now[j] = best;
		}
		before = last;
		last = now;
		now = spare;
	}
	return last[n_b];
}

static const char *option_near(const char *name, const struct option *longs)
{
	const char *near = NULL;
	size_t least = EDIT_NEAR + 1;

	for (const struct option *option = longs; option->name; option++) {
		size_t distance = ts_edit_distance(name, option->name);

		if (distance < least) {
			least = distance;
			near = option->name;
		}
	}
	return near;
}

static void complain_unknown(const char *word, const struct option *longs)
{
	char name[EDIT_MAX_BYTES];
	const char *near;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word + 2, "="), word + 2);
	near = option_near(name, longs);
	if (near)
		ts_complain("unknown option --%s; did you mean --%s?", name, near);
	else
		ts_complain("unknown option --%s; `tsctl help %s` lists the options", name,
			    complain_command ? complain_command : "");
}

/*
 * getopt_long() takes the beginning of a name for the name. What a script abbreviates today would mean
 * another option, or none, once there are more of them.
 */
static bool complain_abbreviated(char **argv, const struct option *option)
{
	const char *word = argv[optind - (optarg && optarg == argv[optind - 1] ? 2 : 1)];
	size_t n = strcspn(word, "=");

	if (n == strlen(option->name) + 2)
		return false;
	ts_complain("option %.*s: did you mean --%s? options are not abbreviated", (int)n, word,
		    option->name);
	return true;
}

int ts_option_next(int argc, char **argv, const char *shorts, const struct option *longs)
{
	const char *word;
	int option, matched = -1;

	opterr = 0;
	option = getopt_long(argc, argv, shorts, longs, &matched);
	if (option != '?' && option != ':')
		return matched >= 0 && complain_abbreviated(argv, &longs[matched]) ? '?' : option;
	word = optind > 0 && optind <= argc ? argv[optind - 1] : "";
	if (option == ':') {
		ts_complain("option %s needs a value", word);
	} else if (optopt && optopt < 256 && isprint(optopt)) {
		if (!strncmp(word, "--", 2))
			ts_complain("option %s does not fit: --%.*s takes no value", word,
				    (int)strcspn(word + 2, "="), word + 2);
		else
			ts_complain("unknown option -%c; `tsctl help %s` lists the options", optopt,
				    complain_command ? complain_command : "");
	} else if (optopt) {
		ts_complain("option %.*s takes no value", (int)strcspn(word, "="), word);
	} else {
		complain_unknown(strncmp(word, "--", 2) ? "--" : word, longs);
	}
	return '?';
}

int ts_one_trace(int argc, const char *session, const char *usage, const char *more)
{
	if (argc - optind == (session ? 0 : 1))
		return 0;
	ts_complain("takes one trace file or one session: `tsctl %s run.sbt%s`, "
		    "`tsctl %s --session 3%s`",
		    usage, more, usage, more);
	return -EINVAL;
}

int ts_parse_number(const char *text, unsigned long long min, unsigned long long max,
		    unsigned long long *ret_number)
{
	unsigned long long number;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (*end)
		return -EINVAL;
	if (errno || number < min || number > max)
		return -ERANGE;
	*ret_number = number;
	return 0;
}

int ts_parse_bytes(const char *text, unsigned long long min, unsigned long long max,
		   unsigned long long *ret_bytes)
{
	static const char suffixes[] = "KMG";
	unsigned long long number;
	unsigned int shift = 0;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno)
		return -ERANGE;
	if (*end) {
		const char *suffix = strchr(suffixes, toupper((unsigned char)*end));

		if (!suffix || end[1])
			return -EINVAL;
		shift = 10 * (unsigned int)(suffix - suffixes + 1);
	}
	if (number > max >> shift || number << shift < min)
		return -ERANGE;
	*ret_bytes = number << shift;
	return 0;
}

int ts_finish_output(int status)
{
	bool failed = ferror(stdout);

	/* stdio forgets why an earlier write failed: the next one says it again. */
	if (failed) {
		clearerr(stdout);
		errno = EIO;
		putchar('\n');
	}
	failed |= fflush(stdout) != 0;
	/* Whoever read us had enough (`| head`): that is no error of ours. */
	if (failed && errno != EPIPE) {
		ts_complain("could not write to standard output: %s", strerror(errno));
		return TS_EXIT_BAD;
	}
	return status;
}

int ts_ops_parse(const char *text, uint64_t *ret_first, uint64_t *ret_last)
{
	const char *dots = strstr(text, "..");
	size_t n = dots ? (size_t)(dots - text) : strlen(text);
	unsigned long long from, to;
	char first[24];

	if (n < sizeof(first)) {
		memcpy(first, text, n);
		first[n] = '\0';
		if (!ts_parse_number(first, 0, UINT64_MAX, &from) &&
		    !ts_parse_number(dots ? dots + 2 : first, from, UINT64_MAX, &to)) {
			*ret_first = from;
			*ret_last = to;
			return 0;
		}
	}
	ts_complain("--ops %s: it is an operation's number, as `tsctl view` has it, or two of them "
		    "with dots between: 7..20",
		    text);
	return -EINVAL;
}
