/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `record`'s options about recordings in several files: what they are, and what does not go together.
 */
#include "tools/tsctl/record/rotation.h"

#include "sbt/reader.h"
#include "tools/tsctl/screen/times.h"
#include "tools/tsctl/trace/source.h"
#include "tools/tsctl/tsctl.h"

#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#define MIN_SIZE   (16u * 1024)
#define MIN_AGE_MS 100u
#define MAX_AGE_MS (UINT64_C(1000) * UINT32_MAX)

/* With a unit: what has none would be seconds to some, and nanoseconds to others. */
static bool parse_age(const char *text, uint64_t *ret_ms)
{
	size_t n = strlen(text);
	uint64_t ns;

	if (!n || isdigit((unsigned char)text[n - 1]) || ts_time_parse(text, &ns))
		return false;
	*ret_ms = ns / 1000000;
	return *ret_ms >= MIN_AGE_MS && *ret_ms <= MAX_AGE_MS;
}

static bool parse_size(const char *text, uint64_t *ret_bytes)
{
	unsigned long long bytes;

	if (ts_parse_bytes(text, MIN_SIZE, INT64_MAX, &bytes))
		return false;
	*ret_bytes = bytes;
	return true;
}

int ts_rotation_parse_size(struct ts_rotation *rotation, const char *text)
{
	if (parse_size(text, &rotation->size))
		return 0;
	ts_complain("--rotate-size %s: it is a size of 16K at least, like 1G", text);
	return -EINVAL;
}

int ts_rotation_parse_age(struct ts_rotation *rotation, const char *text)
{
	if (parse_age(text, &rotation->age))
		return 0;
	ts_complain("--rotate-age %s: it is a time with a unit, 100ms at least, like 10m", text);
	return -EINVAL;
}

int ts_rotation_parse_keep(struct ts_rotation *rotation, const char *text)
{
	unsigned long long number;

	if (!ts_parse_number(text, 1, UINT32_MAX, &number)) {
		rotation->keep = number;
		return 0;
	}
	ts_complain("--keep %s: it is a number of files, at least 1", text);
	return -EINVAL;
}

int ts_rotation_parse_keep_last(struct ts_rotation *rotation, const char *text)
{
	if (parse_age(text, &rotation->keep_last_age) ||
	    parse_size(text, &rotation->keep_last_size))
		return 0;
	rotation->keep_last_age = 0;
	ts_complain(
		"--keep-last %s: it is a size of 16K at least, like 64M, or a time with a unit, "
		"like 30s",
		text);
	return -EINVAL;
}

int ts_rotation_parse_dump_on(struct ts_rotation *rotation, const char *text)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = {{"SIGUSR1", SIGUSR1}, {"SIGUSR2", SIGUSR2}, {"SIGHUP", SIGHUP}};

	if (!strncmp(text, "mark:", 5) && text[5]) {
		rotation->dump_mark = text + 5;
		return 0;
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		if (strcmp(text, signals[i].name))
			continue;
		rotation->dump_signal = signals[i].number;
		return 0;
	}
	ts_complain("--dump-on %s: it is mark:NAME, SIGUSR1, SIGUSR2 or SIGHUP", text);
	return -EINVAL;
}

int ts_rotation_check(const struct ts_rotation *rotation, const char *output)
{
	bool keep_last = rotation->keep_last_size || rotation->keep_last_age;
	char *part;

	if (rotation->keep && !rotation->size && !rotation->age) {
		ts_complain("--keep is about files that --rotate-size or --rotate-age make");
		return -EINVAL;
	}
	if (keep_last && (rotation->size || rotation->age)) {
		ts_complain("--keep-last chooses itself when to begin another file: leave "
			    "--rotate-size and --rotate-age out");
		return -EINVAL;
	}
	if (!output || (!keep_last && !rotation->size && !rotation->age && !rotation->dump_mark &&
			!rotation->dump_signal))
		return 0;
	part = ts_sbt_part_path(output, 1);
	free(part);
	if (part)
		return 0;
	ts_complain(
		"-o %s: a name that ends in a number is a finished part of another recording's; "
		"choose one without",
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
