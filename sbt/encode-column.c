/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One column into a payload: which prediction suits it is tried on a part of its rows, then all of them are
 * encoded by the best. Trying costs little and spares the writer knowing what a program does: whether a kernel takes as
 * long as the last time, or as long as usual, shows in its numbers.
 */

#include "sbt/block.h"

/* Rows to try predictions on; the latter half counts, when they have settled. */
#define SAMPLE_ROWS 2048u

/* A part of a payload that is at least so long gets compression statistics of its own. */
#define MIN_PART_BYTES (16u * 1024)

static int scratch(struct ts_buffer *buffer, uint32_t n, uint64_t **ret_numbers)
{
	uint8_t *at;
	int r;

	buffer->n = 0;
	r = ts_buffer_reserve(buffer, (size_t)n * sizeof(uint64_t), &at);
	*ret_numbers = (uint64_t *)(void *)at;
	return r;
}

/* log2 in 1/256: exact for powers of two, at most 0.09 too low between them. */
static uint64_t log2_256(uint32_t value)
{
	unsigned e = (unsigned)(31 - __builtin_clz(value));

	return (e << 8) + ((value << (31 - e) & 0x7fffffff) >> 23);
}

/* Bits that these would take, about, in 1/256: the entropy of each plane of bytes, or varints where there are few. */
static uint64_t cost(const uint64_t *residuals, uint32_t n)
{
	uint64_t all = 0, bits = 0;

	if (n < 512) {
		for (uint32_t i = 0; i < n; i++)
			bits += ts_varint_bytes(residuals[i]) * 8u * 256u;
		return bits;
	}
	for (uint32_t i = 0; i < n; i++)
		all |= residuals[i];
	for (unsigned shift = 0; shift < 64 && all >> shift; shift += 8) {
		uint32_t counts[256] = {0};

		for (uint32_t i = 0; i < n; i++)
			counts[residuals[i] >> shift & 0xff]++;
		bits += n * log2_256(n);
		for (unsigned i = 0; i < 256; i++)
			if (counts[i])
				bits -= counts[i] * log2_256(counts[i]);
	}
	return bits;
}

static int predict(struct ts_encoder *encoder, const struct ts_prediction *prediction,
		   const uint64_t *values, uint32_t n, uint64_t *residuals)
{
	size_t n_state = (size_t)prediction->n_keys + prediction->n_contexts;
	struct ts_prediction_state state;
	int r = scratch(&encoder->state, (uint32_t)n_state, &state.last);

	if (r)
		return r;
	memset(state.last, 0, n_state * sizeof(uint64_t));
	state.trend = state.last + prediction->n_keys;
	ts_predict_encode(prediction, &state, values, n, residuals);
	return 0;
}

/* *ret_best: the prediction by which a sample takes the fewest bits. */
static int choose(struct ts_encoder *encoder, const uint64_t *values, uint32_t n,
		  const struct ts_prediction *predictions, unsigned n_predictions,
		  uint64_t *residuals, unsigned *ret_best)
{
	uint32_t n_sample = n < SAMPLE_ROWS ? n : SAMPLE_ROWS;
	uint32_t skip = n_sample < SAMPLE_ROWS ? 0 : n_sample / 2;
	uint64_t least = UINT64_MAX;

	*ret_best = 0;
	for (unsigned i = 0; n_predictions > 1 && i < n_predictions; i++) {
		int r = predict(encoder, &predictions[i], values, n_sample, residuals);
		uint64_t bits;

		if (r)
			return r;
		bits = cost(residuals + skip, n_sample - skip);
		if (bits < least) {
			least = bits;
			*ret_best = i;
		}
	}
	return 0;
}

/* Marks the ends of a column's planes, where what lies before is worth it. */
static void split(struct ts_encoder *encoder, const struct ts_sbt_column_header *header)
{
	size_t at = encoder->raw.n - header->n_bytes, last, step = header->n_bytes;

	if (header->encoding == TS_SBT_PLANES)
		step = header->n_values;
	for (;;) {
		last = encoder->n_splits ? encoder->splits[encoder->n_splits - 1] : 0;
		if (at - last >= MIN_PART_BYTES && encoder->n_splits < TS_ENCODER_MAX_SPLITS)
			encoder->splits[encoder->n_splits++] = (uint32_t)at;
		if (at >= encoder->raw.n || !step)
			return;
		at += step;
	}
}

static void finish(struct ts_encoder *encoder, uint16_t column,
		   const struct ts_sbt_column_header *header)
{
	split(encoder, header);
	memcpy(encoder->raw.bytes + column * sizeof(*header), header, sizeof(*header));
}

static int put_plain(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
		     enum ts_sbt_encoding encoding, const void *values)
{
	size_t n_bytes = (encoding == TS_SBT_RAW ? (size_t)header->n_values : 1) * header->width;

	header->encoding = (uint8_t)encoding;
	header->n_bytes = (uint32_t)n_bytes;
	return ts_buffer_append(&encoder->raw, values, n_bytes);
}

