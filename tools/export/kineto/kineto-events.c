/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON events; kineto.c and kineto-lines.c call this file. A JSON trace is mostly numbers
 * and a few repeated words, so words are copied and numbers printed digit by digit into one large
 * buffer. Texts that need escapes go through proto/rpc/json.h.
 */
#include "tools/export/kineto/kineto-events.h"

#include <errno.h>
#include <stdlib.h>

#define FLUSH_BYTES (256u * 1024)
#define EVENT_BYTES (2u * TS_EVENTS_MAX_ARGUMENTS * TS_EVENTS_ARGUMENT_BYTES)
#define TEXT_BYTES  (64u * 1024) /* longer texts go directly to the file */
/* Room for the unflushed data, one event, and its texts. */
#define BUFFER_BYTES (FLUSH_BYTES + EVENT_BYTES + 4u * TEXT_BYTES)

int ts_events_init(struct ts_events *events, FILE *file)
{
	*events = (struct ts_events){.file = file, .data = malloc(BUFFER_BYTES)};
	events->at = events->data;
	return events->data ? 0 : -ENOMEM;
}

void ts_events_deinit(struct ts_events *events)
{
	free(events->data);
	ts_json_deinit(&events->odd);
}

int ts_events_flush(struct ts_events *events)
{
	fwrite(events->data, 1, (size_t)(events->at - events->data), events->file);
	events->at = events->data;
	return events->error;
}

/* Returns whether a text is plain and short, as nearly all texts are, and its length. */
static bool is_plain(const char *text, size_t *ret_n)
{
	size_t n = strlen(text);
	unsigned int odd = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		odd |= (c < 0x20) | (c > 0x7e) | (c == '"') | (c == '\\');
	}
	*ret_n = n;
	return !odd && n < TEXT_BYTES;
}

static void put_odd(struct ts_events *events)
{
	if (events->odd.error)
		events->error = events->odd.error;
	else if (events->odd.n_bytes < TEXT_BYTES)
		ts_events_copy(events, events->odd.data, events->odd.n_bytes);
	else {
		ts_events_flush(events);
		fwrite(events->odd.data, 1, events->odd.n_bytes, events->file);
	}
	ts_json_clear(&events->odd);
}

void ts_events_string(struct ts_events *events, const char *text)
{
	size_t n;

	/* If one event has several long texts, flush the data before this text. */
	if ((size_t)(events->at - events->data) > FLUSH_BYTES + EVENT_BYTES)
		ts_events_flush(events);
	if (!is_plain(text, &n)) {
		ts_json_string(&events->odd, text);
		put_odd(events);
		return;
	}
	*events->at++ = '"';
	ts_events_copy(events, text, n);
	*events->at++ = '"';
}

void ts_events_double(struct ts_events *events, double value)
{
	ts_json_double(&events->odd, value);
	put_odd(events);
}

void ts_events_number(struct ts_events *events, double value)
{
	uint64_t millionths, rest;
	char digits[6];
	size_t n = 0;

	if (!(value >= 0 && value < 1e12)) {
		ts_events_double(events, value);
		return;
	}
	millionths = (uint64_t)(value * 1e6 + 0.5);
	rest = millionths % 1000000;
	ts_events_uint(events, millionths / 1000000);
	*events->at++ = '.';
	do {
		digits[n++] = (char)('0' + rest / 100000);
		rest = rest % 100000 * 10;
	} while (rest);
	ts_events_copy(events, digits, n);
}

static void put_place(struct ts_events *events, struct ts_events_place place, uint64_t ts)
{
	ts_events_put_uint(events, ", \"pid", place.pid);
	ts_events_put_uint(events, ", \"tid", place.tid);
	ts_events_raw(events, ", \"ts\": ");
	ts_events_time(events, ts);
}

static void begin(struct ts_events *events)
{
	if ((size_t)(events->at - events->data) > FLUSH_BYTES)
		ts_events_flush(events);
	if (events->has_event)
		*events->at++ = ',';
	events->has_event = true;
	ts_events_raw(events, "\n{\"ph\": \"");
}

void ts_events_begin(struct ts_events *events, const char *phase, const char *category,
		     const char *name, struct ts_events_place place, uint64_t ts)
{
	begin(events);
	ts_events_copy(events, phase, strlen(phase));
	ts_events_raw(events, "\", \"cat\": \"");
	ts_events_copy(events, category, strlen(category));
	ts_events_raw(events, "\", \"name\": ");
	ts_events_string(events, name);
	put_place(events, place, ts);
}

void ts_events_slice(struct ts_events *events, const char *category, const char *name,
		     struct ts_events_place place, uint64_t ts, uint64_t dur)
{
	ts_events_begin(events, "X", category, name, place, ts);
	ts_events_raw(events, ", \"dur\": ");
	ts_events_time(events, dur);
	ts_events_raw(events, ", \"args\": {");
}

void ts_events_flow(struct ts_events *events, char phase, uint64_t id, struct ts_events_place place,
		    uint64_t ts)
{
	begin(events);
	*events->at++ = phase;
	ts_events_put_uint(events, "\", \"id", id);
	put_place(events, place, ts);
	ts_events_raw(events, ", \"cat\": \"ac2g\", \"name\": \"ac2g\"");
	if (phase == 'f')
		ts_events_raw(events, ", \"bp\": \"e\"");
	ts_events_end(events);
}

void ts_events_metadata(struct ts_events *events, struct ts_events_place place, const char *what,
			const char *key, const char *text, uint64_t number)
{
	begin(events);
	ts_events_raw(events, "M\", \"name\": \"");
	ts_events_copy(events, what, strlen(what));
	*events->at++ = '"';
	put_place(events, place, 0);
	ts_events_raw(events, ", \"args\": {\"");
	ts_events_copy(events, key, strlen(key));
	ts_events_raw(events, "\": ");
	if (text)
		ts_events_string(events, text);
	else
		ts_events_uint(events, number);
	ts_events_raw(events, "}");
	ts_events_end(events);
}

void ts_events_end(struct ts_events *events)
{
	*events->at++ = '}';
}
