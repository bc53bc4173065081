/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes memory use over a trace: see state-memory.h. replay/report and `tsctl watch` call this
 * file. The first pass tracks live memory and finds the peak. The second pass stops at the peak and
 * lists its holders, so the first pass need not save holders at each new maximum.
 */
#include "replay/state/memory/state-memory.h"

#include "proto/abi/grow.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "replay/state/state-map.h"
#include "sbt/slices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE TS_STATE_MAP_NONE
/* The host's time and the vendor's time of one call differ by less than this. */
#define MAX_CLOCK_ERROR_NS UINT64_C(1000000)

struct live {
	struct ts_memory_holder holder;
	uint32_t group;
	/* Only the call was read so far; the vendor's row may follow. */
	bool is_of_call;
};

struct pass {
	struct ts_memory *memory;
	struct live *live;
	size_t n_live, n_live_allocated;
	struct ts_state_map by_address;
	struct ts_memory_group *groups;
	size_t n_groups, n_groups_allocated;
	struct ts_state_map by_stream, by_pool, by_group; /* map parts of a key to numbers */
	/* Frees by address whose call was read, but whose vendor's row was not. */
	struct ts_state_map freed;
	struct ts_sbt_reader *reader;
	uint32_t last_group;
	uint64_t device_bytes;
	uint64_t now_ns;   /* time of the current row */
	uint64_t until_ns; /* 0: to the end */
	bool to_peak;	   /* stop at the peak */
};

static void pass_deinit(struct pass *pass)
{
	free(pass->live);
	free(pass->groups);
	ts_state_map_deinit(&pass->by_address);
	ts_state_map_deinit(&pass->by_stream);
	ts_state_map_deinit(&pass->by_pool);
	ts_state_map_deinit(&pass->by_group);
	ts_state_map_deinit(&pass->freed);
}

void ts_memory_free(struct ts_memory *memory)
{
	if (!memory)
		return;
	free(memory->groups);
	free(memory->at_peak.largest);
	free(memory->never_freed.largest);
	ts_memory_curves_deinit(&memory->curves);
	free(memory);
}

bool ts_memory_is_device(uint32_t kind)
{
	return kind != TS_CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE &&
	       kind != TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
}

static bool is_of(const struct ts_memory_group *group, uint32_t session,
		  const struct ts_row_memory *row)
{
	return group->session == session && group->device == row->device &&
	       group->stream == row->stream && group->kind == row->memory_kind &&
	       group->pool == row->pool;
}

/*
 * Numbers the keys of a map in order of arrival. find_group() uses such a number as a part of
 * another map's key.
 */
static int number_of(struct ts_state_map *map, uint32_t of, uint64_t key, uint32_t *ret_number)
{
	*ret_number = ts_state_map_find(map, of, key);
	if (*ret_number != NONE)
		return 0;
	*ret_number = (uint32_t)ts_state_map_count(map);
	return ts_state_map_set(map, of, key, *ret_number);
}

/* Finds or adds the group of a row. Tries the last group first. */
static int find_group(struct pass *pass, uint32_t session, const struct ts_row_memory *row,
		      uint32_t *ret_group)
{
	uint32_t stream, pool;
	int r;

	if (pass->last_group < pass->n_groups &&
	    is_of(&pass->groups[pass->last_group], session, row)) {
		*ret_group = pass->last_group;
		return 0;
	}
	r = number_of(&pass->by_stream, session, (uint64_t)row->device << 32 | row->stream,
		      &stream);
	r = r ? r : number_of(&pass->by_pool, stream, row->pool, &pool);
	if (r)
		return r;
	*ret_group = ts_state_map_find(&pass->by_group, pool, row->memory_kind);
	if (*ret_group != NONE) {
		pass->last_group = *ret_group;
		return 0;
	}
	if (pass->n_groups == TS_MAX_MEMORY_GROUPS)
		return TS_E_GROUPS;
	r = TS_GROW(pass->groups, pass->n_groups_allocated, pass->n_groups + 1);
	r = r ? r
	      : ts_state_map_set(&pass->by_group, pool, row->memory_kind, (uint32_t)pass->n_groups);
	if (r)
		return r;
	pass->groups[pass->n_groups] = (struct ts_memory_group){.session = session,
								.device = row->device,
								.stream = row->stream,
								.kind = row->memory_kind,
								.pool = row->pool};
	*ret_group = pass->last_group = (uint32_t)pass->n_groups++;
	return 0;
}

