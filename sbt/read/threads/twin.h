/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reader of the same blocks for another thread: see ts_sbt_reader_twin(). Private to sbt/.
 */
#pragma once

#include "sbt/read/reader-internal.h"
#include "sbt/reader-threads.h"

/* Returns 0 or -ENOMEM. The caller calls ts_reader_twin_deinit() in any case. */
int ts_reader_twin_init(struct ts_sbt_reader *twin, const struct ts_sbt_reader *reader);
void ts_reader_twin_deinit(struct ts_sbt_reader *twin);
