/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Chrome's JSON trace events in the form of the PyTorch profiler (kineto); tsctl export
 * calls this file. Categories, arguments, flows and metadata have the names that kineto's readers
 * expect. The output is written row by row; memory depends on the number of threads and streams.
 * Format: Google's "Trace Event Format"; the form follows files that kineto itself writes.
 */
#include "replay/report/rows/openranges.h"
#include "replay/state/memory/state-memory.h"
#include "tools/export/kineto/annotated.h"
#include "tools/export/kineto/kineto-lines.h"
#include "tools/export/kineto/kineto-waits.h"

#include <inttypes.h>

#define STEP_ROWS   8192u
#define MAX_TIME_NS ((uint64_t)INT64_MAX)

/* Number of recent calls that are kept, because a memory row may belong to one of them. */
#define N_CALLS 1024u

#define ROWS                                                                                      \
	(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_SYNC) | TS_ROW_BIT(TS_ROW_MARK) |             \
	 TS_ROW_BIT(TS_ROW_RANGE) | TS_ROW_BIT(TS_ROW_RANGE_BEGIN) | TS_ROW_BIT(TS_ROW_COUNTER) | \
	 TS_ROW_BIT(TS_ROW_ALLOC) | TS_ROW_BIT(TS_ROW_FREE) | TS_ROW_BIT(TS_ROW_EVENT) |          \
	 TS_ROW_BIT(TS_ROW_STREAM_WAIT))
#define DEVICE_ROWS \
	(TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | TS_ROW_BIT(TS_ROW_MEMSET))

struct call {
	uint64_t op_id;
	uint32_t session, thread;
};

struct kineto {
	struct ts_sbt_reader *reader;
	const struct ts_export_options *options;
	struct ts_export_report *report;
	struct ts_events events;
	struct ts_lines lines;
	struct ts_annotated annotated;
	struct ts_waits waits;
	struct call calls[N_CALLS]; /* the last calls, by operation */
	uint64_t origin_ns, latest_ns, n_sessions, last_id;
};

static void deinit(struct kineto *kineto)
{
	ts_lines_deinit(&kineto->lines);
	ts_annotated_deinit(&kineto->annotated);
	ts_waits_deinit(&kineto->waits);
	ts_events_deinit(&kineto->events);
}

static uint64_t since_origin(const struct kineto *kineto, uint64_t time_ns)
{
	return time_ns > kineto->origin_ns ? time_ns - kineto->origin_ns : 0;
}

/* ---- GPU work -------------------------------------------------------------------------------- */

static uint64_t correlation(const struct kineto *kineto, uint32_t session, uint64_t op_id)
{
	return op_id * (kineto->n_sessions ? kineto->n_sessions : 1) +
	       ts_lines_session_index(session);
}

struct slice {
	const struct ts_sbt_row *row;
	uint64_t start_ns, end_ns;
	const char *category, *name;
};

static void begin_slice(struct kineto *kineto, const struct slice *slice,
			const struct ts_line *line)
{
	ts_events_slice(&kineto->events, slice->category, slice->name, line->place,
			since_origin(kineto, slice->start_ns), slice->end_ns - slice->start_ns);
}

static void end_slice(struct kineto *kineto)
{
	ts_events_raw(&kineto->events, "}");
	ts_events_end(&kineto->events);
}

/* Begins the slice with the arguments that all GPU slices have. More arguments may follow. */
static int begin_on_device(struct kineto *kineto, const struct slice *slice, uint32_t device,
			   uint32_t context, uint32_t stream, uint64_t op_id,
			   struct ts_line **ret_line)
{
	struct ts_line context_key = {.kind = TS_LINE_CONTEXT,
				      .session = slice->row->session,
				      .a = context},
		       *known;
	bool fits = false;
	int r = ts_lines_find(&kineto->lines, &context_key, &known, &(bool){false});

