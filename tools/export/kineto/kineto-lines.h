/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where kineto's readers look for things: threads of processes, streams as threads of GPUs, and what is open on each, so that slices
 * of one thread nest. Each is introduced (name, label, order) before the first event on it. One thread; 0 or -ENOMEM.
 */
#pragma once

#include "tools/export/export.h"
#include "tools/export/hashtable.h"
#include "tools/export/kineto/kineto-events.h"

/* Lanes of a stream: its operations, from the second on where they overlap; those of waits; those where annotations cross. */
#define TS_LINES_LANES	     64u
#define TS_LINES_ANNOTATIONS (2 * TS_LINES_LANES)

enum ts_line_kind {
	TS_LINE_PROCESS = 1,
	TS_LINE_THREAD,	     /* a: its number */
	TS_LINE_GPU,	     /* a: device */
	TS_LINE_STREAM,	     /* a: device, b: stream and lane */
	TS_LINE_CONTEXT,     /* a: context; tid: its device */
	TS_LINE_ANNOTATIONS, /* as TS_LINE_STREAM: what is open there, told of nowhere */
	TS_LINE_MEMORY, /* a: device; pid: bytes that are allocated, tid: that pools hold beside them */
	TS_LINE_POOL /* a: device, b: pool; tid: bytes that it holds and that are not allocated */
};

/* A thread of the timeline; what was told of it, and what is open on it. */
struct ts_line {
	uint32_t kind; /* enum ts_line_kind */
	uint32_t session;
	uint64_t a, b;
	/* the key ends here */
	struct ts_events_place place;
	uint64_t *ends; /* the innermost last */
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

/* The line of that key, introduced or not. Lines move where there is a new one. `ret_is_new` may be NULL. */
int ts_lines_find(struct ts_lines *lines, const struct ts_line *key, struct ts_line **ret_line,
		  bool *ret_is_new);
int ts_lines_thread(struct ts_lines *lines, uint32_t session, uint32_t thread,
		    struct ts_line **ret_line);
int ts_lines_stream(struct ts_lines *lines, uint32_t session, uint32_t device, uint32_t stream,
		    unsigned int lane, struct ts_line **ret_line);
/* Whether the slice nests in what is open there; if so it is open, too. */
int ts_line_open(struct ts_line *line, uint64_t start_ns, uint64_t end_ns, bool may_nest,
		 bool *ret_fits);

/* A string of the trace that is not empty; NULL: none. */
const char *ts_lines_string(const struct ts_lines *lines, uint32_t id);
/* A session's number from 0, which may lie. */
static inline uint64_t ts_lines_session_index(uint32_t session)
{
	return session ? session - UINT64_C(1) : 0;
}
