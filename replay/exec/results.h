/* SPDX-License-Identifier: Apache-2.0 */
/* Results of a run, and their comparison with another run's results. */
#pragma once

#include "proto/abi/hash.h"
#include "replay/exec/exec.h"

struct ts_exec_result {
	uint64_t kind;	   /* enum ts_exec_result_kind */
	uint64_t sequence; /* at the end: 0 */
	uint64_t op_id;
	uint64_t address;
	uint64_t n_bytes;
	struct ts_hash128 hash;
};

/*
 * Adds a result and sets its hash. If this result is the first that differs from `before`, sets
 * *first and keeps the result's bytes. Also keeps the bytes if the options request this result.
 * Returns 0, -ENOMEM, or -E2BIG at TS_EXEC_MAX_RESULTS.
 */
int ts_exec_results_note(struct ts_exec_results *results, const struct ts_exec_results *before,
			 const struct ts_exec_result *result, const uint8_t *bytes,
			 const struct ts_exec_options *options, struct ts_exec_difference *first);

/* Sorts results in call order, independent of the order of execution. */
void ts_exec_results_sort(struct ts_exec_results *results);
/* Sets *first to the first difference. Both results must be sorted. */
void ts_exec_results_compare(const struct ts_exec_results *before,
			     const struct ts_exec_results *results,
			     struct ts_exec_difference *first);

/* Returns the device address from which a copy read the byte at `offset` of its output. */
static inline uint64_t ts_exec_source_of(const struct ts_row_operation *operation, uint64_t offset)
{
	uint64_t row = operation->bytes ? offset / operation->bytes : 0;
	uint64_t height = operation->height ? operation->height : 1;

	return operation->src + row / height * operation->src_slice +
	       row % height * operation->src_pitch +
	       (operation->bytes ? offset % operation->bytes : 0);
}

/*
 * Sets the place of a difference from the bytes of the two results. Does nothing if one of them has
 * no bytes.
 */
void ts_exec_results_place(const struct ts_exec_program *program,
			   const struct ts_exec_results *before, const struct ts_exec_results *now,
			   struct ts_exec_difference *difference);

/*
 * Sets the offset of the first differing byte. Copies some bytes of each result from this offset
 * on, and the equal bytes before it.
 */
void ts_exec_difference_place(struct ts_exec_difference *difference, const uint8_t *expected,
			      uint64_t n_expected, const uint8_t *found, uint64_t n_found);
