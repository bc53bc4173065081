/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the memory of replay/state to messages. query.c and errorsjson.c call this file; this
 * file calls names/ and stacks/.
 */
#include "replay/report/answers/memoryjson.h"

#include "proto/rpc/json.h"
#include "replay/report/names/names.h"
#include "replay/report/stacks/launchsite.h"
#include "replay/report/stacks/stackjson.h"

#include <inttypes.h>

static char *kind_name(struct ts_pool *pool, uint32_t kind)
{
	const char *name = ts_name_memory_kind(kind);

	return name ? ts_pool_copy(pool, name) : ts_pool_printf(pool, "kind %" PRIu32, kind);
}

static void make_holders(struct ts_resolver *resolver, struct ts_pool *pool,
			 const struct ts_memory_holders *holders, size_t max, bool stacks,
			 size_t *ret_n, Ts__Rpc__MemoryHolder ***ret_messages)
{
	Ts__Rpc__MemoryHolder **messages =
		ts_pool_alloc(pool, holders->n_largest + 1, sizeof(*messages));
	size_t n = holders->n_largest < max ? holders->n_largest : max;

	for (size_t i = 0; i < n; i++) {
		const struct ts_memory_holder *holder = &holders->largest[i];
		Ts__Rpc__MemoryHolder *message = ts_pool_alloc(pool, 1, sizeof(*message));

		ts__rpc__memory_holder__init(message);
		TS_RPC_SET(message, session, holder->session);
		TS_RPC_SET(message, address, holder->row.address);
		TS_RPC_SET(message, bytes, holder->row.bytes);
		message->kind = kind_name(pool, holder->row.memory_kind);
		if (holder->row.device != TS_NO_DEVICE)
			TS_RPC_SET(message, device, holder->row.device);
		TS_RPC_SET(message, start_ns, holder->row.start_ns);
		TS_RPC_SET(message, op_id, holder->row.op_id);
		ts_stackjson_thread(resolver, pool, holder->session, holder->thread, &message->tid,
				    &message->has_tid, &message->thread_name);
		if (stacks && holder->stack)
			message->stack = ts_stackjson_make(resolver, pool, holder->session,
							   holder->stack, holder->call_ns);
		messages[i] = message;
	}
	*ret_n = n;
	*ret_messages = messages;
}

#define MAX_SITES   100u /* sites in the message */
#define MAX_DEVICES 64u	 /* limit of devices whose memory is summed */

/* Sorts equal holders next to each other. */
static int compare_holders(const void *a, const void *b)
{
	const struct ts_memory_holder *x = *(const struct ts_memory_holder *const *)a;
	const struct ts_memory_holder *y = *(const struct ts_memory_holder *const *)b;
	const uint64_t keys[2][5] = {
		{x->session, x->stack, x->row.bytes, x->row.memory_kind, x->row.device},
		{y->session, y->stack, y->row.bytes, y->row.memory_kind, y->row.device},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(keys[0]); i++)
		if (keys[0][i] != keys[1][i])
			return keys[0][i] < keys[1][i] ? -1 : 1;
	return x->call_ns < y->call_ns ? -1 : x->call_ns > y->call_ns;
}

static bool is_alike(const struct ts_memory_holder *a, const struct ts_memory_holder *b)
{
	return a->session == b->session && a->stack == b->stack && a->row.bytes == b->row.bytes &&
	       a->row.memory_kind == b->row.memory_kind && a->row.device == b->row.device;
}

static int compare_sites(const void *a, const void *b)
{
	const Ts__Rpc__MemorySite *x = *(Ts__Rpc__MemorySite *const *)a;
	const Ts__Rpc__MemorySite *y = *(Ts__Rpc__MemorySite *const *)b;

	if (x->total_bytes != y->total_bytes)
		return x->total_bytes < y->total_bytes ? 1 : -1;
	return x->count < y->count ? 1 : x->count > y->count ? -1 : 0;
}

static void set_frames(struct ts_pool *pool, const struct ts_launch_site *from,
		       Ts__Rpc__MemorySite *site)
{
	if (!from)
		return;
	site->frame = ts_pool_copy(pool, from->frame);
	site->callers = ts_pool_alloc(pool, TS_LAUNCH_SITE_CALLERS, sizeof(char *));
	for (; site->n_callers < TS_LAUNCH_SITE_CALLERS && from->callers[site->n_callers];
	     site->n_callers++)
		site->callers[site->n_callers] = ts_pool_copy(pool, from->callers[site->n_callers]);
}

