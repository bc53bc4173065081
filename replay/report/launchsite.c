/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks that were seen lie in a hash table by session and id.
 */
#include "replay/report/launchsite.h"

#include "proto/abi/base.h"
#include "replay/report/stackjson.h"

#include <inttypes.h>
#include <stdio.h>

struct site {
	uint32_t session, stack; /* stack 0: a free slot */
	struct ts_launch_site *site;
};

struct ts_launch_sites {
	struct ts_resolver *resolver;
	struct site *slots;
	size_t n_slots, n; /* a power of two; at most half of them taken */
	struct ts_pool texts, one;
};

int ts_launch_sites_new(struct ts_resolver *resolver, void (*no_memory)(void),
			struct ts_launch_sites **ret_sites)
{
	struct ts_launch_sites *sites = calloc(1, sizeof(*sites));

	if (!sites)
		return -ENOMEM;
	sites->resolver = resolver;
	sites->texts.no_memory = sites->one.no_memory = no_memory;
	sites->n_slots = 256;
	sites->slots = calloc(sites->n_slots, sizeof(*sites->slots));
	if (!sites->slots) {
		free(sites);
		return -ENOMEM;
	}
	*ret_sites = sites;
	return 0;
}

void ts_launch_sites_free(struct ts_launch_sites *sites)
{
	if (!sites)
		return;
	ts_pool_deinit(&sites->texts);
	ts_pool_deinit(&sites->one);
	free(sites->slots);
	free(sites);
}

void ts_launch_sites_freep(struct ts_launch_sites **sites)
{
	ts_launch_sites_free(*sites);
}

static struct site *find(struct site *slots, size_t n_slots, uint32_t session, uint32_t stack)
{
	uint64_t at = ((uint64_t)session << 32 | stack) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (;; at++) {
		struct site *slot = &slots[at & (n_slots - 1)];

		if (!slot->stack || (slot->stack == stack && slot->session == session))
			return slot;
	}
}

static bool grow(struct ts_launch_sites *sites)
{
	size_t n_slots = 2 * sites->n_slots;
	struct site *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < sites->n_slots; i++)
		if (sites->slots[i].stack)
			*find(slots, n_slots, sites->slots[i].session, sites->slots[i].stack) =
				sites->slots[i];
	free(sites->slots);
	sites->slots = slots;
	sites->n_slots = n_slots;
	return true;
}

static const char *base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static const Ts__Rpc__StackSymbol *symbol_of(const Ts__Rpc__Stack *stack, size_t frame)
{
	for (size_t i = 0; i < stack->n_symbols; i++)
		if (stack->symbols[i]->frame == frame && stack->symbols[i]->function)
			return stack->symbols[i];
	return NULL;
}

static char *symbol_text(struct ts_pool *pool, const Ts__Rpc__StackSymbol *symbol)
{
	return symbol->file ? ts_pool_printf(pool, "%s (%s:%" PRIu32 ")", symbol->function,
					     base(symbol->file), symbol->line)
			    : ts_pool_copy(pool, symbol->function);
}

static char *native_text(struct ts_pool *pool, const Ts__Rpc__Stack *stack, size_t frame)
{
	const Ts__Rpc__StackSymbol *symbol = symbol_of(stack, frame);

	if (symbol)
		return symbol_text(pool, symbol);
	for (size_t i = 0; i < stack->n_modules; i++)
		if (stack->modules[i]->frame == frame)
			return ts_pool_printf(pool, "%s+0x%" PRIx64, base(stack->modules[i]->path),
					      stack->modules[i]->offset);
	return ts_pool_copy(pool, stack->frames[frame]);
}

/* "function (/path/to/file.py:31)", with the file's last part alone. */
static char *python_text(struct ts_pool *pool, const char *frame)
{
	const char *path = strchr(frame, '(');

	return path ? ts_pool_printf(pool, "%.*s%s", (int)(path + 1 - frame), frame, base(path + 1))
		    : ts_pool_copy(pool, frame);
}

/* Of the interpreter, or of a package that was installed. */
static bool is_installed(const char *frame)
{
	return strstr(frame, "/site-packages/") || strstr(frame, "/dist-packages/") ||
	       strstr(frame, "/lib/python3") || strstr(frame, "(<frozen ");
}