/* Returns the point for a time: the trace is divided into equal parts. */
static uint64_t *point_of(struct ts_memory *memory, uint64_t ns)
{
	uint64_t part_ns = (memory->to_ns - memory->from_ns) / TS_MEMORY_POINTS + 1, i;

	i = ns < memory->from_ns ? 0 : (ns - memory->from_ns) / part_ns;
	return &memory->points[i < TS_MEMORY_POINTS ? i : TS_MEMORY_POINTS - 1];
}

static void note_peak(struct pass *pass, uint64_t ns)
{
	uint64_t *point = point_of(pass->memory, ns);

	if (pass->device_bytes > *point)
		*point = pass->device_bytes;
	if (pass->device_bytes <= pass->memory->peak_bytes)
		return;
	pass->memory->peak_bytes = pass->device_bytes;
	pass->memory->peak_ns = ns;
}

/*
 * Raises each point from from_ns to to_ns to the current level, which did not change between these
 * times.
 */
static void note_level(struct pass *pass, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t *last = point_of(pass->memory, to_ns);

	for (uint64_t *at = point_of(pass->memory, from_ns); at <= last; at++)
		if (pass->device_bytes > *at)
			*at = pass->device_bytes;
}

/* Changes the live memory of a device. Only the pass over the whole trace makes curves. */
static int change_device(struct pass *pass, uint32_t session, const struct ts_row_memory *row,
			 uint64_t change)
{
	if (!ts_memory_is_device(row->memory_kind))
		return 0;
	pass->device_bytes += change;
	return pass->until_ns ? 0
			      : ts_memory_curves_add(&pass->memory->curves, session, row->device,
						     pass->now_ns, change);
}

static int drop(struct pass *pass, uint32_t at, bool is_freed)
{
	struct live live = pass->live[at];
	struct ts_memory_group *group = &pass->groups[live.group];
	int r;

	ts_state_map_remove(&pass->by_address, live.holder.session, live.holder.row.address);
	group->live_bytes -= live.holder.row.bytes;
	group->n_frees += is_freed;
	r = change_device(pass, live.holder.session, &live.holder.row, -live.holder.row.bytes);
	pass->live[at] = pass->live[--pass->n_live];
	if (r || at == pass->n_live)
		return r;
	return ts_state_map_set(&pass->by_address, pass->live[at].holder.session,
				pass->live[at].holder.row.address, at);
}

/* Removes an allocation from the totals, except from live counts. */
static void forget(struct pass *pass, uint32_t at)
{
	struct ts_memory_group *group = &pass->groups[pass->live[at].group];

	group->n_allocs--;
	group->total_bytes -= pass->live[at].holder.row.bytes;
}

/*
 * True if the row belongs to the call in `live`. The call was read before the row, because the
 * clocks of host and vendor differ. The row may carry the id of a nested call.
 */
static bool is_of_same_call(const struct live *live, const struct ts_row_memory *row)
{
	const struct ts_row_memory *call = &live->holder.row;

	return live->is_of_call &&
	       (call->op_id == row->op_id ||
		(call->bytes == row->bytes && row->start_ns - call->start_ns < MAX_CLOCK_ERROR_NS));
}

static int feed_alloc(struct pass *pass, uint32_t session, const struct ts_row_memory *row)
{
	uint32_t at = ts_state_map_find(&pass->by_address, session, row->address), index;
	struct ts_memory_group *group;
	int r = 0;

	if (at != NONE && is_of_same_call(&pass->live[at], row)) {
		forget(pass, at);
		r = drop(pass, at, false);
	} else if (at != NONE) {
		/* The free of the previous allocation was not recorded. */
		r = drop(pass, at, false);
		pass->memory->n_lost_frees += !pass->until_ns;
	}
	if (!r && pass->n_live == TS_MAX_LIVE)
		return TS_E_LIVE;
	if (!r)
		r = find_group(pass, session, row, &index);
	if (!r)
		r = TS_GROW(pass->live, pass->n_live_allocated, pass->n_live + 1);
	if (!r)
		r = ts_state_map_set(&pass->by_address, session, row->address,
				     (uint32_t)pass->n_live);
	if (r)
		return r;
	pass->live[pass->n_live++] =
		(struct live){.holder = {.session = session, .row = *row}, .group = index};
	group = &pass->groups[index];
	group->n_allocs++;
	group->total_bytes += row->bytes;
	group->live_bytes += row->bytes;
	if (group->live_bytes > group->peak_bytes) {
		group->peak_bytes = group->live_bytes;
		group->peak_ns = row->start_ns;
	}
	r = change_device(pass, session, row, row->bytes);
	if (!r && !pass->until_ns)
		note_peak(pass, row->start_ns);
	return r;
}

