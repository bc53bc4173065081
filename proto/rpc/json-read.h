/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a protobuf message from JSON by its descriptor: the mirror of json.h, for requests. A key
 * is the name of a field. Fields may be booleans, integers, strings, messages, and lists of these;
 * `null` leaves a field out. The text is untrusted.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TS_JSON_WHY_BYTES 200

/*
 * Reads one object as a message of `type`. The caller frees *ret_message with
 * protobuf_c_message_free_unpacked(*ret_message, NULL). Returns 0, -ENOMEM, or -EINVAL. With
 * -EINVAL, ret_why has the key and the reason in one line of printable ASCII: malformed JSON, an
 * unknown key or one that occurs twice, another type, a number out of range, a string that is not
 * UTF-8 or has a zero byte, more than 16 levels. Thread-safe.
 */
int ts_json_read(const char *text, size_t n_bytes, const ProtobufCMessageDescriptor *type,
		 ProtobufCMessage **ret_message, char ret_why[TS_JSON_WHY_BYTES]);

#ifdef __cplusplus
}
#endif
