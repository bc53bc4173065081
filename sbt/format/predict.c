/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predictions, see predict.h. encode-column.c and decode-columns.c call this module. Each loop runs
 * over one array and carries little from row to row, because these loops decide how fast a block is
 * read.
 */

#include "sbt/format/predict.h"
#include "sbt/format/wide.h"

#define FEW_KEYS   4u
#define COUNT_ROWS 32768u

/*
 * Moves a trend towards `value` by their difference, shifted right by `shift`. A trend of 0 becomes
 * the value.
 */
static inline uint64_t trend_next(uint64_t trend, uint64_t value, unsigned shift)
{
	uint64_t step = (uint64_t)((int64_t)(value - trend) >> shift);

	return trend ? trend + step : value;
}

/* Subtracts the predictor from the values. */
static void take_prediction(const struct ts_prediction *prediction, uint64_t *last,
			    const uint64_t *values, uint32_t from, uint32_t n,
			    uint64_t *restrict ret)
{
	const uint16_t *key = prediction->key;
	const uint64_t *base = prediction->base;
	uint32_t i;

	values += from;
	switch (prediction->predictor) {
	case TS_SBT_COLUMN:
		base += from;
		for (i = 0; i < n; i++)
			ret[i] = values[i] - base[i];
		return;
	case TS_SBT_LAST:
		base += from;
		if (key) {
			key += from;
			for (i = 0; i < n; i++) {
				ret[i] = values[i] - last[key[i]];
				last[key[i]] = base[i];
			}
			return;
		}
		if (n)
			ret[0] = values[0] - (from ? base[-1] : 0);
		for (i = 1; i < n; i++)
			ret[i] = values[i] - base[i - 1];
		return;
	default:
		memcpy(ret, values, n * sizeof(*values));
	}
}

/*
 * Subtracts predictor and trend in one loop. Most columns of timestamps have such a prediction.
 * Returns false if the function has no loop for this prediction.
 */
static bool take_both(const struct ts_prediction *prediction, struct ts_prediction_state *state,
		      const uint64_t *restrict values, uint32_t n, const uint64_t *restrict base,
		      const uint16_t *restrict key, const uint16_t *restrict context,
		      uint64_t *restrict ret)
{
	uint64_t *restrict trend = state->trend, *restrict last = state->last, value;
	unsigned shift = prediction->trend - 1;
	uint32_t i;

	if (prediction->predictor == TS_SBT_COLUMN && !shift) {
		for (i = 0; i < n; i++) {
			value = values[i] - base[i];
			ret[i] = value - trend[context[i]];
			trend[context[i]] = value;
		}
		return true;
	}
	if (prediction->predictor == TS_SBT_COLUMN) {
		for (i = 0; i < n; i++) {
			uint64_t expected = trend[context[i]];

			value = values[i] - base[i];
			ret[i] = value - expected;
			trend[context[i]] = trend_next(expected, value, shift);
		}
		return true;
	}
	if (prediction->predictor != TS_SBT_LAST || !key)
		return false;
	for (i = 0; i < n; i++) {
		uint64_t expected = trend[context[i]];

		value = values[i] - last[key[i]];
		last[key[i]] = base[i];
		ret[i] = value - expected;
		trend[context[i]] = trend_next(expected, value, shift);
	}
	return true;
}

void ts_predict_encode(const struct ts_prediction *prediction, struct ts_prediction_state *state,
		       const uint64_t *values, uint32_t from, uint32_t n, uint64_t *ret_residuals)
{
	const uint16_t *context = prediction->context;
	uint64_t *trend = state->trend, value, expected;
	unsigned shift = prediction->trend - 1;
	uint32_t i;

	if (prediction->trend && context &&
	    take_both(prediction, state, values + from, n,
		      prediction->base ? prediction->base + from : NULL,
		      prediction->key ? prediction->key + from : NULL, context + from,
		      ret_residuals))
		return;
	take_prediction(prediction, state->last, values, from, n, ret_residuals);
	if (!prediction->trend)
		return;
	if (!context) {
		expected = trend[0];
		for (i = 0; i < n; i++) {
			value = ret_residuals[i];
			ret_residuals[i] = value - expected;
			expected = trend_next(expected, value, shift);
		}
		trend[0] = expected;
		return;
	}
	context += from;
	for (i = 0; i < n; i++) {
		value = ret_residuals[i];
		expected = trend[context[i]];
		ret_residuals[i] = value - expected;
		trend[context[i]] = trend_next(expected, value, shift);
	}
}

