/* SPDX-License-Identifier: Apache-2.0 */
/* What a run's results are, and how they are compared with another's as they come. */
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
 * Adds one, whose hash is set here. Where it is the first that is not the run before's, *first says so; its bytes are kept then, and
 * where the options want them. -ENOMEM, -E2BIG: there are TS_EXEC_MAX_RESULTS.
 */
int ts_exec_results_note(struct ts_exec_results *results, const struct ts_exec_results *before,
			 const struct ts_exec_result *result, const uint8_t *bytes,
			 const struct ts_exec_options *options, struct ts_exec_difference *first);

/* As operations were called for, in whichever order they were done. */
void ts_exec_results_sort(struct ts_exec_results *results);
/* The first that is not the same, of two that are sorted. */
void ts_exec_results_compare(const struct ts_exec_results *before,
			     const struct ts_exec_results *results,
			     struct ts_exec_difference *first);

/* Where a byte of what a copy brought was read on the device. */
static inline uint64_t ts_exec_source_of(const struct ts_row_operation *operation, uint64_t offset)
{
	uint64_t row = operation->bytes ? offset / operation->bytes : 0;
	uint64_t height = operation->height ? operation->height : 1;

	return operation->src + row / height * operation->src_slice +
	       row % height * operation->src_pitch +
	       (operation->bytes ? offset % operation->bytes : 0);
}

/* Where one that was found to differ does, from the bytes of both; nothing where either is not kept. */
void ts_exec_results_place(const struct ts_exec_program *program,
			   const struct ts_exec_results *before, const struct ts_exec_results *now,
			   struct ts_exec_difference *difference);

/* Where one begins to differ from the other, and some bytes of each from there on. */
void ts_exec_difference_place(struct ts_exec_difference *difference, const uint8_t *expected,
			      uint64_t n_expected, const uint8_t *found, uint64_t n_found);
