/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes AMD code objects, as a virtual GPU with kernels=timed loads them. The target copies the
 * input to a heap block of exactly its size, and reads each name and each initial value.
 */
#include "replay/vgpu/amd/amd-image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static volatile uint64_t sum;

static void read_image(const struct ts_amd_image *image)
{
	for (size_t i = 0; i < image->n_kernels; i++) {
		sum += strlen(image->kernels[i].name);
		for (size_t k = 0; k < image->kernels[i].n_parameters; k++)
			sum += image->kernels[i].parameters[k].offset;
	}
	for (size_t i = 0; i < image->n_variables; i++) {
		const struct ts_amd_image_variable *variable = &image->variables[i];

		sum += strlen(variable->name);
		for (uint64_t k = 0; variable->content && k < variable->bytes; k++)
			sum += variable->content[k];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	uint8_t *copy = malloc(n_bytes ? n_bytes : 1);
	struct ts_amd_image *image;

	if (!copy)
		return 0;
	memcpy(copy, data, n_bytes);
	if (!ts_amd_image_new(copy, n_bytes, &image)) {
		read_image(image);
		ts_amd_image_free(image);
	}
	free(copy);
	return 0;
}
