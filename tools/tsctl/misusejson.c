/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What replay/state/misuse.h found, with names and stacks.
 */
#include "tools/tsctl/misusejson.h"

#include "proto/rpc/json.h"
#include "tools/tsctl/names.h"
#include "tools/tsctl/out.h"
#include "tools/tsctl/stackjson.h"
#include "tools/tsctl/term.h"

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

/* ---- for people --------------------------------------------------------------------------------- */

static void print_call(const char *what, const Ts__Rpc__MisuseCall *call, uint64_t origin_ns,
		       bool stacks)
{
	char figure[TS_OUT_FIGURE_BYTES];

	printf("      %s by %s, operation %" PRIu64 ", at %s s", what,
	       call->name ? call->name : "a call that was not recorded", call->op_id,
	       ts_out_seconds(figure, call->start_ns > origin_ns ? call->start_ns - origin_ns : 0));
	if (call->has_tid)
		printf(", thread %u", call->tid);
	printf("%s%s\n", call->error ? ": " : "", call->error ? call->error : "");
	if (stacks && call->stack)
		ts_stackjson_print(call->stack, 14);
}

static void print_misuse(const Ts__Rpc__MemoryMisuse *misuse, uint64_t origin_ns, bool stacks)
{
	char bytes[TS_OUT_FIGURE_BYTES];

	printf("  %s of 0x%" PRIx64, misuse->kind, misuse->address);
	if (misuse->has_bytes)
		printf(", %s", ts_out_bytes(bytes, misuse->bytes));
	if (misuse->has_block_bytes)
		printf(", in %s of %s memory at 0x%" PRIx64,
		       ts_out_bytes(bytes, misuse->block_bytes), misuse->memory, misuse->block);
	for (size_t i = 0; i < misuse->n_unsure; i++)
		printf("%s%s", i ? ", " : " (unsure: ", misuse->unsure[i]);
	puts(misuse->n_unsure ? ")" : "");
	print_call("named", misuse->use, origin_ns, stacks);
	print_call("freed", misuse->freed, origin_ns, stacks);
	if (misuse->allocated)
		print_call("allocated", misuse->allocated, origin_ns, stacks);
}

static void print_pools(const Ts__Rpc__MemoryReport *report, bool wide)
{
	static const char *const cells[] = {"SESSION", "HELD",	"USED",	 "GREW",    "WITH ROOM",
					    "UNUSED",  "ASKED", "HOLES", "LARGEST", "POOL"};
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char figure[TS_OUT_FIGURE_BYTES];

	size_t n = 0;

	/* One that never held what was not used tells nothing more than its group. */
	for (size_t i = 0; i < report->n_pools; i++)
		n += report->pools[i]->peak_bytes != report->pools[i]->peak_used_bytes ||
		     report->pools[i]->growths_with_room;
	if (!n || ts_table_new("rrrrrrrrrl", &table))
		return;
	printf("\n%sPools%s: the most they held and used; when they grew though enough was unused\n",
	       ts_term_style(stdout, TS_STYLE_BOLD), ts_term_style(stdout, TS_STYLE_PLAIN));
	for (size_t i = 0; i < TS_ARRAY_LEN(cells); i++)
		ts_table_add(table, cells[i]);
	for (size_t i = 0; i < report->n_pools; i++) {
		const Ts__Rpc__PoolUse *pool = report->pools[i];

		ts_table_addf(table, "%u", pool->session);
		ts_table_add(table, ts_out_bytes(figure, pool->peak_bytes));
		ts_table_add(table, ts_out_bytes(figure, pool->peak_used_bytes));
		ts_table_add(table, ts_out_count(figure, pool->growths));
		ts_table_add(table, ts_out_count(figure, pool->growths_with_room));
		ts_table_add(table, pool->has_wasted_bytes
					    ? ts_out_bytes(figure, pool->wasted_bytes)
					    : "");
		ts_table_add(table,
			     pool->has_asked_bytes ? ts_out_bytes(figure, pool->asked_bytes) : "");
		ts_table_add(table, pool->has_holes ? ts_out_count(figure, pool->holes) : "");
		ts_table_add(table, pool->has_largest_hole_bytes
					    ? ts_out_bytes(figure, pool->largest_hole_bytes)
					    : "");
		ts_table_addf(table, "0x%" PRIx64, pool->pool);
	}
	ts_table_print(table, stdout, 2, wide);
}

void ts_misusejson_print(const Ts__Rpc__MemoryReport *report, uint64_t origin_ns, bool stacks,
			 bool wide)
{
	print_pools(report, wide);
	if (report->misuse_count)
		printf("\n%sNamed after it was freed%s (%" PRIu64
		       "); what kernels and graphs are given is not recorded\n",
		       ts_term_style(stdout, TS_STYLE_BOLD), ts_term_style(stdout, TS_STYLE_PLAIN),
		       report->misuse_count);
	for (size_t i = 0; i < report->n_misuses; i++)
		print_misuse(report->misuses[i], origin_ns, stacks);
	if (report->misuse_count > report->n_misuses)
		printf("  and %" PRIu64 " more: --limit lists them\n",
		       report->misuse_count - report->n_misuses);
	if (report->failed_unknown_frees)
		printf("\n%" PRIu64
		       " times a free failed, of what was neither allocated nor freed before.\n",
		       report->failed_unknown_frees);
}
