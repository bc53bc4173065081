/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: rows gathered and encoded, read and decoded. The one place that knows how a block is encoded. Private to sbt/.
 */
#pragma once

#include "sbt/format/plan.h"
#include "sbt/format/predict.h"
#include "sbt/write/dictionary.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

/* Sums of numbers that a stranger chose stay where they are at the top. */
static inline uint64_t ts_add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Index rows are struct ts_sbt_block; this schema is theirs. */
extern const struct ts_row_schema ts_sbt_index_schema;

/* Schemas of all types with a row struct, those of the index and of summaries included. */
const struct ts_row_schema *ts_sbt_schema(unsigned type);

/* Parts of a payload that are compressed each by itself, at most. */
#define TS_ENCODER_MAX_PARTS 320u

/* Rows that predictions are tried on. */
#define TS_ENCODER_SAMPLE 2048u

/* Blocks that what was best serves for; how to compress a plane, twice as many each time that it has not changed, up to the most. */
#define TS_ENCODER_CHOICE_BLOCKS 8u
#define TS_ENCODER_MOST_BLOCKS	 32u

/* How a plane is compressed. */
enum ts_plane_kind {
	TS_PLANE_REPEATS = 0, /* by what repeats in it */
	TS_PLANE_NOISE = 1,   /* by how often each byte comes */
	TS_PLANE_EVEN = 2,    /* not at all: each byte comes as often as any other */
};

struct ts_plane_choice {
	uint8_t kind;	/* enum ts_plane_kind */
	uint8_t n_left; /* blocks */
	uint8_t n_wait; /* what that began with */
};

/* What was best for a column, and for how many blocks it is taken without trying. */
struct ts_choice {
	uint8_t n_predictions; /* so many there were to choose from */
	uint8_t best;
	uint8_t n_left;
	bool has_planes; /* how many suit the best one is known, and whether they are centred */
	bool is_centred;
	uint8_t n_planes;
	struct ts_plane_choice planes[8];
};

/* Where a part ends. A plane: which, and of what column. */
struct ts_part {
	size_t end;
	struct ts_choice *choice; /* NULL: nothing is tried */
	unsigned plane;
};

/*
 * What encoding needs besides the rows; one per thread of use. Zero-initialised is ready.
 */
struct ts_encoder {
	struct ZSTD_CCtx_s *zstd;
	struct ZSTD_CCtx_s *zstd_noise;
	struct ts_buffer raw;
	struct ts_buffer scratch;
	struct ts_buffer order;
	struct ts_buffer values;    /* of a column, 64 bits each */
	struct ts_buffer residuals; /* the same */
	struct ts_buffer state;	    /* of a prediction */
	uint64_t sample[TS_ENCODER_SAMPLE];
	uint32_t n_parts;
	struct ts_part parts[TS_ENCODER_MAX_PARTS];
};

/* Afterwards it is as new. */
void ts_encoder_deinit(struct ts_encoder *encoder);

/* Bytes of memory beside the struct. */
uint64_t ts_encoder_memory(const struct ts_encoder *encoder);

/*
 * Puts a payload together, column by column: begin, one call per column in ascending order of id, end. `end`
 * compresses it where that helps, completes the header (sequence and checksum excepted, see
 * ts_block_number()) and appends the block to `out`. All return 0 or -ENOMEM.
 */
int ts_encoder_begin(struct ts_encoder *encoder, uint16_t n_columns);

/* A column of a list, or of anything that is predicted from its own values alone. */
int ts_encoder_column(struct ts_encoder *encoder, uint16_t column, uint16_t id, const void *values,
		      uint32_t n_values, uint16_t width, bool is_signed);

/* One value for all rows. *header as below. */
int ts_encoder_constant(struct ts_encoder *encoder, uint16_t column,
			struct ts_sbt_column_header *header, const void *value);

/*
 * A column's values as they are, or one where all are equal, or, where they are numbers, their residuals by the best of these
 * predictions. *header says what it is (id, width, flags, key of an INDEXED one); how it was encoded is filled in.
 * `bases` are the ids of the predictions' base columns. `choice`, NULL or zeroed to begin with, is kept from block to block.
 */
