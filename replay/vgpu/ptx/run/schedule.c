// SPDX-License-Identifier: Apache-2.0
/*
 * Runs a launch in an order that a scheduler chooses (schedule.h). engine.c calls this file instead
 * of its own loop; blocks.c makes blocks resident. As many blocks as a window holds are resident
 * from the start, so that the scheduler can choose among them.
 *
 * Without a choice, the warps of the first block take turns until the block ends or only polls. A
 * choice gives one turn of some length to another warp. After that turn the default order
 * continues.
 */
#include "replay/vgpu/ptx/run/engine.h"

enum {
	WINDOW = 32, /* number of resident blocks, even if no block waits for another */
	SLICE_BITS = 12,
};

/* Parts of a choice's number. */
#define CHOSEN_BLOCK(v) ((uint32_t)(v)&0xffffu)
#define CHOSEN_WARP(v)	((uint32_t)((v) >> 16) & 0xffffu)
#define CHOSEN_SPLIT(v) ((uint32_t)((v) >> 32) & 0xffu)
#define CHOSEN_SLICE(v) (INT64_C(1) << (((uint32_t)((v) >> 40) & 0xffu) % (SLICE_BITS + 1)))

struct list {
	struct ts_ptx_worker *worker;
	struct ts_ptx_block **end;
	uint32_t n_idle; /* consecutive blocks that had their turns and did not end */
};

