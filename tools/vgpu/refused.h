/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on stderr about features that the virtual GPU lacks. Each line is printed once and contains
 * the remedy. The refused calls of all facades use it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints the line if `said` is still false. Any thread may call this function. */
static inline void ts_vgpu_say_refused(const char *name, atomic_bool *said)
{
	if (!atomic_exchange(said, true))
		fprintf(stderr, "tracesmith: the virtual GPU has no %s: run on a real GPU for it\n",
			name);
}

/* Like ts_vgpu_say_refused(), for an unsupported use of a supported function. */
static inline void ts_vgpu_say_not_served(const char *what, const char *remedy, atomic_bool *said)
{
	if (!atomic_exchange(said, true))
		fprintf(stderr, "tracesmith: the virtual GPU has no %s: %s\n", what, remedy);
}
