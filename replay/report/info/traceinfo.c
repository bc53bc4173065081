/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the message of `tsctl info`: see traceinfo.h. query.c calls this file. Totals come from
 * the index and from the blocks' headers. Rows are read only for facts that the index and the
 * headers lack: losses, pauses, samples, captures and annotations.
 */
#include "replay/report/info/traceinfo.h"

#include "proto/abi/capture-config.h"
#include "proto/abi/session.h"
#include "proto/abi/vendor/cupti_family.h"
#include "proto/rpc/json.h"
#include "replay/report/answers/clockjson.h"
#include "replay/report/answers/errorsjson.h"
#include "replay/report/info/sampleinfo.h"
#include "replay/report/info/why-empty.h"
#include "replay/report/names/names.h"
#include "replay/report/replay/ended.h"
#include "replay/report/rows/aggregate.h"
#include "replay/state/doubts.h"

#define MAX_UNSUPPORTED 64u /* unsupported names per session */

struct maker {
	struct ts_resolver *resolver;
	struct ts_sbt_reader *reader;
	struct ts_pool *pool;
	uint32_t session;
	struct ts_sbt_summary summary;
	bool damaged;
};

/* Adds an entry to a map of any message: protobuf-c gives all map entries the same shape. */
#define MAP_ADD(maker_, message_, map_, entry_type_, entry_init_, key_, value_)        \
	do {                                                                           \
		entry_type_ *entry = ts_pool_alloc((maker_)->pool, 1, sizeof(*entry)); \
                                                                                       \
		entry_init_(entry);                                                    \
		entry->key = ts_pool_copy((maker_)->pool, key_);                       \
		TS_RPC_SET(entry, value, value_);                                      \
		(message_)->map_[(message_)->n_##map_++] = entry;                      \
	} while (0)

/* Returns the key of a reason of loss in JSON; a reason without a known name has a key, too. */
static const char *loss_key(struct maker *maker, unsigned int reason)
{
	const char *name = ts_name_loss_reason(reason);

	return name ? name : ts_pool_printf(maker->pool, "reason_%u", reason);
}

static void fill_counts(struct maker *maker, Ts__Rpc__TraceInfo *info)
{
	info->counts = ts_pool_alloc(maker->pool, TS_ROW_N_EVENTS, sizeof(*info->counts));
	info->lost = ts_pool_alloc(maker->pool, TS_LOSS_COUNT, sizeof(*info->lost));
	/*
	 * The message lists all types, also those without rows, so scripts need not test for them.
	 */
	for (unsigned int type = TS_ROW_API; type; type = ts_row_next_event(type))
		if (ts_row_schema(type))
			MAP_ADD(maker, info, counts, Ts__Rpc__TraceInfo__CountsEntry,
				ts__rpc__trace_info__counts_entry__init, ts_row_schema(type)->name,
				maker->summary.counts[type]);
	for (unsigned int reason = 0; reason < TS_LOSS_COUNT; reason++)
		if (maker->summary.lost[reason])
			MAP_ADD(maker, info, lost, Ts__Rpc__TraceInfo__LostEntry,
				ts__rpc__trace_info__lost_entry__init, loss_key(maker, reason),
				maker->summary.lost[reason]);
}

static int fill_session_counts(struct maker *maker, Ts__Rpc__SessionInfo *info, uint32_t session)
{
	struct ts_sbt_summary summary;
	int r = ts_sbt_reader_summary(maker->reader, session, &summary);

	if (r == TS_SBT_E_CORRUPT) {
		maker->damaged = true;
		return 0;
	}
	if (r)
		return r;
	info->counts = ts_pool_alloc(maker->pool, TS_ROW_N_EVENTS, sizeof(*info->counts));
	info->lost = ts_pool_alloc(maker->pool, TS_LOSS_COUNT, sizeof(*info->lost));
	for (unsigned int type = TS_ROW_API; type; type = ts_row_next_event(type))
		if (summary.counts[type] && ts_row_schema(type))
			MAP_ADD(maker, info, counts, Ts__Rpc__SessionInfo__CountsEntry,
				ts__rpc__session_info__counts_entry__init,
				ts_row_schema(type)->name, summary.counts[type]);
	for (unsigned int reason = 0; reason < TS_LOSS_COUNT; reason++)
		if (summary.lost[reason])
			MAP_ADD(maker, info, lost, Ts__Rpc__SessionInfo__LostEntry,
				ts__rpc__session_info__lost_entry__init, loss_key(maker, reason),
				summary.lost[reason]);
	return 0;
}

static Ts__Rpc__SessionState session_state(const struct maker *maker,
					   const struct ts_row_session *row)
{
	static const Ts__Rpc__SessionState states[] = {
		[TS_SESSION_END_BYE] = TS__RPC__SESSION_STATE__SESSION_STATE_ENDED,
		[TS_SESSION_END_DIED] = TS__RPC__SESSION_STATE__SESSION_STATE_DIED,
		[TS_SESSION_END_STOPPED] = TS__RPC__SESSION_STATE__SESSION_STATE_STOPPED,
		[TS_SESSION_END_BAD_DATA] = TS__RPC__SESSION_STATE__SESSION_STATE_DROPPED,
		[TS_SESSION_END_DAEMON] = TS__RPC__SESSION_STATE__SESSION_STATE_CUT,
		[TS_SESSION_END_EMPTY] = TS__RPC__SESSION_STATE__SESSION_STATE_EMPTY,
	};

	if (row->ended != TS_SESSION_END_NONE)
		return row->ended < TS_ARRAY_LEN(states)
			       ? states[row->ended]
			       : TS__RPC__SESSION_STATE__SESSION_STATE_UNKNOWN;
	return ts_sbt_reader_state(maker->reader) == TS_SBT_GROWING
		       ? TS__RPC__SESSION_STATE__SESSION_STATE_RUNNING
		       : TS__RPC__SESSION_STATE__SESSION_STATE_CUT;
}

static char *string(struct maker *maker, uint32_t id)
{
	return ts_pool_copy(maker->pool, ts_resolver_string(maker->resolver, id));
}

/* Names the interfaces by which the shim recorded the session. */
static void fill_interfaces(struct maker *maker, const struct ts_row_session *row,
			    Ts__Rpc__SessionInfo *info)
{
	static const char *const names[] = {
		"cupti",	"hip_tables", "hip_tracer",	 "hip_symbols",
		"hip_activity", "hip_events", "rocprofiler_sdk",
	};

	info->interfaces =
		ts_pool_alloc(maker->pool, TS_ARRAY_LEN(names) + TS_PTI_VENDORS, sizeof(char *));
	for (size_t i = 0; i < TS_PTI_VENDORS; i++)
		if (row->interfaces & TS_INTERFACE_PTI << i)
			info->interfaces[info->n_interfaces++] = (char *)ts_pti_vendors[i].name;
	for (size_t i = 0; i < TS_ARRAY_LEN(names); i++)
		if (names[i] && row->interfaces >> i & 1)
			info->interfaces[info->n_interfaces++] = (char *)names[i];
}

static int fill_session(struct maker *maker, const struct ts_row_session *row,
			Ts__Rpc__SessionInfo *info)
{
	ts__rpc__session_info__init(info);
	TS_RPC_SET(info, session, row->session);
	TS_RPC_SET(info, pid, row->pid);
	if (row->parent_pid)
		TS_RPC_SET(info, parent_pid, row->parent_pid);
	info->program = string(maker, row->program);
	TS_RPC_SET(info, state, session_state(maker, row));
	info->end_reason = ts_pool_copy(maker->pool, ts_ended_by(maker->reader, row));
	TS_RPC_SET(info, start_ns, row->start_ns);
	if (row->end_ns)
		TS_RPC_SET(info, end_ns, row->end_ns);
	TS_RPC_SET(info, start_realtime_ns, row->start_realtime_ns);
	info->has_id = 1;
	info->id.len = sizeof(row->uuid);
	info->id.data = ts_pool_alloc(maker->pool, 1, sizeof(row->uuid));
	memcpy(info->id.data, row->uuid, sizeof(row->uuid));
	info->host_clock = ts_pool_copy(maker->pool, ts_name_clock(row->host_clock));
	TS_RPC_SET(info, cupti_version, row->vendor_version);
	TS_RPC_SET(info, driver_version, row->driver_version);
	fill_interfaces(maker, row, info);
	if (row->hip_version)
		TS_RPC_SET(info, hip_version, row->hip_version);
	if (row->hip_time_error_ns)
		TS_RPC_SET(info, hip_time_error_ns, row->hip_time_error_ns);
	TS_RPC_SET(info, threads,
		   (uint32_t)ts_sbt_reader_n_threads_of(maker->reader, row->session));
	if (row->uid != UINT32_MAX)
		TS_RPC_SET(info, uid, row->uid);
	info->empty_reason = ts_pool_copy(maker->pool, ts_name_empty_reason(row->empty_reason));
	if (info->empty_reason)
		info->empty_text = string(maker, row->empty_text);
	if (row->source == TS_SESSION_SOURCE_PROBES)
		TS_RPC_SET(info, host_half_only, true);
	info->command_line = string(maker, row->command_line);
	info->job = string(maker, row->job);
	if (row->job_flags & TS_JOB_RANK)
		TS_RPC_SET(info, rank, row->rank);
	if (row->n_ranks)
		TS_RPC_SET(info, ranks, row->n_ranks);
	if (row->job_flags & TS_JOB_LOCAL_RANK)
		TS_RPC_SET(info, local_rank, row->local_rank);
	return fill_session_counts(maker, info, row->session);
}

static int fill_sessions(struct maker *maker, Ts__Rpc__TraceInfo *info)
{
	size_t n = ts_sbt_reader_n_sessions(maker->reader);
	int r;

	info->sessions = ts_pool_alloc(maker->pool, n + 1, sizeof(*info->sessions));
	for (size_t i = 0; i < n; i++) {
		const struct ts_row_session *row = ts_sbt_reader_session_at(maker->reader, i);
		Ts__Rpc__SessionInfo *session;

		if (maker->session && row->session != maker->session)
			continue;
		session = ts_pool_alloc(maker->pool, 1, sizeof(*session));
		r = fill_session(maker, row, session);
		if (r)
			return r;
		info->sessions[info->n_sessions++] = session;
		if (row->clock_error_ns > info->clock_error_ns || !info->has_clock_error_ns)
			TS_RPC_SET(info, clock_error_ns, row->clock_error_ns);
	}
	return 0;
}

static char *uuid_text(struct maker *maker, const uint8_t uuid[16])
{
	char *text = ts_pool_alloc(maker->pool, 1, 48), *at = stpcpy(text, "GPU-");

	for (int i = 0; i < 16; i++) {
		static const char digits[] = "0123456789abcdef";

		if (i == 4 || i == 6 || i == 8 || i == 10)
			*at++ = '-';
		*at++ = digits[uuid[i] >> 4];
		*at++ = digits[uuid[i] & 15];
	}
	return text;
}

static void fill_device(struct maker *maker, const struct ts_sbt_device *device,
			Ts__Rpc__DeviceInfo *info)
{
	const struct ts_row_device *row = &device->row;

	ts__rpc__device_info__init(info);
	TS_RPC_SET(info, device, row->device);
	TS_RPC_SET(info, session, device->session);
	info->name = string(maker, row->name);
	info->uuid = uuid_text(maker, row->uuid);
	TS_RPC_SET(info, virtual_, (row->flags & TS_DEVICE_VIRTUAL) != 0);
	if (row->flags & TS_DEVICE_TIMED_KERNELS)
		TS_RPC_SET(info, timed_kernels, true);
	info->compute_capability =
		ts_pool_printf(maker->pool, "%u.%u", row->compute_capability_major,
			       row->compute_capability_minor);
	TS_RPC_SET(info, multiprocessors, row->n_multiprocessors);
	TS_RPC_SET(info, memory_bytes, row->memory_bytes);
	TS_RPC_SET(info, memory_bandwidth_kb_per_s, row->memory_bandwidth_kb_per_s);
	TS_RPC_SET(info, core_clock_khz, row->core_clock_khz);
	TS_RPC_SET(info, copy_engines, row->n_copy_engines);
	TS_RPC_SET(info, threads_per_warp, row->threads_per_warp);
	TS_RPC_SET(info, max_warps_per_multiprocessor, row->max_warps_per_multiprocessor);
	TS_RPC_SET(info, max_blocks_per_multiprocessor, row->max_blocks_per_multiprocessor);
	TS_RPC_SET(info, max_shared_bytes_per_multiprocessor,
		   row->max_shared_bytes_per_multiprocessor);
	TS_RPC_SET(info, max_registers_per_multiprocessor, row->max_registers_per_multiprocessor);
	TS_RPC_SET(info, l2_cache_bytes, row->l2_cache_bytes);
}

static void fill_devices(struct maker *maker, Ts__Rpc__TraceInfo *info)
{
	size_t n = ts_sbt_reader_n_devices(maker->reader);

	info->devices = ts_pool_alloc(maker->pool, n + 1, sizeof(*info->devices));
	for (size_t i = 0; i < n; i++) {
		const struct ts_sbt_device *device = ts_sbt_reader_device_at(maker->reader, i);
		Ts__Rpc__DeviceInfo *message;

		if (maker->session && device->session != maker->session)
			continue;
		message = ts_pool_alloc(maker->pool, 1, sizeof(*message));
		fill_device(maker, device, message);
		info->devices[info->n_devices++] = message;
	}
}

static void fill_metadata(struct maker *maker, Ts__Rpc__TraceInfo *info)
{
	size_t n = ts_sbt_reader_n_metadata(maker->reader);

	info->metadata = ts_pool_alloc(maker->pool, n + 1, sizeof(*info->metadata));
	for (size_t i = 0; i < n; i++) {
		Ts__Rpc__TraceInfo__MetadataEntry *entry;
		const char *key, *value;

		ts_sbt_reader_metadata_at(maker->reader, i, &key, &value);
		/* The file lost its strings. */
		if (!key || !value)
			continue;
		entry = ts_pool_alloc(maker->pool, 1, sizeof(*entry));
		ts__rpc__trace_info__metadata_entry__init(entry);
		entry->key = ts_pool_copy(maker->pool, key);
		entry->value = ts_pool_copy(maker->pool, value);
		info->metadata[info->n_metadata++] = entry;
		if (!strcmp(key, TS_METADATA_START_REALTIME))
			TS_RPC_SET(info, start_realtime_ns, strtoull(value, NULL, 10));
	}
}

/* Fills the sums of kernels and copies, without damaged blocks. */
static int fill_aggregates(struct maker *maker, Ts__Rpc__TraceInfo *info, size_t max_kernels)
{
	struct ts_sbt_cursor_options options = {
		.types = TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY),
		.session = maker->session,
	};
	ts_cleanup(ts_aggregates_freep) struct ts_aggregates *kernels = NULL;
	ts_cleanup(ts_aggregates_freep) struct ts_aggregates *copies = NULL;
	ts_cleanup(ts_sbt_totals_freep) struct ts_sbt_totals *totals = NULL;
	int r = ts_sbt_totals_new(maker->reader, &options, &totals);

	r = r ? r : ts_aggregates_new(false, &kernels);
	r = r ? r : ts_aggregates_new(false, &copies);
	for (size_t i = 0; !r && i < ts_sbt_totals_count(totals); i++) {
		const struct ts_sbt_total *total = ts_sbt_totals_at(totals, i);

		r = ts_aggregates_add_total(total->type == TS_ROW_KERNEL ? kernels : copies,
					    maker->resolver, total, NULL);
	}
	if (r)
		return r;
	maker->damaged |= ts_sbt_totals_damaged(totals) != 0;
	ts_aggregates_messages(kernels, maker->pool, max_kernels, &info->n_kernels, &info->kernels);
	ts_aggregates_messages(copies, maker->pool, 0, &info->n_copies, &info->copies);
	return 0;
}

