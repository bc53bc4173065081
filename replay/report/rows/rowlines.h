/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes rows as lines of JSON, in threads: the text is that of ts_rowjson_append(), a row a line.
 * Functions are called by one thread, and return 0, -ENOMEM, an error of ts_rowjson_append(), or
 * the value of `write`.
 */
#pragma once

#include "replay/report/pieces.h"
#include "replay/report/rows/rowjson.h"

struct ts_row_lines;

/*
 * The caller keeps `rowjson`, and `resolver`, which is that of `rowjson`. `is_shared`: other
 * threads may name the rows, that is, the rows have no stacks, and device rows no threads.
 */
int ts_row_lines_new(struct ts_resolver *resolver, struct ts_rowjson *rowjson, bool is_shared,
		     ts_lines_fn *write, void *data, struct ts_row_lines **ret_lines);
void ts_row_lines_free(struct ts_row_lines *lines);
void ts_row_lines_freep(struct ts_row_lines **lines);

/* Adds a row; the row may change after the call. */
int ts_row_lines_add(struct ts_row_lines *lines, const struct ts_sbt_row *row);

/* Writes all lines. */
int ts_row_lines_end(struct ts_row_lines *lines);
