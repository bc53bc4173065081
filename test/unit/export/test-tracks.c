/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads slices on tracks back from the packets: nested slices share a track, crossing slices go to
 * a further lane, and times do not change.
 */
#include "test/unit/harness.h"
#include "tools/export/perfetto.pb-c.h"
#include "tools/export/perfetto/tracks.h"

#define ORIGIN_NS UINT64_C(1000)
#define MAX_FOUND 4096u

struct found {
	uint64_t uuid, start_ns, end_ns;
	uint32_t depth;
	bool is_over;
};

struct readout {
	char *bytes;
	size_t n_bytes;
	struct found found[MAX_FOUND];
	size_t n;
	size_t n_tracks;
};

struct state {
	uint64_t uuid, time_ns;
	size_t open[512];
	uint32_t n_open;
};

static int no_text(void *user, const struct ts_track_text *what, uint64_t time_ns,
		   struct ts_buffer *text)
{
	return ts_buffer_append(text, &what->value, sizeof(what->value));
}

static struct ts_tracks *begin(struct readout *readout, FILE **ret_file)
{
	static const char *const names[] = {"first", "second"};
	struct ts_track_options options = {.arg_names = names,
					   .n_arg_names = TS_ARRAY_LEN(names),
					   .text = no_text,
					   .origin_ns = ORIGIN_NS};
	struct ts_tracks *tracks;

	options.file = *ret_file = open_memstream(&readout->bytes, &readout->n_bytes);
	ts_check(options.file);
	ts_check_int(ts_tracks_new(&options, &tracks), 0);
	return tracks;
}

static uint32_t add_track(struct ts_tracks *tracks, bool is_flat)
{
	struct ts_track track = {.name = "track", .is_flat = is_flat};
	uint32_t made;

	ts_check_int(ts_tracks_add(tracks, &track, &made), 0);
	return made;
}

static void add(struct ts_tracks *tracks, uint32_t track, uint64_t start_ns, uint64_t end_ns)
{
	struct ts_track_slice slice = {.track = track,
				       .start_ns = ORIGIN_NS + start_ns,
				       .end_ns = ORIGIN_NS + end_ns,
				       .name = ts_track_static("slice")};

	ts_check_int(ts_tracks_slice(tracks, &slice), 0);
}

static void take_event(struct readout *readout, struct state *state,
		       const Ts__Perfetto__TracePacket *packet)
{
	const Ts__Perfetto__TrackEvent *event = packet->track_event;
	struct found *found = &readout->found[readout->n];

	state->time_ns += packet->timestamp;
	if (event->type == TS__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END) {
		ts_check(state->n_open);
		found = &readout->found[state->open[--state->n_open]];
		found->end_ns = state->time_ns - ORIGIN_NS;
		found->is_over = true;
		return;
	}
	ts_check(readout->n < MAX_FOUND && event->name_iid);
	*found = (struct found){.uuid = state->uuid,
				.start_ns = state->time_ns - ORIGIN_NS,
				.depth = state->n_open};
	state->open[state->n_open++] = readout->n++;
}

static void finish(struct ts_tracks *tracks, FILE *file, struct readout *readout)
{
	static struct state states[1024];
	Ts__Perfetto__Trace *trace;

	memset(states, 0, sizeof(states));
	ts_check_int(ts_tracks_finish(tracks), 0);
	ts_tracks_free(tracks);
	ts_check_int(fclose(file), 0);
	trace = ts__perfetto__trace__unpack(NULL, readout->n_bytes, (uint8_t *)readout->bytes);
	ts_check(trace);
	for (size_t i = 0; i < trace->n_packet; i++) {
		const Ts__Perfetto__TracePacket *packet = trace->packet[i];
		struct state *state = &states[packet->trusted_packet_sequence_id];

		ts_check(packet->trusted_packet_sequence_id < TS_ARRAY_LEN(states));
		readout->n_tracks += packet->track_descriptor != NULL;
		if (packet->trace_packet_defaults &&
		    packet->trace_packet_defaults->track_event_defaults) {
			state->uuid =
				packet->trace_packet_defaults->track_event_defaults->track_uuid;
			state->time_ns = ORIGIN_NS;
		}
		if (packet->track_event)
			take_event(readout, state, packet);
	}
	for (size_t i = 0; i < readout->n; i++)
		ts_check(readout->found[i].is_over);
	ts__perfetto__trace__free_unpacked(trace, NULL);
	free(readout->bytes);
}

static const struct found *find(const struct readout *readout, uint64_t start_ns, uint64_t end_ns)
{
	for (size_t i = 0; i < readout->n; i++)
		if (readout->found[i].start_ns == start_ns && readout->found[i].end_ns == end_ns)
			return &readout->found[i];
	ts_check(!"no such slice");
	return NULL;
}

/*
 *	[0         100]
 *	 [10 50]     (crosses:) [60     200]
 *	  [20 50]
 */
TS_TEST(what_fits_nests_and_what_crosses_does_not)
{
	struct readout readout = {0};
	FILE *file;
	struct ts_tracks *tracks = begin(&readout, &file);
	uint32_t track = add_track(tracks, false);

	add(tracks, track, 0, 100);
	add(tracks, track, 10, 50);
	add(tracks, track, 20, 50);
	add(tracks, track, 60, 200);
	add(tracks, track, 100, 120);
	finish(tracks, file, &readout);
	ts_check_int(readout.n, 5);
	ts_check_int(readout.n_tracks, 2);
	ts_check_int(find(&readout, 10, 50)->depth, 1);
	ts_check_int(find(&readout, 20, 50)->depth, 2);
	ts_check_int(find(&readout, 60, 200)->depth, 0);
	ts_check(find(&readout, 60, 200)->uuid != find(&readout, 0, 100)->uuid);
	ts_check_int(find(&readout, 100, 120)->depth, 0);
	ts_check_int(find(&readout, 100, 120)->uuid, find(&readout, 0, 100)->uuid);
}

