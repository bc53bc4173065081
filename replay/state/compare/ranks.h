/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Mann-Whitney test: do values of one sample tend to be greater than those of another? Private
 * to replay/state; pure functions.
 */
#pragma once

#include "proto/abi/base.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Runs the Mann-Whitney test. Both arrays are sorted and not empty. *ret_share is the share of
 * pairs (a value of a, a value of b) in which b's value is greater; ties count half. Returns the
 * two-sided p.
 */
double ts_ranks_test(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
		     double *ret_share);

/* Applies Holm's correction to the n values in place. Returns 0 or -ENOMEM. */
int ts_ranks_correct(double *p, size_t n);
