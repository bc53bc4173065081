/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options of `record` for recordings in several files, and for a recorder that keeps only the
 * latest data.
 */
#pragma once

#include "tools/tsctl/options/option-table.h"

#include <stdint.h>

struct ts_rotation {
	/* 0: off; ages in ms. */
	uint64_t size, age, keep, keep_last_size, keep_last_age;
	const char *dump_mark; /* name of the mark that triggers a dump; NULL: none */
	int dump_signal;       /* 0: none */
};

#define TS_ROTATION_MIN_BYTES (16u * 1024) /* per file */

/* Values of --dump-on; NULL ends the list. */
extern const char *const ts_rotation_dump_words[];

/* `parse` functions of struct ts_option; `rotation` is a struct ts_rotation. */
int ts_rotation_parse_age(void *rotation, const struct ts_option *option, const char *text);
int ts_rotation_parse_keep_last(void *rotation, const struct ts_option *option, const char *text);
int ts_rotation_parse_dump_on(void *rotation, const struct ts_option *option, const char *text);

/*
 * Checks conflicts among the options, and with the output's name (NULL: generated). Returns 0, or
 * -EINVAL after a message.
 */
int ts_rotation_check(const struct ts_rotation *rotation, const char *output);

/*
 * Returns the number of GPU operations in the file if --keep-last dropped a part of the recording.
 * UINT64_MAX: nothing was dropped, or unknown.
 */
uint64_t ts_rotation_kept(const struct ts_rotation *rotation, const char *path);
