/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A library for test-stack.c, whose functions call a callback of the test. It is built several
 * times: with and without frame pointers, and with frames of different sizes (FRAME_BYTES) at the
 * same addresses.
 */
#include <stdlib.h>

__attribute__((visibility("default"))) int library_call(int (*callback)(void *), void *data);
__attribute__((visibility("default"))) int library_deep(int (*callback)(void *), void *data,
							int depth);

__attribute__((visibility("default"))) int library_aligned(int (*callback)(void *), void *data,
							   long c, long d, long e, long f, long g,
							   long h);

int library_call(int (*callback)(void *), void *data)
{
	volatile char room[FRAME_BYTES];
	int r;

	room[0] = 1;
	room[FRAME_BYTES - 1] = 2;
	r = callback(data);
	return r + room[0] + room[FRAME_BYTES - 1] - 3;
}

/*
 * Aligns its stack, and has arguments on the stack and memory of a size known only at run time. gcc
 * describes both the CFA and the place of the saved frame pointer by expressions, as in NVIDIA's
 * cuBLASLt.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Walloca"
int library_aligned(int (*callback)(void *), void *data, long c, long d, long e, long f, long g,
		    long h)
{
	_Alignas(64) volatile char room[FRAME_BYTES];
	volatile char *sized = __builtin_alloca((size_t)(c + g));
	int r;

	room[0] = sized[0] = 1;
	r = callback(data);
	return r + room[0] - sized[0] + (int)(d + e + f + h);
}
#pragma GCC diagnostic pop

int library_deep(int (*callback)(void *), void *data, int depth)
{
	volatile char room[FRAME_BYTES];
	int r;

	room[0] = (char)depth;
	r = depth ? library_deep(callback, data, depth - 1) : callback(data);
	return r + (room[0] != (char)depth);
}
