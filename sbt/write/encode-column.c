/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes one column into a payload. encode-rows.c, encode.c and writer-session.c call this module;
 * the numbers go through predict.c and column.c. Several predictions are tried on a sample of the
 * rows. The best one encodes all rows, a chunk at a time, so that the numbers stay in the cache.
 *
 * The trial replaces knowledge about the program: whether a kernel takes as long as the last time,
 * or as long as on average, shows in the numbers. The best prediction serves for some blocks,
 * because programs rarely change their behaviour.
 */

#include "sbt/format/block.h"
#include "sbt/write/compress.h"
#include "sbt/write/encode-scaled.h"
#include "sbt/write/entropy.h"

#define CHUNK_ROWS 1024u

/* Minimum length of a plane of bytes that is compressed separately. */
#define MIN_PLANE_VALUES 256u

/* Minimum length of a SCALED column. */
#define MIN_SCALED_VALUES 64u

/*
 * A SCALED column has at least a byte less for this many rows, except at the begin of a file: it
 * takes some ns a row longer to write and to read.
 */
#define MIN_ROWS_A_BYTE 32u

/*
 * A plane of at least this length is a zstd frame with its own statistics, and so are at least
 * MIN_REST_BYTES before or behind a plane: even a few other bytes make the codes of all bytes of a
 * plane longer.
 */
#define MIN_PART_BYTES 512u
#define MIN_REST_BYTES 64u

static int scratch(struct ts_buffer *buffer, uint32_t n, uint64_t **ret_numbers)
{
	uint8_t *at = NULL;
	int r;

	buffer->n = 0;
	r = ts_buffer_reserve(buffer, (size_t)n * sizeof(uint64_t), &at);
	*ret_numbers = (uint64_t *)(void *)at;
	return r;
}

/*
 * Estimates the encoded bits, in units of 1/256: the entropy of each plane of bytes, or the varints
 * if there are few residuals. Turns the residuals into zigzag numbers.
 */
static uint64_t cost(uint64_t *residuals, uint32_t n)
{
	uint64_t all = 0, bits = 0;

	for (uint32_t i = 0; i < n; i++)
		all |= residuals[i] = ts_zigzag(residuals[i]);
	if (n < 512) {
		for (uint32_t i = 0; i < n; i++)
			bits += ts_varint_bytes(residuals[i]) * 8u * 256u;
		return bits;
	}
	for (unsigned shift = 0; shift < 64 && all >> shift; shift += 8) {
		uint32_t counts[256] = {0};

		for (uint32_t i = 0; i < n; i++)
			counts[residuals[i] >> shift & 0xff]++;
		bits += ts_entropy_256(counts, n);
	}
	return bits;
}

static int begin(struct ts_encoder *encoder, const struct ts_prediction *prediction,
		 struct ts_prediction_state *ret_state)
{
	size_t n_state = (size_t)prediction->n_keys + prediction->n_contexts;
	int r = scratch(&encoder->state, (uint32_t)n_state, &ret_state->last);

	if (r)
		return r;
	memset(ret_state->last, 0, n_state * sizeof(uint64_t));
	ret_state->trend = ret_state->last + prediction->n_keys;
	return 0;
}

/*
 * Computes the residuals of the first rows in encoder->sample. If the sample is full, only its
 * second half counts, after the prediction has settled.
 */
static int sample(struct ts_encoder *encoder, const struct ts_prediction *prediction,
		  const uint64_t *values, uint32_t n, uint32_t *ret_from, uint32_t *ret_n)
{
	uint32_t n_sample = n < TS_ENCODER_SAMPLE ? n : TS_ENCODER_SAMPLE;
	struct ts_prediction_state state;
	int r = begin(encoder, prediction, &state);

	if (r)
		return r;
	ts_predict_encode(prediction, &state, values, 0, n_sample, encoder->sample);
	*ret_from = n_sample < TS_ENCODER_SAMPLE ? 0 : n_sample / 2;
	*ret_n = n_sample - *ret_from;
	return 0;
}

/*
 * Sets *ret_best to the prediction with the fewest bits on a sample, or to the last choice while
 * choice->n_left is not 0.
 */
static int choose(struct ts_encoder *encoder, const uint64_t *values, uint32_t n,
		  const struct ts_prediction *predictions, unsigned n_predictions,
		  struct ts_choice *choice, unsigned *ret_best)
{
	uint64_t least = UINT64_MAX, bits;
	uint32_t from, n_sample;