	if (!r)
		known->place.tid = device;
	for (unsigned int lane = 0; !r && !fits && lane < TS_LINES_LANES; lane++) {
		r = ts_lines_stream(&kineto->lines, slice->row->session, device, stream, lane,
				    ret_line);
		if (!r)
			r = ts_line_open(*ret_line, slice->start_ns, slice->end_ns, false, &fits);
	}
	if (!r)
		r = ts_annotated_op(&kineto->annotated, slice->row->session, op_id, device, stream,
				    slice->start_ns, slice->end_ns);
	if (r)
		return r;
	kineto->report->n_rows++;
	begin_slice(kineto, slice, *ret_line);
	ts_events_put_uint(&kineto->events, "\"device", device);
	ts_events_put_uint(&kineto->events, ", \"context", context);
	ts_events_put_uint(&kineto->events, ", \"stream", stream);
	ts_events_put_uint(&kineto->events, ", \"correlation",
			   correlation(kineto, slice->row->session, op_id));
	return 0;
}

static void end_on_device(struct kineto *kineto, const struct slice *slice,
			  const struct ts_line *line, uint64_t op_id)
{
	end_slice(kineto);
	if (op_id)
		ts_events_flow(&kineto->events, 'f',
			       correlation(kineto, slice->row->session, op_id), line->place,
			       since_origin(kineto, slice->start_ns));
}

/* Prints how much of a multiprocessor a launch fills, if the device's limits are known. */
static void put_occupancy(struct kineto *kineto, uint32_t session, const struct ts_row_kernel *row)
{
	const struct ts_row_device *device =
		ts_sbt_reader_device(kineto->reader, session, row->device);
	double blocks = (double)row->grid_x * row->grid_y * row->grid_z;
	double threads = (double)row->block_x * row->block_y * row->block_z;
	double shared = (double)row->static_shared_bytes + row->dynamic_shared_bytes;
	double warps, limit;

	if (!device || !device->n_multiprocessors || !device->threads_per_warp)
		return;
	blocks /= device->n_multiprocessors;
	warps = threads / device->threads_per_warp;
	ts_events_raw(&kineto->events, ", \"blocks per SM\": ");
	ts_events_number(&kineto->events, blocks);
	ts_events_raw(&kineto->events, ", \"warps per SM\": ");
	ts_events_number(&kineto->events, blocks * warps);
	if (!device->max_warps_per_multiprocessor || !threads)
		return;
	limit = device->max_warps_per_multiprocessor / warps;
	if (device->max_blocks_per_multiprocessor && limit > device->max_blocks_per_multiprocessor)
		limit = device->max_blocks_per_multiprocessor;
	if (device->max_shared_bytes_per_multiprocessor && shared > 0 &&
	    limit > device->max_shared_bytes_per_multiprocessor / shared)
		limit = device->max_shared_bytes_per_multiprocessor / shared;
	if (device->max_registers_per_multiprocessor && row->registers_per_thread &&
	    limit > device->max_registers_per_multiprocessor /
			    (threads * row->registers_per_thread))
		limit = device->max_registers_per_multiprocessor /
			(threads * row->registers_per_thread);
	limit = (double)(uint64_t)limit;
	if (blocks < limit)
		limit = blocks;
	ts_events_put_uint(&kineto->events, ", \"est. achieved occupancy %",
			   (uint64_t)(0.5 + 100.0 * limit * warps /
						    device->max_warps_per_multiprocessor));
}

static void put_shape(struct ts_events *events, uint32_t x, uint32_t y, uint32_t z)
{
	ts_events_uint(events, x);
	ts_events_raw(events, ", ");
	ts_events_uint(events, y);
	ts_events_raw(events, ", ");
	ts_events_uint(events, z);
	ts_events_raw(events, "]");
}

static int put_kernel(struct kineto *kineto, struct slice *slice)
{
	struct ts_events *events = &kineto->events;
	const struct ts_row_kernel *row = slice->row->kernel;
	const struct ts_export_options *options = kineto->options;
	struct ts_line *line;
	int r;

	slice->category = "kernel";
	slice->name = row->name ? options->names->kernel(options->user, row->name) : NULL;
	slice->name = slice->name ? slice->name : "unknown kernel";
	r = begin_on_device(kineto, slice, row->device, row->context, row->stream, row->op_id,
			    &line);
	if (r)
		return r;
	ts_events_put_uint(events, ", \"queued",
			   row->queued_ns ? since_origin(kineto, row->queued_ns) / 1000 : 0);
	ts_events_put_uint(events, ", \"registers per thread", row->registers_per_thread);
	ts_events_put_uint(events, ", \"shared memory",
			   (uint64_t)row->static_shared_bytes + row->dynamic_shared_bytes);
	put_occupancy(kineto, slice->row->session, row);
	ts_events_raw(events, ", \"grid\": [");
	put_shape(events, row->grid_x, row->grid_y, row->grid_z);
	ts_events_raw(events, ", \"block\": [");
	put_shape(events, row->block_x, row->block_y, row->block_z);
	if (row->graph_node)
		ts_events_put_uint(events, ", \"graph node id", row->graph_node);
	end_on_device(kineto, slice, line, row->op_id);
	return 0;
}

