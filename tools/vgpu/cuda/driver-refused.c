/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that the driver has and the virtual GPU lacks. Programs link against these names, so
 * they exist. A call fails with the vendor's error and prints one line on stderr the first time.
 * cuGetProcAddress does not find them, as in an old driver: programs that use it have an
 * alternative. driver-entry.c calls is_refused().
 */
#include <string.h>

#include "tools/vgpu/cuda/driver.h"
#include "tools/vgpu/generated-cuda-refused.h"
#include "tools/vgpu/refused.h"

static int refuse(const char *name, atomic_bool *said)
{
	int r = check_ready();

	if (r)
		return r;
	ts_vgpu_say_refused(name, said);
	return TS_CU_ERROR_NOT_SUPPORTED;
}

/* The C calling convention lets a function ignore its arguments. */
#define REFUSE(name)                         \
	API int name(void)                   \
	{                                    \
		static atomic_bool said;     \
		return refuse(#name, &said); \
	}
TS_CU_REFUSED(REFUSE)

bool is_refused(const char *symbol)
{
#define NAME(name) #name,
	static const char *const names[] = {TS_CU_REFUSED(NAME)};
	size_t low = 0, high = sizeof(names) / sizeof(names[0]);

	while (low < high) {
		size_t at = (low + high) / 2;
		int order = strcmp(symbol, names[at]);

		if (!order)
			return true;
		if (order < 0)
			high = at;
		else
			low = at + 1;
	}
	return false;
}
