/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of `record` for recordings in several files: parsing and conflicts. cmd-record.c calls
 * this file.
 */
#include "tools/tsctl/record/rotation-options.h"

#include "sbt/reader.h"
#include "tools/tsctl/options/option-parse.h"
#include "tools/tsctl/options/values.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#define MARK	   "mark:"
#define MIN_AGE_MS 100u
#define MAX_AGE_MS (UINT64_C(1000) * UINT32_MAX)

/*
 * Parses a time. A unit is required, because users read a bare number as seconds or as nanoseconds.
 */
static bool parse_age(const char *text, uint64_t *ret_ms)
{
	uint64_t ns;

	if (ts_parse_time_with_unit(text, &ns))
		return false;
	*ret_ms = ns / 1000000;
	return *ret_ms >= MIN_AGE_MS && *ret_ms <= MAX_AGE_MS;
}

static bool parse_size(const char *text, uint64_t *ret_bytes)
{
	unsigned long long bytes;

	if (ts_parse_bytes(text, TS_ROTATION_MIN_BYTES, INT64_MAX, &bytes))
		return false;
	*ret_bytes = bytes;
	return true;
}

int ts_rotation_parse_age(void *to, const struct ts_option *option, const char *text)
{
	struct ts_rotation *rotation = to;

	return parse_age(text, &rotation->age) ? 0 : ts_option_complain(option, text);
}

int ts_rotation_parse_keep_last(void *to, const struct ts_option *option, const char *text)
{
	struct ts_rotation *rotation = to;

	if (parse_age(text, &rotation->keep_last_age) ||
	    parse_size(text, &rotation->keep_last_size))
		return 0;
	return ts_option_complain(option, text);
}

const char *const ts_rotation_dump_words[] = {MARK, "SIGUSR1", "SIGUSR2", "SIGHUP", NULL};

int ts_rotation_parse_dump_on(void *to, const struct ts_option *option, const char *text)
{
	static const int numbers[] = {0, SIGUSR1, SIGUSR2, SIGHUP};
	struct ts_rotation *rotation = to;

	if (!strncmp(text, MARK, strlen(MARK)) && text[strlen(MARK)]) {
		rotation->dump_mark = text + strlen(MARK);
		return 0;
	}
	for (size_t i = 1; ts_rotation_dump_words[i]; i++) {
		if (strcmp(text, ts_rotation_dump_words[i]))
			continue;
		rotation->dump_signal = numbers[i];
		return 0;
	}
	return ts_option_complain(option, text);
}

int ts_rotation_check(const struct ts_rotation *rotation, const char *output)
{
	bool keep_last = rotation->keep_last_size || rotation->keep_last_age;
	char *part;

	if (rotation->keep && !rotation->size && !rotation->age) {
		ts_complain("--keep requires --rotate-size or --rotate-age");
		return -EINVAL;
	}
	if (keep_last && (rotation->size || rotation->age)) {
		ts_complain("--keep-last cannot be used with --rotate-size or --rotate-age: it "
			    "begins new files by itself");
		return -EINVAL;
	}
	if (!output || (!keep_last && !rotation->size && !rotation->age && !rotation->dump_mark &&
			!rotation->dump_signal))
		return 0;
	part = ts_sbt_part_path(output, 1);
	free(part);
	if (part)
		return 0;
	ts_complain("-o %s: names that end in a number are for the finished files of a "
		    "recording; choose a name without one",
		    output);
	return -EINVAL;
}

uint64_t ts_rotation_kept(const struct ts_rotation *rotation, const char *path)
{
	ts_cleanup(ts_source_deinit) struct ts_source source = {0};
	struct ts_sbt_summary summary;

	if ((!rotation->keep_last_size && !rotation->keep_last_age) ||
	    ts_source_open(&source, path, NULL) ||
	    ts_sbt_reader_summary(source.reader, 0, &summary))
		return UINT64_MAX;
	return summary.counts[TS_ROW_KERNEL] + summary.counts[TS_ROW_MEMCPY] +
	       summary.counts[TS_ROW_MEMSET];
}
