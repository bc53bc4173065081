/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads messages from JSON (RFC 8259): see json-read.h. replay/report/ask-json.c calls this file.
 * The parser goes through the text once, and puts each value into the field that its key names.
 */
#include "proto/rpc/json-read.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/base.h"
#include "proto/abi/grow.h"
#include "proto/abi/utf8.h"

#define MAX_DEPTH      16u
#define MAX_KEY	       64u
#define MAX_PATH_BYTES 100u

struct reading {
	const unsigned char *at, *end;
	char path[MAX_PATH_BYTES]; /* the keys above the current value: "at.ns" */
	unsigned depth;
	int error;
	char *why;
};

/* A string while it is read. */
struct text {
	char *data;
	size_t n, n_allocated;
};

static bool fail(struct reading *reading, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool fail(struct reading *reading, const char *format, ...)
{
	size_t n = 0;
	va_list arguments;

	if (reading->error)
		return false;
	reading->error = -EINVAL;
	if (reading->path[0])
		n = (size_t)snprintf(reading->why, TS_JSON_WHY_BYTES, "%s: ", reading->path);
	va_start(arguments, format);
	vsnprintf(reading->why + n, TS_JSON_WHY_BYTES - n, format, arguments);
	va_end(arguments);
	/* Keys come from the text. */
	for (char *c = reading->why; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	return false;
}

static bool fail_memory(struct reading *reading)
{
	reading->error = reading->error ? reading->error : -ENOMEM;
	return false;
}

static void skip_blanks(struct reading *reading)
{
	while (reading->at < reading->end && (*reading->at == ' ' || *reading->at == '\t' ||
					      *reading->at == '\n' || *reading->at == '\r'))
		reading->at++;
}

/* Returns the next character behind blanks; 0: the text ends, or has a zero byte. */
static unsigned char peek(struct reading *reading)
{
	skip_blanks(reading);
	return reading->at < reading->end ? *reading->at : 0;
}

static bool accept(struct reading *reading, unsigned char c)
{
	if (peek(reading) != c)
		return false;
	reading->at++;
	return true;
}

static bool accept_word(struct reading *reading, const char *word)
{
	size_t n = strlen(word);

	skip_blanks(reading);
	if ((size_t)(reading->end - reading->at) < n || memcmp(reading->at, word, n) != 0)
		return false;
	reading->at += n;
	return true;
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool append(struct reading *reading, struct text *text, const void *bytes, size_t n)
{
	if (text->n + n + 1 > text->n_allocated &&
	    ts_grow(&text->data, &text->n_allocated, text->n + n + 1, 1))
		return fail_memory(reading);
	memcpy(text->data + text->n, bytes, n);
	text->n += n;
	text->data[text->n] = '\0';
	return true;
}

static bool read_hex(struct reading *reading, uint32_t *ret_value)
{
	static const char digits[] = "0123456789abcdefABCDEF";
	uint32_t value = 0;

	if (reading->end - reading->at < 4)
		return fail(reading, "a string has a bad \\u");
	for (int i = 0; i < 4; i++) {
		unsigned char c = *reading->at++;
		const char *found = c ? strchr(digits, c) : NULL;

		if (!found)
			return fail(reading, "a string has a bad \\u");
		value = value << 4 |
			(uint32_t)(found - digits < 16 ? found - digits : found - digits - 6);
	}
	*ret_value = value;
	return true;
}

/* Reads the rest of \uXXXX, with the second half of a pair. */
static bool read_unicode(struct reading *reading, struct text *text)
{
	uint32_t c = 0, low = 0;
	char utf8[4];
	size_t n;

	if (!read_hex(reading, &c))
		return false;
	if (c >= 0xd800 && c <= 0xdbff) {
		if (reading->end - reading->at < 2 || memcmp(reading->at, "\\u", 2) != 0)
			return fail(reading, "a string has half of a surrogate pair");
		reading->at += 2;
		if (!read_hex(reading, &low))
			return false;
		if (low < 0xdc00 || low > 0xdfff)
			return fail(reading, "a string has half of a surrogate pair");
		c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
	} else if (c >= 0xdc00 && c <= 0xdfff) {
		return fail(reading, "a string has half of a surrogate pair");
	}
	if (!c)
		return fail(reading, "a string has a zero byte");
	if (c < 0x80) {
		utf8[0] = (char)c;
		n = 1;
	} else if (c < 0x800) {
		utf8[0] = (char)(0xc0 | c >> 6);
		n = 2;
	} else if (c < 0x10000) {
		utf8[0] = (char)(0xe0 | c >> 12);
		n = 3;
	} else {
		utf8[0] = (char)(0xf0 | c >> 18);
		n = 4;
	}
	for (size_t i = 1; i < n; i++)
		utf8[i] = (char)(0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
	return append(reading, text, utf8, n);
}

static bool read_escape(struct reading *reading, struct text *text)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *found;
	unsigned char c;

	if (reading->at == reading->end)
		return fail(reading, "a string does not end");
	c = *reading->at++;
	if (c == 'u')
		return read_unicode(reading, text);
	found = c ? strchr(from, c) : NULL;
	if (!found)
		return fail(reading, "a string has an unknown escape");
	return append(reading, text, &to[found - from], 1);
}

/* The caller frees ret_text->data, also if the result is false. */
static bool read_string(struct reading *reading, struct text *ret_text)
{
	if (!accept(reading, '"'))
		return fail(reading, "expected a string");
	if (!append(reading, ret_text, "", 0))
		return false;
	while (reading->at < reading->end) {
		size_t n;

		if (*reading->at == '"') {
			reading->at++;
			return true;
		}
		if (*reading->at == '\\') {
			reading->at++;
			if (!read_escape(reading, ret_text))
				return false;
			continue;
		}
		if (*reading->at < ' ')
			return fail(reading, "a string has a control character");
		n = ts_utf8_length(reading->at, (size_t)(reading->end - reading->at));
		if (!n)
			return fail(reading, "a string is not UTF-8");
		if (!append(reading, ret_text, reading->at, n))
			return false;
		reading->at += n;
	}
	return fail(reading, "a string does not end");
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Reads a whole number from -most_below to `most`. */
static bool read_whole(struct reading *reading, uint64_t most, uint64_t most_below,
		       uint64_t *ret_value)
{
	bool is_negative = accept(reading, '-');
	uint64_t value = 0;
	const unsigned char *first;

	if (!is_negative)
		skip_blanks(reading);
	first = reading->at;
	while (reading->at < reading->end && *reading->at >= '0' && *reading->at <= '9') {
		if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*reading->at - '0'), &value))
			return fail(reading, "the number is out of range");
		reading->at++;
	}
	if (reading->at == first || (*first == '0' && reading->at - first > 1) ||
	    (reading->at < reading->end &&
	     (*reading->at == '.' || *reading->at == 'e' || *reading->at == 'E')))
		return fail(reading, "expected a whole number");
	if (value > (is_negative ? most_below : most))
		return fail(reading, "the number is out of range");
	*ret_value = is_negative ? -value : value;
	return true;
}

static bool read_number(struct reading *reading, ProtobufCType type, void *to)
{
	uint64_t value = 0;
	uint32_t small;

	switch (type) {
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
		if (!read_whole(reading, INT32_MAX, (uint64_t)INT32_MAX + 1, &value))
			return false;
		break;
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		if (!read_whole(reading, UINT32_MAX, 0, &value))
			return false;
		break;
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
		if (!read_whole(reading, INT64_MAX, (uint64_t)INT64_MAX + 1, &value))
			return false;
		memcpy(to, &value, sizeof(value));
		return true;
	default:
		if (!read_whole(reading, UINT64_MAX, 0, &value))
			return false;
		memcpy(to, &value, sizeof(value));
		return true;
	}
	small = (uint32_t)value;
	memcpy(to, &small, sizeof(small));
	return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool read_object(struct reading *reading, ProtobufCMessage *message);

/* Returns the bytes of a value in its message or list; 0: JSON cannot set it. */
static size_t value_bytes(const ProtobufCFieldDescriptor *field)
{
	switch (field->type) {
	case PROTOBUF_C_TYPE_BOOL:
		return sizeof(protobuf_c_boolean);
	case PROTOBUF_C_TYPE_INT32:
	case PROTOBUF_C_TYPE_SINT32:
	case PROTOBUF_C_TYPE_SFIXED32:
	case PROTOBUF_C_TYPE_UINT32:
	case PROTOBUF_C_TYPE_FIXED32:
		return sizeof(uint32_t);
	case PROTOBUF_C_TYPE_INT64:
	case PROTOBUF_C_TYPE_SINT64:
	case PROTOBUF_C_TYPE_SFIXED64:
	case PROTOBUF_C_TYPE_UINT64:
	case PROTOBUF_C_TYPE_FIXED64:
		return sizeof(uint64_t);
	case PROTOBUF_C_TYPE_STRING:
	case PROTOBUF_C_TYPE_MESSAGE:
		return sizeof(void *);
	default:
		return 0;
	}
}

/* Puts a message into its field before it is read, so that the message's owner frees it. */
static bool read_message(struct reading *reading, const ProtobufCFieldDescriptor *field, void *to)
{
	const ProtobufCMessageDescriptor *type = field->descriptor;
	ProtobufCMessage *message = malloc(type->sizeof_message);

	if (!message)
		return fail_memory(reading);
	type->message_init(message);
	memcpy(to, &message, sizeof(message));
	return read_object(reading, message);
}

/*
 * Reads a value to `to`, which has value_bytes(field) zero bytes. The message owns the value, also
 * after a failure.
 */
static bool read_value(struct reading *reading, const ProtobufCFieldDescriptor *field, void *to)
{
	protobuf_c_boolean is_true;
	struct text text = {0};

	switch (field->type) {
	case PROTOBUF_C_TYPE_BOOL:
		is_true = accept_word(reading, "true");
		if (!is_true && !accept_word(reading, "false"))
			return fail(reading, "expected true or false");
		memcpy(to, &is_true, sizeof(is_true));
		return true;
	case PROTOBUF_C_TYPE_STRING:
		if (!read_string(reading, &text)) {
			free(text.data);
			return false;
		}
		memcpy(to, &text.data, sizeof(text.data));
		return true;
	case PROTOBUF_C_TYPE_MESSAGE:
		return read_message(reading, field, to);
	default:
		return read_number(reading, field->type, to);
	}
}

/*
 * Reads a list. Its length grows with each element, so that a message that is half read can be
 * freed.
 */
static bool read_list(struct reading *reading, ProtobufCMessage *message,
		      const ProtobufCFieldDescriptor *field)
{
	size_t bytes = value_bytes(field),
	       *n = (void *)((char *)message + field->quantifier_offset), n_allocated = 0;
	char **elements = (void *)((char *)message + field->offset);

	if (!accept(reading, '['))
		return fail(reading, "expected a list");
	if (accept(reading, ']'))
		return true;
	do {
		void *element;

		if (*n == n_allocated && ts_grow(elements, &n_allocated, *n + 1, bytes))
			return fail_memory(reading);
		element = *elements + *n * bytes;
		memset(element, 0, bytes);
		if (!read_value(reading, field, element)) {
			/* A message that is half read belongs to the list, too. */
			*n += field->type == PROTOBUF_C_TYPE_MESSAGE && *(void **)element;
			return false;
		}
		++*n;
	} while (accept(reading, ','));
	return accept(reading, ']') || fail(reading, "expected , or ]");
}

/* Marks the field as set. False: another member of its oneof is set. */
static bool mark(struct reading *reading, ProtobufCMessage *message,
		 const ProtobufCFieldDescriptor *field)
{
	void *quantifier = (char *)message + field->quantifier_offset;
	protobuf_c_boolean has = 1;
	uint32_t which;

	if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
		memcpy(&which, quantifier, sizeof(which));
		if (which)
			return fail(reading, "only one of these keys may be used");
		memcpy(quantifier, &field->id, sizeof(which));
	} else if (field->label == PROTOBUF_C_LABEL_OPTIONAL &&
		   field->type != PROTOBUF_C_TYPE_STRING &&
		   field->type != PROTOBUF_C_TYPE_MESSAGE) {
		memcpy(quantifier, &has, sizeof(has));
	}
	return true;
}

static bool read_field(struct reading *reading, ProtobufCMessage *message,
		       const ProtobufCFieldDescriptor *field)
{
	if (!value_bytes(field))
		return fail(reading, "JSON cannot set this field");
	if (accept_word(reading, "null"))
		return true;
	if (field->label == PROTOBUF_C_LABEL_REPEATED)
		return read_list(reading, message, field);
	return mark(reading, message, field) &&
	       read_value(reading, field, (char *)message + field->offset);
}

/* Reads a key, and appends it to the path. Returns the field's index; -1: failed. */
static int read_key(struct reading *reading, const ProtobufCMessageDescriptor *type)
{
	const ProtobufCFieldDescriptor *field;
	struct text key = {0};
	size_t n = strlen(reading->path);

	if (!read_string(reading, &key)) {
		free(key.data);
		return -1;
	}
	field = protobuf_c_message_descriptor_get_field_by_name(type, key.data);
	if (field)
		snprintf(reading->path + n, sizeof(reading->path) - n, "%s%s", n ? "." : "",
			 field->name);
	else
		fail(reading, "unknown key \"%.*s\"", (int)MAX_KEY, key.data);
	free(key.data);
	return field ? (int)(field - type->fields) : -1;
}

static bool read_pairs(struct reading *reading, ProtobufCMessage *message, uint8_t *is_read)
{
	const ProtobufCMessageDescriptor *type = message->descriptor;
	size_t n = strlen(reading->path);

	do {
		int i = read_key(reading, type);

		if (i < 0)
			return false;
		if (is_read[i])
			return fail(reading, "the key occurs twice");
		is_read[i] = 1;
		if (!accept(reading, ':'))
			return fail(reading, "expected :");
		if (!read_field(reading, message, &type->fields[i]))
			return false;
		reading->path[n] = '\0';
	} while (accept(reading, ','));
	return accept(reading, '}') || fail(reading, "expected , or }");
}

static bool read_object(struct reading *reading, ProtobufCMessage *message)
{
	ts_cleanup(ts_freep) uint8_t *is_read = NULL;
	bool ok;

	if (++reading->depth > MAX_DEPTH)
		return fail(reading, "more than %u levels", MAX_DEPTH);
	if (!accept(reading, '{'))
		return fail(reading, "expected an object");
	is_read = calloc(message->descriptor->n_fields + 1, 1);
	if (!is_read)
		return fail_memory(reading);
	ok = accept(reading, '}') || read_pairs(reading, message, is_read);
	reading->depth--;
	return ok;
}

int ts_json_read(const char *text, size_t n_bytes, const ProtobufCMessageDescriptor *type,
		 ProtobufCMessage **ret_message, char ret_why[TS_JSON_WHY_BYTES])
{
	struct reading reading = {.at = (const unsigned char *)text,
				  .end = (const unsigned char *)text + n_bytes,
				  .why = ret_why};
	ProtobufCMessage *message = malloc(type->sizeof_message);

	if (!message)
		return -ENOMEM;
	type->message_init(message);
	if (read_object(&reading, message)) {
		skip_blanks(&reading);
		if (reading.at == reading.end) {
			*ret_message = message;
			return 0;
		}
		fail(&reading, "something follows the object");
	}
	protobuf_c_message_free_unpacked(message, NULL);
	return reading.error;
}
