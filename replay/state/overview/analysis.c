/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds common problems in a trace: see analysis.h. `tsctl analyze` calls this file. This file
 * checks each operation and synchronization as it comes; overview.c feeds the state machine.
 * Findings are summed by stack.
 */
#include "replay/state/overview/analysis.h"

#include "proto/abi/grow.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "replay/state/overview/passes.h"
#include "replay/state/state-map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE TS_STATE_MAP_NONE
/* Number of recent calls that are kept until their synchronization row comes. */
#define N_CALLS 4096u

struct recent_call {
	uint64_t op_id;
	uint32_t session, stack;
};

/*
 * The device's operation that ends last, and the latest end among the operations of all other
 * streams.
 */
struct last {
	uint64_t start_ns, end_ns;
	uint32_t stream;
};

struct device {
	struct last first, other;
};

struct ts_analysis_pass {
	struct ts_analysis *analysis;
	const struct ts_state_machine *machine;
	struct ts_state_map group_by_key[TS_ANALYSIS_FINDINGS + 1];
	size_t n_groups_allocated;
	/* The only part that ts_analysis_pass_row() uses besides the machine. */
	struct recent_call calls[N_CALLS];
	uint64_t over_ns; /* latest end of all operations that have begun */
	struct ts_state_map device_by_id;
	struct device *devices;
	size_t n_devices, n_devices_allocated;
	/* The last used device; n_devices 0: none. */
	uint32_t last_session, last_id, last_at;
	uint64_t begun_ns; /* in a segment: operations that ended before may be unknown */
};

const char *ts_analysis_finding_name(uint32_t finding)
{
	static const char *const names[TS_ANALYSIS_FINDINGS] = {
		[TS_ANALYSIS_TINY_COPY] = "tiny_copy",
		[TS_ANALYSIS_PAGEABLE_COPY] = "pageable_copy",
		[TS_ANALYSIS_REDUNDANT_SYNC] = "redundant_sync",
		[TS_ANALYSIS_LEGACY_STREAM] = "legacy_stream",
		[TS_ANALYSIS_SERIALISED] = "serialised_streams",
	};

	return finding < TS_ANALYSIS_FINDINGS ? names[finding] : NULL;
}

void ts_analysis_free(struct ts_analysis *analysis)
{
	if (!analysis)
		return;
	free(analysis->groups);
	free(analysis);
}

static void add(struct ts_analysis_sum *sum, uint64_t ns, uint64_t bytes)
{
	sum->count++;
	sum->ns += ns;
	sum->bytes += bytes;
}

/* Adds a group. NULL: there are already TS_ANALYSIS_MAX_GROUPS. */
static __attribute__((noinline)) int new_group(struct ts_analysis_pass *pass,
					       const struct ts_analysis_group *key, uint64_t id,
					       struct ts_analysis_group **ret_group)
{
	struct ts_analysis *analysis = pass->analysis;
	int r;

	*ret_group = NULL;
	if (analysis->n_groups == TS_ANALYSIS_MAX_GROUPS)
		return 0;
	if (TS_GROW(analysis->groups, pass->n_groups_allocated, analysis->n_groups + 1))
		return -ENOMEM;
	r = ts_state_map_set(&pass->group_by_key[key->finding], key->session, id,
			     (uint32_t)analysis->n_groups);
	if (r)
		return r;
	*ret_group = &analysis->groups[analysis->n_groups++];
	**ret_group = *key;
	return 0;
}

/*
 * Finds or adds the group. NULL: there are already TS_ANALYSIS_MAX_GROUPS. Inlined, because each
 * operation makes its key: a call would wait until the key's stores are done.
 */
TS_SLOTS_INLINE int find_group(struct ts_analysis_pass *pass, const struct ts_analysis_group *key,
			       struct ts_analysis_group **ret_group)
{
	const uint64_t id = (uint64_t)key->device << 32 | key->stack;
	const uint32_t at = ts_state_map_find(&pass->group_by_key[key->finding], key->session, id);

