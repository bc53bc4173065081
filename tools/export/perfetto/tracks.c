/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes packets; perfetto.c, perfetto-places.c and perfetto-sums.c call this file. Packets of
 * slices are encoded by hand, because each kernel launch has four of them; protobuf-c encodes all
 * others.
 */
#include "tools/export/perfetto/tracks.h"

#include "proto/abi/grow.h"
#include "tools/export/perfetto.pb-c.h"

#include <assert.h>

#define PIECE_BYTES   (256u * 1024)
#define MAX_TRACKS    (UINT32_C(1) << 24)
#define MAX_ARG_NAMES 64u
/* Readers reject deeper nesting. */
#define MAX_DEPTH 200u
/* Limit of slices with one start time, which are sorted so that the longest comes first. */
#define MAX_HELD 64u

/* Limit of a slice's packet: two numbers, its type, name, flows and arguments. */
#define MAX_PACKET_BYTES     1024u

#define CLOCK_REALTIME_ID    1u
#define CLOCK_MONOTONIC_ID   3u
#define CLOCK_OF_SEQUENCE_ID 64u
#define SEQUENCE_BEGINS	     1u

/* Sequence of descriptors and counters; lanes use the later sequences. */
#define SEQUENCE_OF_ALL 1u

enum text_class {
	TEXT_NAME,
	TEXT_VALUE,
	TEXT_CLASSES
};

struct text_key {
	uint32_t lane;
	uint32_t class; /* enum text_class */
	struct ts_track_text text;
	/* end of key */
	uint64_t iid;
};

struct lane {
	uint64_t uuid;
	uint64_t last_ns;
	uint32_t sequence;
	uint32_t next;		/* lane of the same track, from 1; 0: none */
	uint64_t has_arg_names; /* bits of arg names that the lane has defined */
	uint64_t n_iids[TEXT_CLASSES];
	uint64_t *ends; /* end times of open slices, innermost last */
	uint32_t n_ends, n_ends_allocated;
	uint8_t head[8]; /* bytes of a slice's packet between time and event */
	uint8_t n_head;
};

struct track {
	uint32_t first_lane; /* from 1; 0: none yet */
	uint64_t uuid;
	bool is_flat;
	bool is_plain; /* false: lanes are children of the track */
	char *name;
	uint64_t parent_uuid;
};

struct ts_tracks {
	struct ts_track_options options;
	struct track *tracks;
	size_t n_tracks, n_tracks_allocated;
	struct lane *lanes;
	size_t n_lanes, n_lanes_allocated;
	uint64_t last_uuid;
	struct ts_hashtable texts; /* of struct text_key */
	struct ts_buffer text;	   /* the current text */
	struct ts_buffer out;
	struct ts_track_slice held[MAX_HELD];
	uint32_t n_held;
	uint64_t n_left_out;
};

void ts_tracks_free(struct ts_tracks *tracks)
{
	if (!tracks)
		return;
	for (size_t i = 0; i < tracks->n_lanes; i++)
		free(tracks->lanes[i].ends);
	for (size_t i = 0; i < tracks->n_tracks; i++)
		free(tracks->tracks[i].name);
	free(tracks->lanes);
	free(tracks->tracks);
	ts_hashtable_deinit(&tracks->texts);
	ts_buffer_deinit(&tracks->text);
	ts_buffer_deinit(&tracks->out);
	free(tracks);
}

uint64_t ts_tracks_n_left_out(const struct ts_tracks *tracks)
{
	return tracks->n_left_out;
}

/* ---- packets that are rare ------------------------------------------------------------------- */

static void flush(struct ts_tracks *tracks)
{
	fwrite(tracks->out.bytes, 1, tracks->out.n, tracks->options.file);
	tracks->out.n = 0;
}

static int put(struct ts_tracks *tracks, uint32_t sequence, Ts__Perfetto__TracePacket *packet)
{
	Ts__Perfetto__Trace trace = TS__PERFETTO__TRACE__INIT;
	uint8_t *at;
	size_t n;
	int r;

	packet->has_trusted_packet_sequence_id = true;
	packet->trusted_packet_sequence_id = sequence;
	trace.n_packet = 1;
	trace.packet = &packet;
	n = ts__perfetto__trace__get_packed_size(&trace);
	r = n < UINT32_MAX / 2 ? ts_buffer_reserve(&tracks->out, n, &at) : -E2BIG;
	if (r)
		return r;
	tracks->out.n += ts__perfetto__trace__pack(&trace, at);
	if (tracks->out.n >= PIECE_BYTES)
		flush(tracks);
	return 0;
}

