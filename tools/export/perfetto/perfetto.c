/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports a trace for Perfetto; tsctl export calls this file. This file calls perfetto-places.c,
 * perfetto-sums.c, tracks.c and flows.c.
 *
 * Each row, in time order, becomes a slice, an instant or a counter value on the track of its
 * place. A flow with the operation's number joins a call and its GPU work, so the export writes
 * each of them as soon as it reads it.
 */
#include "tools/export/perfetto/perfetto.h"

#include "replay/report/rows/openranges.h"
#include "tools/export/export-rows.h"

#include <inttypes.h>

#define STEP_ROWS 8192u

#define DEVICE_ROWS \
	(TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | TS_ROW_BIT(TS_ROW_MEMSET))
#define MEMORY_ROWS (TS_ROW_BIT(TS_ROW_ALLOC) | TS_ROW_BIT(TS_ROW_FREE))
#define OTHER_ROWS                                                                             \
	(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_SYNC) | MEMORY_ROWS |                      \
	 TS_ROW_BIT(TS_ROW_MARK) | TS_ROW_BIT(TS_ROW_RANGE) | TS_ROW_BIT(TS_ROW_RANGE_BEGIN) | \
	 TS_ROW_BIT(TS_ROW_COUNTER) | TS_ROW_BIT(TS_ROW_LOSS) | TS_ROW_BIT(TS_ROW_OVERHEAD) |  \
	 TS_ROW_BIT(TS_ROW_YIELD) | TS_ROW_BIT(TS_ROW_PAUSE) | TS_ROW_KERNELS)

/* ---- texts ----------------------------------------------------------------------------------- */

enum text_kind {
	TEXT_STRING = TS_TRACK_TEXT_FIRST, /* value: string of the trace */
	TEXT_KERNEL,			   /* value: string of the trace */
	TEXT_API,			   /* of: domain; value: cbid */
	TEXT_API_ERROR,			   /* of: domain; value: result */
	TEXT_COPY,			   /* value: kind */
	TEXT_SYNC,			   /* value: type */
	TEXT_STACK,			   /* of: session; value: epoch and stack */
	TEXT_CONFIG,			   /* value: index in `configs` */
	TEXT_OFF_CPU,			   /* value: reason */
	TEXT_SYSCALL,			   /* value: number */
	TEXT_FAULT,			   /* value: kind */
	TEXT_BLOCK_IO,			   /* value: operation */
	TEXT_PRESSURE,			   /* value: kind */
	TEXT_DRIVER,			   /* value: kind */
	TEXT_PLACE,			   /* of: session; value: epoch and stack */
	TEXT_OVERHEAD,			   /* value: kind */
	TEXT_MEMORY,			   /* value: kind */
	TEXT_LOSS,			   /* value: reason */
};

enum arg_name {
	ARG_STACK,
	ARG_LAUNCH,
	ARG_ERROR,
	ARG_BYTES,
	ARG_FROM,
	ARG_TO,
	ARG_VALUE,
	ARG_DOMAIN,
	ARG_PAYLOAD,
	ARG_CATEGORY,
	ARG_OPEN,
	ARG_STREAM,
	ARG_COUNT,
	ARG_WOKEN_BY,
	ARG_WOKEN_BY_TID,
	ARG_RAN_INSTEAD,
	ARG_IN_SYSCALL,
	ARG_ADDRESS,
	ARG_RESULT,
	ARG_FD,
	ARG_FILE,
	ARG_GRAPH_NODE,
	ARG_DISK,
	ARG_SECTOR,
	ARG_QUEUED,
	ARG_PAGES,
	ARG_RING,
	ARG_CONTEXT,
	ARG_NUMBER,
	ARG_ASKED_BY,
	ARG_PERIOD,
	ARG_CPU,
	ARG_IN_KERNEL,
	ARG_NAMES
};

static const char *const arg_names[ARG_NAMES] = {
	[ARG_STACK] = "stack",
	[ARG_LAUNCH] = "launch",
	[ARG_ERROR] = "error",
	[ARG_BYTES] = "bytes",
	[ARG_FROM] = "from",
	[ARG_TO] = "to",
	[ARG_VALUE] = "value",
	[ARG_DOMAIN] = "domain",
	[ARG_PAYLOAD] = "payload",
	[ARG_CATEGORY] = "category",
	[ARG_OPEN] = "never_ended",
	[ARG_STREAM] = "stream",
	[ARG_COUNT] = "count",
	[ARG_WOKEN_BY] = "woken_by",
	[ARG_WOKEN_BY_TID] = "woken_by_tid",
	[ARG_RAN_INSTEAD] = "ran_instead",
	[ARG_IN_SYSCALL] = "in_system_call",
	[ARG_ADDRESS] = "address",
	[ARG_RESULT] = "result",
	[ARG_FD] = "fd",
	[ARG_FILE] = "file",
	[ARG_GRAPH_NODE] = "graph_node",
	[ARG_DISK] = "disk",
	[ARG_SECTOR] = "sector",
	[ARG_QUEUED] = "queued_ns",
	[ARG_PAGES] = "pages",
	[ARG_RING] = "ring",
	[ARG_CONTEXT] = "context",
	[ARG_NUMBER] = "number",
	[ARG_ASKED_BY] = "memory_asked_by",
	[ARG_PERIOD] = "period_ns",
	[ARG_CPU] = "cpu",
	[ARG_IN_KERNEL] = "in_the_kernel",
};

