/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes AMD's device code, as the worker reads it for a session's kernels. The input is code of
 * any form, and also metadata alone. The target copies the input to a heap block of exactly its
 * size, and reads each byte that a kernel's name and arguments refer to.
 */
#include "daemon/worker/code/amd-code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static volatile uint64_t sum;

static int receive(void *userdata, const struct ts_amd_kernel *kernel)
{
	(void)userdata;
	for (uint32_t i = 0; i < kernel->n_name_bytes; i++)
		sum += (uint8_t)kernel->name[i];
	for (uint32_t i = 0; i < kernel->n_arguments && i < TS_AMD_MAX_ARGUMENTS; i++)
		sum += kernel->arguments[i].offset + kernel->arguments[i].bytes;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	uint8_t *copy = malloc(n_bytes ? n_bytes : 1);

	if (!copy)
		return 0;
	memcpy(copy, data, n_bytes);
	(void)ts_amd_code_read(copy, n_bytes, "gfx942:sramecc+:xnack-", receive, NULL);
	(void)ts_amd_code_read(copy, n_bytes, "gfx90a", receive, NULL);
	(void)ts_amd_metadata_read(copy, n_bytes, receive, NULL);
	free(copy);
	return 0;
}
