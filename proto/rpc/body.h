/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits a large answer into parts. An Answer holds one message, its body. If a body is too large
 * for one frame, its fields are sent in several parts; each part is itself a body. By protobuf's
 * rules, the concatenated bytes of all parts are the whole body. These functions work on packed
 * bytes and build no messages.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Limit of a part, unless a single element of a list is larger. */
#define TS_BODY_PART_BYTES (256u * 1024)
#define TS_BODY_HEAD_BYTES 16u

/*
 * Finds the number of the only field in a packed Answer, and the offset of its bytes, which end at
 * the end of the answer. Returns 0, or -EPROTO if the answer is not exactly one field that is a
 * message.
 */
int ts_body_find(const uint8_t *answer, size_t n_bytes, uint32_t *ret_number, size_t *ret_off);

/*
 * Returns how many of the body's bytes go into a part: whole fields of at most `most` bytes
 * together, or only the first field if it is larger. 0: the bytes are not a message.
 */
size_t ts_body_part(const uint8_t *body, size_t n_bytes, size_t most);

/*
 * Returns the field number of the answer that belongs to a query; `query` is the query's field
 * number. 0: no answer exists.
 */
uint32_t ts_body_answers(uint32_t query);

/* Writes the head of a body with n_bytes in an Answer. Returns the head's length. */
size_t ts_body_head(uint32_t number, size_t n_bytes, uint8_t ret_head[TS_BODY_HEAD_BYTES]);