	if (at == NONE)
		return new_group(pass, key, id, ret_group);
	*ret_group = &pass->analysis->groups[at];
	return 0;
}

TS_SLOTS_INLINE int add_group(struct ts_analysis_pass *pass, const struct ts_analysis_group *key,
			      uint64_t ns, uint64_t bytes)
{
	struct ts_analysis_group *group;
	int r = find_group(pass, key, &group);

	if (!r && group)
		add(&group->sum, ns, bytes);
	return r;
}

static int find(struct ts_analysis_pass *pass, enum ts_analysis_finding finding, uint32_t session,
		uint32_t stack, uint64_t time_ns, uint64_t ns, uint64_t bytes)
{
	const struct ts_analysis_group key = {.finding = finding,
					      .session = session,
					      .stack = stack,
					      .time_ns = time_ns};

	add(&pass->analysis->findings[finding], ns, bytes);
	return add_group(pass, &key, ns, bytes);
}

static bool is_host_kind(uint32_t kind)
{
	return kind == TS_CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ||
	       kind == TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
}

static int take_copy(struct ts_analysis_pass *pass, const struct ts_state_op *op)
{
	const struct ts_row_memcpy *row = &op->row.memcpy_;
	uint64_t ns = op->end_ns - op->start_ns;
	int r = 0;

	add(&pass->analysis->copies, ns, row->bytes);
	if (row->src_kind == TS_CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ||
	    row->dst_kind == TS_CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE)
		r = find(pass, TS_ANALYSIS_PAGEABLE_COPY, op->session, op->stack, op->call_ns, ns,
			 row->bytes);
	if (!r && row->bytes < TS_ANALYSIS_TINY_BYTES &&
	    is_host_kind(row->src_kind) != is_host_kind(row->dst_kind))
		r = find(pass, TS_ANALYSIS_TINY_COPY, op->session, op->stack, op->call_ns, ns,
			 row->bytes);
	return r;
}

static int find_device(struct ts_analysis_pass *pass, const struct ts_state_op *op,
		       struct device **ret_device)
{
	uint32_t at;
	int r;

	if (pass->n_devices && pass->last_session == op->session && pass->last_id == op->device) {
		*ret_device = &pass->devices[pass->last_at];
		return 0;
	}
	at = ts_state_map_find(&pass->device_by_id, op->session, op->device);
	if (at == NONE) {
		if (TS_GROW(pass->devices, pass->n_devices_allocated, pass->n_devices + 1))
			return -ENOMEM;
		at = (uint32_t)pass->n_devices;
		r = ts_state_map_set(&pass->device_by_id, op->session, op->device, at);
		if (r)
			return r;
		pass->devices[pass->n_devices++] = (struct device){0};
	}
	pass->last_session = op->session;
	pass->last_id = op->device;
	pass->last_at = at;
	*ret_device = &pass->devices[at];
	return 0;
}

/*
 * Returns the time at which the operation was ready: its call had begun, and the earlier operations
 * of its stream had ended, as far as known.
 */
static uint64_t ready_ns(const struct ts_state_op *op)
{
	uint64_t ns = op->call_ns;

	for (uint32_t i = 0; i < op->n_dependencies; i++)
		if (op->dependencies[i].kind == TS_STATE_BY_STREAM &&
		    op->dependencies[i].end_ns > ns)
			ns = op->dependencies[i].end_ns;
	return ns;
}