static void put_bytes(struct kineto *kineto, const struct slice *slice, uint64_t bytes)
{
	uint64_t took_ns = slice->end_ns - slice->start_ns;

	ts_events_put_uint(&kineto->events, ", \"bytes", bytes);
	ts_events_raw(&kineto->events, ", \"memory bandwidth (GB/s)\": ");
	if (took_ns)
		ts_events_number(&kineto->events, (double)bytes / (double)took_ns);
	else
		ts_events_raw(&kineto->events, "\"N/A\"");
}

static const char *memory_kind(uint32_t kind)
{
	/* Index: CUPTI's number; text: kineto's word. */
	static const char *const names[] = {"Unknown",	     "Pageable",      "Pinned",
					    "Device",	     "Array",	      "Managed",
					    "Device Static", "Managed Static"};

	return kind < TS_ARRAY_LEN(names) ? names[kind] : "Unrecognized";
}

static int put_copy(struct kineto *kineto, struct slice *slice)
{
	static const char *const kinds[] = {"Unknown", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
					    "AtoD",    "DtoA", "DtoD", "HtoH", "PtoP"};
	const struct ts_row_memcpy *row = slice->row->memcpy_;
	struct ts_line *line;
	char name[96];
	int r;

	snprintf(name, sizeof(name), "Memcpy %s (%s -> %s)",
		 row->copy_kind < TS_ARRAY_LEN(kinds) ? kinds[row->copy_kind] : "Unrecognized",
		 memory_kind(row->src_kind), memory_kind(row->dst_kind));
	slice->category = "gpu_memcpy";
	slice->name = name;
	r = begin_on_device(kineto, slice, row->device, row->context, row->stream, row->op_id,
			    &line);
	if (r)
		return r;
	put_bytes(kineto, slice, row->bytes);
	end_on_device(kineto, slice, line, row->op_id);
	return 0;
}

static int put_set(struct kineto *kineto, struct slice *slice)
{
	const struct ts_row_memset *row = slice->row->memset_;
	struct ts_line *line;
	char name[48];
	int r;

	snprintf(name, sizeof(name), "Memset (%s)", memory_kind(row->memory_kind));
	slice->category = "gpu_memset";
	slice->name = name;
	r = begin_on_device(kineto, slice, row->device, row->context, row->stream, row->op_id,
			    &line);
	if (r)
		return r;
	put_bytes(kineto, slice, row->bytes);
	end_on_device(kineto, slice, line, row->op_id);
	return 0;
}

/*
 * Prints a wait if its context's device is known, that is, after an operation in that context. A
 * wait lasts while the stream works, so it has its own lanes beside the stream.
 */
