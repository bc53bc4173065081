/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices, instants and counters on tracks, as Perfetto's packets (perfetto.proto). The caller adds
 * slices in the order of their start, with known ends. For each slice, a begin packet is written
 * and, at its end time, an end packet.
 *
 * A track is one line of a timeline, and its slices nest. If two slices would cross, or must not
 * nest, the later slice goes to a further lane: a track of the same name and place. Each lane is
 * its own sequence of packets, with its own texts and times, which makes packets small. Memory
 * depends on the number of lanes and of distinct texts in each. Not thread-safe.
 */
#pragma once

#include "sbt/buffer.h"
#include "tools/export/hashtable.h"

#include <stdio.h>

struct ts_tracks;

/* A frequent text: a key, and a way to make the text at its first use. */
enum ts_track_text_kind {
	TS_TRACK_TEXT_STATIC, /* value: a const char * that stays valid */
	TS_TRACK_TEXT_FIRST,  /* first of the values that the user of this module defines */
};

struct ts_track_text {
	uint32_t kind; /* enum ts_track_text_kind, or the user's */
	uint32_t of;
	uint64_t value;
};

static inline struct ts_track_text ts_track_static(const char *text)
{
	return (struct ts_track_text){.value = (uintptr_t)text};
}

/*
 * Appends the text to *text, which may contain anything except control characters. time_ns is the
 * start of a slice that uses the text. Called by the thread that adds slices, in the call
 * that adds the slice or in any later one.
 */
typedef int ts_track_text_fn(void *user, const struct ts_track_text *what, uint64_t time_ns,
			     struct ts_buffer *text);

enum ts_track_arg_kind {
	TS_TRACK_ARG_UINT,
	TS_TRACK_ARG_INT,
	TS_TRACK_ARG_DOUBLE,
	TS_TRACK_ARG_POINTER,
	TS_TRACK_ARG_TEXT,
};

struct ts_track_arg {
	uint8_t name; /* index in ts_track_options.arg_names */
	uint8_t kind; /* enum ts_track_arg_kind */
	union {
		uint64_t number;
		double real;
		struct ts_track_text text;
	};
};

#define TS_TRACK_MAX_ARGS  8u
#define TS_TRACK_MAX_FLOWS 2u

struct ts_track_slice {
	uint32_t track;
	bool is_instant;
	bool flows_end; /* the flow numbers end with this slice */
	uint8_t n_args, n_flows;
	uint64_t start_ns, end_ns;
	struct ts_track_text name;
	uint64_t flows[TS_TRACK_MAX_FLOWS];
	struct ts_track_arg args[TS_TRACK_MAX_ARGS];
};

/*
 * Copies the slice with its used arguments. Most slices have at most two: for a copy of any length,
 * compilers use an instruction that starts slowly.
 */
static inline void ts_track_slice_copy(struct ts_track_slice *to, const struct ts_track_slice *from)
{
	memcpy(to, from, offsetof(struct ts_track_slice, args));
	if (from->n_args > 0)
		to->args[0] = from->args[0];
	if (from->n_args > 1)
		to->args[1] = from->args[1];
	if (from->n_args > 2)
		memcpy(&to->args[2], &from->args[2], (from->n_args - 2u) * sizeof(from->args[0]));
}

/* Readers store times as signed numbers. */
#define TS_TRACKS_MAX_NS ((uint64_t)INT64_MAX)

struct ts_track_options {
	FILE *file; /* the caller checks its errors */
	const char *const *arg_names;
	size_t n_arg_names; /* at most 64 */
	ts_track_text_fn *text;
	void *user;
	uint64_t origin_ns;   /* no slice starts before it */
	uint64_t realtime_ns; /* realtime at origin_ns, ns since 1970; 0: unknown */
};

int ts_tracks_new(const struct ts_track_options *options, struct ts_tracks **ret_tracks);
void ts_tracks_free(struct ts_tracks *tracks);

/* Kind of a track. */
enum ts_track_kind {
	TS_TRACK_PLAIN,
	TS_TRACK_PROCESS,
	TS_TRACK_THREAD,
	TS_TRACK_COUNTER,
};

struct ts_track {
	const char *name; /* NULL: no own name */
	uint32_t kind;	  /* enum ts_track_kind */
	uint32_t parent;  /* track number from 1; 0: none */
	int32_t pid, tid;
	bool is_flat;  /* its slices do not nest */
	bool is_bytes; /* counter: else `unit` */
	const char *unit;
};

/* Adds a track, numbered from 1. Returns 0, -ENOMEM or -EOVERFLOW. */
int ts_tracks_add(struct ts_tracks *tracks, const struct ts_track *track, uint32_t *ret_track);

/*
 * Adds a slice. start_ns must not be less than that of earlier slices, and end_ns not above
 * TS_TRACKS_MAX_NS.
 */
int ts_tracks_slice(struct ts_tracks *tracks, const struct ts_track_slice *slice);
/* Adds a value of a counter. A time above TS_TRACKS_MAX_NS counts as that time. */
int ts_tracks_count(struct ts_tracks *tracks, uint32_t track, uint64_t time_ns, int64_t value);
int ts_tracks_count_real(struct ts_tracks *tracks, uint32_t track, uint64_t time_ns, double value);

/* Ends all open slices and writes the rest. */
int ts_tracks_finish(struct ts_tracks *tracks);

/* A slice is left out if its track would need more than TS_TRACKS_MAX_LANES lanes. */
#define TS_TRACKS_MAX_LANES 512u
uint64_t ts_tracks_n_left_out(const struct ts_tracks *tracks);
