/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a trace made of other traces, for `cut`, `merge` and `dump`. */
#pragma once

#include "sbt/copy.h"

/*
 * Writes the selected rows of the sources to `path`; the file appears when it is complete. Returns
 * TS_EXIT_OK; TS_EXIT_FINDING if a source is damaged or cut off and the readable part was written;
 * or TS_EXIT_BAD. Prints the error in the latter two cases.
 */
int ts_copy_out(struct ts_sbt_copy_source *sources, size_t n_sources,
		const struct ts_sbt_copy_options *options, const char *path,
		struct ts_sbt_copy_report *ret_report);

/* Prints a line with the contents of `path`. */
int ts_copy_out_print(const char *path, const struct ts_sbt_copy_report *report);
