/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON from protobuf descriptors; tsctl, the daemon and replay/report call this file. The screen
 * and the socket share one schema, so this file names no message. protobuf-c keeps no options at
 * run time, so a map is recognised by protoc's output for it: a repeated message with the fields
 * `key` and `value` whose type name ends in "Entry".
 */
#include "proto/rpc/json.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"
#include "proto/abi/utf8.h"

#define JSON_MAX_DEPTH 64
#define FIRST_BYTES    512u

void ts_json_deinit(struct ts_json *json)
{
	free(json->data);
	*json = (struct ts_json){0};
}

void ts_json_clear(struct ts_json *json)
{
	json->n_bytes = 0;
	json->error = 0;
	if (json->data)
		json->data[0] = '\0';
}

static char *reserve(struct ts_json *json, size_t n_bytes)
{
	size_t n_wanted;

	if (json->error)
		return NULL;
	if (__builtin_add_overflow(json->n_bytes, n_bytes, &n_wanted) ||
	    __builtin_add_overflow(n_wanted, (size_t)1, &n_wanted))
		goto no_memory;
	if (n_wanted > json->n_allocated) {
		if (n_wanted < FIRST_BYTES)
			n_wanted = FIRST_BYTES;
		if (ts_grow(&json->data, &json->n_allocated, n_wanted, 1))
			goto no_memory;
	}
	return json->data + json->n_bytes;

no_memory:
	json->error = -ENOMEM;
	return NULL;
}

void ts_json_bytes(struct ts_json *json, const void *data, size_t n_bytes)
{
	char *at = reserve(json, n_bytes);

	if (!at)
		return;
	memcpy(at, data, n_bytes);
	json->n_bytes += n_bytes;
	json->data[json->n_bytes] = '\0';
}

void ts_json_raw(struct ts_json *json, const char *text)
{
	ts_json_bytes(json, text, strlen(text));
}

