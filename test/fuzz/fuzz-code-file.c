/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes ELF files with code as the host sampler reads them (daemon/sample/code-file.h): tables,
 * unwind rules at addresses all over the file, exported symbols.
 */
#include "daemon/sample/code-file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

#define ADDRESSES 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	/* Like a mapping: aligned, with nothing behind its end. */
	uint8_t *bytes = aligned_alloc(8, (n_bytes + 7) & ~(size_t)7);
	struct ts_code_file file = {.bytes = bytes, .n_bytes = n_bytes};
	uint64_t own, size, first = 0;

	if (!bytes)
		return 0;
	memcpy(bytes, data, n_bytes);
	for (uint64_t off = 0; off < 3 * 4096; off += 4096) {
		file = (struct ts_code_file){.bytes = bytes, .n_bytes = n_bytes};
		if (!ts_code_file_look(&file, off, &first))
			continue;
		for (uint64_t i = 0; i < ADDRESSES; i++) {
			struct ts_cfi_rule rule =
				ts_code_file_rule(&file, first + i * n_bytes / ADDRESSES);

			if (rule.kind > TS_CFI_ROOT)
				abort();
		}
		(void)ts_code_file_symbol(&file, "main", &own, &size);
		(void)ts_code_file_has(&file, first, "\x48\xc7", 2);
	}
	free(bytes);
	return 0;
}
