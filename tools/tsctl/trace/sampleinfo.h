/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many samples of threads a trace has. Reads two columns of their blocks.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"
#include "sbt/reader.h"

/*
 * From the pool; NULL where there are none. Session 0 is all. *ret_damaged is set where a block could not be read. -ENOMEM, and
 * errors of sbt/reader.h.
 */
int ts_sampleinfo_make(struct ts_sbt_reader *reader, uint32_t session, struct ts_pool *pool,
		       Ts__Rpc__SampleInfo **ret_info, bool *ret_damaged);
