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

int library_call(int (*callback)(void *), void *data)
{
	volatile char room[FRAME_BYTES];
	int r;

	room[0] = 1;
	room[FRAME_BYTES - 1] = 2;
	r = callback(data);
	return r + room[0] + room[FRAME_BYTES - 1] - 3;
}

int library_deep(int (*callback)(void *), void *data, int depth)
{
	volatile char room[FRAME_BYTES];
	int r;

	room[0] = (char)depth;
	r = depth ? library_deep(callback, data, depth - 1) : callback(data);
	return r + (room[0] != (char)depth);
}