static int put_wait(struct kineto *kineto, const struct ts_waits_one *wait)
{
	static const char *const kinds[] = {"Unknown", "Event Sync", "Stream Wait Event",
					    "Stream Sync", "Context Sync"};
	const struct ts_row_sync *row = &wait->row;
	const uint64_t end_ns = row->end_ns < MAX_TIME_NS ? row->end_ns : MAX_TIME_NS;
	const uint64_t start_ns = row->start_ns < end_ns ? row->start_ns : end_ns;
	const char *kind =
		row->sync_type < TS_ARRAY_LEN(kinds) ? kinds[row->sync_type] : "Unrecognized";
	struct ts_line key = {.kind = TS_LINE_CONTEXT, .session = wait->session, .a = row->context},
		       *line;
	struct ts_events *events = &kineto->events;
	bool fits = false;
	uint32_t device, i;
	int r = 0;

	if (!ts_hashtable_find(&kineto->lines.lines, &key, &i))
		return 0;
	device = (uint32_t)((struct ts_line *)ts_hashtable_at(&kineto->lines.lines, i))->place.tid;
	for (unsigned int lane = TS_LINES_LANES; !r && !fits && lane < 2 * TS_LINES_LANES; lane++) {
		r = ts_lines_stream(&kineto->lines, wait->session, device, row->stream, lane,
				    &line);
		if (!r)
			r = ts_line_open(line, start_ns, end_ns, false, &fits);
	}
	if (r)
		return r;
	ts_events_slice(events, "cuda_sync", kind, line->place, since_origin(kineto, start_ns),
			end_ns - start_ns);
	ts_events_raw(events, "\"cuda_sync_kind\": ");
	ts_events_string(events, kind);
	if (row->event) {
		bool known = wait->record_op_id != 0;

		ts_events_raw(events, ", \"wait_on_stream\": ");
		ts_events_int(events, known ? (int32_t)wait->record_stream : -1);
		ts_events_raw(events, ", \"wait_on_cuda_event_record_corr_id\": ");
		if (known)
			ts_events_uint(events,
				       correlation(kineto, wait->session, wait->record_op_id));
		else
			ts_events_int(events, -1);
		ts_events_put_uint(events, ", \"wait_on_cuda_event_id", row->event);
	}
	ts_events_raw(events, ", \"stream\": ");
	ts_events_int(events, (int32_t)row->stream);
	ts_events_put_uint(events, ", \"correlation",
			   correlation(kineto, wait->session, row->op_id));
	ts_events_put_uint(events, ", \"device", device);
	ts_events_put_uint(events, ", \"context", row->context);
	end_slice(kineto);
	return 0;
}

static int put_waits(struct kineto *kineto, uint64_t now_ns)
{
	const struct ts_waits_one *wait;
	int r = 0;

	while (!r && (wait = ts_waits_next(&kineto->waits, now_ns)))
		r = put_wait(kineto, wait);
	return r;
}

/* ---- host work ------------------------------------------------------------------------------- */

static int put_call(struct kineto *kineto, struct slice *slice)
{
	const struct ts_row_api *row = slice->row->api;
	const char *name = kineto->options->names->api(row->domain, row->cbid);
	uint64_t ts = since_origin(kineto, slice->start_ns);
	struct ts_line *line;
	char number[32];
	bool fits;
	int r = ts_lines_thread(&kineto->lines, slice->row->session, row->thread, &line);

	if (!r)
		r = ts_line_open(line, slice->start_ns, slice->end_ns, true, &fits);
	if (!r)
		r = ts_annotated_call(&kineto->annotated, slice->row->session, row->thread,
				      slice->start_ns, row->op_id);
	if (!r && row->nested_op_id && row->nested_op_id != row->op_id)
		r = ts_annotated_call(&kineto->annotated, slice->row->session, row->thread,
				      slice->start_ns, row->nested_op_id);
	if (r)
		return r;
	kineto->calls[row->op_id % N_CALLS] =
		(struct call){row->op_id, slice->row->session, row->thread};
	if (!name)
		snprintf(number, sizeof(number), "cbid %u", row->cbid);
	slice->category =
		ts_api_base(row->domain) == TS_API_CUDA_DRIVER ? "cuda_driver" : "cuda_runtime";
	slice->name = name ? name : number;
	begin_slice(kineto, slice, line);
	ts_events_put_uint(&kineto->events, "\"cbid", row->cbid);
	ts_events_put_uint(&kineto->events, ", \"correlation",
			   correlation(kineto, slice->row->session, row->op_id));
	if (row->result) {
		ts_events_raw(&kineto->events, ", \"result\": ");
		ts_events_int(&kineto->events, row->result);
	}
	end_slice(kineto);
	if (!(row->flags & TS_API_EXPECTS_DEVICE) && name && !strstr(name, "GraphLaunch"))
		return 0;
	ts_events_flow(&kineto->events, 's', correlation(kineto, slice->row->session, row->op_id),
		       line->place, ts);
	if (row->nested_op_id && row->nested_op_id != row->op_id)
		ts_events_flow(&kineto->events, 's',
			       correlation(kineto, slice->row->session, row->nested_op_id),
			       line->place, ts);
	return 0;
}