void ts_predict_untrend(const struct ts_prediction *prediction, struct ts_prediction_state *state,
			uint32_t from, uint32_t n, uint64_t *values)
{
	const uint16_t *context = prediction->context;
	uint64_t *trend = state->trend, expected;
	unsigned shift = prediction->trend - 1;
	uint32_t i;

	if (!prediction->trend)
		return;
	if (!context) {
		expected = trend[0];
		for (i = 0; i < n; i++) {
			values[i] += expected;
			expected = trend_next(expected, values[i], shift);
		}
		trend[0] = expected;
		return;
	}
	context += from;
	if (!shift) {
		for (i = 0; i < n; i++)
			trend[context[i]] = values[i] += trend[context[i]];
		return;
	}
	for (i = 0; i < n; i++) {
		expected = trend[context[i]];
		values[i] += expected;
		trend[context[i]] = trend_next(expected, values[i], shift);
	}
}

void ts_predict_decode(const struct ts_prediction *prediction, struct ts_prediction_state *state,
		       uint32_t from, uint32_t n, uint64_t *values)
{
	const uint16_t *key = prediction->key;
	const uint64_t *base = prediction->base ? prediction->base + from : NULL;
	uint64_t *last = state->last, value;
	uint32_t i;

	if (prediction->predictor == TS_SBT_NONE)
		return;
	if (prediction->predictor == TS_SBT_COLUMN) {
		for (i = 0; i < n; i++)
			values[i] += base[i];
		return;
	}
	if (!base && !key) {
		value = last[0];
		for (i = 0; i < n; i++)
			values[i] = value += values[i];
		last[0] = value;
		return;
	}
	key = key ? key + from : NULL;
	for (i = 0; i < n;) {
		uint32_t k = key ? key[i] : 0;

		/* While the key stays the same, the last value stays in a register. */
		value = last[k];
		do {
			values[i] += value;
			value = base ? base[i] : values[i];
		} while (++i < n && (!key || key[i] == k));
		last[k] = value;
	}
}

void ts_predict_decode_spans(const uint16_t *key, uint64_t *last, uint32_t from, uint32_t n,
			     uint64_t *starts, uint64_t *ends)
{
	uint64_t end = last[0];
	uint32_t i;

	if (key) {
		key += from;
		for (i = 0; i < n;) {
			uint16_t k = key[i];

			end = last[k];
			do {
				starts[i] += end;
				end = ends[i] += starts[i];
			} while (++i < n && key[i] == k);
			last[k] = end;
		}
		return;
	}
	for (i = 0; i < n; i++) {
		starts[i] += end;
		end = ends[i] += starts[i];
	}
	last[0] = end;
}

/*
 * Counts the rows with key `k`. The inner counter is as wide as the keys, so that the loop
 * vectorises; COUNT_ROWS rows cannot overflow it.
 */
static TS_ALWAYS_INLINE void count_key(const uint16_t *key, uint32_t n, uint16_t k, uint32_t *ret_n)
{
	uint32_t n_all = 0;

	for (uint32_t i = 0, m; i < n; i += m) {
		uint16_t n_some = 0;

		m = n - i < COUNT_ROWS ? n - i : COUNT_ROWS;
		for (uint32_t j = i; j < i + m; j++)
			n_some = (uint16_t)(n_some + (key[j] == k));
		n_all += n_some;
	}
	*ret_n = n_all;
}

TS_WIDE_OR_NOT(count_key, (const uint16_t *key, uint32_t n, uint16_t k, uint32_t *ret_n),
	       (key, n, k, ret_n))

void ts_group_starts(const uint16_t *key, uint32_t n, uint32_t n_keys, uint32_t *ret_starts)
{
	uint32_t at = 0, n_rows, end;

	memset(ret_starts, 0, n_keys * sizeof(*ret_starts));
	/* Up to FEW_KEYS keys, one counting loop per key needs no branch. */
	for (uint32_t k = 0; n_keys <= FEW_KEYS && k < n_keys; k++)
		count_key_fast(key, n, (uint16_t)k, &ret_starts[k]);
	for (uint32_t i = 0; n_keys > FEW_KEYS && i < n; i = end) {
		for (end = i + 1; end < n && key[end] == key[i];)
			end++;
		ret_starts[key[i]] += end - i;
	}
	for (uint32_t k = 0; k < n_keys; k++, at += n_rows) {
		n_rows = ret_starts[k];
		ret_starts[k] = at;
	}
}
