/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the tracks of processes, threads, devices and streams at their first event. perfetto.c and
 * perfetto-sums.c call this file; this file calls tracks.c.
 */
#include "tools/export/perfetto/perfetto.h"

#include <inttypes.h>

#define NAME_BYTES 512u

static const char *string(const struct ts_perfetto *perfetto, uint32_t id)
{
	const char *text = id ? ts_sbt_reader_string(perfetto->reader, id, NULL) : NULL;

	return text && *text ? text : NULL;
}

static struct ts_place_key *place_at(const struct ts_perfetto *perfetto, uint32_t place)
{
	return ts_hashtable_at(&perfetto->places, place);
}

/*
 * Finds the place, or adds it. If the place is new, *ret_track is 0, and the caller sets it with
 * set_place().
 */
static int find_place(struct ts_perfetto *perfetto, const struct ts_place_key *key,
		      uint32_t *ret_place, uint32_t *ret_track)
{
	int r = ts_hashtable_recall(&perfetto->places, key, offsetof(struct ts_place_key, track),
				    ret_place, NULL);

	if (!r)
		*ret_track = place_at(perfetto, *ret_place)->track;
	return r;
}

static void set_place(struct ts_perfetto *perfetto, uint32_t place, uint32_t track)
{
	place_at(perfetto, place)->track = track;
}

