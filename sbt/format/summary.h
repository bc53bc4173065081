/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is said of an event block beside the block: whose rows it has (streams, threads), sums of them by name, and which
 * operations they speak of. Rows of four types of their own, which nobody reads but who asks for totals, for one stream's rows,
 * or for what belongs to some operations. Private to sbt/.
 */
#pragma once

#include "sbt/format/block.h"

struct ts_block_columns;

enum ts_summary_kind {
	TS_SUMMARY_STREAMS = 0,
	TS_SUMMARY_THREADS = 1,
	TS_SUMMARY_SUMS = 2,
	TS_SUMMARY_OPERATIONS = 3,
	TS_SUMMARY_KINDS = 4,
};

/* A block has rows of this stream. Of several ones in ascending order of device, context and stream. */
struct ts_block_stream {
	uint64_t block; /* its number in the file */
	uint32_t device;
	uint32_t context;
	uint32_t stream;
	uint32_t reserved;
};

struct ts_block_thread {
	uint64_t block;
	uint32_t thread;
	uint32_t reserved;
};

/* All rows of a block that have this name. */
struct ts_block_sum {
	uint64_t block;
	uint64_t key; /* ts_summary_key() */
	uint64_t count;
	uint64_t duration_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t bytes;
};

/* The lowest and the highest operation id of a block's rows, in any column of that role; both 0: they have none. */
struct ts_block_ops {
	uint64_t block;
	uint64_t first;
	uint64_t last;
};

/* A block of fewer rows has none of this: reading it costs as little. One with more places, or sums, has no list of them. */
#define TS_SUMMARY_MIN_ROWS   64u
#define TS_SUMMARY_MAX_PLACES 64u
static inline uint32_t ts_summary_max_sums(uint32_t n_rows)
{
	return 16 + n_rows / 32;
}
#define TS_SUMMARY_MOST_SUMS (16u + TS_SBT_MAX_ROWS / 32)

/* Rows of each kind, in ascending order of their blocks. Zero-initialised is empty. */
struct ts_summaries {
	struct ts_buffer rows[TS_SUMMARY_KINDS];
};

void ts_summaries_deinit(struct ts_summaries *summaries);

/* How many bytes of each kind there are, to come back to. */
struct ts_summaries_mark {
	size_t n[TS_SUMMARY_KINDS];
};

static inline void ts_summaries_mark(const struct ts_summaries *summaries,
				     struct ts_summaries_mark *ret_mark)
{
	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		ret_mark->n[kind] = summaries->rows[kind].n;
}

/* Forgets what came after, keeps the memory. NULL: all of it. */
static inline void ts_summaries_rewind(struct ts_summaries *summaries,
				       const struct ts_summaries_mark *mark)
{
	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		summaries->rows[kind].n = mark ? mark->n[kind] : 0;
}

static inline uint64_t ts_summaries_bytes(const struct ts_summaries *summaries)
{
	uint64_t n = 0;

	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		n += summaries->rows[kind].n;
	return n;
}

static inline uint64_t ts_summaries_memory(const struct ts_summaries *summaries)
{
	uint64_t n = 0;

	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		n += summaries->rows[kind].capacity;
	return n;
}

/* Frees the memory of the kinds that have no rows. */
static inline void ts_summaries_trim(struct ts_summaries *summaries)
{
	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		ts_buffer_trim(&summaries->rows[kind]);
}

/* The type of a kind's rows and back: -1 where it is none of them. */
const struct ts_row_schema *ts_summary_schema(int kind);
int ts_summary_kind_of(unsigned type);

/* Which of a row's columns say whose it is: indices in the schema, -1 where its type has none. */
struct ts_summary_places {
	int device, context, stream, thread;
};
void ts_summary_places_of(const struct ts_row_schema *schema, struct ts_summary_places *ret_places);

/* Bits: the kinds that a block of n_rows rows may have. */
unsigned ts_summary_kinds(const struct ts_row_schema *schema, uint32_t n_rows);

/* What a row is summed under; false: rows of its type are not. */
bool ts_summary_key(const struct ts_row_schema *schema, const void *row, uint64_t *ret_key);

/* Where a block's columns lie in memory. */
struct ts_summary_source {
	const struct ts_row_schema *schema;
	uint32_t n_rows;
	struct {
		const uint8_t *values;
		uint32_t stride; /* 0: all rows have the same */
		int run;	 /* that it is a value per item of; -1: per row */
	} columns[TS_ROW_MAX_COLUMNS];
	const uint16_t *index[TS_PLAN_RUNS]; /* NULL: item 0 of all */
	uint32_t n_items[TS_PLAN_RUNS];	     /* where rows have all of them; 0: it must be looked */
};

/* Of a settled builder. */
void ts_summary_of_builder(const struct ts_builder *builder, struct ts_summary_source *ret_source);
void ts_summary_of_columns(const struct ts_row_schema *schema,
			   const struct ts_block_columns *columns,
			   struct ts_summary_source *ret_source);

/* Adds an event block's rows of each kind to `to`. 0 or -ENOMEM, which leaves it as it was. */
int ts_summarise(const struct ts_summary_source *source, uint64_t block, struct ts_summaries *to);

/*
 * Appends blocks of all of the rows to `out` and forgets them; a block's rows of a kind are never in two of them. 0 or
 * -ENOMEM: then `out` and rows are as they were.
 */
int ts_summaries_encode(struct ts_summaries *summaries, struct ts_encoder *encoder,
			struct ts_buffer *out);

/* The rows of the block that the row at `at` belongs to, of n rows of a kind: how many follow on from it. */
uint32_t ts_summary_group(int kind, const uint8_t *rows, uint32_t n_rows, uint32_t at);

/* Their checksum, their block's number left out. */
uint32_t ts_summary_checksum(int kind, const uint8_t *rows, uint32_t n_rows);

static inline uint64_t ts_summary_block_of(const uint8_t *row)
{
	uint64_t block;

	memcpy(&block, row, sizeof(block));
	return block;
}
