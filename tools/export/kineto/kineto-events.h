/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Chrome's trace events: a list of JSON objects, one per line. Numbers are printed by hand,
 * and room is checked once per event. The caller begins an event, adds its arguments, and ends it.
 * Each argument, except texts, takes at most TS_EVENTS_ARGUMENT_BYTES, and an event has at most
 * TS_EVENTS_MAX_ARGUMENTS. Not thread-safe. ts_events_close() returns earlier errors.
 */
#pragma once

#include "proto/rpc/json.h"

#include <string.h>

#define TS_EVENTS_ARGUMENT_BYTES 128u
#define TS_EVENTS_MAX_ARGUMENTS	 32u
#define TS_EVENTS_LONG_BYTES	 (16 * 1024)

struct ts_events {
	struct ts_json *text; /* of the caller; its memory grows */
	char *at;	      /* next byte to write */
	char *full;	      /* from here on, an event needs more room */
	struct ts_json odd;   /* texts with escapes, unusual numbers */
	bool has_event;
	int error;
};

/*
 * Appends to `text` from now on. The caller zeroes `events` before the first call. Returns 0 or
 * -ENOMEM.
 */
int ts_events_open(struct ts_events *events, struct ts_json *text);
/* Completes the text. Returns 0 or -ENOMEM. */
int ts_events_close(struct ts_events *events);
void ts_events_deinit(struct ts_events *events);

/* Returns true if the text is long enough to be passed on. */
static inline bool ts_events_is_long(const struct ts_events *events)
{
	return events->at - events->text->data > TS_EVENTS_LONG_BYTES;
}

/* Process and thread of an event. */
struct ts_events_place {
	uint64_t pid, tid;
};

/*
 * Begins `{"ph": "X", ..., "args": {`: an event with a duration. Times are nanoseconds from the
 * base.
 */
void ts_events_slice(struct ts_events *events, const char *category, const char *name,
		     struct ts_events_place place, uint64_t ts, uint64_t dur);
/* Begins an event of any phase, without `dur` and without `args`. */
void ts_events_begin(struct ts_events *events, const char *phase, const char *category,
		     const char *name, struct ts_events_place place, uint64_t ts);
/* Writes a whole flow event `ac2g`; phase: 's' or 'f'. */
void ts_events_flow(struct ts_events *events, char phase, uint64_t id, struct ts_events_place place,
		    uint64_t ts);
/* Writes a whole metadata event: name, label or sort index of a process or thread. */
void ts_events_metadata(struct ts_events *events, struct ts_events_place place, const char *what,
			const char *key, const char *text, uint64_t number);
void ts_events_end(struct ts_events *events);

/* Appends bytes as they are, of any length. */
void ts_events_text(struct ts_events *events, const char *text, size_t n_bytes);
/* Appends a string in quotes, of any length. */
void ts_events_string(struct ts_events *events, const char *text);
/* Appends a number with at most six decimals, unless it is large. */
void ts_events_number(struct ts_events *events, double value);
/* Appends a number with all its digits. */
void ts_events_double(struct ts_events *events, double value);

static inline void ts_events_copy(struct ts_events *events, const char *text, size_t n_bytes)
{
	memcpy(events->at, text, n_bytes);
	events->at += n_bytes;
}

/* Appends a literal, whose length is known at compile time. */
#define ts_events_raw(events, literal) ts_events_copy(events, "" literal, sizeof(literal) - 1)

static inline void ts_events_uint(struct ts_events *events, uint64_t value)
{
	char digits[20], *p = digits + sizeof(digits);

	do
		*--p = (char)('0' + value % 10);
	while (value /= 10);
	ts_events_copy(events, p, (size_t)(digits + sizeof(digits) - p));
}

static inline void ts_events_int(struct ts_events *events, int64_t value)
{
	if (value < 0)
		*events->at++ = '-';
	ts_events_uint(events, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Appends microseconds with three decimals. */
static inline void ts_events_time(struct ts_events *events, uint64_t ns)
{
	unsigned int rest = (unsigned int)(ns % 1000);

	ts_events_uint(events, ns / 1000);
	events->at[0] = '.';
	events->at[1] = (char)('0' + rest / 100);
	events->at[2] = (char)('0' + rest / 10 % 10);
	events->at[3] = (char)('0' + rest % 10);
	events->at += 4;
}

/* Appends `"KEY": VALUE`; the literal contains the text before the closing quote of the key. */
#define ts_events_put_uint(events, literal, value)     \
	do {                                           \
		ts_events_raw(events, literal "\": "); \
		ts_events_uint(events, value);         \
	} while (0)
