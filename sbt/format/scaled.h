/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encoding SCALED, for residuals that spread around a value which depends on the row's item: a
 * kernel's duration around that of its kind. Each item has a centre and a scale. The difference
 * from the centre, divided by the scale, takes one byte and has nearly one distribution for all
 * items. The bits below the scale are noise and stored as they are. Times of a device are multiples
 * of its clock's tick, plus or minus what the conversion of clocks adds: the tick is the column's
 * quantum, and the rest a remainder. FORMAT.md specifies the bytes. Private to sbt/.
 *
 * A function that reads returns NULL on success, else a literal with the reason. Nothing here is
 * thread-safe.
 */
#pragma once

#include "sbt/format/column.h"

#define TS_SCALED_MAX_SHIFT   32u
#define TS_SCALED_MAX_QUANTUM (UINT64_C(1) << 24)

/* Centre and scale of one item, both in quanta. */
struct ts_scale {
	uint64_t centre;
	uint32_t shift; /* log2 of the scale */
};

/* The parameters of a column. */
struct ts_scaled {
	uint64_t quantum; /* above 0 */
	bool has_remainders;
	const uint16_t *context; /* item of each row; NULL: one item */
	uint32_t n_contexts;
	struct ts_scale *scales; /* of each item */
};

/* The memory into which a column is written, and the ends of its first sections in `out`. */
struct ts_scaled_output {
	struct ts_buffer *out;
	struct ts_buffer *low;	      /* working memory */
	struct ts_buffer *exceptions; /* working memory */
	size_t plane_end;
	size_t remainders_end;
	size_t low_end;
};

/*
 * Divides a residual by the quantum, rounded to nearest. The remainder is *ret_remainder, negative
 * if rounded up.
 */
uint64_t ts_scaled_quotient(uint64_t residual, uint64_t quantum, int64_t *ret_remainder);

/* Divides numbers in place, rounded to nearest. Returns how many have a remainder. */
uint32_t ts_scaled_divide(uint64_t *numbers, uint32_t n, uint64_t quantum);

/*
 * Appends a column of `n` residuals. Returns 0, -ENOMEM, or 1 if there would be too many
 * exceptions; output->out is then unchanged.
 */
int ts_scaled_put(const struct ts_scaled *scaled, const uint64_t *residuals, uint32_t n,
		  struct ts_scaled_output *output);

/* The reading position in a column. */
struct ts_scaled_numbers {
	struct ts_scaled scaled;
	uint32_t n_values;
	uint32_t n_done;
	const uint8_t *plane;
	const uint8_t *remainders;
	const uint8_t *low;
	size_t n_low;
	uint64_t low_bit; /* the next one */
	const uint8_t *p; /* the next exception */
	const uint8_t *end;
	uint64_t exception; /* row of the next exception; n_values: no more */
	uint64_t more;	    /* what the exception adds, see FORMAT.md */
};

/*
 * Starts reading. `bytes` are the column's n_bytes, and the header is checked. `scaled` names the
 * items of the rows, with memory for n_contexts scales, which this function fills. Both must
 * outlive *ret_numbers.
 */
const char *ts_scaled_init(struct ts_scaled_numbers *ret_numbers, const struct ts_scaled *scaled,
			   const struct ts_sbt_column_header *header, const uint8_t *bytes);

/* Reads the next `n` residuals. The caller ensures that n_values has that many left. */
const char *ts_scaled_next(struct ts_scaled_numbers *numbers, uint64_t *to, uint32_t n);

/* Checks, after the last residual, that no bytes are left. */
const char *ts_scaled_finish(const struct ts_scaled_numbers *numbers);