static int take_serialised(struct ts_analysis_pass *pass, const struct ts_state_op *op)
{
	struct ts_analysis_group key = {.finding = TS_ANALYSIS_SERIALISED,
					.session = op->session,
					.stack = op->stack,
					.device = op->device,
					.time_ns = op->call_ns};
	const struct last now = {op->start_ns, op->end_ns, op->stream_number};
	uint64_t ready = ready_ns(op), ns;
	struct device *device;
	const struct last *by;
	int r = find_device(pass, op, &device);

	if (r)
		return r;
	if (op->call_ns < pass->begun_ns && !(op->unsure & TS_STATE_UNSURE_CALL))
		return TS_SEGMENTS_NONE;
	by = device->first.stream == op->stream_number ? &device->other : &device->first;
	/*
	 * Graph nodes have streams of their own. If the operation's call is unknown, `ready` (the
	 * earliest start) is unknown.
	 */
	if (!(op->unsure & (TS_STATE_UNSURE_GRAPH | TS_STATE_UNSURE_CALL)) && by->end_ns > ready &&
	    by->end_ns <= op->start_ns) {
		ns = by->end_ns - (ready > by->start_ns ? ready : by->start_ns);
		add(&pass->analysis->findings[TS_ANALYSIS_SERIALISED], ns, 0);
		r = add_group(pass, &key, ns, 0);
	}
	if (now.stream == device->first.stream) {
		if (now.end_ns > device->first.end_ns)
			device->first = now;
	} else if (now.end_ns > device->first.end_ns) {
		device->other = device->first;
		device->first = now;
	} else if (now.end_ns > device->other.end_ns) {
		device->other = now;
	}
	return r;
}

int ts_analysis_pass_take(struct ts_analysis_pass *pass, const struct ts_state_op *op)
{
	const struct ts_analysis_group kernel = {.finding = TS_ANALYSIS_FINDINGS,
						 .stack = op->row.kernel.name,
						 .time_ns = op->start_ns};
	uint64_t ns = op->end_ns - op->start_ns;
	bool by_legacy = false;
	int r = 0;

	if (op->end_ns > pass->over_ns)
		pass->over_ns = op->end_ns;
	for (uint32_t i = 0; i < op->n_dependencies; i++)
		by_legacy |= op->dependencies[i].kind == TS_STATE_BY_LEGACY;
	if (op->type == TS_ROW_MEMCPY) {
		r = take_copy(pass, op);
	} else if (op->type == TS_ROW_KERNEL) {
		add(&pass->analysis->kernels, ns, 0);
		r = add_group(pass, &kernel, ns, 0);
	}
	if (!r && by_legacy)
		r = find(pass, TS_ANALYSIS_LEGACY_STREAM, op->session, op->stack, op->call_ns, ns,
			 0);
	return r ? r : take_serialised(pass, op);
}

int ts_analysis_pass_sync(struct ts_analysis_pass *pass, const struct ts_analysis_sync *sync)
{
	add(&pass->analysis->syncs, sync->ns, 0);
	if (sync->is_awaited || pass->over_ns > sync->start_ns ||
	    sync->ns > TS_ANALYSIS_REDUNDANT_NS)
		return 0;
	return find(pass, TS_ANALYSIS_REDUNDANT_SYNC, sync->session, sync->stack, sync->start_ns,
		    sync->ns, 0);
}

bool ts_analysis_pass_row(struct ts_analysis_pass *pass, const struct ts_sbt_row *row,
			  struct ts_analysis_sync *ret_sync)
{
	const struct ts_row_sync *sync = row->sync;
	const struct recent_call *call;

	if (row->type == TS_ROW_API)
		pass->calls[row->api->op_id % N_CALLS] =
			(struct recent_call){row->api->op_id, row->session, row->api->stack};
	if (row->type != TS_ROW_SYNC ||
	    sync->sync_type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT)
		return false;
	call = &pass->calls[sync->op_id % N_CALLS];
	*ret_sync = (struct ts_analysis_sync){
		.start_ns = sync->start_ns,
		.ns = sync->end_ns > sync->start_ns ? sync->end_ns - sync->start_ns : 0,
		.session = row->session,
		.stack = call->op_id == sync->op_id && call->session == row->session ? call->stack
										     : 0,
		.is_awaited = ts_state_machine_n_awaited(pass->machine) != 0,
	};
	return true;
}

/* ---- segments -------------------------------------------------------------------------------- */

