/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters of rows by device, context, stream and thread, and the selection of blocks. Private to
 * sbt/. Functions return 0 or a negative errno.
 */
#pragma once

#include "sbt/read/reader-internal.h"

#define TS_FILTER_MAX 4u

/* Filter for the rows of one type: 4-byte fields and their required values. */
struct ts_row_filter {
	unsigned n;
	struct {
		uint16_t offset;
		uint32_t value;
	} fields[TS_FILTER_MAX];
};

/* Fills the filter from options->filter. Returns false if no row of this type can pass. */
bool ts_row_filter_init(struct ts_row_filter *filter, const struct ts_row_schema *schema,
			const struct ts_sbt_cursor_options *options);

/* Returns true if the row has all required values. */
static inline bool ts_row_passes(const struct ts_row_filter *filter, const uint8_t *row)
{
	for (unsigned i = 0; i < filter->n; i++) {
		uint32_t value;

		memcpy(&value, row + filter->fields[i].offset, sizeof(value));
		if (value != filter->fields[i].value)
			return false;
	}
	return true;
}

/*
 * Returns true if a block may have rows of these types, this session and this window.
 * options->types and options->to_ns are set.
 */
bool ts_sbt_may_have(const struct ts_sbt_cursor_options *options, const struct ts_sbt_block *block);

/*
 * Selects the blocks that may hold rows for these options: one byte per block, not 0 if selected.
 * Summaries rule out further blocks. The caller frees *ret_chosen.
 */
int ts_sbt_reader_choose(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
			 uint8_t **ret_chosen);

/*
 * Like ts_sbt_cursor_new(), but the cursor reads only the blocks whose byte in `among` is not 0. If
 * `among` is NULL, it reads all blocks.
 */
int ts_sbt_cursor_new_among(struct ts_sbt_reader *reader,
			    const struct ts_sbt_cursor_options *options, const uint8_t *among,
			    struct ts_sbt_cursor **ret_cursor);

/*
 * All operation ids in the rows of a block lie in [first, last]. `last` is 0 if the rows have no
 * operation id.
 */
struct ts_operation_span {
	uint64_t first;
	uint64_t last;
};

/*
 * Returns the span of each block of the reader. A block without a summary has the span of all ids.
 * The caller frees *ret_spans.
 */
int ts_sbt_reader_operations(struct ts_sbt_reader *reader, struct ts_operation_span **ret_spans);