/* Launch configuration of a kernel, a key in words: see ts_hashtable_recall(). */
struct config {
	uint32_t grid[3], block[3], cluster[3], static_shared_bytes;
	uint64_t dynamic_shared_bytes, registers_per_thread;
};

static int append(struct ts_buffer *text, const char *more)
{
	return ts_buffer_append(text, more, strlen(more));
}

/* Appends a text, cleaned as in export-text.h. */
static int append_clean(struct ts_perfetto *perfetto, struct ts_buffer *text, const char *more)
{
	uint32_t id;
	size_t n;
	int r = ts_texts_add(&perfetto->frames.texts, more, &id);
	const char *clean = r ? NULL : ts_texts_at(&perfetto->frames.texts, id, &n);

	return r ? r : ts_buffer_append(text, clean, n);
}

/* Appends one frame per line, innermost first. */
static int append_stack(struct ts_perfetto *perfetto, const struct ts_track_text *what,
			uint64_t time_ns, struct ts_buffer *text)
{
	const struct ts_site site = {.session = what->of,
				     .is_known = 1,
				     .stack = (uint32_t)what->value,
				     .epoch = (uint32_t)(what->value >> 32),
				     .time_ns = time_ns};
	const struct ts_sample no_leaf = {0};
	struct ts_frames *frames = &perfetto->frames;
	const uint32_t *path;
	size_t n;
	int r = ts_frames_path(frames, &site, &no_leaf, &path, &n);

	for (size_t i = 0; !r && i < n; i++) {
		const struct ts_frame_location *location =
			ts_hashtable_at(&frames->locations, path[i]);
		uint32_t n_lines = location->n_lines ? location->n_lines : 1;

		for (uint32_t line = 0; !r && line < n_lines; line++) {
			uint32_t id = location->n_lines
					      ? ts_frames_line(frames, location->first_line + line)
							->folded
					      : location->folded;
			size_t n_frame;
			const char *frame = ts_texts_at(&frames->texts, id, &n_frame);

			if (text->n)
				r = append(text, "\n");
			if (!r)
				r = ts_buffer_append(text, frame, n_frame);
		}
	}
	return r;
}

static int append_config(const struct ts_perfetto *perfetto, uint64_t which, struct ts_buffer *text)
{
	const struct config *config = ts_hashtable_at(&perfetto->configs, (uint32_t)which);
	char words[256];
	int n = snprintf(words, sizeof(words),
			 "grid %" PRIu32 "x%" PRIu32 "x%" PRIu32 " block %" PRIu32 "x%" PRIu32
			 "x%" PRIu32,
			 config->grid[0], config->grid[1], config->grid[2], config->block[0],
			 config->block[1], config->block[2]);

	if (config->cluster[0])
		n += snprintf(words + n, sizeof(words) - (size_t)n,
			      " cluster %" PRIu32 "x%" PRIu32 "x%" PRIu32, config->cluster[0],
			      config->cluster[1], config->cluster[2]);
	n += snprintf(words + n, sizeof(words) - (size_t)n,
		      " shared %" PRIu32 "+%" PRIu64 " registers %" PRIu64,
		      config->static_shared_bytes, config->dynamic_shared_bytes,
		      config->registers_per_thread);
	return ts_buffer_append(text, words, (size_t)n);
}

/* Appends the name; if there is none, the number. */
static int append_named(struct ts_buffer *text, const char *prefix, const char *name,
			uint64_t number)
{
	char words[160];

	if (name)
		snprintf(words, sizeof(words), "%s%.120s", prefix, name);
	else
		snprintf(words, sizeof(words), "%s#%" PRIu64, prefix, number);
	return append(text, words);
}

static int append_text(void *user, const struct ts_track_text *what, uint64_t time_ns,
		       struct ts_buffer *text)
{
	struct ts_perfetto *perfetto = user;
	const struct ts_export_options *options = perfetto->options;
	const struct ts_export_names *names = options->names;
	uint32_t value = (uint32_t)what->value;
	const char *name;

