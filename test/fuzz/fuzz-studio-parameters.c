/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the parameters of Studio's requests: numbers, lists of numbers, regular expressions,
 * tokens. What is read must print as the same text, apart from zeros in front.
 */
#include <inttypes.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/studio/server/parameters.h"

#define MAX_VALUES 64u
#define MAX_REGEX  1024u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static const char *without_zeros(const char *text)
{
	while (text[0] == '0' && text[1] >= '0' && text[1] <= '9')
		text++;
	return text;
}

static void check_list(const char *text)
{
	uint32_t values[MAX_VALUES];
	int n = ts_query_numbers(text, values, MAX_VALUES);

	if (n < 0)
		return;
	check(n > 0 && n <= (int)MAX_VALUES);
	for (int i = 0; i < n; i++) {
		char number[16];
		size_t length = (size_t)snprintf(number, sizeof(number), "%" PRIu32, values[i]);

		text = without_zeros(text);
		check(!strncmp(text, number, length));
		text += length;
		check(*text == (i + 1 < n ? ',' : '\0'));
		text += i + 1 < n;
	}
}

/* An expression that is accepted needs little memory; the fuzzer has a limit of it. */
static void check_regex(const char *text)
{
	regex_t regex;

	if (strlen(text) > MAX_REGEX || !ts_query_is_cheap_regex(text) ||
	    regcomp(&regex, text, REG_EXTENDED | REG_ICASE | REG_NOSUB))
		return;
	check(regexec(&regex, "a", 0, NULL, 0) <= REG_NOMATCH);
	regfree(&regex);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), number[32];
	uint64_t value;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (!ts_query_number(text, 3, UINT64_MAX - 1, &value)) {
		check(value >= 3 && value < UINT64_MAX);
		snprintf(number, sizeof(number), "%" PRIu64, value);
		check(!strcmp(without_zeros(text), number));
	}
	check_list(text);
	check_regex(text);
	check(ts_query_is_secret(text, text));
	check(ts_query_is_secret("0123456789abcdef", text) == !strcmp(text, "0123456789abcdef"));
	check(ts_query_is_secret(text, "") == !*text);
	free(text);
	return 0;
}
