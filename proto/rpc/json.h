/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints any protobuf message as JSON from its descriptor. The rules are at the top of
 * tracesmith.proto. The output is one line, ASCII except for the UTF-8 of its strings. Bytes that
 * are not UTF-8 print as U+FFFD, so the output is always valid JSON.
 *
 * A buffer belongs to one thread at a time. Nothing here blocks, prints or exits.
 */
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* A text that grows. All zero is an empty text. After the first append, `data` is terminated. */
struct ts_json {
	char *data;
	size_t n_bytes;
	size_t n_allocated;
	int error; /* -ENOMEM after a failed append; sticky: later appends do nothing */
};

void ts_json_deinit(struct ts_json *json);
/* Empties the text and keeps the memory, so that the caller can print the next row. */
void ts_json_clear(struct ts_json *json);

/*
 * Appends the message as one object. Returns 0; -ENOMEM; -EINVAL if the message holds groups, nests
 * deeper than 64, or has a field type that the rules do not cover.
 */
int ts_json_message(struct ts_json *json, const ProtobufCMessage *message);

/* Pieces for a caller that builds JSON around messages. They report errors in json->error. */
void ts_json_bytes(struct ts_json *json, const void *data, size_t n_bytes);
void ts_json_raw(struct ts_json *json, const char *text);
void ts_json_string(struct ts_json *json, const char *text);
void ts_json_string_n(struct ts_json *json, const char *text, size_t n_bytes);
void ts_json_uint(struct ts_json *json, uint64_t value);
void ts_json_int(struct ts_json *json, int64_t value);
void ts_json_double(struct ts_json *json, double value);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

/* Sets an optional scalar field: TS_RPC_SET(&info, bytes, 12) sets has_bytes and bytes. */
#define TS_RPC_SET(message, field, value)   \
	do {                                \
		(message)->has_##field = 1; \
		(message)->field = (value); \
	} while (0)
