/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predictions. The loops run over an array each and carry little from row to row: how fast a block is
 * read is decided here.
 */

#include "sbt/predict.h"

#define FEW_KEYS 4u

/* By what a trend moves: the difference, shifted by its sign; at first it is what there was. */
static inline uint64_t trend_next(uint64_t trend, uint64_t value, unsigned shift)
{
	uint64_t step = (uint64_t)((int64_t)(value - trend) >> shift);

	return trend ? trend + step : value;
}

/* What the predictor leaves. */
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

void ts_predict_encode(const struct ts_prediction *prediction, struct ts_prediction_state *state,
		       const uint64_t *values, uint32_t from, uint32_t n, uint64_t *ret_residuals)
{
	const uint16_t *context = prediction->context;
	uint64_t *trend = state->trend, value, expected;
	unsigned shift = prediction->trend - 1;
	uint32_t i;

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

		/* As long as the key stays, what is remembered need not go through memory. */
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

void ts_group_starts(const uint16_t *key, uint32_t n, uint32_t n_keys, uint32_t *ret_starts)
{
	uint32_t at = 0, n_rows, end;

	memset(ret_starts, 0, n_keys * sizeof(*ret_starts));
	/* Of few keys, counting each one's rows needs no branch. */
	for (uint32_t k = 0; n_keys <= FEW_KEYS && k < n_keys; k++)
		for (uint32_t i = 0; i < n; i++)
			ret_starts[k] += key[i] == k;
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
