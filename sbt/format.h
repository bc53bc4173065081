/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of a file on disk; FORMAT.md specifies it. Everything is little-endian and 8-byte
 * aligned. Private to sbt/: all others read rows, not bytes.
 */
#pragma once

#include "sbt/reader.h"

TS_STATIC_ASSERT(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is little-endian");

/* The last bytes reveal a file that was damaged by a transfer in text mode. */
#define TS_SBT_FILE_MAGIC "TSBT\r\n\x1a\n"
#define TS_SBT_END_MAGIC  "TSBTEND\n"

/* Features that a reader must know to read a file. */
#define TS_SBT_INCOMPATIBLE_SHORT (UINT64_C(1) << 0) /* blocks and the index may be short */
#define TS_SBT_INCOMPATIBLE_CALLS (UINT64_C(1) << 1) /* times may be relative to calls */
#define TS_SBT_INCOMPATIBLE_DICTIONARY \
	(UINT64_C(1) << 2) /* short blocks may be compressed with the dictionary's content */
#define TS_SBT_INCOMPATIBLE_TABLES \
	(UINT64_C(1) << 3) /* short blocks may be compressed with the dictionary */
#define TS_SBT_INCOMPATIBLE_KNOWN                                                                 \
	(TS_SBT_INCOMPATIBLE_SHORT | TS_SBT_INCOMPATIBLE_CALLS | TS_SBT_INCOMPATIBLE_DICTIONARY | \
	 TS_SBT_INCOMPATIBLE_TABLES)

struct ts_sbt_file_header {
	char magic[8];
	uint16_t major;
	uint16_t minor;
	uint32_t n_bytes; /* of this header */
	uint64_t compatible_flags;
	uint64_t incompatible_flags;
	uint8_t uuid[16]; /* random, unique to this file */
	uint64_t created_realtime_ns;
	uint32_t reserved;
	uint32_t checksum; /* CRC-32C of the 60 bytes before */
};
TS_ASSERT_SIZE(struct ts_sbt_file_header, 64);
TS_ASSERT_FIELD(struct ts_sbt_file_header, major, 8);
TS_ASSERT_FIELD(struct ts_sbt_file_header, minor, 10);
TS_ASSERT_FIELD(struct ts_sbt_file_header, n_bytes, 12);
TS_ASSERT_FIELD(struct ts_sbt_file_header, compatible_flags, 16);
TS_ASSERT_FIELD(struct ts_sbt_file_header, incompatible_flags, 24);
TS_ASSERT_FIELD(struct ts_sbt_file_header, uuid, 32);
TS_ASSERT_FIELD(struct ts_sbt_file_header, created_realtime_ns, 48);
TS_ASSERT_FIELD(struct ts_sbt_file_header, reserved, 56);
TS_ASSERT_FIELD(struct ts_sbt_file_header, checksum, 60);

#define TS_SBT_BLOCK_MAGIC    0x4b425354u /* "TSBK" */
#define TS_SBT_BLOCK_VERSION  3

#define TS_SBT_BLOCK_ZSTD     (1u << 0) /* the payload is zstd frames */
#define TS_SBT_BLOCK_REQUIRED (1u << 1) /* a reader that does not know the type refuses the file */
#define TS_SBT_BLOCK_FLAGS    (TS_SBT_BLOCK_ZSTD | TS_SBT_BLOCK_REQUIRED)
/*
 * Short blocks. DICTIONARY: the payload is one zstd frame without magic number, made with the
 * dictionary's content; no writer makes such blocks any more. TABLES: the payload is the content of
 * one compressed block of zstd, made with the whole dictionary.
 */
#define TS_SBT_BLOCK_DICTIONARY (1u << 5)
#define TS_SBT_BLOCK_TABLES	(1u << 6)
#define TS_SBT_SHORT_BLOCK_FLAGS \
	(TS_SBT_BLOCK_FLAGS | TS_SBT_BLOCK_DICTIONARY | TS_SBT_BLOCK_TABLES)

struct ts_sbt_block_header {
	uint32_t magic;
	uint16_t type;
	uint16_t version;
	uint16_t flags;
	uint16_t n_columns;
	uint32_t session;
	uint32_t n_rows;
	uint32_t first_id;
	uint64_t sequence; /* number of this block in the file, from 0 */
	uint64_t earliest_ns;
	uint64_t latest_ns;
	uint64_t duration_ns;
	uint64_t amount_bytes;
	uint64_t raw_bytes;
	uint64_t stored_bytes;
	/*
	 * In the file: reserved. In memory: bytes of the short header that the block has in
	 * the file (format/short.h); 0: this struct lies in the file. Only a short block has
	 * `calls` (format/calls.h).
	 */
	uint32_t short_bytes;
	uint32_t calls;
	uint32_t payload_checksum; /* CRC-32C of the stored bytes */
	uint32_t checksum;	   /* CRC-32C of the 92 bytes before */
};
TS_ASSERT_SIZE(struct ts_sbt_block_header, 96);
TS_ASSERT_FIELD(struct ts_sbt_block_header, type, 4);
TS_ASSERT_FIELD(struct ts_sbt_block_header, version, 6);
TS_ASSERT_FIELD(struct ts_sbt_block_header, flags, 8);
TS_ASSERT_FIELD(struct ts_sbt_block_header, n_columns, 10);
TS_ASSERT_FIELD(struct ts_sbt_block_header, session, 12);
TS_ASSERT_FIELD(struct ts_sbt_block_header, n_rows, 16);
TS_ASSERT_FIELD(struct ts_sbt_block_header, first_id, 20);
TS_ASSERT_FIELD(struct ts_sbt_block_header, sequence, 24);
TS_ASSERT_FIELD(struct ts_sbt_block_header, earliest_ns, 32);
TS_ASSERT_FIELD(struct ts_sbt_block_header, latest_ns, 40);
TS_ASSERT_FIELD(struct ts_sbt_block_header, duration_ns, 48);
TS_ASSERT_FIELD(struct ts_sbt_block_header, amount_bytes, 56);
TS_ASSERT_FIELD(struct ts_sbt_block_header, raw_bytes, 64);
TS_ASSERT_FIELD(struct ts_sbt_block_header, stored_bytes, 72);
TS_ASSERT_FIELD(struct ts_sbt_block_header, short_bytes, 80);
TS_ASSERT_FIELD(struct ts_sbt_block_header, calls, 84);
TS_ASSERT_FIELD(struct ts_sbt_block_header, payload_checksum, 88);
TS_ASSERT_FIELD(struct ts_sbt_block_header, checksum, 92);

/* How a column's numbers are stored. */
enum ts_sbt_encoding {
	TS_SBT_RAW = 0,	     /* n_values values */
	TS_SBT_CONSTANT = 1, /* one value for all rows */
	TS_SBT_VARINTS = 2,  /* residuals as varints */
	TS_SBT_PLANES = 3,   /* residuals as planes of bytes, then exceptions */
	TS_SBT_SCALED = 4,   /* residuals as a scaled difference from the item's centre */
	TS_SBT_ENCODING_COUNT
};

/* Prediction from which the residuals of a VARINTS, PLANES or SCALED column are computed. */
enum ts_sbt_predictor {
	TS_SBT_NONE = 0,   /* 0 */
	TS_SBT_COLUMN = 1, /* column `base` in the same row */
	TS_SBT_LAST = 2,   /* column `base` in the last row with the same `key`; 0 in the first */
	/* index columns: 0; the values are stored in order of `key`, not of rows */
	TS_SBT_GROUPED = 3,
	TS_SBT_PREDICTOR_COUNT
};

#define TS_SBT_COLUMN_SIGNED (1u << 0)
#define TS_SBT_COLUMN_INDEXED \
	(1u << 1) /* one value per item of the dictionary; `key` is the id of the index column */
#define TS_SBT_COLUMN_CENTRED \
	(1u << 2) /* PLANES: half the range of the planes is added, so numbers may be negative */

/* Index columns hold the dictionary item of each row, and are no fields of a row. */
#define TS_SBT_COLUMN_PLACE 65520u
#define TS_SBT_COLUMN_SITE  65521u

#define TS_SBT_MAX_TREND    17u

/* The decompressed payload begins with one column header per column, in ascending order of id. */
struct ts_sbt_column_header {
	uint16_t id;
	uint16_t width; /* bytes of a value */
	uint8_t encoding;
	uint8_t flags;
	uint8_t predictor;
	uint8_t trend; /* 0: none; else the shift of the trend, plus 1 */
	uint16_t base; /* id of the base column; index columns: the highest index */
	uint16_t key;  /* id of an index column; 0: all rows have the same key */
	/* id of the index column that selects a row's trend; 0: all rows share one trend */
	uint16_t context;
	uint8_t n_planes; /* PLANES: number of planes */
	uint8_t reserved;
	uint32_t n_values;
	uint32_t n_bytes; /* encoded bytes */
};
TS_ASSERT_SIZE(struct ts_sbt_column_header, 24);
TS_ASSERT_FIELD(struct ts_sbt_column_header, width, 2);
TS_ASSERT_FIELD(struct ts_sbt_column_header, encoding, 4);
TS_ASSERT_FIELD(struct ts_sbt_column_header, flags, 5);
TS_ASSERT_FIELD(struct ts_sbt_column_header, predictor, 6);
TS_ASSERT_FIELD(struct ts_sbt_column_header, trend, 7);
TS_ASSERT_FIELD(struct ts_sbt_column_header, base, 8);
TS_ASSERT_FIELD(struct ts_sbt_column_header, key, 10);
TS_ASSERT_FIELD(struct ts_sbt_column_header, context, 12);
TS_ASSERT_FIELD(struct ts_sbt_column_header, n_planes, 14);
TS_ASSERT_FIELD(struct ts_sbt_column_header, n_values, 16);
TS_ASSERT_FIELD(struct ts_sbt_column_header, n_bytes, 20);

/* The last bytes of a finished file. */
struct ts_sbt_end_marker {
	char magic[8];
	uint64_t index_off;   /* of the first index block */
	uint64_t index_bytes; /* of all index blocks */
	uint64_t file_bytes;  /* this marker included */
	uint64_t n_blocks;    /* before the index */
	uint32_t reserved;
	uint32_t checksum; /* CRC-32C of the 44 bytes before */
};
TS_ASSERT_SIZE(struct ts_sbt_end_marker, 48);
TS_ASSERT_FIELD(struct ts_sbt_end_marker, index_off, 8);
TS_ASSERT_FIELD(struct ts_sbt_end_marker, index_bytes, 16);
TS_ASSERT_FIELD(struct ts_sbt_end_marker, file_bytes, 24);
TS_ASSERT_FIELD(struct ts_sbt_end_marker, n_blocks, 32);
TS_ASSERT_FIELD(struct ts_sbt_end_marker, reserved, 40);
TS_ASSERT_FIELD(struct ts_sbt_end_marker, checksum, 44);

/* Columns of the types without a row struct. */
enum ts_sbt_list_column {
	TS_SBT_STRING_LENGTH = 1, /* u32 per row */
	TS_SBT_STRING_BYTES = 2,  /* u8: all strings, one after the other */

	TS_SBT_STACK_LENGTH = 1, /* u32 per row: frames */
	TS_SBT_STACK_FLAGS = 2,	 /* u32 per row */
	TS_SBT_STACK_FRAMES = 3, /* u64: all stacks, one after the other */

	TS_SBT_CHECKPOINT_BYTES = 1, /* u8 */

	TS_SBT_ITEM_LENGTH = 1, /* u32 per row */
	TS_SBT_ITEM_BYTES = 2,	/* u8: all items, one after the other */

	TS_SBT_BLOB_LENGTH = 1, /* u32 per row: bytes */
	TS_SBT_BLOB_FLAGS = 2,	/* u32 per row: TS_BLOB_* */
	TS_SBT_BLOB_HASH = 3,	/* two u64 per row */
	TS_SBT_BLOB_BYTES = 4,	/* u8: all blobs, one after the other */
};

/* Limits of a valid file: a writer observes them, and a reader rejects larger numbers. */
#define TS_SBT_MAX_ROWS	     65536u
#define TS_SBT_MAX_COLUMNS   256u
#define TS_SBT_MAX_WIDTH     256u
#define TS_SBT_MAX_RAW_BYTES (72u * 1024 * 1024)
#define TS_SBT_MAX_BLOCKS    (16u * 1024 * 1024)
#define TS_SBT_HEADER_BYTES  sizeof(struct ts_sbt_file_header)
#define TS_SBT_MIN_BLOCK     19u /* a short header */
