/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes PTX text, from which the capture of HIP reads the layout of kernels' arguments. The target
 * copies the input to a heap block of exactly its size, and asks for the first kernel in it.
 */
#include "inject/capture/hip/hip-capture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static volatile uint64_t sum;

/* Copies the word behind the first `.entry`. */
static void first_name(const char *text, size_t n_bytes, char name[64])
{
	const char *at = memmem(text, n_bytes, ".entry ", 7), *end = text + n_bytes;
	size_t n = 0;

	for (at = at ? at + 7 : end; at < end && n < 63 && *at > ' ' && *at != '('; at++)
		name[n++] = *at;
	name[n] = '\0';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	static struct ts_capture_argument arguments[TS_HIP_MAX_ARGUMENTS];
	char *copy = malloc(n_bytes ? n_bytes : 1), name[64];
	int n;

	if (!copy)
		return 0;
	memcpy(copy, data, n_bytes);
	first_name(copy, n_bytes, name);
	n = ts_hip_ptx_arguments(copy, n_bytes, name, arguments);
	for (int i = 0; i < n; i++)
		sum += arguments[i].offset + arguments[i].bytes;
	free(copy);
	return 0;
}