static uint64_t gcd(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/*
 * Chooses the order of blocks: a random start and a step. The step has no common divisor with the
 * number of blocks, so each block is visited once.
 */
static void choose_blocks(struct ts_ptx_engine *e)
{
	struct ts_ptx_choice choice = {.kind = TS_PTX_CHOICE_BLOCKS,
				       .kernel = e->launch->kernel->info.name};
	uint64_t v;

	e->block_step = 0;
	if (!e->scheduler->unordered_blocks || e->n_blocks < 2)
		return;
	v = e->scheduler->choose(e->scheduler->userdata, TS_PTX_CHOICE_BLOCKS);
	if (!v)
		return;
	e->block_first = (v >> 32) % e->n_blocks;
	e->block_step = (v & UINT32_MAX) % e->n_blocks;
	while (gcd(e->block_step, e->n_blocks) != 1)
		e->block_step = (e->block_step + 1) % e->n_blocks;
	choice.block = e->block_first;
	e->scheduler->chosen(e->scheduler->userdata, &choice);
}

static bool is_ready(const struct ts_ptx_warp *w)
{
	for (uint32_t i = 0; i < w->n_splits; i++)
		if (w->splits[i].state == SPLIT_READY)
			return true;
	return false;
}

/* Returns the first ready warp from `first` on, with wrap-around. NULL: no warp can run. */
static struct ts_ptx_warp *ready_from(struct ts_ptx_block *b, uint32_t first)
{
	for (uint32_t k = 0; k < b->n_warps; k++) {
		struct ts_ptx_warp *w = &b->warps[(first + k) % b->n_warps];

		if (is_ready(w))
			return w;
	}
	return NULL;
}

/*
 * Returns a ready warp as ready_from() does. If no warp is ready, releases lanes at joins, because
 * other lanes may wait for them. NULL: it is a deadlock.
 */
static struct ts_ptx_warp *ready_or_freed(struct ts_ptx_block *b, uint32_t first)
{
	struct ts_ptx_warp *w = ready_from(b, first);
	bool freed = false;

	for (uint32_t k = 0; !w && k < b->n_warps; k++)
		freed |= ts_ptx_warp_break(&b->warps[k]);
	return freed ? ready_from(b, first) : w;
}

static uint32_t line_of(const struct ts_ptx_warp *w, const struct ts_ptx_insn *in)
{
	return ts_ptx_frame_of(w)->code->origins[in->index].line;
}

static uint32_t line_of_warp(const struct ts_ptx_warp *w)
{
	for (uint32_t i = 0; i < w->n_splits; i++)
		if (w->splits[i].state == SPLIT_READY)
			return w->splits[i].frame->code->origins[w->splits[i].pc->index].line;
	return 0;
}

static void report_turn(const struct ts_ptx_worker *worker, const struct ts_ptx_warp *w,
			const struct ts_ptx_warp *instead)
{
	const struct ts_ptx_choice choice = {
		.kind = TS_PTX_CHOICE_TURN,
		.kernel = worker->kernel->info.name,
		.block = w->block->index,
		.warp = w->index,
		.line = line_of(w, w->pc),
		.n_insns = (uint32_t)w->slice,
		.instead_block = instead->block->index,
		.instead_warp = instead->index,
		.instead_line = line_of_warp(instead),
	};

	worker->scheduler->chosen(worker->scheduler->userdata, &choice);
}

/* True if another split or warp could have the turn. */
static bool is_choice(const struct ts_ptx_worker *worker, const struct ts_ptx_warp *w)
{
	if (w->n_splits > 1 || worker->n_blocks > 1)
		return true;
	for (uint32_t k = 0; k < w->block->n_warps; k++)
		if (&w->block->warps[k] != w && is_ready(&w->block->warps[k]))
			return true;
	return false;
}

/* Loads the warp that runs next. NULL: its block is in a deadlock. */
static struct ts_ptx_warp *choose_turn(struct ts_ptx_worker *worker, struct ts_ptx_block **b)
{
	struct ts_ptx_warp *usual = ready_or_freed(*b, (*b)->next_warp), *w = usual;
	uint64_t v = 0;

	if (!usual)
		return NULL;
	if (is_choice(worker, usual))
		v = worker->scheduler->choose(worker->scheduler->userdata, TS_PTX_CHOICE_TURN);
	if (v) {
		for (uint32_t n = CHOSEN_BLOCK(v) % worker->n_blocks; n; n--)
			*b = (*b)->next;
		w = ready_or_freed(*b, CHOSEN_WARP(v) % (*b)->n_warps);
		if (!w)
			return NULL;
		w->current = CHOSEN_SPLIT(v) % w->n_splits;
	}
	(void)ts_ptx_warp_choose(w, true);
	w->n_watched = 0;
	w->slice = v ? CHOSEN_SLICE(v) : TS_PTX_SLICE;
	if (v)
		report_turn(worker, w, usual);
	else
		(*b)->next_warp = (w->index + 1) % (*b)->n_warps;
	return w;
}

/*
 * Runs the next turn of a block. Returns 0 to continue, 1 if the block is done, -1 if it faulted.
 */
static int take_turn(struct ts_ptx_worker *worker, struct ts_ptx_block **b)
{
	struct ts_ptx_warp *w = choose_turn(worker, b);
	bool spins = false;
	int stop;

	if (!w) {
		ts_ptx_deadlock(*b);
		return -1;
	}
	stop = worker->image->ops->loop(w);
	ts_ptx_collect(worker, w, 1);
	if (stop == STOP_FAULT)
		return -1;
	if (stop == STOP_SLICE) {
		ts_ptx_split_store(w);
		spins = w->n_watched >= TS_PTX_SPINNING;
		if (spins)
			(void)ts_ptx_warp_break(w);
	}
	(*b)->n_turns++;
	(*b)->n_spun = spins ? (*b)->n_spun + 1 : 0;
	if (w->n_splits)
		return 0;
	for (uint32_t k = 0; k < (*b)->n_warps; k++)
		if ((*b)->warps[k].n_splits)
			return 0;
	return 1;
}

static void remove_block(struct list *list, struct ts_ptx_block *b)
{
	struct ts_ptx_block **at = &list->worker->blocks;

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	if (!*at)
		list->end = at;
}

static void add_block(struct list *list, struct ts_ptx_block *b)
{
	b->next = NULL;
	*list->end = b;
	list->end = &b->next;
}

/* Moves the first block to the end after many turns, or if all its warps wait for other blocks. */
static void pass_on(struct list *list)
{
	struct ts_ptx_block *b = list->worker->blocks;

	if (b->n_spun < b->n_warps && b->n_turns < b->n_warps * TS_PTX_BLOCK_PASSES)
		return;
	b->n_spun = b->n_turns = 0;
	remove_block(list, b);
	add_block(list, b);
	list->n_idle++;
}

/*
 * Takes blocks up to the window. Takes one more if no resident block ended in its turns, and all
 * blocks of a cooperative launch.
 */
static void take_blocks(struct list *list)
{
	struct ts_ptx_worker *worker = list->worker;
	uint32_t most = WINDOW;

	if (worker->launch->cooperative)
		most = UINT32_MAX;
	else if (list->n_idle >= worker->n_blocks && worker->n_blocks >= WINDOW)
		most = worker->n_blocks + 1;
	while (worker->n_blocks < most) {
		struct ts_ptx_block **at = list->end;

		if (!ts_ptx_take_block(worker, &list->end))
			return;
		(*at)->next_warp = (*at)->n_turns = (*at)->n_spun = 0;
		list->n_idle = 0;
	}
}

void ts_ptx_work_scheduled(struct ts_ptx_worker *worker)
{
	struct ts_ptx_engine *e = worker->engine;
	struct list list = {.worker = worker, .end = &worker->blocks};

	choose_blocks(e);
	while (!atomic_load_explicit(&e->stop, memory_order_relaxed)) {
		struct ts_ptx_block *b;
		int r;

		take_blocks(&list);
		b = worker->blocks;
		if (!b)
			return;
		r = take_turn(worker, &b);
		if (r < 0) {
			atomic_store(&e->stop, true);
			return;
		}
		ts_ptx_charge(worker, !r && b->n_spun);
		if (r) {
			remove_block(&list, b);
			worker->stats.blocks++;
			ts_ptx_block_end(worker, b);
			list.n_idle = 0;
		} else if (b == worker->blocks) {
			pass_on(&list);
		}
	}
}

uint32_t ts_ptx_first_lane(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
			   uint8_t *const host[TS_PTX_LANES])
{
	const struct ts_ptx_scheduler *scheduler = w->worker->scheduler;
	struct ts_ptx_choice choice;
	bool meet = false;
	uint64_t v;
	uint32_t lane;

	if (!scheduler)
		return 0;
	for (uint32_t left = m; left && !meet; left &= left - 1)
		for (uint32_t rest = left & (left - 1); rest && !meet; rest &= rest - 1)
			meet = host[__builtin_ctz(left)] == host[__builtin_ctz(rest)];
	v = meet ? scheduler->choose(scheduler->userdata, TS_PTX_CHOICE_LANES) : 0;
	if (!v)
		return 0;
	lane = ts_ptx_next_lane(m, (uint32_t)v % TS_PTX_LANES);
	choice = (struct ts_ptx_choice){
		.kind = TS_PTX_CHOICE_LANES,
		.kernel = w->worker->kernel->info.name,
		.block = w->block->index,
		.warp = w->index,
		.line = line_of(w, in),
		.lane = lane,
		.instead_block = w->block->index,
		.instead_warp = w->index,
		.instead_lane = (uint32_t)__builtin_ctz(m),
		.instead_line = line_of(w, in),
	};
	scheduler->chosen(scheduler->userdata, &choice);
	return lane;
}