/*
 * Prints a range. In Chrome, slices of a thread nest. So a range that crosses others of its thread,
 * or belongs to no thread, becomes an asynchronous event.
 */
static int put_range(struct kineto *kineto, struct slice *slice, uint32_t thread, uint32_t action,
		     uint32_t name, uint32_t domain)
{
	const char *of = ts_lines_string(&kineto->lines, domain);
	struct ts_events *events = &kineto->events;
	struct ts_line *line;
	bool fits = false;
	int r = ts_lines_thread(&kineto->lines, slice->row->session, thread, &line);

	if (!r && action != TS_RANGE_START)
		r = ts_line_open(line, slice->start_ns, slice->end_ns, true, &fits);
	if (!r && fits)
		r = ts_annotated_range(&kineto->annotated, slice->row->session, thread,
				       slice->start_ns, slice->end_ns, name, domain);
	if (r)
		return r;
	slice->category = "user_annotation";
	slice->name = ts_lines_string(&kineto->lines, name);
	slice->name = slice->name ? slice->name : "?";
	if (fits) {
		begin_slice(kineto, slice, line);
	} else {
		ts_events_begin(events, "b", slice->category, slice->name, line->place,
				since_origin(kineto, slice->start_ns));
		ts_events_put_uint(events, ", \"id", ++kineto->last_id);
		ts_events_raw(events, ", \"args\": {");
	}
	if (of) {
		ts_events_raw(events, "\"domain\": ");
		ts_events_string(events, of);
	}
	end_slice(kineto);
	if (fits)
		return 0;
	ts_events_begin(events, "e", slice->category, slice->name, line->place,
			since_origin(kineto, slice->end_ns));
	ts_events_put_uint(events, ", \"id", kineto->last_id);
	ts_events_end(events);
	return 0;
}

static int put_mark(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_mark *row = slice->row->mark;
	const char *name = ts_lines_string(&kineto->lines, row->name);
	struct ts_line *line;
	int r = ts_lines_thread(&kineto->lines, slice->row->session, row->thread, &line);

	if (r)
		return r;
	ts_events_begin(&kineto->events, "i", "user_annotation", name ? name : "?", line->place,
			since_origin(kineto, slice->start_ns));
	ts_events_raw(&kineto->events, ", \"s\": \"t\"");
	ts_events_end(&kineto->events);
	return 0;
}

static int put_counter(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_counter *row = slice->row->counter;
	const char *name = ts_lines_string(&kineto->lines, row->name);
	struct ts_line *line;
	int r = ts_lines_thread(&kineto->lines, slice->row->session, row->thread, &line);

	/* JSON cannot express NaN and infinities. */
	if (r || row->value != row->value || row->value - row->value != 0)
		return r;
	ts_events_begin(&kineto->events, "C", "counter", name ? name : "?", line->place,
			since_origin(kineto, slice->start_ns));
	ts_events_raw(&kineto->events, ", \"args\": {\"value\": ");
	if (row->value_type == TS_PAYLOAD_I64)
		ts_events_int(&kineto->events, row->integer);
	else
		ts_events_double(&kineto->events, row->value);
	end_slice(kineto);
	return 0;
}

/*
 * Prints an allocation or a free on a device. If its call is unknown, the thread is unknown, too.
 * Kineto has two device types; 1 is CUDA.
 */
