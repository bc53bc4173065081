/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries of event blocks: short rows that describe a block and are stored beside it. Four row
 * types hold the streams of a block, its threads, sums by name, and the span of its operation ids.
 * Readers load summaries only for totals, for the rows of one stream or thread, or for the rows of
 * given operations. Writer, repair, verify and reader share this module. Private to sbt/.
 *
 * A failed function returns a negative errno. Nothing here is thread-safe: each object belongs to
 * one thread at a time.
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

/*
 * A summary row: the event block has rows of this stream. The summary rows of one event block are
 * in ascending order of device, context and stream.
 */
struct ts_block_stream {
	uint64_t block; /* block number in the file */
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

/* Sums over all rows of a block that have the same key (name). */
struct ts_block_sum {
	uint64_t block;
	uint64_t key; /* see ts_summary_key() */
	uint64_t count;
	uint64_t duration_ns;
	uint64_t min_ns;
	uint64_t max_ns;
	uint64_t bytes;
};

/*
 * The lowest and the highest operation id in a block, over all columns of role TS_ROLE_OP. Both are
 * 0 if no row has an operation id.
 */
struct ts_block_ops {
	uint64_t block;
	uint64_t first;
	uint64_t last;
};

/*
 * A block with fewer rows than TS_SUMMARY_MIN_ROWS has no summary, because reading the block costs
 * no more than reading its summary. A block with more than TS_SUMMARY_MAX_PLACES streams has no
 * list of streams; the same holds for threads. A block with more sums than ts_summary_max_sums()
 * has no sums.
 */
#define TS_SUMMARY_MIN_ROWS   64u
#define TS_SUMMARY_MAX_PLACES 64u
static inline uint32_t ts_summary_max_sums(uint32_t n_rows)
{
	return 16 + n_rows / 32;
}
#define TS_SUMMARY_MOST_SUMS (16u + TS_SBT_MAX_ROWS / 32)

/*
 * Summary rows by kind, in ascending order of block number. A zero-initialised struct is empty. The
 * caller frees the buffers with ts_summaries_deinit().
 */
struct ts_summaries {
	struct ts_buffer rows[TS_SUMMARY_KINDS];
};

void ts_summaries_deinit(struct ts_summaries *summaries);

/* A position in each kind's buffer, in bytes, for ts_summaries_rewind(). */
struct ts_summaries_mark {
	size_t n[TS_SUMMARY_KINDS];
};

static inline void ts_summaries_mark(const struct ts_summaries *summaries,
				     struct ts_summaries_mark *ret_mark)
{
	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		ret_mark->n[kind] = summaries->rows[kind].n;
}

/* Drops all rows added after the mark and keeps the memory. If `mark` is NULL, drops all rows. */
static inline void ts_summaries_rewind(struct ts_summaries *summaries,
				       const struct ts_summaries_mark *mark)
{
	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		summaries->rows[kind].n = mark ? mark->n[kind] : 0;
}

/* Returns the bytes of all rows. */
static inline uint64_t ts_summaries_bytes(const struct ts_summaries *summaries)
{
	uint64_t n = 0;

	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		n += summaries->rows[kind].n;
	return n;
}

/* Returns the bytes of memory, with or without rows. */
static inline uint64_t ts_summaries_memory(const struct ts_summaries *summaries)
{
	uint64_t n = 0;

	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		n += summaries->rows[kind].capacity;
	return n;
}

/* Frees the memory of each kind that has no rows. */
static inline void ts_summaries_trim(struct ts_summaries *summaries)
{
	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		ts_buffer_trim(&summaries->rows[kind]);
}

/*
 * Return the row schema of a kind of summary, and the kind of a block type. ts_summary_kind_of()
 * returns -1 if the type is not a summary.
 */
const struct ts_row_schema *ts_summary_schema(int kind);
int ts_summary_kind_of(unsigned type);

/*
 * Indices in the schema of the columns that identify stream and thread of a row. -1: the row type
 * has no such column.
 */
struct ts_summary_places {
	int device, context, stream, thread;
};
void ts_summary_places_of(const struct ts_row_schema *schema, struct ts_summary_places *ret_places);

/* Returns a bit set (1 << kind) of the summaries that a block of n_rows rows may have. */
unsigned ts_summary_kinds(const struct ts_row_schema *schema, uint32_t n_rows);

/* Sets the key under which a row is summed. Returns false if rows of this type have no sums. */
bool ts_summary_key(const struct ts_row_schema *schema, const void *row, uint64_t *ret_key);

/*
 * Addresses of a block's columns in memory. The memory belongs to a builder or to decoded columns,
 * which must outlive this struct.
 */
struct ts_summary_source {
	const struct ts_row_schema *schema;
	uint32_t n_rows;
	struct {
		const uint8_t *values;
		uint32_t stride; /* 0: all rows have the same value */
		int run;	 /* run that has one value per item; -1: one value per row */
	} columns[TS_ROW_MAX_COLUMNS];
	const uint16_t *index[TS_PLAN_RUNS]; /* NULL: all rows have item 0 */
	/* Number of items if each item has a row. 0: unknown, the caller scans the index. */
	uint32_t n_items[TS_PLAN_RUNS];
};

/* Fills the source from a settled builder (ts_builder_settle()). */
void ts_summary_of_builder(const struct ts_builder *builder, struct ts_summary_source *ret_source);
/* Fills the source from a decoded block. */
void ts_summary_of_columns(const struct ts_row_schema *schema,
			   const struct ts_block_columns *columns,
			   struct ts_summary_source *ret_source);

/*
 * Appends the summary rows of an event block to `to`. `block` is the number of the block in the
 * file. Returns 0, or -ENOMEM, which leaves `to` unchanged.
 */
int ts_summarise(const struct ts_summary_source *source, uint64_t block, struct ts_summaries *to);

/*
 * Encodes all rows as blocks, appends these to `out` and empties `summaries`. All rows of one kind
 * that describe the same event block are in one summary block. Returns 0, or -ENOMEM, which leaves
 * `out` and the rows unchanged.
 */
int ts_summaries_encode(struct ts_summaries *summaries, struct ts_encoder *encoder,
			struct ts_buffer *out);

/*
 * Counts the consecutive rows, from index `at`, that describe the same block as row `at`. `n_rows`
 * is the number of rows of this kind.
 */
uint32_t ts_summary_group(int kind, const uint8_t *rows, uint32_t n_rows, uint32_t at);

/* Returns the checksum of a group of summary rows, without the block number. */
uint32_t ts_summary_checksum(int kind, const uint8_t *rows, uint32_t n_rows);

/* Returns the block number in a summary row of any kind. */
static inline uint64_t ts_summary_block_of(const uint8_t *row)
{
	uint64_t block;

	memcpy(&block, row, sizeof(block));
	return block;
}
