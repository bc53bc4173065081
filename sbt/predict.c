/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predictions. The loops run over an array each and carry little from row to row: how fast a block is
 * read is decided here.
 */

#include "sbt/predict.h"

/* By what a trend moves: the difference, shifted by its sign; at first it is what there was. */
static inline uint64_t trend_next(uint64_t trend, uint64_t value, unsigned shift)
{
	uint64_t step = (uint64_t)((int64_t)(value - trend) >> shift);

	return trend ? trend + step : value;
}

void ts_predict_encode(const struct ts_prediction *prediction, struct ts_prediction_state *state,
		       const uint64_t *values, uint32_t n, uint64_t *ret_residuals)
{
	const uint16_t *key = prediction->key, *context = prediction->context;
	const uint64_t *base = prediction->base;
	uint64_t *last = state->last, *trend = state->trend;
	unsigned shift = prediction->trend - 1;
	uint32_t i;

	switch (prediction->predictor) {
	case TS_SBT_COLUMN:
		for (i = 0; i < n; i++)
			ret_residuals[i] = values[i] - base[i];
		break;
	case TS_SBT_LAST:
		for (i = 0; i < n; i++) {
			uint32_t k = key ? key[i] : 0;

			ret_residuals[i] = values[i] - last[k];
			last[k] = base[i];
		}
		break;
	default:
		memcpy(ret_residuals, values, n * sizeof(*values));
	}
	if (prediction->trend)
		for (i = 0; i < n; i++) {
			uint32_t c = context ? context[i] : 0;
			uint64_t value = ret_residuals[i], expected = trend[c];

			ret_residuals[i] = value - expected;
			trend[c] = trend_next(expected, value, shift);
		}
	for (i = 0; i < n; i++)
		ret_residuals[i] = ts_zigzag(ret_residuals[i]);
}

void ts_predict_untrend(const struct ts_prediction *prediction, struct ts_prediction_state *state,
			uint32_t from, uint32_t n, uint64_t *values)
{
	const uint16_t *context = prediction->context;
	uint64_t *trend = state->trend, expected;
	unsigned shift = prediction->trend - 1;
	uint32_t i;

	if (!prediction->trend) {
		for (i = 0; i < n; i++)
			values[i] = ts_unzigzag(values[i]);
		return;
	}
	if (!context) {
		expected = trend[0];
		for (i = 0; i < n; i++) {
			values[i] = ts_unzigzag(values[i]) + expected;
			expected = trend_next(expected, values[i], shift);
		}
		trend[0] = expected;
		return;
	}
	context += from;
	if (!shift) {
		for (i = 0; i < n; i++) {
			values[i] = ts_unzigzag(values[i]) + trend[context[i]];
			trend[context[i]] = values[i];
		}
		return;
	}
	for (i = 0; i < n; i++) {
		expected = trend[context[i]];
		values[i] = ts_unzigzag(values[i]) + expected;
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
	for (i = 0; i < n; i++) {
		uint32_t k = key ? key[from + i] : 0;

		values[i] += last[k];
		last[k] = base ? base[i] : values[i];
	}
}

void ts_predict_decode_spans(const uint16_t *key, uint64_t *last, uint32_t from, uint32_t n,
			     uint64_t *starts, uint64_t *ends)
{
	uint64_t end = last[0];
	uint32_t i;

	if (key) {
		key += from;
		for (i = 0; i < n; i++) {
			starts[i] += last[key[i]];
			ends[i] += starts[i];
			last[key[i]] = ends[i];
		}
		return;
	}
	for (i = 0; i < n; i++) {
		starts[i] += end;
		end = ends[i] += starts[i];
	}
	last[0] = end;
}

static inline uint16_t follow_mix(uint16_t history, uint32_t index)
{
	return (uint16_t)((history << 4 ^ index * 0x9e3779b1u >> 18) & (TS_SBT_FOLLOW_SLOTS - 1));
}

void ts_follow_encode(struct ts_follow *follow, const uint16_t *key, const uint16_t *values,
		      uint32_t n, uint64_t *ret_codes)
{
	for (uint32_t i = 0; i < n; i++) {
		uint16_t *history = &follow->history[key ? key[i] : 0];
		uint16_t *slot = &follow->slots[*history], index = values[i];

		ret_codes[i] = *slot == index ? 0 : index + 1ul;
		*slot = index;
		*history = follow_mix(*history, index);
	}
}

bool ts_follow_decode(struct ts_follow *follow, const uint16_t *key, uint32_t highest,
		      uint32_t from, uint32_t n, const uint64_t *codes, uint16_t *values)
{
	uint16_t *history = follow->history;

	key = key ? key + from : NULL;
	values += from;
	for (uint32_t i = 0; i < n; i++) {
		uint16_t *h = &history[key ? key[i] : 0], *slot = &follow->slots[*h];

		if (ts_unlikely(codes[i])) {
			if (codes[i] - 1 > highest)
				return false;
			*slot = (uint16_t)(codes[i] - 1);
		}
		values[i] = *slot;
		*h = follow_mix(*h, *slot);
	}
	return true;
}