void ts_analysis_pass_start(struct ts_analysis_pass *pass, const struct ts_segments_counts *counts)
{
	struct ts_analysis *analysis = pass->analysis;

	memset(analysis->findings, 0, sizeof(analysis->findings));
	analysis->kernels = analysis->copies = analysis->syncs = (struct ts_analysis_sum){0};
	analysis->n_groups = 0;
	for (size_t i = 0; i <= TS_ANALYSIS_FINDINGS; i++) {
		ts_state_map_deinit(&pass->group_by_key[i]);
		pass->group_by_key[i] = (struct ts_state_map){0};
	}
	pass->begun_ns = counts->begun_ns;
}

static void join_sum(struct ts_analysis_sum *to, const struct ts_analysis_sum *sum)
{
	to->count += sum->count;
	to->bytes += sum->bytes;
	to->ns += sum->ns;
}

int ts_analysis_pass_join(struct ts_analysis_pass *all, const struct ts_analysis_pass *pass,
			  const struct ts_segments_counts *counts)
{
	const struct ts_analysis *analysis = pass->analysis;
	int r = 0;

	if (counts->n_carried < 0 && analysis->syncs.count)
		return TS_SEGMENTS_NONE;
	join_sum(&all->analysis->kernels, &analysis->kernels);
	join_sum(&all->analysis->copies, &analysis->copies);
	join_sum(&all->analysis->syncs, &analysis->syncs);
	for (uint32_t i = 0; i < TS_ANALYSIS_FINDINGS; i++)
		if (i != TS_ANALYSIS_REDUNDANT_SYNC || !counts->n_carried)
			join_sum(&all->analysis->findings[i], &analysis->findings[i]);
	for (size_t i = 0; !r && i < analysis->n_groups; i++) {
		struct ts_analysis_group key = analysis->groups[i], *group;

		/* All work was not over: device rows of earlier calls were missing. */
		if (key.finding == TS_ANALYSIS_REDUNDANT_SYNC && counts->n_carried)
			continue;
		key.sum = (struct ts_analysis_sum){0};
		r = find_group(all, &key, &group);
		if (!r && !group)
			return TS_SEGMENTS_NONE;
		if (!r)
			join_sum(&group->sum, &analysis->groups[i].sum);
	}
	return r;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int compare_groups(const void *a, const void *b)
{
	const struct ts_analysis_group *x = a, *y = b;

	if (x->finding != y->finding)
		return x->finding < y->finding ? -1 : 1;
	if (x->sum.ns != y->sum.ns)
		return x->sum.ns > y->sum.ns ? -1 : 1;
	if (x->sum.count != y->sum.count)
		return x->sum.count > y->sum.count ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

int ts_analysis_pass_new(const struct ts_state_machine *machine, struct ts_analysis_pass **ret_pass)
{
	ts_cleanup(ts_analysis_pass_freep) struct ts_analysis_pass *pass = calloc(1, sizeof(*pass));

	if (!pass)
		return -ENOMEM;
	pass->machine = machine;
	pass->analysis = calloc(1, sizeof(*pass->analysis));
	if (!pass->analysis)
		return -ENOMEM;
	*ret_pass = ts_take_ptr(pass);
	return 0;
}

void ts_analysis_pass_free(struct ts_analysis_pass *pass)
{
	if (!pass)
		return;
	ts_analysis_free(pass->analysis);
	for (size_t i = 0; i <= TS_ANALYSIS_FINDINGS; i++)
		ts_state_map_deinit(&pass->group_by_key[i]);
	ts_state_map_deinit(&pass->device_by_id);
	free(pass->devices);
	free(pass);
}

void ts_analysis_pass_finish(struct ts_analysis_pass *pass, bool is_damaged,
			     struct ts_analysis **ret_analysis)
{
	struct ts_analysis *analysis = ts_take_ptr(pass->analysis);

	analysis->is_damaged = is_damaged;
	if (analysis->n_groups)
		qsort(analysis->groups, analysis->n_groups, sizeof(*analysis->groups),
		      compare_groups);
	*ret_analysis = analysis;
}
