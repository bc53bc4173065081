/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices, instants and counters on tracks, as Perfetto's packets (perfetto.proto). Slices come in the order of their start with
 * their end known; what is told of each is a begin and, when its time has come, an end.
 *
 * A track is one line of a timeline, and slices nest in it. Where two would cross, or where they must not nest, the later goes
 * to a further lane: a track of the same name and place. Each lane is a sequence of packets of its own, with texts and times
 * of its own, which makes packets small. Memory follows from the number of lanes and of different texts in each.
 * One thread.
 */
#pragma once

#include "sbt/buffer.h"
#include "tools/export/hashtable.h"

#include <stdio.h>

struct ts_tracks;

/* A text that is used often: what it is told apart by, and what it is when it is first met. */
enum ts_track_text_kind {
	TS_TRACK_TEXT_STATIC, /* value: a const char * that stays */
	TS_TRACK_TEXT_FIRST,  /* from here on the user's own */
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

/* Appends the text to *text, which may hold anything but controls. */
typedef int ts_track_text_fn(void *user, const struct ts_track_text *what, struct ts_buffer *text);

enum ts_track_arg_kind {
	TS_TRACK_ARG_UINT,
	TS_TRACK_ARG_INT,
	TS_TRACK_ARG_DOUBLE,
	TS_TRACK_ARG_POINTER,
	TS_TRACK_ARG_TEXT,
};

struct ts_track_arg {
	uint8_t name; /* of the list that the tracks were made with */
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
	bool flows_end; /* nothing of their numbers follows */
	uint8_t n_args, n_flows;
	uint64_t start_ns, end_ns;
	struct ts_track_text name;
	uint64_t flows[TS_TRACK_MAX_FLOWS];
	struct ts_track_arg args[TS_TRACK_MAX_ARGS];
};

struct ts_track_options {
	FILE *file; /* whose errors are the caller's to ask for */
	const char *const *arg_names;
	size_t n_arg_names; /* at most 64 */
	ts_track_text_fn *text;
	void *user;
	uint64_t origin_ns;   /* no slice starts before it */
	uint64_t realtime_ns; /* nanoseconds since 1970 at that instant; 0: not known */
};

int ts_tracks_new(const struct ts_track_options *options, struct ts_tracks **ret_tracks);
void ts_tracks_free(struct ts_tracks *tracks);

/* What a track is. */
enum ts_track_kind {
	TS_TRACK_PLAIN,
	TS_TRACK_PROCESS,
	TS_TRACK_THREAD,
	TS_TRACK_COUNTER,
};

struct ts_track {
	const char *name; /* NULL: of itself it has none */
	uint32_t kind;	  /* enum ts_track_kind */
	uint32_t parent;  /* counted from 1; 0: none */
	int32_t pid, tid;
	bool is_flat;  /* its slices do not nest */
	bool is_bytes; /* counter: else `unit` */
	const char *unit;
};

/* Makes a track; they are counted from 1. 0, -ENOMEM or -EOVERFLOW. */
int ts_tracks_add(struct ts_tracks *tracks, const struct ts_track *track, uint32_t *ret_track);

/* Starts no earlier than those before it. */
int ts_tracks_slice(struct ts_tracks *tracks, const struct ts_track_slice *slice);
int ts_tracks_count(struct ts_tracks *tracks, uint32_t track, uint64_t time_ns, int64_t value);
int ts_tracks_count_real(struct ts_tracks *tracks, uint32_t track, uint64_t time_ns, double value);

/* Ends what is open and writes what is left. */
int ts_tracks_finish(struct ts_tracks *tracks);

/* Slices of a track that would need more than TS_TRACKS_MAX_LANES lanes. */
#define TS_TRACKS_MAX_LANES 512u
uint64_t ts_tracks_n_left_out(const struct ts_tracks *tracks);