static void set_clock(Ts__Perfetto__ClockSnapshot__Clock *clock, uint32_t id, uint64_t time_ns)
{
	ts__perfetto__clock_snapshot__clock__init(clock);
	clock->has_clock_id = clock->has_timestamp = true;
	clock->clock_id = id;
	clock->timestamp = time_ns;
}

/* Writes the defaults of a sequence: its clock and, for a lane, its track. */
static int begin_sequence(struct ts_tracks *tracks, uint32_t sequence, uint64_t uuid)
{
	Ts__Perfetto__ClockSnapshot__Clock clocks[2], *list[2] = {&clocks[0], &clocks[1]};
	Ts__Perfetto__ClockSnapshot snapshot = TS__PERFETTO__CLOCK_SNAPSHOT__INIT;
	Ts__Perfetto__TrackEventDefaults event = TS__PERFETTO__TRACK_EVENT_DEFAULTS__INIT;
	Ts__Perfetto__TracePacketDefaults defaults = TS__PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Ts__Perfetto__TracePacket packet = TS__PERFETTO__TRACE_PACKET__INIT;
	int r = 0;

	snapshot.clocks = list;
	snapshot.n_clocks = 1;
	set_clock(&clocks[0], CLOCK_MONOTONIC_ID, tracks->options.origin_ns);
	defaults.has_timestamp_clock_id = true;
	if (uuid) {
		set_clock(&clocks[snapshot.n_clocks], CLOCK_OF_SEQUENCE_ID,
			  tracks->options.origin_ns);
		clocks[snapshot.n_clocks].has_is_incremental = true;
		clocks[snapshot.n_clocks++].is_incremental = true;
		defaults.timestamp_clock_id = CLOCK_OF_SEQUENCE_ID;
		event.has_track_uuid = true;
		event.track_uuid = uuid;
		defaults.track_event_defaults = &event;
	} else {
		if (tracks->options.realtime_ns)
			set_clock(&clocks[snapshot.n_clocks++], CLOCK_REALTIME_ID,
				  tracks->options.realtime_ns);
		snapshot.has_primary_trace_clock = true;
		snapshot.primary_trace_clock = CLOCK_MONOTONIC_ID;
		defaults.timestamp_clock_id = CLOCK_MONOTONIC_ID;
	}
	packet.clock_snapshot = &snapshot;
	r = put(tracks, sequence, &packet);
	packet.clock_snapshot = NULL;
	packet.trace_packet_defaults = &defaults;
	packet.has_sequence_flags = true;
	packet.sequence_flags = SEQUENCE_BEGINS;
	return r ? r : put(tracks, sequence, &packet);
}

int ts_tracks_new(const struct ts_track_options *options, struct ts_tracks **ret_tracks)
{
	struct ts_tracks *tracks = calloc(1, sizeof(*tracks));
	int r;

	assert(options->n_arg_names <= MAX_ARG_NAMES);
	if (!tracks)
		return -ENOMEM;
	tracks->options = *options;
	ts_hashtable_init(&tracks->texts, sizeof(struct text_key), offsetof(struct text_key, iid));
	r = begin_sequence(tracks, SEQUENCE_OF_ALL, 0);
	if (r) {
		ts_tracks_free(tracks);
		return r;
	}
	*ret_tracks = tracks;
	return 0;
}

