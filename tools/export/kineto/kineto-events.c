/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON events; kineto.c, kineto-lines.c and kineto-slices.c call this file. A JSON trace is
 * mostly numbers and a few repeated words, so words are copied and numbers printed digit by digit
 * into one large buffer. Texts that need escapes go through proto/rpc/json.h.
 */
#include "tools/export/kineto/kineto-events.h"

#include "proto/abi/grow.h"

#define EVENT_BYTES (2u * TS_EVENTS_MAX_ARGUMENTS * TS_EVENTS_ARGUMENT_BYTES)
#define FIRST_BYTES (16u * EVENT_BYTES)

/*
 * Makes room for a text of n_bytes and for one event without its texts. Without memory, the text
 * begins again: it is not used, because of the error.
 */
static void make_room(struct ts_events *events, size_t n_bytes)
{
	struct ts_json *text = events->text;
	size_t n_wanted;

	text->n_bytes = (size_t)(events->at - text->data);
	if (__builtin_add_overflow(text->n_bytes + EVENT_BYTES, n_bytes, &n_wanted) ||
	    ts_grow(&text->data, &text->n_allocated, n_wanted, 1)) {
		events->error = -ENOMEM;
		text->n_bytes = 0;
	}
	events->at = text->data + text->n_bytes;
	events->full = text->data + text->n_allocated - EVENT_BYTES;
}

int ts_events_open(struct ts_events *events, struct ts_json *text)
{
	if (ts_grow(&text->data, &text->n_allocated, FIRST_BYTES, 1))
		return -ENOMEM;
	events->text = text;
	events->at = text->data + text->n_bytes;
	make_room(events, 0);
	return events->error;
}

int ts_events_close(struct ts_events *events)
{
	events->text->n_bytes = (size_t)(events->at - events->text->data);
	return events->error;
}

void ts_events_deinit(struct ts_events *events)
{
	ts_json_deinit(&events->odd);
}

/* Returns whether a text is plain, as nearly all texts are, and its length. */
static bool is_plain(const char *text, size_t *ret_n)
{
	size_t n = strlen(text);
	unsigned int odd = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)text[i];

		odd |= (c < 0x20) | (c > 0x7e) | (c == '"') | (c == '\\');
	}
	*ret_n = n;
	return !odd;
}

void ts_events_text(struct ts_events *events, const char *text, size_t n_bytes)
{
	if (n_bytes > (size_t)(events->full - events->text->data) ||
	    events->at > events->full - n_bytes)
		make_room(events, n_bytes);
	if (!events->error)
		ts_events_copy(events, text, n_bytes);
}

static void put_odd(struct ts_events *events)
{
	if (events->odd.error)
		events->error = events->odd.error;
	else
		ts_events_text(events, events->odd.data, events->odd.n_bytes);
	ts_json_clear(&events->odd);
}

void ts_events_string(struct ts_events *events, const char *text)
{
	size_t n;

	if (!is_plain(text, &n)) {
		ts_json_string(&events->odd, text);
		put_odd(events);
		return;
	}
	*events->at++ = '"';
	ts_events_text(events, text, n);
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
	if (events->at > events->full)
		make_room(events, 0);
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
