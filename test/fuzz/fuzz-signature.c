/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the names of kernels, which are untrusted (replay/report/names/signature.h). Parameters
 * must lie at ascending offsets, and each value of a type must fit its text buffer.
 */
#include <stdlib.h>
#include <string.h>

#include "replay/report/names/signature.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Like assert(), but also in builds without assertions. */
static void check(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ts_signature_parameter all[TS_SIGNATURE_MAX_PARAMETERS];
	char text[TS_VALUE_TEXT_BYTES], *name = malloc(size + 1);
	uint32_t end = 0;
	size_t n;

	if (!name)
		return 0;
	memcpy(name, data, size);
	name[size] = '\0';
	n = ts_signature_parse(name, all);
	check(n <= TS_SIGNATURE_MAX_PARAMETERS);
	for (size_t i = 0; i < n; i++) {
		if (all[i].is_placed) {
			check(all[i].offset >= end);
			end = all[i].offset;
		}
		if (!all[i].has_type)
			continue;
		check(all[i].is_pointer && all[i].type.bytes <= 8 && all[i].type.n_parts <= 4);
		/* Any bytes can be the value, so the bytes of the name serve as one. */
		if (size >= 8) {
			ts_value_print(&all[i].type, data, text);
			check(strnlen(text, sizeof(text)) < sizeof(text));
		}
	}
	free(name);
	return 0;
}