static int describe(struct ts_tracks *tracks, const struct ts_track *track, uint64_t uuid,
		    uint64_t parent_uuid)
{
	Ts__Perfetto__ProcessDescriptor process = TS__PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Ts__Perfetto__ThreadDescriptor thread = TS__PERFETTO__THREAD_DESCRIPTOR__INIT;
	Ts__Perfetto__CounterDescriptor counter = TS__PERFETTO__COUNTER_DESCRIPTOR__INIT;
	Ts__Perfetto__TrackDescriptor descriptor = TS__PERFETTO__TRACK_DESCRIPTOR__INIT;
	Ts__Perfetto__TracePacket packet = TS__PERFETTO__TRACE_PACKET__INIT;

	descriptor.has_uuid = true;
	descriptor.uuid = uuid;
	descriptor.has_parent_uuid = parent_uuid;
	descriptor.parent_uuid = parent_uuid;
	descriptor.has_child_ordering = true;
	descriptor.child_ordering =
		TS__PERFETTO__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__LEXICOGRAPHIC;
	if (track->kind == TS_TRACK_PROCESS) {
		process.has_pid = true;
		process.pid = track->pid;
		process.process_name = (char *)track->name;
		descriptor.process = &process;
	} else if (track->kind == TS_TRACK_THREAD) {
		thread.has_pid = thread.has_tid = true;
		thread.pid = track->pid;
		thread.tid = track->tid;
		thread.thread_name = (char *)track->name;
		descriptor.thread = &thread;
	} else {
		descriptor.name = (char *)track->name;
	}
	if (track->kind == TS_TRACK_COUNTER) {
		counter.has_unit = track->is_bytes;
		counter.unit = TS__PERFETTO__COUNTER_DESCRIPTOR__UNIT__UNIT_SIZE_BYTES;
		counter.unit_name = (char *)track->unit;
		descriptor.counter = &counter;
	}
	packet.track_descriptor = &descriptor;
	return put(tracks, SEQUENCE_OF_ALL, &packet);
}

int ts_tracks_add(struct ts_tracks *tracks, const struct ts_track *from, uint32_t *ret_track)
{
	struct track *track;
	int r = tracks->n_tracks < MAX_TRACKS
			? TS_GROW(tracks->tracks, tracks->n_tracks_allocated, tracks->n_tracks + 1)
			: -EOVERFLOW;

	if (r)
		return r;
	track = &tracks->tracks[tracks->n_tracks];
	*track = (struct track){.uuid = ++tracks->last_uuid,
				.is_flat = from->is_flat,
				.is_plain = from->kind == TS_TRACK_PLAIN,
				.name = strdup(from->name ? from->name : "")};
	if (!track->name)
		return -ENOMEM;
	tracks->n_tracks++;
	if (from->parent)
		track->parent_uuid = tracks->tracks[from->parent - 1].uuid;
	*ret_track = (uint32_t)tracks->n_tracks;
	return describe(tracks, from, track->uuid, track->parent_uuid);
}

enum wire {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2
};

#define TAG(field, wire) ((uint32_t)(field) << 3 | (wire))

