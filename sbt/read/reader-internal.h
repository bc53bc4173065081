/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the reader share. Private to sbt/. */
#pragma once

#include "sbt/format/block.h"

/* Items ordered by key. Where `keep_all` is not set, a later item of the same key takes the earlier one's place. */
struct ts_table {
	uint8_t *items;
	size_t n;
	size_t n_ordered;
	size_t capacity;
	size_t item_bytes;
	bool keep_all;
	uint64_t (*key)(const void *item);
};

/* A block of strings or stacks, decoded when it is first asked for. */
struct ts_list_block {
	uint64_t block;
	uint32_t session;
	uint32_t first_id;
	uint32_t n_rows;
	bool failed;
	void *values;	   /* char of strings, each terminated; uint64_t of frames */
	uint32_t *offsets; /* n_rows + 1 of them, in values; a string's terminator counts */
	uint32_t *flags;   /* stacks */
};

/* A block of blobs, decoded when it is first asked for, and given up when others take its room. */
struct ts_blob_block {
	uint64_t block;
	uint64_t used; /* when it was last asked for: a count */
	uint32_t session;
	uint32_t first_id;
	uint32_t n_rows;
	bool failed;
	uint8_t *bytes;
	uint64_t n_bytes;
	uint64_t *hashes;  /* two of each row */
	uint32_t *offsets; /* n_rows + 1 of them */
	uint32_t *flags;
};

struct ts_sbt_reader {
	int fd;
	struct ts_sbt_error error;
	struct ts_sbt_error
		lost; /* the first block of definitions that could not be read; code 0: none */
	enum ts_sbt_file_state state;
	bool has_index; /* the list of blocks is the index's */
	bool is_newer;	/* of a later minor version */
	char format[32];
	uint64_t file_bytes;
	uint64_t whole_bytes; /* up to the end of the last whole block, or of the end marker */
	struct ZSTD_DCtx_s *zstd;

	struct ts_sbt_block *blocks;
	size_t n_blocks;
	size_t capacity;
	uint64_t first_sequence; /* number of the first block of the list */
	uint64_t *
		by_session; /* the blocks' numbers, by session, then as they come; made when asked for */
	size_t n_by_session;

	/* Of a recording in several files: which this is, and those before it, the last one first. */
	uint8_t uuid[16]; /* the file's own */
	struct ts_row_part part;
	size_t part_block; /* its row's; 0: it has none */
	int *before;
	size_t n_before;
	uint64_t **
		numbers; /* of each file, as in an offset: where each of its blocks is in the list */

	size_t n_loaded; /* blocks whose definitions were taken in */
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
	uint64_t blob_bytes; /* of decoded ones */
	uint64_t blob_uses;

	ts_sbt_rows_fn on_rows; /* NULL: nobody watches */
	void *on_rows_data;
};

/* Where a block lies: its file is in the high bits, 0 for the reader's own, the i-th before it otherwise. */
#define TS_SBT_OFF_BITS 48
#define TS_SBT_OFF(off) ((off) & ((UINT64_C(1) << TS_SBT_OFF_BITS) - 1))

static inline int ts_sbt_reader_fd(const struct ts_sbt_reader *reader, uint64_t off)
{
	uint64_t file = off >> TS_SBT_OFF_BITS;

	return file ? reader->before[file - 1] : reader->fd;
}

/*
 * Where in the list that block is which block i, a summary, calls `number`: summaries count in their own file. UINT64_MAX:
 * nowhere before it.
 */
static inline uint64_t ts_sbt_reader_numbered(const struct ts_sbt_reader *reader, size_t i,
					      uint64_t number)
{
	const uint64_t *numbers = NULL;

	if (reader->numbers)
		numbers = reader->numbers[reader->blocks[i].off >> TS_SBT_OFF_BITS];
	/* The first of them is how many there are. */
	if (numbers)
		number = number < numbers[0] ? numbers[1 + number] : UINT64_MAX;
	return number < i ? number : UINT64_MAX;
}

/* Notes an error and returns its code. */
int ts_sbt_reader_fail(struct ts_sbt_reader *reader, int code, uint64_t off, const char *format,
		       ...) __attribute__((format(printf, 4, 5)));

