/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers processes, threads, GPUs and streams as kineto does; kineto.c calls this file. A GPU is a
 * process whose pid is the device number; a stream is a thread whose tid is the stream number.
 * Further sessions and lanes have numbers above all streams.
 */
#include "tools/export/kineto/kineto-lines.h"

#include <inttypes.h>

#include "proto/abi/grow.h"
#include "tools/export/export-frames.h"

/*
 * Readers of kineto's files expect this number, so that the processes of GPUs come last, in device
 * order.
 */
#define GPU_SORT_INDEX 5000000u
/* Tids of further sessions and further lanes of a stream lie above all streams. */
#define SESSION_TIDS  10000000u
#define LANE_TIDS     10000u
#define NO_STREAM_TID 9999u
#define MAX_DEPTH     200u

void ts_lines_init(struct ts_lines *lines, struct ts_events *events, struct ts_sbt_reader *reader,
		   const struct ts_export_options *options)
{
	*lines = (struct ts_lines){.events = events, .reader = reader, .options = options};
	ts_hashtable_init(&lines->lines, sizeof(struct ts_line), offsetof(struct ts_line, place));
}

void ts_lines_deinit(struct ts_lines *lines)
{
	for (uint32_t i = 0; i < lines->lines.n; i++)
		free(((struct ts_line *)ts_hashtable_at(&lines->lines, i))->ends);
	ts_hashtable_deinit(&lines->lines);
}

int ts_lines_find(struct ts_lines *lines, const struct ts_line *key, struct ts_line **ret_line,
		  bool *ret_is_new)
{
	uint32_t i;
	int r = ts_hashtable_recall(&lines->lines, key, offsetof(struct ts_line, place), &i,
				    ret_is_new);

	if (!r)
		*ret_line = ts_hashtable_at(&lines->lines, i);
	return r;
}

const char *ts_lines_string(const struct ts_lines *lines, uint32_t id)
{
	const char *text = id ? ts_sbt_reader_string(lines->reader, id, NULL) : NULL;

	return text && *text ? text : NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *program_of(const struct ts_lines *lines, uint32_t session)
{
	const struct ts_row_session *row = ts_sbt_reader_session(lines->reader, session);
	const char *program = row ? ts_lines_string(lines, row->program) : NULL;

	return program ? base_name(program) : "process";
}

/* Adds a process of the timeline, which is a real process or a GPU, with its metadata. */
static int introduce(struct ts_lines *lines, enum ts_line_kind kind, uint32_t session, uint64_t a,
		     uint64_t pid, const char *label, uint64_t sort_index)
{
	struct ts_line key = {.kind = kind, .session = kind == TS_LINE_GPU ? 0 : session, .a = a},
		       *line;
	const char *program = program_of(lines, session);
	bool is_new;
	int r = ts_lines_find(lines, &key, &line, &is_new);

	if (r || !is_new)
		return r;
	line->place.pid = pid;
	ts_events_metadata(lines->events, line->place, "process_name", "name", program, 0);
	ts_events_metadata(lines->events, line->place, "process_labels", "labels", label, 0);
	ts_events_metadata(lines->events, line->place, "process_sort_index", "sort_index", NULL,
			   sort_index);
	return 0;
}

int ts_lines_thread(struct ts_lines *lines, uint32_t session, uint32_t thread,
		    struct ts_line **ret_line)
{
	struct ts_line key = {.kind = TS_LINE_THREAD, .session = session, .a = thread};
	const struct ts_row_session *process;
	const struct ts_row_thread *row;
	const char *name;
	char text[32];
	bool is_new;
	int r = ts_lines_find(lines, &key, ret_line, &is_new);

	if (r || !is_new)
		return r;
	process = ts_sbt_reader_session(lines->reader, session);
	row = thread ? ts_sbt_reader_thread(lines->reader, session, thread) : NULL;
	key.place.pid = process ? process->pid : 0;
	key.place.tid = row ? row->tid : 0;
	r = introduce(lines, TS_LINE_PROCESS, session, 0, key.place.pid, "CPU", key.place.pid);
	if (!r)
		r = ts_lines_find(lines, &key, ret_line, &is_new);
	if (r)
		return r;
	(*ret_line)->place.pid = key.place.pid;
	(*ret_line)->place.tid = key.place.tid;
	name = row ? lines->options->names->thread(lines->options->user, session, row) : NULL;
	snprintf(text, sizeof(text), "thread %" PRIu64, key.place.tid);
	ts_events_metadata(lines->events, (*ret_line)->place, "thread_name", "name",
			   name ? name : text, 0);
	ts_events_metadata(lines->events, (*ret_line)->place, "thread_sort_index", "sort_index",
			   NULL, key.place.tid);
	return 0;
}

int ts_lines_stream(struct ts_lines *lines, uint32_t session, uint32_t device, uint32_t stream,
		    unsigned int lane, struct ts_line **ret_line)
{
	struct ts_line key = {.kind = TS_LINE_STREAM,
			      .session = session,
			      .a = device,
			      .b = (uint64_t)lane << 32 | stream};
	char text[TS_FRAME_NAME_BYTES], gpu[32];
	bool is_new;
	int n;
	int r = ts_lines_find(lines, &key, ret_line, &is_new);

	if (r || !is_new)
		return r;
	snprintf(gpu, sizeof(gpu), "GPU %" PRIu32, device);
	r = introduce(lines, TS_LINE_GPU, session, device, device, gpu, GPU_SORT_INDEX + device);
	if (!r)
		r = ts_lines_find(lines, &key, ret_line, &is_new);
	if (r)
		return r;
	(*ret_line)->place.pid = device;
	(*ret_line)->place.tid = (stream == TS_NO_DEVICE ? NO_STREAM_TID : stream) +
				 ts_lines_session_index(session) * SESSION_TIDS +
				 (uint64_t)lane * LANE_TIDS;
	if (stream == TS_NO_DEVICE)
		n = snprintf(text, sizeof(text), "all streams ");
	else
		n = snprintf(text, sizeof(text), "stream %" PRIu32 " ", stream);
	if (lane >= TS_LINES_LANES)
		n += snprintf(text + n, sizeof(text) - (size_t)n,
			      lane < TS_LINES_ANNOTATIONS ? "waits " : "annotations ");
	if (ts_lines_session_index(session))
		snprintf(text + n, sizeof(text) - (size_t)n, "of %.200s",
			 program_of(lines, session));
	ts_events_metadata(lines->events, (*ret_line)->place, "thread_name", "name", text, 0);
	ts_events_metadata(lines->events, (*ret_line)->place, "thread_sort_index", "sort_index",
			   NULL, (*ret_line)->place.tid);
	return 0;
}

int ts_line_open(struct ts_line *line, uint64_t start_ns, uint64_t end_ns, bool may_nest,
		 bool *ret_fits)
{
	while (line->n_ends && line->ends[line->n_ends - 1] <= start_ns)
		line->n_ends--;
	*ret_fits = !line->n_ends || (may_nest && line->n_ends < MAX_DEPTH &&
				      line->ends[line->n_ends - 1] >= end_ns);
	if (!*ret_fits)
		return 0;
	if (TS_GROW(line->ends, line->n_ends_allocated, line->n_ends + 1))
		return -ENOMEM;
	line->ends[line->n_ends++] = end_ns;
	return 0;
}