	*ret_best = 0;
	if (n_predictions < 2)
		return 0;
	if (choice && choice->n_predictions == n_predictions && choice->n_left) {
		choice->n_left--;
		*ret_best = choice->best;
		return 0;
	}
	for (unsigned i = 0; i < n_predictions; i++) {
		int r = sample(encoder, &predictions[i], values, n, &from, &n_sample);

		if (r)
			return r;
		bits = cost(encoder->sample + from, n_sample);
		if (bits < least) {
			least = bits;
			*ret_best = i;
		}
	}
	if (choice && n >= TS_ENCODER_SAMPLE) {
		choice->n_predictions = (uint8_t)n_predictions;
		choice->best = (uint8_t)*ret_best;
		choice->n_left = TS_ENCODER_CHOICE_BLOCKS - 1;
		choice->has_planes = false;
	}
	return 0;
}

/* Marks the end of a part if the bytes since the last mark are long enough. */
static void end_part(struct ts_encoder *encoder, size_t end, struct ts_plane_choice *choice)
{
	size_t last = encoder->n_parts ? encoder->parts[encoder->n_parts - 1].end : 0;

	if (end - last >= MIN_REST_BYTES && encoder->n_parts < TS_ENCODER_MAX_PARTS)
		encoder->parts[encoder->n_parts++] = (struct ts_part){end, choice};
}

/* Marks each plane of a column as a part, and the bytes before and behind them. */
static void split(struct ts_encoder *encoder, const struct ts_sbt_column_header *header,
		  struct ts_choice *choice)
{
	size_t at = encoder->raw.n - header->n_bytes;

	if (header->encoding != TS_SBT_PLANES || header->n_values < MIN_PART_BYTES)
		return;
	end_part(encoder, at, NULL);
	for (unsigned plane = 0; plane < header->n_planes; plane++)
		end_part(encoder, at += header->n_values, choice ? &choice->planes[plane] : NULL);
}

