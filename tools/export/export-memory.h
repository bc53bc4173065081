/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports into memory, for those who draw a flame graph and need its text; and the frames of a
 * flame graph, for Studio, which draws them itself.
 */
#pragma once

#include "tools/export/export.h"

#include <errno.h>
#include <stdio.h>

/* A function that writes a trace, such as those of export.h. */
typedef int ts_export_fn(struct ts_sbt_reader *reader, const struct ts_export_options *options,
			 FILE *file, struct ts_export_report *ret_report);

/* As ts_export(), by a function. */
int ts_export_by(ts_export_fn *write, struct ts_sbt_reader *reader,
		 const struct ts_export_options *options, FILE *file,
		 struct ts_export_report *ret_report);

/*
 * Writes the sums of ts_export_folded() as JSON: "unit", which is "ns", "bytes" or "count", and
 * "frames". Each frame has its caller's number as "parent" (from 1; 0: an outermost frame), its
 * "name" and "kind", and the "weight" of the stacks that end there. A caller comes before its
 * callees. If the sums have more than 8,000 frames, those with the smallest sums are left out: the
 * last objects have, for a caller, "left_out", the number of these callees, and their "weight".
 * `options` must have names.
 */
int ts_export_frames(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		     FILE *file, struct ts_export_report *ret_report);

/*
 * Lets `write` write into memory. The caller frees *ret_text, which ends with a zero byte, also
 * after an error. Returns 0, -ENOMEM, or the value of `write`.
 */
static inline int ts_export_into(ts_export_fn *write, struct ts_sbt_reader *reader,
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

/* Writes the frames, with the names that tsctl prints. */
static inline int ts_export_named_frames(struct ts_sbt_reader *reader,
					 const struct ts_export_options *options, FILE *file,
					 struct ts_export_report *ret_report)
{
	return ts_export_by(ts_export_frames, reader, options, file, ret_report);
}
