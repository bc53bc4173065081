/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes rocprofiler-sdk's records (inject/rocprofiler/rocprofiler-records.h). The input is a
 * sequence of records as the SDK's buffer has them: category and kind, then the record. A record's
 * size is limited to the bytes that are there, as the SDK's records are in memory of that size.
 */
#include <stdlib.h>
#include <string.h>

#include "inject/rocprofiler/rocprofiler-records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

/* Reads one record of n_bytes. */
static void read_one(uint32_t category, uint32_t kind, const uint8_t *record, size_t n_bytes)
{
	/* The copy has the record's length, so that a sanitizer sees each read beyond it. */
	void *copy = malloc(n_bytes);
	const struct ts_rocprofiler_record_header header = {category, kind, copy};
	struct ts_rocprofiler_work work;
	uint64_t size;

	if (!copy)
		abort();
	memcpy(copy, record, n_bytes);
	memcpy(&size, copy, sizeof(size));
	if (size > n_bytes)
		memcpy(copy, &(uint64_t){n_bytes}, sizeof(size));
	if (ts_rocprofiler_read(&header, &work) == TS_ROCPROFILER_WORK) {
		if (work.kind != TS_ROCPROFILER_KERNEL && work.kind != TS_ROCPROFILER_COPY)
			abort();
		for (size_t i = 0; i < 3; i++)
			if (!work.block[i] && work.grid[i])
				abort();
		(void)ts_rocprofiler_name(work.kernel_id);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	uint32_t words[3];

	/* Category, kind, length; then the record. */
	while (n_bytes >= sizeof(words)) {
		memcpy(words, data, sizeof(words));
		data += sizeof(words);
		n_bytes -= sizeof(words);
		if (words[2] > n_bytes)
			words[2] = (uint32_t)n_bytes;
		/* Each record begins with its size. */
		if (words[2] >= sizeof(uint64_t))
			read_one(words[0], words[1], data, words[2]);
		data += words[2];
		n_bytes -= words[2];
	}
	return 0;
}