	switch (what->kind) {
	case TEXT_STRING:
		name = value ? ts_sbt_reader_string(perfetto->reader, value, NULL) : NULL;
		return append_clean(perfetto, text, name ? name : "?");
	case TEXT_KERNEL:
		name = value ? names->kernel(options->user, value) : NULL;
		return append_clean(perfetto, text, name && *name ? name : "unknown kernel");
	case TEXT_API:
		return append_named(text, "", names->api(what->of, value), value);
	case TEXT_API_ERROR:
		return append_named(text, "", names->api_error(what->of, value), value);
	case TEXT_COPY:
		return append_named(text, "memcpy ", names->copy_kind(value), value);
	case TEXT_SYNC:
		return append_named(text, "", names->sync_type(value), value);
	case TEXT_STACK:
		return append_stack(perfetto, what, time_ns, text);
	case TEXT_CONFIG:
		return append_config(perfetto, value, text);
	case TEXT_OFF_CPU:
		return append_named(text, "off CPU: ", names->off_cpu_reason(value), value);
	case TEXT_SYSCALL:
		return append_named(text, "", names->syscall(value), value);
	case TEXT_FAULT:
		return append_named(text, "page fault: ", names->fault_kind(value), value);
	case TEXT_BLOCK_IO:
		return append_named(text, "disk: ", names->block_operation(value), value);
	case TEXT_PRESSURE:
		return append_named(text, "memory: ", names->pressure_kind(value), value);
	case TEXT_DRIVER:
		return append_named(text, "driver: ", names->driver_kind(value), value);
	case TEXT_PLACE:
		name = value ? names->place(options->user, what->of, value, time_ns) : NULL;
		return append_clean(perfetto, text, name ? name : "unknown place");
	case TEXT_OVERHEAD:
		return append_named(text, "", names->overhead_kind(value), value);
	case TEXT_MEMORY:
		return append_named(text, "", names->memory_kind(value), value);
	default:
		return append_named(text, "lost: ", ts_loss_reason_name(value), value);
	}
}

/* ---- slices ---------------------------------------------------------------------------------- */

static struct ts_track_arg *add_arg(struct ts_track_slice *slice, enum arg_name name,
				    enum ts_track_arg_kind kind)
{
	struct ts_track_arg *arg = &slice->args[slice->n_args++];

	*arg = (struct ts_track_arg){.name = (uint8_t)name, .kind = (uint8_t)kind};
	return arg;
}

static void add_number(struct ts_track_slice *slice, enum arg_name name,
		       enum ts_track_arg_kind kind, uint64_t number)
{
	add_arg(slice, name, kind)->number = number;
}

static void add_text(struct ts_track_slice *slice, enum arg_name name, uint32_t kind, uint32_t of,
		     uint64_t value)
{
	add_arg(slice, name, TS_TRACK_ARG_TEXT)->text =
		(struct ts_track_text){.kind = kind, .of = of, .value = value};
}

static void add_string(struct ts_track_slice *slice, enum arg_name name, uint32_t string)
{
	if (string)
		add_text(slice, name, TEXT_STRING, 0, string);
}

/* Combines epoch and stack: within an epoch of modules a stack has the same names. */
static uint64_t stack_then(const struct ts_perfetto *perfetto, const struct ts_track_slice *slice,
			   uint32_t session, uint32_t stack)
{
	return (uint64_t)ts_epochs_at(&perfetto->epochs, session, slice->start_ns) << 32 | stack;
}

static void add_stack(const struct ts_perfetto *perfetto, struct ts_track_slice *slice,
		      uint32_t session, uint32_t stack)
{
	if (stack)
		add_text(slice, ARG_STACK, TEXT_STACK, session,
			 stack_then(perfetto, slice, session, stack));
}

/*
 * Returns a number that is unique over sessions. Each session counts its own operations, and
 * sessions are numbered from 1. Small numbers make small packets.
 */
static uint64_t operation(const struct ts_perfetto *perfetto, uint32_t session, uint64_t op_id)
{
	return op_id * perfetto->n_sessions + session - 1;
}

static void add_flow(const struct ts_perfetto *perfetto, struct ts_track_slice *slice,
		     uint32_t session, uint64_t op_id)
{
	if (op_id)
		slice->flows[slice->n_flows++] =
			ts_flows_other(operation(perfetto, session, op_id));
}

static void add_flow_of_kernel(const struct ts_perfetto *perfetto, struct ts_track_slice *slice,
			       uint32_t session, const struct ts_row_kernel *kernel)
{
	if (kernel->graph_node)
		add_flow(perfetto, slice, session, kernel->op_id);
	else if (kernel->op_id)
		slice->flows[slice->n_flows++] =
			ts_flows_kernel(perfetto->flows,
					operation(perfetto, session, kernel->op_id),
					slice->start_ns, &slice->flows_end);
}

static void set_name(struct ts_track_slice *slice, uint32_t kind, uint32_t of, uint64_t value)
{
	slice->name = (struct ts_track_text){.kind = kind, .of = of, .value = value};
}

/* ---- GPU work -------------------------------------------------------------------------------- */

static int add_config(struct ts_perfetto *perfetto, const struct ts_row_kernel *row,
		      struct ts_track_slice *slice)
{
	const struct config key = {
		.grid = {row->grid_x, row->grid_y, row->grid_z},
		.block = {row->block_x, row->block_y, row->block_z},
		.cluster = {row->cluster_x, row->cluster_y, row->cluster_z},
		.static_shared_bytes = row->static_shared_bytes,
		.dynamic_shared_bytes = row->dynamic_shared_bytes,
		.registers_per_thread = row->registers_per_thread,
	};
	uint32_t i;
	int r = ts_hashtable_recall(&perfetto->configs, &key, sizeof(key), &i, NULL);

	if (!r)
		add_text(slice, ARG_LAUNCH, TEXT_CONFIG, 0, i);
	return r;
}

/* The copy kind selects the engine: 1 copies to the device, 2 from it. */
static enum ts_engine_kind copy_engine(uint32_t kind)
{
	return kind == 1 ? TS_ENGINE_HTOD : kind == 2 ? TS_ENGINE_DTOH : TS_ENGINE_OTHER_COPIES;
}

