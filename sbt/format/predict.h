/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a value is expected to be, and the difference from that: the residual. Writer and reader come to the same
 * expectation from the rows before; FORMAT.md says how, to the bit. Private to sbt/.
 */
#pragma once

#include "sbt/format/column.h"

/* How a column is predicted; `key` and `context` are indices of the rows, NULL: all are 0. */
struct ts_prediction {
	enum ts_sbt_predictor predictor;
	unsigned trend;
	const uint64_t
		*base; /* values of the base column; decoding a column that is its own: NULL */
	const uint16_t *key;
	const uint16_t *context;
	uint32_t n_keys; /* above any index */
	uint32_t n_contexts;
};

/* What is remembered: of each key the last value of the base, of each context the trend. Zeroed to begin with. */
struct ts_prediction_state {
	uint64_t *last;
	uint64_t *trend;
};

/* Rows [from, from + n): values to residuals. `values` and `base` are those of all rows, `ret_residuals` of these. */
void ts_predict_encode(const struct ts_prediction *prediction, struct ts_prediction_state *state,
		       const uint64_t *values, uint32_t from, uint32_t n, uint64_t *ret_residuals);

/* In place: residuals of rows [from, from + n) to the differences from the predictor: the trend is put back. */
void ts_predict_untrend(const struct ts_prediction *prediction, struct ts_prediction_state *state,
			uint32_t from, uint32_t n, uint64_t *values);

/* In place: differences of rows [from, from + n) to values. `base` is that of all rows. */
void ts_predict_decode(const struct ts_prediction *prediction, struct ts_prediction_state *state,
		       uint32_t from, uint32_t n, uint64_t *values);

/*
 * For rows whose start follows from the end of the last one of the same key, and whose end from their own start:
 * differences of both to values.
 */
void ts_predict_decode_spans(const uint16_t *key, uint64_t *last, uint32_t from, uint32_t n,
			     uint64_t *starts, uint64_t *ends);

/*
 * Of each key, where its rows begin when all rows lie by key: *ret_starts has room for n_keys. Every key is below n_keys.
 */
void ts_group_starts(const uint16_t *key, uint32_t n, uint32_t n_keys, uint32_t *ret_starts);