static int fill_errors(struct maker *maker, Ts__Rpc__TraceInfo *info)
{
	uint64_t failed_calls;
	bool damaged = false;
	int r = ts_errorsjson_make(maker->resolver, maker->pool, maker->session, &info->n_errors,
				   &info->errors, &failed_calls, &damaged);

	if (r)
		return r;
	maker->damaged |= damaged;
	if (failed_calls)
		TS_RPC_SET(info, failed_calls, failed_calls);
	return 0;
}

static Ts__Rpc__SessionInfo *session_of(const Ts__Rpc__TraceInfo *info, uint32_t session)
{
	for (size_t i = 0; i < info->n_sessions; i++)
		if (info->sessions[i]->session == session)
			return info->sessions[i];
	return NULL;
}

static void add_stopped(Ts__Rpc__SessionInfo *session, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t ns = to_ns > from_ns ? to_ns - from_ns : 0;

	TS_RPC_SET(session, stopped_ns, session->stopped_ns + ns);
}

/*
 * Counts and sums the pauses of each session. `since` has the start of each session's current
 * pause; the message has no field for it.
 */
static int fill_stops(struct maker *maker, Ts__Rpc__TraceInfo *info)
{
	struct ts_sbt_cursor_options options = {
		.types = TS_ROW_BIT(TS_ROW_PAUSE),
		.session = maker->session,
	};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	uint64_t *since = ts_pool_alloc(maker->pool, info->n_sessions + 1, sizeof(*since));
	struct ts_sbt_row row;
	int r;

	if (!maker->summary.counts[TS_ROW_PAUSE])
		return 0;
	r = ts_sbt_cursor_new(maker->reader, &options, &cursor);
	while (!r || r == TS_SBT_E_CORRUPT) {
		Ts__Rpc__SessionInfo *session;
		size_t i;

		r = ts_sbt_cursor_next(cursor, &row);
		maker->damaged |= r == TS_SBT_E_CORRUPT;
		session = r ? NULL : session_of(info, row.session);
		if (!session)
			continue;
		for (i = 0; info->sessions[i] != session; i++)
			;
		if (row.pause->paused && !since[i]) {
			since[i] = row.pause->start_ns;
			TS_RPC_SET(session, stops, session->stops + 1);
		} else if (!row.pause->paused && since[i]) {
			add_stopped(session, since[i], row.pause->start_ns);
			since[i] = 0;
		}
	}
	for (size_t i = 0; i < info->n_sessions; i++)
		if (since[i])
			add_stopped(info->sessions[i], since[i],
				    info->sessions[i]->has_end_ns ? info->sessions[i]->end_ns
								  : maker->summary.latest_ns);
	return r == TS_SBT_E_END ? 0 : r;
}