static int put_on_device(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
			 struct ts_track_slice *slice, uint32_t device, uint32_t context,
			 uint32_t stream, enum ts_engine_kind engine)
{
	uint32_t device_track;
	int r = ts_place_stream(perfetto, row, device, context, stream, &slice->track,
				&device_track);

	if (!r)
		r = ts_sums_busy(&perfetto->sums, device_track, engine, slice->start_ns,
				 slice->end_ns);
	perfetto->report->n_rows++;
	return r ? r : ts_tracks_slice(perfetto->tracks, slice);
}

static int put_kernel(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		      struct ts_track_slice *slice)
{
	const struct ts_row_kernel *kernel = row->kernel;
	int r;

	set_name(slice, TEXT_KERNEL, 0, kernel->name);
	add_flow_of_kernel(perfetto, slice, row->session, kernel);
	r = add_config(perfetto, kernel, slice);
	if (kernel->graph_node)
		add_number(slice, ARG_GRAPH_NODE, TS_TRACK_ARG_UINT, kernel->graph_node);
	return r ? r
		 : put_on_device(perfetto, row, slice, kernel->device, kernel->context,
				 kernel->stream, TS_ENGINE_COMPUTE);
}

static int put_copy(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		    struct ts_track_slice *slice)
{
	const struct ts_row_memcpy *copy = row->memcpy_;

	set_name(slice, TEXT_COPY, 0, copy->copy_kind);
	add_flow(perfetto, slice, row->session, copy->op_id);
	add_number(slice, ARG_BYTES, TS_TRACK_ARG_UINT, copy->bytes);
	add_text(slice, ARG_FROM, TEXT_MEMORY, 0, copy->src_kind);
	add_text(slice, ARG_TO, TEXT_MEMORY, 0, copy->dst_kind);
	return put_on_device(perfetto, row, slice, copy->device, copy->context, copy->stream,
			     copy_engine(copy->copy_kind));
}

static int put_set(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		   struct ts_track_slice *slice)
{
	const struct ts_row_memset *set = row->memset_;

	slice->name = ts_track_static("memset");
	add_flow(perfetto, slice, row->session, set->op_id);
	add_number(slice, ARG_BYTES, TS_TRACK_ARG_UINT, set->bytes);
	add_number(slice, ARG_VALUE, TS_TRACK_ARG_UINT, set->value);
	return put_on_device(perfetto, row, slice, set->device, set->context, set->stream,
			     TS_ENGINE_COMPUTE);
}

/* ---- host work ------------------------------------------------------------------------------- */

/* Classifies a call by its name. An unknown call may be anything. */
static int call_kind(struct ts_perfetto *perfetto, const struct ts_row_api *api,
		     const struct ts_call_kind **ret_kind)
{
	const struct ts_call_kind key = {.function = (uint64_t)api->domain << 32 | api->cbid};
	struct ts_call_kind *kind;
	const char *name;
	uint32_t i;
	int r = ts_hashtable_recall(&perfetto->calls, &key, offsetof(struct ts_call_kind, is_known),
				    &i, NULL);

	if (r)
		return r;
	*ret_kind = kind = ts_hashtable_at(&perfetto->calls, i);
	if (kind->is_known)
		return 0;
	name = perfetto->options->names->api(api->domain, api->cbid);
	kind->is_known = true;
	kind->may_run = !name || strstr(name, "GraphLaunch") || strstr(name, "Memcpy") ||
			strstr(name, "Memset");
	kind->is_launch =
		name && strstr(name, "Launch") && strstr(name, "Kernel") && !strstr(name, "Multi");
	return 0;
}

/*
 * Adds flows to work that the call may cause. At the call it is unknown what a graph contains, and
 * whether a copy runs on the device.
 */
static int add_flows_of_call(struct ts_perfetto *perfetto, struct ts_track_slice *slice,
			     uint32_t session, const struct ts_row_api *api)
{
	bool is_two = api->nested_op_id && api->nested_op_id != api->op_id;
	const struct ts_call_kind *kind;
	int r = call_kind(perfetto, api, &kind);

	if (r || !(api->flags & TS_API_EXPECTS_DEVICE || kind->may_run))
		return r;
	if (api->op_id)
		slice->flows[slice->n_flows++] =
			ts_flows_call(perfetto->flows, operation(perfetto, session, api->op_id),
				      kind->is_launch && !is_two && !api->result, slice->start_ns);
	if (is_two)
		slice->flows[slice->n_flows++] =
			ts_flows_call(perfetto->flows,
				      operation(perfetto, session, api->nested_op_id), false,
				      slice->start_ns);
	return 0;
}

static int put_call(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		    struct ts_track_slice *slice)
{
	const struct ts_row_api *api = row->api;
	int r;

	set_name(slice, TEXT_API, api->domain, api->cbid);
	r = add_flows_of_call(perfetto, slice, row->session, api);
	if (r)
		return r;
	add_stack(perfetto, slice, row->session, api->stack);
	if (api->result)
		add_text(slice, ARG_ERROR, TEXT_API_ERROR, api->domain, (uint32_t)api->result);
	r = ts_place_thread(perfetto, row->session, api->thread, 0, &slice->track);
	return r ? r : ts_tracks_slice(perfetto->tracks, slice);
}

