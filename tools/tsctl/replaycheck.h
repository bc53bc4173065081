/* SPDX-License-Identifier: Apache-2.0 */
/* `tsctl replay --on vgpu --check`: what to look for, and telling what was found. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/exec/exec.h"
#include "replay/report/pool.h"

/* "races,init,bounds,order", or "all". A complaint and -EINVAL where it is none of these. */
int ts_replaycheck_parse(const char *text, uint32_t *ret_what);

struct ts_replaycheck {
	const struct ts_exec_program *program;
	struct ts_pool *pool;
	void *userdata;
	/* Where a call was made; NULL where that is not known. */
	Ts__Rpc__Stack *(*stack_of)(void *userdata, uint64_t op_id);
};

/* What was found, into the result; all of it goes with the pool. */
void ts_replaycheck_fill(const struct ts_replaycheck *from, const struct ts_check *check,
			 uint32_t what, Ts__Rpc__ReplayResult *to);
/* Of a launch; NULL where it has none. */
const char *ts_replaycheck_kernel(const struct ts_exec_program *program,
				  const struct ts_row_operation *launch);
void ts_replaycheck_print(const Ts__Rpc__ReplayResult *result);
