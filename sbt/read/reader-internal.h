/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations that the modules of the reader share. Private to sbt/. Functions return 0, a
 * negative errno or TS_SBT_E_*. A reader belongs to one thread at a time.
 */
#pragma once

#include "sbt/format/block.h"

/*
 * Items ordered by key. If keep_all is false, a later item replaces an earlier one with the same
 * key.
 */
struct ts_table {
	uint8_t *items;
	size_t n;
	size_t n_ordered;
	size_t capacity;
	size_t item_bytes;
	bool keep_all;
	uint64_t (*key)(const void *item);
};

/* A block of strings or stacks. The block is decoded when one of its ids is first requested. */
struct ts_list_block {
	uint64_t block;
	uint32_t session;
	uint32_t first_id;
	uint32_t n_rows;
	bool failed;
	void *values;	   /* strings: char, each with a terminator; stacks: uint64_t of frames */
	uint32_t *offsets; /* n_rows + 1 indices in `values`; a string's terminator counts */
	uint32_t *flags;   /* stacks only */
};

/*
 * A block of blobs. The block is decoded when a blob is requested, and freed when other blocks need
 * the memory.
 */
struct ts_blob_block {
	uint64_t block;
	uint64_t used; /* value of blob_uses at the last request */
	uint32_t session;
	uint32_t first_id;
	uint32_t n_rows;
	bool failed;
	uint8_t *bytes;
	uint64_t n_bytes;
	uint64_t *hashes;  /* two per row */
	uint32_t *offsets; /* n_rows + 1 */
	uint32_t *flags;
};

struct ts_sbt_reader {
	int fd;
	struct ts_sbt_error error;
	/*
	 * The error of the first block of definitions that could not be read; code 0: all were
	 * read.
	 */
	struct ts_sbt_error lost;
	/*
	 * The first block of a short index whose header is damaged, so that nothing else is known
	 * of it; code 0: there is none.
	 */
	struct ts_sbt_error lost_block;
	enum ts_sbt_file_state state;
	bool has_index;	 /* the list of blocks comes from the index */
	bool is_newer;	 /* the file has a later minor version */
	bool is_short;	 /* blocks and the index may be short */
	bool has_tables; /* short blocks may be compressed with the dictionary */
	char format[32];
	uint64_t file_bytes;
	uint64_t whole_bytes; /* up to the end of the last whole block, or of the end marker */
	struct ZSTD_DCtx_s *zstd;
	struct ts_spares spares; /* of cursors */

	struct ts_sbt_block *blocks;
	size_t n_blocks;
	size_t capacity;
	bool has_own_blocks;	 /* of a twin (threads/twin.h): `blocks` is a copy */
	uint64_t first_sequence; /* number of the list's first block */
	/*
	 * Numbers of the blocks, ordered by session, then by number. Created when first
	 * needed.
	 */
	uint64_t *by_session;
	size_t n_by_session;

	/*
	 * A recording in several files: this file, and the files before it, the newest of them
	 * first.
	 */
	uint8_t uuid[16]; /* UUID of this file */
	struct ts_row_part part;
	size_t part_block; /* number of the block with the `part` row; 0: none */
	int *before;
	size_t n_before;
	/*
	 * For each file of the recording (by the file's number in an offset): positions of the
	 * file's blocks in the list of all blocks.
	 */
	uint64_t **numbers;

	size_t n_loaded; /* blocks whose definitions are loaded */
	uint64_t list_bytes;
	struct ts_table sessions;
	struct ts_table threads;
	struct ts_table devices;
	struct ts_table modules;
	struct ts_table names;
	struct ts_table metadata;
	struct ts_table strings;
	struct ts_table stacks;
	struct ts_table blobs;
	uint64_t blob_bytes; /* bytes of decoded blobs */
	uint64_t blob_uses;

	unsigned max_threads;	/* 0: ts_sbt_max_threads() */
	ts_sbt_rows_fn on_rows; /* NULL: no callback */
	void *on_rows_data;
	/* The caller's callback while the reader is lent to a thread, and the rows for it. */
	ts_sbt_rows_fn lent_on_rows;
	void *lent_data;
	uint64_t n_lent_rows;
	const volatile int *cancel; /* NULL: never */
	void (*rest)(void *data);   /* NULL: none */
	void *rest_data;
};

/*
 * Offset of a block. The high bits are the number of its file: 0 is the reader's own file, i is
 * file before[i - 1].
 */