static void add_payload(struct ts_track_slice *slice, uint32_t type, uint64_t payload)
{
	if (type == TS_PAYLOAD_U64 || type == TS_PAYLOAD_U32)
		add_number(slice, ARG_PAYLOAD, TS_TRACK_ARG_UINT, payload);
	else if (type == TS_PAYLOAD_I64 || type == TS_PAYLOAD_I32)
		add_number(slice, ARG_PAYLOAD, TS_TRACK_ARG_INT, payload);
	else if (type == TS_PAYLOAD_F64 || type == TS_PAYLOAD_F32)
		memcpy(&add_arg(slice, ARG_PAYLOAD, TS_TRACK_ARG_DOUBLE)->real, &payload,
		       sizeof(payload));
}

static int put_annotation(struct ts_perfetto *perfetto, uint32_t session, uint32_t thread,
			  uint32_t action, struct ts_track_slice *slice)
{
	uint32_t process;
	int r;

	if (action != TS_RANGE_START) {
		r = ts_place_thread(perfetto, session, thread, 0, &slice->track);
	} else {
		r = ts_place_process(perfetto, session, &process);
		if (!r)
			r = ts_place_part(perfetto, TS_PLACE_RANGES, process, "ranges",
					  &slice->track);
	}
	return r ? r : ts_tracks_slice(perfetto->tracks, slice);
}

static int put_range(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		     struct ts_track_slice *slice)
{
	const struct ts_row_range *range = row->range;

	set_name(slice, TEXT_STRING, 0, range->name);
	add_string(slice, ARG_DOMAIN, range->domain);
	if (range->category)
		add_number(slice, ARG_CATEGORY, TS_TRACK_ARG_UINT, range->category);
	add_payload(slice, range->payload_type, range->payload);
	add_stack(perfetto, slice, row->session, range->stack);
	return put_annotation(perfetto, row->session, range->thread, range->action, slice);
}

/* Adds a range without an end as a slice that lasts until the end of the recording. */
static int put_open_range(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
			  struct ts_track_slice *slice)
{
	const struct ts_row_range_begin *range = row->range_begin;

	set_name(slice, TEXT_STRING, 0, range->name);
	add_string(slice, ARG_DOMAIN, range->domain);
	if (range->category)
		add_number(slice, ARG_CATEGORY, TS_TRACK_ARG_UINT, range->category);
	add_payload(slice, range->payload_type, range->payload);
	add_stack(perfetto, slice, row->session, range->stack);
	add_number(slice, ARG_OPEN, TS_TRACK_ARG_UINT, 1);
	if (perfetto->latest_ns > slice->end_ns)
		slice->end_ns = perfetto->latest_ns;
	return put_annotation(perfetto, row->session, range->thread, range->action, slice);
}

static int put_mark(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		    struct ts_track_slice *slice)
{
	const struct ts_row_mark *mark = row->mark;

	slice->is_instant = true;
	set_name(slice, TEXT_STRING, 0, mark->name);
	add_string(slice, ARG_DOMAIN, mark->domain);
	if (mark->category)
		add_number(slice, ARG_CATEGORY, TS_TRACK_ARG_UINT, mark->category);
	add_payload(slice, mark->payload_type, mark->payload);
	add_stack(perfetto, slice, row->session, mark->stack);
	return put_annotation(perfetto, row->session, mark->thread, 0, slice);
}

static int put_counter(struct ts_perfetto *perfetto, const struct ts_sbt_row *row)
{
	const struct ts_row_counter *counter = row->counter;
	uint32_t track;
	int r = ts_place_counter(perfetto, row->session, counter->name, counter->domain, &track);

	if (r)
		return r;
	if (counter->value_type == TS_PAYLOAD_I64)
		return ts_tracks_count(perfetto->tracks, track, counter->start_ns,
				       counter->integer);
	return ts_tracks_count_real(perfetto->tracks, track, counter->start_ns, counter->value);
}

/* Adds the slice to a track of the session's process. */
static int put_part(struct ts_perfetto *perfetto, uint32_t session, enum ts_place_kind place,
		    const char *name, struct ts_track_slice *slice)
{
	uint32_t process;
	int r = ts_place_process(perfetto, session, &process);

	if (!r)
		r = ts_place_part(perfetto, place, process, name, &slice->track);
	return r ? r : ts_tracks_slice(perfetto->tracks, slice);
}

static int put_sync(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		    struct ts_track_slice *slice)
{
	set_name(slice, TEXT_SYNC, 0, row->sync->sync_type);
	if (row->sync->stream != TS_NO_DEVICE)
		add_number(slice, ARG_STREAM, TS_TRACK_ARG_UINT, row->sync->stream);
	return put_part(perfetto, row->session, TS_PLACE_SYNCS, "synchronisation", slice);
}

/* ---- delays ---------------------------------------------------------------------------------- */

static int put_of_thread(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
			 uint32_t thread, uint32_t pid, enum ts_place_kind place, const char *name,
			 struct ts_track_slice *slice)
{
	uint32_t of;
	int r = ts_place_thread(perfetto, row->session, thread, pid, &of);

