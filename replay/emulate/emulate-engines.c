/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Infers the engines of a device from its operations: see ts_emulate_find_engines(). read.c and
 * emulate-layout.c call this file. This file finds how many operations of a kind ran at once. Two
 * kinds share an engine if they never ran at once although one waited for the other. A trace
 * records no engines; only the number of multiprocessors comes from the vendor.
 */
#include "replay/emulate/emulate-builder.h"

#include "proto/abi/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS TS_EMULATE_TICK_NS
/*
 * An operation counts as waiting for another one if it was ready at least NEAR_NS before the
 * other's end, and began at most NEAR_NS after it.
 */
#define NEAR_NS UINT64_C(5000)
/* Number of waits between the operations of two engines that proves them to be one engine. */
#define ENOUGH 3u

static inline bool ends_before(const struct ts_emulate_running *a,
			       const struct ts_emulate_running *b)
{
	return a->end_ns < b->end_ns;
}

TS_HEAP_DEFINE(crowd, struct ts_emulate_running, ends_before)

int ts_emulate_crowd_push(struct ts_emulate_crowd *crowd, uint64_t start_ns,
			  struct ts_emulate_running running)
{
	int r;

	while (crowd->n && crowd->heap[0].end_ns <= start_ns)
		crowd->demand -= crowd_pop(crowd->heap, &crowd->n).demand;
	r = ts_largearray_grow(&crowd->heap, crowd->n, &crowd->n_allocated, sizeof(*crowd->heap));
	if (r)
		return r;
	crowd_push(crowd->heap, &crowd->n, running);
	crowd->demand += running.demand;
	crowd->peak = ts_emulate_more(crowd->peak, crowd->demand);
	return 0;
}

/*
 * Computes the crowds again from the completed program. read.c joined the operations in the order
 * of their rows. The peaks depend on another order if rows were not sorted by start, if an
 * operation took no time and began together with another one, or if times were cut.
 */
static int join_again(struct ts_emulate_builder *builder)
{
	const struct ts_emulate_program *program = builder->program;
	int r = 0;

	for (size_t i = 0; i < builder->n_crowds; i++) {
		struct ts_emulate_crowd *crowd = &builder->crowds[i];

		crowd->n = 0;
		crowd->demand = crowd->peak = crowd->n_ops = 0;
	}
	for (size_t i = 0; !r && i < program->n_ops; i++) {
		uint32_t at = program->by_start[i];
		const struct ts_emulate_item *item = &program->items[at];
		const struct ts_emulate_recorded_item *its = &program->recorded_items[at];

		r = ts_emulate_crowd_join(&builder->crowds[item->engine], its->start_ns,
					  its->end_ns, item->demand);
	}
	return r;
}

static int find_capacities(struct ts_emulate_builder *builder)
{
	struct ts_emulate_program *program = builder->program;
	int r = 0;

	if (builder->has_late_ops || builder->has_empty_ties ||
	    builder->end_ns - builder->base_ns > TS_EMULATE_MAX_NS)
		r = join_again(builder);
	for (size_t i = 0; !r && i < program->n_engines; i++) {
		struct ts_emulate_engine *engine = &program->engines[i];
		uint64_t peak = ts_emulate_less(builder->crowds[i].peak, UINT32_MAX);

		engine->n_ops = builder->crowds[i].n_ops;
		/*
		 * A compute engine of an unknown device has capacity 0, which means no limit on
		 * its kernels. Its capacity stays 0.
		 */
		if (engine->kind != TS_EMULATE_COMPUTE || engine->capacity)
			engine->capacity = (uint32_t)ts_emulate_more(engine->capacity, peak);
	}
	return r;
}

/* ---- engines that are one -------------------------------------------------------------------- */

static bool is_copier(const struct ts_emulate_engine *engine)
{
	return engine->kind != TS_EMULATE_COMPUTE && engine->capacity == 1 && engine->n_ops;
}

/*
 * An engine, or an operation of an engine that may be shared; `what` is its index. `place` is its
 * rank in the list before the list is sorted.
 */
struct of_device {
	uint32_t device, place, what;
};

/* One device; operations are ordered by start. */
struct device {
	const struct of_device *engines, *copies;
	size_t n_engines, n_copies;
};

/*
 * True if engines a and b are one engine, that is, if their operations never ran at once, and
 * operations of one waited for operations of the other.
 */
static bool is_one(const struct ts_emulate_program *program, const struct device *device,
		   uint32_t a, uint32_t b)
{
	uint32_t last[2] = {TS_EMULATE_NONE, TS_EMULATE_NONE};
	uint32_t n_waited = 0;

	for (size_t i = 0; i < device->n_copies; i++) {
		uint32_t at = device->copies[i].what;
		const struct ts_emulate_item *item = &program->items[at], *other;
		unsigned int which = item->engine == b;
		uint64_t start_ns, end_ns, ready_ns;

		if (item->engine != a && item->engine != b)
			continue;
		last[which] = at;
		if (last[!which] == TS_EMULATE_NONE)
			continue;
		other = &program->items[last[!which]];
		start_ns = program->recorded_items[at].start_ns;
		end_ns = program->recorded_items[last[!which]].end_ns;
		if (end_ns > start_ns + ts_emulate_less(TICK_NS, other->duration_ns / 8))
			return false;
		/* At this time `lag_ns` still holds the end of the operation's predecessors. */
		ready_ns =
			ts_emulate_more(item->lag_ns, program->recorded_calls[item->call].end_ns);
		n_waited += other->stream != item->stream && ready_ns + NEAR_NS <= end_ns &&
			    start_ns <= end_ns + NEAR_NS;
	}
	return n_waited >= ENOUGH;
}

