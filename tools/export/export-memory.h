/* SPDX-License-Identifier: Apache-2.0 */
/* Exports into memory, for those who draw a flame graph and need its text. */
#pragma once

#include "tools/export/export.h"

#include <errno.h>
#include <stdio.h>

/*
 * Lets `write` write into memory. The caller frees *ret_text, which ends with a zero byte, also
 * after an error. Returns 0, -ENOMEM, or the value of `write`.
 */
static inline int ts_export_into(int (*write)(struct ts_sbt_reader *reader,
					      const struct ts_export_options *options, FILE *file,
					      struct ts_export_report *ret_report),
				 struct ts_sbt_reader *reader,
				 const struct ts_export_options *options, char **ret_text,
				 size_t *ret_n_bytes, struct ts_export_report *ret_report)
{
	FILE *file = open_memstream(ret_text, ret_n_bytes);
	int r;

	if (!file)
		return -ENOMEM;
	r = write(reader, options, file, ret_report);
	return fclose(file) && !r ? -ENOMEM : r;
}

/* Writes a flame graph as SVG. */
static inline int ts_export_svg(struct ts_sbt_reader *reader,
				const struct ts_export_options *options, FILE *file,
				struct ts_export_report *ret_report)
{
	return ts_export(reader, TS_EXPORT_FORMAT_SVG, options, file, ret_report);
}
