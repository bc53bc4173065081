/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chrome's JSON trace events in the shape that the PyTorch profiler (kineto) gives them: categories, arguments, flows and
 * metadata are named as its readers expect. Written row by row; memory follows from the number of threads and streams. Format:
 * Google's "Trace Event Format"; the shape is that of files that kineto itself writes.
 */
#include "proto/rpc/json.h"
#include "replay/report/openranges.h"
#include "replay/state/memory.h"
#include "tools/export/annotated.h"
#include "tools/export/frames.h"

#include <inttypes.h>
#include <stdarg.h>

#define PIECE_BYTES (256u * 1024)
#define STEP_ROWS   8192u
#define MAX_TIME_NS ((uint64_t)INT64_MAX)

/* Readers know these numbers: processes of GPUs come last, in their order. */
#define GPU_SORT_INDEX 5000000u
/* Streams of further sessions and further lanes of a stream are threads of a GPU with numbers beyond any stream's. */
#define SESSION_TIDS  10000000u
#define LANE_TIDS     10000u
#define NO_STREAM_TID 9999u
#define MAX_LANES     64u
#define MAX_DEPTH     200u
/* Calls that memory may be of, and what a lane is where annotations cross. */
#define N_CALLS	    1024u
#define ANNOTATIONS (2 * MAX_LANES)

#define ROWS                                                                                      \
	(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_SYNC) | TS_ROW_BIT(TS_ROW_MARK) |             \
	 TS_ROW_BIT(TS_ROW_RANGE) | TS_ROW_BIT(TS_ROW_RANGE_BEGIN) | TS_ROW_BIT(TS_ROW_COUNTER) | \
	 TS_ROW_BIT(TS_ROW_ALLOC) | TS_ROW_BIT(TS_ROW_FREE))
#define DEVICE_ROWS \
	(TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | TS_ROW_BIT(TS_ROW_MEMSET))

enum line_kind {
	LINE_PROCESS = 1,
	LINE_THREAD,	  /* a: its number */
	LINE_GPU,	  /* a: device */
	LINE_STREAM,	  /* a: device, b: stream and lane */
	LINE_CONTEXT,	  /* a: context; tid: its device */
	LINE_ANNOTATIONS, /* as LINE_STREAM: what is open there, told of nowhere */
	LINE_MEMORY, /* a: device; pid: bytes that are allocated, tid: that pools hold beside them */
	LINE_POOL    /* a: device, b: pool; tid: bytes that it holds and that are not allocated */
};

/* A thread of the timeline; what was told of it, and what is open on it. */
struct line {
	uint32_t kind; /* enum line_kind */
	uint32_t session;
	uint64_t a, b;
	/* the key ends here */
	uint64_t pid, tid;
	uint64_t *ends; /* the innermost last */
	size_t n_ends, n_ends_allocated;
};

struct call {
	uint64_t op_id;
	uint32_t session, thread;
};

struct kineto {
	struct ts_sbt_reader *reader;
	const struct ts_export_options *options;
	struct ts_export_report *report;
	FILE *file;
	struct ts_json json;
	struct ts_keyed lines; /* of struct line */
	struct ts_annotated annotated;
	struct call calls[N_CALLS]; /* the last, by operation */
	uint64_t origin_ns, latest_ns, n_sessions, last_id;
	bool has_event;
};

