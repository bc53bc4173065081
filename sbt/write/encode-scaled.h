/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the parameters of columns of encoding SCALED. Private to sbt/write/. */
#pragma once

#include "sbt/format/block.h"

/*
 * Appends the residuals of a column to the payload as SCALED; `context` has the item of each
 * row, or is NULL. With `is_trial`, sets the choice to the best for these residuals; otherwise
 * uses it. `*ret_ends` are the ends of four sections in the payload: head and plane,
 * remainders, low bits, exceptions. The residuals lie in encoder->residuals. Returns 0,
 * -ENOMEM, or 1 if the column cannot be SCALED; the payload is then unchanged.
 */
int ts_encoder_scale(struct ts_encoder *encoder, struct ts_sbt_column_header *header,
		     const uint16_t *context, uint32_t n_contexts, struct ts_scaled_choice *choice,
		     bool is_trial, size_t ret_ends[4]);