#define TS_SBT_OFF_BITS 48
#define TS_SBT_OFF(off) ((off) & ((UINT64_C(1) << TS_SBT_OFF_BITS) - 1))

/* Returns the descriptor of the file in which `off` lies. */
static inline int ts_sbt_reader_fd(const struct ts_sbt_reader *reader, uint64_t off)
{
	uint64_t file = off >> TS_SBT_OFF_BITS;

	return file ? reader->before[file - 1] : reader->fd;
}

/*
 * Returns the position in the list of block `number` of a file. `i` is the summary block that names
 * it, because summaries use the numbers of their own file. Returns UINT64_MAX if there is no such
 * block before block `i`.
 */
static inline uint64_t ts_sbt_reader_numbered(const struct ts_sbt_reader *reader, size_t i,
					      uint64_t number)
{
	const uint64_t *numbers = NULL;

	if (reader->numbers)
		numbers = reader->numbers[reader->blocks[i].off >> TS_SBT_OFF_BITS];
	/* numbers[0] is the count of the numbers that follow. */
	if (numbers)
		number = number < numbers[0] ? numbers[1 + number] : UINT64_MAX;
	return number < i ? number : UINT64_MAX;
}

/* Stores an error in the reader and returns its code. */
int ts_sbt_reader_fail(struct ts_sbt_reader *reader, int code, uint64_t off, const char *format,
		       ...) __attribute__((format(printf, 4, 5)));

/*
 * Reads `n` bytes at `off`. Returns 0, a negative errno, or TS_SBT_E_CORRUPT if the file ends
 * earlier.
 */
int ts_sbt_pread(int fd, void *to, size_t n, uint64_t off);

/*
 * Reads and checks the file header. Returns 0, or TS_SBT_E_NOT_SBT, TS_SBT_E_VERSION or a negative
 * errno with *ret_error.
 */
int ts_sbt_check_file_header(int fd, uint64_t file_bytes, struct ts_sbt_file_header *ret_header,
			     struct ts_sbt_error *ret_error);

/* Returns true if the end marker is valid for a file of this size. */
bool ts_sbt_check_end_marker(const struct ts_sbt_end_marker *marker, uint64_t file_bytes);

/* Returns true if a writer holds the file. */
bool ts_sbt_is_locked(int fd);

/* Returns true, with the reader's error, if a block is so damaged that its type is unknown. */
static inline bool ts_sbt_reader_note_lost_block(struct ts_sbt_reader *reader)
{
	if (reader->lost_block.code)
		reader->error = reader->lost_block;
	return reader->lost_block.code != 0;
}

/*
 * Reads and checks the header of the block at `off`, which must end before `end`. Returns 0, a
 * negative errno, TS_SBT_E_END if no header ends before `end`, or TS_SBT_E_CORRUPT with *ret_why.
 */
int ts_sbt_read_header(int fd, uint64_t off, uint64_t end, struct ts_sbt_block_header *ret_header,
		       const char **ret_why);

/* Reads block `i`: its header and its decompressed payload. The caller frees *ret_raw. */
int ts_sbt_reader_load(struct ts_sbt_reader *reader, size_t i,
		       struct ts_sbt_block_header *ret_header, uint8_t **ret_raw);

/*
 * Returns false if block `i` is whole and lacks the column, so that all its values are 0. It is not
 * decoded, and counts as read. Returns true if that is not certain, after any error.
 */
bool ts_sbt_reader_may_have(struct ts_sbt_reader *reader, size_t i, uint16_t column);

/* Decodes a loaded payload. The caller frees *ret_columns with free(). */
int ts_sbt_reader_columns(struct ts_sbt_reader *reader, size_t i,
			  const struct ts_row_schema *schema,
			  const struct ts_sbt_block_header *header, const uint8_t *raw,
			  struct ts_block_columns **ret_columns);
/*
 * Loads block `i` and decodes it to columns of this schema, with the checks of a block's times. The
 * caller frees *ret_columns with free().
 */
int ts_sbt_reader_load_columns(struct ts_sbt_reader *reader, size_t i,
			       const struct ts_row_schema *schema,
			       struct ts_block_columns **ret_columns);
/* Writes the value of a column for each row of the block, n_rows times the column's width. */
void ts_block_columns_put(const struct ts_block_columns *columns, const struct ts_column *column,
			  uint8_t *to);

