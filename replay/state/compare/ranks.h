/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Mann-Whitney test: whether values of one sample tend to be greater than those of another. Within replay/state; pure
 * functions.
 */
#pragma once

#include "proto/abi/base.h"

#include <stddef.h>
#include <stdint.h>

/* Both sorted, neither empty. *ret_share: of all pairs, those in which b's is greater, ties by half. Returns p, two-sided. */
double ts_ranks_test(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
		     double *ret_share);

/* Holm's correction, in place: of each p, as they stand. -ENOMEM. */
int ts_ranks_correct(double *p, size_t n);
