/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording in several files, and a recorder that keeps the last of it: `record`'s options about that.
 */
#pragma once

#include "tools/tsctl/options/option-table.h"

#include <stdint.h>

struct ts_rotation {
	/* 0: not so; ages in ms. */
	uint64_t size, age, keep, keep_last_size, keep_last_age;
	const char *dump_mark; /* the name of a mark that asks for a dump; NULL: none */
	int dump_signal;       /* 0: none */
};

#define TS_ROTATION_MIN_BYTES (16u * 1024) /* of a file */

/* The values of --dump-on; NULL ends the list. */
extern const char *const ts_rotation_dump_words[];

/* Each is struct ts_option's `parse` of an option, and takes a struct ts_rotation. */
int ts_rotation_parse_age(void *rotation, const struct ts_option *option, const char *text);
int ts_rotation_parse_keep_last(void *rotation, const struct ts_option *option, const char *text);
int ts_rotation_parse_dump_on(void *rotation, const struct ts_option *option, const char *text);

/* Whether they go together, and with the output's name (NULL: one that is made up). */
int ts_rotation_check(const struct ts_rotation *rotation, const char *output);

/*
 * How many operations of GPUs are in the file, where --keep-last left a part of what was recorded; UINT64_MAX: it left all, or
 * nobody knows.
 */
uint64_t ts_rotation_kept(const struct ts_rotation *rotation, const char *path);
