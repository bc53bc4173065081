/* SPDX-License-Identifier: Apache-2.0 */
/* What checks of a replay found (replay/check), as messages. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/exec/exec.h"
#include "replay/report/pool.h"

/* Of "races", "init", "bounds", "order", "all" the TS_CHECK_*. -EINVAL where one is none of these. */
int ts_checkjson_what(char *const *names, size_t n, uint32_t *ret_what);

struct ts_checkjson {
	const struct ts_exec_program *program;
	struct ts_pool *pool;
	void *userdata;
	/* Where a call was made; NULL where that is not known. */
	Ts__Rpc__Stack *(*stack_of)(void *userdata, uint64_t op_id);
};

/* What was found, into the result; all of it goes with the pool. */
void ts_checkjson_fill(const struct ts_checkjson *from, const struct ts_check *check, uint32_t what,
		       Ts__Rpc__ReplayResult *to);
/* Of a launch; NULL where it has none. */
const char *ts_checkjson_kernel(const struct ts_exec_program *program,
				const struct ts_row_operation *launch);
