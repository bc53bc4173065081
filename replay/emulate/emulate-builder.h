/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program while it is made. Private to replay/emulate: read.c collects rows, and emulate-layout.c
 * puts them in order.
 */
#pragma once

#include <errno.h>

#include "replay/emulate/emulate-program.h"
#include "replay/state/overview/samedevice.h"

struct ts_emulate_waited {
	uint32_t call, type, context, stream, session, event;
};

/*
 * Calls by operation id, in pages. Most ids follow one another and share a page. Other ids cost a
 * page each. The last pages are found without the map: an operation may begin thousands of calls
 * after its own.
 */
#define TS_EMULATE_PAGE_IDS   16u
#define TS_EMULATE_PAGES_KEPT 256u

struct ts_emulate_page {
	uint32_t calls[TS_EMULATE_PAGE_IDS];
};

struct ts_emulate_ids {
	/* The first pages in a row, whose numbers ascend by one. No map has them. */
	uint32_t row_session;
	uint64_t row_number, n_row;
	struct ts_state_map page_by_number; /* all others */
	struct ts_emulate_page *pages;
	size_t n_pages, n_allocated;
	struct {
		uint64_t number;
		uint32_t session;
		uint32_t page; /* index + 1; 0: none */
	} kept[TS_EMULATE_PAGES_KEPT];
};

void ts_emulate_ids_deinit(struct ts_emulate_ids *ids);
/* Allocates the pages of n consecutive ids. If this fails, they are allocated later. */
void ts_emulate_ids_reserve(struct ts_emulate_ids *ids, size_t n);
/* Returns the entry of an id, or NULL. _add() makes its page; NULL: no memory. */
uint32_t *ts_emulate_ids_search(struct ts_emulate_ids *ids, uint32_t session, uint64_t id);
uint32_t *ts_emulate_ids_add(struct ts_emulate_ids *ids, uint32_t session, uint64_t id);

/* Returns the entry of an id if its page was used a short time ago, or NULL. */
static inline uint32_t *ts_emulate_ids_recent(struct ts_emulate_ids *ids, uint32_t session,
					      uint64_t id)
{
	uint64_t number = id / TS_EMULATE_PAGE_IDS;
	size_t slot = number % TS_EMULATE_PAGES_KEPT;

	if (ids->kept[slot].number != number || ids->kept[slot].session != session ||
	    !ids->kept[slot].page)
		return NULL;
	return &ids->pages[ids->kept[slot].page - 1].calls[id % TS_EMULATE_PAGE_IDS];
}

/* Returns the call with this id, or TS_EMULATE_NONE. */
static inline uint32_t ts_emulate_ids_find(struct ts_emulate_ids *ids, uint32_t session,
					   uint64_t id)
{
	const uint32_t *at = ts_emulate_ids_recent(ids, session, id);

	if (ts_unlikely(!at))
		at = ts_emulate_ids_search(ids, session, id);
	return at ? *at : TS_EMULATE_NONE;
}

static inline int ts_emulate_ids_set(struct ts_emulate_ids *ids, uint32_t session, uint64_t id,
				     uint32_t call)
{
	uint32_t *at = ts_emulate_ids_recent(ids, session, id);

	if (ts_unlikely(!at))
		at = ts_emulate_ids_add(ids, session, id);
	if (!at)
		return -ENOMEM;
	*at = call;
	return 0;
}

/* The last key that was found in a map, because most rows have the key of the row before. */
struct ts_emulate_found {
	uint64_t key;
	uint32_t session;
	uint32_t at; /* index + 1; 0: none */
};

struct ts_emulate_running {
	uint64_t end_ns;
	uint32_t demand;
};

/* The running operations of an engine, earliest end on top. */
struct ts_emulate_crowd {
	struct ts_emulate_running *heap;
	size_t n, n_allocated;
	uint64_t demand, peak;
	uint64_t n_ops; /* all operations of the engine */
};

/* Flags of an entry of `by_start` until emulate-layout.c completes it. */
#define TS_EMULATE_START_TIED (1u << 31) /* began together with the previous operation */
#define TS_EMULATE_START_COPY (1u << 30) /* not a kernel */

