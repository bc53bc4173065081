/* SPDX-License-Identifier: Apache-2.0 */
/* Makes times of rows relative to calls while a block is encoded. Private to sbt/write/. */
#pragma once

#include "sbt/format/block.h"
#include "sbt/format/calls.h"

/*
 * Collects the calls of a settled builder of type `api`. *ret_calls is NULL if it has none, or too
 * many. The caller frees *ret_calls with free(). Returns 0 or -ENOMEM.
 */
int ts_calls_of_builder(const struct ts_builder *builder, struct ts_calls **ret_calls);

/*
 * Makes the times of a settled builder relative to encoder->calls if that takes fewer bits. Returns
 * whether it did, with *ret_kind. ts_builder_make_absolute() restores the times.
 */
bool ts_builder_make_relative(struct ts_builder *builder, const struct ts_encoder *encoder,
			      enum ts_calls_kind *ret_kind);
void ts_builder_make_absolute(struct ts_builder *builder, const struct ts_encoder *encoder,
			      enum ts_calls_kind kind);
