/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A growable array of bytes. A zero-initialised struct is empty. Functions return 0 or -ENOMEM,
 * which leaves the buffer unchanged.
 */
#pragma once

#include "proto/abi/grow.h"

#define TS_BUFFER_FIRST_BYTES 4096u

struct ts_buffer {
	uint8_t *bytes;
	size_t n;
	size_t capacity;
};

static inline void ts_buffer_deinit(struct ts_buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct ts_buffer){0};
}

/* Frees the memory if the buffer is empty. */
static inline void ts_buffer_trim(struct ts_buffer *buffer)
{
	if (!buffer->n)
		ts_buffer_deinit(buffer);
}

/*
 * Makes room for n_more bytes behind the present ones, at *ret_at. The caller adds the written
 * bytes to `n`.
 */
static inline int ts_buffer_reserve(struct ts_buffer *buffer, size_t n_more, uint8_t **ret_at)
{
	size_t want;

	if (__builtin_add_overflow(buffer->n, n_more, &want))
		return -ENOMEM;
	if (want > buffer->capacity &&
	    ts_grow(&buffer->bytes, &buffer->capacity,
		    want < TS_BUFFER_FIRST_BYTES ? TS_BUFFER_FIRST_BYTES : want, 1))
		return -ENOMEM;
	*ret_at = buffer->bytes ? buffer->bytes + buffer->n : NULL;
	return 0;
}

/* Copies `n` bytes to the end of the buffer. */
static inline int ts_buffer_append(struct ts_buffer *buffer, const void *bytes, size_t n)
{
	uint8_t *at;
	int r;

	if (!n)
		return 0;
	r = ts_buffer_reserve(buffer, n, &at);
	if (r)
		return r;
	memcpy(at, bytes, n);
	buffer->n += n;
	return 0;
}
