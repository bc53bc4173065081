/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the parameters of requests: see parameters.h. studio-call.c and requests call this module.
 * The fuzz target is test/fuzz/fuzz-studio-parameters.c.
 */
#include "tools/studio/server/parameters.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* Copies of a part of a regular expression: some MB. */
#define MAX_COPIES 4096u

/* Reads digits up to `stop` or the end. Returns the first character behind them, or NULL. */
static const char *read_digits(const char *text, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
			return NULL;
	*ret_value = value;
	return text;
}

int ts_query_number(const char *text, uint64_t least, uint64_t most, uint64_t *ret_value)
{
	uint64_t value;
	const char *end = read_digits(text, &value);

	if (!end || *end || value < least || value > most)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

int ts_query_numbers(const char *text, uint32_t *ret_values, size_t most)
{
	size_t n = 0;

	for (;;) {
		uint64_t value;
		const char *end = read_digits(text, &value);

		if (!end || value > UINT32_MAX || n == most || n == INT_MAX)
			return -EINVAL;
		ret_values[n++] = (uint32_t)value;
		if (!*end)
			return (int)n;
		if (*end != ',')
			return -EINVAL;
		text = end + 1;
	}
}

/* Returns the largest number of the bounds at `text`, behind "{"; at least 1. */
static uint64_t read_bound(const char *text)
{
	uint64_t least = 1, most = 1;
	const char *end = *text == ',' ? text : read_digits(text, &least);

	if (end && *end == ',')
		read_digits(end + 1, &most);
	return !end || least > most ? least : most;
}

bool ts_query_is_cheap_regex(const char *text)
{
	uint64_t n_copies = 1;

	for (; *text; text++) {
		if (*text == '\\') {
			text++;
			if (*text >= '0' && *text <= '9')
				return false;
			if (!*text)
				return true;
		} else if (*text == '{') {
			uint64_t bound = read_bound(text + 1);

			if (bound > MAX_COPIES / n_copies)
				return false;
			n_copies *= bound;
		}
	}
	return true;
}

bool ts_query_is_secret(const char *secret, const char *given)
{
	size_t n_secret = strlen(secret), n_given = strlen(given);
	unsigned char differs = n_secret != n_given;

	for (size_t i = 0; n_secret && i < n_given; i++)
		differs |= (unsigned char)(secret[i % n_secret] ^ given[i]);
	return !differs;
}
