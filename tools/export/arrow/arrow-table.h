/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one type as columns in memory, for one Arrow file. A column is a field of the row's
 * message (proto/rpc/tracesmith.proto), so names and values are those of `tsctl view --json`. A
 * field that JSON omits is null. Texts are numbered; each column has its own dictionary.
 *
 * Left out: `type`, which is the same for all rows, and `stack`. Not thread-safe.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

#include "sbt/intern.h"

#define TS_ARROW_BATCH_ROWS 65536u
#define TS_ARROW_FILE_ROWS  (4 * TS_ARROW_BATCH_ROWS)
/* A file's texts. One dictionary has at most this many bytes and one more text. */
#define TS_ARROW_FILE_TEXT_BYTES (64u * 1024 * 1024)
#define TS_ARROW_MAX_COLUMNS	 48u

struct ts_arrow_column {
	const ProtobufCFieldDescriptor *field;
	uint32_t bits;		    /* of a value: 1, 32 or 64 */
	struct ts_buffer values;    /* numbers, bits, or int32_t indexes of the dictionary */
	struct ts_buffer validity;  /* a bit for each row; 1: not null */
	struct ts_intern texts;	    /* index + 1 is the id */
	struct ts_buffer text_ends; /* int32_t offsets: 0, and the end of each text */
	uint32_t last;		    /* index of the last text, which the next row often repeats */
};

struct ts_arrow_table {
	struct ts_arrow_column columns[TS_ARROW_MAX_COLUMNS];
	unsigned int n_columns;
	uint32_t n_rows;
	uint64_t n_text_bytes;
	const ProtobufCMessageDescriptor *descriptor;
	struct ts_buffer clean;	  /* the current text */
	struct ts_buffer numbers; /* of the texts of a part (arrow-part.c) */
};

/*
 * Makes the columns of a message type. The table is zeroed, or from before: it is emptied. Returns
 * 0, -ENOMEM, or -E2BIG: the type has more than TS_ARROW_MAX_COLUMNS fields.
 */
int ts_arrow_table_init(struct ts_arrow_table *table, const ProtobufCMessageDescriptor *descriptor);
void ts_arrow_table_deinit(struct ts_arrow_table *table);

/* Removes the rows and texts. Returns 0 or -ENOMEM. */
int ts_arrow_table_clear(struct ts_arrow_table *table);

/* Returns true if the table has its last row: write it and clear it before the next one. */
bool ts_arrow_table_is_full(const struct ts_arrow_table *table);

/*
 * Appends a row. The table is not full. Returns 0, -ENOMEM, or -E2BIG: a text has more than
 * TS_ARROW_FILE_TEXT_BYTES.
 */
int ts_arrow_table_add(struct ts_arrow_table *table, const ProtobufCMessage *row);

/*
 * Returns the index of a text in the column's dictionary; adds a text that is new. The text is
 * UTF-8. Returns 0 or -ENOMEM.
 */
int ts_arrow_table_number(struct ts_arrow_table *table, struct ts_arrow_column *column,
			  const void *text, uint32_t n_bytes, uint32_t *ret_number);

/* Return the nulls in rows [from, from + n), and whether the column has a dictionary. */
uint32_t ts_arrow_column_nulls(const struct ts_arrow_column *column, uint32_t from, uint32_t n);
static inline bool ts_arrow_column_is_text(const struct ts_arrow_column *column)
{
	return column->field->type == PROTOBUF_C_TYPE_STRING;
}