static int feed_free(struct pass *pass, uint32_t session, const struct ts_row_memory *row)
{
	uint32_t at = ts_state_map_find(&pass->by_address, session, row->address);

	/* The block before: another call got its address before this one returned. */
	if (at != NONE && row->op_id && pass->live[at].holder.row.op_id > row->op_id) {
		pass->memory->n_lost_frees -= pass->memory->n_lost_frees && !pass->until_ns;
		return 0;
	}
	if (at != NONE)
		return drop(pass, at, true);
	if (ts_state_map_find(&pass->freed, session, row->address) != NONE)
		ts_state_map_remove(&pass->freed, session, row->address);
	else
		pass->memory->n_unknown_frees += !pass->until_ns;
	return 0;
}

/* Returns the session's device if it has only one, because a call does not name its device. */
static uint32_t only_device(const struct ts_sbt_reader *reader, uint32_t session)
{
	uint32_t device = TS_NO_DEVICE;

	for (size_t i = 0; i < ts_sbt_reader_n_devices(reader); i++) {
		const struct ts_sbt_device *one = ts_sbt_reader_device_at(reader, i);

		if (one->session != session)
			continue;
		if (device != TS_NO_DEVICE)
			return TS_NO_DEVICE;
		device = one->row.device;
	}
	return device;
}

/*
 * Feeds a call that allocated or freed. The vendor's row normally comes first, because it is made
 * inside the call; then there is nothing to do. The row is missing if the program was killed before
 * delivery.
 */
static int feed_call(struct pass *pass, uint32_t session, const struct ts_row_access *call)
{
	static const uint16_t kinds[] = {
		[TS_ACCESS_ALLOCATED] = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
		[TS_ACCESS_ALLOCATED_PINNED] = TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED,
		[TS_ACCESS_ALLOCATED_MANAGED] = TS_CUPTI_ACTIVITY_MEMORY_KIND_MANAGED,
	};
	struct ts_row_memory row = {.start_ns = call->start_ns,
				    .op_id = call->op_id,
				    .address = call->dst,
				    .bytes = call->dst_bytes,
				    .stream = TS_NO_DEVICE,
				    .device = TS_NO_DEVICE};
	uint32_t at = ts_state_map_find(&pass->by_address, session, call->dst);
	int r;

	if (call->access == TS_ACCESS_FREED) {
		/*
		 * A later call has allocated the address again, so this free is not of that
		 * allocation.
		 */
		if (at == NONE || pass->live[at].holder.row.op_id > call->op_id)
			return 0;
		r = drop(pass, at, true);
		return r ? r : ts_state_map_set(&pass->freed, session, call->dst, 0);
	}
	if (at != NONE || call->access < TS_ACCESS_ALLOCATED || call->access > TS_ACCESS_FREED)
		return 0;
	row.memory_kind = kinds[call->access];
	if (call->access != TS_ACCESS_ALLOCATED_PINNED)
		row.device = only_device(pass->reader, session);
	r = feed_alloc(pass, session, &row);
	if (!r)
		pass->live[pass->n_live - 1].is_of_call = true;
	return r;
}

static int feed(struct pass *pass, const struct ts_sbt_row *row)
{
	switch (row->type) {
	case TS_ROW_ALLOC:
		return feed_alloc(pass, row->session, row->memory);
	case TS_ROW_FREE:
		return feed_free(pass, row->session, row->memory);
	default:
		return feed_call(pass, row->session, row->access);
	}
}

