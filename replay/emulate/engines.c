/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What engines a device has, from what it did: how many operations of a kind ran at once, and which kinds never did although one
 * waited for the other. Nothing of it is recorded; a vendor's figures are taken for multiprocessors alone.
 */
#include "replay/emulate/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS TS_EMULATE_TICK_NS
/* An operation that was ready this long before another one of the device ended, and began this soon behind it. */
#define NEAR_NS UINT64_C(5000)
/* So often, before it is believed. */
#define ENOUGH 3u

struct running {
	uint64_t end_ns;
	uint32_t demand;
};

/* The operations of an engine that run, the one that ends first on top. */
struct crowd {
	struct running *heap;
	size_t n, n_allocated;
	uint64_t demand, peak;
};

static void sink(struct crowd *crowd)
{
	struct running last = crowd->heap[--crowd->n];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < crowd->n) {
		if (child + 1 < crowd->n &&
		    crowd->heap[child + 1].end_ns < crowd->heap[child].end_ns)
			child++;
		if (last.end_ns <= crowd->heap[child].end_ns)
			break;
		crowd->heap[at] = crowd->heap[child];
		at = child;
	}
	crowd->heap[at] = last;
}

static int join(struct crowd *crowd, const struct ts_emulate_item *item)
{
	uint64_t tick_ns = ts_emulate_less(TICK_NS, item->duration_ns / 8);
	struct running next = {item->end_ns - tick_ns, item->demand};
	size_t at = crowd->n;
	int r;

	while (crowd->n && crowd->heap[0].end_ns <= item->start_ns) {
		crowd->demand -= crowd->heap[0].demand;
		sink(crowd);
	}
	r = ts_room_grow(&crowd->heap, crowd->n, &crowd->n_allocated, sizeof(*crowd->heap));
	if (r)
		return r;
	at = crowd->n++;
	for (; at && crowd->heap[(at - 1) / 2].end_ns > next.end_ns; at = (at - 1) / 2)
		crowd->heap[at] = crowd->heap[(at - 1) / 2];
	crowd->heap[at] = next;
	crowd->demand += next.demand;
	crowd->peak = ts_emulate_more(crowd->peak, crowd->demand);
	return 0;
}

static int find_capacities(struct ts_emulate_program *program)
{
	struct crowd *crowds = calloc(program->n_engines + 1, sizeof(*crowds));
	int r = crowds ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < program->n_ops; i++) {
		const struct ts_emulate_item *item = &program->items[program->by_start[i]];

		r = join(&crowds[item->engine], item);
		program->engines[item->engine].n_ops++;
	}
	for (size_t i = 0; !r && i < program->n_engines; i++) {
		struct ts_emulate_engine *engine = &program->engines[i];
		uint64_t peak = ts_emulate_less(crowds[i].peak, UINT32_MAX);

		/* Of a device that is not told, any number of kernels may run. */
		if (engine->kind != TS_EMULATE_COMPUTE || engine->capacity)
			engine->capacity = (uint32_t)ts_emulate_more(engine->capacity, peak);
	}
	for (size_t i = 0; crowds && i < program->n_engines; i++)
		free(crowds[i].heap);
	free(crowds);
	return r;
}

/* ---- engines that are one ----------------------------------------------------------------------- */

static bool is_copier(const struct ts_emulate_engine *engine)
{
	return engine->kind != TS_EMULATE_COMPUTE && engine->capacity == 1 && engine->n_ops;
}

/* Whether what ran on two engines never ran at once, and one of them kept the other waiting. */
static bool is_one(const struct ts_emulate_program *program, const uint32_t *copies,
		   size_t n_copies, uint32_t a, uint32_t b)
{
	const struct ts_emulate_item *last[2] = {NULL, NULL};
	uint32_t n_waited = 0;

	for (size_t i = 0; i < n_copies; i++) {
		const struct ts_emulate_item *item = &program->items[copies[i]], *other;
		unsigned int which = item->engine == b;
		uint64_t ready_ns;

		if (item->engine != a && item->engine != b)
			continue;
		other = last[!which];
		last[which] = item;
		if (!other)
			continue;
		if (other->end_ns >
		    item->start_ns + ts_emulate_less(TICK_NS, other->duration_ns / 8))
			return false;
		/* `lag_ns` is still when what it stood behind was over. */
		ready_ns = ts_emulate_more(item->lag_ns, program->calls[item->call].end_ns);
		n_waited += other->stream != item->stream && ready_ns + NEAR_NS <= other->end_ns &&
			    item->start_ns <= other->end_ns + NEAR_NS;
	}
	return n_waited >= ENOUGH;
}

/* The operations of engines that may be one with another, in the order of their start. */
static int find_copies(const struct ts_emulate_program *program, uint32_t **ret_copies,
		       size_t *ret_n)
{
	ts_cleanup(ts_freep) uint32_t *copies = NULL;
	size_t n = 0, n_allocated = 0;
	int r = 0;

	for (size_t i = 0; !r && i < program->n_ops; i++) {
		uint32_t engine = program->items[program->by_start[i]].engine;

		if (!is_copier(&program->engines[engine]))
			continue;
		r = ts_room_grow(&copies, n, &n_allocated, sizeof(*copies));
		if (!r)
			copies[n++] = program->by_start[i];
	}
	if (r)
		return r;
	*ret_copies = copies;
	copies = NULL;
	*ret_n = n;
	return 0;
}

int ts_emulate_find_engines(struct ts_emulate_program *program)
{
	struct ts_emulate_engine *engines = program->engines;
	ts_cleanup(ts_freep) uint32_t *copies = NULL;
	size_t n_copies = 0;
	int r = find_capacities(program);

	if (!r)
		r = find_copies(program, &copies, &n_copies);
	for (uint32_t a = 0; !r && a < program->n_engines; a++)
		for (uint32_t b = a + 1; b < program->n_engines; b++) {
			if (engines[a].device != engines[b].device ||
			    engines[a].session != engines[b].session || !is_copier(&engines[a]) ||
			    !is_copier(&engines[b]) || !is_one(program, copies, n_copies, a, b))
				continue;
			for (size_t i = 0; i < n_copies; i++)
				if (program->items[copies[i]].engine == b)
					program->items[copies[i]].engine = a;
			engines[a].kinds |= engines[b].kinds;
			engines[a].n_ops += engines[b].n_ops;
			engines[b].n_ops = 0;
			engines[b].kinds = 0;
		}
	return r;
}
