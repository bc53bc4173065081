/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces that were written once and are kept for ever: they must read the same whatever changes in
 * the writer. Each has its contents as text beside it (golden/README.md).
 */
#include "test/unit/harness.h"

#include "sbt/append.h"
#include "sbt/format.h"
#include "sbt/verify.h"
#include "test/unit/sbt/golden-dump.h"
#include "test/unit/sbt/sbt-test.h"

static const char *path_of(const char *name)
{
	const char *directory = getenv("SBT_GOLDEN");
	static char path[4096];

	if (!directory) {
		fprintf(stderr, "SBT_GOLDEN does not name the folder\n");
		exit(1);
	}
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static struct ts_sbt_reader *open_file(const char *name)
{
	int fd = open(path_of(name), O_RDONLY | O_CLOEXEC);
	struct ts_sbt_reader *reader;

	ts_check(fd >= 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	close(fd);
	return reader;
}

static char *read_text(const char *name, size_t *ret_n)
{
	FILE *file = fopen(path_of(name), "re");
	char *text = NULL;
	size_t room = 0;

	ts_check(file);
	*ret_n = 0;
	do {
		room += 65536;
		text = realloc(text, room + 1);
		ts_check(text);
		*ret_n += fread(text + *ret_n, 1, room - *ret_n, file);
	} while (*ret_n == room);
	text[*ret_n] = 0;
	fclose(file);
	return text;
}

/* Compares line by line, so that the difference is printed. */
static void check_text(char *got, char *want)
{
	char *got_rest, *want_rest, *got_line, *want_line;

	got_line = strtok_r(got, "\n", &got_rest);
	want_line = strtok_r(want, "\n", &want_rest);
	while (got_line && want_line) {
		ts_check_str(got_line, want_line);
		got_line = strtok_r(NULL, "\n", &got_rest);
		want_line = strtok_r(NULL, "\n", &want_rest);
	}
	ts_check_str(got_line ? got_line : "the end", want_line ? want_line : "the end");
}

static void check(struct ts_sbt_reader *reader, const char *name)
{
	char *got = NULL, *want;
	size_t n_got, n_want;
	FILE *out = open_memstream(&got, &n_got);

	ts_check(out);
	ts_check_int(golden_dump(out, reader), 0);
	fclose(out);
	want = read_text(name, &n_want);
	ts_check(n_want > 100);
	check_text(got, want);
	free(got);
	free(want);
}

static void check_file(const char *stem, bool is_whole)
{
	char name[64];
	struct ts_sbt_verify_report report;
	struct ts_sbt_reader *reader;
	int fd;

	snprintf(name, sizeof(name), "%s.sbt", stem);
	reader = open_file(name);
	fd = open(path_of(name), O_RDONLY | O_CLOEXEC);
	ts_check_int(ts_sbt_verify(fd, &(struct ts_sbt_verify_options){0}, &report), 0);
	ts_check_int(report.n_findings != 0, !is_whole);
	close(fd);
	snprintf(name, sizeof(name), "%s.txt", stem);
	check(reader, name);
	ts_sbt_reader_free(reader);
}

TS_TEST(every_type)
{
	check_file("every-type", true);
}

/* SBT 1.1: short blocks, short indices, no summaries. */
TS_TEST(short_files)
{
	check_file("short-every-type", true);
	check_file("short-operations", true);
	check_file("short-samples", true);
	check_file("short-appended", true);
	check_file("short-scaled", true);
	check_file("short-calls", true);
	check_file("short-dictionary", true);
	check_file("short-tables", true);
}

TS_TEST(samples)
{
	check_file("samples", true);
}

/* Times out of order and ids without a definition: verify reports these. */
TS_TEST(extremes)
{
	check_file("extremes", false);
}

TS_TEST(cut)
{
	check_file("cut", false);
}

TS_TEST(repaired)
{
	check_file("repaired", true);
}

TS_TEST(operations)
{
	check_file("operations", true);
}

TS_TEST(appended)
{
	check_file("appended", true);
}

static void check_parts(const char *first, const char *second)
{
	char name[64];
	struct ts_sbt_reader *reader, *before;

	check_file(first, true);
	snprintf(name, sizeof(name), "%s.sbt", first);
	before = open_file(name);
	snprintf(name, sizeof(name), "%s.sbt", second);
	reader = open_file(name);
	ts_check_int(ts_sbt_reader_join(reader, &before, 1), 0);
	snprintf(name, sizeof(name), "%s.txt", second);
	check(reader, name);
	ts_sbt_reader_free(reader);
}

TS_TEST(parts)
{
	check_parts("parts.1", "parts");
	check_parts("short-parts.1", "short-parts");
}

static uint64_t features_of(int fd)
{
	struct ts_sbt_file_header header;

	ts_check(pread(fd, &header, sizeof(header), 0) == sizeof(header));
	return header.incompatible_flags;
}

static bool has_flag(int fd, unsigned flag)
{
	struct ts_sbt_reader *reader;
	bool found = false;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
		found |= ts_sbt_reader_block(reader, i)->flags & flag;
	ts_sbt_reader_free(reader);
	return found;
}

static int copy_of(const char *name)
{
	int from = open(path_of(name), O_RDONLY | O_CLOEXEC), fd;
	uint8_t *bytes;
	size_t n;

	ts_check(from >= 0);
	bytes = test_contents(from, &n);
	fd = test_file_of(bytes, n);
	free(bytes);
	close(from);
	return fd;
}

/* The header of a file names all that a reader must know, also after additions. */
TS_TEST(additions_keep_the_features)
{
	static const struct {
		const char *name;
		uint64_t features;
	} files[] = {
		{"every-type.sbt", 0},
		{"short-every-type.sbt", TS_SBT_INCOMPATIBLE_SHORT},
		{"short-calls.sbt", TS_SBT_INCOMPATIBLE_SHORT | TS_SBT_INCOMPATIBLE_CALLS},
		{"short-dictionary.sbt", TS_SBT_INCOMPATIBLE_SHORT | TS_SBT_INCOMPATIBLE_CALLS |
						 TS_SBT_INCOMPATIBLE_DICTIONARY},
		{"short-tables.sbt", TS_SBT_INCOMPATIBLE_KNOWN},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(files); i++) {
		int fd = copy_of(files[i].name);
		struct ts_row_image image = {.image = 1};
		struct ts_sbt_verify_report report;
		struct ts_sbt_append *append;

		ts_check_int(features_of(fd), files[i].features);
		ts_check_int(ts_sbt_append_new(fd, &append, NULL), 0);
		ts_check_int(ts_sbt_append_string(append, "/lib/x86_64-linux-gnu/libzstd.so.1", 34,
						  &image.path),
			     0);
		ts_check_int(ts_sbt_append_row(append, TS_ROW_IMAGE, &image), 0);
		ts_check_int(ts_sbt_append_commit(append, NULL), 0);
		ts_sbt_append_free(append);
		ts_check_int(features_of(fd), files[i].features);
		ts_check(files[i].features & TS_SBT_INCOMPATIBLE_DICTIONARY ||
			 !has_flag(fd, TS_SBT_BLOCK_DICTIONARY));
		ts_check_int(has_flag(fd, TS_SBT_BLOCK_TABLES),
			     files[i].features & TS_SBT_INCOMPATIBLE_TABLES ? 1 : 0);
		ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
		ts_check_int(report.n_findings, 0);
		close(fd);
	}
}
