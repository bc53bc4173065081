/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timeline lines in kineto's form: threads of processes, streams as threads of GPUs, and the open
 * slices of each line, so that slices of one line nest. A line's metadata (name, label, order)
 * precedes its first event. Not thread-safe. Functions return 0 or -ENOMEM.
 */
#pragma once

#include "tools/export/export.h"
#include "tools/export/hashtable.h"
#include "tools/export/kineto/kineto-events.h"

/*
 * Lanes of a stream: first those of operations, more than one if operations overlap; then those of
 * waits; then those of overlapping annotations.
 */
#define TS_LINES_LANES	     64u
#define TS_LINES_ANNOTATIONS (2 * TS_LINES_LANES)

enum ts_line_kind {
	TS_LINE_PROCESS = 1,
	TS_LINE_THREAD,	     /* a: thread number */
	TS_LINE_GPU,	     /* a: device */
	TS_LINE_STREAM,	     /* a: device, b: stream and lane */
	TS_LINE_CONTEXT,     /* a: context; place.tid: its device */
	TS_LINE_ANNOTATIONS, /* as TS_LINE_STREAM: open annotations; not in the output */
	/* a: device; place.pid: allocated bytes; place.tid: unallocated bytes in pools. */
	TS_LINE_MEMORY,
	/* a: device, b: pool; place.tid: unallocated bytes of the pool. */
	TS_LINE_POOL
};

/* A line of the timeline and its open slices. */
struct ts_line {
	uint64_t kind; /* enum ts_line_kind */
	uint64_t session;
	uint64_t a, b;
	/* end of key */
	struct ts_events_place place;
	uint64_t *ends; /* end times of open slices, innermost last */
	size_t n_ends, n_ends_allocated;
};

struct ts_lines {
	struct ts_hashtable lines; /* of struct ts_line */
	struct ts_events *events;
	struct ts_sbt_reader *reader;
	const struct ts_export_options *options;
};

void ts_lines_init(struct ts_lines *lines, struct ts_events *events, struct ts_sbt_reader *reader,
		   const struct ts_export_options *options);
void ts_lines_deinit(struct ts_lines *lines);

/*
 * Finds or adds the line with this key, without metadata. Adding a line moves the others.
 * `ret_is_new` may be NULL.
 */
int ts_lines_find(struct ts_lines *lines, const struct ts_line *key, struct ts_line **ret_line,
		  bool *ret_is_new);
int ts_lines_thread(struct ts_lines *lines, uint32_t session, uint32_t thread,
		    struct ts_line **ret_line);
int ts_lines_stream(struct ts_lines *lines, uint32_t session, uint32_t device, uint32_t stream,
		    unsigned int lane, struct ts_line **ret_line);
/* Tests whether the slice nests in the open slices. If it does, the slice becomes open, too. */
int ts_line_open(struct ts_line *line, uint64_t start_ns, uint64_t end_ns, bool may_nest,
		 bool *ret_fits);

/* Returns a string of the trace; NULL: none or empty. */
const char *ts_lines_string(const struct ts_lines *lines, uint32_t id);
/* Returns a session's number from 0. The session comes from the trace and may be invalid. */
static inline uint64_t ts_lines_session_index(uint32_t session)
{
	return session ? session - UINT64_C(1) : 0;
}
