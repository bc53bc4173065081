/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes packets in threads: see packets.h. tracks.c adds packets; replay/report/pieces.c calls
 * this file for their bytes. Packets of slices are encoded by hand, because each kernel launch has
 * four of them; protobuf-c encodes all others.
 *
 * A lane numbers its texts in the order of their first use, so a text's number depends on all
 * earlier packets. A thread uses only numbers that exist already. If a piece has a new text, the
 * caller's thread encodes the piece after all earlier ones, and numbers the text then. New texts
 * are rare after the begin of a trace. Each thread remembers the numbers that it used last.
 */
#include "tools/export/perfetto/packets.h"

#include <pthread.h>

#include "proto/abi/grow.h"
#include "proto/abi/tablehash.h"
#include "replay/report/pieces.h"

/* Bytes that are written at once. */
#define WRITE_BYTES (256u * 1024)
/* Limit of a slice's packet: two numbers, its type, name, flows and arguments. */
#define MAX_PACKET_BYTES 1024u
#define RECENT_BITS	 10u
/* An item is short, and quickly made: so threads would be woken often for short pieces. */
#define PIECE_BYTES (4u * TS_PIECES_BYTES)

enum text_class {
	TEXT_NAME,
	TEXT_VALUE,
	TEXT_CLASSES
};

struct text_key {
	uint32_t lane;
	uint32_t class; /* enum text_class */
	struct ts_track_text text;
	/* end of key */
	uint64_t iid;
};

enum item_kind {
	ITEM_PACKET,
	ITEM_BEGIN,
	ITEM_END
};

struct item {
	uint32_t n_bytes; /* of the item, a multiple of 8 */
	uint32_t kind;	  /* enum item_kind */
	uint32_t lane;
	uint32_t n_packet;
	uint64_t delta_ns;
};

struct begin {
	struct item item;
	uint64_t new_names;
	struct ts_track_slice slice; /* without the arguments that are not used */
};

struct packed {
	struct item item;
	uint8_t bytes[]; /* n_packet */
};

/* Memory of a thread. */
struct maker {
	struct ts_buffer out, text;
	struct text_key recent[1u << RECENT_BITS]; /* lane 0: none */
};

struct lane_texts {
	uint64_t n_iids[TEXT_CLASSES];
};

struct ts_packets {
	struct ts_track_options options;
	struct ts_pieces *pieces;
	struct ts_buffer unwritten;
	struct lane_texts *lanes; /* of the caller's thread */
	size_t n_lanes, n_lanes_allocated;
	pthread_mutex_t lock;
	struct ts_hashtable texts; /* of struct text_key; the caller's thread adds, with the lock */
};

/* ---- bytes of a packet ----------------------------------------------------------------------- */

enum wire {
	WIRE_VARINT = 0,
	WIRE_FIXED64 = 1,
	WIRE_BYTES = 2
};

#define TAG(field, wire) ((uint32_t)(field) << 3 | (wire))

static uint8_t *varint(uint8_t *at, uint64_t value)
{
	while (value > 0x7f) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	return at;
}

static uint8_t *number(uint8_t *at, unsigned int field, uint64_t value)
{
	return varint(varint(at, TAG(field, WIRE_VARINT)), value);
}

/* Field numbers of perfetto.proto. */
enum {
	TRACE_PACKET = 1,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	EVENT_ANNOTATIONS = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_FLOWS = 36,
	EVENT_LAST_FLOWS = 42,
	ANNOTATION_NAME = 1,
	ANNOTATION_UINT = 3,
	ANNOTATION_INT = 4,
	ANNOTATION_DOUBLE = 5,
	ANNOTATION_POINTER = 7,
	ANNOTATION_TEXT = 17,
};

/*
 * A packet under construction. One byte before each length-prefixed part is reserved for its
 * length.
 */
struct packet {
	uint8_t *begin; /* after the packet's own length */
	uint8_t *event; /* after the event's length */
};

