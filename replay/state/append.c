/* SPDX-License-Identifier: Apache-2.0 */
/* Growing arrays of the states: another item, zeroed, at the end. */
#include "replay/state/builder.h"

#include <stdlib.h>
#include <string.h>

void *ts_state_append(void *items, size_t *n, size_t *n_allocated, size_t bytes)
{
	void *grown;

	memcpy(&grown, items, sizeof(grown));
	if (*n == *n_allocated) {
		*n_allocated = *n_allocated ? 2 * *n_allocated : 16;
		grown = realloc(grown, *n_allocated * bytes);
		if (!grown) {
			*n_allocated = *n;
			return NULL;
		}
		memcpy(items, &grown, sizeof(grown));
	}
	return memset((uint8_t *)grown + (*n)++ * bytes, 0, bytes);
}
