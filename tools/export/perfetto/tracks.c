/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides the lane, the time and the order of packets; perfetto.c, perfetto-places.c and
 * perfetto-sums.c call this file. This file calls packets.c, which encodes packets in threads.
 */
#include "tools/export/perfetto/tracks.h"

#include "proto/abi/grow.h"
#include "tools/export/perfetto/packets.h"

#include <assert.h>

#define MAX_TRACKS    (UINT32_C(1) << 24)
#define MAX_ARG_NAMES 64u
/* Readers reject deeper nesting. */
#define MAX_DEPTH 200u
/* Limit of slices with one start time, which are sorted so that the longest comes first. */
#define MAX_HELD	     64u

#define CLOCK_REALTIME_ID    1u
#define CLOCK_MONOTONIC_ID   3u
#define CLOCK_OF_SEQUENCE_ID 64u
#define SEQUENCE_BEGINS	     1u

struct lane {
	uint64_t uuid;
	uint64_t last_ns;
	uint32_t next;		/* lane of the same track, from 1; 0: none */
	uint64_t has_arg_names; /* bits of arg names that the lane has defined */
	uint64_t *ends;		/* end times of open slices, innermost last */
	uint32_t n_ends, n_ends_allocated;
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
	struct ts_packets *packets;
	struct track *tracks;
	size_t n_tracks, n_tracks_allocated;
	struct lane *lanes;
	size_t n_lanes, n_lanes_allocated;
	uint64_t last_uuid;
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
	ts_packets_free(tracks->packets);
	free(tracks);
}

uint64_t ts_tracks_n_left_out(const struct ts_tracks *tracks)
{
	return tracks->n_left_out;
}

/* ---- packets that are rare ------------------------------------------------------------------- */

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
	r = ts_packets_add(tracks->packets, sequence, &packet);
	packet.clock_snapshot = NULL;
	packet.trace_packet_defaults = &defaults;
	packet.has_sequence_flags = true;
	packet.sequence_flags = SEQUENCE_BEGINS;
	return r ? r : ts_packets_add(tracks->packets, sequence, &packet);
}

int ts_tracks_new(const struct ts_track_options *options, struct ts_tracks **ret_tracks)
{
	struct ts_tracks *tracks = calloc(1, sizeof(*tracks));
	int r;

	assert(options->n_arg_names <= MAX_ARG_NAMES);
	if (!tracks)
		return -ENOMEM;
	tracks->options = *options;
	r = ts_packets_new(options, &tracks->packets);
	r = r ? r : begin_sequence(tracks, TS_PACKETS_SEQUENCE_OF_ALL, 0);
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
	return ts_packets_add(tracks->packets, TS_PACKETS_SEQUENCE_OF_ALL, &packet);
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
			      .last_ns = tracks->options.origin_ns};
	*ret_lane = (uint32_t)++tracks->n_lanes;
	if (!is_first)
		r = describe(tracks, &further, lane->uuid,
			     track->is_plain ? track->parent_uuid : track->uuid);
	return r ? r : begin_sequence(tracks, ts_packets_sequence(*ret_lane), lane->uuid);
}

/* ---- lanes ----------------------------------------------------------------------------------- */

/* Sets the lane's time, which never goes back. Returns the time since its last packet. */
static uint64_t advance(struct lane *lane, uint64_t time_ns)
{
	const uint64_t last_ns = lane->last_ns;

	if (time_ns > last_ns)
		lane->last_ns = time_ns;
	return lane->last_ns - last_ns;
}

static int end_until(struct ts_tracks *tracks, uint32_t number, uint64_t time_ns)
{
	struct lane *lane = &tracks->lanes[number - 1];
	int r = 0;

	while (!r && lane->n_ends && lane->ends[lane->n_ends - 1] <= time_ns)
		r = ts_packets_end(tracks->packets, number,
				   advance(lane, lane->ends[--lane->n_ends]));
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

		r = end_until(tracks, *link, slice->start_ns);
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

static int put_begin(struct ts_tracks *tracks, uint32_t number, const struct ts_track_slice *slice)
{
	struct lane *lane = &tracks->lanes[number - 1];
	const uint64_t known = lane->has_arg_names;

	for (unsigned int i = 0; i < slice->n_args; i++)
		lane->has_arg_names |= UINT64_C(1) << slice->args[i].name;
	return ts_packets_begin(tracks->packets, number, advance(lane, slice->start_ns),
				lane->has_arg_names & ~known, slice);
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
	ts_track_slice_copy(&tracks->held[tracks->n_held++], slice);
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
	packet.timestamp = time_ns < TS_TRACKS_MAX_NS ? time_ns : TS_TRACKS_MAX_NS;
	packet.track_event = event;
	return ts_packets_add(tracks->packets, TS_PACKETS_SEQUENCE_OF_ALL, &packet);
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

	for (uint32_t i = 1; !r && i <= tracks->n_lanes; i++)
		r = end_until(tracks, i, UINT64_MAX);
	return r ? r : ts_packets_finish(tracks->packets);
}