static int put_residuals(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
			 const void *values, const struct ts_prediction *predictions,
			 const uint16_t *bases, unsigned n_predictions, bool is_list)
{
	uint32_t n = header->n_values;
	const uint64_t *numbers = values;
	uint64_t *residuals, *wide;
	struct ts_prediction own[8];
	unsigned best;
	int r = scratch(&encoder->residuals, n, &residuals);

	if (!r && header->width != 8) {
		r = scratch(&encoder->values, n, &wide);
		numbers = wide;
	}
	if (r)
		return r;
	if (header->width != 8)
		ts_column_load(wide, values, n, header->width,
			       header->flags & TS_SBT_COLUMN_SIGNED);
	for (unsigned i = 0; i < n_predictions; i++) {
		own[i] = predictions[i];
		if (bases[i] == header->id)
			own[i].base = numbers;
	}
	r = choose(encoder, numbers, n, own, n_predictions, residuals, &best);
	r = r ?: predict(encoder, &own[best], numbers, n, residuals);
	r = r
		    ?: ts_residuals_encode(&encoder->raw, residuals, n, header->width, is_list,
					   &header->encoding, &header->n_bytes);
	if (r)
		return r;
	if (header->encoding == TS_SBT_RAW)
		return put_plain(encoder, header, TS_SBT_RAW, values);
	header->predictor = (uint8_t)own[best].predictor;
	header->trend = (uint8_t)own[best].trend;
	header->base = bases[best];
	if (own[best].key)
		header->key = TS_SBT_COLUMN_PLACE;
	if (own[best].trend && own[best].context)
		header->context = TS_SBT_COLUMN_SITE;
	return 0;
}

int ts_encoder_constant(struct ts_encoder *encoder, uint16_t column,
			struct ts_sbt_column_header *header, const void *value)
{
	int r = put_plain(encoder, header, TS_SBT_CONSTANT, value);

	if (!r)
		finish(encoder, column, header);
	return r;
}

int ts_encoder_predicted(struct ts_encoder *encoder, uint16_t column,
			 struct ts_sbt_column_header *header, const void *values,
			 const struct ts_prediction *predictions, const uint16_t *bases,
			 unsigned n_predictions)
{
	uint16_t width = header->width;
	uint32_t n = header->n_values;
	int r;

	if (n > 1 && ts_column_is_constant(values, n, width))
		r = put_plain(encoder, header, TS_SBT_CONSTANT, values);
	else if (width != 1 && width != 2 && width != 4 && width != 8)
		r = put_plain(encoder, header, TS_SBT_RAW, values);
	else
		r = put_residuals(encoder, header, values, predictions, bases, n_predictions,
				  false);
	if (!r)
		finish(encoder, column, header);
	return r;
}

int ts_encoder_column(struct ts_encoder *encoder, uint16_t column, uint16_t id, const void *values,
		      uint32_t n_values, uint16_t width, bool is_signed)
{
	struct ts_sbt_column_header header = {
		.id = id,
		.width = width,
		.flags = is_signed ? TS_SBT_COLUMN_SIGNED : 0,
		.n_values = n_values,
	};
	struct ts_prediction last = {.predictor = TS_SBT_LAST, .n_keys = 1};
	int r;

	if (n_values > 1 && ts_column_is_constant(values, n_values, width))
		r = put_plain(encoder, &header, TS_SBT_CONSTANT, values);
	else if (width == 1 || !n_values)
		r = put_plain(encoder, &header, TS_SBT_RAW, values);
	else
		r = put_residuals(encoder, &header, values, &last, &id, 1, true);
	if (!r)
		finish(encoder, column, &header);
	return r;
}

int ts_encoder_index(struct ts_encoder *encoder, uint16_t column,
		     struct ts_sbt_column_header *header, const uint16_t *values,
		     const uint16_t *key, uint32_t n_keys)
{
	uint32_t n = header->n_values;
	uint64_t *codes;
	uint8_t *at;
	int r = scratch(&encoder->residuals, n, &codes);

	encoder->state.n = 0;
	r = r ?: ts_buffer_reserve(&encoder->state, n_keys * sizeof(uint16_t), &at);
	if (r)
		return r;
	memset(at, 0, n_keys * sizeof(uint16_t));
	memset(encoder->follow.slots, 0, sizeof(encoder->follow.slots));
	encoder->follow.history = (uint16_t *)(void *)at;
	ts_follow_encode(&encoder->follow, key, values, n, codes);
	r = ts_residuals_encode(&encoder->raw, codes, n, sizeof(*values), false, &header->encoding,
				&header->n_bytes);
	if (r)
		return r;
	if (header->encoding == TS_SBT_RAW) {
		r = put_plain(encoder, header, TS_SBT_RAW, values);
	} else {
		header->predictor = TS_SBT_FOLLOW;
		header->key = key ? TS_SBT_COLUMN_PLACE : 0;
	}
	if (!r)
		finish(encoder, column, header);
	return r;
}