static bool is_stub(const Ts__Rpc__Stack *stack, size_t frame, const char *kernel)
{
	const Ts__Rpc__StackSymbol *symbol = kernel ? symbol_of(stack, frame) : NULL;

	return symbol && !strcmp(symbol->function, kernel);
}

char *ts_launch_site_text(struct ts_pool *pool, const Ts__Rpc__Stack *stack, const char *kernel)
{
	size_t python = SIZE_MAX, stub = SIZE_MAX;

	for (size_t i = 0; i < stack->n_frames; i++) {
		if (!strncmp(stack->frames[i], "0x", 2))
			continue;
		if (!is_installed(stack->frames[i]))
			return python_text(pool, stack->frames[i]);
		python = python == SIZE_MAX ? i : python;
	}
	if (python != SIZE_MAX)
		return python_text(pool, stack->frames[python]);
	for (size_t i = 0; i < stack->n_frames; i++) {
		if (ts_stackjson_is_hidden(stack, i))
			continue;
		if (!is_stub(stack, i, kernel))
			return native_text(pool, stack, i);
		stub = stub == SIZE_MAX ? i : stub;
	}
	return stub == SIZE_MAX ? NULL : native_text(pool, stack, stub);
}

struct callers {
	struct ts_pool *pool;
	struct ts_launch_site *site;
	bool is_reached; /* the frame of the site */
	size_t n;
};

static void add_caller(struct callers *callers, const char *text)
{
	if (!callers->is_reached)
		callers->is_reached = text && !strcmp(text, callers->site->frame);
	else if (callers->n < TS_LAUNCH_SITE_CALLERS)
		callers->site->callers[callers->n++] = text;
}

/* Functions that were inlined into a frame called each other. */
static void add_native_callers(struct callers *callers, const Ts__Rpc__Stack *stack, size_t frame)
{
	size_t n = 0;

	for (size_t i = 0; i < stack->n_symbols; i++) {
		if (stack->symbols[i]->frame != frame || !stack->symbols[i]->function)
			continue;
		add_caller(callers, symbol_text(callers->pool, stack->symbols[i]));
		n++;
	}
	if (!n)
		add_caller(callers, native_text(callers->pool, stack, frame));
}

/* Of a Python program only Python frames. */
static void find_callers(struct ts_pool *pool, const Ts__Rpc__Stack *stack,
			 struct ts_launch_site *site)
{
	struct callers callers = {.pool = pool, .site = site};
	bool python = false;

	for (size_t i = 0; i < stack->n_frames; i++)
		python = python || strncmp(stack->frames[i], "0x", 2) != 0;
	for (size_t i = 0; i < stack->n_frames; i++) {
		if (ts_stackjson_is_hidden(stack, i))
			continue;
		if (strncmp(stack->frames[i], "0x", 2) != 0)
			add_caller(&callers, python_text(pool, stack->frames[i]));
		else if (!python)
			add_native_callers(&callers, stack, i);
	}
}

static struct ts_launch_site *make_site(struct ts_pool *pool, const Ts__Rpc__Stack *stack)
{
	struct ts_launch_site *site = ts_pool_alloc(pool, 1, sizeof(*site));

	site->frame = ts_launch_site_text(pool, stack, NULL);
	if (!site->frame)
		return NULL;
	find_callers(pool, stack, site);
	return site;
}

const struct ts_launch_site *ts_launch_sites_at(struct ts_launch_sites *sites, uint32_t session,
						uint32_t id, uint64_t time_ns)
{
	const Ts__Rpc__Stack *stack;
	struct site *slot;

	if (!id || (2 * sites->n >= sites->n_slots && !grow(sites)))
		return NULL;
	slot = find(sites->slots, sites->n_slots, session, id);
	if (slot->stack)
		return slot->site;
	*slot = (struct site){session, id, NULL};
	sites->n++;
	stack = ts_stackjson_make(sites->resolver, &sites->one, session, id, time_ns);
	if (stack)
		slot->site = make_site(&sites->texts, stack);
	ts_pool_deinit(&sites->one);
	return slot->site;
}

const struct ts_launch_site *ts_launch_sites_of(struct ts_launch_sites *sites,
						const struct ts_sbt_row *row)
{
	return ts_launch_sites_at(sites, row->session, ts_resolver_stack(sites->resolver, row),
				  ts_row_start_ns(row->any));
}
