/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks and threads in messages. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

/*
 * Returns a message from the pool, with the modules mapped at `time_ns`. NULL if there is no such
 * stack.
 */
Ts__Rpc__Stack *ts_stackjson_make(struct ts_resolver *resolver, struct ts_pool *pool,
				  uint32_t session, uint32_t id, uint64_t time_ns);

/*
 * If the stack is a kernel launch's, hides the host stub that nvcc generates with the kernel's
 * name. Both arguments may be NULL.
 */
void ts_stackjson_hide_stub(Ts__Rpc__Stack *stack, const char *kernel);

/* True if text output omits the frame. */
bool ts_stackjson_is_hidden(const Ts__Rpc__Stack *stack, size_t frame);

/* Sets the outputs from the thread's row. Leaves them unchanged if there is no such thread. */
void ts_stackjson_thread(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
			 uint32_t id, uint32_t *ret_tid, protobuf_c_boolean *ret_has_tid,
			 char **ret_name);