/* Adds a track. Its name is the application's, so only UTF-8 without control characters is kept. */
static int add_track(struct ts_perfetto *perfetto, struct ts_track *track, uint32_t place,
		     uint32_t *ret_track)
{
	struct ts_texts *texts = &perfetto->frames.texts;
	ts_cleanup(ts_freep) char *name = NULL;
	uint32_t id;
	size_t n;
	int r = ts_texts_add(texts, track->name, &id);

	if (!r) {
		const char *clean = ts_texts_at(texts, id, &n);

		name = malloc(n + 1);
		if (!name)
			return -ENOMEM;
		memcpy(name, clean, n);
		name[n] = '\0';
		track->name = name;
		r = ts_tracks_add(perfetto->tracks, track, ret_track);
	}
	if (!r)
		set_place(perfetto, place, *ret_track);
	return r;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* ---- processes and threads ------------------------------------------------------------------- */

/*
 * Returns whether readers accept the number as a process of the machine. A process with any other
 * number becomes a plain track.
 */
static bool is_pid(uint64_t pid)
{
	return pid && pid <= INT32_MAX;
}

static int process_by_pid(struct ts_perfetto *perfetto, uint32_t pid, const char *name,
			  uint32_t *ret_track)
{
	struct ts_place_key key = {.place = TS_PLACE_PROCESS, .a = pid};
	struct ts_track track = {.name = name, .kind = TS_TRACK_PROCESS, .pid = (int32_t)pid};
	uint32_t place;
	int r = find_place(perfetto, &key, &place, ret_track);

	return r || *ret_track ? r : add_track(perfetto, &track, place, ret_track);
}

int ts_place_process(struct ts_perfetto *perfetto, uint32_t session, uint32_t *ret_track)
{
	struct ts_place_key key = {.place = TS_PLACE_PROCESS_OF, .session = session};
	const struct ts_row_session *row = ts_sbt_reader_session(perfetto->reader, session);
	const char *program = row ? string(perfetto, row->program) : NULL;
	char name[NAME_BYTES];
	struct ts_track track = {.name = name};
	uint32_t place;
	int r = find_place(perfetto, &key, &place, ret_track);

	if (r || *ret_track)
		return r;
	if (row && is_pid(row->pid)) {
		r = process_by_pid(perfetto, row->pid, program ? base_name(program) : NULL,
				   ret_track);
		if (!r)
			set_place(perfetto, place, *ret_track);
		return r;
	}
	snprintf(name, sizeof(name), "session %" PRIu32, session);
	return add_track(perfetto, &track, place, ret_track);
}

static const char *thread_name(const struct ts_perfetto *perfetto, uint32_t session,
			       const struct ts_row_thread *thread)
{
	const struct ts_export_options *options = perfetto->options;

	return options->names->thread(options->user, session, thread);
}

int ts_place_part(struct ts_perfetto *perfetto, enum ts_place_kind part, uint32_t of,
		  const char *name, uint32_t *ret_track)
{
	struct ts_place_key key = {.place = part, .a = of};
	struct ts_track track = {.name = name, .parent = of, .is_flat = part == TS_PLACE_LOSSES};
	uint32_t place;
	int r = find_place(perfetto, &key, &place, ret_track);

	return r || *ret_track ? r : add_track(perfetto, &track, place, ret_track);
}

int ts_place_thread(struct ts_perfetto *perfetto, uint32_t session, uint32_t thread, uint32_t pid,
		    uint32_t *ret_track)
{
	struct ts_place_key key = {.place = TS_PLACE_THREAD_OF,
				   .session = session,
				   .a = thread,
				   .b = pid},
			    system = {.place = TS_PLACE_THREAD};
	struct ts_track track = {.kind = TS_TRACK_THREAD};
	const struct ts_row_session *process;
	const struct ts_row_thread *row;
	uint32_t place, system_place, parent;
	int r = find_place(perfetto, &key, &place, ret_track);

	if (r || *ret_track)
		return r;
	process = ts_sbt_reader_session(perfetto->reader, session);
	row = thread ? ts_sbt_reader_thread(perfetto->reader, session, thread) : NULL;
	if (pid && is_pid(pid))
		r = process_by_pid(perfetto, pid, NULL, &parent);
	else
		r = ts_place_process(perfetto, session, &parent);
	system.a = is_pid(pid) ? pid : process ? process->pid : 0;
	system.b = row ? row->tid : 0;
	if (!r && (!is_pid(system.a) || !is_pid(system.b)))
		r = ts_place_part(perfetto, TS_PLACE_UNKNOWN_THREAD, parent, "unknown threads",
				  ret_track);
	else if (!r)
		r = find_place(perfetto, &system, &system_place, ret_track);
	if (!r && !*ret_track) {
		track.pid = (int32_t)system.a;
		track.tid = (int32_t)system.b;
		track.name = thread_name(perfetto, session, row);
		r = add_track(perfetto, &track, system_place, ret_track);
	}
	if (!r)
		set_place(perfetto, place, *ret_track);
	return r;
}

/* ---- devices --------------------------------------------------------------------------------- */

/* Finds a device by its UUID, because all sessions that use the device share its track. */
static int device_by_uuid(struct ts_perfetto *perfetto, const struct ts_row_device *row,
			  const struct ts_track *track, uint32_t *ret_track)
{
	struct ts_place_key key = {.place = TS_PLACE_DEVICE};
	struct ts_track copy = *track;
	uint32_t place;
	int r;

	memcpy(&key.a, row->uuid, sizeof(key.a));
	memcpy(&key.b, row->uuid + sizeof(key.a), sizeof(key.b));
	r = find_place(perfetto, &key, &place, ret_track);
	return r || *ret_track ? r : add_track(perfetto, &copy, place, ret_track);
}

int ts_place_device(struct ts_perfetto *perfetto, uint32_t session, uint32_t device,
		    uint32_t *ret_track)
{
	static const uint8_t none[sizeof(((struct ts_row_device *)NULL)->uuid)];
	struct ts_place_key key = {.place = TS_PLACE_DEVICE_OF, .session = session, .a = device};
	const struct ts_row_device *row;
	const char *model;
	char name[NAME_BYTES];
	struct ts_track track = {.name = name, .is_flat = true};
	uint32_t place;
	int r = find_place(perfetto, &key, &place, ret_track);

	if (r || *ret_track)
		return r;
	row = ts_sbt_reader_device(perfetto->reader, session, device);
	model = row ? string(perfetto, row->name) : NULL;
	if (device == TS_NO_DEVICE)
		snprintf(name, sizeof(name), "GPU, unknown which");
	else
		snprintf(name, sizeof(name), "GPU %" PRIu32 "%s%.256s", device, model ? ": " : "",
			 model ? model : "");
	if (!row || !memcmp(row->uuid, none, sizeof(none)))
		return add_track(perfetto, &track, place, ret_track);
	r = device_by_uuid(perfetto, row, &track, ret_track);
	if (!r)
		set_place(perfetto, place, *ret_track);
	return r;
}

static void name_stream(struct ts_perfetto *perfetto, const struct ts_sbt_row *row,
			uint32_t context, uint32_t stream, char name[NAME_BYTES])
{
	const struct ts_export_options *options = perfetto->options;
	const char *stream_name = options->names->stream(options->user, row);
	char process[TS_FRAME_NAME_BYTES] = "";
	int n;

	if (stream == TS_NO_DEVICE)
		n = snprintf(name, NAME_BYTES, "stream unknown");
	else
		n = snprintf(name, NAME_BYTES, "stream %" PRIu32, stream);
	if (stream_name)
		n += snprintf(name + n, NAME_BYTES - (size_t)n, " \"%.100s\"", stream_name);
	if (context != TS_NO_DEVICE)
		n += snprintf(name + n, NAME_BYTES - (size_t)n, " of context %" PRIu32, context);
	if (perfetto->n_sessions < 2)
		return;
	ts_frames_process(&perfetto->frames, &(struct ts_site){.session = row->session}, process);
	snprintf(name + n, NAME_BYTES - (size_t)n, ", %.200s", process);
}

int ts_place_stream(struct ts_perfetto *perfetto, const struct ts_sbt_row *row, uint32_t device,
		    uint32_t context, uint32_t stream, uint32_t *ret_track, uint32_t *ret_device)
{
	struct ts_place_key key = {.place = TS_PLACE_STREAM,
				   .session = row->session,
				   .a = device,
				   .b = (uint64_t)context << 32 | stream};
	char name[NAME_BYTES];
	struct ts_track track = {.name = name, .is_flat = true};
	uint32_t place;
	int r = find_place(perfetto, &key, &place, ret_track);

	if (!r && *ret_track)
		*ret_device = place_at(perfetto, place)->device;
	if (r || *ret_track)
		return r;
	r = ts_place_device(perfetto, row->session, device, &track.parent);
	if (r)
		return r;
	name_stream(perfetto, row, context, stream, name);
	place_at(perfetto, place)->device = *ret_device = track.parent;
	return add_track(perfetto, &track, place, ret_track);
}

/* ---- of the whole trace, and the application's counters -------------------------------------- */

int ts_place_losses(struct ts_perfetto *perfetto, uint32_t *ret_track)
{
	return ts_place_part(perfetto, TS_PLACE_LOSSES, 0, "lost records", ret_track);
}

int ts_place_counter(struct ts_perfetto *perfetto, uint32_t session, uint32_t name, uint32_t domain,
		     uint32_t *ret_track)
{
	struct ts_place_key key = {.place = TS_PLACE_COUNTER,
				   .session = session,
				   .a = name,
				   .b = domain};
	const char *text = string(perfetto, name), *of = string(perfetto, domain);
	char shown[NAME_BYTES];
	struct ts_track track = {.name = shown, .kind = TS_TRACK_COUNTER};
	uint32_t place;
	int r = find_place(perfetto, &key, &place, ret_track);

	if (r || *ret_track)
		return r;
	snprintf(shown, sizeof(shown), "%.200s%s%.200s", of ? of : "", of ? ": " : "",
		 text ? text : "counter");
	r = ts_place_process(perfetto, session, &track.parent);
	return r ? r : add_track(perfetto, &track, place, ret_track);
}
