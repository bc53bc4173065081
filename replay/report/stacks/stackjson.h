/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks and threads in the messages of commands that tell what a trace means.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

/* From the pool; as modules lay at `time_ns`. NULL where there is no such stack. */
Ts__Rpc__Stack *ts_stackjson_make(struct ts_resolver *resolver, struct ts_pool *pool,
				  uint32_t session, uint32_t id, uint64_t time_ns);

/*
 * Hides the function that nvcc makes of a kernel for the host, which has the kernel's name, if the stack is that of its launch. NULL
 * is fine for either.
 */
void ts_stackjson_hide_stub(Ts__Rpc__Stack *stack, const char *kernel);

/* Whether text leaves frame `frame` out. */
bool ts_stackjson_is_hidden(const Ts__Rpc__Stack *stack, size_t frame);

/* Nothing where there is no such thread. */
void ts_stackjson_thread(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
			 uint32_t id, uint32_t *ret_tid, protobuf_c_boolean *ret_has_tid,
			 char **ret_name);