/* Begins a packet and sets the event's address; the whole packet has at most MAX_PACKET_BYTES. */
static int begin_packet(struct maker *maker, const struct item *item, struct packet *packet)
{
	uint8_t *at;
	int r = ts_buffer_reserve(&maker->out, MAX_PACKET_BYTES, &at);

	if (r)
		return r;
	*at = TAG(TRACE_PACKET, WIRE_BYTES);
	packet->begin = at + 2;
	at = number(packet->begin, PACKET_TIMESTAMP, item->delta_ns);
	at = number(at, PACKET_SEQUENCE, ts_packets_sequence(item->lane));
	*at = TAG(PACKET_EVENT, WIRE_BYTES);
	packet->event = at + 2;
	return 0;
}

/* Writes the length before the bytes [from, to). Returns the new end of these bytes. */
static uint8_t *set_length(uint8_t *from, uint8_t *to)
{
	size_t n = (size_t)(to - from);
	uint8_t length[10];
	size_t n_length;

	if (n <= 0x7f) {
		from[-1] = (uint8_t)n;
		return to;
	}
	n_length = (size_t)(varint(length, n) - length);
	memmove(from - 1 + n_length, from, n);
	memcpy(from - 1, length, n_length);
	return to + n_length - 1;
}

static void end_packet(struct maker *maker, const struct packet *packet, uint8_t *to)
{
	to = set_length(packet->begin, set_length(packet->event, to));
	maker->out.n = (size_t)(to - maker->out.bytes);
}

