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
	if (!bundle_image(copy, n_bytes, &image) && image)
		(void)strlen(image);
	free(image);
	free(copy);
	return 0;
}
