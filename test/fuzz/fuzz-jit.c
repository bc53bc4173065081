/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes perf maps and JIT dumps as the worker reads them (daemon/worker/jit.h). The first byte
 * selects the format; the rest is the file.
 */
#include <sys/mman.h>

#include "daemon/worker/jit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static const uint64_t addresses[] = {0,	     1,	     0x1000,	 0x1008,
					     0x1010, 0x2000, 0x7f000000, UINT64_MAX};
	ts_cleanup(ts_found_deinit) struct ts_found found = {0};
	ts_cleanup(ts_closep) int fd = memfd_create("fuzz", MFD_CLOEXEC);
	size_t n = TS_ARRAY_LEN(addresses);
	int r;

	if (!n_bytes || fd < 0 || write(fd, data + 1, n_bytes - 1) != (ssize_t)n_bytes - 1)
		return 0;
	ts_found_init(&found);
	r = data[0] & 1 ? ts_jit_dump_find(fd, addresses, n, &found)
			: ts_perf_map_find(fd, addresses, n, &found);
	/*
	 * If the search succeeds, it has a result for each address, and all ids of texts are valid.
	 */
	if (!r) {
		uint32_t frames = 0;

		for (size_t i = 0; i < n; i++)
			frames += ((uint32_t *)(void *)found.n_frames.bytes)[i];
		if (found.n_frames.n != n * sizeof(uint32_t) ||
		    found.functions.n != frames * sizeof(uint32_t) ||
		    found.lines.n != found.functions.n || found.files.n != found.functions.n)
			abort();
		for (uint32_t i = 0; i < frames; i++)
			if (((uint32_t *)(void *)found.functions.bytes)[i] > found.texts.last_id)
				abort();
	}
	return 0;
}