	if (!r)
		r = ts_place_part(perfetto, place, of, name, &slice->track);
	return r ? r : ts_tracks_slice(perfetto->tracks, slice);
}

static int put_off_cpu(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		       struct ts_track_slice *slice)
{
	const struct ts_row_off_cpu *off = row->off_cpu;

	set_name(slice, TEXT_OFF_CPU, 0, off->reason);
	add_stack(perfetto, slice, row->session, off->stack);
	add_string(slice, ARG_WOKEN_BY, off->waker);
	if (off->waker_tid)
		add_number(slice, ARG_WOKEN_BY_TID, TS_TRACK_ARG_UINT, off->waker_tid);
	add_string(slice, ARG_RAN_INSTEAD, off->next);
	if (off->syscall != TS_NO_SYSCALL)
		add_text(slice, ARG_IN_SYSCALL, TEXT_SYSCALL, 0, off->syscall);
	return put_of_thread(perfetto, row, off->thread, off->pid, TS_PLACE_OFF_CPU, "off CPU",
			     slice);
}

static int put_fault(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		     struct ts_track_slice *slice)
{
	const struct ts_row_page_fault *fault = row->page_fault;

	set_name(slice, TEXT_FAULT, 0, fault->fault);
	add_number(slice, ARG_ADDRESS, TS_TRACK_ARG_POINTER, fault->address);
	return put_of_thread(perfetto, row, fault->thread, fault->pid, TS_PLACE_FAULTS,
			     "page faults", slice);
}

static int put_syscall(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		       struct ts_track_slice *slice)
{
	const struct ts_row_syscall *call = row->syscall;

	set_name(slice, TEXT_SYSCALL, 0, call->syscall);
	add_number(slice, ARG_RESULT, TS_TRACK_ARG_INT, (uint64_t)call->result);
	add_string(slice, ARG_FILE, call->file);
	if (call->fd >= 0)
		add_number(slice, ARG_FD, TS_TRACK_ARG_UINT, (uint32_t)call->fd);
	if (call->bytes)
		add_number(slice, ARG_BYTES, TS_TRACK_ARG_UINT, call->bytes);
	if (call->address)
		add_number(slice, ARG_ADDRESS, TS_TRACK_ARG_POINTER, call->address);
	return put_of_thread(perfetto, row, call->thread, call->pid, TS_PLACE_SYSCALLS,
			     "system calls", slice);
}

static int put_block_io(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
			struct ts_track_slice *slice)
{
	const struct ts_row_block_io *io = row->block_io;

	set_name(slice, TEXT_BLOCK_IO, 0, io->operation);
	add_string(slice, ARG_DISK, io->disk);
	add_number(slice, ARG_SECTOR, TS_TRACK_ARG_UINT, io->sector);
	add_number(slice, ARG_BYTES, TS_TRACK_ARG_UINT, io->bytes);
	if (io->issued_ns > io->start_ns)
		add_number(slice, ARG_QUEUED, TS_TRACK_ARG_UINT, io->issued_ns - io->start_ns);
	if (io->result)
		add_number(slice, ARG_RESULT, TS_TRACK_ARG_INT, (uint64_t)(int64_t)io->result);
	return put_of_thread(perfetto, row, io->thread, io->pid, TS_PLACE_BLOCK_IO, "block I/O",
			     slice);
}

static int put_pressure(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
			struct ts_track_slice *slice)
{
	const struct ts_row_pressure *pressure = row->pressure;

	set_name(slice, TEXT_PRESSURE, 0, pressure->kind);
	if (pressure->pages)
		add_number(slice, ARG_PAGES, TS_TRACK_ARG_UINT, pressure->pages);
	add_string(slice, ARG_ASKED_BY, pressure->by);
	return put_of_thread(perfetto, row, pressure->thread, pressure->pid, TS_PLACE_PRESSURE,
			     "want of memory", slice);
}

static int put_sample(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		      struct ts_track_slice *slice)
{
	const struct ts_row_sample *sample = row->sample;

	set_name(slice, TEXT_PLACE, row->session,
		 stack_then(perfetto, slice, row->session, sample->stack));
	add_stack(perfetto, slice, row->session, sample->stack);
	add_number(slice, ARG_PERIOD, TS_TRACK_ARG_UINT, sample->period_ns);
	add_number(slice, ARG_CPU, TS_TRACK_ARG_UINT, sample->cpu);
	if (sample->flags & TS_SAMPLE_KERNEL)
		add_number(slice, ARG_IN_KERNEL, TS_TRACK_ARG_UINT, 1);
	return put_of_thread(perfetto, row, sample->thread, sample->pid, TS_PLACE_SAMPLES,
			     "samples", slice);
}

static int put_driver(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		      struct ts_track_slice *slice)
{
	const struct ts_row_driver *driver = row->driver;

	set_name(slice, TEXT_DRIVER, 0, driver->kind);
	add_string(slice, ARG_RING, driver->ring);
	add_number(slice, ARG_CONTEXT, TS_TRACK_ARG_UINT, driver->context);
	add_number(slice, ARG_NUMBER, TS_TRACK_ARG_UINT, driver->number);
	if (driver->issued_ns > driver->start_ns)
		add_number(slice, ARG_QUEUED, TS_TRACK_ARG_UINT,
			   driver->issued_ns - driver->start_ns);
	if (driver->result)
		add_number(slice, ARG_RESULT, TS_TRACK_ARG_INT, (uint64_t)(int64_t)driver->result);
	return put_of_thread(perfetto, row, driver->thread, driver->pid, TS_PLACE_DRIVER,
			     "GPU driver", slice);
}