void ts_memoryjson_make_sites(struct ts_launch_sites *frames, struct ts_pool *pool,
			      const struct ts_memory_holders *holders, size_t *ret_n,
			      Ts__Rpc__MemorySite ***ret_messages)
{
	const struct ts_memory_holder **sorted =
		ts_pool_alloc(pool, holders->n_largest + 1, sizeof(*sorted));
	Ts__Rpc__MemorySite **messages =
		ts_pool_alloc(pool, holders->n_largest + 1, sizeof(*messages));
	size_t n = 0;

	for (size_t i = 0; i < holders->n_largest; i++)
		sorted[i] = &holders->largest[i];
	qsort(sorted, holders->n_largest, sizeof(*sorted), compare_holders);
	for (size_t i = 0, next; i < holders->n_largest; i = next) {
		const struct ts_memory_holder *holder = sorted[i];
		Ts__Rpc__MemorySite *site = ts_pool_alloc(pool, 1, sizeof(*site));

		for (next = i + 1; next < holders->n_largest && is_alike(holder, sorted[next]);)
			next++;
		ts__rpc__memory_site__init(site);
		TS_RPC_SET(site, count, next - i);
		TS_RPC_SET(site, bytes, holder->row.bytes);
		TS_RPC_SET(site, total_bytes, (next - i) * holder->row.bytes);
		set_frames(pool,
			   ts_launch_sites_at(frames, holder->session, holder->stack,
					      holder->call_ns),
			   site);
		site->kind = kind_name(pool, holder->row.memory_kind);
		if (holder->row.device != TS_NO_DEVICE)
			TS_RPC_SET(site, device, holder->row.device);
		TS_RPC_SET(site, session, holder->session);
		messages[n++] = site;
	}
	qsort(messages, n, sizeof(*messages), compare_sites);
	*ret_n = n < MAX_SITES ? n : MAX_SITES;
	*ret_messages = messages;
}

int ts_memoryjson_sites(struct ts_resolver *resolver, struct ts_pool *pool,
			const struct ts_memory *memory, Ts__Rpc__MemoryReport *report)
{
	ts_cleanup(ts_launch_sites_freep) struct ts_launch_sites *frames = NULL;
	int r = ts_launch_sites_new(resolver, pool->no_memory, &frames);

	if (r)
		return r;
	ts_memoryjson_make_sites(frames, pool, &memory->at_peak, &report->n_peak_sites,
				 &report->peak_sites);
	ts_memoryjson_make_sites(frames, pool, &memory->never_freed, &report->n_never_freed_sites,
				 &report->never_freed_sites);
	return 0;
}

static void make_groups(struct ts_pool *pool, const struct ts_memory *memory,
			Ts__Rpc__MemoryReport *report)
{
	report->groups = ts_pool_alloc(pool, memory->n_groups + 1, sizeof(*report->groups));
	for (size_t i = 0; i < memory->n_groups; i++) {
		const struct ts_memory_group *group = &memory->groups[i];
		Ts__Rpc__MemoryGroup *message = ts_pool_alloc(pool, 1, sizeof(*message));

		ts__rpc__memory_group__init(message);
		TS_RPC_SET(message, session, group->session);
		if (group->device != TS_NO_DEVICE)
			TS_RPC_SET(message, device, group->device);
		message->kind = kind_name(pool, group->kind);
		if (group->pool)
			TS_RPC_SET(message, pool, group->pool);
		if (group->stream != TS_NO_DEVICE)
			TS_RPC_SET(message, stream, group->stream);
		TS_RPC_SET(message, allocs, group->n_allocs);
		TS_RPC_SET(message, frees, group->n_frees);
		TS_RPC_SET(message, total_bytes, group->total_bytes);
		TS_RPC_SET(message, peak_bytes, group->peak_bytes);
		TS_RPC_SET(message, peak_ns, group->peak_ns);
		TS_RPC_SET(message, live_bytes, group->live_bytes);
		report->groups[report->n_groups++] = message;
	}
}