/* Like ts_sbt_reader_decode(), for a block whose rows have the given schema. */
int ts_sbt_reader_decode_as(struct ts_sbt_reader *reader, size_t i,
			    const struct ts_row_schema *schema, void **ret_rows,
			    uint32_t *ret_n_rows);

/*
 * Receives the rows of a summary block that describe event block `block` of the list; `n` is at
 * least 1. A value other than 0 ends the call.
 */
typedef int ts_sbt_group_fn(void *data, uint64_t block, const uint8_t *rows, uint32_t n);
/*
 * Decodes summary block `i`, whose kind is `kind`, and calls take() for each block that it
 * describes (reader-block.c). A damaged summary describes nothing, and an untrusted one may
 * describe a block twice. Returns 0, the value of take(), or a negative errno.
 */
int ts_sbt_reader_groups(struct ts_sbt_reader *reader, size_t i, int kind, ts_sbt_group_fn *take,
			 void *data);

/* Loads the definitions of the blocks from n_loaded on. */
int ts_sbt_reader_load_definitions(struct ts_sbt_reader *reader);
void ts_sbt_reader_init_definitions(struct ts_sbt_reader *reader);
void ts_sbt_reader_free_definitions(struct ts_sbt_reader *reader);

/* reader-blob.c */
/*
 * Decodes the lists of a block of blobs; the other fields of *blobs stay. The caller frees the
 * lists with ts_sbt_blobs_deinit(). Returns 0, -ENOMEM, or TS_SBT_E_CORRUPT with *ret_why.
 */
int ts_sbt_blobs_decode(struct ts_blob_block *blobs, const struct ts_sbt_block_header *header,
			const uint8_t *raw, const char **ret_why);
void ts_sbt_blobs_deinit(struct ts_blob_block *blobs);
void ts_sbt_reader_init_blobs(struct ts_sbt_reader *reader);
void ts_sbt_reader_free_blobs(struct ts_sbt_reader *reader);

/* reader-table.c */
/* Adds a zeroed item. Returns NULL if there is no memory. */
void *ts_sbt_table_add(struct ts_table *table);
/* Returns the last item whose key is at most `key`, or NULL. */
void *ts_sbt_table_floor(const struct ts_table *table, uint64_t key);
/* Returns the item with this key, or NULL. */
const void *ts_sbt_table_find(const struct ts_table *table, uint64_t key);
/* Counts the items whose key is at most `key`; these are the first items. */
size_t ts_sbt_table_count_to(const struct ts_table *table, uint64_t key);
/*
 * Sorts the items by key, then by order of arrival. If several items have the same key, only the
 * last one stays, unless keep_all is set. Returns 0 or -ENOMEM.
 */
int ts_sbt_table_order(struct ts_table *table);

/* reader-block.c */
/*
 * Computes the offset of each row's values. Rows are `gap` apart, and the lengths must add up to
 * n_values. `offsets` has room for n_rows + 1. Returns NULL, or the reason why the lengths are
 * invalid.
 */
const char *ts_sbt_list_offsets(const uint32_t *lengths, uint32_t n_rows, uint32_t n_values,
				uint32_t gap, uint32_t *offsets);

/* find-block.c */
/*
 * A bounded search for whole blocks in a file. All searches with the same struct together may read
 * `left_bytes`.
 */
struct ts_sbt_search {
	int fd;
	bool is_short; /* blocks begin at any offset */
	uint64_t file_bytes;
	uint64_t left_bytes; /* bytes that the search may still read; 0: the search was given up */
};

void ts_sbt_search_init(struct ts_sbt_search *search, int fd, bool is_short, uint64_t file_bytes);

/*
 * Finds the next whole block at or after `from` with a valid header, a valid checksum and a number
 * of at least `sequence`. Returns 0, a negative errno, TS_SBT_E_NOT_FOUND, or TS_SBT_E_LIMIT if the
 * search was given up.
 */
int ts_sbt_search_block(struct ts_sbt_search *search, uint64_t from, uint64_t sequence,
			uint64_t *ret_off);

/*
 * Reads the stored payload and its padding, without checking the checksum. The caller frees
 * *ret_bytes. Returns 0, a negative errno or TS_SBT_E_CORRUPT.
 */
int ts_sbt_read_stored(int fd, const struct ts_sbt_block_header *header, uint64_t off,
		       uint8_t **ret_bytes);