/* Merges engine b into engine a. */
static void unite(struct ts_emulate_program *program, const struct device *device, uint32_t a,
		  uint32_t b)
{
	struct ts_emulate_engine *engines = program->engines;

	for (size_t i = 0; i < device->n_copies; i++)
		if (program->items[device->copies[i].what].engine == b)
			program->items[device->copies[i].what].engine = a;
	for (size_t i = 0; i < program->n_items && program->items[i].kind == TS_EMULATE_SEED; i++)
		if (program->items[i].engine == b)
			program->items[i].engine = a;
	engines[a].kinds |= engines[b].kinds;
	engines[a].n_ops += engines[b].n_ops;
	engines[b].n_ops = 0;
	engines[b].kinds = 0;
}

static void unite_engines(struct ts_emulate_program *program, const struct device *device)
{
	for (size_t i = 0; i < device->n_engines; i++)
		for (size_t j = i + 1; j < device->n_engines; j++) {
			uint32_t a = device->engines[i].what, b = device->engines[j].what;

			if (is_copier(&program->engines[a]) && is_copier(&program->engines[b]) &&
			    is_one(program, device, a, b))
				unite(program, device, a, b);
		}
}

static int compare_devices(const void *a, const void *b)
{
	const struct of_device *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Lists the engines, each with the number of its device. */
static int list_engines(const struct ts_emulate_program *program, struct of_device *engines)
{
	ts_cleanup(ts_state_map_deinit) struct ts_state_map numbers = {0};
	int r = 0;

	for (uint32_t i = 0; !r && i < program->n_engines; i++) {
		const struct ts_emulate_engine *engine = &program->engines[i];
		uint32_t n = ts_state_map_find(&numbers, engine->session, engine->device);

		if (n == TS_STATE_MAP_NONE) {
			n = (uint32_t)ts_state_map_count(&numbers);
			r = ts_state_map_set(&numbers, engine->session, engine->device, n);
		}
		engines[i] = (struct of_device){n, i, i};
	}
	return r;
}

/*
 * Lists the operations of engines that may be shared, by device. `engines` is not sorted yet. `at`
 * and `n_at` as `copies` in ts_emulate_find_engines().
 */
static int list_copies(const struct ts_emulate_builder *builder, const struct of_device *engines,
		       const uint32_t *at, size_t n_at, struct of_device **ret_copies,
		       size_t *ret_n)
{
	const struct ts_emulate_program *program = builder->program;
	ts_cleanup(ts_freep) struct of_device *copies = NULL;
	bool is_any = builder->has_late_ops;
	size_t n = 0, n_allocated = 0, n_looked = is_any ? program->n_ops : n_at;
	int r = 0;

	for (size_t i = 0; !r && i < n_looked; i++) {
		uint32_t item = program->by_start[is_any ? i : at[i]];
		uint32_t engine = program->items[item].engine;

		if (!is_copier(&program->engines[engine]))
			continue;
		r = ts_largearray_grow(&copies, n, &n_allocated, sizeof(*copies));
		if (r)
			return r;
		copies[n] = (struct of_device){engines[engine].device, (uint32_t)n, item};
		n++;
	}
	if (n)
		qsort(copies, n, sizeof(*copies), compare_devices);
	*ret_copies = ts_take_ptr(copies);
	*ret_n = n;
	return 0;
}

/* Returns the number of leading entries that have the same device as the first one. */
static size_t count_of(const struct of_device *all, size_t n, uint32_t device)
{
	size_t i = 0;

	while (i < n && all[i].device == device)
		i++;
	return i;
}

int ts_emulate_find_engines(struct ts_emulate_builder *builder, const uint32_t *copies,
			    size_t n_copies)
{
	struct ts_emulate_program *program = builder->program;
	ts_cleanup(ts_freep) struct of_device *engines =
		calloc(program->n_engines + 1, sizeof(*engines));
	ts_cleanup(ts_freep) struct of_device *listed = NULL;
	struct device device;
	size_t n_listed = 0, i = 0, j = 0;
	int r = engines ? find_capacities(builder) : -ENOMEM;

	r = r ? r : list_engines(program, engines);
	r = r ? r : list_copies(builder, engines, copies, n_copies, &listed, &n_listed);
	if (r || !n_listed)
		return r;
	qsort(engines, program->n_engines, sizeof(*engines), compare_devices);
	for (; i < program->n_engines; i += device.n_engines, j += device.n_copies) {
		uint32_t number = engines[i].device;

		device = (struct device){
			.engines = &engines[i],
			.copies = &listed[j],
			.n_engines = count_of(&engines[i], program->n_engines - i, number),
			.n_copies = count_of(&listed[j], n_listed - j, number),
		};
		unite_engines(program, &device);
	}
	return 0;
}