/* Reads n bytes at off. 0, -errno, or TS_SBT_E_CORRUPT where the file ends before. */
int ts_sbt_pread(int fd, void *to, size_t n, uint64_t off);

/* 0, or TS_SBT_E_NOT_SBT, TS_SBT_E_VERSION, -errno with *ret_error filled. */
int ts_sbt_check_file_header(int fd, uint64_t file_bytes, struct ts_sbt_file_header *ret_header,
			     struct ts_sbt_error *ret_error);

/* Whether the last bytes of the file are an end marker that can be true. */
bool ts_sbt_check_end_marker(const struct ts_sbt_end_marker *marker, uint64_t file_bytes);

/* Whether a writer holds the file. */
bool ts_sbt_is_locked(int fd);

/* Reads block i: its header as on disk, and its payload, decompressed, to be free()d. */
int ts_sbt_reader_load(struct ts_sbt_reader *reader, size_t i,
		       struct ts_sbt_block_header *ret_header, uint8_t **ret_raw);

/* Decodes what was loaded; to be free()d. */
int ts_sbt_reader_columns(struct ts_sbt_reader *reader, size_t i,
			  const struct ts_row_schema *schema,
			  const struct ts_sbt_block_header *header, const uint8_t *raw,
			  struct ts_block_columns **ret_columns);

/* As ts_sbt_reader_decode(), of a block whose rows have this schema. */
int ts_sbt_reader_decode_as(struct ts_sbt_reader *reader, size_t i,
			    const struct ts_row_schema *schema, void **ret_rows,
			    uint32_t *ret_n_rows);

/* Takes in definitions of blocks that were not looked at yet. */
int ts_sbt_reader_load_definitions(struct ts_sbt_reader *reader);
void ts_sbt_reader_init_definitions(struct ts_sbt_reader *reader);
void ts_sbt_reader_free_definitions(struct ts_sbt_reader *reader);

/* reader-blob.c */
void ts_sbt_reader_init_blobs(struct ts_sbt_reader *reader);
void ts_sbt_reader_free_blobs(struct ts_sbt_reader *reader);

/* reader-table.c */
void *ts_sbt_table_add(
	struct ts_table *table); /* room for one more item, zeroed; NULL: no memory */
/* The last item whose key is at most `key`, or NULL. */
void *ts_sbt_table_floor(const struct ts_table *table, uint64_t key);
const void *ts_sbt_table_find(const struct ts_table *table,
			      uint64_t key); /* NULL: none has that key */
/* How many items have keys of at most `key`: the first ones. */
size_t ts_sbt_table_count_to(const struct ts_table *table, uint64_t key);
/* Brings what was added into order: by key, then as it came; of equal keys the last one stays. 0 or -ENOMEM. */
int ts_sbt_table_order(struct ts_table *table);

/* reader-block.c */
/* Where each row's values begin, `gap` apart; the lengths must add up to n_values. NULL: fine, else what is wrong. */
const char *ts_sbt_list_offsets(const uint32_t *lengths, uint32_t n_rows, uint32_t n_values,
				uint32_t gap, uint32_t *offsets);

/* find-block.c */
/* A search for whole blocks, or several of one file: what they may read in all is bounded. */
struct ts_sbt_search {
	int fd;
	uint64_t file_bytes;
	uint64_t left_bytes; /* that may still be read; 0: given up */
};

void ts_sbt_search_init(struct ts_sbt_search *search, int fd, uint64_t file_bytes);

/*
 * Looks for the next whole block, header and checksums right, at or after `from`, whose number is
 * `sequence` or more. 0, -errno, TS_SBT_E_NOT_FOUND, or TS_SBT_E_LIMIT: not found, but the search was given up.
 */
int ts_sbt_search_block(struct ts_sbt_search *search, uint64_t from, uint64_t sequence,
			uint64_t *ret_off);

/* The payload's bytes as stored, to be free()d, checksum not looked at. 0, -errno, TS_SBT_E_CORRUPT. */
int ts_sbt_read_stored(int fd, const struct ts_sbt_block_header *header, uint64_t off,
		       uint8_t **ret_bytes);