static void add_unsupported(struct maker *maker, Ts__Rpc__CaptureInfo *capture, uint32_t name)
{
	char *text = string(maker, name);

	for (size_t i = 0; text && i < capture->n_unsupported; i++)
		if (!strcmp(capture->unsupported[i], text))
			return;
	if (text && capture->n_unsupported < MAX_UNSUPPORTED)
		capture->unsupported[capture->n_unsupported++] = text;
}

static void add_operation(struct maker *maker, Ts__Rpc__SessionInfo *session,
			  const struct ts_row_operation *operation)
{
	Ts__Rpc__CaptureInfo *capture = session->capture;

	if (!capture) {
		capture = ts_pool_alloc(maker->pool, 1, sizeof(*capture));
		ts__rpc__capture_info__init(capture);
		capture->unsupported = ts_pool_alloc(maker->pool, MAX_UNSUPPORTED, sizeof(char *));
		session->capture = capture;
	}
	TS_RPC_SET(capture, operations, capture->operations + 1);
	if (operation->kind == TS_OPERATION_UNSUPPORTED)
		add_unsupported(maker, capture, operation->name);
	else if (operation->kind == TS_OPERATION_END)
		capture->ended = string(maker, operation->name);
	else if (operation->kind == TS_OPERATION_WINDOW)
		TS_RPC_SET(capture, windows, capture->windows + (operation->value != 0));
}

