/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks and threads as messages.
 */
#include "replay/report/stackjson.h"

#include "proto/rpc/json.h"

#include <inttypes.h>

#define MAX_SYMBOLS 4u /* of a frame: what is inlined deeper is left out */

static void add_symbols(struct ts_resolver *resolver, struct ts_pool *pool, Ts__Rpc__Stack *message,
			uint32_t frame, const struct ts_row_symbol *symbols, size_t n)
{
	for (size_t i = 0; i < n && i < MAX_SYMBOLS; i++) {
		Ts__Rpc__StackSymbol *symbol = ts_pool_alloc(pool, 1, sizeof(*symbol));

		ts__rpc__stack_symbol__init(symbol);
		TS_RPC_SET(symbol, frame, frame);
		symbol->function =
			ts_pool_copy(pool, ts_resolver_string(resolver, symbols[i].function));
		symbol->file = ts_pool_copy(pool, ts_resolver_string(resolver, symbols[i].file));
		if (symbol->file)
			TS_RPC_SET(symbol, line, symbols[i].line);
		TS_RPC_SET(symbol, inlined, i + 1 < n);
		message->symbols[message->n_symbols++] = symbol;
	}
}

Ts__Rpc__Stack *ts_stackjson_make(struct ts_resolver *resolver, struct ts_pool *pool,
				  uint32_t session, uint32_t id, uint64_t time_ns)
{
	struct ts_sbt_stack stack;
	Ts__Rpc__Stack *message;

	if (!id || ts_sbt_reader_stack(ts_resolver_reader(resolver), session, id, &stack))
		return NULL;
	message = ts_pool_alloc(pool, 1, sizeof(*message));
	ts__rpc__stack__init(message);
	TS_RPC_SET(message, id, id);
	TS_RPC_SET(message, truncated, stack.flags & TS_STACK_TRUNCATED);
	message->frames = ts_pool_alloc(pool, stack.n_frames + 1, sizeof(char *));
	message->symbols = ts_pool_alloc(pool, stack.n_frames * (size_t)MAX_SYMBOLS + 1,
					 sizeof(*message->symbols));
	for (uint32_t i = 0; i < stack.n_frames; i++) {
		uint64_t address = TS_FRAME_VALUE(stack.frames[i]);
		const struct ts_row_symbol *symbols;
		size_t n;

		if (TS_FRAME_KIND(stack.frames[i]) == TS_FRAME_PYTHON) {
			char text[TS_RESOLVER_FRAME_BYTES];

			ts_resolver_python(resolver, stack.frames[i], text);
			message->frames[message->n_frames++] = ts_pool_copy(pool, text);
			continue;
		}
		symbols = ts_resolver_symbols(resolver, session, time_ns, address, i, &n);
		add_symbols(resolver, pool, message, i, symbols, n);
		message->frames[message->n_frames++] = ts_pool_printf(pool, "0x%" PRIx64, address);
	}
	return message;
}

void ts_stackjson_thread(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
			 uint32_t id, uint32_t *ret_tid, protobuf_c_boolean *ret_has_tid,
			 char **ret_name)
{
	const struct ts_row_thread *thread =
		ts_sbt_reader_thread(ts_resolver_reader(resolver), session, id);

	if (!thread)
		return;
	*ret_tid = thread->tid;
	*ret_has_tid = 1;
	*ret_name = ts_pool_copy(pool, ts_resolver_thread_name(resolver, session, thread));
}
