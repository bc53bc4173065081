/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts stacks and threads to messages. All answers with stacks call this file; this file calls
 * the resolver and frames.c.
 */
#include "replay/report/stacks/stackjson.h"

#include "proto/rpc/json.h"
#include "replay/report/stacks/frames.h"

#include <inttypes.h>

#define MAX_SYMBOLS 4u /* symbols per frame; deeper inlined functions are omitted */

struct maker {
	struct ts_resolver *resolver;
	struct ts_pool *pool;
	uint32_t session;
	uint64_t time_ns;
	bool python; /* the stack has Python frames */
	Ts__Rpc__Stack *message;
};

static void hide(const struct maker *maker, uint32_t frame)
{
	maker->message->hidden[maker->message->n_hidden++] = frame;
}

static void add_module(const struct maker *maker, uint32_t frame, const char *path, uint64_t offset)
{
	Ts__Rpc__StackModule *module = ts_pool_alloc(maker->pool, 1, sizeof(*module));

	ts__rpc__stack_module__init(module);
	TS_RPC_SET(module, frame, frame);
	module->path = ts_pool_copy(maker->pool, path);
	TS_RPC_SET(module, offset, offset);
	maker->message->modules[maker->message->n_modules++] = module;
}

static void add_symbols(const struct maker *maker, uint32_t frame,
			const struct ts_row_symbol *symbols, size_t n, const char *path,
			uint64_t offset)
{
	for (size_t i = 0; i < n && i < MAX_SYMBOLS; i++) {
		Ts__Rpc__StackSymbol *symbol = ts_pool_alloc(maker->pool, 1, sizeof(*symbol));

		ts__rpc__stack_symbol__init(symbol);
		TS_RPC_SET(symbol, frame, frame);
		symbol->function =
			ts_pool_copy(maker->pool,
				     ts_resolver_string(maker->resolver, symbols[i].function));
		symbol->file = ts_pool_copy(maker->pool,
					    ts_resolver_string(maker->resolver, symbols[i].file));
		if (symbols[i].line)
			TS_RPC_SET(symbol, line, symbols[i].line);
		if (i + 1 < n)
			TS_RPC_SET(symbol, inlined, 1);
		if (path) {
			symbol->module = ts_pool_copy(maker->pool, path);
			TS_RPC_SET(symbol, offset, offset);
		}
		maker->message->symbols[maker->message->n_symbols++] = symbol;
	}
}

static void add_native(const struct maker *maker, uint32_t frame, uint64_t address)
{
	const struct ts_row_symbol *symbols;
	const char *path = NULL, *function = NULL;
	uint64_t offset = 0;
	size_t n;

	maker->message->frames[frame] = ts_pool_printf(maker->pool, "0x%" PRIx64, address);
	symbols = ts_resolver_symbols(maker->resolver, maker->session, maker->time_ns, address,
				      frame, &n);
	if (!ts_resolver_module(maker->resolver, maker->session, maker->time_ns, address, &path,
				&offset))
		path = NULL;
	add_symbols(maker, frame, symbols, n, path, offset);
	if (!n && path)
		add_module(maker, frame, path, offset);
	/* The outermost function of a frame decides whether the frame is hidden. */
	if (n)
		function = ts_resolver_string(maker->resolver, symbols[n - 1].function);
	if (ts_frame_is_hidden(path, function, maker->python))
		hide(maker, frame);
}

Ts__Rpc__Stack *ts_stackjson_make(struct ts_resolver *resolver, struct ts_pool *pool,
				  uint32_t session, uint32_t id, uint64_t time_ns)
{
	struct maker maker = {.resolver = resolver,
			      .pool = pool,
			      .session = session,
			      .time_ns = time_ns};
	struct ts_sbt_stack stack;
	Ts__Rpc__Stack *message;

	if (!id || ts_sbt_reader_stack(ts_resolver_reader(resolver), session, id, &stack))
		return NULL;
	maker.message = message = ts_pool_alloc(pool, 1, sizeof(*message));
	ts__rpc__stack__init(message);
	TS_RPC_SET(message, id, id);
	if (stack.flags & TS_STACK_TRUNCATED)
		TS_RPC_SET(message, truncated, 1);
	message->n_frames = stack.n_frames;
	message->frames = ts_pool_alloc(pool, stack.n_frames + 1, sizeof(char *));
	message->symbols = ts_pool_alloc(pool, stack.n_frames * (size_t)MAX_SYMBOLS + 1,
					 sizeof(*message->symbols));
	message->modules = ts_pool_alloc(pool, stack.n_frames + 1, sizeof(*message->modules));
	message->hidden = ts_pool_alloc(pool, stack.n_frames + 1, sizeof(*message->hidden));
	for (uint32_t i = 0; i < stack.n_frames; i++)
		maker.python |= TS_FRAME_KIND(stack.frames[i]) == TS_FRAME_PYTHON;
	for (uint32_t i = 0; i < stack.n_frames; i++) {
		char text[TS_RESOLVER_FRAME_BYTES];

		if (TS_FRAME_KIND(stack.frames[i]) != TS_FRAME_PYTHON) {
			add_native(&maker, i, TS_FRAME_VALUE(stack.frames[i]));
			continue;
		}
		ts_resolver_python(resolver, stack.frames[i], text);
		message->frames[i] = ts_pool_copy(pool, text);
	}
	/* If all frames would be hidden, show all. */
	if (message->n_hidden == message->n_frames)
		message->n_hidden = 0;
	return message;
}

/*
 * Hides the innermost functions of a frame that are stubs. Returns true if the frame has no other
 * function.
 */
static bool hide_stubs_of(Ts__Rpc__Stack *stack, uint32_t frame, const char *kernel)
{
	bool any = false, is_last = frame + 1 == stack->n_frames;

	for (size_t i = 0; i < stack->n_symbols; i++) {
		Ts__Rpc__StackSymbol *symbol = stack->symbols[i];

		if (symbol->frame != frame)
			continue;
		if (!ts_frame_is_stub(symbol->function, kernel))
			return false;
		/* If all functions of the stack would be hidden, keeps the last one. */
		if (is_last && !symbol->inlined)
			return false;
		TS_RPC_SET(symbol, hidden, true);
		any = true;
	}
	return any;
}

void ts_stackjson_hide_stub(Ts__Rpc__Stack *stack, const char *kernel)
{
	if (!stack || !kernel)
		return;
	for (uint32_t frame = 0; frame < stack->n_frames; frame++) {
		if (ts_stackjson_is_hidden(stack, frame))
			continue;
		if (!hide_stubs_of(stack, frame, kernel))
			return;
		stack->hidden[stack->n_hidden++] = frame;
	}
}

bool ts_stackjson_is_hidden(const Ts__Rpc__Stack *stack, size_t frame)
{
	for (size_t i = 0; i < stack->n_hidden; i++)
		if (stack->hidden[i] == frame)
			return true;
	return false;
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
