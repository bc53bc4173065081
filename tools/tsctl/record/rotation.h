/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording in several files, and a recorder that keeps the last of it: `record`'s options about that.
 */
#pragma once

#include <stdint.h>

struct ts_rotation {
	/* 0: not so; ages in ms. */
	uint64_t size, age, keep, keep_last_size, keep_last_age;
	const char *dump_mark; /* the name of a mark that asks for a dump; NULL: none */
	int dump_signal;       /* 0: none */
};

/* Each takes an option's value and complains where it is none. 0 or -EINVAL. */
int ts_rotation_parse_size(struct ts_rotation *rotation, const char *text);
int ts_rotation_parse_age(struct ts_rotation *rotation, const char *text);
int ts_rotation_parse_keep(struct ts_rotation *rotation, const char *text);
int ts_rotation_parse_keep_last(struct ts_rotation *rotation, const char *text);
int ts_rotation_parse_dump_on(struct ts_rotation *rotation, const char *text);

/* Whether they go together, and with the output's name (NULL: one that is made up). */
int ts_rotation_check(const struct ts_rotation *rotation, const char *output);

/*
 * How many operations of GPUs are in the file, where --keep-last left a part of what was recorded; UINT64_MAX: it left all, or
 * nobody knows.
 */
uint64_t ts_rotation_kept(const struct ts_rotation *rotation, const char *path);
