/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the findings of replay/state/memory/misuse.h to messages, with names and stacks. query.c
 * calls this file.
 */
#include "replay/report/answers/misusejson.h"

#include "proto/rpc/json.h"
#include "replay/report/names/names.h"
#include "replay/report/stacks/stackjson.h"

#include <inttypes.h>

static Ts__Rpc__MisuseCall *make_call(struct ts_resolver *resolver, struct ts_pool *pool,
				      uint32_t session, const struct ts_misuse_call *call,
				      bool stacks)
{
	Ts__Rpc__MisuseCall *message = ts_pool_alloc(pool, 1, sizeof(*message));
	const char *name;

	ts__rpc__misuse_call__init(message);
	TS_RPC_SET(message, op_id, call->op_id);
	TS_RPC_SET(message, start_ns, call->start_ns);
	if (!call->end_ns)
		return message;
	name = ts_name_api(call->domain, call->cbid);
	message->name = name ? ts_pool_copy(pool, name)
			     : ts_pool_printf(pool, "function %u", (unsigned int)call->cbid);
	ts_stackjson_thread(resolver, pool, session, call->thread, &message->tid, &message->has_tid,
			    &message->thread_name);
	if (call->result) {
		name = ts_name_api_error(call->domain, (uint32_t)call->result);
		message->error = name ? ts_pool_copy(pool, name)
				      : ts_pool_printf(pool, "error %d", call->result);
	}
	if (stacks && call->stack)
		message->stack =
			ts_stackjson_make(resolver, pool, session, call->stack, call->start_ns);
	return message;
}

static void make_unsure(struct ts_pool *pool, uint32_t unsure, Ts__Rpc__MemoryMisuse *message)
{
	static const char *const names[] = {"call", "device", "mapped", "lost"};

	message->unsure = ts_pool_alloc(pool, TS_ARRAY_LEN(names), sizeof(*message->unsure));
	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++)
		if (unsure >> i & 1)
			message->unsure[message->n_unsure++] = ts_pool_copy(pool, names[i]);
}

static Ts__Rpc__MemoryMisuse *make_misuse(struct ts_resolver *resolver, struct ts_pool *pool,
					  const struct ts_misuse *misuse, bool stacks)
{
	Ts__Rpc__MemoryMisuse *message = ts_pool_alloc(pool, 1, sizeof(*message));
	const char *kind = ts_name_memory_kind(misuse->memory_kind);

	ts__rpc__memory_misuse__init(message);
	message->kind = ts_pool_copy(pool, ts_misuse_kind_name(misuse->kind));
	TS_RPC_SET(message, session, misuse->session);
	TS_RPC_SET(message, address, misuse->address);
	if (misuse->bytes)
		TS_RPC_SET(message, bytes, misuse->bytes);
	TS_RPC_SET(message, block, misuse->block);
	if (misuse->block_bytes)
		TS_RPC_SET(message, block_bytes, misuse->block_bytes);
	message->memory = kind ? ts_pool_copy(pool, kind)
			       : ts_pool_printf(pool, "kind %" PRIu32, misuse->memory_kind);
	if (misuse->device != TS_NO_DEVICE)
		TS_RPC_SET(message, device, misuse->device);
	message->use = make_call(resolver, pool, misuse->session, &misuse->use, stacks);
	message->freed = make_call(resolver, pool, misuse->session, &misuse->freed, stacks);
	if (misuse->block_bytes)
		message->allocated =
			make_call(resolver, pool, misuse->session, &misuse->allocated, stacks);
	make_unsure(pool, misuse->unsure, message);
	return message;
}

static Ts__Rpc__PoolUse *make_pool(struct ts_pool *pool, const struct ts_pool_use *use)
{
	Ts__Rpc__PoolUse *message = ts_pool_alloc(pool, 1, sizeof(*message));

	ts__rpc__pool_use__init(message);
	TS_RPC_SET(message, session, use->session);
	if (use->device != TS_NO_DEVICE)
		TS_RPC_SET(message, device, use->device);
	TS_RPC_SET(message, pool, use->pool);
	TS_RPC_SET(message, peak_bytes, use->peak_bytes);
	TS_RPC_SET(message, peak_ns, use->peak_ns);
	TS_RPC_SET(message, peak_used_bytes, use->peak_used_bytes);
	TS_RPC_SET(message, growths, use->n_growths);
	TS_RPC_SET(message, growths_with_room, use->n_growths_with_room);
	if (!use->wasted_ns)
		return message;
	TS_RPC_SET(message, wasted_ns, use->wasted_ns);
	TS_RPC_SET(message, wasted_bytes, use->wasted_bytes);
	TS_RPC_SET(message, asked_bytes, use->asked_bytes);
	TS_RPC_SET(message, holes, use->n_holes);
	TS_RPC_SET(message, hole_bytes, use->hole_bytes);
	TS_RPC_SET(message, largest_hole_bytes, use->largest_hole_bytes);
	return message;
}

void ts_misusejson_fill(struct ts_resolver *resolver, struct ts_pool *pool,
			const struct ts_misuses *misuses, bool stacks,
			Ts__Rpc__MemoryReport *report)
{
	report->misuses = ts_pool_alloc(pool, misuses->n_listed + 1, sizeof(*report->misuses));
	for (size_t i = 0; i < misuses->n_listed; i++)
		report->misuses[report->n_misuses++] =
			make_misuse(resolver, pool, &misuses->list[i], stacks);
	report->pools = ts_pool_alloc(pool, misuses->n_pools + 1, sizeof(*report->pools));
	for (size_t i = 0; i < misuses->n_pools; i++)
		report->pools[report->n_pools++] = make_pool(pool, &misuses->pools[i]);
	TS_RPC_SET(report, misuse_count, misuses->n);
	TS_RPC_SET(report, accesses, misuses->n_accesses);
	TS_RPC_SET(report, failed_unknown_frees, misuses->n_unknown_frees);
}
