/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses a kernel's demangled signature into parameters. element.c calls this file; this file calls
 * value.c. The parameters lie in the last pair of parentheses, separated by commas outside any
 * other brackets.
 */
#include "replay/report/names/signature.h"

#include "proto/abi/base.h"

#include <string.h>

/* Returns the text after the parenthesis that matches the last `)`, or NULL. */
static const char *begin_of(const char *signature, const char **ret_end)
{
	const char *end = strrchr(signature, ')');
	size_t depth = 0;

	for (const char *at = end; at && at >= signature; at--) {
		depth += *at == ')';
		if (*at == '(' && !--depth) {
			*ret_end = end;
			return at + 1;
		}
	}
	return NULL;
}

/* Returns the next comma at depth 0, or the end. */
static const char *end_of(const char *at, const char *end)
{
	size_t depth = 0;

	for (; at < end && (depth || *at != ','); at++) {
		depth += strchr("(<[{", *at) != NULL;
		depth -= depth && strchr(")>]}", *at) != NULL;
	}
	return at;
}

static size_t trim(const char **text, size_t n)
{
	for (; n && **text == ' '; n--)
		++*text;
	while (n && (*text)[n - 1] == ' ')
		n--;
	return n;
}

static bool ends_with(const char *text, size_t n, const char *end)
{
	size_t n_end = strlen(end);

	return n >= n_end && !strncmp(text + n - n_end, end, n_end);
}

/* Parses the type of one parameter. Returns its size in bytes among the arguments; 0: not known. */
static uint32_t read_one(const char *text, size_t n, struct ts_signature_parameter *parameter,
			 uint32_t *ret_align)
{
	struct ts_value_type type;

	*parameter = (struct ts_signature_parameter){0};
	while (ends_with(text, n, " const") || ends_with(text, n, " __restrict__"))
		n -= ends_with(text, n, " const") ? 6 : 13;
	if (n && text[n - 1] == '*') {
		parameter->is_pointer = true;
		parameter->is_const = ends_with(text, n - 1, " const");
		parameter->has_type = ts_value_type_parse(text, n - 1, &parameter->type);
		*ret_align = 8;
		return 8;
	}
	if (!ts_value_type_parse(text, n, &type))
		return 0;
	*ret_align = type.align;
	return type.bytes * type.n_parts;
}

size_t ts_signature_parse(const char *signature,
			  struct ts_signature_parameter ret_parameters[TS_SIGNATURE_MAX_PARAMETERS])
{
	const char *end, *at = begin_of(signature, &end);
	bool is_placed = true;
	uint32_t offset = 0;
	size_t n = 0;

	for (; at && at < end && n < TS_SIGNATURE_MAX_PARAMETERS; n++) {
		const char *next = end_of(at, end), *text = at;
		size_t n_text = trim(&text, (size_t)(next - at));
		uint32_t align = 1;
		uint32_t bytes = read_one(text, n_text, &ret_parameters[n], &align);

		is_placed = is_placed && bytes;
		if (is_placed) {
			offset = (offset + align - 1) / align * align;
			ret_parameters[n].is_placed = true;
			ret_parameters[n].offset = offset;
			offset += bytes;
		}
		at = next + (next < end);
	}
	return n;
}