static void finish(struct ts_encoder *encoder, uint16_t column,
		   const struct ts_sbt_column_header *header, struct ts_choice *choice)
{
	split(encoder, header, choice);
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

/*
 * Appends the residuals as varints. Returns 0, -ENOMEM, or 1 if the varints take more bytes than
 * the values.
 */
static int put_varints(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
		       const struct ts_prediction *prediction, const uint64_t *values)
{
	size_t before = encoder->raw.n;
	struct ts_prediction_state state;
	uint64_t *residuals;
	int r = scratch(&encoder->residuals, header->n_values, &residuals);

	r = r ?: begin(encoder, prediction, &state);
	if (r)
		return r;
	ts_predict_encode(prediction, &state, values, 0, header->n_values, residuals);
	r = ts_varints_put(&encoder->raw, residuals, header->n_values);
	if (r)
		return r;
	header->encoding = TS_SBT_VARINTS;
	if (encoder->raw.n - before > (size_t)header->n_values * header->width) {
		encoder->raw.n = before;
		return 1;
	}
	header->n_bytes = (uint32_t)(encoder->raw.n - before);
	return 0;
}

/*
 * Encodes header->n_planes planes. Returns as put_varints(), and 1 also if there are too many
 * exceptions.
 */
static int try_planes(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
		      const struct ts_prediction *prediction, const uint64_t *values)
{
	struct ts_planes planes = {
		.n_planes = header->n_planes,
		.is_centred = header->flags & TS_SBT_COLUMN_CENTRED,
		.n_values = header->n_values,
		.exceptions = &encoder->residuals,
	};
	size_t n_bytes = (size_t)header->n_planes * header->n_values, before = encoder->raw.n;
	uint64_t residuals[CHUNK_ROWS];
	struct ts_prediction_state state;
	int r = begin(encoder, prediction, &state);

	r = r ?: ts_buffer_reserve(&encoder->raw, n_bytes, &planes.bytes);
	encoder->residuals.n = 0;
	for (uint32_t i = 0, n; !r && i < header->n_values; i += n) {
		n = header->n_values - i < CHUNK_ROWS ? header->n_values - i : CHUNK_ROWS;
		ts_predict_encode(prediction, &state, values, i, n, residuals);
		r = ts_planes_put(&planes, residuals, n);
	}
	if (r)
		return r;
	if (planes.n_exceptions > ts_planes_max_exceptions(header->n_values) ||
	    n_bytes + encoder->residuals.n > (size_t)header->n_values * header->width)
		return 1;
	encoder->raw.n += n_bytes;
	r = ts_buffer_append(&encoder->raw, encoder->residuals.bytes, encoder->residuals.n);
	header->encoding = TS_SBT_PLANES;
	header->n_bytes = (uint32_t)(encoder->raw.n - before);
	return r;
}

/*
 * Sets the number of planes: that of the last choice if this is still in use, otherwise one
 * computed from a sample.
 */
static int choose_planes(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
			 const struct ts_prediction *prediction, const uint64_t *values,
			 struct ts_choice *choice)
{
	uint32_t from, n;
	bool is_centred;
	int r;

	if (choice && choice->has_planes) {
		header->n_planes = choice->n_planes;
		header->flags |= choice->is_centred ? TS_SBT_COLUMN_CENTRED : 0;
		return 0;
	}
	r = sample(encoder, prediction, values, header->n_values, &from, &n);
	if (r)
		return r;
	header->n_planes = (uint8_t)ts_planes_choose(encoder->sample + from, n, &is_centred);
	header->flags |= is_centred ? TS_SBT_COLUMN_CENTRED : 0;
	return 0;
}

static int put_planes(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
		      const struct ts_prediction *prediction, const uint64_t *values,
		      struct ts_choice *choice)
{
	int r = choose_planes(encoder, header, prediction, values, choice);

	if (r)
		return r;
	for (;; header->n_planes++) {
		r = try_planes(encoder, header, prediction, values);
		if (r != 1 || header->n_planes == TS_PLANES_MAX)
			break;
	}
	if (!r && choice && choice->n_left) {
		choice->has_planes = true;
		choice->is_centred = header->flags & TS_SBT_COLUMN_CENTRED;
		choice->n_planes = header->n_planes;
	}
	if (r) {
		header->flags &= (uint8_t)~TS_SBT_COLUMN_CENTRED;
		header->n_planes = 0;
	}
	return r;
}

/*
 * Returns the bytes that the last column takes when its planes are compressed. Short planes are no
 * parts of their own.
 */
static size_t measure_planes(struct ts_encoder *encoder, const struct ts_sbt_column_header *header)
{
	size_t at = encoder->raw.n - header->n_bytes, n = header->n_values, sum = 0;

	if (n < MIN_PART_BYTES)
		return ts_compress_measure(encoder, encoder->raw.bytes + at, header->n_bytes);

	for (unsigned plane = 0; plane < header->n_planes; plane++, at += n)
		sum += ts_compress_measure(encoder, encoder->raw.bytes + at, n);
	return sum + ts_compress_measure(encoder, encoder->raw.bytes + at, encoder->raw.n - at);
}

static size_t measure_sections(struct ts_encoder *encoder, size_t from, const size_t ends[4],
			       uint32_t n)
{
	size_t sum;

	if (n < MIN_PART_BYTES)
		return ts_compress_measure(encoder, encoder->raw.bytes + from, ends[3] - from);
	sum = ts_compress_measure(encoder, encoder->raw.bytes + from, ends[0] - n - from);
	from = ends[0] - n;
	for (unsigned i = 0; i < 4; from = ends[i++])
		sum += ts_compress_measure(encoder, encoder->raw.bytes + from, ends[i] - from);
	return sum;
}

/* Notes the result of a trial: the next one is later if the result is the same. */
static void keep_trial(struct ts_scaled_choice *choice, bool is_best)
{
	if (!choice->n_wait || is_best != choice->is_best)
		choice->n_wait = TS_ENCODER_CHOICE_BLOCKS;
	if (choice->n_wait < 2 * TS_ENCODER_MOST_BLOCKS)
		choice->n_wait = (uint8_t)(choice->n_wait * 2);
	choice->is_best = is_best;
	choice->n_left = (uint8_t)(choice->n_wait - 1);
}

/* Appends the column as SCALED, with predictions[0]. Returns as ts_encoder_scale(). */
static int scale(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
		 const uint64_t *values, const struct ts_prediction *predictions, uint16_t base,
		 struct ts_choice *choice, bool is_trial, size_t ret_ends[4])
{
	struct ts_prediction_state state;
	uint64_t *residuals;
	int r = scratch(&encoder->residuals, header->n_values, &residuals);

	r = r ?: begin(encoder, &predictions[0], &state);
	if (r)
		return r;
	ts_predict_encode(&predictions[0], &state, values, 0, header->n_values, residuals);
	r = ts_encoder_scale(encoder, header, predictions[1].context, predictions[1].n_contexts,
			     &choice->scaled, is_trial, ret_ends);
	if (r)
		return r;
	header->predictor = (uint8_t)predictions[0].predictor;
	header->base = base;
	header->key = predictions[0].key ? TS_SBT_COLUMN_PLACE : 0;
	return 0;
}

static void end_sections(struct ts_encoder *encoder, const struct ts_sbt_column_header *header,
			 const size_t ends[4], struct ts_choice *choice)
{
	if (header->n_values < MIN_PART_BYTES)
		return;
	/* The column's head belongs to the bytes before it, for it is no plane. */
	end_part(encoder, ends[0] - header->n_values, NULL);
	for (unsigned i = 0; i < 3; i++)
		end_part(encoder, ends[i], &choice->sections[i]);
}

/*
 * Replaces the column, which lies at the payload's end in another encoding, by a SCALED one if that
 * is smaller. `fresh` is the header without an encoding. Returns 0 or -ENOMEM.
 */
static int try_scaled(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
		      struct ts_sbt_column_header fresh, const uint64_t *values,
		      const struct ts_prediction *predictions, uint16_t base,
		      struct ts_choice *choice)
{
	size_t from = encoder->raw.n, ends[4], n;
	bool is_best = false;
	int r = scale(encoder, &fresh, values, predictions, base, choice, true, ends);

	if (r < 0)
		return r;
	if (!r) {
		n = measure_sections(encoder, from, ends, header->n_values);
		encoder->raw.n = from;
		if (!encoder->is_thorough)
			n += header->n_values / MIN_ROWS_A_BYTE;
		is_best = n < measure_planes(encoder, header);
	}
	if (!encoder->is_thorough)
		keep_trial(&choice->scaled, is_best);
	if (!is_best)
		return 0;
	memmove(encoder->raw.bytes + from - header->n_bytes, encoder->raw.bytes + from,
		fresh.n_bytes);
	for (unsigned i = 0; i < 4; i++)
		ends[i] -= header->n_bytes;
	encoder->raw.n = ends[3];
	*header = fresh;
	end_sections(encoder, header, ends, choice);
	return 0;
}

/* Encodes residuals as varints or planes, or the values as RAW if that is not larger. */
static int put_predicted(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
			 const void *values, const uint64_t *numbers,
			 const struct ts_prediction *predictions, const uint16_t *bases,
			 unsigned n_predictions, bool is_list, struct ts_choice *choice)
{
	const struct ts_prediction *best;
	uint32_t n = header->n_values;
	unsigned i;
	int r = choose(encoder, numbers, n, predictions, n_predictions, choice, &i);

	if (r)
		return r;
	best = &predictions[i];
	r = is_list || n < MIN_PLANE_VALUES ? put_varints(encoder, header, best, numbers)
					    : put_planes(encoder, header, best, numbers, choice);
	if (r == 1)
		return put_plain(encoder, header, TS_SBT_RAW, values);
	if (r)
		return r;
	header->predictor = (uint8_t)best->predictor;
	header->trend = (uint8_t)best->trend;
	header->base = bases[i];
	if (best->key)
		header->key = TS_SBT_COLUMN_PLACE;
	if (best->trend && best->context)
		header->context = TS_SBT_COLUMN_SITE;
	return 0;
}

/* Encodes a column of times: SCALED as long as the last trial had this result. */
static int put_times(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
		     const uint64_t *values, const struct ts_prediction *predictions,
		     const uint16_t *bases, unsigned n_predictions, struct ts_choice *choice)
{
	const struct ts_sbt_column_header fresh = *header;
	bool is_trial = !choice->scaled.n_left || encoder->is_thorough;
	size_t ends[4];
	int r;

	choice->scaled.n_left -= !is_trial;
	if (!is_trial && choice->scaled.is_best) {
		r = scale(encoder, header, values, predictions, bases[0], choice, false, ends);
		if (!r)
			end_sections(encoder, header, ends, choice);
		if (r != 1)
			return r;
	}
	r = put_predicted(encoder, header, values, values, predictions, bases, n_predictions, false,
			  choice);
	if (r || !is_trial)
		return r;
	return try_scaled(encoder, header, fresh, values, predictions, bases[0], choice);
}

static int put_residuals(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
			 const void *values, const struct ts_prediction *predictions,
			 const uint16_t *bases, unsigned n_predictions, bool is_list,
			 struct ts_choice *choice)
{
	uint32_t n = header->n_values;
	const uint64_t *numbers = values;
	struct ts_prediction own[8];
	uint64_t *wide;
	int r;

	if (header->width != 8) {
		r = scratch(&encoder->values, n, &wide);
		if (r)
			return r;
		ts_column_load(wide, values, n, header->width,
			       header->flags & TS_SBT_COLUMN_SIGNED);
		numbers = wide;
	}
	for (unsigned i = 0; i < n_predictions; i++) {
		own[i] = predictions[i];
		if (bases[i] == header->id)
			own[i].base = numbers;
	}
	if (choice && choice->may_scale && encoder->is_short && n >= MIN_SCALED_VALUES)
		return put_times(encoder, header, numbers, own, bases, n_predictions, choice);
	return put_predicted(encoder, header, values, numbers, own, bases, n_predictions, is_list,
			     choice);
}

int ts_encoder_constant(struct ts_encoder *encoder, uint16_t column,
			struct ts_sbt_column_header *header, const void *value)
{
	int r = put_plain(encoder, header, TS_SBT_CONSTANT, value);

	if (!r)
		finish(encoder, column, header, NULL);
	return r;
}

int ts_encoder_predicted(struct ts_encoder *encoder, uint16_t column,
			 struct ts_sbt_column_header *header, const void *values,
			 const struct ts_prediction *predictions, const uint16_t *bases,
			 unsigned n_predictions, struct ts_choice *choice)
{
	uint16_t width = header->width;
	uint32_t n = header->n_values;
	int r;

	if (n > 1 && ts_column_is_constant(values, n, width))
		r = put_plain(encoder, header, TS_SBT_CONSTANT, values);
	else if (width != 1 && width != 2 && width != 4 && width != 8)
		r = put_plain(encoder, header, TS_SBT_RAW, values);
	else
		r = put_residuals(encoder, header, values, predictions, bases, n_predictions, false,
				  choice);
	if (!r)
		finish(encoder, column, header, choice);
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
		r = put_residuals(encoder, &header, values, &last, &id, 1, true, NULL);
	if (!r)
		finish(encoder, column, &header, NULL);
	return r;
}

/* Groups an index's values by key: all values of key 0 in order, then those of key 1, and so on. */
static int group(struct ts_encoder *encoder, const uint16_t *values, uint32_t n,
		 const uint16_t *key, uint32_t n_keys, const uint16_t **ret_grouped)
{
	uint32_t *starts;
	uint16_t *grouped;
	uint8_t *at;
	int r;

	encoder->scratch.n = 0;
	r = ts_buffer_reserve(&encoder->scratch, n_keys * sizeof(*starts) + n * sizeof(*grouped),
			      &at);
	if (r)
		return r;
	starts = (uint32_t *)(void *)at;
	grouped = (uint16_t *)(void *)(starts + n_keys);
	ts_group_starts(key, n, n_keys, starts);
	for (uint32_t i = 0; i < n;) {
		uint64_t same = key[i] * UINT64_C(0x0001000100010001), keys;
		uint32_t k = key[i], next = starts[k];

		/* Most rows have the same key as the row before. */
		for (; i + 4 <= n; i += 4, next += 4) {
			memcpy(&keys, key + i, sizeof(keys));
			if (keys != same)
				break;
			memcpy(grouped + next, values + i, sizeof(keys));
		}
		while (i < n && key[i] == k)
			grouped[next++] = values[i++];
		starts[k] = next;
	}
	*ret_grouped = grouped;
	return 0;
}

/* Stores the values in one plane; all are below 256. */
static int put_narrow(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
		      const uint16_t *values)
{
	uint8_t *at;
	int r = ts_buffer_reserve(&encoder->raw, header->n_values, &at);

	if (r)
		return r;
	ts_index_to_plane(values, header->n_values, at);
	encoder->raw.n += header->n_values;
	header->encoding = TS_SBT_PLANES;
	header->n_planes = 1;
	header->n_bytes = header->n_values;
	return 0;
}

/* Returns true if so many values are not 0 that they could not be exceptions to 0. */
static bool is_various(const uint16_t *values, uint32_t n)
{
	uint32_t n_other = 0, max = ts_planes_max_exceptions(n);

	for (uint32_t i = 0; i < n && n_other <= max; i++)
		n_other += !!values[i];
	return n_other > max;
}

int ts_encoder_index(struct ts_encoder *encoder, uint16_t column,
		     struct ts_sbt_column_header *header, const uint16_t *values,
		     const uint16_t *key, uint32_t n_keys)
{
	static const struct ts_prediction plain = {.predictor = TS_SBT_NONE,
						   .n_keys = 1,
						   .n_contexts = 1};
	static const uint16_t no_base;
	uint16_t highest = header->base;
	uint32_t n = header->n_values;
	int r = 0;

	if (key)
		r = group(encoder, values, n, key, n_keys, &values);
	if (!r && highest < 256 && n >= MIN_PLANE_VALUES && is_various(values, n))
		r = put_narrow(encoder, header, values);
	else
		r = r ?: put_residuals(encoder, header, values, &plain, &no_base, 1, false, NULL);
	if (r)
		return r;
	header->base = highest;
	if (key) {
		header->predictor = TS_SBT_GROUPED;
		header->key = TS_SBT_COLUMN_PLACE;
	}
	finish(encoder, column, header, NULL);
	return 0;
}
