/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predicts the values of a column and computes residuals, the differences from the predictions.
 * Writer and reader compute the same predictions from the rows before; FORMAT.md specifies them bit
 * by bit. Private to sbt/.
 *
 * No function fails or allocates. The caller owns all arrays.
 */
#pragma once

#include "sbt/format/column.h"

/*
 * The prediction of a column. `key` and `context` have one index for each row; NULL: all indices
 * are 0.
 */
struct ts_prediction {
	enum ts_sbt_predictor predictor;
	unsigned trend;
	/* Values of the base column. NULL when decoding a column that is its own base. */
	const uint64_t *base;
	const uint16_t *key;
	const uint16_t *context;
	uint32_t n_keys; /* above the highest index */
	uint32_t n_contexts;
};

/*
 * Memory of a prediction: the last base value of each key, and the trend of each context. Zeroed
 * before the first row.
 */
struct ts_prediction_state {
	uint64_t *last;
	uint64_t *trend;
};

/*
 * Computes the residuals of rows [from, from + n). `values` and `base` hold all rows,
 * `ret_residuals` only these.
 */
void ts_predict_encode(const struct ts_prediction *prediction, struct ts_prediction_state *state,
		       const uint64_t *values, uint32_t from, uint32_t n, uint64_t *ret_residuals);

/*
 * Turns, in place, the residuals of rows [from, from + n) into differences from the predictor: adds
 * the trend.
 */
void ts_predict_untrend(const struct ts_prediction *prediction, struct ts_prediction_state *state,
			uint32_t from, uint32_t n, uint64_t *values);

/*
 * Turns, in place, the differences of rows [from, from + n) into values: adds the predictor. `base`
 * holds all rows.
 */
void ts_predict_decode(const struct ts_prediction *prediction, struct ts_prediction_state *state,
		       uint32_t from, uint32_t n, uint64_t *values);

/*
 * Decodes start and end together, from differences to values. The start is predicted from the end
 * of the last row of the same key, the end from the row's own start.
 */
void ts_predict_decode_spans(const uint16_t *key, uint64_t *last, uint32_t from, uint32_t n,
			     uint64_t *starts, uint64_t *ends);

/*
 * Computes for each key the position of its first row when all rows are grouped by key. *ret_starts
 * has room for n_keys. Every key is below n_keys.
 */
void ts_group_starts(const uint16_t *key, uint32_t n, uint32_t n_keys, uint32_t *ret_starts);