static int put_memory(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_memory *row = slice->row->memory;
	const struct call *call = &kineto->calls[row->op_id % N_CALLS];
	struct ts_line key = {.kind = TS_LINE_POOL,
			      .session = slice->row->session,
			      .a = row->device,
			      .b = row->pool};
	bool is_free = slice->row->type == TS_ROW_FREE, is_new;
	struct ts_line *memory, *pool, *line;
	struct ts_events *events = &kineto->events;
	uint64_t unused =
		row->pool_bytes > row->pool_used_bytes ? row->pool_bytes - row->pool_used_bytes : 0;
	int r;

	if (!ts_memory_is_device(row->memory_kind))
		return 0;
	r = ts_lines_find(&kineto->lines, &key, &pool, &is_new);
	if (r)
		return r;
	unused -= pool->place.tid;
	pool->place.tid += unused;
	key.kind = TS_LINE_MEMORY;
	key.b = 0;
	r = ts_lines_find(&kineto->lines, &key, &memory, &is_new);
	if (r)
		return r;
	memory->place.tid += unused;
	memory->place.pid = !is_free			     ? memory->place.pid + row->bytes
			    : row->bytes < memory->place.pid ? memory->place.pid - row->bytes
							     : 0;
	/* Adding a line moves the others, so copy this one. */
	key = *memory;
	r = ts_lines_thread(&kineto->lines, slice->row->session,
			    call->op_id == row->op_id && call->session == slice->row->session
				    ? call->thread
				    : 0,
			    &line);
	if (r)
		return r;
	ts_events_begin(events, "i", "cpu_instant_event", "[memory]", line->place,
			since_origin(kineto, slice->start_ns));
	ts_events_raw(events, ", \"s\": \"t\", \"args\": {");
	ts_events_put_uint(events, "\"Total Reserved", key.place.pid + key.place.tid);
	ts_events_put_uint(events, ", \"Total Allocated", key.place.pid);
	ts_events_raw(events, ", \"Bytes\": ");
	if (is_free)
		ts_events_raw(events, "-");
	ts_events_uint(events, row->bytes);
	ts_events_put_uint(events, ", \"Addr", row->address);
	ts_events_put_uint(events, ", \"Device Id", row->device);
	ts_events_raw(events, ", \"Device Type\": 1");
	end_slice(kineto);
	return 0;
}

/*
 * Prints an annotation. If the stream's operations lie in one lane, and the annotation crosses no
 * other one there, it lies beside the operations. Else it gets a lane of its own.
 */
static int put_annotation(struct kineto *kineto, const struct ts_annotated_span *span)
{
	const struct ts_annotated_range *range = &kineto->annotated.ranges[span->range];
	struct ts_line key = {.kind = TS_LINE_STREAM,
			      .session = span->session,
			      .a = span->device,
			      .b = UINT64_C(1) << 32 | span->stream};
	struct ts_sbt_row row = {.session = span->session};
	struct slice slice = {.row = &row,
			      .start_ns = span->start_ns,
			      .end_ns = span->end_ns,
			      .category = "gpu_user_annotation",
			      .name = ts_lines_string(&kineto->lines, range->name)};
	unsigned int lane = TS_LINES_ANNOTATIONS;
	struct ts_line *line = NULL, *nest;
	bool fits = false;
	uint32_t i;
	int r = 0;

	/*
	 * Open annotations are kept in separate lines, because the lines of operations are already
	 * past this time.
	 */
	for (; !r && !fits && lane < TS_LINES_ANNOTATIONS + TS_LINES_LANES; lane++) {
		struct ts_line of = key;
		bool is_new;

		of.kind = TS_LINE_ANNOTATIONS;
		of.b = (uint64_t)lane << 32 | span->stream;
		r = ts_lines_find(&kineto->lines, &of, &nest, &is_new);
		if (!r)
			r = ts_line_open(nest, span->start_ns, span->end_ns, true, &fits);
	}
	if (r || !fits)
		return r;
	lane = --lane == TS_LINES_ANNOTATIONS && !ts_hashtable_find(&kineto->lines.lines, &key, &i)
		       ? 0
		       : lane;
	r = ts_lines_stream(&kineto->lines, span->session, span->device, span->stream, lane, &line);
	if (r)
		return r;
	slice.name = slice.name ? slice.name : "?";
	begin_slice(kineto, &slice, line);
	if (ts_lines_string(&kineto->lines, range->domain)) {
		ts_events_raw(&kineto->events, "\"domain\": ");
		ts_events_string(&kineto->events, ts_lines_string(&kineto->lines, range->domain));
	}
	end_slice(kineto);
	return 0;
}