static void deinit(struct kineto *kineto)
{
	for (uint32_t i = 0; i < kineto->lines.n; i++)
		free(((struct line *)ts_keyed_at(&kineto->lines, i))->ends);
	ts_keyed_deinit(&kineto->lines);
	ts_annotated_deinit(&kineto->annotated);
	ts_json_deinit(&kineto->json);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void print(struct kineto *kineto, const char *format,
							...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	ts_json_raw(&kineto->json, text);
}

static void flush(struct kineto *kineto)
{
	fwrite(kineto->json.data, 1, kineto->json.n_bytes, kineto->file);
	ts_json_clear(&kineto->json);
}

/* Microseconds from the base, to the nanosecond. */
static void put_time(struct kineto *kineto, const char *key, uint64_t ns)
{
	print(kineto, ", \"%s\": %" PRIu64 ".%03u", key, ns / 1000, (unsigned int)(ns % 1000));
}

static uint64_t since_origin(const struct kineto *kineto, uint64_t time_ns)
{
	return time_ns > kineto->origin_ns ? time_ns - kineto->origin_ns : 0;
}

static void begin_event(struct kineto *kineto, const char *phase)
{
	print(kineto, "%s\n{\"ph\": \"%s\"", kineto->has_event ? "," : "", phase);
	kineto->has_event = true;
}

static void end_event(struct kineto *kineto)
{
	ts_json_raw(&kineto->json, "}");
	if (kineto->json.n_bytes >= PIECE_BYTES)
		flush(kineto);
}

static void put_name(struct kineto *kineto, const char *category, const char *name)
{
	print(kineto, ", \"cat\": \"%s\", \"name\": ", category);
	ts_json_string(&kineto->json, name);
}

static void put_place(struct kineto *kineto, const struct line *line)
{
	print(kineto, ", \"pid\": %" PRIu64 ", \"tid\": %" PRIu64, line->pid, line->tid);
}

static void put_metadata(struct kineto *kineto, const struct line *line, const char *what,
			 const char *key, const char *text, uint64_t number)
{
	begin_event(kineto, "M");
	print(kineto, ", \"name\": \"%s\"", what);
	put_place(kineto, line);
	put_time(kineto, "ts", 0);
	print(kineto, ", \"args\": {\"%s\": ", key);
	if (text)
		ts_json_string(&kineto->json, text);
	else
		ts_json_uint(&kineto->json, number);
	ts_json_raw(&kineto->json, "}");
	end_event(kineto);
}

/* ---- where things happen ------------------------------------------------------------------------ */

static int find_line(struct kineto *kineto, const struct line *key, struct line **ret_line,
		     bool *ret_is_new)
{
	uint32_t i;
	int r = ts_keyed_get(&kineto->lines, key, &i, ret_is_new);

	if (!r)
		*ret_line = ts_keyed_at(&kineto->lines, i);
	return r;
}

static const char *string(const struct kineto *kineto, uint32_t id)
{
	const char *text = id ? ts_sbt_reader_string(kineto->reader, id, NULL) : NULL;

	return text && *text ? text : NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *program_of(const struct kineto *kineto, uint32_t session)
{
	const struct ts_row_session *row = ts_sbt_reader_session(kineto->reader, session);
	const char *program = row ? string(kineto, row->program) : NULL;

	return program ? base_name(program) : "process";
}

/* A process of the timeline: one of the machine's, or a GPU. */
static int introduce(struct kineto *kineto, enum line_kind kind, uint32_t session, uint64_t a,
		     uint64_t pid, const char *label, uint64_t sort_index)
{
	struct line key = {.kind = kind, .session = kind == LINE_GPU ? 0 : session, .a = a}, *line;
	const char *program = program_of(kineto, session);
	bool is_new;
	int r = find_line(kineto, &key, &line, &is_new);

	if (r || !is_new)
		return r;
	line->pid = pid;
	put_metadata(kineto, line, "process_name", "name", program, 0);
	put_metadata(kineto, line, "process_labels", "labels", label, 0);
	put_metadata(kineto, line, "process_sort_index", "sort_index", NULL, sort_index);
	return 0;
}

static int find_thread(struct kineto *kineto, uint32_t session, uint32_t thread,
		       struct line **ret_line)
{
	struct line key = {.kind = LINE_THREAD, .session = session, .a = thread};
	const struct ts_row_session *process;
	const struct ts_row_thread *row;
	const char *name;
	char text[32];
	bool is_new;
	int r = find_line(kineto, &key, ret_line, &is_new);

	if (r || !is_new)
		return r;
	process = ts_sbt_reader_session(kineto->reader, session);
	row = thread ? ts_sbt_reader_thread(kineto->reader, session, thread) : NULL;
	key.pid = process ? process->pid : 0;
	key.tid = row ? row->tid : 0;
	r = introduce(kineto, LINE_PROCESS, session, 0, key.pid, "CPU", key.pid);
	if (!r)
		r = find_line(kineto, &key, ret_line, &is_new);
	if (r)
		return r;
	(*ret_line)->pid = key.pid;
	(*ret_line)->tid = key.tid;
	name = row ? kineto->options->names->thread(kineto->options->user, session, row) : NULL;
	snprintf(text, sizeof(text), "thread %" PRIu64, key.tid);
	put_metadata(kineto, *ret_line, "thread_name", "name", name ? name : text, 0);
	put_metadata(kineto, *ret_line, "thread_sort_index", "sort_index", NULL, key.tid);
	return 0;
}

/* A session's number from 0, which may lie. */
static uint64_t session_index(uint32_t session)
{
	return session ? session - UINT64_C(1) : 0;
}

static int find_stream(struct kineto *kineto, uint32_t session, uint32_t device, uint32_t stream,
		       unsigned int lane, struct line **ret_line)
{
	struct line key = {.kind = LINE_STREAM,
			   .session = session,
			   .a = device,
			   .b = (uint64_t)lane << 32 | stream};
	char text[TS_FRAME_NAME_BYTES], gpu[32];
	bool is_new;
	int n;
	int r = find_line(kineto, &key, ret_line, &is_new);

	if (r || !is_new)
		return r;
	snprintf(gpu, sizeof(gpu), "GPU %" PRIu32, device);
	r = introduce(kineto, LINE_GPU, session, device, device, gpu, GPU_SORT_INDEX + device);
	if (!r)
		r = find_line(kineto, &key, ret_line, &is_new);
	if (r)
		return r;
	(*ret_line)->pid = device;
	(*ret_line)->tid = (stream == TS_NO_DEVICE ? NO_STREAM_TID : stream) +
			   session_index(session) * SESSION_TIDS + (uint64_t)lane * LANE_TIDS;
	if (stream == TS_NO_DEVICE)
		n = snprintf(text, sizeof(text), "all streams ");
	else
		n = snprintf(text, sizeof(text), "stream %" PRIu32 " ", stream);
	if (lane >= MAX_LANES)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      lane < ANNOTATIONS ? "waits " : "annotations ");
	if (session_index(session))
		snprintf(text + n, sizeof(text) - (size_t)n, "of %.200s",
			 program_of(kineto, session));
	put_metadata(kineto, *ret_line, "thread_name", "name", text, 0);
	put_metadata(kineto, *ret_line, "thread_sort_index", "sort_index", NULL, (*ret_line)->tid);
	return 0;
}

/* Whether the slice nests in what is open there; if so it is open, too. */
static int open_on(struct line *line, uint64_t start_ns, uint64_t end_ns, bool may_nest,
		   bool *ret_fits)
{
	while (line->n_ends && line->ends[line->n_ends - 1] <= start_ns)
		line->n_ends--;
	*ret_fits = !line->n_ends || (may_nest && line->n_ends < MAX_DEPTH &&
				      line->ends[line->n_ends - 1] >= end_ns);
	if (!*ret_fits)
		return 0;
	if (line->n_ends == line->n_ends_allocated) {
		size_t n = line->n_ends_allocated ? 2 * line->n_ends_allocated : 8;
		uint64_t *grown = reallocarray(line->ends, n, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		line->ends = grown;
		line->n_ends_allocated = n;
	}
	line->ends[line->n_ends++] = end_ns;
	return 0;
}

/* ---- what GPUs do ------------------------------------------------------------------------------- */

static uint64_t correlation(const struct kineto *kineto, uint32_t session, uint64_t op_id)
{
	return op_id * (kineto->n_sessions ? kineto->n_sessions : 1) + session_index(session);
}

static void put_flow(struct kineto *kineto, const char *phase, uint64_t id, const struct line *line,
		     uint64_t ts)
{
	begin_event(kineto, phase);
	print(kineto, ", \"id\": %" PRIu64, id);
	put_place(kineto, line);
	put_time(kineto, "ts", ts);
	ts_json_raw(&kineto->json, ", \"cat\": \"ac2g\", \"name\": \"ac2g\"");
	if (*phase == 'f')
		ts_json_raw(&kineto->json, ", \"bp\": \"e\"");
	end_event(kineto);
}

struct slice {
	const struct ts_sbt_row *row;
	uint64_t start_ns, end_ns;
	const char *category, *name;
};

static void begin_slice(struct kineto *kineto, const struct slice *slice, const struct line *line)
{
	begin_event(kineto, "X");
	put_name(kineto, slice->category, slice->name);
	put_place(kineto, line);
	put_time(kineto, "ts", since_origin(kineto, slice->start_ns));
	put_time(kineto, "dur", slice->end_ns - slice->start_ns);
	ts_json_raw(&kineto->json, ", \"args\": {");
}

static void end_slice(struct kineto *kineto)
{
	ts_json_raw(&kineto->json, "}");
	end_event(kineto);
}

/* Begins the slice with what all of a GPU have, and leaves its arguments open. */
static int begin_on_device(struct kineto *kineto, const struct slice *slice, uint32_t device,
			   uint32_t context, uint32_t stream, uint64_t op_id,
			   struct line **ret_line)
{
	struct line context_key = {.kind = LINE_CONTEXT,
				   .session = slice->row->session,
				   .a = context},
		    *known;
	bool fits = false;
	int r = find_line(kineto, &context_key, &known, &(bool){false});

	if (!r)
		known->tid = device;
	for (unsigned int lane = 0; !r && !fits && lane < MAX_LANES; lane++) {
		r = find_stream(kineto, slice->row->session, device, stream, lane, ret_line);
		if (!r)
			r = open_on(*ret_line, slice->start_ns, slice->end_ns, false, &fits);
	}
	if (!r)
		r = ts_annotated_op(&kineto->annotated, slice->row->session, op_id, device, stream,
				    slice->start_ns, slice->end_ns);
	if (r)
		return r;
	kineto->report->n_rows++;
	begin_slice(kineto, slice, *ret_line);
	print(kineto,
	      "\"device\": %" PRIu32 ", \"context\": %" PRIu32 ", \"stream\": %" PRIu32
	      ", \"correlation\": %" PRIu64,
	      device, context, stream, correlation(kineto, slice->row->session, op_id));
	return 0;
}

static void end_on_device(struct kineto *kineto, const struct slice *slice, const struct line *line,
			  uint64_t op_id)
{
	end_slice(kineto);
	if (op_id)
		put_flow(kineto, "f", correlation(kineto, slice->row->session, op_id), line,
			 since_origin(kineto, slice->start_ns));
}

/* What of a multiprocessor a launch fills, as far as the device's limits are known. */
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
	print(kineto, ", \"blocks per SM\": %.6f, \"warps per SM\": %.6f", blocks, blocks * warps);
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
	print(kineto, ", \"est. achieved occupancy %%\": %d",
	      (int)(0.5 + 100.0 * limit * warps / device->max_warps_per_multiprocessor));
}

static int put_kernel(struct kineto *kineto, struct slice *slice)
{
	const struct ts_row_kernel *row = slice->row->kernel;
	const struct ts_export_options *options = kineto->options;
	struct line *line;
	int r;

	slice->category = "kernel";
	slice->name = row->name ? options->names->kernel(options->user, row->name) : NULL;
	slice->name = slice->name ? slice->name : "unknown kernel";
	r = begin_on_device(kineto, slice, row->device, row->context, row->stream, row->op_id,
			    &line);
	if (r)
		return r;
	print(kineto,
	      ", \"queued\": %" PRIu64
	      ", \"registers per thread\": %u, \"shared memory\": %" PRIu64,
	      row->queued_ns ? since_origin(kineto, row->queued_ns) / 1000 : 0,
	      row->registers_per_thread,
	      (uint64_t)row->static_shared_bytes + row->dynamic_shared_bytes);
	put_occupancy(kineto, slice->row->session, row);
	print(kineto,
	      ", \"grid\": [%" PRIu32 ", %" PRIu32 ", %" PRIu32 "], \"block\": [%" PRIu32
	      ", %" PRIu32 ", %" PRIu32 "]",
	      row->grid_x, row->grid_y, row->grid_z, row->block_x, row->block_y, row->block_z);
	if (row->graph_node)
		print(kineto, ", \"graph node id\": %" PRIu64, row->graph_node);
	end_on_device(kineto, slice, line, row->op_id);
	return 0;
}

static void put_bytes(struct kineto *kineto, const struct slice *slice, uint64_t bytes)
{
	uint64_t took_ns = slice->end_ns - slice->start_ns;

	print(kineto, ", \"bytes\": %" PRIu64 ", \"memory bandwidth (GB/s)\": ", bytes);
	if (took_ns)
		ts_json_double(&kineto->json, (double)bytes / (double)took_ns);
	else
		ts_json_raw(&kineto->json, "\"N/A\"");
}

static const char *memory_kind(uint32_t kind)
{
	/* By CUPTI's numbers, in the words of kineto. */
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
	struct line *line;
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
	struct line *line;
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
 * Of a context whose device is known: something ran there before. Waiting lasts while the stream works, and has threads of
 * its own beside it.
 */
static int put_sync(struct kineto *kineto, struct slice *slice)
{
	static const char *const kinds[] = {"Unknown", "Event Sync", "Stream Wait Event",
					    "Stream Sync", "Context Sync"};
	const struct ts_row_sync *row = slice->row->sync;
	uint32_t session = slice->row->session, device, i;
	struct line key = {.kind = LINE_CONTEXT, .session = session, .a = row->context}, *line;
	bool fits = false;
	int r = 0;

	if (!ts_keyed_find(&kineto->lines, &key, &i))
		return 0;
	device = (uint32_t)((struct line *)ts_keyed_at(&kineto->lines, i))->tid;
	for (unsigned int lane = MAX_LANES; !r && !fits && lane < 2 * MAX_LANES; lane++) {
		r = find_stream(kineto, session, device, row->stream, lane, &line);
		if (!r)
			r = open_on(line, slice->start_ns, slice->end_ns, false, &fits);
	}
	if (r)
		return r;
	slice->category = "cuda_sync";
	slice->name = row->sync_type < TS_ARRAY_LEN(kinds) ? kinds[row->sync_type] : "Unrecognized";
	begin_slice(kineto, slice, line);
	print(kineto, "\"cuda_sync_kind\": \"%s\"", slice->name);
	if (row->event)
		print(kineto, ", \"wait_on_stream\": -1, \"wait_on_cuda_event_id\": %" PRIu32,
		      row->event);
	print(kineto,
	      ", \"stream\": %" PRId32 ", \"correlation\": %" PRIu64 ", \"device\": %" PRIu32
	      ", \"context\": %" PRIu32,
	      (int32_t)row->stream, correlation(kineto, session, row->op_id), device, row->context);
	end_slice(kineto);
	return 0;
}

/* ---- what the host does ------------------------------------------------------------------------- */

static int put_call(struct kineto *kineto, struct slice *slice)
{
	const struct ts_row_api *row = slice->row->api;
	const char *name = kineto->options->names->api(row->domain, row->cbid);
	uint64_t ts = since_origin(kineto, slice->start_ns);
	struct line *line;
	char number[32];
	bool fits;
	int r = find_thread(kineto, slice->row->session, row->thread, &line);

	if (!r)
		r = open_on(line, slice->start_ns, slice->end_ns, true, &fits);
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
	snprintf(number, sizeof(number), "cbid %u", row->cbid);
	slice->category = row->domain == TS_API_CUDA_DRIVER ? "cuda_driver" : "cuda_runtime";
	slice->name = name ? name : number;
	begin_slice(kineto, slice, line);
	print(kineto, "\"cbid\": %u, \"correlation\": %" PRIu64, row->cbid,
	      correlation(kineto, slice->row->session, row->op_id));
	if (row->result)
		print(kineto, ", \"result\": %" PRId32, row->result);
	end_slice(kineto);
	if (!(row->flags & TS_API_EXPECTS_DEVICE) && name && !strstr(name, "GraphLaunch"))
		return 0;
	put_flow(kineto, "s", correlation(kineto, slice->row->session, row->op_id), line, ts);
	if (row->nested_op_id && row->nested_op_id != row->op_id)
		put_flow(kineto, "s", correlation(kineto, slice->row->session, row->nested_op_id),
			 line, ts);
	return 0;
}

/* What crosses others of its thread, or belongs to none, is told as such: Chrome has slices of threads nest. */
static int put_range(struct kineto *kineto, struct slice *slice, uint32_t thread, uint32_t action,
		     uint32_t name, uint32_t domain)
{
	const char *of = string(kineto, domain);
	struct line *line;
	bool fits = false;
	int r = find_thread(kineto, slice->row->session, thread, &line);

	if (!r && action != TS_RANGE_START)
		r = open_on(line, slice->start_ns, slice->end_ns, true, &fits);
	if (!r && fits)
		r = ts_annotated_range(&kineto->annotated, slice->row->session, thread,
				       slice->start_ns, slice->end_ns, name, domain);
	if (r)
		return r;
	slice->category = "user_annotation";
	slice->name = string(kineto, name);
	slice->name = slice->name ? slice->name : "?";
	if (fits) {
		begin_slice(kineto, slice, line);
	} else {
		begin_event(kineto, "b");
		print(kineto, ", \"id\": %" PRIu64, ++kineto->last_id);
		put_name(kineto, slice->category, slice->name);
		put_place(kineto, line);
		put_time(kineto, "ts", since_origin(kineto, slice->start_ns));
		ts_json_raw(&kineto->json, ", \"args\": {");
	}
	if (of) {
		ts_json_raw(&kineto->json, "\"domain\": ");
		ts_json_string(&kineto->json, of);
	}
	end_slice(kineto);
	if (fits)
		return 0;
	begin_event(kineto, "e");
	print(kineto, ", \"id\": %" PRIu64, kineto->last_id);
	put_name(kineto, slice->category, slice->name);
	put_place(kineto, line);
	put_time(kineto, "ts", since_origin(kineto, slice->end_ns));
	end_event(kineto);
	return 0;
}

static int put_mark(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_mark *row = slice->row->mark;
	const char *name = string(kineto, row->name);
	struct line *line;
	int r = find_thread(kineto, slice->row->session, row->thread, &line);

	if (r)
		return r;
	begin_event(kineto, "i");
	put_name(kineto, "user_annotation", name ? name : "?");
	put_place(kineto, line);
	put_time(kineto, "ts", since_origin(kineto, slice->start_ns));
	ts_json_raw(&kineto->json, ", \"s\": \"t\"");
	end_event(kineto);
	return 0;
}

static int put_counter(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_counter *row = slice->row->counter;
	const char *name = string(kineto, row->name);
	struct line *line;
	int r = find_thread(kineto, slice->row->session, row->thread, &line);

	/* JSON has no word for what is no number. */
	if (r || row->value != row->value || row->value - row->value != 0)
		return r;
	begin_event(kineto, "C");
	put_name(kineto, "counter", name ? name : "?");
	put_place(kineto, line);
	put_time(kineto, "ts", since_origin(kineto, slice->start_ns));
	ts_json_raw(&kineto->json, ", \"args\": {\"value\": ");
	if (row->value_type == TS_PAYLOAD_I64)
		print(kineto, "%" PRId64, row->integer);
	else
		ts_json_double(&kineto->json, row->value);
	ts_json_raw(&kineto->json, "}");
	end_event(kineto);
	return 0;
}

/* Of memory on a device; where its call was not seen, in a thread that is not known. Kineto knows two types of devices, of which 1 is CUDA. */
static int put_memory(struct kineto *kineto, const struct slice *slice)
{
	const struct ts_row_memory *row = slice->row->memory;
	const struct call *call = &kineto->calls[row->op_id % N_CALLS];
	struct line key = {.kind = LINE_POOL,
			   .session = slice->row->session,
			   .a = row->device,
			   .b = row->pool};
	bool is_free = slice->row->type == TS_ROW_FREE, is_new;
	struct line *memory, *pool, *line;
	uint64_t unused =
		row->pool_bytes > row->pool_used_bytes ? row->pool_bytes - row->pool_used_bytes : 0;
	int r;

	if (!ts_memory_is_device(row->memory_kind))
		return 0;
	r = find_line(kineto, &key, &pool, &is_new);
	if (r)
		return r;
	unused -= pool->tid;
	pool->tid += unused;
	key.kind = LINE_MEMORY;
	key.b = 0;
	r = find_line(kineto, &key, &memory, &is_new);
	if (r)
		return r;
	memory->tid += unused;
	memory->pid = !is_free			 ? memory->pid + row->bytes
		      : row->bytes < memory->pid ? memory->pid - row->bytes
						 : 0;
	/* Lines move where there is a new one. */
	key = *memory;
	r = find_thread(kineto, slice->row->session,
			call->op_id == row->op_id && call->session == slice->row->session
				? call->thread
				: 0,
			&line);
	if (r)
		return r;
	begin_event(kineto, "i");
	put_name(kineto, "cpu_instant_event", "[memory]");
	put_place(kineto, line);
	put_time(kineto, "ts", since_origin(kineto, slice->start_ns));
	print(kineto,
	      ", \"s\": \"t\", \"args\": {\"Total Reserved\": %" PRIu64
	      ", \"Total Allocated\": %" PRIu64 ", \"Bytes\": %s%" PRIu64 ", \"Addr\": %" PRIu64
	      ", \"Device Id\": %" PRIu32 ", \"Device Type\": 1}",
	      key.pid + key.tid, key.pid, is_free ? "-" : "", row->bytes, row->address,
	      row->device);
	end_event(kineto);
	return 0;
}

/* Beside the operations, where those of the stream lie in one lane; they cross nothing there. */
static int put_annotation(struct kineto *kineto, const struct ts_annotated_span *span)
{
	const struct ts_annotated_range *range = &kineto->annotated.ranges[span->range];
	struct line key = {.kind = LINE_STREAM,
			   .session = span->session,
			   .a = span->device,
			   .b = UINT64_C(1) << 32 | span->stream};
	struct ts_sbt_row row = {.session = span->session};
	struct slice slice = {.row = &row,
			      .start_ns = span->start_ns,
			      .end_ns = span->end_ns,
			      .category = "gpu_user_annotation",
			      .name = string(kineto, range->name)};
	unsigned int lane = ANNOTATIONS;
	struct line *line = NULL, *nest;
	bool fits = false;
	uint32_t i;
	int r = 0;

	/* What is open is kept in lines of their own: those of the operations are past already. */
	for (; !r && !fits && lane < ANNOTATIONS + MAX_LANES; lane++) {
		struct line of = key;
		bool is_new;

		of.kind = LINE_ANNOTATIONS;
		of.b = (uint64_t)lane << 32 | span->stream;
		r = find_line(kineto, &of, &nest, &is_new);
		if (!r)
			r = open_on(nest, span->start_ns, span->end_ns, true, &fits);
	}
	if (r || !fits)
		return r;
	lane = --lane == ANNOTATIONS && !ts_keyed_find(&kineto->lines, &key, &i) ? 0 : lane;
	r = find_stream(kineto, span->session, span->device, span->stream, lane, &line);
	if (r)
		return r;
	slice.name = slice.name ? slice.name : "?";
	begin_slice(kineto, &slice, line);
	if (string(kineto, range->domain)) {
		ts_json_raw(&kineto->json, "\"domain\": ");
		ts_json_string(&kineto->json, string(kineto, range->domain));
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

/* ---- the whole ---------------------------------------------------------------------------------- */

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
		return put_sync(kineto, &slice);
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
	bool any = false;

	ts_json_raw(&kineto->json, "\"deviceProperties\": [");
	for (size_t i = 0; i < n; i++) {
		const struct ts_sbt_device *device = ts_sbt_reader_device_at(kineto->reader, i);
		const struct ts_row_device *row = &device->row;
		const char *name = string(kineto, row->name);

		/* The same for all processes: as the first tells them. */
		session = session ? session : device->session;
		if (device->session != session)
			continue;
		print(kineto, "%s\n{\"id\": %" PRIu32 ", \"name\": ", any ? "," : "", row->device);
		ts_json_string(&kineto->json, name ? name : "");
		print(kineto,
		      ", \"totalGlobalMem\": %" PRIu64
		      ", \"computeMajor\": %u, \"computeMinor\": %u, \"maxThreadsPerMultiprocessor\": %u"
		      ", \"regsPerMultiprocessor\": %u, \"warpSize\": %u"
		      ", \"sharedMemPerMultiprocessor\": %u, \"numSms\": %u}",
		      row->memory_bytes, row->compute_capability_major,
		      row->compute_capability_minor,
		      row->max_warps_per_multiprocessor * row->threads_per_warp,
		      row->max_registers_per_multiprocessor, row->threads_per_warp,
		      row->max_shared_bytes_per_multiprocessor, row->n_multiprocessors);
		any = true;
	}
	ts_json_raw(&kineto->json, "],\n");
}

static int put_head(struct kineto *kineto)
{
	const struct ts_row_session *session =
		kineto->n_sessions ? ts_sbt_reader_session_at(kineto->reader, 0) : NULL;
	const char *host = ts_sbt_reader_metadata(kineto->reader, TS_METADATA_HOSTNAME);
	struct ts_sbt_summary summary;
	int r = ts_sbt_reader_summary(kineto->reader, 0, &summary);

	if (r < 0)
		return r;
	kineto->latest_ns = r ? 0 : summary.latest_ns;
	ts_json_raw(&kineto->json, "{\"schemaVersion\": 1,\n");
	put_devices(kineto);
	if (session && session->driver_version)
		print(kineto, "\"cuda_driver_version\": %" PRIu32 ",\n", session->driver_version);
	if (host) {
		ts_json_raw(&kineto->json, "\"host_name\": ");
		ts_json_string(&kineto->json, host);
		ts_json_raw(&kineto->json, ",\n");
	}
	ts_json_raw(&kineto->json, "\"traceName\": ");
	ts_json_string(&kineto->json, kineto->options->generator ? kineto->options->generator : "");
	if (session && session->start_realtime_ns)
		print(kineto, ",\n\"baseTimeNanoseconds\": %" PRIu64,
		      session->start_realtime_ns + (kineto->origin_ns - session->start_ns));
	ts_json_raw(&kineto->json, ",\n\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [");
	return 0;
}

static void put_tail(struct kineto *kineto)
{
	begin_event(kineto, "i");
	ts_json_raw(&kineto->json,
		    ", \"name\": \"Record Window End\", \"s\": \"g\", \"pid\": \"\", "
		    "\"tid\": \"\"");
	put_time(kineto, "ts", since_origin(kineto, kineto->latest_ns));
	end_event(kineto);
	ts_json_raw(&kineto->json, "\n]}\n");
	flush(kineto);
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
		r = put_row(kineto, ranges, &row);
		if (!r)
			r = kineto->json.error;
	}
	return r == TS_SBT_E_END ? 0 : r;
}

int ts_export_kineto(struct ts_sbt_reader *reader, const struct ts_export_options *options,
		     FILE *file, struct ts_export_report *ret_report)
{
	/* It shows no stacks, so none lack names. */
	struct ts_export_report report = {.has_names = true};
	ts_cleanup(deinit) struct kineto kineto = {.reader = reader,
						   .options = options,
						   .report = &report,
						   .file = file,
						   .origin_ns = ts_sbt_reader_origin_ns(reader),
						   .n_sessions = ts_sbt_reader_n_sessions(reader)};
	struct ts_open_ranges *ranges = NULL;
	int r;

	ts_annotated_init(&kineto.annotated);
	ts_keyed_init(&kineto.lines, sizeof(struct line), offsetof(struct line, pid));
	r = put_head(&kineto);
	if (!r)
		r = ts_open_ranges_new(reader, options->session, options->from_ns, &ranges);
	if (!r)
		r = put_rows(&kineto, ranges);
	if (!r)
		r = put_annotations(&kineto);
	ts_open_ranges_free(ranges);
	if (r)
		return r;
	put_tail(&kineto);
	if (kineto.json.error)
		return kineto.json.error;
	*ret_report = report;
	return 0;
}
