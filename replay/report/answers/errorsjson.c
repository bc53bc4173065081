/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts failed calls to messages, with the kernels that may have caused them. For an
 * out-of-memory error, adds the allocations that held the memory. query.c, `tsctl info` and `tsctl
 * analyze` call this file; this file calls replay/state/overview/errors.h and memoryjson.c.
 */
#include "replay/report/answers/errorsjson.h"

#include "proto/rpc/json.h"
#include "replay/report/answers/memoryjson.h"
#include "replay/report/names/names.h"
#include "replay/report/stacks/stackjson.h"
#include "replay/state/overview/errors.h"

#define MAX_SUSPECTS 3u /* suspects per error in the message */
/*
 * Number of out-of-memory errors for which the message lists the allocations that held the memory:
 * each list reads the trace again.
 */
#define MAX_HELD    3u
#define MAX_HOLDERS 65536u
#define MAX_SITES   5u
/* CUDA_ERROR_OUT_OF_MEMORY; the runtime and HIP use the same number. */
#define OUT_OF_MEMORY 2

static void add_suspects(struct ts_resolver *resolver, struct ts_pool *pool,
			 const struct ts_call_error *error, Ts__Rpc__CallError *message)
{
	size_t n = error->n_suspects < MAX_SUSPECTS ? error->n_suspects : MAX_SUSPECTS;

	message->suspects = ts_pool_alloc(pool, n + 1, sizeof(*message->suspects));
	for (size_t i = 0; i < n; i++) {
		const struct ts_error_suspect *suspect = &error->suspects[i];
		Ts__Rpc__ErrorSuspect *made = ts_pool_alloc(pool, 1, sizeof(*made));

		ts__rpc__error_suspect__init(made);
		TS_RPC_SET(made, op_id, suspect->op_id);
		made->kernel =
			ts_pool_copy(pool, ts_resolver_kernel_name(resolver, suspect->kernel));
		made->stack = ts_stackjson_make(resolver, pool, error->session, suspect->stack,
						error->start_ns);
		ts_stackjson_hide_stub(made->stack, made->kernel);
		message->suspects[message->n_suspects++] = made;
	}
}

static Ts__Rpc__CallError *make_error(struct ts_resolver *resolver, struct ts_pool *pool,
				      const struct ts_call_error *error)
{
	Ts__Rpc__CallError *message = ts_pool_alloc(pool, 1, sizeof(*message));
	const char *name = ts_name_api(error->domain, error->cbid);

	ts__rpc__call_error__init(message);
	message->name =
		name ? ts_pool_copy(pool, name) : ts_pool_printf(pool, "function %u", error->cbid);
	name = ts_name_api_error(error->domain, (uint32_t)error->result);
	message->error =
		name ? ts_pool_copy(pool, name) : ts_pool_printf(pool, "error %d", error->result);
	TS_RPC_SET(message, result, error->result);
	TS_RPC_SET(message, count, error->count);
	TS_RPC_SET(message, session, error->session);
	TS_RPC_SET(message, start_ns, error->start_ns);
	TS_RPC_SET(message, op_id, error->op_id);
	ts_stackjson_thread(resolver, pool, error->session, error->thread, &message->tid,
			    &message->has_tid, &message->thread_name);
	if (error->bytes)
		TS_RPC_SET(message, bytes, error->bytes);
	message->stack =
		ts_stackjson_make(resolver, pool, error->session, error->stack, error->start_ns);
	add_suspects(resolver, pool, error, message);
	return message;
}

static int add_held(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
		    struct ts_launch_sites *frames, Ts__Rpc__CallError *message)
{
	ts_cleanup(ts_memory_freep) struct ts_memory *memory = NULL;
	int r = ts_memory_read_at(ts_resolver_reader(resolver), session, message->start_ns,
				  MAX_HOLDERS, &memory);

	if (r)
		return r;
	TS_RPC_SET(message, held_bytes, memory->peak_bytes);
	ts_memoryjson_make_sites(frames, pool, &memory->at_peak, &message->n_held_sites,
				 &message->held_sites);
	if (message->n_held_sites > MAX_SITES)
		message->n_held_sites = MAX_SITES;
	return 0;
}

/* Adds the allocations that held the memory at an out-of-memory error. */
static int add_holders(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
		       Ts__Rpc__CallError **errors, size_t n)
{
	ts_cleanup(ts_launch_sites_freep) struct ts_launch_sites *frames = NULL;
	size_t n_held = 0;
	int r = ts_launch_sites_new(resolver, pool->no_memory, &frames);

	for (size_t i = 0; !r && i < n && n_held < MAX_HELD; i++) {
		if (errors[i]->result != OUT_OF_MEMORY)
			continue;
		r = add_held(resolver, pool, session, frames, errors[i]);
		n_held++;
	}
	return r;
}

int ts_errorsjson_make_of(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
			  const struct ts_call_errors *errors, size_t *ret_n,
			  Ts__Rpc__CallError ***ret_errors, uint64_t *ret_failed_calls,
			  bool *ret_damaged)
{
	*ret_n = 0;
	*ret_errors = ts_pool_alloc(pool, errors->n + 1, sizeof(**ret_errors));
	for (size_t i = 0; i < errors->n; i++)
		(*ret_errors)[(*ret_n)++] = make_error(resolver, pool, &errors->at[i]);
	*ret_failed_calls = errors->n_calls;
	*ret_damaged |= errors->is_damaged;
	return add_holders(resolver, pool, session, *ret_errors, *ret_n);
}

int ts_errorsjson_make(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
		       size_t *ret_n, Ts__Rpc__CallError ***ret_errors, uint64_t *ret_failed_calls,
		       bool *ret_damaged)
{
	ts_cleanup(ts_call_errors_freep) struct ts_call_errors *errors = NULL;
	int r = ts_call_errors_read(ts_resolver_reader(resolver), session, &errors);

	return r ? r
		 : ts_errorsjson_make_of(resolver, pool, session, errors, ret_n, ret_errors,
					 ret_failed_calls, ret_damaged);
}
