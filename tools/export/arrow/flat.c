/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small builder of FlatBuffers; message.c calls this file for Arrow's messages. It writes tables
 * front to back: the table's own description (its vtable) directly before it, its children behind
 * it. Numbers are little-endian, as are the processors for which TraceSmith is built.
 */
#include "tools/export/arrow/flat.h"

#include <errno.h>
#include <string.h>

#define VTABLE_HEADER 2u /* words of 16 bits before the fields' offsets */

static uint8_t *append(struct ts_flat *flat, size_t n_bytes)
{
	uint8_t *at;

	if (!flat->error && flat->buffer.n + n_bytes > INT32_MAX)
		flat->error = -ENOMEM;
	if (!flat->error)
		flat->error = ts_buffer_reserve(&flat->buffer, n_bytes, &at);
	if (flat->error)
		return NULL;
	memset(at, 0, n_bytes);
	flat->buffer.n += n_bytes;
	return at;
}

void ts_flat_begin(struct ts_flat *flat)
{
	flat->buffer.n = 0;
	flat->error = 0;
	append(flat, sizeof(uint32_t));
}

void ts_flat_deinit(struct ts_flat *flat)
{
	ts_buffer_deinit(&flat->buffer);
}

void ts_flat_pad(struct ts_flat *flat, uint32_t n_bytes)
{
	append(flat, n_bytes);
}

static void align_to(struct ts_flat *flat, uint32_t align)
{
	append(flat, (align - flat->buffer.n % align) % align);
}

void ts_flat_put(struct ts_flat *flat, uint32_t at, uint32_t width, uint64_t value)
{
	if (!flat->error)
		memcpy(flat->buffer.bytes + at, &value, width);
}

void ts_flat_refer(struct ts_flat *flat, uint32_t at, uint32_t target)
{
	ts_flat_put(flat, at, sizeof(uint32_t), target - at);
}

uint32_t ts_flat_table(struct ts_flat *flat, struct ts_flat_field *fields, unsigned int n_fields)
{
	uint16_t vtable[VTABLE_HEADER + TS_FLAT_MAX_FIELDS] = {0};
	const size_t vtable_bytes = (VTABLE_HEADER + n_fields) * sizeof(vtable[0]);
	uint32_t table_bytes = sizeof(int32_t), vtable_at, table_at;

	/* The widest fields come first: behind the first word each is aligned. */
	for (uint32_t width = 8; width; width /= 2) {
		for (unsigned int i = 0; i < n_fields; i++) {
			if (fields[i].width != width)
				continue;
			vtable[VTABLE_HEADER + i] = (uint16_t)table_bytes;
			table_bytes += width;
		}
	}
	vtable[0] = (uint16_t)vtable_bytes;
	vtable[1] = (uint16_t)table_bytes;
	align_to(flat, sizeof(vtable[0]));
	vtable_at = (uint32_t)flat->buffer.n;
	append(flat, vtable_bytes);
	/* The table's first word ends on a multiple of 8. */
	append(flat, (12 - flat->buffer.n % 8) % 8);
	table_at = (uint32_t)flat->buffer.n;
	append(flat, table_bytes);
	if (flat->error)
		return 0;
	memcpy(flat->buffer.bytes + vtable_at, vtable, vtable_bytes);
	ts_flat_put(flat, table_at, sizeof(int32_t), table_at - vtable_at);
	for (unsigned int i = 0; i < n_fields; i++) {
		fields[i].at = table_at + vtable[VTABLE_HEADER + i];
		if (fields[i].width)
			ts_flat_put(flat, fields[i].at, fields[i].width, fields[i].value);
	}
	return table_at;
}

uint32_t ts_flat_string(struct ts_flat *flat, const char *text)
{
	const size_t n_bytes = strlen(text);
	uint32_t at = ts_flat_vector(flat, (uint32_t)n_bytes, 1);

	append(flat, 1); /* the terminator, which the length does not count */
	if (!flat->error)
		memcpy(flat->buffer.bytes + at + TS_FLAT_VECTOR_HEADER, text, n_bytes);
	return at;
}

uint32_t ts_flat_vector(struct ts_flat *flat, uint32_t n, uint32_t element_bytes)
{
	uint32_t at;

	align_to(flat, TS_FLAT_VECTOR_HEADER);
	if (element_bytes >= TS_FLAT_STRUCT_ALIGN &&
	    (flat->buffer.n + TS_FLAT_VECTOR_HEADER) % TS_FLAT_STRUCT_ALIGN)
		append(flat, TS_FLAT_VECTOR_HEADER);
	at = (uint32_t)flat->buffer.n;
	append(flat, TS_FLAT_VECTOR_HEADER + (size_t)n * element_bytes);
	ts_flat_put(flat, at, sizeof(n), n);
	return at;
}