/* Completes the packet, makes it the only one of a trace, and computes its bytes. */
static int complete(uint32_t sequence, Ts__Perfetto__TracePacket **packet,
		    Ts__Perfetto__Trace *ret_trace, size_t *ret_n)
{
	(*packet)->has_trusted_packet_sequence_id = true;
	(*packet)->trusted_packet_sequence_id = sequence;
	ts__perfetto__trace__init(ret_trace);
	ret_trace->n_packet = 1;
	ret_trace->packet = packet;
	*ret_n = ts__perfetto__trace__get_packed_size(ret_trace);
	return *ret_n < UINT32_MAX / 2 ? 0 : -E2BIG;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Appends a packet that defines a text of the lane. */
static int put_text(struct maker *maker, uint32_t lane, enum text_class class, uint64_t iid,
		    const char *bytes, size_t n)
{
	Ts__Perfetto__InternedText text = TS__PERFETTO__INTERNED_TEXT__INIT, *list = &text;
	Ts__Perfetto__InternedData data = TS__PERFETTO__INTERNED_DATA__INIT;
	Ts__Perfetto__TracePacket packet = TS__PERFETTO__TRACE_PACKET__INIT, *one = &packet;
	Ts__Perfetto__Trace trace;
	uint8_t *at;
	size_t n_packed;
	int r;

	text.has_iid = text.has_text = true;
	text.iid = iid;
	text.text.data = (uint8_t *)bytes;
	text.text.len = n;
	if (class == TEXT_NAME) {
		data.n_event_names = 1;
		data.event_names = &list;
	} else if (class == TEXT_VALUE) {
		data.n_debug_annotation_string_values = 1;
		data.debug_annotation_string_values = &list;
	} else {
		data.n_debug_annotation_names = 1;
		data.debug_annotation_names = &list;
	}
	packet.interned_data = &data;
	r = complete(ts_packets_sequence(lane), &one, &trace, &n_packed);
	r = r ? r : ts_buffer_reserve(&maker->out, n_packed, &at);
	if (!r)
		maker->out.n += ts__perfetto__trace__pack(&trace, at);
	return r;
}

static int put_new_text(const struct ts_packets *packets, struct maker *maker,
			const struct text_key *key, uint64_t time_ns)
{
	const struct ts_track_text *what = &key->text;
	const char *text;
	int r;

	maker->text.n = 0;
	if (what->kind == TS_TRACK_TEXT_STATIC) {
		text = (const char *)(uintptr_t)what->value;
		r = ts_buffer_append(&maker->text, text, strlen(text));
	} else {
		r = packets->options.text(packets->options.user, what, time_ns, &maker->text);
	}
	return r ? r
		 : put_text(maker, key->lane, key->class, key->iid, (char *)maker->text.bytes,
			    maker->text.n);
}

/* Counts the text in its lane. Returns its number; 0: out of memory. */
static uint64_t next_iid(struct ts_packets *packets, const struct text_key *key)
{
	while (packets->n_lanes < key->lane) {
		if (TS_GROW(packets->lanes, packets->n_lanes_allocated, packets->n_lanes + 1))
			return 0;
		packets->lanes[packets->n_lanes++] = (struct lane_texts){0};
	}
	return ++packets->lanes[key->lane - 1].n_iids[key->class];
}

/* Finds the number of the text, or numbers it. */
static int add_text(struct ts_packets *packets, struct text_key *key, bool *ret_is_new)
{
	struct text_key *found;
	uint32_t i;
	int r;

	pthread_mutex_lock(&packets->lock);
	r = ts_hashtable_get(&packets->texts, key, &i, ret_is_new);
	if (!r) {
		found = ts_hashtable_at(&packets->texts, i);
		if (*ret_is_new)
			found->iid = next_iid(packets, key);
		key->iid = found->iid;
		r = key->iid ? 0 : -ENOMEM;
	}
	pthread_mutex_unlock(&packets->lock);
	return r;
}

static int find_text(struct ts_packets *packets, struct text_key *key)
{
	uint32_t i;
	bool is_found;

	pthread_mutex_lock(&packets->lock);
	is_found = ts_hashtable_find(&packets->texts, key, &i);
	if (is_found)
		key->iid = ((struct text_key *)ts_hashtable_at(&packets->texts, i))->iid;
	pthread_mutex_unlock(&packets->lock);
	return is_found ? 0 : TS_PIECES_IN_ORDER;
}

/* Spreads the keys of a trace: their values are small numbers or addresses of texts. */
static size_t slot_of(const struct text_key *key)
{
	const uint64_t place = (uint64_t)key->lane << 1 | key->class;
	const uint64_t kind = (uint64_t)key->text.of << 32 | key->text.kind;
	const uint64_t sum = key->text.value + (place << 40 | place >> 24) + (kind << 20);

	return ts_hash_add(sum, sum >> 29) >> (64 - RECENT_BITS);
}

static bool is_same(const struct text_key *a, const struct text_key *b)
{
	return a->lane == b->lane && a->class == b->class && a->text.kind == b->text.kind &&
	       a->text.of == b->text.of && a->text.value == b->text.value;
}

static int intern(struct ts_packets *packets, struct maker *maker, bool in_order, uint32_t lane,
		  enum text_class class, const struct ts_track_text *what, uint64_t time_ns,
		  uint64_t *ret_iid)
{
	struct text_key key = {.lane = lane, .class = class, .text = *what};
	struct text_key *recent = &maker->recent[slot_of(&key)];
	bool is_new = false;
	int r;

	if (is_same(recent, &key)) {
		*ret_iid = recent->iid;
		return 0;
	}
	r = in_order ? add_text(packets, &key, &is_new) : find_text(packets, &key);
	if (!r && is_new)
		r = put_new_text(packets, maker, &key, time_ns);
	if (r)
		return r;
	*recent = key;
	*ret_iid = key.iid;
	return 0;
}

/* ---- packets of slices ----------------------------------------------------------------------- */

static int put_end(struct maker *maker, const struct item *item)
{
	struct packet packet;
	int r = begin_packet(maker, item, &packet);

	if (!r)
		end_packet(maker, &packet,
			   number(packet.event, EVENT_TYPE,
				  TS__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_END));
	return r;
}

/* Writes an argument. `value`: for a text, its iid. */
static uint8_t *put_arg(uint8_t *at, const struct ts_track_arg *arg, uint64_t value)
{
	uint8_t *from;

	*at++ = TAG(EVENT_ANNOTATIONS, WIRE_BYTES);
	from = ++at;
	at = number(at, ANNOTATION_NAME, arg->name + UINT64_C(1));
	switch (arg->kind) {
	case TS_TRACK_ARG_TEXT:
		at = number(at, ANNOTATION_TEXT, value);
		break;
	case TS_TRACK_ARG_DOUBLE:
		*at++ = TAG(ANNOTATION_DOUBLE, WIRE_FIXED64);
		memcpy(at, &arg->real, sizeof(arg->real));
		at += sizeof(arg->real);
		break;
	case TS_TRACK_ARG_INT:
		at = number(at, ANNOTATION_INT, value);
		break;
	case TS_TRACK_ARG_POINTER:
		at = number(at, ANNOTATION_POINTER, value);
		break;
	default:
		at = number(at, ANNOTATION_UINT, value);
	}
	return set_length(from, at);
}

/* Numbers the texts of a slice. New texts are separate packets before the slice's. */
static int put_texts(struct ts_packets *packets, struct maker *maker, bool in_order,
		     const struct begin *begin, uint64_t *ret_name, uint64_t *ret_values)
{
	const struct ts_track_slice *slice = &begin->slice;
	const uint32_t lane = begin->item.lane;
	uint64_t new_names = begin->new_names;
	int r = intern(packets, maker, in_order, lane, TEXT_NAME, &slice->name, slice->start_ns,
		       ret_name);

	for (unsigned int i = 0; !r && i < slice->n_args; i++) {
		const struct ts_track_arg *arg = &slice->args[i];
		const char *name = packets->options.arg_names[arg->name];

		if (new_names >> arg->name & 1)
			r = put_text(maker, lane, TEXT_CLASSES, arg->name + UINT64_C(1), name,
				     strlen(name));
		new_names &= ~(UINT64_C(1) << arg->name);
		ret_values[i] = arg->number;
		if (!r && arg->kind == TS_TRACK_ARG_TEXT)
			r = intern(packets, maker, in_order, lane, TEXT_VALUE, &arg->text,
				   slice->start_ns, &ret_values[i]);
	}
	return r;
}

static int put_begin(struct ts_packets *packets, struct maker *maker, bool in_order,
		     const struct begin *begin)
{
	const struct ts_track_slice *slice = &begin->slice;
	uint64_t name, values[TS_TRACK_MAX_ARGS];
	struct packet packet;
	uint8_t *at;
	int r = put_texts(packets, maker, in_order, begin, &name, values);

	r = r ? r : begin_packet(maker, &begin->item, &packet);
	if (r)
		return r;
	at = number(packet.event, EVENT_TYPE,
		    slice->is_instant ? TS__PERFETTO__TRACK_EVENT__TYPE__TYPE_INSTANT
				      : TS__PERFETTO__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN);
	at = number(at, EVENT_NAME, name);
	for (unsigned int i = 0; i < slice->n_flows; i++)
		at = number(at, slice->flows_end ? EVENT_LAST_FLOWS : EVENT_FLOWS, slice->flows[i]);
	for (unsigned int i = 0; i < slice->n_args; i++)
		at = put_arg(at, &slice->args[i], values[i]);
	end_packet(maker, &packet, at);
	return 0;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static int put_item(struct ts_packets *packets, struct maker *maker, bool in_order,
		    const struct item *item)
{
	switch (item->kind) {
	case ITEM_BEGIN:
		return put_begin(packets, maker, in_order, (const struct begin *)item);
	case ITEM_END:
		return put_end(maker, item);
	default:
		return ts_buffer_append(&maker->out, ((const struct packed *)item)->bytes,
					item->n_packet);
	}
}

/* The owner of the file checks its errors. */
static void flush(struct ts_packets *packets)
{
	if (packets->unwritten.n)
		fwrite(packets->unwritten.bytes, 1, packets->unwritten.n, packets->options.file);
	packets->unwritten.n = 0;
}

static int write_bytes(void *data, const char *bytes, size_t n_bytes)
{
	struct ts_packets *packets = data;
	int r = ts_buffer_append(&packets->unwritten, bytes, n_bytes);

	if (packets->unwritten.n >= WRITE_BYTES)
		flush(packets);
	return r;
}

/*
 * Encodes the items of a piece. In order, the piece may have a long new text in each item, so the
 * packets are written as soon as they are many.
 */
static int make(struct ts_packets *packets, struct maker *maker, bool in_order,
		const uint8_t *items, size_t n_bytes, struct ts_json *text)
{
	int r = 0;

	maker->out.n = 0;
	for (size_t at = 0; !r && at < n_bytes;) {
		const struct item *item = (const void *)(items + at);

		r = put_item(packets, maker, in_order, item);
		at += item->n_bytes;
		if (r || !in_order || maker->out.n < WRITE_BYTES)
			continue;
		r = write_bytes(packets, (const char *)maker->out.bytes, maker->out.n);
		maker->out.n = 0;
	}
	if (maker->out.n)
		ts_json_bytes(text, maker->out.bytes, maker->out.n);
	return r;
}

static int format(void *data, void *state, const uint8_t *items, size_t n_bytes,
		  struct ts_json *text)
{
	return make(data, state, false, items, n_bytes, text);
}

static int format_in_order(void *data, void *state, const uint8_t *items, size_t n_bytes,
			   struct ts_json *text)
{
	return make(data, state, true, items, n_bytes, text);
}

static void deinit_maker(void *state)
{
	struct maker *maker = state;

	ts_buffer_deinit(&maker->out);
	ts_buffer_deinit(&maker->text);
}

int ts_packets_new(const struct ts_track_options *options, struct ts_packets **ret_packets)
{
	struct ts_packets *packets = calloc(1, sizeof(*packets));
	const struct ts_pieces_kind kind = {.format = format,
					    .format_in_order = format_in_order,
					    .write = write_bytes,
					    .writes_anywhere = true,
					    .piece_bytes = PIECE_BYTES,
					    .data = packets,
					    .state_bytes = sizeof(struct maker),
					    .state_deinit = deinit_maker};
	int r;

	if (!packets)
		return -ENOMEM;
	packets->options = *options;
	ts_hashtable_init(&packets->texts, sizeof(struct text_key), offsetof(struct text_key, iid));
	pthread_mutex_init(&packets->lock, NULL);
	r = ts_pieces_new(&kind, &packets->pieces);
	if (r) {
		ts_packets_free(packets);
		return r;
	}
	*ret_packets = packets;
	return 0;
}

void ts_packets_free(struct ts_packets *packets)
{
	if (!packets)
		return;
	/* Ends the threads first. */
	ts_pieces_free(packets->pieces);
	pthread_mutex_destroy(&packets->lock);
	ts_hashtable_deinit(&packets->texts);
	ts_buffer_deinit(&packets->unwritten);
	free(packets->lanes);
	free(packets);
}

int ts_packets_add(struct ts_packets *packets, uint32_t sequence, Ts__Perfetto__TracePacket *packet)
{
	Ts__Perfetto__Trace trace;
	struct packed *packed;
	size_t n, n_bytes;
	void *item;
	int r = complete(sequence, &packet, &trace, &n);

	if (r)
		return r;
	n_bytes = ts_align_up(offsetof(struct packed, bytes) + n, 8);
	r = ts_pieces_add(packets->pieces, n_bytes, &item);
	if (r)
		return r;
	packed = item;
	packed->item = (struct item){.n_bytes = (uint32_t)n_bytes,
				     .kind = ITEM_PACKET,
				     .n_packet = (uint32_t)n};
	ts__perfetto__trace__pack(&trace, packed->bytes);
	return 0;
}

int ts_packets_begin(struct ts_packets *packets, uint32_t lane, uint64_t delta_ns,
		     uint64_t new_names, const struct ts_track_slice *slice)
{
	const size_t n_bytes =
		offsetof(struct begin, slice.args) + slice->n_args * sizeof(slice->args[0]);
	struct begin *begin;
	void *item;
	int r = ts_pieces_add(packets->pieces, n_bytes, &item);

	if (r)
		return r;
	begin = item;
	begin->item = (struct item){.n_bytes = (uint32_t)n_bytes,
				    .kind = ITEM_BEGIN,
				    .lane = lane,
				    .delta_ns = delta_ns};
	begin->new_names = new_names;
	ts_track_slice_copy(&begin->slice, slice);
	return 0;
}

int ts_packets_end(struct ts_packets *packets, uint32_t lane, uint64_t delta_ns)
{
	void *item;
	int r = ts_pieces_add(packets->pieces, sizeof(struct item), &item);

	if (r)
		return r;
	*(struct item *)item = (struct item){.n_bytes = sizeof(struct item),
					     .kind = ITEM_END,
					     .lane = lane,
					     .delta_ns = delta_ns};
	return 0;
}

int ts_packets_finish(struct ts_packets *packets)
{
	int r = ts_pieces_end(packets->pieces);

	flush(packets);
	return r;
}
