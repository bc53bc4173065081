/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: rows are gathered in a builder and encoded; a payload is checked and decoded. No other
 * module knows the encoding of a block. Private to sbt/.
 *
 * No object here is thread-safe: each belongs to one thread at a time.
 */
#pragma once

#include "sbt/format/plan.h"
#include "sbt/format/predict.h"
#include "sbt/format/spares.h"
#include "sbt/write/dictionary.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;
struct ts_calls;

/*
 * Adds two numbers. The numbers come from untrusted rows, so the sum stops at UINT64_MAX instead of
 * wrapping around.
 */
static inline uint64_t ts_add_saturated(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The schema of index rows, which are struct ts_sbt_block. */
extern const struct ts_row_schema ts_sbt_index_schema;

/*
 * Returns the schema of any type with a row struct, also of the index and of summaries. NULL:
 * unknown type.
 */
const struct ts_row_schema *ts_sbt_schema(unsigned type);

/*
 * Maximum number of parts into which a payload is divided; each part is compressed as a separate
 * zstd frame.
 */
#define TS_ENCODER_MAX_PARTS 320u

/*
 * A file that may have short blocks gets no summaries if it is smaller when it is finished. As long
 * as it is smaller, its writer compresses short blocks thoroughly.
 */
#define TS_SBT_SMALL_FILE_BYTES (64u * 1024)

/* Number of rows on which predictions are tried. */
#define TS_ENCODER_SAMPLE 2048u

/*
 * The encoder uses a chosen prediction for TS_ENCODER_CHOICE_BLOCKS blocks, then tries again. It
 * uses the first choice of compression for a plane for the same number of blocks. Each time a new
 * trial for the plane makes the same choice, this number doubles, up to TS_ENCODER_MOST_BLOCKS.
 */
#define TS_ENCODER_CHOICE_BLOCKS 8u
#define TS_ENCODER_MOST_BLOCKS	 32u

/* How a plane is compressed. */
enum ts_plane_kind {
	TS_PLANE_REPEATS = 0, /* repeated sequences and entropy coding */
	TS_PLANE_NOISE = 1,   /* entropy coding of single bytes */
	TS_PLANE_EVEN = 2,    /* stored: all bytes are equally frequent */
	TS_PLANE_CLOSE = 3,   /* as REPEATS, with a longer search */
};

struct ts_plane_choice {
	uint8_t kind;	/* enum ts_plane_kind */
	uint8_t n_left; /* blocks until the next trial */
	uint8_t n_wait; /* blocks between two trials */
};

/* Whether and how a column of times is SCALED, and the number of blocks until the next trial. */
struct ts_scaled_choice {
	uint32_t quantum;
	uint8_t fineness; /* about log2 of the bytes that most differences take */
	bool is_best;
	uint8_t n_left;
	uint8_t n_wait; /* blocks between two trials */
};

/* The best prediction for a column, and the number of blocks that use it without a new trial. */
struct ts_choice {
	uint8_t n_predictions; /* number of predictions in the trial */
	uint8_t best;
	uint8_t n_left;
	/* n_planes and is_centred of the best prediction are known. */
	bool has_planes;
	bool is_centred;
	uint8_t n_planes;
	/* The column may be SCALED: its first prediction has no trend, the second has one. */
	bool may_scale;
	struct ts_scaled_choice scaled;
	struct ts_plane_choice planes[8];
	struct ts_plane_choice sections[4]; /* of a SCALED column */
};

/*
 * A part of the payload, which is compressed separately. If the part is a plane, `choice` is the
 * choice of its compression.
 */
struct ts_part {
	size_t end;
	struct ts_plane_choice *choice; /* NULL: no trial */
};

/*
 * Working memory of an encoder; one per thread. A zero-initialised struct is ready. The caller
 * frees it with ts_encoder_deinit().
 */
struct ts_encoder {
	/* Kept by ts_encoder_deinit(): small blocks are short; short blocks are compressed well. */
	bool is_short;
	bool is_thorough;
	/*
	 * The calls that times of the next blocks may be relative to, and the number of blocks from
	 * the block of the calls to the next one. NULL: no times are relative.
	 */
	const struct ts_calls *calls;
	uint32_t calls_distance;
	struct ZSTD_CCtx_s *zstd;
	struct ZSTD_CCtx_s *zstd_noise;
	struct ZSTD_CCtx_s *zstd_close; /* NULL until a plane is tried with it */
	struct ts_buffer raw;
	struct ts_buffer scratch;
	struct ts_buffer order;
	struct ts_buffer values;    /* of a column, 64 bits each */
	struct ts_buffer residuals; /* of a column, 64 bits each */
	struct ts_buffer state;	    /* of a prediction */
	struct ts_buffer scales;    /* of a SCALED column */
	uint64_t sample[TS_ENCODER_SAMPLE];
	uint32_t n_parts;
	struct ts_part parts[TS_ENCODER_MAX_PARTS];
};

/* Frees all memory. The encoder is ready for use again. */
void ts_encoder_deinit(struct ts_encoder *encoder);

/* Returns the bytes of memory that the encoder holds, without the struct itself. */
uint64_t ts_encoder_memory(const struct ts_encoder *encoder);

/*
 * These functions build a payload column by column. The caller calls ts_encoder_begin(), then one
 * function per column in ascending order of id, then ts_encoder_end(). ts_encoder_end() compresses
 * the payload if that makes it smaller, completes the header and appends the block to `out`.
 * ts_block_number() sets the sequence number and the checksum of the header. All return 0 or
 * -ENOMEM.
 */
int ts_encoder_begin(struct ts_encoder *encoder, uint16_t n_columns);

/* Adds a column of a list, or any column that is predicted from its own values only. */
int ts_encoder_column(struct ts_encoder *encoder, uint16_t column, uint16_t id, const void *values,
		      uint32_t n_values, uint16_t width, bool is_signed);

/* Adds a column with one value for all rows. `header` is as in ts_encoder_predicted(). */
int ts_encoder_constant(struct ts_encoder *encoder, uint16_t column,
			struct ts_sbt_column_header *header, const void *value);

/*
 * Adds a column. If all values are equal, they are stored as one constant. Other numbers are stored
 * as residuals of the best prediction, and all other values unchanged. The caller sets id, width,
 * flags, number of values and the key of an INDEXED column in *header; the function fills in the
 * encoding. `bases` holds the ids of the predictions' base columns. `choice` is NULL, or zeroed
 * before the first block and kept from block to block.
 */
int ts_encoder_predicted(struct ts_encoder *encoder, uint16_t column,
			 struct ts_sbt_column_header *header, const void *values,
			 const struct ts_prediction *predictions, const uint16_t *bases,
			 unsigned n_predictions, struct ts_choice *choice);

/* Adds an index column: the dictionary item of each row. `key` is NULL or the other index. */
int ts_encoder_index(struct ts_encoder *encoder, uint16_t column,
		     struct ts_sbt_column_header *header, const uint16_t *values,
		     const uint16_t *key, uint32_t n_keys);

int ts_encoder_end(struct ts_encoder *encoder, struct ts_sbt_block_header *header,
		   struct ts_buffer *out);

/*
 * Encodes a list of values of any length, such as strings: `lengths` holds u32, `bytes` the bytes
 * of all values. If there are values, the block is appended to `out` and both buffers are emptied.
 * The caller fills in the other fields of the header.
 */
int ts_encoder_list(struct ts_encoder *encoder, struct ts_sbt_block_header *header,
		    struct ts_buffer *lengths, struct ts_buffer *bytes, struct ts_buffer *out);

/*
 * Numbers the blocks in [blocks, blocks + n_bytes) from *sequence and sets the checksum of their
 * headers. Advances *sequence. No block is short; layout.h is for all blocks.
 */
void ts_block_number(uint8_t *blocks, size_t n_bytes, uint64_t *sequence);

/* Returns the bytes of an encoded block in memory: header, payload and padding. */
static inline uint64_t ts_block_held_bytes(const struct ts_sbt_block_header *header)
{
	return sizeof(*header) + ts_align_up(header->stored_bytes, 8);
}

/* Returns the bytes of a block's header in the file. */
static inline uint64_t ts_block_head_bytes(const struct ts_sbt_block_header *header)
{
	return header->short_bytes ? header->short_bytes : sizeof(*header);
}

/* Returns the bytes of a block in the file: header and payload, and padding unless it is short. */
static inline uint64_t ts_block_bytes(const struct ts_sbt_block_header *header)
{
	return header->short_bytes ? header->short_bytes + header->stored_bytes
				   : ts_block_held_bytes(header);
}

/* Fills the index row of the block whose header lies at `off` in the file. */
void ts_block_describe(const struct ts_sbt_block_header *header, uint64_t off,
		       struct ts_sbt_block *ret_block);

/*
 * Fills the end marker of a file. `index_off` and `index_bytes` locate the index blocks; `n_blocks`
 * is the number of blocks before them.
 */
void ts_end_marker_fill(struct ts_sbt_end_marker *marker, uint64_t index_off, uint64_t index_bytes,
			uint64_t n_blocks);

/* An index of at most this many blocks is short, if blocks may be short. */
#define TS_INDEX_MAX_SHORT 256u

/*
 * Appends index blocks for these entries and the end marker to `out`. The index blocks are numbered
 * from n_blocks; they may be short if `is_short`. Returns 0 or -ENOMEM.
 */
int ts_index_encode(const struct ts_sbt_block *blocks, size_t n_blocks, uint64_t index_off,
		    bool is_short, struct ts_buffer *out);

/*
 * An open block that rows are added to and that is encoded column by column. Added rows are staged
 * as structs; a full stage is turned into columns while its rows are still in the cache.
 */
struct ts_builder {
	const struct ts_row_schema *schema;
	struct ts_plan plan;
	uint8_t *staged;
	uint8_t *columns[TS_ROW_MAX_COLUMNS]; /* of columns in no run */
	/* true if the column has a value that is not zero; only for columns that are in no run */
	bool seen[TS_ROW_MAX_COLUMNS];
	struct ts_dictionary dictionaries[TS_PLAN_RUNS]; /* of the runs */
	uint16_t *indices[TS_PLAN_RUNS];
	struct ts_choice choices[TS_ROW_MAX_COLUMNS];
	uint32_t n_staged;
	uint32_t n_rows; /* in the columns */
	uint32_t capacity;
	uint32_t slot_bytes; /* memory per row of the capacity */
	bool unsorted;
	uint64_t last_start_ns;
	uint64_t earliest_ns;
	uint64_t latest_ns;
	uint64_t duration_ns;
	uint64_t amount_bytes;
};

/*
 * Allocates an empty builder. The caller frees it with ts_builder_free(), which accepts NULL.
 * Returns 0 or -ENOMEM.
 */
int ts_builder_new(const struct ts_row_schema *schema, struct ts_builder **ret_builder);
void ts_builder_free(struct ts_builder *builder);

/*
 * Adds a row. Returns 0 or -ENOMEM. The caller encodes the builder when it has TS_SBT_MAX_ROWS
 * rows.
 */
int ts_builder_add(struct ts_builder *builder, const void *row);

/*
 * Adds up to `n` rows. *ret_n_added is the number of added rows, also on -ENOMEM; rows that could
 * not become columns stay staged.
 */
int ts_builder_add_rows(struct ts_builder *builder, const void *rows, uint32_t n,
			uint32_t *ret_n_added);

static inline uint32_t ts_builder_rows(const struct ts_builder *builder)
{
	return builder->n_rows + builder->n_staged;
}

/*
 * Returns true if the column's values lie in memory. The values of the start and end columns always
 * do. If the values of another column do not lie in memory, they are all zero.
 */
static inline bool ts_builder_has_column(const struct ts_builder *builder, unsigned c)
{
	return builder->seen[c] || c <= (unsigned)builder->schema->has_end;
}

/* Turns all staged rows into columns, sorted by start. Returns 0 or -ENOMEM. */
int ts_builder_settle(struct ts_builder *builder, struct ts_encoder *encoder);

/*
 * Sorts the columns by the start of the rows. Rows with equal start keep their order of arrival.
 * Returns 0 or -ENOMEM.
 */
int ts_builder_sort(struct ts_builder *builder, struct ts_encoder *encoder);

/* Drops all rows and keeps the memory. */
void ts_builder_clear(struct ts_builder *builder);

/* Returns the bytes of the rows as structs. */
uint64_t ts_builder_bytes(const struct ts_builder *builder);

/* Returns the bytes of memory that the builder holds, with or without rows. */
uint64_t ts_builder_memory(const struct ts_builder *builder);

/*
 * Appends the rows as a block to `out` and empties the builder. A builder without rows appends
 * nothing. Returns 0 or -ENOMEM.
 */
int ts_builder_encode(struct ts_builder *builder, struct ts_encoder *encoder, uint32_t session,
		      struct ts_buffer *out);

/*
 * Decoding. `why` is a sentence without a full stop; it is a literal, or text in the caller's
 * struct.
 */

/* Returns true if the checksum of the stored payload is right. */
bool ts_block_checksum_ok(const struct ts_sbt_block_header *header, const uint8_t *stored);

/*
 * Decompresses and checks a payload. The memory comes from `spares` (NULL: malloc()). The caller
 * frees *ret_raw, or puts it back. `is_newer` is true if the file has
 * a later minor version; its blocks may have unknown columns. Returns 0, -ENOMEM, or
 * TS_SBT_E_CORRUPT with *ret_why.
 */
int ts_block_payload_in(struct ts_spares *spares, struct ZSTD_DCtx_s *zstd,
			const struct ts_sbt_block_header *header, bool is_newer,
			const uint8_t *stored, uint8_t **ret_raw, const char **ret_why);

/*
 * Returns false if the block is whole and lacks the column, so that all its values are 0. Only the
 * directory of columns is decompressed. Returns true if that is not certain.
 */
bool ts_block_may_have(struct ZSTD_DCtx_s *zstd, const struct ts_sbt_block_header *header,
		       const uint8_t *stored, uint16_t column);

/* As ts_block_payload_in() without spares. */
static inline int ts_block_payload(struct ZSTD_DCtx_s *zstd,
				   const struct ts_sbt_block_header *header, bool is_newer,
				   const uint8_t *stored, uint8_t **ret_raw, const char **ret_why)
{
	return ts_block_payload_in(NULL, zstd, header, is_newer, stored, ret_raw, ret_why);
}

/* The reason why a payload is invalid. */
struct ts_block_why {
	char text[128];
};

/* The decoded rows of a block, column by column. */
struct ts_block_columns;

/*
 * Decodes all columns of a payload. The caller frees *ret_columns with free(), or puts them into
 * `spares` (NULL: malloc()), from which their memory comes. `calls` are those of header->calls.
 * Returns 0, -ENOMEM, or TS_SBT_E_CORRUPT with *ret_why, which is unchanged in all other cases.
 */
int ts_block_columns_new_in(struct ts_spares *spares, const struct ts_calls *calls,
			    const struct ts_row_schema *schema,
			    const struct ts_sbt_block_header *header, const uint8_t *raw,
			    struct ts_block_columns **ret_columns, struct ts_block_why *ret_why);

/* As ts_block_columns_new_in() without spares, for a block without calls. */
static inline int ts_block_columns_new(const struct ts_row_schema *schema,
				       const struct ts_sbt_block_header *header, const uint8_t *raw,
				       struct ts_block_columns **ret_columns,
				       struct ts_block_why *ret_why)
{
	return ts_block_columns_new_in(NULL, NULL, schema, header, raw, ret_columns, ret_why);
}

/* Returns the bytes of memory of the columns. */
uint64_t ts_block_columns_bytes(const struct ts_block_columns *columns);

/* Returns the number of columns that were skipped because this version does not know them. */
unsigned ts_block_columns_unknown(const struct ts_block_columns *columns);

/*
 * Assembles rows from columns in order, some at a time. A copy of the struct restores an earlier
 * position.
 */
struct ts_block_decoder {
	const struct ts_row_schema *schema;
	uint32_t n_left;
	uint32_t n_rows;
	uint64_t last_start_ns;
	uint64_t earliest_ns;
	uint64_t latest_ns;
};

/* Starts at the first row of a block. The header is checked. */
void ts_block_decoder_init(struct ts_block_decoder *decoder, const struct ts_row_schema *schema,
			   const struct ts_sbt_block_header *header);

/*
 * Skips rows up to the first one that ends at or after from_ns; with `by_start`, the first one that
 * starts at or after from_ns. Returns NULL, or the reason why a row is invalid.
 */
const char *ts_block_decoder_skip(struct ts_block_decoder *decoder,
				  const struct ts_block_columns *columns, uint64_t from_ns,
				  bool by_start);

/*
 * Assembles the next `n` rows; n <= decoder->n_left. Returns NULL, or the reason why a row is
 * invalid.
 */
const char *ts_block_decoder_next(struct ts_block_decoder *decoder,
				  const struct ts_block_columns *columns, void *rows, uint32_t n);

/*
 * Reads entry `column` of the column directory and advances *pos past the column's bytes. Returns
 * NULL, or the reason why the entry is invalid.
 */
const char *ts_block_next_column(const struct ts_sbt_block_header *header, const uint8_t *raw,
				 unsigned column, struct ts_sbt_column_header *ret_column,
				 uint64_t *pos);

/*
 * Decodes column `id` of a list block to an array. The column must be unsigned and have this width.
 * The caller frees *ret_values. A missing column has no values. Returns 0, -ENOMEM, or
 * TS_SBT_E_CORRUPT with *ret_why.
 */
int ts_block_list(const struct ts_sbt_block_header *header, const uint8_t *raw, uint16_t id,
		  uint16_t width, void **ret_values, uint32_t *ret_n_values, const char **ret_why);