static bool is_plain(unsigned char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/*
 * Finds characters that change how a terminal shows the characters after them: C1 controls and
 * controls of the writing direction. Returns such a character, or 0 for any other character.
 */
static uint32_t hidden_character(const unsigned char *p, size_t length)
{
	uint32_t c;

	if (length == 2)
		c = (p[0] & 0x1fu) << 6 | (p[1] & 0x3fu);
	else if (length == 3)
		c = (p[0] & 0x0fu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
	else
		return 0;
	return c < 0xa0 || c == 0x61c || c == 0x200e || c == 0x200f ||
			       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069)
		       ? c
		       : 0;
}

/* Appends a quoted string. Bytes that need no escape are copied in runs. */
void ts_json_string_n(struct ts_json *json, const char *text, size_t n_bytes)
{
	const unsigned char *p = (const unsigned char *)text, *end = p + n_bytes, *run = p;

	ts_json_bytes(json, "\"", 1);
	while (p < end) {
		char escape[8];
		uint32_t hidden;
		size_t length;

		/* Nearly all characters are plain. */
		if (is_plain(*p)) {
			p++;
			continue;
		}
		length = ts_utf8_length(p, (size_t)(end - p));
		hidden = hidden_character(p, length);
		if (length > 1 && !hidden) {
			p += length;
			continue;
		}
		ts_json_bytes(json, run, (size_t)(p - run));
		if (!length)
			snprintf(escape, sizeof(escape), "\xef\xbf\xbd");
		else if (hidden)
			snprintf(escape, sizeof(escape), "\\u%04x", hidden & 0xffff);
		else if (*p == '"' || *p == '\\')
			snprintf(escape, sizeof(escape), "\\%c", *p);
		else if (*p == '\n')
			snprintf(escape, sizeof(escape), "\\n");
		else if (*p == '\t')
			snprintf(escape, sizeof(escape), "\\t");
		else
			snprintf(escape, sizeof(escape), "\\u%04x", *p);
		ts_json_raw(json, escape);
		p += hidden ? length : 1;
		run = p;
	}
	ts_json_bytes(json, run, (size_t)(p - run));
	ts_json_bytes(json, "\"", 1);
}

void ts_json_string(struct ts_json *json, const char *text)
{
	ts_json_string_n(json, text, strlen(text));
}

void ts_json_uint(struct ts_json *json, uint64_t value)
{
	char digits[24], *p = digits + sizeof(digits);

	do {
		*--p = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	ts_json_bytes(json, p, (size_t)(digits + sizeof(digits) - p));
}

void ts_json_int(struct ts_json *json, int64_t value)
{
	if (value < 0)
		ts_json_bytes(json, "-", 1);
	ts_json_uint(json, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* Prints the shortest text that reads back as the same number. JSON has no infinities. */
void ts_json_double(struct ts_json *json, double value)
{
	char text[40];

	if (!isfinite(value)) {
		ts_json_raw(json, "null");
		return;
	}
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(text, sizeof(text), "%.*g", precision, value);
		if (strtod(text, NULL) == value)
			break;
	}
	/* A locale may print a decimal comma, which JSON does not allow. */
	for (char *p = text; *p; p++)
		if (*p == ',')
			*p = '.';
	ts_json_raw(json, text);
}

static void put_hex(struct ts_json *json, const ProtobufCBinaryData *bytes)
{
	static const char digits[] = "0123456789abcdef";

	ts_json_bytes(json, "\"", 1);
	for (size_t i = 0; i < bytes->len; i++) {
		char pair[2] = {digits[bytes->data[i] >> 4], digits[bytes->data[i] & 15]};

		ts_json_bytes(json, pair, 2);
	}
	ts_json_bytes(json, "\"", 1);
}

/*
 * Returns the length of the prefix that an enum's names share: SESSION_STATE_DIED of the enum
 * SessionState prints as "died".
 */
static size_t enum_prefix(const ProtobufCEnumDescriptor *type, const char *name)
{
	const char *p = name;

	for (const char *c = type->short_name; *c; c++) {
		if (isupper((unsigned char)*c) && c > type->short_name && *p == '_')
			p++;
		if (*p++ != toupper((unsigned char)*c))
			return 0;
	}
	return *p == '_' && p[1] ? (size_t)(p + 1 - name) : 0;
}

static void put_enum(struct ts_json *json, const ProtobufCEnumDescriptor *type, int value)
{
	const ProtobufCEnumValue *named = protobuf_c_enum_descriptor_get_value(type, value);
	const char *name;

	if (!named) {
		ts_json_int(json, value);
		return;
	}
	name = named->name + enum_prefix(type, named->name);
	ts_json_bytes(json, "\"", 1);
	for (; *name; name++) {
		char c = (char)tolower((unsigned char)*name);

		ts_json_bytes(json, &c, 1);
	}
	ts_json_bytes(json, "\"", 1);
}

static size_t element_bytes(ProtobufCType type)
{
	switch (type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
	case PROTOBUF_C_TYPE_FLOAT:
	case PROTOBUF_C_TYPE_ENUM:
		return 4;
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	case PROTOBUF_C_TYPE_BYTES:
		return sizeof(ProtobufCBinaryData);
	default:
		return 8;
	}
}

static void put_object(struct ts_json *json, const ProtobufCMessage *message, unsigned depth);

static void put_value(struct ts_json *json, const ProtobufCFieldDescriptor *field, const void *at,
		      unsigned depth)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		ts_json_int(json, *(const int32_t *)at);
		break;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		ts_json_int(json, *(const int64_t *)at);
		break;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		ts_json_uint(json, *(const uint32_t *)at);
		break;
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		ts_json_uint(json, *(const uint64_t *)at);
		break;
	case PROTOBUF_C_TYPE_FLOAT:
		ts_json_double(json, *(const float *)at);
		break;
	case PROTOBUF_C_TYPE_DOUBLE:
		ts_json_double(json, *(const double *)at);
		break;
	case PROTOBUF_C_TYPE_BOOL:
		ts_json_raw(json, *(const protobuf_c_boolean *)at ? "true" : "false");
		break;
	case PROTOBUF_C_TYPE_ENUM:
		put_enum(json, field->descriptor, *(const int *)at);
		break;
	case PROTOBUF_C_TYPE_STRING:
		ts_json_string(json, *(char *const *)at ? *(char *const *)at : "");
		break;
	case PROTOBUF_C_TYPE_BYTES:
		put_hex(json, at);
		break;
	case PROTOBUF_C_TYPE_MESSAGE:
		put_object(json, *(ProtobufCMessage *const *)at, depth + 1);
		break;
	default:
		json->error = json->error ? json->error : -EINVAL;
	}
}

static bool is_map(const ProtobufCFieldDescriptor *field)
{
	const ProtobufCMessageDescriptor *type = field->descriptor;
	size_t length;

	if (field->type != PROTOBUF_C_TYPE_MESSAGE || type->n_fields != 2)
		return false;
	length = strlen(type->short_name);
	return length > 5 && !strcmp(type->short_name + length - 5, "Entry") &&
	       !strcmp(type->fields[0].name, "key") && !strcmp(type->fields[1].name, "value") &&
	       type->fields[0].type == PROTOBUF_C_TYPE_STRING;
}

static void put_map(struct ts_json *json, ProtobufCMessage *const *entries, size_t n,
		    unsigned depth)
{
	ts_json_bytes(json, "{", 1);
	for (size_t i = 0; i < n; i++) {
		const ProtobufCFieldDescriptor *fields = entries[i]->descriptor->fields;
		const uint8_t *entry = (const uint8_t *)entries[i];

		if (i)
			ts_json_bytes(json, ", ", 2);
		put_value(json, &fields[0], entry + fields[0].offset, depth);
		ts_json_bytes(json, ": ", 2);
		put_value(json, &fields[1], entry + fields[1].offset, depth);
	}
	ts_json_bytes(json, "}", 1);
}

static void put_repeated(struct ts_json *json, const ProtobufCFieldDescriptor *field,
			 const uint8_t *message, unsigned depth)
{
	size_t n = *(const size_t *)(message + field->quantifier_offset);
	const uint8_t *elements = *(const uint8_t *const *)(message + field->offset);

	if (is_map(field)) {
		put_map(json, (ProtobufCMessage *const *)elements, n, depth);
		return;
	}
	ts_json_bytes(json, "[", 1);
	for (size_t i = 0; i < n && !json->error; i++) {
		if (i)
			ts_json_bytes(json, ", ", 2);
		put_value(json, field, elements + i * element_bytes(field->type), depth);
	}
	ts_json_bytes(json, "]", 1);
}

static bool is_set(const ProtobufCFieldDescriptor *field, const uint8_t *message)
{
	bool pointer =
		field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE;
	const void *value = NULL;

	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
		if (*(const uint32_t *)(message + field->quantifier_offset) != field->id)
			return false;
	} else if (field->label == PROTOBUF_C_LABEL_OPTIONAL && !pointer) {
		return *(const protobuf_c_boolean *)(message + field->quantifier_offset);
	}
	if (!pointer)
		return true;
	memcpy(&value, message + field->offset, sizeof(value));
	/* An unset string points to its default. */
	return value &&
	       (field->label == PROTOBUF_C_LABEL_REQUIRED || value != field->default_value);
}