/* Among slices that begin at one time, the longest encloses the others, in any order of arrival. */
TS_TEST(slices_of_one_instant_nest_by_length)
{
	struct readout readout = {0};
	FILE *file;
	struct ts_tracks *tracks = begin(&readout, &file);
	uint32_t track = add_track(tracks, false);

	add(tracks, track, 5, 5);
	add(tracks, track, 5, 7);
	add(tracks, track, 5, 20);
	add(tracks, track, 5, 9);
	finish(tracks, file, &readout);
	ts_check_int(readout.n_tracks, 1);
	ts_check_int(find(&readout, 5, 20)->depth, 0);
	ts_check_int(find(&readout, 5, 9)->depth, 1);
	ts_check_int(find(&readout, 5, 7)->depth, 2);
	ts_check_int(find(&readout, 5, 5)->depth, 3);
}

TS_TEST(nothing_nests_on_a_flat_track)
{
	struct readout readout = {0};
	FILE *file;
	struct ts_tracks *tracks = begin(&readout, &file);
	uint32_t track = add_track(tracks, true);

	add(tracks, track, 0, 100);
	add(tracks, track, 10, 20);
	add(tracks, track, 15, 30);
	add(tracks, track, 20, 40);
	add(tracks, track, 100, 100);
	finish(tracks, file, &readout);
	ts_check_int(readout.n, 5);
	ts_check_int(readout.n_tracks, 3);
	for (size_t i = 0; i < readout.n; i++)
		ts_check_int(readout.found[i].depth, 0);
	ts_check_int(find(&readout, 20, 40)->uuid, find(&readout, 10, 20)->uuid);
}

TS_TEST(deep_ones_go_to_a_further_lane)
{
	struct readout readout = {0};
	FILE *file;
	struct ts_tracks *tracks = begin(&readout, &file);
	uint32_t track = add_track(tracks, false);
	uint32_t deepest = 0;

	for (uint64_t i = 0; i < 1000; i++)
		add(tracks, track, i, 3000 - i);
	finish(tracks, file, &readout);
	ts_check_int(readout.n, 1000);
	for (size_t i = 0; i < readout.n; i++)
		deepest = readout.found[i].depth > deepest ? readout.found[i].depth : deepest;
	ts_check(deepest >= 100 && deepest < 256);
}

TS_TEST(more_lanes_than_there_may_be_are_counted)
{
	struct readout readout = {0};
	FILE *file;
	struct ts_tracks *tracks = begin(&readout, &file);
	uint32_t track = add_track(tracks, true);

	for (uint64_t i = 0; i < TS_TRACKS_MAX_LANES + 10; i++)
		add(tracks, track, i, 100000);
	ts_check_int(ts_tracks_n_left_out(tracks), 10);
	finish(tracks, file, &readout);
	ts_check_int(readout.n, TS_TRACKS_MAX_LANES);
}

/* ---- memory ---------------------------------------------------------------------------------- */

#define LONG_BYTES (64ul * 1024)
#define N_LONG	   200u

struct long_texts {
	size_t n_made, n_written, most; /* bytes; `most` were made and not written */
};

static int long_text(void *user, const struct ts_track_text *what, uint64_t time_ns,
		     struct ts_buffer *text)
{
	struct long_texts *texts = user;
	uint8_t *at;
	int r = ts_buffer_reserve(text, LONG_BYTES, &at);

	if (r)
		return r;
	memset(at, 'a' + (int)(what->value % 26), LONG_BYTES);
	text->n += LONG_BYTES;
	texts->n_made += LONG_BYTES;
	if (texts->n_made > texts->n_written && texts->n_made - texts->n_written > texts->most)
		texts->most = texts->n_made - texts->n_written;
	return 0;
}

static ssize_t count_bytes(void *user, const char *bytes, size_t n)
{
	struct long_texts *texts = user;

	texts->n_written += n;
	return (ssize_t)n;
}

/* Slices are encoded in pieces of some hundreds, but their new texts do not wait for each other. */
TS_TEST(long_new_texts_are_written_at_once)
{
	struct long_texts texts = {0};
	const struct ts_track_options options = {
		.file = fopencookie(&texts, "w", (cookie_io_functions_t){.write = count_bytes}),
		.text = long_text,
		.user = &texts,
		.origin_ns = ORIGIN_NS};
	struct ts_tracks *tracks;
	uint32_t track;

	ts_check(options.file);
	ts_check_int(ts_tracks_new(&options, &tracks), 0);
	track = add_track(tracks, false);
	for (uint64_t i = 0; i < N_LONG; i++) {
		const struct ts_track_slice slice = {.track = track,
						     .start_ns = ORIGIN_NS + i,
						     .end_ns = ORIGIN_NS + i,
						     .name = {.kind = TS_TRACK_TEXT_FIRST,
							      .value = i}};

		ts_check_int(ts_tracks_slice(tracks, &slice), 0);
	}
	ts_check_int(ts_tracks_finish(tracks), 0);
	ts_tracks_free(tracks);
	ts_check_int(fclose(options.file), 0);
	ts_check_int(texts.n_made, N_LONG * LONG_BYTES);
	ts_check(texts.n_written > texts.n_made);
	ts_check(texts.most <= 16 * LONG_BYTES);
}