/* Reads allocations and frees, up to until_ns, or up to the allocation that makes the peak. */
static int read_rows(struct pass *pass, struct ts_sbt_reader *reader, uint32_t session)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_ALLOC) |
							       TS_ROW_BIT(TS_ROW_FREE) |
							       TS_ROW_BIT(TS_ROW_ACCESS),
						      .session = session};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	uint64_t last_ns = pass->memory->from_ns;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader, &options, &cursor);

	pass->reader = reader;
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			pass->memory->is_damaged = true;
			r = 0;
			continue;
		}
		if (r || (pass->until_ns && row.memory->start_ns > pass->until_ns))
			break;
		if (!pass->until_ns)
			note_level(pass, last_ns, row.memory->start_ns);
		last_ns = pass->now_ns = row.memory->start_ns;
		r = feed(pass, &row);
		if (!r && pass->until_ns && pass->to_peak &&
		    pass->device_bytes == pass->memory->peak_bytes)
			return 0;
	}
	if (!pass->until_ns) {
		note_level(pass, last_ns, pass->memory->to_ns);
		ts_memory_curves_finish(&pass->memory->curves, pass->memory->to_ns);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

/* ---- holders --------------------------------------------------------------------------------- */

static int compare_live(const void *a, const void *b)
{
	const struct ts_row_memory *x = &((const struct live *)a)->holder.row;
	const struct ts_row_memory *y = &((const struct live *)b)->holder.row;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->address < y->address ? -1 : x->address > y->address;
}

/* Returns false for variables of modules: the module frees them, not the program. */
static bool is_programs_own(uint32_t kind)
{
	return kind != TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC &&
	       kind != TS_CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC;
}

static int list_holders(struct pass *pass, bool (*is_listed)(uint32_t kind), size_t max,
			struct ts_memory_holders *ret)
{
	if (pass->n_live)
		qsort(pass->live, pass->n_live, sizeof(*pass->live), compare_live);
	ret->largest =
		calloc(max < pass->n_live ? max + 1 : pass->n_live + 1, sizeof(*ret->largest));
	if (!ret->largest)
		return -ENOMEM;
	for (size_t i = 0; i < pass->n_live; i++) {
		const struct ts_memory_holder *holder = &pass->live[i].holder;

		if (!is_listed(holder->row.memory_kind))
			continue;
		ret->n++;
		ret->bytes += holder->row.bytes;
		if (ret->n_largest < max)
			ret->largest[ret->n_largest++] = *holder;
	}
	return 0;
}

/* Finds the holders of an operation id: the map has the first one, and `next` links the others. */
struct wanted {
	struct ts_memory_holders *holders;
	struct ts_state_map by_op;
	uint32_t *next; /* NONE: the end */
};

static void wanted_deinit(struct wanted *wanted)
{
	ts_state_map_deinit(&wanted->by_op);
	free(wanted->next);
}

static int wanted_init(struct wanted *wanted, struct ts_memory_holders *holders)
{
	int r = 0;

	wanted->holders = holders;
	wanted->next = calloc(holders->n_largest + 1, sizeof(*wanted->next));
	if (!wanted->next)
		return -ENOMEM;
	for (uint32_t i = 0; !r && i < holders->n_largest; i++) {
		const struct ts_memory_holder *holder = &holders->largest[i];

		wanted->next[i] =
			ts_state_map_find(&wanted->by_op, holder->session, holder->row.op_id);
		r = ts_state_map_set(&wanted->by_op, holder->session, holder->row.op_id, i);
	}
	return r;
}

static void set_call(struct wanted *wanted, uint32_t session, const struct ts_row_api *call)
{
	uint32_t i = ts_state_map_find(&wanted->by_op, session, call->op_id);

	for (; i != NONE; i = wanted->next[i]) {
		struct ts_memory_holder *holder = &wanted->holders->largest[i];

		holder->thread = call->thread;
		holder->stack = call->stack;
		holder->call_ns = call->start_ns;
	}
}

/* Holders whose calls are searched. */
struct searched {
	struct wanted at_peak, never_freed;
};

static void searched_deinit(struct searched *searched)
{
	wanted_deinit(&searched->at_peak);
	wanted_deinit(&searched->never_freed);
}

static bool is_searched(const struct ts_sbt_row *row, const void *data)
{
	const struct searched *searched = data;
	const uint64_t op_id = row->api->op_id;

	return ts_state_map_find(&searched->at_peak.by_op, row->session, op_id) != NONE ||
	       ts_state_map_find(&searched->never_freed.by_op, row->session, op_id) != NONE;
}

static int take_call(const struct ts_sbt_row *row, void *data)
{
	struct searched *searched = data;

	set_call(&searched->at_peak, row->session, row->api);
	set_call(&searched->never_freed, row->session, row->api);
	return 0;
}

static int find_calls(struct ts_memory *memory, struct ts_sbt_reader *reader, uint32_t session)
{
	ts_cleanup(searched_deinit) struct searched searched = {0};
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_API),
						      .session = session};
	const struct ts_row_search search = {.keeps = is_searched,
					     .take = take_call,
					     .data = &searched};
	int r = wanted_init(&searched.at_peak, &memory->at_peak);

	r = r ? r : wanted_init(&searched.never_freed, &memory->never_freed);
	if (r || (!ts_state_map_count(&searched.at_peak.by_op) &&
		  !ts_state_map_count(&searched.never_freed.by_op)))
		return r;
	return ts_rows_search(reader, &options, &search, &memory->is_damaged);
}