int ts_encoder_predicted(struct ts_encoder *encoder, uint16_t column,
			 struct ts_sbt_column_header *header, const void *values,
			 const struct ts_prediction *predictions, const uint16_t *bases,
			 unsigned n_predictions, struct ts_choice *choice);

/* An index column: of each row the item of a dictionary; `key` NULL, or the other index. */
int ts_encoder_index(struct ts_encoder *encoder, uint16_t column,
		     struct ts_sbt_column_header *header, const uint16_t *values,
		     const uint16_t *key, uint32_t n_keys);

int ts_encoder_end(struct ts_encoder *encoder, struct ts_sbt_block_header *header,
		   struct ts_buffer *out);

/*
 * A block of values of any length, as strings are kept: u32 `lengths`, and the bytes of all. Appended to `out` and emptied, where
 * there are any; the rest of the header is the caller's.
 */
int ts_encoder_list(struct ts_encoder *encoder, struct ts_sbt_block_header *header,
		    struct ts_buffer *lengths, struct ts_buffer *bytes, struct ts_buffer *out);

/* Gives each block in [blocks, + n_bytes) its number, counting on from *sequence, and its checksum. */
void ts_block_number(uint8_t *blocks, size_t n_bytes, uint64_t *sequence);

/* Bytes of a block: header, payload, padding. */
static inline uint64_t ts_block_bytes(const struct ts_sbt_block_header *header)
{
	return sizeof(*header) + ts_align_up(header->stored_bytes, 8);
}

void ts_block_describe(const struct ts_sbt_block_header *header, uint64_t off,
		       struct ts_sbt_block *ret_block);

/* Fills the end marker of a file with index_bytes of index blocks at index_off, and n_blocks before them. */
void ts_end_marker_fill(struct ts_sbt_end_marker *marker, uint64_t index_off, uint64_t index_bytes,
			uint64_t n_blocks);

/* Appends index blocks for these entries to `out`, numbered from `sequence`, and the end marker. */
int ts_index_encode(const struct ts_sbt_block *blocks, size_t n_blocks, uint64_t index_off,
		    struct ts_buffer *out);

/*
 * An open block: rows come in, leave column by column. Single rows are staged as they are, then turned
 * into columns some at a time, while they still are in the cache.
 */
struct ts_builder {
	const struct ts_row_schema *schema;
	struct ts_plan plan;
	uint8_t *staged;
	uint8_t *columns[TS_ROW_MAX_COLUMNS];		 /* of those in no run */
	bool seen[TS_ROW_MAX_COLUMNS];			 /* of these: not zero in all rows */
	struct ts_dictionary dictionaries[TS_PLAN_RUNS]; /* of the runs */
	uint16_t *indices[TS_PLAN_RUNS];
	struct ts_choice choices[TS_ROW_MAX_COLUMNS];
	uint32_t n_staged;
	uint32_t n_rows; /* in the columns */
	uint32_t capacity;
	uint32_t slot_bytes; /* of memory for each row of the capacity */
	bool unsorted;
	uint64_t last_start_ns;
	uint64_t earliest_ns;
	uint64_t latest_ns;
	uint64_t duration_ns;
	uint64_t amount_bytes;
};

int ts_builder_new(const struct ts_row_schema *schema, struct ts_builder **ret_builder);
void ts_builder_free(struct ts_builder *builder);

/* 0 or -ENOMEM; the caller encodes it when full. */
int ts_builder_add(struct ts_builder *builder, const void *row);

/* Many rows. *ret_n_added: how many were taken, some also where memory ran out (they wait as they are). */
int ts_builder_add_rows(struct ts_builder *builder, const void *rows, uint32_t n,
			uint32_t *ret_n_added);

static inline uint32_t ts_builder_rows(const struct ts_builder *builder)
{
	return builder->n_rows + builder->n_staged;
}

/* Whether a column's values lie in memory. Of others all are zero; start and end are there in any case. */
static inline bool ts_builder_has_column(const struct ts_builder *builder, unsigned c)
{
	return builder->seen[c] || c <= (unsigned)builder->schema->has_end;
}

