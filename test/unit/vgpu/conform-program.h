/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program like nvcc's output: the calls of its constructor, a kernel that a host function stands
 * for, and variables that host variables stand for.
 */
#pragma once

#include "test/unit/vgpu/generated-runtime.h"

static int host_variable, host_pair[2];

static void host_fill(void)
{
	host_variable++;
}

static void **program_begin(void)
{
	static struct conform_fatbin fatbin;
	static struct conform_wrapper wrapper = CONFORM_WRAPPER(&fatbin);
	void **handle;

	conform_fatbin(&fatbin, conform_ptx);
	handle = done(__cudaRegisterFatBinary(&wrapper));
	ts_check(handle);
	done(__cudaRegisterFunction(handle, (const char *)(uintptr_t)host_fill, (char *)"fill",
				    "fill", -1, NULL, NULL, NULL, NULL, NULL));
	done(__cudaRegisterVar(handle, (char *)&host_variable, (char *)"answer", "answer", 0, 4, 0,
			       0));
	/* The vendor's runtime may require this variable in the module. */
	if (conform_virtual())
		done(__cudaRegisterVar(handle, (char *)host_pair, (char *)"absent", "absent", 0, 8,
				       0, 0));
	done(__cudaRegisterFatBinaryEnd(handle));
	return handle;
}

#define FILL   ((const void *)(uintptr_t)host_fill)
#define ANSWER ((const void *)&host_variable)
#define NOBODY ((const void *)"nobody registered this")
