/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums the work of streams and devices over time: see timeline.h. replay/report, `tsctl analyze`
 * and `tsctl watch` call this file; this file feeds the state machine. Operations come ordered by
 * start. So the time covered by several operations is a sum: for each operation, its time after the
 * latest end of all earlier ones.
 */
#include "replay/state/overview/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"
#include "proto/abi/heap.h"
#include "replay/state/overview/passes.h"
#include "replay/state/overview/samedevice.h"
#include "replay/state/relay.h"
#include "replay/state/segments/segments.h"
#include "replay/state/state-map.h"
#include "replay/state/state-stages.h"

#define NONE TS_STATE_MAP_NONE

/*
 * A device of a segment of the trace. While it is open, no operation after segment->old_ns has
 * begun, so the end of its work before the segment is unknown. The idle time before the first
 * operation of the segment is added when the segments are joined.
 */
struct open {
	bool is_open, has_first;
	struct ts_state_op first;
};

struct ts_timeline_pass {
	struct ts_timeline *timeline;
	struct ts_sbt_reader *reader;
	bool device_parts;
	bool has_end; /* the window has an end that the caller set */
	struct ts_same_devices same;
	struct ts_state_map device_by_id;
	uint32_t *streams_by_number; /* index + 1 of a stream, by the state machine's number */
	size_t n_streams_allocated, n_devices_allocated, n_numbers_allocated;
	uint64_t max_parts; /* of all streams together */
	/* In a segment that is not the first one: parallel to timeline->devices. */
	bool is_segment, has_started;
	struct open *opens;
	size_t n_opens_allocated;
	/* The joined timeline has these: streams by session, context and stream. */
	struct ts_state_map stream_by_id;
};

const char *ts_timeline_idle_name(uint32_t idle)
{
	static const char *const names[TS_TIMELINE_IDLES] = {
		[TS_TIMELINE_UNKNOWN] = "unknown",	 [TS_TIMELINE_HOST] = "host",
		[TS_TIMELINE_DEPENDENCY] = "dependency", [TS_TIMELINE_CALL] = "call",
		[TS_TIMELINE_DISPATCH] = "dispatch",	 [TS_TIMELINE_END] = "end",
	};

	return idle < TS_TIMELINE_IDLES ? names[idle] : NULL;
}

void ts_timeline_free(struct ts_timeline *timeline)
{
	if (!timeline)
		return;
	for (size_t i = 0; i < timeline->n_streams; i++)
		free(timeline->streams[i].parts);
	for (size_t i = 0; i < timeline->n_devices; i++) {
		free(timeline->devices[i].parts);
		free(timeline->devices[i].ends);
	}
	free(timeline->streams);
	free(timeline->devices);
	free(timeline);
}

/* ---- devices and streams --------------------------------------------------------------------- */

static int find_device(struct ts_timeline_pass *pass, uint32_t session, uint32_t id,
		       uint32_t *ret_device)
{
	struct ts_timeline *timeline = pass->timeline;
	uint32_t first_session = session, first_id = id;
	int r = 0;

	*ret_device = ts_state_map_find(&pass->device_by_id, session, id);
	if (*ret_device != NONE)
		return 0;
	ts_same_devices_first(&pass->same, pass->reader, &first_session, &first_id);
	*ret_device = ts_state_map_find(&pass->device_by_id, first_session, first_id);
	if (*ret_device == NONE) {
		r = TS_GROW(timeline->devices, pass->n_devices_allocated, timeline->n_devices + 1);
		if (r)
			return r;
		if (pass->is_segment &&
		    TS_GROW(pass->opens, pass->n_opens_allocated, timeline->n_devices + 1))
			return -ENOMEM;
		if (pass->is_segment)
			pass->opens[timeline->n_devices] = (struct open){.is_open = true};
		*ret_device = (uint32_t)timeline->n_devices++;
		timeline->devices[*ret_device] =
			(struct ts_timeline_device){.session = session,
						    .device = id,
						    .any_until_ns = timeline->from_ns};
		if (pass->device_parts) {
			timeline->devices[*ret_device].parts =
				calloc(timeline->n_parts, sizeof(struct ts_timeline_part));
			if (!timeline->devices[*ret_device].parts)
				return -ENOMEM;
		}
		r = ts_state_map_set(&pass->device_by_id, first_session, first_id, *ret_device);
	}
	return r ? r : ts_state_map_set(&pass->device_by_id, session, id, *ret_device);
}

