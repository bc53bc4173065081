/* SPDX-License-Identifier: Apache-2.0 */
/* The lines by which the facades report what the virtual GPU does not serve: each once, with the remedy. */
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

/* The same for a use of a function that it has otherwise. */
static inline void ts_vgpu_say_not_served(const char *what, const char *remedy, atomic_bool *said)
{
	if (!atomic_exchange(said, true))
		fprintf(stderr, "tracesmith: the virtual GPU has no %s: %s\n", what, remedy);
}
