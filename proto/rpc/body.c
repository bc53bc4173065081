/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterates over the fields of packed messages; the client, the daemon's queries and its worker call
 * this file. The input is untrusted: each length is checked against the remaining bytes.
 */
#include "proto/rpc/body.h"

#include "proto/rpc/tracesmith.pb-c.h"

#include <errno.h>

#define WIRE_VARINT 0u
#define WIRE_64	    1u
#define WIRE_BYTES  2u
#define WIRE_32	    5u

/* Returns the count of bytes of the varint; 0: invalid. */
static size_t read_varint(const uint8_t *bytes, size_t n_bytes, uint64_t *ret_value)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n_bytes && i < 10; i++) {
		value |= (uint64_t)(bytes[i] & 127) << (7 * i);
		if (!(bytes[i] & 128)) {
			*ret_value = value;
			return i + 1;
		}
	}
	return 0;
}

static size_t write_varint(uint64_t value, uint8_t *bytes)
{
	size_t n = 0;

	for (; value > 127; value >>= 7)
		bytes[n++] = (uint8_t)(value | 128);
	bytes[n++] = (uint8_t)value;
	return n;
}

/*
 * Returns the whole length of a field, tag included; 0: invalid. *ret_off: offset of the value's
 * bytes, for WIRE_BYTES.
 */
static size_t field_bytes(const uint8_t *bytes, size_t n_bytes, uint64_t *ret_tag, size_t *ret_off)
{
	size_t n = read_varint(bytes, n_bytes, ret_tag), more;
	uint64_t value;

	if (!n || !(*ret_tag >> 3))
		return 0;
	switch (*ret_tag & 7) {
	case WIRE_VARINT:
		more = read_varint(bytes + n, n_bytes - n, &value);
		return more ? n + more : 0;
	case WIRE_64:
		return n_bytes - n >= 8 ? n + 8 : 0;
	case WIRE_32:
		return n_bytes - n >= 4 ? n + 4 : 0;
	case WIRE_BYTES:
		more = read_varint(bytes + n, n_bytes - n, &value);
		if (!more || value > n_bytes - n - more)
			return 0;
		*ret_off = n + more;
		return n + more + (size_t)value;
	default:
		return 0;
	}
}

int ts_body_find(const uint8_t *answer, size_t n_bytes, uint32_t *ret_number, size_t *ret_off)
{
	size_t off = 0;
	uint64_t tag = 0;

	if (!n_bytes || field_bytes(answer, n_bytes, &tag, &off) != n_bytes ||
	    (tag & 7) != WIRE_BYTES || tag >> 3 > UINT32_MAX)
		return -EPROTO;
	*ret_number = (uint32_t)(tag >> 3);
	*ret_off = off;
	return 0;
}

size_t ts_body_part(const uint8_t *body, size_t n_bytes, size_t most)
{
	size_t n = 0, off;
	uint64_t tag;

	while (n < n_bytes) {
		size_t more = field_bytes(body + n, n_bytes - n, &tag, &off);

		if (!more)
			return 0;
		if (n && more > most - n)
			break;
		n += more;
		if (n >= most)
			break;
	}
	return n;
}

uint32_t ts_body_answers(uint32_t query)
{
	switch (query) {
	case TS__RPC__QUERY__BODY_STATE:
		return TS__RPC__ANSWER__BODY_STATE;
	case TS__RPC__QUERY__BODY_TIMELINE:
		return TS__RPC__ANSWER__BODY_TIMELINE;
	case TS__RPC__QUERY__BODY_ROWS:
		return TS__RPC__ANSWER__BODY_ROWS;
	case TS__RPC__QUERY__BODY_STATS:
		return TS__RPC__ANSWER__BODY_STATS;
	case TS__RPC__QUERY__BODY_MEMORY:
		return TS__RPC__ANSWER__BODY_MEMORY;
	case TS__RPC__QUERY__BODY_GRAPH:
		return TS__RPC__ANSWER__BODY_GRAPH;
	case TS__RPC__QUERY__BODY_REPLAY:
		return TS__RPC__ANSWER__BODY_REPLAY;
	case TS__RPC__QUERY__BODY_GAPS:
		return TS__RPC__ANSWER__BODY_GAPS;
	case TS__RPC__QUERY__BODY_ANALYZE:
		return TS__RPC__ANSWER__BODY_ANALYZE;
	case TS__RPC__QUERY__BODY_INFO:
		return TS__RPC__ANSWER__BODY_INFO;
	default:
		return 0;
	}
}

size_t ts_body_head(uint32_t number, size_t n_bytes, uint8_t ret_head[TS_BODY_HEAD_BYTES])
{
	size_t n = write_varint((uint64_t)number << 3 | WIRE_BYTES, ret_head);

	return n + write_varint(n_bytes, ret_head + n);
}