static void make_points(struct ts_pool *pool, const struct ts_memory *memory,
			Ts__Rpc__MemoryReport *report)
{
	uint64_t part_ns = (memory->to_ns - memory->from_ns) / TS_MEMORY_POINTS + 1;

	report->points = ts_pool_alloc(pool, TS_MEMORY_POINTS, sizeof(*report->points));
	for (size_t i = 0; i < TS_MEMORY_POINTS && memory->peak_bytes; i++) {
		Ts__Rpc__MemoryPoint *message = ts_pool_alloc(pool, 1, sizeof(*message));

		ts__rpc__memory_point__init(message);
		TS_RPC_SET(message, start_ns, memory->from_ns + i * part_ns);
		TS_RPC_SET(message, bytes, memory->points[i]);
		report->points[report->n_points++] = message;
	}
}

static Ts__Rpc__MemoryCurve *make_curve(struct ts_resolver *resolver, struct ts_pool *pool,
					const struct ts_memory_curves *curves,
					const struct ts_memory_curve *curve)
{
	const struct ts_row_device *row =
		ts_sbt_reader_device(ts_resolver_reader(resolver), curve->session, curve->device);
	Ts__Rpc__MemoryCurve *message = ts_pool_alloc(pool, 1, sizeof(*message));
	Ts__Rpc__MemoryPoint *points = ts_pool_alloc(pool, curves->n_parts, sizeof(*points));

	ts__rpc__memory_curve__init(message);
	TS_RPC_SET(message, session, curve->session);
	if (curve->device != TS_NO_DEVICE)
		TS_RPC_SET(message, device, curve->device);
	if (row)
		message->name = ts_pool_copy(pool, ts_resolver_string(resolver, row->name));
	if (row && row->memory_bytes)
		TS_RPC_SET(message, capacity_bytes, row->memory_bytes);
	TS_RPC_SET(message, peak_bytes, curve->peak_bytes);
	TS_RPC_SET(message, peak_ns, curve->peak_ns);
	TS_RPC_SET(message, live_bytes, curve->live_bytes);
	message->points = ts_pool_alloc(pool, curves->n_parts, sizeof(*message->points));
	message->n_points = curves->n_parts;
	for (uint32_t i = 0; i < curves->n_parts; i++) {
		ts__rpc__memory_point__init(&points[i]);
		TS_RPC_SET(&points[i], start_ns, curves->from_ns + i * curves->part_ns);
		TS_RPC_SET(&points[i], bytes, curve->points[i]);
		message->points[i] = &points[i];
	}
	return message;
}

static void make_curves(struct ts_resolver *resolver, struct ts_pool *pool,
			const struct ts_memory *memory, Ts__Rpc__MemoryReport *report)
{
	const struct ts_memory_curves *curves = &memory->curves;
	Ts__Rpc__MemoryCurves *message;

	if (!curves->n_parts)
		return;
	message = ts_pool_alloc(pool, 1, sizeof(*message));
	ts__rpc__memory_curves__init(message);
	TS_RPC_SET(message, end_ns, curves->from_ns + curves->n_parts * curves->part_ns);
	message->devices = ts_pool_alloc(pool, curves->n_curves + 1, sizeof(*message->devices));
	for (size_t i = 0; i < curves->n_curves; i++)
		message->devices[message->n_devices++] =
			make_curve(resolver, pool, curves, &curves->curves[i]);
	TS_RPC_SET(message, omitted, curves->n_left_out);
	report->curves = message;
}

static bool is_used(const Ts__Rpc__MemoryReport *report, const struct ts_sbt_device *device)
{
	for (size_t i = 0; i < report->n_groups; i++)
		if (report->groups[i]->has_device &&
		    report->groups[i]->device == device->row.device &&
		    report->groups[i]->session == device->session && report->groups[i]->peak_bytes)
			return true;
	return false;
}

/*
 * Sums the devices' memory. Counts each device once, although each process that uses it has a row
 * for it.
 */
static void set_capacity(struct ts_sbt_reader *reader, Ts__Rpc__MemoryReport *report)
{
	const struct ts_sbt_device *used[MAX_DEVICES];
	size_t n_devices = ts_sbt_reader_n_devices(reader), n = 0;
	uint64_t bytes = 0;

	if (n_devices > MAX_DEVICES)
		return;
	for (size_t i = 0; i < n_devices; i++) {
		const struct ts_sbt_device *device = ts_sbt_reader_device_at(reader, i);
		size_t same = 0;

		while (same < n &&
		       memcmp(used[same]->row.uuid, device->row.uuid, sizeof(device->row.uuid)))
			same++;
		if (same < n || !is_used(report, device))
			continue;
		if (!device->row.memory_bytes ||
		    __builtin_add_overflow(bytes, device->row.memory_bytes, &bytes))
			return;
		used[n++] = device;
	}
	if (n)
		TS_RPC_SET(report, capacity_bytes, bytes);
}