/*
 * Adds a value of the shim's own counters. The last values have the size of the capture and the
 * time that it cost.
 */
static void add_counter(struct maker *maker, Ts__Rpc__CaptureInfo *capture,
			const struct ts_row_counter *counter)
{
	const char *domain = ts_resolver_string(maker->resolver, counter->domain), *name;

	if (!capture || !domain || strcmp(domain, TS_OWN_DOMAIN))
		return;
	name = ts_resolver_string(maker->resolver, counter->name);
	if (name && !strcmp(name, TS_CAPTURE_COUNTER_BYTES))
		TS_RPC_SET(capture, bytes, (uint64_t)counter->integer);
	else if (name && !strcmp(name, TS_CAPTURE_COUNTER_NS))
		TS_RPC_SET(capture, ns, (uint64_t)counter->integer);
}

/* The last window of a session so far. */
struct window {
	uint64_t sequence;
	bool is_closed;
};

static void add_window(const Ts__Rpc__TraceInfo *info, struct window *windows,
		       const Ts__Rpc__SessionInfo *session,
		       const struct ts_row_operation *operation)
{
	size_t i = 0;

	if (operation->kind != TS_OPERATION_WINDOW)
		return;
	while (info->sessions[i] != session)
		i++;
	if (operation->sequence >= windows[i].sequence)
		windows[i] = (struct window){operation->sequence, !operation->value};
}