/* Brings all rows to the columns, in order of their start. 0 or -ENOMEM. */
int ts_builder_settle(struct ts_builder *builder, struct ts_encoder *encoder);

/* Brings the columns in order of the rows' start; what starts at once stays in the order that it came in. 0 or -ENOMEM. */
int ts_builder_sort(struct ts_builder *builder, struct ts_encoder *encoder);

void ts_builder_clear(struct ts_builder *builder);

/* Bytes of memory that the open rows take. */
uint64_t ts_builder_bytes(const struct ts_builder *builder);

/* Bytes of memory that the builder holds, rows or no rows. */
uint64_t ts_builder_memory(const struct ts_builder *builder);

/* Appends the rows as a block to `out` and empties the builder. No rows: nothing. */
int ts_builder_encode(struct ts_builder *builder, struct ts_encoder *encoder, uint32_t session,
		      struct ts_buffer *out);

/* Decoding. `why` is a sentence without a full stop. */

/* Whether a header can be true. NULL, or what is wrong with it. */
const char *ts_block_header_check(const struct ts_sbt_block_header *header);

bool ts_block_checksum_ok(const struct ts_sbt_block_header *header, const uint8_t *stored);

/*
 * Decompresses and checks a payload. `is_newer`: the file is of a later minor version, its blocks may have columns
 * that are not known. 0, -ENOMEM, or TS_SBT_E_CORRUPT and *ret_why.
 */
int ts_block_payload(struct ZSTD_DCtx_s *zstd, const struct ts_sbt_block_header *header,
		     bool is_newer, const uint8_t *stored, uint8_t **ret_raw, const char **ret_why);

/* What is wrong with a payload, in words. */
struct ts_block_why {
	char text[128];
};

/* A block's rows, decoded, column by column. */
struct ts_block_columns;

/*
 * Decodes all columns of a payload. 0, -ENOMEM, or TS_SBT_E_CORRUPT and *ret_why. The caller frees with
 * free(). *ret_why.text is touched in no other case.
 */
int ts_block_columns_new(const struct ts_row_schema *schema,
			 const struct ts_sbt_block_header *header, const uint8_t *raw,
			 struct ts_block_columns **ret_columns, struct ts_block_why *ret_why);

/* The memory that they take. */
uint64_t ts_block_columns_bytes(const struct ts_block_columns *columns);

unsigned ts_block_columns_unknown(const struct ts_block_columns *columns);

/* Puts rows together in order, some at a time; can be copied to come back to where it stands. */
struct ts_block_decoder {
	const struct ts_row_schema *schema;
	uint32_t n_left;
	uint32_t n_rows;
	uint64_t last_start_ns;
	uint64_t earliest_ns;
	uint64_t latest_ns;
};

void ts_block_decoder_init(struct ts_block_decoder *decoder, const struct ts_row_schema *schema,
			   const struct ts_sbt_block_header *header);

/*
 * Moves past the next rows that end before from_ns, or that start before it, up to the first that does not. NULL: fine, else
 * what is wrong.
 */
const char *ts_block_decoder_skip(struct ts_block_decoder *decoder,
				  const struct ts_block_columns *columns, uint64_t from_ns,
				  bool by_start);

/* The next n rows, n <= decoder->n_left. NULL: fine, else what is wrong. */
const char *ts_block_decoder_next(struct ts_block_decoder *decoder,
				  const struct ts_block_columns *columns, void *rows, uint32_t n);

/* Walks the column directory. `*pos` moves past the column's bytes. NULL: fine, else what is wrong. */
const char *ts_block_next_column(const struct ts_sbt_block_header *header, const uint8_t *raw,
				 unsigned column, struct ts_sbt_column_header *ret_column,
				 uint64_t *pos);

/*
 * For lists: finds column `id`, which must have this width and sign, and decodes all of it to an array to be
 * free()d. 0, -ENOMEM, or TS_SBT_E_CORRUPT and *ret_why. A column that is not there: no values.
 */
int ts_block_list(const struct ts_sbt_block_header *header, const uint8_t *raw, uint16_t id,
		  uint16_t width, void **ret_values, uint32_t *ret_n_values, const char **ret_why);