static int put_annotations(struct kineto *kineto)
{
	size_t n;
	struct ts_annotated_span *spans = ts_annotated_sort(&kineto->annotated, &n);
	int r = spans ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < n; i++)
		r = put_annotation(kineto, &spans[i]);
	free(spans);
	return r;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int put_row(struct kineto *kineto, struct ts_open_ranges *ranges,
		   const struct ts_sbt_row *row)
{
	struct slice slice = {.row = row,
			      .start_ns = ts_row_start_ns(row->any),
			      .end_ns = ts_row_end_ns(row->schema, row->any)};

	if (slice.end_ns > MAX_TIME_NS)
		slice.end_ns = MAX_TIME_NS;
	if (slice.start_ns > slice.end_ns)
		slice.start_ns = slice.end_ns;
	switch (row->type) {
	case TS_ROW_API:
		return put_call(kineto, &slice);
	case TS_ROW_KERNEL:
		return put_kernel(kineto, &slice);
	case TS_ROW_MEMCPY:
		return put_copy(kineto, &slice);
	case TS_ROW_MEMSET:
		return put_set(kineto, &slice);
	case TS_ROW_SYNC:
		return ts_waits_sync(&kineto->waits, row->session, row->sync);
	case TS_ROW_EVENT:
		return ts_waits_record(&kineto->waits, row->session, row->event);
	case TS_ROW_STREAM_WAIT:
		return ts_waits_stream_wait(&kineto->waits, row->session, row->stream_wait);
	case TS_ROW_MARK:
		return put_mark(kineto, &slice);
	case TS_ROW_ALLOC:
	case TS_ROW_FREE:
		return put_memory(kineto, &slice);
	case TS_ROW_RANGE:
		return put_range(kineto, &slice, row->range->thread, row->range->action,
				 row->range->name, row->range->domain);
	case TS_ROW_RANGE_BEGIN:
		if (!ts_open_ranges_is_open(ranges, row))
			return 0;
		if (kineto->latest_ns > slice.end_ns)
			slice.end_ns = kineto->latest_ns;
		return put_range(kineto, &slice, row->range_begin->thread, row->range_begin->action,
				 row->range_begin->name, row->range_begin->domain);
	default:
		return put_counter(kineto, &slice);
	}
}

static void put_devices(struct kineto *kineto)
{
	size_t n = ts_sbt_reader_n_devices(kineto->reader);
	uint32_t session = kineto->options->session;
	struct ts_events *events = &kineto->events;
	bool any = false;

	ts_events_raw(events, "\"deviceProperties\": [");
	for (size_t i = 0; i < n; i++) {
		const struct ts_sbt_device *device = ts_sbt_reader_device_at(kineto->reader, i);
		const struct ts_row_device *row = &device->row;
		const char *name = ts_lines_string(&kineto->lines, row->name);

		/* A device is the same for all processes: print the rows of the first session. */
		session = session ? session : device->session;
		if (device->session != session)
			continue;
		if (any)
			ts_events_raw(events, ",");
		ts_events_put_uint(events, "\n{\"id", row->device);
		ts_events_raw(events, ", \"name\": ");
		ts_events_string(events, name ? name : "");
		ts_events_put_uint(events, ", \"totalGlobalMem", row->memory_bytes);
		ts_events_put_uint(events, ", \"computeMajor", row->compute_capability_major);
		ts_events_put_uint(events, ", \"computeMinor", row->compute_capability_minor);
		ts_events_put_uint(events, ", \"maxThreadsPerMultiprocessor",
				   (uint64_t)row->max_warps_per_multiprocessor *
					   row->threads_per_warp);
		ts_events_put_uint(events, ", \"regsPerMultiprocessor",
				   row->max_registers_per_multiprocessor);
		ts_events_put_uint(events, ", \"warpSize", row->threads_per_warp);
		ts_events_put_uint(events, ", \"sharedMemPerMultiprocessor",
				   row->max_shared_bytes_per_multiprocessor);
		ts_events_put_uint(events, ", \"numSms", row->n_multiprocessors);
		ts_events_raw(events, "}");
		any = true;
	}
	ts_events_raw(events, "],\n");
}

