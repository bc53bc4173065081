/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes a bundle of HIP's device code, as hipModuleLoad() reads one from a file. The target copies
 * the input to a heap block of exactly its size and reads the image that is found to its end.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/hip/hip-face.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	void *copy = malloc(n_bytes ? n_bytes : 1), *image = NULL;

	if (!copy)
		return 0;
	memcpy(copy, data, n_bytes);
	for (int timed = 0; timed < 2; timed++) {
		if (!bundle_image(copy, n_bytes, timed, &image) && image)
			(void)strlen(image);
		free(image);
		image = NULL;
	}
	free(copy);
	return 0;
}
