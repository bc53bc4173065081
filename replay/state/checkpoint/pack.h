/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs numbers into bytes and unpacks them, for checkpoints. A varint is LEB128, as in FORMAT.md.
 * If the bytes are malformed, unpacking sets `bad` and returns zeros from the malformed byte on. A
 * reader therefore checks `bad` once after each part.
 */
#pragma once

#include "sbt/buffer.h"
#include "sbt/schema.h"

struct ts_pack {
	struct ts_buffer buffer;
	uint64_t base_ns; /* packed times are relative to this time */
	bool failed;	  /* out of memory */
};

struct ts_unpack {
	const uint8_t *at, *end;
	uint64_t base_ns;
	bool bad;
};

static inline void ts_pack_u(struct ts_pack *pack, uint64_t value)
{
	uint8_t bytes[10], *to = bytes;

	for (; value >= 128; value >>= 7)
		*to++ = (uint8_t)(value | 128);
	*to++ = (uint8_t)value;
	if (ts_buffer_append(&pack->buffer, bytes, (size_t)(to - bytes)))
		pack->failed = true;
}

/* Packs a signed difference in zigzag form. */
static inline void ts_pack_from(struct ts_pack *pack, uint64_t value, uint64_t from)
{
	uint64_t d = value - from;

	ts_pack_u(pack, d << 1 ^ (uint64_t)((int64_t)d >> 63));
}

static inline void ts_pack_ns(struct ts_pack *pack, uint64_t ns)
{
	ts_pack_from(pack, ns, pack->base_ns);
}

static inline uint64_t ts_unpack_u(struct ts_unpack *unpack)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && unpack->at < unpack->end; shift += 7) {
		uint8_t byte = *unpack->at++;

		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
	unpack->bad = true;
	unpack->at = unpack->end;
	return 0;
}

static inline uint32_t ts_unpack_u32(struct ts_unpack *unpack)
{
	uint64_t value = ts_unpack_u(unpack);

	unpack->bad |= value > UINT32_MAX;
	return (uint32_t)value;
}

static inline uint64_t ts_unpack_from(struct ts_unpack *unpack, uint64_t from)
{
	uint64_t d = ts_unpack_u(unpack);

	return from + (d >> 1 ^ -(d & 1));
}

static inline uint64_t ts_unpack_ns(struct ts_unpack *unpack)
{
	return ts_unpack_from(unpack, unpack->base_ns);
}

/*
 * Reads a count of items, each of at least one byte. Returns 0 and sets `bad` if fewer bytes than
 * items are left.
 */
static inline size_t ts_unpack_count(struct ts_unpack *unpack)
{
	uint64_t n = ts_unpack_u(unpack);

	if (n <= (size_t)(unpack->end - unpack->at))
		return n;
	unpack->bad = true;
	return 0;
}

/* Packs or unpacks a row, column by column. */
void ts_pack_row(struct ts_pack *pack, const struct ts_row_schema *schema, const void *row);
void ts_unpack_row(struct ts_unpack *unpack, const struct ts_row_schema *schema, void *row);
