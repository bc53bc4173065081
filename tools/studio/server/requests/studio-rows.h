/* SPDX-License-Identifier: Apache-2.0 */
/* Whole rows, as `tsctl view --json` prints them. */
#pragma once

#include "tools/studio/server/studio-call.h"

/*
 * Sets the first start and the last end of the rows of an operation, as absolute times. Returns 0,
 * or -1 after ts_call_fail(): 404 if there is no such operation.
 */
int ts_studio_rows_span(struct ts_studio_call *call, uint64_t op_id, uint64_t *ret_first_ns,
			uint64_t *ret_last_ns);