/* ---- losses, overhead and pauses ------------------------------------------------------------- */

static int put_loss(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		    struct ts_track_slice *slice)
{
	int r = ts_place_losses(perfetto, &slice->track);

	set_name(slice, TEXT_LOSS, 0, row->loss->reason);
	add_number(slice, ARG_COUNT, TS_TRACK_ARG_UINT, row->loss->count);
	return r ? r : ts_tracks_slice(perfetto->tracks, slice);
}

static int put_overhead(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
			struct ts_track_slice *slice)
{
	set_name(slice, TEXT_OVERHEAD, 0, row->overhead->overhead_kind);
	return put_part(perfetto, row->session, TS_PLACE_OVERHEAD, "overhead of profiling", slice);
}

static int put_yield(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		     struct ts_track_slice *slice)
{
	slice->is_instant = true;
	slice->name = ts_track_static(row->yield->yielded
					      ? "yielded to another profiler"
					      : "recording again: the other profiler is done");
	add_string(slice, ARG_TO, row->yield->to);
	return put_part(perfetto, row->session, TS_PLACE_OVERHEAD, "overhead of profiling", slice);
}

static int put_pause(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
		     struct ts_track_slice *slice)
{
	slice->is_instant = true;
	slice->name =
		ts_track_static(row->pause->paused ? "recording paused" : "recording resumed");
	return put_part(perfetto, row->session, TS_PLACE_OVERHEAD, "overhead of profiling", slice);
}

/* ---- the pass -------------------------------------------------------------------------------- */

static int put_row(struct ts_perfetto *perfetto, struct ts_open_ranges *ranges,
		   const struct ts_sbt_row *row)
{
	struct ts_track_slice slice;

	/* Arguments need no initialisation: add_arg() writes each one. */
	memset(&slice, 0, offsetof(struct ts_track_slice, args));
	slice.start_ns = ts_row_start_ns(row->any);
	slice.end_ns = ts_row_end_ns(row->schema, row->any);
	if (slice.start_ns < perfetto->origin_ns)
		slice.start_ns = perfetto->origin_ns;
	if (slice.start_ns > TS_TRACKS_MAX_NS)
		slice.start_ns = TS_TRACKS_MAX_NS;
	if (slice.end_ns < slice.start_ns)
		slice.end_ns = slice.start_ns;
	if (slice.end_ns > TS_TRACKS_MAX_NS)
		slice.end_ns = TS_TRACKS_MAX_NS;
	switch (row->type) {
	case TS_ROW_API:
		return put_call(perfetto, row, &slice);
	case TS_ROW_KERNEL:
		return put_kernel(perfetto, row, &slice);
	case TS_ROW_MEMCPY:
		return put_copy(perfetto, row, &slice);
	case TS_ROW_MEMSET:
		return put_set(perfetto, row, &slice);
	case TS_ROW_SYNC:
		return put_sync(perfetto, row, &slice);
	case TS_ROW_ALLOC:
	case TS_ROW_FREE:
		return ts_sums_memory(perfetto, row, true);
	case TS_ROW_MARK:
		return put_mark(perfetto, row, &slice);
	case TS_ROW_RANGE:
		return put_range(perfetto, row, &slice);
	case TS_ROW_RANGE_BEGIN:
		return ts_open_ranges_is_open(ranges, row) ? put_open_range(perfetto, row, &slice)
							   : 0;
	case TS_ROW_COUNTER:
		return put_counter(perfetto, row);
	case TS_ROW_LOSS:
		return put_loss(perfetto, row, &slice);
	case TS_ROW_OVERHEAD:
		return put_overhead(perfetto, row, &slice);
	case TS_ROW_YIELD:
		return put_yield(perfetto, row, &slice);
	case TS_ROW_PAUSE:
		return put_pause(perfetto, row, &slice);
	case TS_ROW_OFF_CPU:
		return put_off_cpu(perfetto, row, &slice);
	case TS_ROW_PAGE_FAULT:
		return put_fault(perfetto, row, &slice);
	case TS_ROW_SYSCALL:
		return put_syscall(perfetto, row, &slice);
	case TS_ROW_BLOCK_IO:
		return put_block_io(perfetto, row, &slice);
	case TS_ROW_PRESSURE:
		return put_pressure(perfetto, row, &slice);
	case TS_ROW_DRIVER:
		return put_driver(perfetto, row, &slice);
	case TS_ROW_SAMPLE:
		return put_sample(perfetto, row, &slice);
	default:
		return 0;
	}
}

