/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of a large answer. An Answer holds one message, its body; of a body that is too large for one frame the fields go in
 * several, each a body of its own. Joined again, one's bytes behind the other's, they are the whole: so protobuf has it. Here this
 * is done on packed bytes, without making messages of them.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What a part has at most, unless one element of a list alone has more. */
#define TS_BODY_PART_BYTES (256u * 1024)
#define TS_BODY_HEAD_BYTES 16u

/*
 * Of a packed Answer the number of its one field, and where that one's bytes begin, which end where the answer does. Returns 0, or
 * -EPROTO where it is not exactly one field that is a message.
 */
int ts_body_find(const uint8_t *answer, size_t n_bytes, uint32_t *ret_number, size_t *ret_off);

/*
 * How many of the body's bytes go into a part: whole fields of at most `most` bytes together, or the first one, if that alone is
 * larger. 0: the bytes are no message.
 */
size_t ts_body_part(const uint8_t *body, size_t n_bytes, size_t most);

/* The number in an Answer of what answers a Query whose body has this number; 0: nothing does. */
uint32_t ts_body_answers(uint32_t query);

/* What stands before a body of so many bytes in an Answer. Returns its length. */
size_t ts_body_head(uint32_t number, size_t n_bytes, uint8_t ret_head[TS_BODY_HEAD_BYTES]);
