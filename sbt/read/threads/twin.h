/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of the same blocks for another thread: see ts_sbt_reader_twin(). Private to sbt/.
 */
#pragma once

#include "sbt/read/reader-internal.h"
#include "sbt/reader-threads.h"

/* Returns 0 or -ENOMEM; then the struct is zeroed. */
int ts_reader_twin_init(struct ts_sbt_reader *twin, const struct ts_sbt_reader *reader);
/* Accepts a zeroed struct, and zeroes it. */
void ts_reader_twin_deinit(struct ts_sbt_reader *twin);
