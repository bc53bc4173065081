/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short blocks: another form of a block in a file, with a header of 20 to 60 bytes and a short
 * column directory. FORMAT.md, "Short blocks", specifies both. In memory, a short block is a block
 * as any other: struct ts_sbt_block_header, and a payload with 24 bytes per column. Only its
 * `short_bytes` is above 0. Private to sbt/.
 */
#pragma once

#include "sbt/buffer.h"
#include "sbt/format.h"

/* The longest header that a reader accepts; no writer makes one as long. */
#define TS_SHORT_MAX_HEADER 96u

/* A block with a larger payload is not short. */
#define TS_SHORT_MAX_RAW_BYTES (64u * 1024)

/*
 * Checks a header of 96 bytes, or only the limits of any header. Returns NULL, or the reason why
 * the header is invalid.
 */
const char *ts_block_header_check(const struct ts_sbt_block_header *header);
const char *ts_block_header_limits(const struct ts_sbt_block_header *header);

/*
 * Encodes a header, with both checksums, to `to`, and sets header->short_bytes to the number of its
 * bytes, which it returns. The header's payload_checksum is right already.
 */
unsigned ts_short_header_put(struct ts_sbt_block_header *header, uint8_t to[TS_SHORT_MAX_HEADER]);

/*
 * Reads and checks the header of a block of either form. `n` bytes of the file lie at `bytes`; 96
 * are enough. Returns 0, TS_SBT_E_END if the header does not end within them, or TS_SBT_E_CORRUPT
 * with *ret_why. `*ret_header` changes in all cases.
 */
int ts_block_header_parse(const uint8_t *bytes, size_t n, struct ts_sbt_block_header *ret_header,
			  const char **ret_why);

/* Returns true if the 4 bytes may begin the header of a block of either form. */
bool ts_block_is_magic(const uint8_t bytes[4]);

/*
 * Turns the payload `raw` into a short payload, in place. *ret_saved is the number of bytes by
 * which the columns moved to the front. Returns false if a short payload would not be shorter; the
 * payload is unchanged then.
 */
bool ts_short_payload_put(struct ts_buffer *raw, uint16_t n_columns, uint32_t n_rows,
			  size_t *ret_saved);

/*
 * Restores the payload of header->raw_bytes from a short payload of `n` bytes. Returns NULL, or the
 * reason why the short payload is invalid.
 */
const char *ts_short_payload_expand(const struct ts_sbt_block_header *header, const uint8_t *bytes,
				    size_t n, uint8_t *raw);
