/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program while it is made. Private to replay/emulate: read.c collects rows, and emulate-layout.c
 * puts them in order.
 */
#pragma once

#include "replay/emulate/emulate-program.h"
#include "replay/state/overview/samedevice.h"

struct ts_emulate_waited {
	uint32_t call, type, context, stream, session, event;
};

/*
 * Calls by operation id, in pages. Most ids follow one another and share a page. Other ids cost a
 * page each.
 */
#define TS_EMULATE_PAGE_IDS   16u
#define TS_EMULATE_PAGES_KEPT 64u

struct ts_emulate_page {
	uint32_t calls[TS_EMULATE_PAGE_IDS];
};

struct ts_emulate_ids {
	struct ts_state_map page_by_number;
	struct ts_emulate_page *pages;
	size_t n_pages, n_allocated;
	struct {
		uint64_t number;
		uint32_t session;
		uint32_t page; /* index + 1; 0: none */
	} kept[TS_EMULATE_PAGES_KEPT];
};

void ts_emulate_ids_deinit(struct ts_emulate_ids *ids);
/* Returns the call with this id, or TS_EMULATE_NONE. */
uint32_t ts_emulate_ids_find(struct ts_emulate_ids *ids, uint32_t session, uint64_t id);
int ts_emulate_ids_set(struct ts_emulate_ids *ids, uint32_t session, uint64_t id, uint32_t call);

/* The last key that was found in a map, because most rows have the key of the row before. */
struct ts_emulate_found {
	uint64_t key;
	uint32_t session;
	uint32_t at; /* index + 1; 0: none */
};

struct ts_emulate_builder {
	struct ts_emulate_program *program;
	struct ts_emulate_options options;
	struct ts_sbt_reader *reader;
	struct ts_same_devices same;
	struct ts_emulate_ids call_by_op;
	struct ts_state_map queue_by_id, context_by_id, thread_by_id, engine_by_id;
	struct ts_emulate_found queue_found, thread_found, engine_found;
	size_t n_calls_allocated, n_recorded_calls_allocated;
	/*
	 * Until emulate-layout.c moves them, the program's items have the order of their rows.
	 * `other` links the items of one call.
	 */
	size_t n_rows, n_items_allocated, n_recorded_items_allocated;
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
				struct ts_emulate_row_item *item);

/* Orders calls by start, then by id. */
static inline int ts_emulate_compare_calls(const struct ts_emulate_recorded_call *a,
					   const struct ts_emulate_recorded_call *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return a->op_id < b->op_id ? -1 : a->op_id > b->op_id;
}