struct ts_emulate_builder {
	struct ts_emulate_program *program;
	struct ts_emulate_options options;
	struct ts_sbt_reader *reader;
	struct ts_same_devices same;
	struct ts_emulate_ids call_by_op;
	struct ts_state_map queue_by_id, context_by_id, thread_by_id, engine_by_id;
	struct ts_emulate_found queue_found, thread_found, engine_found;
	/* The device of the last kernel; NULL: it is unknown. */
	const struct ts_row_device *device_row;
	uint32_t device_session, device;
	bool has_device;
	size_t n_calls_allocated, n_recorded_calls_allocated;
	/*
	 * Until emulate-layout.c moves them, items have these places: a call that starts device
	 * work reserves one for its first item, and every other item takes the next place when its
	 * row is read. So most items never move. `other` links the items of one call.
	 */
	size_t n_places, n_items_allocated, n_recorded_items_allocated;
	size_t n_items;	      /* items that were added */
	uint32_t last_placed; /* the last call that has a place */
	bool is_scattered;    /* the places are not in the order of calls */
	size_t n_by_start_allocated;
	struct ts_emulate_crowd *crowds; /* one per engine */
	size_t n_crowds, n_crowds_allocated;
	bool is_empty_run;	  /* an operation that began at last_op_ns took no time */
	bool has_empty_ties;	  /* such an operation began together with another one */
	size_t n_opens;		  /* graph launches */
	size_t n_seeds;		  /* calls and items of earlier windows */
	uint64_t base_ns, end_ns; /* first start and latest end of all calls and operations */
	uint64_t last_op_ns;
	/* some calls (operations) began before others that were added earlier */
	bool has_late_calls, has_late_ops;
	struct ts_emulate_waited *waits;
	size_t n_waits, n_waits_allocated;
	uint32_t *last_calls; /* for each queue, its last call; NONE: no call yet */
	size_t n_last_allocated;
};

/* An item while its row is read. */
struct ts_emulate_row_item {
	struct ts_emulate_item its;
	struct ts_emulate_recorded_item recorded;
};

/*
 * Return the index of a stream, a thread or an engine, which they make at its first use. Errors as
 * ts_emulate_builder_feed().
 */
int ts_emulate_builder_queue(struct ts_emulate_builder *builder, uint32_t session,
			     uint32_t context_id, uint32_t stream, uint32_t *ret);
int ts_emulate_builder_thread(struct ts_emulate_builder *builder, uint32_t session, uint32_t thread,
			      uint32_t *ret);
int ts_emulate_builder_engine(struct ts_emulate_builder *builder, uint32_t session, uint32_t device,
			      uint32_t kind, uint32_t *ret);
/* Add a call, or an item of the call `its.call`. Return 0, -ENOMEM or TS_E_EMULATED. */
int ts_emulate_builder_add_call(struct ts_emulate_builder *builder,
				const struct ts_emulate_call *call,
				const struct ts_emulate_recorded_call *recorded);
int ts_emulate_builder_add_item(struct ts_emulate_builder *builder,
				const struct ts_emulate_row_item *item);

/* Adds an operation to the crowd of its engine. Returns 0 or -ENOMEM. */
int ts_emulate_crowd_push(struct ts_emulate_crowd *crowd, uint64_t start_ns,
			  struct ts_emulate_running running);

static inline int ts_emulate_crowd_join(struct ts_emulate_crowd *crowd, uint64_t start_ns,
					uint64_t end_ns, uint32_t demand)
{
	uint64_t tick_ns = ts_emulate_less(TS_EMULATE_TICK_NS, (end_ns - start_ns) / 8);
	struct ts_emulate_running running = {end_ns - tick_ns, demand};

	crowd->n_ops++;
	/* Mostly the operation follows the only one that ran. */
	if (ts_unlikely(crowd->n != 1 || crowd->heap[0].end_ns > start_ns))
		return ts_emulate_crowd_push(crowd, start_ns, running);
	crowd->heap[0] = running;
	crowd->demand = demand;
	crowd->peak = ts_emulate_more(crowd->peak, demand);
	return 0;
}

/*
 * Infers the capacities of engines, and engines that are one. `lag_ns` of each operation holds the
 * end of its predecessors. `copies` lists the places in `by_start` that copies and sets may have;
 * with has_late_ops, they may have any place. Returns 0 or -ENOMEM.
 */
int ts_emulate_find_engines(struct ts_emulate_builder *builder, const uint32_t *copies,
			    size_t n_copies);

/* Orders calls by start, then by id. */
static inline int ts_emulate_compare_calls(const struct ts_emulate_recorded_call *a,
					   const struct ts_emulate_recorded_call *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->op_id < b->op_id ? -1 : a->op_id > b->op_id;
}