/* Appends `"name": `; a field's name needs no escape. */
static void put_key(struct ts_json *json, const char *name)
{
	size_t n = strlen(name);
	char *at = reserve(json, n + 4);

	if (!at)
		return;
	at[0] = '"';
	memcpy(at + 1, name, n);
	memcpy(at + 1 + n, "\": ", 4); /* copies the terminator, too */
	json->n_bytes += n + 4;
}

static void put_object(struct ts_json *json, const ProtobufCMessage *message, unsigned depth)
{
	const ProtobufCMessageDescriptor *type = message->descriptor;
	bool first = true;

	if (depth > JSON_MAX_DEPTH) {
		json->error = json->error ? json->error : -EINVAL;
		return;
	}
	ts_json_bytes(json, "{", 1);
	for (unsigned i = 0; i < type->n_fields && !json->error; i++) {
		const ProtobufCFieldDescriptor *field = &type->fields[i];
		const uint8_t *at = (const uint8_t *)message;

		if (field->label != PROTOBUF_C_LABEL_REPEATED && !is_set(field, at))
			continue;
		if (!first)
			ts_json_bytes(json, ", ", 2);
		first = false;
		put_key(json, field->name);
		if (field->label == PROTOBUF_C_LABEL_REPEATED)
			put_repeated(json, field, at, depth);
		else
			put_value(json, field, at + field->offset, depth);
	}
	ts_json_bytes(json, "}", 1);
}

int ts_json_message(struct ts_json *json, const ProtobufCMessage *message)
{
	put_object(json, message, 0);
	return json->error;
}