void ts_memoryjson_make(struct ts_resolver *resolver, struct ts_pool *pool,
			const struct ts_memory *memory, size_t max, bool stacks,
			Ts__Rpc__MemoryReport *report)
{
	ts__rpc__memory_report__init(report);
	TS_RPC_SET(report, peak_bytes, memory->peak_bytes);
	if (memory->peak_bytes)
		TS_RPC_SET(report, peak_ns, memory->peak_ns);
	make_holders(resolver, pool, &memory->at_peak, max, stacks, &report->n_at_peak,
		     &report->at_peak);
	TS_RPC_SET(report, peak_allocations, memory->at_peak.n);
	make_holders(resolver, pool, &memory->never_freed, max, stacks, &report->n_never_freed,
		     &report->never_freed);
	TS_RPC_SET(report, never_freed_allocations, memory->never_freed.n);
	TS_RPC_SET(report, never_freed_bytes, memory->never_freed.bytes);
	make_groups(pool, memory, report);
	make_points(pool, memory, report);
	make_curves(resolver, pool, memory, report);
	TS_RPC_SET(report, unknown_frees, memory->n_unknown_frees);
	TS_RPC_SET(report, lost_frees, memory->n_lost_frees);
	set_capacity(ts_resolver_reader(resolver), report);
}

static Ts__Rpc__MemoryAlive *make_alive(struct ts_resolver *resolver, struct ts_pool *pool,
					const struct ts_lifetimes_allocation *allocation,
					size_t max_kernels)
{
	size_t n = allocation->n_kernels < max_kernels ? allocation->n_kernels : max_kernels;
	Ts__Rpc__MemoryAlive *message = ts_pool_alloc(pool, 1, sizeof(*message));

	ts__rpc__memory_alive__init(message);
	TS_RPC_SET(message, session, allocation->session);
	TS_RPC_SET(message, address, allocation->row.address);
	TS_RPC_SET(message, bytes, allocation->row.bytes);
	message->kind = kind_name(pool, allocation->row.memory_kind);
	if (allocation->row.device != TS_NO_DEVICE)
		TS_RPC_SET(message, device, allocation->row.device);
	TS_RPC_SET(message, start_ns, allocation->row.start_ns);
	if (allocation->end_ns != UINT64_MAX)
		TS_RPC_SET(message, end_ns, allocation->end_ns);
	TS_RPC_SET(message, op_id, allocation->row.op_id);
	TS_RPC_SET(message, kernel_count, allocation->count);
	TS_RPC_SET(message, kernel_ns, allocation->ns);
	message->kernels = ts_pool_alloc(pool, n + 1, sizeof(*message->kernels));
	for (size_t i = 0; i < n; i++) {
		const struct ts_lifetimes_kernel *kernel = &allocation->kernels[i];
		const char *name = ts_resolver_kernel_name(resolver, kernel->name);
		Ts__Rpc__MemoryKernel *entry = ts_pool_alloc(pool, 1, sizeof(*entry));

		ts__rpc__memory_kernel__init(entry);
		entry->name = ts_pool_copy(pool, name ? name : "unknown kernel");
		TS_RPC_SET(entry, count, kernel->count);
		TS_RPC_SET(entry, ns, kernel->ns);
		message->kernels[message->n_kernels++] = entry;
	}
	return message;
}

void ts_memoryjson_alive(struct ts_resolver *resolver, struct ts_pool *pool,
			 const struct ts_lifetimes *lifetimes, size_t max_kernels,
			 Ts__Rpc__MemoryReport *report)
{
	report->alive = ts_pool_alloc(pool, lifetimes->n_allocations + 1, sizeof(*report->alive));
	for (size_t i = 0; i < lifetimes->n_allocations; i++)
		report->alive[report->n_alive++] =
			make_alive(resolver, pool, &lifetimes->allocations[i], max_kernels);
	TS_RPC_SET(report, alive_count, lifetimes->n_all);
}