static uint8_t *varint(uint8_t *at, uint64_t value)
{
	while (value > 0x7f) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static uint8_t *number(uint8_t *at, unsigned int field, uint64_t value)
{
	return varint(varint(at, TAG(field, WIRE_VARINT)), value);
}

/* Field numbers of perfetto.proto. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_FLOWS = 36,
	EVENT_LAST_FLOWS = 42,
	ANNOTATION_NAME = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_POINTER = 7,
	ANNOTATION_TEXT = 17,
};

/* Makes the bytes that all slice packets of the lane share. */
static void make_head(struct lane *lane)
{
	uint8_t *at = number(lane->head, PACKET_SEQUENCE, lane->sequence);

	*at++ = TAG(PACKET_EVENT, WIRE_BYTES);
	lane->n_head = (uint8_t)(at - lane->head);
}

static int add_lane(struct ts_tracks *tracks, struct track *track, uint32_t *ret_lane)
{
	bool is_first = !track->first_lane;
	struct ts_track further = {.name = track->is_plain ? track->name : "overlapping"};
	struct lane *lane;
	int r = TS_GROW(tracks->lanes, tracks->n_lanes_allocated, tracks->n_lanes + 1);

	if (r)
		return r;
	lane = &tracks->lanes[tracks->n_lanes];
	*lane = (struct lane){.uuid = is_first ? track->uuid : ++tracks->last_uuid,
			      .last_ns = tracks->options.origin_ns,
			      .sequence = (uint32_t)(SEQUENCE_OF_ALL + 1 + tracks->n_lanes)};
	make_head(lane);
	*ret_lane = (uint32_t)++tracks->n_lanes;
	if (!is_first)
		r = describe(tracks, &further, lane->uuid,
			     track->is_plain ? track->parent_uuid : track->uuid);
	return r ? r : begin_sequence(tracks, lane->sequence, lane->uuid);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int put_text(struct ts_tracks *tracks, uint32_t sequence, enum text_class class,
		    uint64_t iid, const char *bytes, size_t n)
{
	Ts__Perfetto__InternedText text = TS__PERFETTO__INTERNED_TEXT__INIT, *list = &text;
	Ts__Perfetto__InternedData data = TS__PERFETTO__INTERNED_DATA__INIT;
	Ts__Perfetto__TracePacket packet = TS__PERFETTO__TRACE_PACKET__INIT;

	text.has_iid = text.has_text = true;
	text.iid = iid;
	text.text.data = (uint8_t *)bytes;
	text.text.len = n;
	if (class == TEXT_NAME) {
		data.n_event_names = 1;
		data.event_names = &list;
	} else if (class == TEXT_VALUE) {
		data.n_debug_annotation_string_values = 1;
		data.debug_annotation_string_values = &list;
	} else {
		data.n_debug_annotation_names = 1;
		data.debug_annotation_names = &list;
	}
	packet.interned_data = &data;
	return put(tracks, sequence, &packet);
}

static int intern(struct ts_tracks *tracks, uint32_t lane_id, enum text_class class,
		  const struct ts_track_text *what, uint64_t *ret_iid)
{
	struct text_key key = {.lane = lane_id, .class = class, .text = *what};
	struct lane *lane = &tracks->lanes[lane_id - 1];
	const char *text = NULL;
	uint64_t iid;
	uint32_t i;
	bool is_new;
	int r = ts_hashtable_recall(&tracks->texts, &key, offsetof(struct text_key, iid), &i,
				    &is_new);

	if (r)
		return r;
	if (!is_new) {
		*ret_iid = ((struct text_key *)ts_hashtable_at(&tracks->texts, i))->iid;
		return 0;
	}
	iid = ++lane->n_iids[class];
	((struct text_key *)ts_hashtable_at(&tracks->texts, i))->iid = *ret_iid = iid;
	tracks->text.n = 0;
	if (what->kind == TS_TRACK_TEXT_STATIC) {
		text = (const char *)(uintptr_t)what->value;
		r = ts_buffer_append(&tracks->text, text, strlen(text));
	} else {
		r = tracks->options.text(tracks->options.user, what, &tracks->text);
	}
	return r ? r
		 : put_text(tracks, lane->sequence, class, iid, (char *)tracks->text.bytes,
			    tracks->text.n);
}

static int intern_arg_name(struct ts_tracks *tracks, struct lane *lane, unsigned int name)
{
	const char *text = tracks->options.arg_names[name];

	if (lane->has_arg_names >> name & 1)
		return 0;
	lane->has_arg_names |= UINT64_C(1) << name;
	return put_text(tracks, lane->sequence, TEXT_CLASSES, name + UINT64_C(1), text,
			strlen(text));
}

/* ---- packets of slices ----------------------------------------------------------------------- */

/*
 * A packet under construction. One byte before each length-prefixed part is reserved for its
 * length.
 */
struct packet {
	uint8_t *begin; /* after the packet's own length */
	uint8_t *event; /* after the event's length */
};

/* Begins a packet and sets the event's address; the whole packet has at most MAX_PACKET_BYTES. */
static int begin_packet(struct ts_tracks *tracks, struct lane *lane, uint64_t time_ns,
			struct packet *packet)
{
	uint8_t *at;
	int r = ts_buffer_reserve(&tracks->out, MAX_PACKET_BYTES, &at);

	if (r)
		return r;
	if (time_ns < lane->last_ns)
		time_ns = lane->last_ns;
	*at = TAG(TRACE_PACKET, WIRE_BYTES);
	packet->begin = at + 2;
	at = number(packet->begin, PACKET_TIMESTAMP, time_ns - lane->last_ns);
	lane->last_ns = time_ns;
	memcpy(at, lane->head, sizeof(lane->head));
	packet->event = at + lane->n_head + 1;
	return 0;
}

/* Writes the length before the bytes [from, to). Returns the new end of these bytes. */
static uint8_t *set_length(uint8_t *from, uint8_t *to)
{
	size_t n = (size_t)(to - from);
	uint8_t length[10];
	size_t n_length;

	if (n <= 0x7f) {
		from[-1] = (uint8_t)n;
		return to;
	}
	n_length = (size_t)(varint(length, n) - length);
	memmove(from - 1 + n_length, from, n);
	memcpy(from - 1, length, n_length);
	return to + n_length - 1;
}

static void end_packet(struct ts_tracks *tracks, const struct packet *packet, uint8_t *to)
{
	to = set_length(packet->begin, set_length(packet->event, to));
	tracks->out.n = (size_t)(to - tracks->out.bytes);
	if (tracks->out.n >= PIECE_BYTES)
		flush(tracks);
}

static int put_end(struct ts_tracks *tracks, struct lane *lane, uint64_t time_ns)
{
	struct packet packet;
	int r = begin_packet(tracks, lane, time_ns, &packet);

	if (!r)
		end_packet(tracks, &packet,
			   number(packet.event, EVENT_TYPE,
				  TS__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END));
	return r;
}

/* Writes an argument. `value`: for a text, its iid. */
static uint8_t *put_arg(uint8_t *at, const struct ts_track_arg *arg, uint64_t value)
{
	uint8_t *from;

	*at++ = TAG(EVENT_ANNOTATIONS, WIRE_BYTES);
	from = ++at;
	at = number(at, ANNOTATION_NAME, arg->name + UINT64_C(1));
	switch (arg->kind) {
	case TS_TRACK_ARG_TEXT:
		at = number(at, ANNOTATION_TEXT, value);
		break;
	case TS_TRACK_ARG_DOUBLE:
		*at++ = TAG(ANNOTATION_DOUBLE, WIRE_FIXED64);
		memcpy(at, &arg->real, sizeof(arg->real));
		at += sizeof(arg->real);
		break;
	case TS_TRACK_ARG_INT:
		at = number(at, ANNOTATION_INT, value);
		break;
	case TS_TRACK_ARG_POINTER:
		at = number(at, ANNOTATION_POINTER, value);
		break;
	default:
		at = number(at, ANNOTATION_UINT, value);
	}
	return set_length(from, at);
}

static int put_begin(struct ts_tracks *tracks, uint32_t lane, const struct ts_track_slice *slice)
{
	uint64_t name, values[TS_TRACK_MAX_ARGS];
	struct packet packet;
	uint8_t *at;
	int r = intern(tracks, lane, TEXT_NAME, &slice->name, &name);

	/* New texts are separate packets before this one. */
	for (unsigned int i = 0; !r && i < slice->n_args; i++) {
		const struct ts_track_arg *arg = &slice->args[i];

		r = intern_arg_name(tracks, &tracks->lanes[lane - 1], arg->name);
		values[i] = arg->number;
		if (!r && arg->kind == TS_TRACK_ARG_TEXT)
			r = intern(tracks, lane, TEXT_VALUE, &arg->text, &values[i]);
	}
	r = r ? r : begin_packet(tracks, &tracks->lanes[lane - 1], slice->start_ns, &packet);
	if (r)
		return r;
	at = number(packet.event, EVENT_TYPE,
		    slice->is_instant ? TS__PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT
				      : TS__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
	at = number(at, EVENT_NAME, name);
	for (unsigned int i = 0; i < slice->n_flows; i++)
		at = number(at, slice->flows_end ? EVENT_LAST_FLOWS : EVENT_FLOWS, slice->flows[i]);
	for (unsigned int i = 0; i < slice->n_args; i++)
		at = put_arg(at, &slice->args[i], values[i]);
	end_packet(tracks, &packet, at);
	return 0;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static int end_until(struct ts_tracks *tracks, struct lane *lane, uint64_t time_ns)
{
	int r = 0;

	while (!r && lane->n_ends && lane->ends[lane->n_ends - 1] <= time_ns)
		r = put_end(tracks, lane, lane->ends[--lane->n_ends]);
	return r;
}

static bool fits(const struct track *track, const struct lane *lane,
		 const struct ts_track_slice *slice)
{
	if (!lane->n_ends)
		return true;
	return !track->is_flat && lane->n_ends < MAX_DEPTH &&
	       lane->ends[lane->n_ends - 1] >= slice->end_ns;
}

/* ret_lane: from 1; 0: all lanes are taken. */
static int find_lane(struct ts_tracks *tracks, struct track *track,
		     const struct ts_track_slice *slice, uint32_t *ret_lane)
{
	uint32_t *link = &track->first_lane, made;
	unsigned int n = 0;
	int r = 0;

	while (*link) {
		struct lane *lane = &tracks->lanes[*link - 1];

		r = end_until(tracks, lane, slice->start_ns);
		if (r || fits(track, lane, slice)) {
			*ret_lane = *link;
			return r;
		}
		link = &lane->next;
		if (++n == TS_TRACKS_MAX_LANES) {
			*ret_lane = 0;
			return 0;
		}
	}
	n = (unsigned int)(link == &track->first_lane
				   ? 0
				   : 1 + (size_t)((uint8_t *)link - (uint8_t *)tracks->lanes) /
						     sizeof(*tracks->lanes));
	r = add_lane(tracks, track, &made);
	if (r)
		return r;
	/* add_lane() may have moved the lanes. */
	if (n)
		tracks->lanes[n - 1].next = made;
	else
		track->first_lane = made;
	*ret_lane = made;
	return 0;
}

static int put_slice(struct ts_tracks *tracks, const struct ts_track_slice *slice)
{
	uint32_t found = 0;
	struct lane *lane;
	int r = find_lane(tracks, &tracks->tracks[slice->track - 1], slice, &found);

	if (r)
		return r;
	if (!found) {
		tracks->n_left_out++;
		return 0;
	}
	lane = &tracks->lanes[found - 1];
	if (!slice->is_instant && TS_GROW(lane->ends, lane->n_ends_allocated, lane->n_ends + 1))
		return -ENOMEM;
	r = put_begin(tracks, found, slice);
	if (!slice->is_instant)
		lane->ends[lane->n_ends++] = slice->end_ns;
	return r;
}

/* Writes slices with one start time: a longer slice encloses a shorter one. */
static int put_held(struct ts_tracks *tracks)
{
	struct ts_track_slice *held = tracks->held;
	int r = 0;

	for (uint32_t i = 1; i < tracks->n_held; i++)
		for (uint32_t j = i; j && held[j].end_ns > held[j - 1].end_ns; j--) {
			struct ts_track_slice spare = held[j];

			held[j] = held[j - 1];
			held[j - 1] = spare;
		}
	for (uint32_t i = 0; !r && i < tracks->n_held; i++)
		r = put_slice(tracks, &held[i]);
	tracks->n_held = 0;
	return r;
}

int ts_tracks_slice(struct ts_tracks *tracks, const struct ts_track_slice *slice)
{
	int r = 0;

	assert(slice->track && slice->track <= tracks->n_tracks &&
	       slice->n_args <= TS_TRACK_MAX_ARGS && slice->n_flows <= TS_TRACK_MAX_FLOWS);
	if (tracks->tracks[slice->track - 1].is_flat)
		return put_slice(tracks, slice);
	if (tracks->n_held &&
	    (tracks->n_held == MAX_HELD || tracks->held[0].start_ns != slice->start_ns))
		r = put_held(tracks);
	if (r)
		return r;
	/* Copy only the used arguments. */
	memcpy(&tracks->held[tracks->n_held++], slice,
	       offsetof(struct ts_track_slice, args) + slice->n_args * sizeof(slice->args[0]));
	return 0;
}

/* ---- counters, and the end ------------------------------------------------------------------- */

static int put_count(struct ts_tracks *tracks, uint32_t track, uint64_t time_ns,
		     Ts__Perfetto__TrackEvent *event)
{
	Ts__Perfetto__TracePacket packet = TS__PERFETTO__TRACE_PACKET__INIT;

	event->has_type = event->has_track_uuid = true;
	event->type = TS__PERFETTO__TRACK_EVENT__TYPE__TYPE_COUNTER;
	event->track_uuid = tracks->tracks[track - 1].uuid;
	packet.has_timestamp = true;
	packet.timestamp = time_ns;
	packet.track_event = event;
	return put(tracks, SEQUENCE_OF_ALL, &packet);
}

int ts_tracks_count(struct ts_tracks *tracks, uint32_t track, uint64_t time_ns, int64_t value)
{
	Ts__Perfetto__TrackEvent event = TS__PERFETTO__TRACK_EVENT__INIT;

	event.has_counter_value = true;
	event.counter_value = value;
	return put_count(tracks, track, time_ns, &event);
}

int ts_tracks_count_real(struct ts_tracks *tracks, uint32_t track, uint64_t time_ns, double value)
{
	Ts__Perfetto__TrackEvent event = TS__PERFETTO__TRACK_EVENT__INIT;

	event.has_double_counter_value = true;
	event.double_counter_value = value;
	return put_count(tracks, track, time_ns, &event);
}

int ts_tracks_finish(struct ts_tracks *tracks)
{
	int r = put_held(tracks);

	for (size_t i = 0; !r && i < tracks->n_lanes; i++)
		r = end_until(tracks, &tracks->lanes[i], UINT64_MAX);
	flush(tracks);
	return r;
}
