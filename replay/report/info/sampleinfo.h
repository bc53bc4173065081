/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the samples of threads in a trace. Reads only two columns of their blocks. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"
#include "sbt/reader.h"

/*
 * Makes the message in the pool, or NULL if there are no samples. Session 0: all. *ret_damaged is
 * set if a block is unreadable. Returns 0, -ENOMEM, or the errors of sbt/reader.h.
 */
int ts_sampleinfo_make(struct ts_sbt_reader *reader, uint32_t session, struct ts_pool *pool,
		       Ts__Rpc__SampleInfo **ret_info, bool *ret_damaged);
