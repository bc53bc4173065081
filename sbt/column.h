/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of values to bytes and back: the encodings of format.h. Private to sbt/.
 */
#pragma once

#include "sbt/buffer.h"
#include "sbt/format.h"

#define TS_VARINT_MAX_BYTES 10

/*
 * Appends the encoded values to `out` and tells how in *ret_header (id excepted). `base` NULL: DELTA is
 * tried, else DIFF against it. Whatever comes out no smaller than the values themselves stays RAW.
 * 0 or -ENOMEM.
 */
int ts_column_encode(struct ts_buffer *out, const void *values, uint32_t n_values, uint16_t width,
		     bool is_signed, const uint64_t *base, struct ts_sbt_column_header *ret_header);

/* Where decoding of one column stands. Positions are offsets into the payload, which may move. */
struct ts_column_decoder {
	uint32_t pos;
	uint32_t end;
	uint64_t previous;
	uint32_t n_left;
	uint16_t width;
	uint8_t encoding;
	uint8_t is_signed;
};

/*
 * Checks a column's header against what its encoding allows. `pos` is where its bytes begin; the
 * caller has checked that they lie in the payload. NULL: fine, else what is wrong.
 */
const char *ts_column_decoder_init(struct ts_column_decoder *decoder,
				   const struct ts_sbt_column_header *header, uint32_t pos);

/*
 * Decodes the next n values to `to`, `stride` bytes apart; for DIFF the base values lie at `base`, as far apart.
 * NULL: fine, else what is wrong.
 */
const char *ts_column_decode(struct ts_column_decoder *decoder, const uint8_t *payload, uint8_t *to,
			     size_t stride, const uint8_t *base, uint32_t n);

/* After the last value: nothing may be left over. */
const char *ts_column_decoder_finish(const struct ts_column_decoder *decoder);
