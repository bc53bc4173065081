/* SPDX-License-Identifier: Apache-2.0 */
/* Which rows somebody asked for, besides those of a type, a session and a time. Private to sbt/. */
#pragma once

#include "sbt/read/reader-internal.h"

#define TS_FILTER_MAX 4u

/* Of one type's rows: fields of 4 bytes, and what must be in them. */
struct ts_row_filter {
	unsigned n;
	struct {
		uint16_t offset;
		uint32_t value;
	} fields[TS_FILTER_MAX];
};

/* False: no row of this type can pass. */
bool ts_row_filter_init(struct ts_row_filter *filter, const struct ts_row_schema *schema,
			const struct ts_sbt_cursor_options *options);

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

/* Whether a block may have rows of these types, this session and this time. `options` have types and an end. */
bool ts_sbt_may_have(const struct ts_sbt_cursor_options *options, const struct ts_sbt_block *block);

/*
 * The blocks that must be looked at for these options, a byte each, not 0; to be free()d. What is said of blocks beside them
 * rules some out. 0 or -errno.
 */
int ts_sbt_reader_choose(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
			 uint8_t **ret_chosen);

/* A cursor that looks at no other blocks than those of which `among` has a byte that is not 0; NULL: at all. */
int ts_sbt_cursor_new_among(struct ts_sbt_reader *reader,
			    const struct ts_sbt_cursor_options *options, const uint8_t *among,
			    struct ts_sbt_cursor **ret_cursor);

/* Operations that the rows of a block speak of are none but these; `last` 0: they speak of none. */
struct ts_operation_span {
	uint64_t first;
	uint64_t last;
};

/* Of each block of the reader; to be free()d. Where nothing is said of a block it may be any. 0 or -errno. */
int ts_sbt_reader_operations(struct ts_sbt_reader *reader, struct ts_operation_span **ret_spans);