#define COMPARE(x, y)                              \
	do {                                       \
		if ((x) != (y))                    \
			return (x) < (y) ? -1 : 1; \
	} while (0)

static int compare_groups(const void *a, const void *b)
{
	const struct ts_memory_group *x = a, *y = b;

	COMPARE(x->session, y->session);
	COMPARE(x->device, y->device);
	COMPARE(x->kind, y->kind);
	COMPARE(x->pool, y->pool);
	COMPARE(x->stream, y->stream);
	return 0;
}

/*
 * Removes groups that lost all their allocations, because the vendor's row came later and moved the
 * allocation to another group.
 */
static void remove_empty_groups(struct pass *pass)
{
	size_t n = 0;

	for (size_t i = 0; i < pass->n_groups; i++)
		if (pass->groups[i].n_allocs)
			pass->groups[n++] = pass->groups[i];
	pass->n_groups = n;
}

static int read_whole(struct ts_memory *memory, struct ts_sbt_reader *reader, uint32_t session,
		      size_t max_listed)
{
	ts_cleanup(pass_deinit) struct pass pass = {.memory = memory};
	int r = read_rows(&pass, reader, session);

	if (!r)
		r = list_holders(&pass, is_programs_own, max_listed, &memory->never_freed);
	if (r)
		return r;
	remove_empty_groups(&pass);
	if (pass.n_groups)
		qsort(pass.groups, pass.n_groups, sizeof(*pass.groups), compare_groups);
	memory->groups = pass.groups;
	memory->n_groups = pass.n_groups;
	pass.groups = NULL;
	return 0;
}

static int read_to_peak(struct ts_memory *memory, struct ts_sbt_reader *reader, uint32_t session,
			size_t max_listed)
{
	ts_cleanup(pass_deinit) struct pass pass = {.memory = memory,
						    .until_ns = memory->peak_ns,
						    .to_peak = true};
	int r;

	if (!memory->peak_bytes)
		return 0;
	r = read_rows(&pass, reader, session);
	return r ? r : list_holders(&pass, ts_memory_is_device, max_listed, &memory->at_peak);
}

int ts_memory_read_curves(struct ts_sbt_reader *reader, uint32_t session, size_t max_listed,
			  uint32_t n_parts, struct ts_memory **ret_memory)
{
	ts_cleanup(ts_memory_freep) struct ts_memory *memory = calloc(1, sizeof(*memory));
	struct ts_sbt_summary summary;
	int r = memory ? ts_sbt_reader_summary(reader, session, &summary) : -ENOMEM;

	if (r)
		return r;
	memory->from_ns = ts_sbt_reader_origin_ns(reader);
	memory->to_ns = summary.latest_ns > memory->from_ns ? summary.latest_ns : memory->from_ns;
	if (n_parts)
		r = ts_memory_curves_init(&memory->curves, reader, n_parts, memory->from_ns,
					  memory->to_ns);
	if (!r)
		r = read_whole(memory, reader, session, max_listed);
	if (!r)
		r = read_to_peak(memory, reader, session, max_listed);
	if (!r)
		r = find_calls(memory, reader, session);
	if (r)
		return r;
	*ret_memory = memory;
	memory = NULL;
	return 0;
}

int ts_memory_read(struct ts_sbt_reader *reader, uint32_t session, size_t max_listed,
		   struct ts_memory **ret_memory)
{
	return ts_memory_read_curves(reader, session, max_listed, 0, ret_memory);
}

int ts_memory_read_at(struct ts_sbt_reader *reader, uint32_t session, uint64_t at_ns,
		      size_t max_listed, struct ts_memory **ret_memory)
{
	ts_cleanup(ts_memory_freep) struct ts_memory *memory = calloc(1, sizeof(*memory));
	ts_cleanup(pass_deinit) struct pass pass = {.memory = memory, .until_ns = at_ns};
	int r = memory ? read_rows(&pass, reader, session) : -ENOMEM;

	r = r ? r : list_holders(&pass, ts_memory_is_device, max_listed, &memory->at_peak);
	r = r ? r : find_calls(memory, reader, session);
	if (r)
		return r;
	memory->peak_bytes = pass.device_bytes;
	memory->peak_ns = at_ns;
	*ret_memory = ts_take_ptr(memory);
	return 0;
}
