/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace that a command makes of others: `cut`, `merge` and `dump` write it alike.
 */
#pragma once

#include "sbt/copy.h"

/*
 * Writes what `options` let through of the sources to `path`, which is there when it is whole. Returns TS_EXIT_OK,
 * TS_EXIT_FINDING where a source is damaged or cut off and what could be read is there, or TS_EXIT_BAD, after a complaint.
 */
int ts_copy_out(struct ts_sbt_copy_source *sources, size_t n_sources,
		const struct ts_sbt_copy_options *options, const char *path,
		struct ts_sbt_copy_report *ret_report);

/* A line for people: what is in `path` now. */
int ts_copy_out_print(const char *path, const struct ts_sbt_copy_report *report);
