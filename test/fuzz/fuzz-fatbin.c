/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes a fatbin as a program passes it to ts_vgpu_fatbin_ptx(). A fatbin states its own length.
 * The target limits that length to the input's, and copies the input to a heap block of exactly its
 * size. Then it requests the PTX for two architectures.
 */
#include <stdlib.h>
#include <string.h>

#include "replay/vgpu/vgpu-module.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	uint64_t claimed, header_bytes = 16;
	char message[256], *text;
	uint16_t header;
	uint8_t *copy;

	if (n_bytes < header_bytes)
		return 0;
	copy = malloc(n_bytes);
	if (!copy)
		return 0;
	memcpy(copy, data, n_bytes);
	memcpy(&header, copy + 6, sizeof(header));
	memcpy(&claimed, copy + 8, sizeof(claimed));
	if (header > n_bytes)
		header = 16;
	if (claimed > n_bytes - header)
		claimed = n_bytes - header;
	memcpy(copy + 6, &header, sizeof(header));
	memcpy(copy + 8, &claimed, sizeof(claimed));
	for (unsigned cc = 80; cc <= 90; cc += 10) {
		text = NULL;
		if (!ts_vgpu_fatbin_ptx(copy, cc, &text, message, sizeof(message)) && text)
			(void)strlen(text);
		free(text);
	}
	free(copy);
	return 0;
}
