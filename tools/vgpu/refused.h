/* SPDX-License-Identifier: Apache-2.0 */
/* What a facade says of a function of the vendor's that the virtual GPU has not. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

/* On stderr, the first time that said is handed over. Any thread. */
static inline void ts_vgpu_say_refused(const char *name, atomic_bool *said)
{
	if (!atomic_exchange(said, true))
		fprintf(stderr, "tracesmith: the virtual GPU has no %s: run on a real GPU for it\n",
			name);
}