/*
 * Returns 0 if there is room for one more stream, else TS_E_STREAMS or TS_E_PARTS. Each stream has
 * memory for all parts, so more streams leave room for fewer parts.
 */
static int check_limits(const struct ts_timeline_pass *pass)
{
	const struct ts_timeline *timeline = pass->timeline;

	if (timeline->n_streams == TS_MAX_STREAMS)
		return TS_E_STREAMS;
	return (timeline->n_streams + 1) * timeline->n_parts > pass->max_parts ? TS_E_PARTS : 0;
}

/* Adds a stream with the ids of `as`. */
static int add_stream(struct ts_timeline_pass *pass, const struct ts_timeline_stream *as)
{
	struct ts_timeline *timeline = pass->timeline;
	struct ts_timeline_stream *stream;
	uint32_t device;
	int r = check_limits(pass);

	r = r ? r : find_device(pass, as->session, as->device, &device);
	if (!r)
		r = TS_GROW(timeline->streams, pass->n_streams_allocated, timeline->n_streams + 1);
	if (r)
		return r;
	stream = &timeline->streams[timeline->n_streams];
	*stream = (struct ts_timeline_stream){
		.session = as->session,
		.device = as->device,
		.context = as->context,
		.stream = as->stream,
		.in = device,
		.part_from_ns = timeline->from_ns,
		.parts = calloc(timeline->n_parts, sizeof(*stream->parts)),
	};
	if (!stream->parts)
		return -ENOMEM;
	timeline->n_streams++;
	return 0;
}

static int new_stream(struct ts_timeline_pass *pass, const struct ts_state_op *op)
{
	const struct ts_timeline_stream as = {.session = op->session,
					      .device = op->device,
					      .context = op->context,
					      .stream = op->stream};
	size_t n = pass->n_numbers_allocated;
	int r = 0;

	while (!r && op->stream_number >= pass->n_numbers_allocated) {
		r = TS_GROW(pass->streams_by_number, pass->n_numbers_allocated, n + 1);
		for (; n < pass->n_numbers_allocated; n++)
			pass->streams_by_number[n] = 0;
	}
	r = r ? r : add_stream(pass, &as);
	if (!r)
		pass->streams_by_number[op->stream_number] = (uint32_t)pass->timeline->n_streams;
	return r;
}

static int find_stream(struct ts_timeline_pass *pass, const struct ts_state_op *op,
		       struct ts_timeline_stream **ret_stream)
{
	uint32_t number = op->stream_number;
	int r = 0;

	if (number >= pass->n_numbers_allocated || !pass->streams_by_number[number])
		r = new_stream(pass, op);
	if (!r)
		*ret_stream = &pass->timeline->streams[pass->streams_by_number[number] - 1];
	return r;
}