static int fill_captures(struct maker *maker, Ts__Rpc__TraceInfo *info)
{
	struct window *windows = ts_pool_alloc(maker->pool, info->n_sessions + 1, sizeof(*windows));
	struct ts_sbt_cursor_options options = {
		.types = TS_ROW_BIT(TS_ROW_OPERATION) | TS_ROW_BIT(TS_ROW_COUNTER),
		.session = maker->session,
	};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r;

	if (!maker->summary.counts[TS_ROW_OPERATION])
		return 0;
	r = ts_sbt_cursor_new(maker->reader, &options, &cursor);
	while (!r || r == TS_SBT_E_CORRUPT) {
		Ts__Rpc__SessionInfo *session;

		r = ts_sbt_cursor_next(cursor, &row);
		maker->damaged |= r == TS_SBT_E_CORRUPT;
		session = r ? NULL : session_of(info, row.session);
		if (session && row.type == TS_ROW_OPERATION) {
			add_operation(maker, session, row.operation);
			add_window(info, windows, session, row.operation);
		} else if (session)
			add_counter(maker, session->capture, row.counter);
	}
	for (size_t i = 0; i < info->n_sessions; i++) {
		Ts__Rpc__CaptureInfo *capture = info->sessions[i]->capture;

		if (capture && !capture->ended)
			capture->ended = ts_ended_early(maker->reader, info->sessions[i]->session,
							windows[i].is_closed, maker->pool);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

/*
 * True if the domain's counters come from the shim, or are the kernel's counters of a thread
 * (domain "kernel TID"), and not from the application.
 */
static bool is_own(struct maker *maker, uint32_t domain)
{
	const char *name = domain ? ts_resolver_string(maker->resolver, domain) : NULL;

	return name && (!strcmp(name, TS_OWN_DOMAIN) || !strncmp(name, "kernel ", 7));
}

/* True if the application made marks, ranges, or counters of its own. */
static int has_annotations(struct maker *maker, bool *ret_has)
{
	struct ts_sbt_cursor_options options = {
		.types = TS_ROW_BIT(TS_ROW_MARK) | TS_ROW_BIT(TS_ROW_COUNTER),
		.session = maker->session,
	};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r = 0;

	*ret_has = maker->summary.counts[TS_ROW_RANGE_BEGIN] != 0;
	if (*ret_has ||
	    !(maker->summary.counts[TS_ROW_MARK] + maker->summary.counts[TS_ROW_COUNTER]))
		return 0;
	r = ts_sbt_cursor_new(maker->reader, &options, &cursor);
	while (!*ret_has && (!r || r == TS_SBT_E_CORRUPT)) {
		r = ts_sbt_cursor_next(cursor, &row);
		maker->damaged |= r == TS_SBT_E_CORRUPT;
		if (!r)
			*ret_has = !is_own(maker, row.type == TS_ROW_MARK ? row.mark->domain
									  : row.counter->domain);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static int fill_empty_reason(struct maker *maker, Ts__Rpc__TraceInfo *info)
{
	char *text = ts_pool_alloc(maker->pool, 1, TS_WHY_BYTES);
	const uint64_t *counts = maker->summary.counts;
	bool annotations;
	int r;
	struct ts_why why = {.stopped = counts[TS_ROW_PAUSE] != 0,
			     .hint = ts_sbt_reader_metadata(maker->reader, TS_METADATA_EMPTY_HINT)};

	if (counts[TS_ROW_KERNEL] + counts[TS_ROW_MEMCPY] + counts[TS_ROW_MEMSET])
		return 0;
	r = has_annotations(maker, &annotations);
	if (r)
		return r;
	why.n_annotations = annotations;
	why.n_unjoined = maker->summary.lost[TS_LOSS_UNJOINED_API];
	for (size_t i = 0; i < info->n_sessions; i++) {
		const Ts__Rpc__SessionInfo *session = info->sessions[i];

		why.n_halves += session->host_half_only;
		why.end = why.end ?: session->end_reason;
		why.n_sessions += session->state != TS__RPC__SESSION_STATE__SESSION_STATE_EMPTY;
		if (why.reason || !session->empty_reason)
			continue;
		why.reason = session->empty_reason;
		why.reason_text = session->empty_text;
		why.reason_program = session->program;
	}
	ts_why_empty(&why, text);
	info->empty_reason = text;
	return 0;
}

static void fill_file(struct maker *maker, Ts__Rpc__TraceInfo *info, const char *path)
{
	enum ts_sbt_file_state state = ts_sbt_reader_state(maker->reader);
	uint64_t origin_ns = ts_sbt_reader_origin_ns(maker->reader);
	uint64_t launches = maker->summary.counts[TS_ROW_KERNEL];
	uint64_t end_ns =
		maker->summary.latest_ns > origin_ns ? maker->summary.latest_ns : origin_ns;

	info->format = ts_pool_copy(maker->pool, ts_sbt_reader_format(maker->reader));
	info->path = ts_pool_copy(maker->pool, path);
	TS_RPC_SET(info, bytes, ts_sbt_reader_file_bytes(maker->reader));
	TS_RPC_SET(info, finished, state == TS_SBT_FINISHED);
	TS_RPC_SET(info, truncated, state == TS_SBT_TRUNCATED);
	TS_RPC_SET(info, live, state == TS_SBT_GROWING);
	TS_RPC_SET(info, start_ns, origin_ns);
	TS_RPC_SET(info, end_ns, end_ns);
	TS_RPC_SET(info, duration_ns, end_ns - origin_ns);
	if (end_ns >= TS_DOUBTS_NEVER_NS)
		TS_RPC_SET(info, at_no_time, true);
	if (launches)
		TS_RPC_SET(info, bytes_per_launch, (double)info->bytes / (double)launches);
}

int ts_traceinfo_make(struct ts_resolver *resolver, const char *path, uint32_t session,
		      size_t max_kernels, bool no_errors, struct ts_pool *pool,
		      Ts__Rpc__TraceInfo *ret_info, bool *ret_damaged)
{
	struct maker maker = {.resolver = resolver,
			      .reader = ts_resolver_reader(resolver),
			      .pool = pool,
			      .session = session};
	int r = ts_sbt_reader_summary(maker.reader, session, &maker.summary);

	if (r)
		return r;
	ts__rpc__trace_info__init(ret_info);
	fill_file(&maker, ret_info, path);
	fill_counts(&maker, ret_info);
	fill_devices(&maker, ret_info);
	fill_metadata(&maker, ret_info);
	r = fill_sessions(&maker, ret_info);
	if (r)
		return r;
	r = fill_stops(&maker, ret_info);
	r = r ? r : fill_captures(&maker, ret_info);
	if (r)
		return r;
	r = fill_empty_reason(&maker, ret_info);
	if (r)
		return r;
	r = ts_clockjson_make(maker.reader, session, pool, &ret_info->clocks);
	if (r)
		return r;
	r = fill_aggregates(&maker, ret_info, max_kernels);
	if (!r && !no_errors)
		r = fill_errors(&maker, ret_info);
	r = r ? r
	      : ts_sampleinfo_make(maker.reader, session, pool, &ret_info->samples, &maker.damaged);
	if (r)
		return r;
	*ret_damaged = maker.damaged;
	return 0;
}

int ts_traceinfo_columns(struct ts_sbt_reader *reader, uint32_t session, struct ts_pool *pool,
			 Ts__Rpc__TraceInfo *info, bool *ret_damaged)
{
	ts_cleanup(ts_sbt_sizes_freep) struct ts_sbt_sizes *sizes = NULL;
	int r = ts_sbt_sizes_new(reader, session, &sizes);

	if (r)
		return r;
	info->columns = ts_pool_alloc(pool, ts_sbt_sizes_count(sizes) + 1, sizeof(*info->columns));
	for (size_t i = 0; i < ts_sbt_sizes_count(sizes); i++) {
		const struct ts_sbt_size *size = ts_sbt_sizes_at(sizes, i);
		Ts__Rpc__ColumnSize *column = ts_pool_alloc(pool, 1, sizeof(*column));

		ts__rpc__column_size__init(column);
		column->type = size->type_name ? ts_pool_copy(pool, size->type_name)
					       : ts_pool_printf(pool, "type_%u", size->type);
		if (size->column)
			column->column = size->column_name
						 ? ts_pool_copy(pool, size->column_name)
						 : ts_pool_printf(pool, "column_%u", size->column);
		TS_RPC_SET(column, rows, size->n_rows);
		TS_RPC_SET(column, encoded_bytes, size->encoded_bytes);
		TS_RPC_SET(column, stored_bytes, size->stored_bytes);
		if (size->n_rows)
			TS_RPC_SET(column, bytes_per_row,
				   (double)size->stored_bytes / (double)size->n_rows);
		info->columns[info->n_columns++] = column;
	}
	*ret_damaged = ts_sbt_sizes_damaged(sizes) != 0;
	return 0;
}
