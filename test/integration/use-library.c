/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that uses libtracesmith as test-library.py asks it to, from its installed headers.
 *
 *	use-library ask TRACE QUESTION OPTIONS    the answer; its rows are counted, too
 *	use-library cancelled TRACE QUESTION      the same question, cancelled before it begins
 *	use-library long TRACE QUESTION           an answer of at most 10 bytes
 *	use-library diff BEFORE AFTER OPTIONS
 *	use-library export TRACE FORMAT           to standard output
 *	use-library picture TRACE QUESTION        the answer as SVG
 *	use-library arrow TRACE                   "PATH BYTES" of each file of Arrow
 *
 * Prints the answer on stdout and the line about an error on stderr; exits with 0, or with 3 and
 * the number in that line.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracesmith.h>
#include <unistd.h>

static struct ts_sbt_reader *open_trace(const char *path)
{
	struct ts_sbt_reader *reader = NULL;
	struct ts_sbt_error error = {0};
	int r = ts_sbt_reader_open(open(path, O_RDONLY | O_CLOEXEC), &reader, &error);

	if (!r)
		return reader;
	fprintf(stderr, "%d %s\n", r, error.text);
	exit(2);
}

static int end(int r, struct ts_json *answer, const char *why)
{
	if (answer->data)
		fwrite(answer->data, 1, answer->n_bytes, stdout);
	ts_json_deinit(answer);
	if (*why)
		fprintf(stderr, "%d %s\n", r, why);
	return r ? 3 : 0;
}

static int ask(char **words, const char *options_json, const struct ts_ask_options *options)
{
	struct ts_sbt_reader *reader = open_trace(words[0]);
	char why[TS_ASK_WHY_BYTES];
	struct ts_json answer = {0};
	int r = ts_ask_json(reader, 0, words[0], words[1], options_json, options, &answer, why);

	if (!r && options->n_rows && !*options->n_rows)
		fputs("no row was counted\n", stderr);
	ts_sbt_reader_free(reader);
	return end(r, &answer, why);
}

static int diff(char **words)
{
	struct ts_sbt_reader *before = open_trace(words[0]), *after = open_trace(words[1]);
	const struct ts_query_side sides[2] = {{&before, 1, words[0]}, {&after, 1, words[1]}};
	const struct ts_ask_options options = {.no_memory = abort};
	char why[TS_ASK_WHY_BYTES];
	struct ts_json answer = {0};
	int r = ts_ask_json_diff(sides, words[2], &options, &answer, why);

	ts_sbt_reader_free(before);
	ts_sbt_reader_free(after);
	return end(r, &answer, why);
}

static int export(char **words)
{
	struct ts_sbt_reader *reader = open_trace(words[0]);
	struct ts_export_report report;
	int r = ts_export_fd(reader, ts_export_format_of(words[1]), NULL, STDOUT_FILENO, &report);

	ts_sbt_reader_free(reader);
	if (r)
		fprintf(stderr, "%d\n", r);
	else if (!report.n_rows && strcmp(words[1], "json") && strcmp(words[1], "perfetto"))
		fputs("no row\n", stderr);
	return r ? 3 : 0;
}

static int picture(char **words)
{
	struct ts_sbt_reader *reader = open_trace(words[0]);
	const struct ts_ask_options options = {.no_memory = abort};
	char why[TS_ASK_WHY_BYTES];
	struct ts_json answer = {0};
	int r = ts_ask_picture(reader, 0, words[0], words[1], NULL, 0, &options, &answer, why);

	ts_sbt_reader_free(reader);
	return end(r, &answer, why);
}

struct arrow_file {
	FILE *file;
	char *bytes;
	size_t n_bytes;
};

static int begin_file(void *user, const char *path, FILE **ret_file)
{
	struct arrow_file *file = user;

	printf("%s ", path);
	file->file = *ret_file = open_memstream(&file->bytes, &file->n_bytes);
	return *ret_file ? 0 : -ENOMEM;
}

static int end_file(void *user)
{
	struct arrow_file *file = user;

	fclose(file->file);
	printf("%zu\n", file->n_bytes);
	free(file->bytes);
	return 0;
}

static int arrow(const char *path)
{
	struct ts_sbt_reader *reader = open_trace(path);
	struct ts_export_report report;
	struct arrow_file file = {0};
	struct ts_export_arrow_options options = {.path = path,
						  .open = begin_file,
						  .finish = end_file,
						  .user = &file};
	int r = ts_export_arrow(reader, NULL, &options, false, &report);
	/* A slice is a number of whole units; the callbacks are required. */
	bool is_strict;

	options.slice_ns = 1;
	is_strict = ts_export_arrow(reader, NULL, &options, false, &report) == -EINVAL;
	options.slice_ns = 0;
	options.open = NULL;
	is_strict &= ts_export_arrow(reader, NULL, &options, false, &report) == -EINVAL;
	ts_sbt_reader_free(reader);
	if (r || !is_strict)
		fprintf(stderr, "%d\n", r);
	return r ? 3 : 0;
}

int main(int argc, char **argv)
{
	const volatile int cancelled = 1;
	uint64_t n_rows = 0;
	struct ts_ask_options options = {.no_memory = abort};

	if (argc == 5 && !strcmp(argv[1], "ask")) {
		options.n_rows = &n_rows;
		return ask(argv + 2, argv[4], &options);
	}
	if (argc == 4 && !strcmp(argv[1], "cancelled")) {
		options.cancel = &cancelled;
		return ask(argv + 2, NULL, &options);
	}
	if (argc == 4 && !strcmp(argv[1], "long")) {
		options.max_bytes = 10;
		return ask(argv + 2, "", &options);
	}
	if (argc == 5 && !strcmp(argv[1], "diff"))
		return diff(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "export"))
		return export(argv + 2);
	if (argc == 4 && !strcmp(argv[1], "picture"))
		return picture(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "arrow"))
		return arrow(argv[2]);
	return 2;
}