/* ---- what an operation adds ------------------------------------------------------------------ */

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t more(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns the length of the part of [start, end) that is after *until_ns. Then moves *until_ns to
 * the end, if that is later.
 */
static uint64_t cover(uint64_t *until_ns, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from_ns = more(start_ns, *until_ns);

	*until_ns = more(*until_ns, end_ns);
	return end_ns > from_ns ? end_ns - from_ns : 0;
}

/* Selects the part that contains a time. A part holds many operations, so this is rare. */
static void select_part(const struct ts_timeline *timeline, struct ts_timeline_stream *stream,
			uint64_t at_ns)
{
	uint64_t part = (at_ns - timeline->from_ns) / timeline->part_ns;

	stream->part = part < timeline->n_parts ? (uint32_t)part : timeline->n_parts;
	stream->part_from_ns = timeline->from_ns + part * timeline->part_ns;
}

static void add_parts(const struct ts_timeline *timeline, struct ts_timeline_stream *stream,
		      enum ts_timeline_work work, uint64_t start_ns, uint64_t end_ns)
{
	start_ns = more(start_ns, stream->until_ns[work]);
	while (start_ns < end_ns) {
		uint64_t until_ns;

		if (start_ns - stream->part_from_ns >= timeline->part_ns)
			select_part(timeline, stream, start_ns);
		if (stream->part == timeline->n_parts)
			break;
		/*
		 * Compute the length up to the part's end, and not the end itself: the end of the
		 * last part may exceed 64 bits.
		 */
		until_ns = timeline->part_ns - (start_ns - stream->part_from_ns);
		until_ns = start_ns + less(until_ns, end_ns - start_ns);
		stream->parts[stream->part].ns[work] += until_ns - start_ns;
		start_ns = until_ns;
	}
}

/* As add_parts(), for a device. Few callers request this, so no part is remembered. */
static void add_device_parts(const struct ts_timeline *timeline, struct ts_timeline_device *device,
			     enum ts_timeline_work work, uint64_t start_ns, uint64_t end_ns)
{
	start_ns = more(start_ns, device->until_ns[work]);
	while (device->parts && start_ns < end_ns) {
		uint64_t at_ns = start_ns - timeline->from_ns;
		uint64_t part = at_ns / timeline->part_ns;
		uint64_t ns =
			less(timeline->part_ns - at_ns % timeline->part_ns, end_ns - start_ns);

		if (part >= timeline->n_parts)
			break;
		device->parts[part].ns[work] += ns;
		start_ns += ns;
	}
}

/* Splits the idle time before the operation: each cause gets the time up to its own end. */
static inline __attribute__((always_inline)) void split_idle(struct ts_timeline_device *device,
							     const struct ts_state_op *op,
							     uint64_t start_ns)
{
	uint64_t at_ns = device->any_until_ns, needed_ns = 0;
	struct {
		enum ts_timeline_idle idle;
		uint64_t until_ns;
	} causes[3];

	if (op->unsure & TS_STATE_UNSURE_CALL) {
		device->idle_ns[TS_TIMELINE_UNKNOWN] += start_ns - at_ns;
		return;
	}
	for (uint32_t i = 0; i < op->n_dependencies; i++)
		needed_ns = more(needed_ns, op->dependencies[i].end_ns);
	causes[0].idle = TS_TIMELINE_HOST;
	causes[0].until_ns = op->call_ns;
	causes[1].idle = TS_TIMELINE_DEPENDENCY;
	causes[1].until_ns = needed_ns;
	causes[2].idle = TS_TIMELINE_CALL;
	causes[2].until_ns = op->call_end_ns;
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		uint64_t until_ns = less(causes[i].until_ns, start_ns);

		if (until_ns <= at_ns)
			continue;
		device->idle_ns[causes[i].idle] += until_ns - at_ns;
		at_ns = until_ns;
	}
	device->idle_ns[TS_TIMELINE_DISPATCH] += start_ns - at_ns;
}

static inline void add_idle(struct ts_timeline_device *device, const struct ts_state_op *op,
			    uint64_t start_ns)
{
	if (start_ns > device->any_until_ns)
		split_idle(device, op, start_ns);
}

static inline bool is_sooner(const uint64_t *a, const uint64_t *b)
{
	return *a < *b;
}

TS_HEAP_DEFINE(ends, uint64_t, is_sooner)

static int add_at_once(struct ts_timeline_device *device, uint64_t start_ns, uint64_t end_ns)
{
	int r;

	while (device->n_ends && device->ends[0] <= start_ns)
		(void)ends_pop(device->ends, &device->n_ends);
	/* An operation of length 0 overlaps nothing. */
	if (end_ns <= start_ns)
		return 0;
	r = TS_GROW(device->ends, device->n_ends_allocated, device->n_ends + 1);
	if (r)
		return r;
	ends_push(device->ends, &device->n_ends, end_ns);
	if (device->n_ends > device->max_at_once) {
		device->max_at_once = (uint32_t)device->n_ends;
		device->max_ns = start_ns;
	}
	return 0;
}

