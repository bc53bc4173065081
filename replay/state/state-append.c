/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Appends one zeroed item to a growing array. state.c, state-engines.c and checkpoint/ call this
 * file.
 */
#include "replay/state/state-builder.h"

#include "proto/abi/grow.h"

#include <string.h>

void *ts_state_append(void *items, size_t *n, size_t *n_allocated, size_t bytes)
{
	void *at;

	if (ts_grow(items, n_allocated, *n + 1, bytes))
		return NULL;
	memcpy(&at, items, sizeof(at));
	return memset((uint8_t *)at + (*n)++ * bytes, 0, bytes);
}
