/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a table as a file of Apache Arrow's IPC format, version 5 of the metadata ("Arrow Columnar
 * Format", "IPC File Format"; Schema.fbs, Message.fbs, File.fbs). The file has the schema, then one
 * whole dictionary for each column of texts, then batches of TS_ARROW_BATCH_ROWS rows, and its
 * footer. So a reader of streams can read it, too, from its ninth byte. Buffers are aligned to 64
 * bytes and not compressed.
 */
#pragma once

#include <stdio.h>

#include "tools/export/arrow/arrow-table.h"

/* An entry of the schema's metadata. */
struct ts_arrow_fact {
	const char *key;
	const char *value;
};

/*
 * Writes the file; the caller checks the errors of `file`. The table has at least one row. Returns
 * 0 or -ENOMEM.
 */
int ts_arrow_write(const struct ts_arrow_table *table, const struct ts_arrow_fact *facts,
		   size_t n_facts, FILE *file);