/* True if the operation is the first one of a device whose earlier work is not known. */
static bool keep_first(struct ts_timeline_pass *pass, uint32_t device, const struct ts_state_op *op)
{
	struct open *open = &pass->opens[device];

	if (!open->is_open || !pass->has_started)
		return false;
	open->is_open = false;
	open->has_first = true;
	open->first = *op;
	return true;
}

int ts_timeline_pass_take(struct ts_timeline_pass *pass, const struct ts_state_op *op)
{
	struct ts_timeline *timeline = pass->timeline;
	enum ts_timeline_work work =
		op->type == TS_ROW_MEMCPY ? TS_TIMELINE_COPY : TS_TIMELINE_COMPUTE;
	uint64_t start_ns = more(op->start_ns, timeline->from_ns);
	uint64_t end_ns = less(op->end_ns, timeline->to_ns);
	struct ts_timeline_stream *stream;
	struct ts_timeline_device *device;
	int r;

	if (op->end_ns < timeline->from_ns || op->start_ns > timeline->to_ns)
		return 0;
	ts_doubts_add(&timeline->doubts, op);
	end_ns = more(end_ns, start_ns);
	r = find_stream(pass, op, &stream);
	if (r)
		return r;
	device = &timeline->devices[stream->in];
	if (!pass->is_segment || !keep_first(pass, stream->in, op))
		add_idle(device, op, start_ns);
	stream->n_ops++;
	device->n_ops++;
	device->sum_ns += end_ns - start_ns;
	add_parts(timeline, stream, work, start_ns, end_ns);
	cover(&stream->until_ns[work], start_ns, end_ns);
	stream->busy_ns += cover(&stream->any_until_ns, start_ns, end_ns);
	add_device_parts(timeline, device, work, start_ns, end_ns);
	device->ns[work] += cover(&device->until_ns[work], start_ns, end_ns);
	device->busy_ns += cover(&device->any_until_ns, start_ns, end_ns);
	return add_at_once(device, start_ns, end_ns);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool is_device_row(unsigned int type)
{
	return type == TS_ROW_KERNEL || type == TS_ROW_MEMCPY || type == TS_ROW_MEMSET;
}

/*
 * Sets the window and its parts. A missing limit is the earliest or the latest time of the device
 * rows, which the blocks record.
 */
static void set_window(struct ts_timeline *timeline, struct ts_sbt_reader *reader,
		       const struct ts_timeline_options *options)
{
	uint64_t from_ns = UINT64_MAX, to_ns = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		if (!is_device_row(block->type) || !block->n_rows ||
		    (options->session && block->session != options->session))
			continue;
		from_ns = less(from_ns, block->earliest_ns);
		to_ns = more(to_ns, block->latest_ns);
	}
	timeline->from_ns = options->from_ns	    ? options->from_ns
			    : from_ns == UINT64_MAX ? 0
						    : from_ns;
	timeline->to_ns = options->to_ns ? options->to_ns : to_ns;
	timeline->to_ns = more(timeline->to_ns, timeline->from_ns);
	timeline->n_parts = options->n_parts;
	/*
	 * The last part may end after the window. No part has length 0. If the window is all of
	 * time, one part covers it.
	 */
	timeline->part_ns = (timeline->to_ns - timeline->from_ns) / timeline->n_parts;
	timeline->part_ns += timeline->part_ns < UINT64_MAX;
}

static int take_item(void *pass, void *at)
{
	const struct ts_state_item *item = at;

	return item->has_op ? ts_timeline_pass_take(pass, &item->op) : 0;
}

