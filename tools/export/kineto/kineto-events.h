/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes Chrome's trace events: a list of JSON objects, one a line, with numbers made by hand and room looked for once an event. An
 * event is begun, gets its arguments, and is ended; between the two each argument takes TS_EVENTS_ARGUMENT_BYTES at most but for texts,
 * and there are TS_EVENTS_MAX_ARGUMENTS at most. One thread. What fails is told by ts_events_flush().
 */
#pragma once

#include "proto/rpc/json.h"

#include <stdio.h>
#include <string.h>

#define TS_EVENTS_ARGUMENT_BYTES 128u
#define TS_EVENTS_MAX_ARGUMENTS	 32u

struct ts_events {
	FILE *file;
	char *at; /* where it goes on */
	char *data;
	struct ts_json odd; /* texts that are not plain, numbers that are not usual */
	bool has_event;
	int error;
};

/* 0 or -ENOMEM. */
int ts_events_init(struct ts_events *events, FILE *file);
void ts_events_deinit(struct ts_events *events);
/* Hands on what there is. 0 or -ENOMEM; errors of the file are its owner's to ask for. */
int ts_events_flush(struct ts_events *events);

/* Where an event is. */
struct ts_events_place {
	uint64_t pid, tid;
};

/* `{"ph": "X", ..., "args": {`: what lasts, or (`phase` "b") begins. Times are nanoseconds from the base. */
void ts_events_slice(struct ts_events *events, const char *category, const char *name,
		     struct ts_events_place place, uint64_t ts, uint64_t dur);
/* Any phase, without `dur`, arguments not begun. */
void ts_events_begin(struct ts_events *events, const char *phase, const char *category,
		     const char *name, struct ts_events_place place, uint64_t ts);
/* A flow `ac2g`; phase: 's' or 'f'. The whole of it. */
void ts_events_flow(struct ts_events *events, char phase, uint64_t id, struct ts_events_place place,
		    uint64_t ts);
/* A process's or thread's name, label or place in the order. The whole of it. */
void ts_events_metadata(struct ts_events *events, struct ts_events_place place, const char *what,
			const char *key, const char *text, uint64_t number);
void ts_events_end(struct ts_events *events);

/* A string in quotes, of whatever length. */
void ts_events_string(struct ts_events *events, const char *text);
/* Six digits behind the point at most, where it is not large. */
void ts_events_number(struct ts_events *events, double value);
/* All of its digits. */
void ts_events_double(struct ts_events *events, double value);

static inline void ts_events_copy(struct ts_events *events, const char *text, size_t n_bytes)
{
	memcpy(events->at, text, n_bytes);
	events->at += n_bytes;
}

/* Of a literal: its length is known where it is written. */
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

/* Microseconds with three digits. */
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

/* `"KEY": VALUE` with what stands before it, both literals. */
#define ts_events_put_uint(events, literal, value)     \
	do {                                           \
		ts_events_raw(events, literal "\": "); \
		ts_events_uint(events, value);         \
	} while (0)