static int put_head(struct kineto *kineto)
{
	const struct ts_row_session *session =
		kineto->n_sessions ? ts_sbt_reader_session_at(kineto->reader, 0) : NULL;
	const char *host = ts_sbt_reader_metadata(kineto->reader, TS_METADATA_HOSTNAME);
	const char *generator = kineto->options->generator;
	struct ts_events *events = &kineto->events;
	struct ts_sbt_summary summary;
	int r = ts_sbt_reader_summary(kineto->reader, 0, &summary);

	if (r < 0)
		return r;
	kineto->latest_ns = r ? 0 : summary.latest_ns;
	ts_events_raw(events, "{\"schemaVersion\": 1,\n");
	put_devices(kineto);
	if (session && session->driver_version) {
		ts_events_put_uint(events, "\"cuda_driver_version", session->driver_version);
		ts_events_raw(events, ",\n");
	}
	if (host) {
		ts_events_raw(events, "\"host_name\": ");
		ts_events_string(events, host);
		ts_events_raw(events, ",\n");
	}
	ts_events_raw(events, "\"traceName\": ");
	ts_events_string(events, generator ? generator : "");
	if (session && session->start_realtime_ns)
		ts_events_put_uint(events, ",\n\"baseTimeNanoseconds",
				   session->start_realtime_ns +
					   (kineto->origin_ns - session->start_ns));
	ts_events_raw(events, ",\n\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [");
	return 0;
}

static int put_tail(struct kineto *kineto)
{
	struct ts_events *events = &kineto->events;

	if (events->has_event)
		ts_events_raw(events, ",");
	ts_events_raw(events, "\n{\"ph\": \"i\", \"name\": \"Record Window End\", "
			      "\"s\": \"g\", \"pid\": \"\", \"tid\": \"\", \"ts\": ");
	ts_events_time(events, since_origin(kineto, kineto->latest_ns));
	ts_events_raw(events, "}\n]}\n");
	return ts_events_flush(events);
}

static int next_row(struct kineto *kineto, struct ts_sbt_cursor *cursor, struct ts_sbt_row *ret_row)
{
	struct ts_export_report *report = kineto->report;
	int r;

	while ((r = ts_sbt_cursor_next(cursor, ret_row)) == TS_SBT_E_CORRUPT) {
		if (!report->damaged)
			report->damage = *ts_sbt_reader_error(kineto->reader);
		report->damaged = true;
	}
	return r;
}

static int put_rows(struct kineto *kineto, struct ts_open_ranges *ranges)
{
	const struct ts_export_options *options = kineto->options;
	const struct ts_sbt_cursor_options of_cursor = {
		.types = ROWS | (options->types ? options->types : DEVICE_ROWS),
		.session = options->session,
		.from_ns = options->from_ns,
		.to_ns = options->to_ns,
	};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = ts_sbt_cursor_new(kineto->reader, &of_cursor, &cursor);

	while (!r && !(r = next_row(kineto, cursor, &row))) {
		if (++n % STEP_ROWS == 0 && options->step)
			options->step(options->user, n);
		r = put_waits(kineto, ts_row_start_ns(row.any));
		if (!r)
			r = put_row(kineto, ranges, &row);
		if (!r)
			r = kineto->events.error;
	}
	return r == TS_SBT_E_END ? put_waits(kineto, UINT64_MAX) : r;
}

int ts_export_kineto(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		     FILE *file, struct ts_export_report *ret_report)
{
	/* This format has no stacks, so no stack lacks names. */
	struct ts_export_report report = {.has_names = true};
	ts_cleanup(deinit) struct kineto kineto = {.reader = reader,
						   .options = options,
						   .report = &report,
						   .origin_ns = ts_sbt_reader_origin_ns(reader),
						   .n_sessions = ts_sbt_reader_n_sessions(reader)};
	struct ts_open_ranges *ranges = NULL;
	int r;

	ts_annotated_init(&kineto.annotated);
	ts_waits_init(&kineto.waits);
	ts_lines_init(&kineto.lines, &kineto.events, reader, options);
	r = ts_events_init(&kineto.events, file);
	if (!r)
		r = put_head(&kineto);
	if (!r)
		r = ts_open_ranges_new(reader, options->session, options->from_ns, &ranges);
	if (!r)
		r = put_rows(&kineto, ranges);
	if (!r)
		r = put_annotations(&kineto);
	ts_open_ranges_free(ranges);
	if (!r)
		r = put_tail(&kineto);
	if (r)
		return r;
	*ret_report = report;
	return 0;
}
