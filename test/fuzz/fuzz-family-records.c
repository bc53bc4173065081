/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the records of libraries like CUPTI (inject/cuda/family-records.h). The first byte chooses
 * the vendor, the rest is a buffer that the library filled. Places of records come from the table's
 * lengths and, now and then, from the bytes: accepted places lie inside the buffer and ascend.
 */
#include <stdlib.h>
#include <string.h>

#include "inject/cuda/family-records.h"

#define MAX_BYTES 4096u
#define N_ROOM	  256u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void check_plain(const struct ts_pti_vendor *vendor, const uint8_t *record)
{
	uint8_t room[N_ROOM];
	uint32_t kind = 0;
	size_t n_valid = 0;
	const uint8_t *plain = ts_family_plain(vendor, record, room, sizeof(room), &kind, &n_valid);

	if (!plain)
		return;
	if (plain != record && plain != room)
		abort();
	if (!ts_pti_find_kind(vendor, kind) || n_valid > N_ROOM)
		abort();
	/* All of it can be read. */
	for (size_t i = 0; i < n_valid; i++)
		kind += plain[i];
	*(volatile uint32_t *)&kind = kind;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	const struct ts_pti_vendor *vendor;
	const uint8_t *previous = NULL, *at;
	uint8_t *buffer;

	if (n_bytes < 1 || n_bytes > MAX_BYTES)
		return 0;
	vendor = &ts_pti_vendors[data[0] % TS_PTI_VENDORS];
	data++;
	n_bytes--;
	/* The copy has the input's length, so that a sanitizer sees each read beyond it. */
	buffer = malloc(n_bytes ? n_bytes : 1);
	if (!buffer)
		abort();
	memcpy(buffer, data, n_bytes);
	at = buffer;
	while (ts_family_is_next(vendor, buffer, n_bytes, previous, at)) {
		const struct ts_pti_record *layout;
		uint32_t kind;

		if (at < buffer || at + sizeof(kind) > buffer + n_bytes ||
		    (previous && at <= previous))
			abort();
		memcpy(&kind, at, sizeof(kind));
		layout = ts_pti_find(vendor, kind & 0x7f);
		/* The name in a record that is not inferred is the library's own. */
		check_plain(vendor, at);
		previous = at;
		at += layout ? layout->n_bytes : kind % 64;
	}
	free(buffer);
	return 0;
}