/* Reads the memory that is live at the beginning of the window. */
static int read_memory_before(struct ts_perfetto *perfetto)
{
	const struct ts_sbt_cursor_options options = {
		.types = MEMORY_ROWS,
		.session = perfetto->options->session,
		.to_ns = perfetto->options->from_ns - 1,
	};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sums *sums = &perfetto->sums;
	struct ts_sbt_row row;
	int r;

	if (perfetto->options->from_ns <= perfetto->origin_ns)
		return 0;
	r = ts_sbt_cursor_new(perfetto->reader, &options, &cursor);
	while (!r && !(r = ts_export_next_row(perfetto->reader, cursor, perfetto->report, &row)))
		r = ts_sums_memory(perfetto, &row, false);
	r = r == TS_SBT_E_END ? 0 : r;
	for (size_t i = 0; !r && i < sums->n_memories; i++)
		r = ts_tracks_count(perfetto->tracks, sums->memories[i].counter,
				    perfetto->options->from_ns, (int64_t)sums->memories[i].bytes);
	return r;
}

static int read_rows(struct ts_perfetto *perfetto, struct ts_open_ranges *ranges)
{
	const struct ts_export_options *options = perfetto->options;
	const struct ts_sbt_cursor_options of_cursor = {
		.types = OTHER_ROWS | (options->types ? options->types : DEVICE_ROWS),
		.session = options->session,
		.from_ns = options->from_ns,
		.to_ns = options->to_ns,
	};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = ts_sbt_cursor_new(perfetto->reader, &of_cursor, &cursor);

	while (!r && !(r = ts_export_next_row(perfetto->reader, cursor, perfetto->report, &row))) {
		if (++n % STEP_ROWS == 0 && options->step)
			options->step(options->user, n);
		r = put_row(perfetto, ranges, &row);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static void deinit(struct ts_perfetto *perfetto)
{
	ts_tracks_free(perfetto->tracks);
	ts_frames_deinit(&perfetto->frames);
	ts_epochs_deinit(&perfetto->epochs);
	ts_hashtable_deinit(&perfetto->places);
	ts_hashtable_deinit(&perfetto->configs);
	ts_hashtable_deinit(&perfetto->calls);
	ts_flows_free(perfetto->flows);
	ts_sums_deinit(&perfetto->sums);
}

static int init(struct ts_perfetto *perfetto, FILE *file)
{
	const struct ts_row_session *session;
	struct ts_track_options tracks = {.file = file,
					  .arg_names = arg_names,
					  .n_arg_names = ARG_NAMES,
					  .text = append_text,
					  .user = perfetto};
	struct ts_sbt_summary summary;
	int r;

	ts_hashtable_init(&perfetto->places, sizeof(struct ts_place_key),
			  offsetof(struct ts_place_key, track));
	ts_hashtable_init(&perfetto->configs, sizeof(struct config), sizeof(struct config));
	ts_hashtable_init(&perfetto->calls, sizeof(struct ts_call_kind),
			  offsetof(struct ts_call_kind, is_known));
	perfetto->n_sessions = ts_sbt_reader_n_sessions(perfetto->reader);
	perfetto->origin_ns = ts_sbt_reader_origin_ns(perfetto->reader);
	if (perfetto->origin_ns > TS_TRACKS_MAX_NS)
		perfetto->origin_ns = TS_TRACKS_MAX_NS;
	r = ts_frames_init(&perfetto->frames, perfetto->reader, perfetto->options);
	if (!r)
		r = ts_epochs_init(&perfetto->epochs, perfetto->reader);
	if (!r)
		r = ts_flows_new(&perfetto->flows);
	if (!r)
		r = ts_sbt_reader_summary(perfetto->reader, 0, &summary);
	/* The pass reports the damage. */
	if (r > 0) {
		memset(&summary, 0, sizeof(summary));
		r = 0;
	}
	perfetto->latest_ns =
		summary.latest_ns < TS_TRACKS_MAX_NS ? summary.latest_ns : TS_TRACKS_MAX_NS;
	ts_sums_init(&perfetto->sums, perfetto->origin_ns, perfetto->latest_ns);
	tracks.origin_ns = perfetto->origin_ns;
	session = perfetto->n_sessions ? ts_sbt_reader_session_at(perfetto->reader, 0) : NULL;
	if (session && session->start_realtime_ns)
		tracks.realtime_ns =
			session->start_realtime_ns + (perfetto->origin_ns - session->start_ns);
	return r ? r : ts_tracks_new(&tracks, &perfetto->tracks);
}

int ts_export_perfetto(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		       FILE *file, struct ts_export_report *ret_report)
{
	struct ts_export_report report = {0};
	ts_cleanup(deinit) struct ts_perfetto perfetto = {.reader = reader,
							  .options = options,
							  .report = &report};
	struct ts_open_ranges *ranges = NULL;
	int r = init(&perfetto, file);

	if (!r)
		r = ts_open_ranges_new(reader, options->session, options->from_ns, &ranges);
	if (!r)
		r = read_memory_before(&perfetto);
	if (!r)
		r = read_rows(&perfetto, ranges);
	ts_open_ranges_free(ranges);
	if (!r)
		r = ts_sums_finish(&perfetto);
	if (!r)
		r = ts_tracks_finish(perfetto.tracks);
	if (r)
		return r;
	ts_frames_report(&perfetto.frames, &report);
	report.n_left_out = ts_tracks_n_left_out(perfetto.tracks);
	*ret_report = report;
	return 0;
}