static int read_rows(struct ts_timeline_pass *pass, struct ts_state_machine *machine,
		     const struct ts_timeline_options *options, bool *ret_damaged)
{
	/*
	 * Read from the start, because dependencies may lie before the window. Read to the end if
	 * the window has no end.
	 */
	const struct ts_sbt_cursor_options rows = {.types = TS_STATE_MACHINE_ROWS,
						   .session = options->session,
						   .to_ns = options->to_ns};
	const struct ts_relay_pass passes[] = {{ts_state_machine_order, machine, true},
					       {take_item, pass, false}};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	ts_cleanup(ts_relay_freep) struct ts_relay *relay = NULL;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(pass->reader, &rows, &cursor), error;

	r = r ? r : ts_relay_new(sizeof(struct ts_state_item), passes, 2, &relay);

	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			*ret_damaged = true;
			r = 0;
			continue;
		}
		if (!r)
			r = ts_state_machine_join(machine, &row, ts_relay_item(relay));
		if (r == 1)
			r = ts_relay_put(relay);
	}
	error = relay ? ts_relay_end(relay) : 0;
	return error ? error : r == TS_SBT_E_END ? 0 : r;
}

static int compare_streams(const void *a, const void *b)
{
	const struct ts_timeline_stream *x = a, *y = b;

	if (x->in != y->in)
		return x->in < y->in ? -1 : 1;
	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

int ts_timeline_pass_new(struct ts_sbt_reader *reader, const struct ts_timeline_options *options,
			 struct ts_timeline_pass **ret_pass)
{
	ts_cleanup(ts_timeline_pass_freep) struct ts_timeline_pass *pass = calloc(1, sizeof(*pass));
	int r;

	if (!pass)
		return -ENOMEM;
	pass->timeline = calloc(1, sizeof(*pass->timeline));
	if (!pass->timeline)
		return -ENOMEM;
	pass->reader = reader;
	pass->max_parts = TS_MAX_TIMELINE_PARTS;
	pass->device_parts = options->device_parts;
	pass->has_end = options->to_ns != 0;
	set_window(pass->timeline, reader, options);
	r = ts_same_devices_read(&pass->same, reader);
	if (r)
		return r;
	*ret_pass = ts_take_ptr(pass);
	return 0;
}

void ts_timeline_pass_free(struct ts_timeline_pass *pass)
{
	if (!pass)
		return;
	ts_timeline_free(pass->timeline);
	free(pass->streams_by_number);
	free(pass->opens);
	ts_state_map_deinit(&pass->stream_by_id);
	ts_state_map_deinit(&pass->device_by_id);
	ts_same_devices_deinit(&pass->same);
	free(pass);
}

void ts_timeline_pass_finish(struct ts_timeline_pass *pass, const struct ts_state_machine *machine,
			     bool is_damaged, struct ts_timeline **ret_timeline)
{
	struct ts_timeline *timeline = ts_take_ptr(pass->timeline);

	timeline->is_damaged = is_damaged;
	if (machine)
		ts_doubts_finish(&timeline->doubts, machine);
	/* A call in the window may have its device row after the window. */
	if (pass->has_end)
		timeline->doubts.n_unanswered = 0;
	for (size_t i = 0; i < timeline->n_devices; i++) {
		struct ts_timeline_device *device = &timeline->devices[i];

		if (timeline->to_ns > device->any_until_ns)
			device->idle_ns[TS_TIMELINE_END] += timeline->to_ns - device->any_until_ns;
		/*
		 * The overlap is the sum of both kinds of work minus the time with at least one of
		 * them.
		 */
		device->overlap_ns = device->ns[TS_TIMELINE_COMPUTE] +
				     device->ns[TS_TIMELINE_COPY] - device->busy_ns;
	}
	if (timeline->n_streams)
		qsort(timeline->streams, timeline->n_streams, sizeof(*timeline->streams),
		      compare_streams);
	*ret_timeline = timeline;
}

/* ---- segments -------------------------------------------------------------------------------- */

/* All passes of segments may have this share of the parts. */
#define SEGMENT_SHARE 64u

struct segments {
	struct ts_sbt_reader *reader;
	const struct ts_timeline_options *options;
	struct ts_timeline_pass *all; /* the joined segments */
};

int ts_timeline_pass_new_segment(struct ts_sbt_reader *reader,
				 const struct ts_timeline_options *options, bool is_first,
				 struct ts_timeline_pass **ret_pass)
{
	struct ts_timeline_pass *pass;
	int r = ts_timeline_pass_new(reader, options, &pass);

	if (r)
		return r;
	pass->max_parts /= SEGMENT_SHARE;
	pass->is_segment = !is_first;
	*ret_pass = pass;
	return 0;
}

static int create_segment(void *data, bool is_first, const struct ts_state_machine *machine,
			  void **ret_pass)
{
	const struct segments *segments = data;
	struct ts_timeline_pass *pass;
	int r = ts_timeline_pass_new_segment(segments->reader, segments->options, is_first, &pass);

	if (!r)
		*ret_pass = pass;
	return r;
}

static int take_of_segment(void *pass, const struct ts_state_op *op)
{
	return ts_timeline_pass_take(pass, op);
}

void ts_timeline_pass_start(struct ts_timeline_pass *pass, const struct ts_segments_counts *counts)
{
	struct ts_timeline *timeline = pass->timeline;

	timeline->doubts = (struct ts_doubts){0};
	pass->has_started = true;
	for (size_t i = 0; i < timeline->n_streams; i++) {
		struct ts_timeline_stream *stream = &timeline->streams[i];

		stream->n_ops = stream->busy_ns = 0;
		memset(stream->parts, 0, timeline->n_parts * sizeof(*stream->parts));
	}
	for (size_t i = 0; i < timeline->n_devices; i++) {
		struct ts_timeline_device *device = &timeline->devices[i];

		device->n_ops = device->busy_ns = device->sum_ns = 0;
		memset(device->ns, 0, sizeof(device->ns));
		memset(device->idle_ns, 0, sizeof(device->idle_ns));
		device->max_at_once = 0;
		if (device->parts)
			memset(device->parts, 0, timeline->n_parts * sizeof(*device->parts));
		pass->opens[i].is_open = device->any_until_ns <= counts->old_ns;
	}
}

static void start_segment(void *pass, const struct ts_segments_counts *counts)
{
	ts_timeline_pass_start(pass, counts);
}

static void add_part_sums(struct ts_timeline_part *to, const struct ts_timeline_part *parts,
			  uint32_t n)
{
	for (uint32_t i = 0; to && i < n; i++)
		for (unsigned work = 0; work < TS_TIMELINE_WORKS; work++)
			to[i].ns[work] += parts[i].ns[work];
}

static int join_stream(struct ts_timeline_pass *all, const struct ts_timeline_stream *stream)
{
	uint64_t key = (uint64_t)stream->context << 32 | stream->stream;
	uint32_t at = ts_state_map_find(&all->stream_by_id, stream->session, key);
	struct ts_timeline_stream *to;
	int r = 0;

	if (at == NONE) {
		at = (uint32_t)all->timeline->n_streams;
		r = add_stream(all, stream);
		r = r ? r : ts_state_map_set(&all->stream_by_id, stream->session, key, at);
	}
	if (r)
		return r;
	to = &all->timeline->streams[at];
	to->n_ops += stream->n_ops;
	to->busy_ns += stream->busy_ns;
	add_part_sums(to->parts, stream->parts, all->timeline->n_parts);
	return 0;
}

/*
 * Adds the idle time before the segment's first operation. If the device was idle before old_ns,
 * unknown dependencies on other devices might have ended later than its work.
 */
static int join_first(struct ts_timeline_pass *all, struct ts_timeline_device *to,
		      const struct ts_state_op *first, uint64_t old_ns)
{
	if (all->timeline->n_devices > 1 && to->any_until_ns < old_ns)
		return TS_SEGMENTS_NONE;
	add_idle(to, first, more(first->start_ns, all->timeline->from_ns));
	return 0;
}

static int join_device(struct ts_timeline_pass *all, const struct ts_timeline_device *device,
		       const struct open *open, uint64_t old_ns)
{
	struct ts_timeline_device *to;
	uint32_t at;
	int r = find_device(all, device->session, device->device, &at);

	if (r)
		return r;
	to = &all->timeline->devices[at];
	if (open && open->has_first)
		r = join_first(all, to, &open->first, old_ns);
	to->n_ops += device->n_ops;
	to->busy_ns += device->busy_ns;
	to->sum_ns += device->sum_ns;
	for (unsigned work = 0; work < TS_TIMELINE_WORKS; work++)
		to->ns[work] += device->ns[work];
	for (unsigned idle = 0; idle < TS_TIMELINE_IDLES; idle++)
		to->idle_ns[idle] += device->idle_ns[idle];
	if (device->max_at_once > to->max_at_once) {
		to->max_at_once = device->max_at_once;
		to->max_ns = device->max_ns;
	}
	to->any_until_ns = more(to->any_until_ns, device->any_until_ns);
	add_part_sums(to->parts, device->parts, all->timeline->n_parts);
	return r;
}

int ts_timeline_pass_join(struct ts_timeline_pass *all, const struct ts_timeline_pass *pass,
			  const struct ts_segments_counts *counts)
{
	const struct ts_timeline *timeline = pass->timeline;
	int r = 0;

	/* All devices first: join_first() depends on their number. */
	for (size_t i = 0; !r && i < timeline->n_devices; i++) {
		uint32_t at;

		r = find_device(all, timeline->devices[i].session, timeline->devices[i].device,
				&at);
	}
	for (size_t i = 0; !r && i < timeline->n_devices; i++)
		r = join_device(all, &timeline->devices[i], pass->opens ? &pass->opens[i] : NULL,
				counts->old_ns);
	for (size_t i = 0; !r && i < timeline->n_streams; i++)
		r = join_stream(all, &timeline->streams[i]);
	ts_doubts_join(&all->timeline->doubts, &timeline->doubts);
	all->timeline->doubts.n_unanswered += (uint64_t)counts->n_unanswered;
	all->timeline->doubts.n_twice += counts->n_twice;
	return r;
}

static int join_segment(void *data, void *pass, const struct ts_segments_counts *counts)
{
	return ts_timeline_pass_join(((struct segments *)data)->all, pass, counts);
}

static void free_segment(void *pass)
{
	ts_timeline_pass_free(pass);
}

int ts_timeline_read_segments(struct ts_sbt_reader *reader,
			      const struct ts_timeline_options *options,
			      const struct ts_segments_options *sizes,
			      struct ts_timeline **ret_timeline)
{
	static const struct ts_segments_consumer consumer = {
		.create = create_segment,
		.take = take_of_segment,
		.start = start_segment,
		.join = join_segment,
		.free = free_segment,
	};
	const struct ts_segments_options how = {.session = options->session,
						.to_ns = options->to_ns,
						.n_rows = sizes ? sizes->n_rows : 0,
						.n_warm_rows = sizes ? sizes->n_warm_rows : 0};
	ts_cleanup(ts_timeline_pass_freep) struct ts_timeline_pass *all = NULL;
	struct segments segments = {.reader = reader, .options = options};
	int r = ts_timeline_pass_new(reader, options, &all);

	segments.all = all;
	r = r ? r : ts_segments_read(reader, &how, &consumer, &segments);
	if (!r)
		ts_timeline_pass_finish(all, NULL, false, ret_timeline);
	return r;
}

int ts_timeline_read(struct ts_sbt_reader *reader, const struct ts_timeline_options *options,
		     struct ts_timeline **ret_timeline)
{
	ts_cleanup(ts_timeline_pass_freep) struct ts_timeline_pass *pass = NULL;
	ts_cleanup(ts_state_machine_freep) struct ts_state_machine *machine = NULL;
	bool is_damaged = false;
	int r = ts_timeline_read_segments(reader, options, NULL, ret_timeline);

	if (r != TS_SEGMENTS_NONE)
		return r;
	r = ts_state_machine_new(&machine);
	r = r ? r : ts_state_machine_prepare(machine, reader, options->session);
	r = r ? r : ts_timeline_pass_new(reader, options, &pass);
	r = r ? r : read_rows(pass, machine, options, &is_damaged);
	if (!r)
		ts_timeline_pass_finish(pass, machine, is_damaged, ret_timeline);
	return r;
}
